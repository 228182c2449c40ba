/* grpc.reflection, v1 and v1alpha, as methods of the runtime's own. Private to shared/rpc. */
#ifndef RENGA_RPC_REFLECT_H
#define RENGA_RPC_REFLECT_H

struct rpc_builtin;
extern const struct rpc_builtin rpc_reflection_v1, rpc_reflection_v1alpha;

#endif
