/* A copy of a message as the other end of a network would have it, made in one walk instead of packing and unpacking.
 * Private to shared/rpc.
 *
 * Where unpacking would refuse the message, or make something else of it (text that is not UTF-8, unknown fields, more
 * depth or fields than RPC_WIRE_LIMITS, no room in the arena), there is no copy: who then packs and unpacks hears why.
 */
#ifndef RENGA_RPC_CLONE_H
#define RENGA_RPC_CLONE_H

#include "base/arena.h"

#include <protobuf-c/protobuf-c.h>

/* In the arena, sharing nothing with the original; NULL: pack it. */
ProtobufCMessage *rpc_clone(const ProtobufCMessage *message, struct arena *arena);

#endif
