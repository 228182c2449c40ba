/* The end of a server's life; the beginning of it is rpc_server_drain. Private to shared/rpc. */
#ifndef RENGA_RPC_DRAIN_H
#define RENGA_RPC_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct drain;
struct rpc_server;

/* Shuts the server down without further waiting and waits until gRPC core is done with it; false where that takes too
 * long, and core still holds it. Not from inside a loop. */
bool rpc_drain_finish(struct rpc_server *server);
void rpc_drain_free(struct drain *drain);

/* How long services go on in a drain. Clients use a connection until its age is up, so services serve until then if the
 * limit allows it. A shorter limit is halved: calls in the second half find services that leave. 0: connections have no
 * age. */
int64_t rpc_drain_idle_ms(int64_t limit_ms, int64_t age_ms);

#endif
