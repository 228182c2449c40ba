/* Asking deployments, one after the other, until one answers or the policy is at its end. */
#include "pipeline_priv.h"

#include "pipeline_result.h"
#include "pipeline_telemetry.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "http/cassette.h"
#include "provider/provider.h"
#include "upstream/retry_hint.h"

#include <stdio.h>
#include <string.h>

#define BODY_MAX      ((size_t)32 << 20) /* a request of 4 MiB, most of it escaped */
#define BUSY_AGAIN_MS 20                 /* a deployment without a free slot is tried again after this */
#define BUSY_HINT_MS  500                /* ... and the caller may look again after this */
#define UNCONST(text) ((char *)(uintptr_t)(text))

static void pipeline_upstream_finished(struct transfer *transfer);
static void pipeline_upstream_answer_read(struct pipeline *pipeline, bool good);

static int64_t callers_left_ms(const struct pipeline *pipeline)
{
    int64_t deadline_ns = rpc_call_deadline_ns(pipeline->call);
    return deadline_ns == TIME_NEVER ? INT64_MAX : (deadline_ns - clock_now_ns()) / NS_PER_MS;
}

/* All requests, waits and repairs of a call share one limit of ours. */
static int64_t own_left_ms(const struct pipeline *pipeline)
{
    return pipeline->gateway->timeout_ms - (clock_now_ns() - pipeline->began_ns) / NS_PER_MS;
}

int64_t pipeline_remaining_ms(const struct pipeline *pipeline)
{
    int64_t callers_ms = callers_left_ms(pipeline), own_ms = own_left_ms(pipeline);
    return callers_ms < own_ms ? callers_ms : own_ms;
}

/* ---- one request ------------------------------------------------------------------------------------------------- */

static bool write_body(struct pipeline *pipeline)
{
    struct json_writer writer;
    buffer_init(&pipeline->body, BODY_MAX);
    json_writer_init(&writer, &pipeline->body);
    pipeline->kind->write(pipeline, &writer);
    if (json_writer_done(&writer))
        return true;
    buffer_fini(&pipeline->body);
    pipeline->failure.ours = true;
    return fail(&pipeline->failure.status, RESOURCE_EXHAUSTED, "the request has more than %zu bytes as JSON", BODY_MAX);
}

static void pipeline_upstream_headers_came(struct transfer *transfer, int http_status)
{
    struct pipeline *pipeline = transfer->owner;
    pipeline->kind->headers_came(pipeline, http_status);
}

static bool is_here(const struct target *target)
{
    return target->deployment->provider->answer_chat != NULL;
}

bool pipeline_has_sent(const struct pipeline *pipeline)
{
    return pipeline->attempt_count && !is_here(pipeline->target);
}

static void pipeline_upstream_answer_locally(struct pipeline *pipeline, const struct failure *before)
{
    transfer_init(&pipeline->transfer, NULL, pipeline_upstream_finished);
    pipeline->transfer.owner = pipeline;
    pipeline_move(pipeline, PIPELINE_REQUESTING);
    pipeline_read(pipeline, before, true, pipeline_upstream_answer_read);
}

static bool pipeline_request_target(struct pipeline *pipeline)
{
    struct transfer *transfer = &pipeline->transfer;
    const struct deployment *deployment = pipeline->target->deployment;
    const struct failure before = pipeline->failure;
    pipeline->failure = (struct failure){0};
    pipeline->requested_ns = clock_now_ns();
    pipeline->requested_wall_ms = clock_wall_ns() / NS_PER_MS;
    if (is_here(pipeline->target)) {
        pipeline_upstream_answer_locally(pipeline, &before);
        return true;
    }
    if (!write_body(pipeline))
        return false;
    transfer_init(transfer, pipeline->kind->endpoint(deployment), pipeline_upstream_finished);
    transfer->method = "POST";
    transfer->headers = deployment->headers;
    transfer->alias = deployment->name;
    transfer->body = pipeline->body.data;
    transfer->body_size = pipeline->body.length;
    transfer->response_max = pipeline->response_max;
    transfer->decompress = true;
    transfer->owner = pipeline;
    if (pipeline->kind->headers_came)
        transfer->headers_received = pipeline_upstream_headers_came;
    int64_t timeout_ms = pipeline_remaining_ms(pipeline);
    pipeline->timeout_is_callers = callers_left_ms(pipeline) < own_left_ms(pipeline);
    if (pipeline->timeout_is_callers)
        timeout_ms++; /* the caller's own clock is to end it first */
    pipeline->transfer.timeout_ms = timeout_ms > 0 ? timeout_ms : 1;
    if (pipeline->streams)
        pipeline->transfer.idle_timeout_ms = pipeline->gateway->idle_timeout_ms;
    pipeline_move(pipeline, PIPELINE_REQUESTING);
    if (pipeline->route->replays) {
        transfer_replay(pipeline->gateway->http, transfer, pipeline->route->replays);
        return true;
    }
    if (pipeline->route->records)
        transfer_record(transfer, pipeline->route->records);
    transfer_start(pipeline->gateway->http, transfer);
    return true;
}

