/* The bounds that the contract gives the fields of requests, as a table that the build makes. */
#ifndef RENGA_PROTO_CONTRACT_CHECK_H
#define RENGA_PROTO_CONTRACT_CHECK_H

#include "rpc/message_bounds.h"

/* A request of the contract against the bounds of its fields; see message_check_bounds. */
bool contract_check(const ProtobufCMessage *request, struct status *st);

#endif
