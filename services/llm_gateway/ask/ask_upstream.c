/* Asking deployments, one after the other, until one answers or the policy is at its end. */
#include "ask_priv.h"

#include "ask_judge.h"
#include "ask_observe.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "http/cassette.h"
#include "provider/provider.h"
#include "upstream/retry_hint.h"

#include <stdio.h>
#include <string.h>

#define BODY_MAX      ((size_t)32 << 20) /* a request of 4 MiB, most of it escaped */
#define BUSY_AGAIN_MS 20                 /* a deployment whose places are all taken is looked at again after this */
#define BUSY_HINT_MS  500                /* ... and the caller may look again after this */
#define UNCONST(text) ((char *)(uintptr_t)(text))

static void finished(struct transfer *transfer);
static void answer_read(struct ask *ask, bool good);

static int64_t callers_left_ms(const struct ask *ask)
{
    int64_t deadline_ns = rpc_call_deadline_ns(ask->call);
    return deadline_ns == TIME_NEVER ? INT64_MAX : (deadline_ns - clock_now_ns()) / NS_PER_MS;
}

/* All requests, waits and repairs of a call share one limit of ours. */
static int64_t own_left_ms(const struct ask *ask)
{
    return ask->gateway->timeout_ms - (clock_now_ns() - ask->began_ns) / NS_PER_MS;
}

int64_t ask_left_ms(const struct ask *ask)
{
    int64_t callers_ms = callers_left_ms(ask), own_ms = own_left_ms(ask);
    return callers_ms < own_ms ? callers_ms : own_ms;
}

/* ---- one request ------------------------------------------------------------------------------------------------- */

static void set_time(struct ask *ask)
{
    int64_t timeout_ms = ask_left_ms(ask);
    ask->timeout_is_callers = callers_left_ms(ask) < own_left_ms(ask);
    if (ask->timeout_is_callers)
        timeout_ms++; /* the caller's own clock is to end it first */
    ask->transfer.timeout_ms = timeout_ms > 0 ? timeout_ms : 1;
    if (ask->streams)
        ask->transfer.idle_timeout_ms = ask->gateway->idle_timeout_ms;
}

static bool write_body(struct ask *ask)
{
    struct json_writer writer;
    buffer_init(&ask->body, BODY_MAX);
    json_writer_init(&writer, &ask->body);
    ask->kind->write(ask, &writer);
    if (json_writer_done(&writer))
        return true;
    buffer_fini(&ask->body);
    ask->failure.ours = true;
    return fail(&ask->failure.status, RESOURCE_EXHAUSTED, "the request has more than %zu bytes as JSON", BODY_MAX);
}

static void headers_came(struct transfer *transfer, int http_status)
{
    struct ask *ask = transfer->owner;
    ask->kind->headers_came(ask, http_status);
}

static bool is_here(const struct target *target)
{
    return target->deployment->provider->answer_chat != NULL;
}

bool ask_has_sent(const struct ask *ask)
{
    return ask->attempt_count && !is_here(ask->target);
}

static void ask_here(struct ask *ask, const struct failure *before)
{
    transfer_init(&ask->transfer, NULL, finished);
    ask->transfer.owner = ask;
    ask_move(ask, ASK_ASKING);
    ask_read(ask, before, true, answer_read);
}

