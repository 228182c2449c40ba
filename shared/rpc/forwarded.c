#include "rpc/forwarded.h"

#include "rpc/call.h"
#include "rpc/outbound.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

const struct rpc_principal *forwarded_caller(const struct rpc_outbound *outbound)
{
    const struct rpc_client_call *call = outbound->call;
    const struct rpc_principal *caller = call->parent ? &call->parent->principal : call->principal;
    return caller && (caller->name[0] || caller->tenant[0]) ? caller : NULL;
}

bool forwarded_write(const struct rpc_principal *caller, char value[FORWARDED_MAX], size_t *size, struct status *st)
{
    size_t tenant = strlen(caller->tenant) + 1, name = strlen(caller->name);
    if (!rpc_auth_check_names(caller, st))
        return false;
    memcpy(value, caller->tenant, tenant);
    memcpy(value + tenant, caller->name, name);
    *size = tenant + name;
    return true;
}

bool forwarded_read(const void *value, size_t size, struct arena *arena, struct rpc_principal *caller,
                    struct status *st)
{
    const char *bytes = value;
    const char *zero = memchr(bytes, '\0', size);
    if (size > FORWARDED_MAX || !zero || memchr(zero + 1, '\0', size - (size_t)(zero + 1 - bytes)))
        return fail(st, INVALID_ARGUMENT,
                    "metadata " FORWARDED_KEY ": %zu bytes are not a tenant, a NUL and the name of a key of at most "
                    "%zu bytes",
                    size, (size_t)FORWARDED_MAX);
    caller->tenant = arena_strndup(arena, bytes, (size_t)(zero - bytes));
    caller->name = arena_strndup(arena, zero + 1, size - (size_t)(zero + 1 - bytes));
    if (!caller->tenant || !caller->name)
        return fail_memory(st, "the call");
    return rpc_auth_check_names(caller, st);
}

static void write_right(const char *method, char right[RPC_AUTH_RIGHT_MAX])
{
    const char *slash = strchr(method, '/');
    int service = slash ? (int)(slash - method) : 0;
    snprintf(right, RPC_AUTH_RIGHT_MAX, "%.*s/forward", service, method);
}

bool forwarded_may(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *method)
{
    char right[RPC_AUTH_RIGHT_MAX];
    write_right(method, right);
    return rpc_auth_grants(auth, principal, right);
}

static bool may_forward(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *method,
                        struct status *st)
{
    char right[RPC_AUTH_RIGHT_MAX];
    write_right(method, right);
    return rpc_auth_grants(auth, principal, right) ||
           fail(st, PERMISSION_DENIED,
                "key '%s' may not call on behalf of others; ask the operator to add %s to its methods, or call without "
                "the metadata " FORWARDED_KEY,
                principal->name, right);
}

bool forwarded_admit(const struct rpc_auth *auth, const void *value, size_t size, const char *method,
                     struct arena *arena, struct rpc_principal *principal, struct status *st)
{
    struct rpc_principal caller = {0};
    if ((auth && !may_forward(auth, principal, method, st)) || !forwarded_read(value, size, arena, &caller, st))
        return false;
    const struct rpc_principal *known = auth ? rpc_auth_find(auth, caller.tenant, caller.name) : NULL;
    *principal = known ? *known : caller;
    return true;
}
