#include "refuse.h"

#include "google/rpc/error_details.pb-c.h"
#include "rpc/rpc.h"

#define ERROR_INFO_URL "type.googleapis.com/google.rpc.ErrorInfo"
#define DOMAIN         "renga"

static void add_reason(struct rpc_call *call, const char *reason)
{
    Google__Rpc__ErrorInfo info = GOOGLE__RPC__ERROR_INFO__INIT;
    info.reason = (char *)(uintptr_t)reason;
    info.domain = (char *)(uintptr_t)DOMAIN;
    uint8_t *bytes = arena_alloc(rpc_call_arena(call), google__rpc__error_info__get_packed_size(&info));
    if (bytes) /* details are a courtesy */
        rpc_call_add_detail(call, ERROR_INFO_URL, bytes, google__rpc__error_info__pack(&info, bytes));
}

void refuse(struct rpc_call *call, const struct status *status, const char *reason)
{
    if (reason)
        add_reason(call, reason);
    rpc_fail(call, status);
}
