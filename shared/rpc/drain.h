/* The end of a server's life; the beginning of it is rpc_server_drain. Private to shared/rpc. */
#ifndef RENGA_RPC_DRAIN_H
#define RENGA_RPC_DRAIN_H

#include <stdbool.h>

struct drain;
struct rpc_server;

/* Shuts the server down without further waiting and waits until gRPC core is done with it; false where that takes too
 * long, and core still holds it. Not from inside a loop. */
bool rpc_drain_finish(struct rpc_server *server);
void rpc_drain_free(struct drain *drain);

#endif
