/* Which agents a key may use. A key with methods such as "renga.v1.Orchestrator/agent.helpdesk" is held to those
 * agents, in every method and through the agents' own services; one without any may use all. */
#ifndef RENGA_ORCHESTRATOR_ACCESS_CONTROL_H
#define RENGA_ORCHESTRATOR_ACCESS_CONTROL_H

#include "base/status.h"
#include "rpc/rpc.h"

#include <stdbool.h>

struct rpc_auth;

/* The caller. `auth` NULL: every caller may do everything. */
struct access_control {
    const struct rpc_auth *auth;
    struct rpc_principal principal;
};

/* PERMISSION_DENIED names the right that is missing. */
bool access_control_check(const struct access_control *access, const char *agent, struct status *st);
bool access_control_allows(const struct access_control *access, const char *agent);
/* Whether there are agents that it may not use: then a list must name one. */
bool access_control_is_limited(const struct access_control *access);

#endif
