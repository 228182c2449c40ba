/* The answer of the gateway: its usage, its validity, and the cause of a failure. */
#include "model_task/model_task_priv.h"

#include "base/clock.h"
#include "google/rpc/status.pb-c.h"
#include "proto/usage.h"
#include "rpc/details.h"
#include "json/json.h"

#include <stdio.h>
#include <string.h>

#define MODEL_NAME_MAX ((size_t)128)  /* bytes, as the answers say */
#define PART_MAX       ((size_t)1024) /* of a degradation's texts */
#define REASON(name)   RENGA__V1__FINISH_REASON__FINISH_REASON_##name
#define UNCONST(text)  ((char *)(uintptr_t)(text))
#define QUOTA_URL      "type.googleapis.com/google.rpc.QuotaFailure"
#define INVALID_URL    "type.googleapis.com/renga.v1.InvalidOutput"
#define ERROR_INFO_URL "type.googleapis.com/google.rpc.ErrorInfo"

/* ---- usage ------------------------------------------------------------------------------------------------------- */

void model_task_take_finish(struct model_task *task, const Renga__V1__ChatFinish *finish)
{
    if (finish->usage)
        usage_add(&task->usage, finish->usage);
    if (finish->answered_by)
        task->model = model_task_text(task, finish->answered_by->model, MODEL_NAME_MAX);
    for (size_t i = 0; i < finish->n_degradations; i++) {
        const Renga__V1__Degradation *told = finish->degradations[i];
        Renga__V1__Degradation *degradation = model_task_alloc(task, sizeof *degradation);
        if (degradation && task->degradation_count != MODEL_TASK_DEGRADATIONS_MAX) {
            renga__v1__degradation__init(degradation);
            degradation->part = model_task_text(task, told->part, PART_MAX);
            degradation->kind = told->kind;
            degradation->reason = model_task_text(task, told->reason, PART_MAX);
            degradation->status_code = told->status_code;
            task->degradations[task->degradation_count++] = degradation;
        }
    }
}

void model_task_take_failure(struct model_task *task)
{
    size_t size;
    const void *bytes = rpc_client_call_metadata(&task->asking, RPC_DETAILS_KEY, &size);
    Google__Rpc__Status *details = bytes ? google__rpc__status__unpack(NULL, size, bytes) : NULL;
    if (bytes)
        usage_of_details(bytes, size, &task->usage);
    for (size_t i = 0; details && i < details->n_details; i++) {
        const Google__Protobuf__Any *detail = details->details[i];
        if (strcmp(detail->type_url, QUOTA_URL) == 0) {
            task->limited = true;
            rpc_call_add_detail(task->call, QUOTA_URL, detail->value.data, detail->value.len);
        } else if (strcmp(detail->type_url, INVALID_URL) == 0 || strcmp(detail->type_url, ERROR_INFO_URL) == 0) {
            rpc_call_add_detail(task->call, detail->type_url, detail->value.data, detail->value.len);
        }
    }
    google__rpc__status__free_unpacked(details, NULL);
}

void model_task_attach_usage(struct model_task *task)
{
    const Renga__V1__Usage *usage = &task->usage;
    if (!usage->model_calls)
        return;
    uint8_t bytes[USAGE_PACKED_MAX];
    rpc_call_add_detail(task->call, USAGE_URL, bytes, renga__v1__usage__pack(usage, bytes));
    rpc_call_add_trailing(task->call, RPC_PUSHBACK_KEY, RPC_PUSHBACK_NEVER, strlen(RPC_PUSHBACK_NEVER));
}

/* ---- whether it can be used -------------------------------------------------------------------------------------- */

bool model_task_has_answer(const Renga__V1__ChatResponse *answer, struct status *st)
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

bool model_task_read(struct model_task *task, const char *json, bool *correctable, struct status *st)
{
    struct status problem = {0};
    cJSON *tree = json_parse(json, strlen(json), NULL, &problem);
    bool good = tree && task->kind->read(task, tree, &problem);
    *correctable = tree && !good;
    cJSON_Delete(tree);
    return good || fail(st, DATA_LOSS, "the model's answer cannot be used: %s", problem.text);
}

/* ---- cause of a failure ------------------------------------------------------------------------------------------ */

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

static bool waits_no_more(const struct model_task *task)
{
    return rpc_call_cancelled(task->call) || clock_now_ns() >= rpc_call_deadline_ns(task->call);
}

/* The gateway's CANCELLED and DEADLINE_EXCEEDED, which the caller did not cause, look like the caller's own. */
static void blame_gateway(struct model_task *task, struct status *st)
{
    if (st->code == CANCELLED)
        fail(st, UNAVAILABLE, "the gateway gave up the call");
    else if (st->code == DEADLINE_EXCEEDED)
        fail(st, UNAVAILABLE, "no model answered within %lld ms (%s.timeout)", (long long)task->client->timeout_ms,
             task->client->service);
    else if (st->code == UNAUTHENTICATED)
        fail(st, FAILED_PRECONDITION, "the gateway does not know the %s's key; set peers.key", task->client->service);
}

bool model_task_is_caller_error(struct model_task *task, struct status *st)
{
    bool own_field = st->code == INVALID_ARGUMENT && strncmp(st->field, "prompting.", strlen("prompting.")) == 0;
    if (own_field || waits_no_more(task))
        return true;
    blame_gateway(task, st);
    switch (st->code) {
    case PERMISSION_DENIED:
        return true;
    case RESOURCE_EXHAUSTED:
        return task->limited;
    case NOT_FOUND:
        return task->prompting->model[0] != '\0';
    case INVALID_ARGUMENT:
        rename_field(st);
        return st->field[0] != '\0' && (task->prompting->model[0] || strcmp(st->field, "prompting.model") != 0);
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
