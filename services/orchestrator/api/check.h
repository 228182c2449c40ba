/* Requests as they come from outside, held to the limits that the contract states. Sizes of whole messages and UTF-8
 * are the runtime's to check; whether what is named exists is the runner's. */
#ifndef RENGA_ORCHESTRATOR_CHECK_H
#define RENGA_ORCHESTRATOR_CHECK_H

#include "base/status.h"

#include <protobuf-c/protobuf-c.h>

/* Any request of the Orchestrator. INVALID_ARGUMENT names the field. */
bool check_request(const ProtobufCMessage *request, struct status *st);

#endif
