/* Private to the orchestrator: the other services that nodes may call, and the answers of theirs that are kept. A
 * process has one; it is constant once the loops run. */
#ifndef RENGA_ORCHESTRATOR_NODE_SERVICES_H
#define RENGA_ORCHESTRATOR_NODE_SERVICES_H

#include "rpc/rpc.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

struct addresses;
struct kept_answer;

/* The services that nodes may call. */
enum peer_service { PEER_GATEWAY, PEER_PLANNER, PEER_TOOL_RUNNER, PEER_REVIEWER, PEER_COUNT };
struct peer_words {
    const char *name;   /* "tool-runner" */
    const char *option; /* "tool_runner" */
    const ProtobufCServiceDescriptor *descriptor;
};
extern const struct peer_words peer_words[PEER_COUNT];

struct node_services {
    struct addresses *addresses;         /* of remote nodes */
    ProtobufCService *peers[PEER_COUNT]; /* NULL: its address is not known */
    struct kept_answer *tools, *models;  /* of ListTools; of ListModels */
    bool keyed;                          /* calls need a key: the caller is known, and other services are told */
};

/* The client and tenant of the run for which other services are called. `client` is "" for work without a client, and
 * in runs of releases that did not keep it; then it is the orchestrator itself, for the same tenant. */
struct rpc_principal node_services_caller(const struct node_services *services, const char *tenant, const char *client);

#endif