static bool ask_target(struct ask *ask)
{
    struct transfer *transfer = &ask->transfer;
    const struct deployment *deployment = ask->target->deployment;
    const struct failure before = ask->failure;
    ask->failure = (struct failure){0};
    ask->asked_ns = clock_now_ns();
    ask->asked_wall_ms = clock_wall_ns() / NS_PER_MS;
    if (is_here(ask->target)) {
        ask_here(ask, &before);
        return true;
    }
    if (!write_body(ask))
        return false;
    transfer_init(transfer, ask->kind->way(deployment), finished);
    transfer->method = "POST";
    transfer->headers = deployment->headers;
    transfer->alias = deployment->name;
    transfer->body = ask->body.data;
    transfer->body_size = ask->body.length;
    transfer->response_max = ask->response_max;
    transfer->decompress = true;
    transfer->owner = ask;
    if (ask->kind->headers_came)
        transfer->headers_received = headers_came;
    set_time(ask);
    ask_move(ask, ASK_ASKING);
    if (ask->route->replays) {
        transfer_replay(ask->gateway->http, transfer, ask->route->replays);
        return true;
    }
    if (ask->route->records)
        transfer_record(transfer, ask->route->records);
    transfer_start(ask->gateway->http, transfer);
    return true;
}

void ask_stop(struct ask *ask)
{
    transfer_cancel(&ask->transfer);
}

void ask_answered_by(const struct ask *ask, Renga__V1__AnsweredBy *by)
{
    const char *model = ask->kind->model(ask);
    renga__v1__answered_by__init(by);
    by->deployment = UNCONST(ask->target->deployment->name);
    by->provider = UNCONST(ask->target->deployment->provider->name);
    by->model = UNCONST(model[0] ? model : ask->target->model);
}

/* ---- what is told of it ------------------------------------------------------------------------------------------ */

static const char *sent_id(const struct transfer *transfer)
{
    static const char *const names[] = {"x-request-id", "request-id", "apim-request-id"};
    const char *id = NULL;
    for (size_t i = 0; !id && i < sizeof names / sizeof names[0]; i++)
        id = transfer_header(transfer, names[i]);
    return id && strlen(id) <= SENT_ID_MAX ? id : "";
}

static void note_attempt(struct ask *ask, bool good)
{
    struct attempt *attempt = arena_alloc(rpc_call_arena(ask->call), sizeof *attempt);
    const struct status *st = &ask->failure.status;
    if (!attempt || ask->attempt_count == RETRY_ATTEMPTS_MAX)
        return;
    size_t size = good ? 0 : text_cut(st->text, strlen(st->text), ATTEMPT_ERROR_MAX);
    memcpy(attempt->error, st->text, size);
    attempt->error[size] = '\0';
    snprintf(attempt->request_id, sizeof attempt->request_id, "%s", sent_id(&ask->transfer));
    ask_answered_by(ask, &attempt->asked);
    attempt->asked.model =
        arena_strdup(rpc_call_arena(ask->call), attempt->asked.model); /* the next one writes over it */
    if (!attempt->asked.model)
        attempt->asked.model = UNCONST(ask->target->model);
    renga__v1__attempt__init(&attempt->told);
    attempt->told.asked = &attempt->asked;
    attempt->told.status_code = good ? OK : (int32_t)st->code;
    attempt->told.error = attempt->error;
    attempt->told.http_status = ask->transfer.http_status;
    attempt->told.provider_request_id = attempt->request_id;
    attempt->told.started_ms = ask->asked_wall_ms;
    attempt->told.duration_ms = (clock_now_ns() - ask->asked_ns) / NS_PER_MS;
    ask->attempts[ask->attempt_count++] = &attempt->told;
}

/* ---- the deployment's place -------------------------------------------------------------------------------------- */

static const char *header_of(const void *transfer, const char *name)
{
    return transfer_header(transfer, name);
}

static void give_place_back(struct ask *ask, bool good)
{
    const struct failure *failure = &ask->failure;
    const Renga__V1__Usage *used = ask->kind->used(ask);
    struct standing *standing = ask->target->standing;
    struct standing_report report = {.place = ask->choice.place,
                                     .tokens = used ? used->input_tokens + used->output_tokens : 0};
    int64_t now_ns = clock_now_ns();
    if (good || failure->problem)
        report.verdict = STANDING_GOOD;
    else if (failure->ours || ask->caller_left || ask->reader_is_slow)
        report.verdict = STANDING_UNKNOWN;
    else
        standing_judge(&report, ask_is_late(ask) ? UNAVAILABLE : failure->status.code, failure_is_quota(failure),
                       failure->status.retry_after_ms);
    standing_give_back(standing, now_ns, &report);
    struct rate_left left = rate_left_of(header_of, &ask->transfer, clock_wall_ns() / NS_PER_MS);
    standing_hear(standing, now_ns, left.requests, left.tokens, left.reset_ms);
}

