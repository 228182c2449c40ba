/* The edge: the contract as HTTP and JSON, its streams as server-sent events, and the console. A service like the
 * others, without methods of its own: it listens on a port of its own and calls the other services, in this process or
 * over gRPC (README.md). */
#ifndef RENGA_EDGE_EDGE_H
#define RENGA_EDGE_EDGE_H

#include "daemon/service.h"

extern const struct service edge_service;

#endif
