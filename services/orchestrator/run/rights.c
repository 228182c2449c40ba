#include "run/rights.h"

#include "rpc/auth.h"

#define SCOPE "renga.v1.Orchestrator/agent."

bool rights_reach(const struct rights *rights, const char *agent)
{
    return !rights->auth || rpc_auth_reaches(rights->auth, &rights->principal, SCOPE, agent);
}

bool rights_are_limited(const struct rights *rights)
{
    return rights->auth && rpc_auth_is_limited(rights->auth, &rights->principal, SCOPE);
}

bool rights_check(const struct rights *rights, const char *agent, struct status *st)
{
    return rights_reach(rights, agent) ||
           fail(st, PERMISSION_DENIED,
                "key '%s' may not use the agent '%.64s'; ask the operator to add " SCOPE "%.64s to its methods",
                rights->principal.name, agent, agent);
}
