/* The end of a server's life; the beginning of it is rpc_server_drain. Private to shared/rpc. */
#ifndef RENGA_RPC_DRAIN_H
#define RENGA_RPC_DRAIN_H

struct drain;
struct rpc_server;

/* Shuts the server down without further patience and waits until gRPC core is done with it. Not from inside a loop. */
void rpc_drain_finish(struct rpc_server *server);
void rpc_drain_free(struct drain *drain);

#endif
