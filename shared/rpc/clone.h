/* A copy of a message as the other end of a network would have it, made in one walk instead of packing and unpacking.
 * Private to shared/rpc.
 *
 * No copy is made if unpacking would refuse or change the message (invalid UTF-8, unknown fields, more depth or fields
 * than RPC_WIRE_LIMITS) or if the arena is full. The caller then packs and unpacks, which gives the error. */
#ifndef RENGA_RPC_CLONE_H
#define RENGA_RPC_CLONE_H

#include "base/arena.h"

#include <protobuf-c/protobuf-c.h>

/* In the arena, sharing no memory with the original; NULL: pack it. */
ProtobufCMessage *rpc_clone(const ProtobufCMessage *message, struct arena *arena);

#endif
