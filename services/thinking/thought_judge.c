/* What came back: what it cost, whether it can be used, and whose fault it is where it cannot. */
#include "thinking/thought_priv.h"

#include "base/clock.h"
#include "base/json.h"
#include "google/rpc/status.pb-c.h"
#include "rpc/details.h"
#include "thinking/usage.h"

#include <stdio.h>
#include <string.h>

#define MODEL_NAME_MAX ((size_t)128)  /* bytes, as the answers say */
#define PART_MAX       ((size_t)1024) /* of a degradation's texts */
#define REASON(name)   RENGA__V1__FINISH_REASON__FINISH_REASON_##name
#define UNCONST(text)  ((char *)(uintptr_t)(text))
#define QUOTA_URL      "type.googleapis.com/google.rpc.QuotaFailure"
#define INVALID_URL    "type.googleapis.com/renga.v1.InvalidOutput"
#define ERROR_INFO_URL "type.googleapis.com/google.rpc.ErrorInfo"

/* ---- what it cost ------------------------------------------------------------------------------------------------ */

static void take_degradation(struct thought *thought, const Renga__V1__Degradation *told)
{
    Renga__V1__Degradation *degradation = thought_alloc(thought, sizeof *degradation);
    if (!degradation || thought->degradation_count == THOUGHT_DEGRADATIONS_MAX)
        return;
    renga__v1__degradation__init(degradation);
    degradation->part = thought_text(thought, told->part, PART_MAX);
    degradation->kind = told->kind;
    degradation->reason = thought_text(thought, told->reason, PART_MAX);
    degradation->status_code = told->status_code;
    thought->degradations[thought->degradation_count++] = degradation;
}

void thought_take_finish(struct thought *thought, const Renga__V1__ChatFinish *finish)
{
    if (finish->usage)
        usage_add(&thought->usage, finish->usage);
    if (finish->answered_by)
        thought->model = thought_text(thought, finish->answered_by->model, MODEL_NAME_MAX);
    for (size_t i = 0; i < finish->n_degradations; i++)
        take_degradation(thought, finish->degradations[i]);
}

static void take_detail(struct thought *thought, const Google__Protobuf__Any *detail)
{
    if (strcmp(detail->type_url, QUOTA_URL) == 0) {
        thought->limited = true;
        rpc_call_add_detail(thought->call, QUOTA_URL, detail->value.data, detail->value.len);
    } else if (strcmp(detail->type_url, INVALID_URL) == 0 || strcmp(detail->type_url, ERROR_INFO_URL) == 0) {
        rpc_call_add_detail(thought->call, detail->type_url, detail->value.data, detail->value.len);
    }
}

void thought_take_failure(struct thought *thought)
{
    size_t size;
    const void *bytes = rpc_client_call_metadata(&thought->asking, RPC_DETAILS_KEY, &size);
    Google__Rpc__Status *details = bytes ? google__rpc__status__unpack(NULL, size, bytes) : NULL;
    if (bytes)
        usage_of_details(bytes, size, &thought->usage);
    for (size_t i = 0; details && i < details->n_details; i++)
        take_detail(thought, details->details[i]);
    google__rpc__status__free_unpacked(details, NULL);
}

void thought_tell_usage(struct thought *thought)
{
    const Renga__V1__Usage *usage = &thought->usage;
    if (!usage->model_calls)
        return;
    uint8_t bytes[USAGE_PACKED_MAX];
    rpc_call_add_detail(thought->call, USAGE_URL, bytes, renga__v1__usage__pack(usage, bytes));
    rpc_call_add_trailing(thought->call, RPC_PUSHBACK_KEY, RPC_PUSHBACK_NEVER, strlen(RPC_PUSHBACK_NEVER));
}

/* ---- whether it can be used -------------------------------------------------------------------------------------- */