/* ---- which one --------------------------------------------------------------------------------------------------- */

static void rested(struct timer *timer)
{
    struct ask *ask = OWNER_OF(timer, struct ask, rest);
    ask_choose(ask);
}

static void rest(struct ask *ask, int64_t wait_ms)
{
    ask_move(ask, ASK_RESTING);
    ask->rest.expired = rested;
    loop_arm_after(rpc_call_loop(ask->call), &ask->rest, wait_ms);
}

/* What the last one said tells more than that nobody is left. */
static void say_who_rests(struct ask *ask)
{
    const struct choice *choice = &ask->choice;
    struct status *st = &ask->failure.status;
    bool broken = choice->refusal == STANDING_BROKEN;
    if (st->code != OK)
        return;
    fail(st, broken ? UNAVAILABLE : RESOURCE_EXHAUSTED, "all deployments of the model '%s' %s", ask->route->name,
         broken ? "have failed lately and rest" : "are at their limits");
    int64_t wait_ms = choice->wait_ms ? choice->wait_ms : BUSY_HINT_MS;
    st->retry_after_ms = (int32_t)(wait_ms < INT32_MAX ? wait_ms : INT32_MAX);
}

static void none_to_ask(struct ask *ask)
{
    const struct choice *choice = &ask->choice;
    bool all_tried = choice->refusal == STANDING_FREE, busy = choice->refusal == STANDING_BUSY;
    int64_t wait_ms = busy ? BUSY_AGAIN_MS : choice->wait_ms, left_ms = ask_left_ms(ask);
    bool in_time = ask->waited_ms + wait_ms <= ask->gateway->queue_wait_ms && wait_ms < left_ms;
    if (all_tried || choice->refusal == STANDING_BROKEN || !in_time) {
        say_who_rests(ask);
        ask_end(ask, false);
        return;
    }
    ask->waited_ms += wait_ms;
    rest(ask, wait_ms);
}

/* The next may choose. */
void ask_pass_turn(struct ask *ask)
{
    if (ask->has_turn)
        gate_leave(&ask->turn->ticket, 0, 0);
    ask->has_turn = false;
}

void ask_choose(struct ask *ask)
{
    ask_move(ask, ASK_CHOOSING);
    ask->choice.tokens = ask->ticket.tokens;
    int index = standing_choose(ask->route, &ask->choice, clock_now_ns());
    if (index < 0) {
        none_to_ask(ask);
        return;
    }
    ask_pass_turn(ask);
    bool same_rank = ask->target && ask->target->rank == ask->route->targets[index].rank;
    ask->attempts_in_rank = same_rank ? ask->attempts_in_rank + 1 : 1;
    ask->target_index = index;
    ask->target = &ask->route->targets[index];
    if (ask_target(ask))
        return;
    give_place_back(ask, false);
    ask_end(ask, false);
}

/* ---- and once more? ---------------------------------------------------------------------------------------------- */

static size_t requests_left(const struct ask *ask)
{
    bool bounded = ask->requests_max && ask->requests_max < RETRY_ATTEMPTS_MAX;
    size_t most = bounded ? ask->requests_max : RETRY_ATTEMPTS_MAX;
    return ask->attempt_count < most ? most - ask->attempt_count : 0;
}

/* The rank after the present one that has somebody to ask in this process, and whether it is the very next one. 0:
 * none.
 */
