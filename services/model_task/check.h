/* Requests to planner and reviewer at the boundary. */
#ifndef RENGA_MODEL_TASK_CHECK_H
#define RENGA_MODEL_TASK_CHECK_H

#include "base/status.h"
#include "base/text.h"

#include "renga/v1/prompt.pb-c.h"
#include "renga/v1/usage.pb-c.h"

#include <stddef.h>

#define CHECK_FEEDBACK_MAX ((size_t)65536)

/* The bounds of the contract, and the rules of `prompting`, the request's own or NULL. */
bool check_model_request(const ProtobufCMessage *request, const Renga__V1__Prompting *prompting, struct status *st);

#endif
