#include "forward.h"
#include "api.h"
#include "refuse.h"

#include "nodes/addresses.h"
#include "rpc/auth.h"
#include "thread/runner_metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TOKEN_KEY      "renga-thread-token"
#define MOVED_KEY      "renga-thread-moved"
#define FORWARD_MAX_MS (INT64_C(7) * 24 * 3600 * 1000) /* the client's own deadline decides */

/* ---- to us ------------------------------------------------------------------------------------------------------- */

static uint64_t forward_read_token(const struct rpc_call *call)
{
    size_t size = 0;
    uint64_t token = 0;
    const char *digits = rpc_call_metadata(call, TOKEN_KEY, &size);
    for (size_t i = 0; i < size && digits[i] >= '0' && digits[i] <= '9'; i++)
        token = 10 * token + (uint64_t)(digits[i] - '0');
    return token;
}

/* A client without a key here might be allowed fewer agents there. */
static bool forward_is_known(const struct api *api, const struct rpc_principal *principal, struct status *st)
{
    return !api->auth || rpc_auth_find(api->auth, principal->tenant, principal->name) ||
           fail(st, PERMISSION_DENIED,
                "a call was handed on for the key '%s' of tenant '%s', which is not known here; give all orchestrators "
                "the same keys",
                principal->name, principal->tenant);
}

/* A caller without the right to forward was refused earlier; without keys there are no tenants. */
bool caller_find(const struct api *api, struct rpc_call *call, struct caller *caller)
{
    size_t size = 0;
    struct status st = {0};
    *caller = (struct caller){.access = api_access_control(api, call)};
    bool believed = rpc_call_is_forwarded(call);
    if (believed && !forward_is_known(api, &caller->access.principal, &st)) {
        rpc_fail(call, &st);
        return false;
    }
    caller->forwarded = (believed || !api->auth) && rpc_call_metadata(call, TOKEN_KEY, &size);
    caller->thread_token = caller->forwarded ? forward_read_token(call) : 0;
    return true;
}

/* ---- from us ----------------------------------------------------------------------------------------------------- */

static void forward_came(const ProtobufCMessage *message, void *data)
{
    struct forward *forward = (struct forward *)data; /* begins with its call */
    if (!forward->call.outbound)
        addresses_call_ended(forward->api->orchestrator->orchestrators);
    forward->came(forward, message);
}

static unsigned method_index(struct rpc_call *call)
{
    const ProtobufCServiceDescriptor *service = &renga__v1__orchestrator__descriptor;
    const char *name = strrchr(rpc_call_method(call), '/');
    return (unsigned)(protobuf_c_service_descriptor_get_method_by_name(service, name + 1) - service->methods);
}

bool forward_begin(struct forward *forward, struct api *api, struct rpc_call *call, const ProtobufCMessage *request,
                   const char *address, uint64_t thread_token, struct status *st)
{
    char token[24];
    ProtobufCService *target = addresses_stub(api->orchestrator->orchestrators, address, st);
    if (!target)
        return false;
    struct rpc_metadata metadata[] = {
        {.key = TOKEN_KEY, .value = token, .size = (size_t)snprintf(token, sizeof token, "%" PRIu64, thread_token)},
    };
    rpc_client_call_init(&forward->call, api->loop, call);
    forward->api = api;
    forward->call.timeout_ms = FORWARD_MAX_MS;
    forward->call.metadata = metadata;
    forward->call.metadata_count = sizeof metadata / sizeof *metadata;
    addresses_call_began(api->orchestrator->orchestrators);
    runner_metrics_owner(api->orchestrator->runner_metrics, api->loop, OWNER_FORWARDED, 1);
    target->invoke(target, method_index(call), request, forward_came, &forward->call);
    forward->call.metadata = NULL;
    forward->call.metadata_count = 0;
    return true;
}

/* Not UNAVAILABLE: gRPC would ask there again by itself. */
void forward_give_back(struct rpc_call *call, const struct status *why)
{
    struct status st = *why;
    st.code = ABORTED;
    rpc_call_add_trailing(call, MOVED_KEY, "1", 1);
    rpc_fail(call, &st);
}

bool forward_was_given_back(const struct rpc_client_call *theirs)
{
    size_t size;
    return rpc_client_call_metadata(theirs, MOVED_KEY, &size);
}

void forward_refuse(struct rpc_call *call, const struct rpc_client_call *theirs)
{
    struct status st = theirs->status;
    if ((st.code == CANCELLED && !rpc_call_cancelled(call)) || forward_was_given_back(theirs))
        st.code = UNAVAILABLE; /* the orchestrator stopped, without a cancellation */
    if (st.code == OK)
        fail(&st, UNAVAILABLE, "the orchestrator that has the thread gave no answer; ask again");
    refuse_as(call, theirs, &st);
}
