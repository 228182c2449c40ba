/* Private to the orchestrator: the table of its requests. A new RPC is a row in request_types.c and the function that
 * serves it; no other file asks a message for its type. */
#ifndef RENGA_ORCHESTRATOR_REQUEST_TYPES_H
#define RENGA_ORCHESTRATOR_REQUEST_TYPES_H

#include "thread/request_type.h"

/* NULL: the orchestrator has no such request. */
const struct request_type *request_type_of(const ProtobufCMessage *message);

/* True if the message may be sent twice with the effect of one. */
bool request_is_repeatable(const ProtobufCMessage *message);

#endif
