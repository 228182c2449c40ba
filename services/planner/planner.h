/* The planner, as a row in the table of a binary. */
#ifndef RENGA_PLANNER_H
#define RENGA_PLANNER_H

#include "daemon/service.h"

extern const struct service planner_service;

#endif
