/* The tool-runner, as a row in the table of a binary. */
#ifndef RENGA_TOOL_RUNNER_H
#define RENGA_TOOL_RUNNER_H

#include "daemon/service.h"

extern const struct service tool_runner_service;

#endif