bool thought_has_answer(const Renga__V1__ChatResponse *answer, struct status *st)
{
    switch (answer->finish->finish_reason) {
    case REASON(STOP):
        return answer->finish->structured_json[0] || fail(st, DATA_LOSS, "the model's answer is no JSON");
    case REASON(LENGTH):
        return fail(st, DATA_LOSS, "the model's answer was cut at its longest; allow more tokens, or ask for less");
    case REASON(REFUSAL):
        return fail(st, DATA_LOSS, "the model would not answer");
    case REASON(CONTENT_FILTER):
        return fail(st, DATA_LOSS, "the provider blocked the prompt or the answer");
    default:
        return fail(st, DATA_LOSS, "the model said nothing that could be read");
    }
}

bool thought_read(struct thought *thought, const char *json, bool *mendable, struct status *st)
{
    struct status problem = {0};
    cJSON *tree = json_parse(json, strlen(json), NULL, &problem);
    bool good = tree && thought->kind->read(thought, tree, &problem);
    *mendable = tree && !good;
    cJSON_Delete(tree);
    return good || fail(st, DATA_LOSS, "the model's answer cannot be used: %s", problem.text);
}

/* ---- whose fault ------------------------------------------------------------------------------------------------- */

/* Fields of the gateway's request that are the caller's own. */
static const struct {
    const char *theirs, *ours;
} fields[] = {
    {"model", "prompting.model"},
    {"max_output_tokens", "prompting.max_output_tokens"},
    {"sampling.temperature", "prompting.temperature"},
};

static void rename_field(struct status *st)
{
    char field[STATUS_FIELD_MAX] = "", text[STATUS_TEXT_MAX];
    size_t skip = strlen(st->field);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (strcmp(st->field, fields[i].theirs) == 0)
            snprintf(field, sizeof field, "%s", fields[i].ours);
    bool begins = skip && strncmp(st->text, st->field, skip) == 0 && strncmp(st->text + skip, ": ", 2) == 0;
    snprintf(text, sizeof text, "%s", begins ? st->text + skip + 2 : st->text);
    if (field[0])
        fail_field(st, field, "%s", text);
    else
        st->field[0] = '\0';
}

static bool waits_no_more(const struct thought *thought)
{
    return rpc_call_cancelled(thought->call) || clock_now_ns() >= rpc_call_deadline_ns(thought->call);
}

/* What nobody but us has ended looks like an end of the caller's. */
static void blame_gateway(struct thought *thought, struct status *st)
{
    if (st->code == CANCELLED)
        fail(st, UNAVAILABLE, "the gateway gave up the call");
    else if (st->code == DEADLINE_EXCEEDED)
        fail(st, UNAVAILABLE, "no model answered within %lld ms (%s.timeout)", (long long)thought->thinker->timeout_ms,
             thought->thinker->service);
    else if (st->code == UNAUTHENTICATED)
        fail(st, FAILED_PRECONDITION, "the gateway does not know the %s's key; set peers.key",
             thought->thinker->service);
}

bool thought_is_callers(struct thought *thought, struct status *st)
{
    bool own_field = st->code == INVALID_ARGUMENT && strncmp(st->field, "prompting.", strlen("prompting.")) == 0;
    if (own_field || waits_no_more(thought))
        return true;
    blame_gateway(thought, st);
    switch (st->code) {
    case PERMISSION_DENIED:
        return true;
    case RESOURCE_EXHAUSTED:
        return thought->limited;
    case NOT_FOUND:
        return thought->prompting->model[0] != '\0';
    case INVALID_ARGUMENT:
        rename_field(st);
        return st->field[0] != '\0' && (thought->prompting->model[0] || strcmp(st->field, "prompting.model") != 0);
    default:
        return false;
    }
}

const struct status *fail_no_gateway(struct status *st, const char *service)
{
    fail(st, UNAVAILABLE, "the %s does not know where the gateway is; set peers.llm_gateway, or run it in this process",
         service);
    return st;
}