void pipeline_stop(struct pipeline *pipeline)
{
    transfer_cancel(&pipeline->transfer);
}

void pipeline_answered_by(const struct pipeline *pipeline, Renga__V1__AnsweredBy *by)
{
    const char *model = pipeline->kind->model(pipeline);
    renga__v1__answered_by__init(by);
    by->deployment = UNCONST(pipeline->target->deployment->name);
    by->provider = UNCONST(pipeline->target->deployment->provider->name);
    by->model = UNCONST(model[0] ? model : pipeline->target->model);
}

/* ---- report of attempts ------------------------------------------------------------------------------------------ */

static const char *sent_id(const struct transfer *transfer)
{
    static const char *const names[] = {"x-request-id", "request-id", "apim-request-id"};
    const char *id = NULL;
    for (size_t i = 0; !id && i < sizeof names / sizeof names[0]; i++)
        id = transfer_header(transfer, names[i]);
    return id && strlen(id) <= SENT_ID_MAX ? id : "";
}

static void note_attempt(struct pipeline *pipeline, bool good)
{
    struct attempt *attempt = arena_alloc(rpc_call_arena(pipeline->call), sizeof *attempt);
    const struct status *st = &pipeline->failure.status;
    if (!attempt || pipeline->attempt_count == RETRY_ATTEMPTS_MAX)
        return;
    size_t size = good ? 0 : text_cut(st->text, strlen(st->text), ATTEMPT_ERROR_MAX);
    memcpy(attempt->error, st->text, size);
    attempt->error[size] = '\0';
    snprintf(attempt->request_id, sizeof attempt->request_id, "%s", sent_id(&pipeline->transfer));
    pipeline_answered_by(pipeline, &attempt->asked);
    attempt->asked.model =
        arena_strdup(rpc_call_arena(pipeline->call), attempt->asked.model); /* the next one writes over it */
    if (!attempt->asked.model)
        attempt->asked.model = UNCONST(pipeline->target->model);
    renga__v1__attempt__init(&attempt->told);
    attempt->told.asked = &attempt->asked;
    attempt->told.status_code = good ? OK : (int32_t)st->code;
    attempt->told.error = attempt->error;
    attempt->told.http_status = pipeline->transfer.http_status;
    attempt->told.provider_request_id = attempt->request_id;
    attempt->told.started_ms = pipeline->requested_wall_ms;
    attempt->told.duration_ms = (clock_now_ns() - pipeline->requested_ns) / NS_PER_MS;
    pipeline->attempts[pipeline->attempt_count++] = &attempt->told;
}

/* ---- the deployment's place -------------------------------------------------------------------------------------- */

static const char *pipeline_upstream_header_of(const void *transfer, const char *name)
{
    return transfer_header(transfer, name);
}

static void give_place_back(struct pipeline *pipeline, bool good)
{
    const struct failure *failure = &pipeline->failure;
    const Renga__V1__Usage *used = pipeline->kind->used(pipeline);
    struct endpoint_health *health = pipeline->target->health;
    struct endpoint_report report = {.place = pipeline->choice.place,
                                     .tokens = used ? used->input_tokens + used->output_tokens : 0};
    int64_t now_ns = clock_now_ns();
    if (good || failure->problem)
        report.verdict = ENDPOINT_SUCCEEDED;
    else if (failure->ours || failure->too_large || pipeline->caller_left || pipeline->client_is_slow)
        report.verdict = ENDPOINT_UNKNOWN;
    else
        endpoint_report_of(&report, pipeline_timed_out(pipeline) ? UNAVAILABLE : failure->status.code,
                           failure_is_quota(failure), failure->status.retry_after_ms);
    endpoint_health_release(health, now_ns, &report);
    struct rate_left left = rate_left_of(pipeline_upstream_header_of, &pipeline->transfer, clock_wall_ns() / NS_PER_MS);
    endpoint_health_update_limits(health, now_ns, left.requests, left.tokens, left.reset_ms);
}

