/* The reviewer, as a row in the table of a binary. */
#ifndef RENGA_REVIEWER_H
#define RENGA_REVIEWER_H

#include "daemon/service.h"

extern const struct service reviewer_service;

#endif
