#include "refuse.h"

#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "rpc/details.h"
#include "rpc/rpc.h"

#include <string.h>

#define ERROR_INFO_URL  "type.googleapis.com/google.rpc.ErrorInfo"
#define BAD_REQUEST_URL "type.googleapis.com/google.rpc.BadRequest"
#define RETRY_INFO_URL  "type.googleapis.com/google.rpc.RetryInfo"
#define DOMAIN          "renga"

static void refuse_add_reason(struct rpc_call *call, const char *reason)
{
    Google__Rpc__ErrorInfo info = GOOGLE__RPC__ERROR_INFO__INIT;
    info.reason = (char *)(uintptr_t)reason;
    info.domain = (char *)(uintptr_t)DOMAIN;
    uint8_t *bytes = arena_alloc(rpc_call_arena(call), google__rpc__error_info__get_packed_size(&info));
    if (bytes) /* details are a courtesy */
        rpc_call_add_detail(call, ERROR_INFO_URL, bytes, google__rpc__error_info__pack(&info, bytes));
}

/* Field and retry hint are in the status already. */
void refuse_as(struct rpc_call *call, const struct rpc_client_call *theirs, const struct status *status)
{
    size_t size = 0;
    const void *bytes = rpc_client_call_metadata(theirs, RPC_DETAILS_KEY, &size);
    Google__Rpc__Status *details = bytes ? google__rpc__status__unpack(NULL, size, bytes) : NULL;
    for (size_t i = 0; details && i < details->n_details; i++) {
        const Google__Protobuf__Any *one = details->details[i];
        if (strcmp(one->type_url, BAD_REQUEST_URL) != 0 && strcmp(one->type_url, RETRY_INFO_URL) != 0)
            rpc_call_add_detail(call, one->type_url, one->value.data, one->value.len);
    }
    google__rpc__status__free_unpacked(details, NULL);
    rpc_fail(call, status);
}

void refuse(struct rpc_call *call, const struct status *status, const char *reason)
{
    if (reason)
        refuse_add_reason(call, reason);
    rpc_fail(call, status);
}
