/* The details that the runtime does not make of a status by itself. */
#include "failure.h"

#include "base/text.h"
#include "google/rpc/error_details.pb-c.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "rpc/rpc.h"

#include <string.h>

#define RAW_TEXT_MAX     1536 /* bytes, as InvalidOutput says: a status must stay small */
#define PROBLEM_MAX      512
#define SUBJECT_MAX      128 /* as QuotaFailure says; so the next */
#define DESCRIPTION_MAX  512
#define TYPE_URL(name)   "type.googleapis.com/" name
#define UNCONST(pointer) ((char *)(uintptr_t)(pointer)) /* protobuf-c has no const in its structs, and only reads */

static void failure_add(struct rpc_call *call, const char *type_url, const ProtobufCMessage *message)
{
    uint8_t *bytes = arena_alloc(rpc_call_arena(call), protobuf_c_message_get_packed_size(message));
    if (bytes) /* details are a courtesy */
        rpc_call_add_detail(call, type_url, bytes, protobuf_c_message_pack(message, bytes));
}

static void failure_add_reason(struct rpc_call *call, const char *reason)
{
    Google__Rpc__ErrorInfo info = GOOGLE__RPC__ERROR_INFO__INIT;
    info.reason = UNCONST(reason);
    info.domain = UNCONST("renga");
    failure_add(call, TYPE_URL("google.rpc.ErrorInfo"), &info.base);
}

/* "client/tokens_per_minute" of "reports" is told of "client:reports". */
static void add_limit(struct rpc_call *call, const struct failure *failure)
{
    const char *name = failure->limited ? failure->limited : "", *slash = strchr(failure->limit, '/');
    struct arena *arena = rpc_call_arena(call);
    Google__Rpc__QuotaFailure__Violation violation = GOOGLE__RPC__QUOTA_FAILURE__VIOLATION__INIT;
    Google__Rpc__QuotaFailure__Violation *list[] = {&violation};
    Google__Rpc__QuotaFailure quota = GOOGLE__RPC__QUOTA_FAILURE__INIT;
    char *subject =
        arena_printf(arena, "%.*s%s%s", (int)(slash - failure->limit), failure->limit, name[0] ? ":" : "", name);
    char *description = arena_printf(arena, "%s: %s", slash + 1, failure->status.text);
    if (!subject || !description)
        return;
    subject[text_cut(subject, strlen(subject), SUBJECT_MAX)] = '\0';
    description[text_cut(description, strlen(description), DESCRIPTION_MAX)] = '\0';
    violation.subject = subject;
    violation.description = description;
    quota.violations = list;
    quota.n_violations = 1;
    failure_add(call, TYPE_URL("google.rpc.QuotaFailure"), &quota.base);
}

static void add_invalid_output(struct rpc_call *call, const struct failure *failure)
{
    struct arena *arena = rpc_call_arena(call);
    Renga__V1__InvalidOutput invalid = RENGA__V1__INVALID_OUTPUT__INIT;
    size_t size = failure->raw_size ? text_cut(failure->raw_text, failure->raw_size, RAW_TEXT_MAX) : 0;
    char *raw_text = arena_strndup(arena, failure->raw_text ? failure->raw_text : "", size);
    char *problem =
        arena_strndup(arena, failure->problem, text_cut(failure->problem, strlen(failure->problem), PROBLEM_MAX));
    if (!raw_text || !problem)
        return;
    invalid.problem = problem;
    invalid.raw_text = raw_text;
    failure_add(call, TYPE_URL("renga.v1.InvalidOutput"), &invalid.base);
}

void failure_send(struct rpc_call *call, const struct failure *failure)
{
    if (failure->reason)
        failure_add_reason(call, failure->reason);
    if (failure->limit)
        add_limit(call, failure);
    if (failure->problem)
        add_invalid_output(call, failure);
    if (failure->usage) {
        failure_add(call, TYPE_URL("renga.v1.Usage"), &failure->usage->base);
        rpc_call_add_trailing(call, RPC_PUSHBACK_KEY, RPC_PUSHBACK_NEVER, strlen(RPC_PUSHBACK_NEVER));
    }
    rpc_fail(call, &failure->status);
}
