/* Checks requests of clients against the limits of the contract. The runtime checks the sizes of whole messages and
 * UTF-8. The runner checks that the named threads and runs exist. */
#ifndef RENGA_ORCHESTRATOR_CHECK_H
#define RENGA_ORCHESTRATOR_CHECK_H

#include "base/status.h"

#include <protobuf-c/protobuf-c.h>

/* Any request of the Orchestrator. INVALID_ARGUMENT names the field. */
bool check_request(const ProtobufCMessage *request, struct status *st);

#endif
