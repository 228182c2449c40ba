/* The details that the runtime does not make of a status by itself, as google.rpc.Status wants them packed. */
#include "failure.h"

#include "base/text.h"
#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "rpc/details.h"
#include "rpc/rpc.h"

#include <string.h>

#define DETAILS_MAX      3
#define RAW_TEXT_MAX     1536 /* bytes, as InvalidOutput says: a status must stay small */
#define PROBLEM_MAX      512
#define TYPE_URL(name)   "type.googleapis.com/" name
#define UNCONST(pointer) ((char *)(uintptr_t)(pointer)) /* protobuf-c knows no const, and changes nothing */

struct details {
    struct arena *arena;
    Google__Protobuf__Any any[DETAILS_MAX];
    Google__Protobuf__Any *list[DETAILS_MAX];
    size_t count;
};

static void add(struct details *details, const char *type_url, const ProtobufCMessage *message)
{
    Google__Protobuf__Any *any = &details->any[details->count];
    uint8_t *bytes = arena_alloc(details->arena, protobuf_c_message_get_packed_size(message));
    if (!bytes)
        return; /* details are a courtesy */
    google__protobuf__any__init(any);
    any->type_url = UNCONST(type_url);
    any->value.data = bytes;
    any->value.len = protobuf_c_message_pack(message, bytes);
    details->list[details->count++] = any;
}

static void add_reason(struct details *details, const char *reason)
{
    Google__Rpc__ErrorInfo info = GOOGLE__RPC__ERROR_INFO__INIT;
    info.reason = UNCONST(reason);
    info.domain = UNCONST("renga");
    add(details, TYPE_URL("google.rpc.ErrorInfo"), &info.base);
}

static void add_invalid_output(struct details *details, const struct failure *failure)
{
    Renga__V1__InvalidOutput invalid = RENGA__V1__INVALID_OUTPUT__INIT;
    size_t size = failure->raw_size ? text_cut(failure->raw_text, failure->raw_size, RAW_TEXT_MAX) : 0;
    char *raw_text = arena_strndup(details->arena, failure->raw_text ? failure->raw_text : "", size);
    char *problem = arena_strndup(details->arena, failure->problem,
                                  text_cut(failure->problem, strlen(failure->problem), PROBLEM_MAX));
    if (!raw_text || !problem)
        return;
    invalid.problem = problem;
    invalid.raw_text = raw_text;
    add(details, TYPE_URL("renga.v1.InvalidOutput"), &invalid.base);
}

static void send_details(struct rpc_call *call, const struct status *status, struct details *details)
{
    Google__Rpc__Status whole = GOOGLE__RPC__STATUS__INIT;
    whole.code = (int32_t)status->code;
    whole.message = UNCONST(status->text);
    whole.details = details->list;
    whole.n_details = details->count;
    size_t size = google__rpc__status__get_packed_size(&whole);
    uint8_t *bytes = arena_alloc(details->arena, size);
    if (bytes) {
        google__rpc__status__pack(&whole, bytes);
        rpc_call_add_trailing(call, RPC_DETAILS_KEY, bytes, size);
    }
}

void failure_send(struct rpc_call *call, const struct failure *failure)
{
    const struct status *status = &failure->status;
    struct details details = {.arena = rpc_call_arena(call)};
    /* A field or a retry hint becomes details in the runtime, and a status has them only once. None of our failures
     * has both kinds. */
    if (status->field[0] == '\0' && status->retry_after_ms == 0) {
        if (failure->reason)
            add_reason(&details, failure->reason);
        if (failure->problem)
            add_invalid_output(&details, failure);
        if (failure->usage)
            add(&details, TYPE_URL("renga.v1.Usage"), &failure->usage->base);
    }
    if (details.count)
        send_details(call, status, &details);
    rpc_fail(call, status);
}
