/* The service config of a channel: balancing, health checks and retries of gRPC's own client
 * (https://github.com/grpc/grpc/blob/master/doc/service_config.md). */
#ifndef RENGA_RPC_SERVICE_CONFIG_H
#define RENGA_RPC_SERVICE_CONFIG_H

struct rpc_schema;

/* JSON for GRPC_ARG_SERVICE_CONFIG, to be freed; NULL when memory runs out. Calls go round robin over the peers that
 * report themselves healthy as a whole, because one channel serves several services. Idempotent methods of the contract
 * are retried when a peer is UNAVAILABLE, up to four times in all and within a budget: once more than half of the last
 * tokens are spent, retries stop until calls succeed again. Give GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION too, so
 * that no DNS record replaces it. */
char *rpc_service_config(const struct rpc_schema *schema);

#endif