/* ---- which one --------------------------------------------------------------------------------------------------- */

static void pipeline_upstream_rested(struct timer *timer)
{
    struct pipeline *pipeline = CONTAINER_OF(timer, struct pipeline, rest);
    pipeline_route(pipeline);
}

static void pipeline_upstream_rest(struct pipeline *pipeline, int64_t wait_ms)
{
    pipeline_move(pipeline, PIPELINE_BACKING_OFF);
    pipeline->rest.expired = pipeline_upstream_rested;
    loop_arm_after(rpc_call_loop(pipeline->call), &pipeline->rest, wait_ms);
}

/* The last failure tells more than "no deployment is left". */
static void say_who_rests(struct pipeline *pipeline)
{
    const struct choice *choice = &pipeline->choice;
    struct status *st = &pipeline->failure.status;
    bool broken = choice->refusal == ENDPOINT_CIRCUIT_OPEN;
    if (st->code != OK)
        return;
    fail(st, broken ? UNAVAILABLE : RESOURCE_EXHAUSTED, "all deployments of the model '%s' %s", pipeline->route->name,
         broken ? "have failed lately and rest" : "are at their limits");
    int64_t wait_ms = choice->wait_ms ? choice->wait_ms : BUSY_HINT_MS;
    st->retry_after_ms = (int32_t)(wait_ms < INT32_MAX ? wait_ms : INT32_MAX);
}

static void none_to_ask(struct pipeline *pipeline)
{
    const struct choice *choice = &pipeline->choice;
    bool all_tried = choice->refusal == ENDPOINT_AVAILABLE, busy = choice->refusal == ENDPOINT_SATURATED;
    int64_t wait_ms = busy ? BUSY_AGAIN_MS : choice->wait_ms, left_ms = pipeline_remaining_ms(pipeline);
    bool in_time = pipeline->waited_ms + wait_ms <= pipeline->gateway->queue_wait_ms && wait_ms < left_ms;
    if (all_tried || choice->refusal == ENDPOINT_CIRCUIT_OPEN || !in_time) {
        say_who_rests(pipeline);
        pipeline_end(pipeline, false);
        return;
    }
    pipeline->waited_ms += wait_ms;
    pipeline_upstream_rest(pipeline, wait_ms);
}

/* The next may choose. */
void pipeline_release_turn(struct pipeline *pipeline)
{
    if (pipeline->holds_turn)
        admission_leave(&pipeline->turn->ticket, 0, 0);
    pipeline->holds_turn = false;
}

void pipeline_route(struct pipeline *pipeline)
{
    pipeline_move(pipeline, PIPELINE_ROUTING);
    pipeline->choice.tokens = pipeline->ticket.tokens;
    int index = route_choose(pipeline->route, &pipeline->choice, clock_now_ns());
    if (index < 0) {
        none_to_ask(pipeline);
        return;
    }
    pipeline_release_turn(pipeline);
    bool same_rank = pipeline->target && pipeline->target->rank == pipeline->route->targets[index].rank;
    pipeline->attempts_in_rank = same_rank ? pipeline->attempts_in_rank + 1 : 1;
    pipeline->target_index = index;
    pipeline->target = &pipeline->route->targets[index];
    if (pipeline_request_target(pipeline))
        return;
    give_place_back(pipeline, false);
    pipeline_end(pipeline, false);
}

/* ---- and once more? ---------------------------------------------------------------------------------------------- */

static size_t requests_left(const struct pipeline *pipeline)
{
    bool bounded = pipeline->requests_max && pipeline->requests_max < RETRY_ATTEMPTS_MAX;
    size_t most = bounded ? pipeline->requests_max : RETRY_ATTEMPTS_MAX;
    return pipeline->attempt_count < most ? most - pipeline->attempt_count : 0;
}

/* The next rank with a usable target in this process, and whether it directly follows. 0: no rank. */
static unsigned rank_here(const struct pipeline *pipeline, bool *next)
{
    unsigned first = 0;
    for (size_t i = 0; i < pipeline->route->target_count; i++) {
        const struct target *target = &pipeline->route->targets[i];
        if (target->rank <= pipeline->target->rank)
            continue;
        first = first ? first : target->rank;
        *next = target->rank == first;
        if (is_here(target))
            return target->rank;
    }
    return 0;
}