static unsigned rank_here(const struct ask *ask, bool *next)
{
    unsigned first = 0;
    for (size_t i = 0; i < ask->route->target_count; i++) {
        const struct target *target = &ask->route->targets[i];
        if (target->rank <= ask->target->rank)
            continue;
        first = first ? first : target->rank;
        *next = target->rank == first;
        if (is_here(target))
            return target->rank;
    }
    return 0;
}

/* A retry costs of the caller's budget and of ours, so that a sick upstream is not hammered; whoever stands in within
 * this process costs nothing, and is there when they are used up. */
static bool may_try_again(struct ask *ask, enum retry_step *step)
{
    bool next = false;
    unsigned here = rank_here(ask, &next);
    if (here && next && *step == RETRY_NEXT_RANK)
        return true;
    if (requests_left(ask) && retry_budget_spend(&ask->gateway->commons->budget))
        return true;
    if (!here)
        return false;
    ask->choice.rank_min = here;
    *step = RETRY_OTHER;
    return true;
}

/* A deployment that stands in within this process does not use up the caller's requests. */
static bool is_last(const struct ask *ask)
{
    bool next = false;
    return requests_left(ask) == 1 && !(rank_here(ask, &next) && next);
}

/* A fault in the words of a model comes at each of its upstreams, and after our limit no upstream has time left; a
 * provider in this process may do better, and answers at once. */
static bool ask_here_instead(struct ask *ask)
{
    bool next, late = ask_is_late(ask);
    unsigned here = rank_here(ask, &next);
    int64_t left_ms = late ? callers_left_ms(ask) : ask_left_ms(ask);
    if (!here || (!ask->failure.problem && !late) || ask->told || ask->failure.ours || ask->caller_left || left_ms <= 0)
        return false;
    ask->choice.rank_min = here;
    ask_choose(ask);
    return true;
}

static void try_again(struct ask *ask)
{
    const struct failure *failure = &ask->failure;
    bool quota = failure_is_quota(failure);
    int64_t now_ns = clock_now_ns(), wait_ms = 0;
    if (ask_here_instead(ask))
        return;
    struct retry_question question = {
        .code = failure->status.code,
        .quota = quota,
        .begun = ask->told || failure->ours || failure->problem || ask->caller_left || ask->reader_is_slow,
        .attempts = ask->attempts_in_rank,
        .attempts_all = (unsigned)ask->attempt_count,
        .left_ms = ask_left_ms(ask),
        .last = is_last(ask),
    };
    standing_note_failure(ask->route, &ask->choice, ask->target_index, failure->status.code, quota);
    standing_prospects(ask->route, &ask->choice, ask->target->rank, now_ns, &question);
    enum retry_step step = retry_decide(&ask->route->retry, &question, &wait_ms);
    if (step == RETRY_NEVER || !may_try_again(ask, &step)) {
        ask_end(ask, false);
        return;
    }
    log_info("llm_gateway.retry", "%s: %s", ask->target->deployment->name, failure->status.text);
    if (step == RETRY_NEXT_RANK)
        ask->choice.rank_min = ask->target->rank + 1;
    if (step == RETRY_SAME)
        rest(ask, wait_ms);
    else
        ask_choose(ask);
}

static void answer_read(struct ask *ask, bool good)
{
    if (!good)
        deployment_redact(ask->target->deployment, ask->failure.status.text);
    note_attempt(ask, good);
    ask_add_usage(ask);
    ask_observe_attempt(ask, good ? OK : ask->failure.status.code);
    if (ask->kind->amend && requests_left(ask) && ask->kind->amend(ask, good) && ask_target(ask))
        return;
    give_place_back(ask, good);
    if (good)
        ask_end(ask, true);
    else
        try_again(ask);
}

static void finished(struct transfer *transfer)
{
    struct ask *ask = transfer->owner;
    const struct failure none = {0};
    buffer_fini(&ask->body);
    ask_read(ask, &none, false, answer_read);
}
