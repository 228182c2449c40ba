/* Which agents a key may use. A key with methods such as "renga.v1.Orchestrator/agent.helpdesk" is held to those
 * agents, in every method and through the agents' own services; one without any may use all. */
#ifndef RENGA_ORCHESTRATOR_RIGHTS_H
#define RENGA_ORCHESTRATOR_RIGHTS_H

#include "base/status.h"
#include "rpc/rpc.h"

struct rpc_auth;

/* Who asks. `auth` NULL: anybody may do anything. */
struct rights {
    const struct rpc_auth *auth;
    struct rpc_principal principal;
};

/* PERMISSION_DENIED says what would allow it. */
bool rights_check(const struct rights *rights, const char *agent, struct status *st);
bool rights_reach(const struct rights *rights, const char *agent);
/* Whether there are agents that it may not use: then a list must name one. */
bool rights_are_limited(const struct rights *rights);

#endif