/* A retry draws on the caller's budget and on the gateway's, which protects a failing upstream. A fallback inside
 * this process is free, and works when the budgets are used up. */
static bool may_try_again(struct pipeline *pipeline, enum retry_step *step)
{
    bool next = false;
    unsigned here = rank_here(pipeline, &next);
    if (here && next && *step == RETRY_NEXT_RANK)
        return true;
    if (requests_left(pipeline) && retry_budget_spend(&pipeline->gateway->shared->budget))
        return true;
    if (!here)
        return false;
    pipeline->choice.rank_min = here;
    *step = RETRY_OTHER;
    return true;
}

/* A deployment that stands in within this process does not use up the caller's requests. */
static bool is_last(const struct pipeline *pipeline)
{
    bool next = false;
    return requests_left(pipeline) == 1 && !(rank_here(pipeline, &next) && next);
}

/* A fault in the words of a model, or too many of them, comes at each of its upstreams, and after our limit no upstream
 * has time left; a provider in this process may do better, and answers at once. */
static bool pipeline_answer_locally(struct pipeline *pipeline)
{
    bool next, late = pipeline_timed_out(pipeline);
    unsigned here = rank_here(pipeline, &next);
    int64_t left_ms = late ? callers_left_ms(pipeline) : pipeline_remaining_ms(pipeline);
    if (!here || (!pipeline->failure.problem && !pipeline->failure.too_large && !late) || pipeline->told ||
        pipeline->failure.ours || pipeline->caller_left || left_ms <= 0)
        return false;
    pipeline->choice.rank_min = here;
    pipeline_route(pipeline);
    return true;
}

static void pipeline_upstream_try_again(struct pipeline *pipeline)
{
    const struct failure *failure = &pipeline->failure;
    bool quota = failure_is_quota(failure);
    int64_t now_ns = clock_now_ns(), wait_ms = 0;
    if (pipeline_answer_locally(pipeline))
        return;
    struct retry_question question = {
        .code = failure->status.code,
        .quota = quota,
        .begun = pipeline->told || failure->ours || failure->problem || failure->too_large || pipeline->caller_left ||
                 pipeline->client_is_slow,
        .attempts = pipeline->attempts_in_rank,
        .attempts_all = (unsigned)pipeline->attempt_count,
        .left_ms = pipeline_remaining_ms(pipeline),
        .last = is_last(pipeline),
    };
    route_note_failure(pipeline->route, &pipeline->choice, pipeline->target_index, failure->status.code, quota);
    route_prospects(pipeline->route, &pipeline->choice, pipeline->target->rank, now_ns, &question);
    enum retry_step step = retry_decide(&pipeline->route->retry, &question, &wait_ms);
    if (step == RETRY_NEVER || !may_try_again(pipeline, &step)) {
        pipeline_end(pipeline, false);
        return;
    }
    log_info("llm_gateway.retry", "%s: %s", pipeline->target->deployment->name, failure->status.text);
    if (step == RETRY_NEXT_RANK)
        pipeline->choice.rank_min = pipeline->target->rank + 1;
    if (step == RETRY_SAME)
        pipeline_upstream_rest(pipeline, wait_ms);
    else
        pipeline_route(pipeline);
}

static void pipeline_upstream_answer_read(struct pipeline *pipeline, bool good)
{
    if (!good) {
        deployment_redact(pipeline->target->deployment, pipeline->failure.status.text);
        deployment_hide_host(pipeline->target->deployment, pipeline->failure.status.text);
    }
    note_attempt(pipeline, good);
    pipeline_add_usage(pipeline);
    pipeline_record_attempt(pipeline, good ? OK : pipeline->failure.status.code);
    if (pipeline->kind->amend && requests_left(pipeline) && pipeline->kind->amend(pipeline, good) &&
        pipeline_request_target(pipeline))
        return;
    give_place_back(pipeline, good);
    if (good)
        pipeline_end(pipeline, true);
    else
        pipeline_upstream_try_again(pipeline);
}

static void pipeline_upstream_finished(struct transfer *transfer)
{
    struct pipeline *pipeline = transfer->owner;
    const struct failure none = {0};
    buffer_fini(&pipeline->body);
    pipeline_read(pipeline, &none, false, pipeline_upstream_answer_read);
}
