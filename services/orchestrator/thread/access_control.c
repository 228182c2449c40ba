#include "access_control.h"

#include "rpc/auth.h"

#define SCOPE "renga.v1.Orchestrator/agent."

bool access_control_allows(const struct access_control *access, const char *agent)
{
    return !access->auth || rpc_auth_reaches(access->auth, &access->principal, SCOPE, agent);
}

bool access_control_is_limited(const struct access_control *access)
{
    return access->auth && rpc_auth_is_limited(access->auth, &access->principal, SCOPE);
}

bool access_control_check(const struct access_control *access, const char *agent, struct status *st)
{
    return access_control_allows(access, agent) ||
           fail(st, PERMISSION_DENIED,
                "key '%s' may not use the agent '%.64s'; ask the operator to add " SCOPE "%.64s to its methods",
                access->principal.name, agent, agent);
}
