/* Checks a RunTools request against the limits of the contract. */
#ifndef RENGA_TOOL_RUNNER_REQUEST_CHECK_H
#define RENGA_TOOL_RUNNER_REQUEST_CHECK_H

#include "base/status.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <stdbool.h>

#define RUN_CALLS_MAX    128
#define RUN_OUTPUT_USUAL 65536 /* bytes */

/* INVALID_ARGUMENT names the field. The existence of the tools and the arguments are not checked here: each call gets
 * its own answer for them. */
bool request_check(const Renga__V1__RunToolsRequest *request, struct status *st);

bool tool_name_is_legal(const char *name);

#endif
