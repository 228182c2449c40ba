/* The reason of a failed call, as the details of its status name it (google/rpc/error_details.proto). */
#include "service_call.h"

#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "rpc/details.h"

#include <string.h>

#define ERROR_INFO_URL "type.googleapis.com/google.rpc.ErrorInfo"

static bool service_detail_is(const Google__Protobuf__Any *detail, const char *reason)
{
    if (strcmp(detail->type_url, ERROR_INFO_URL) != 0)
        return false;
    Google__Rpc__ErrorInfo *info = google__rpc__error_info__unpack(NULL, detail->value.len, detail->value.data);
    bool same = info && strcmp(info->reason, reason) == 0;
    google__rpc__error_info__free_unpacked(info, NULL);
    return same;
}

bool service_call_reason_is(struct service_call *call, const char *reason)
{
    size_t size;
    bool same = false;
    const void *bytes = rpc_client_call_metadata(&call->call, RPC_DETAILS_KEY, &size);
    Google__Rpc__Status *status = bytes ? google__rpc__status__unpack(NULL, size, bytes) : NULL;
    for (size_t i = 0; status && i < status->n_details; i++)
        same |= service_detail_is(status->details[i], reason);
    google__rpc__status__free_unpacked(status, NULL);
    return same;
}
