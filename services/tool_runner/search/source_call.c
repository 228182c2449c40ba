#include "search/source_call.h"

#include "base/clock.h"
#include "base/machine.h"
#include "http/cassette.h"
#include "instance/tool_runner_instance.h"
#include "search/observe.h"
#include "search/source_call_classify.h"
#include "json/pull.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_CALL_BACKOFF_MS  250   /* longest backoff before the second request */
#define ASK_BACKOFF_MAX         4000  /* ... and before any */
#define SOURCE_CALL_HINT_MAX_MS 10000 /* a source that asks for a longer rest is not waited for */

static const char *const states[] = {"idle", "sending", "reading", "waiting", "ended"};
static const uint32_t moves[] = {
    [SOURCE_CALL_IDLE] = MACHINE_TO(SOURCE_CALL_WAITING),
    [SOURCE_CALL_SENDING] =
        MACHINE_TO(SOURCE_CALL_READING) | MACHINE_TO(SOURCE_CALL_WAITING) | MACHINE_TO(SOURCE_CALL_ENDED),
    [SOURCE_CALL_READING] = MACHINE_TO(SOURCE_CALL_WAITING) | MACHINE_TO(SOURCE_CALL_ENDED),
    [SOURCE_CALL_WAITING] =
        MACHINE_TO(SOURCE_CALL_SENDING) | MACHINE_TO(SOURCE_CALL_WAITING) | MACHINE_TO(SOURCE_CALL_ENDED),
    [SOURCE_CALL_ENDED] = 0,
};
static const struct machine machine = MACHINE("source_call", states, moves);

static void source_call_move(struct source_call *call, enum source_call_state state)
{
    machine_move(&machine, &call->state, state);
}

static int64_t source_call_left_ms(const struct source_call *call)
{
    return (call->deadline_ns - clock_now_ns()) / NS_PER_MS;
}

/* ---- its end ----------------------------------------------------------------------------------------------------- */

static void source_call_clear_request(struct source_call *call)
{
    buffer_fini(&call->request.target);
    buffer_fini(&call->request.body);
    http_headers_destroy(&call->request.headers);
    http_url_destroy(&call->url);
}

static void source_call_end_request(struct source_call *call)
{
    char token[SEARCH_TOKEN_MAX + 1];
    struct status ignored = {0};
    struct status *st = &call->failure.status;
    source_call_clear_request(call);
    if (st->code != OK) {
        search_site_token(call->site, token, &ignored);
        source_call_name_failure(call, token);
        explicit_bzero(token, sizeof token);
    }
    if (st->code != OK && call->is_late)
        st->code = DEADLINE_EXCEEDED;
    source_call_move(call, SOURCE_CALL_ENDED);
    call->ended(call);
}

/* ---- whether it is tried again ----------------------------------------------------------------------------------- */

static bool source_call_may_retry(struct source_call *call, int64_t *wait_ms)
{
    const struct retry_policy policy = {.attempts = (unsigned)call->site->setup->attempts,
                                        .base_ms = SOURCE_CALL_BACKOFF_MS,
                                        .max_ms = ASK_BACKOFF_MAX,
                                        .hint_ms = SOURCE_CALL_HINT_MAX_MS};
    const struct search_failure *failure = &call->failure;
    const struct retry_question question = {
        .code = failure->status.code,
        .quota = failure->quota,
        .lower = call->has_stand_in,
        .hint_ms = failure->status.retry_after_ms,
        .attempts = call->attempts,
        .attempts_all = call->attempts,
        .left_ms = source_call_left_ms(call),
    };
    return !call->is_final && !call->cancelled && retry_decide(&policy, &question, wait_ms) == RETRY_SAME &&
           retry_budget_spend(&call->site->budget);
}

/* A request has failed, or could not be begun. */
static void source_call_failed(struct source_call *call)
{
    int64_t wait_ms;
    if (source_call_may_retry(call, &wait_ms)) {
        source_call_clear_request(call);
        source_call_move(call, SOURCE_CALL_WAITING);
        loop_arm_after(call->runner->loop, &call->wait, wait_ms);
    } else {
        source_call_end_request(call);
    }
}

/* Releases the slot, with the verdict on the source. */
static void source_call_settle(struct source_call *call)
{
    struct endpoint_report report = source_call_report(call);
    enum status_code code = call->failure.status.code;
    endpoint_health_release(call->site->health, clock_now_ns(), &report);
    source_slot_release(call->site->slots, call->tenant);
    search_observe_answer(call, call->is_late ? DEADLINE_EXCEEDED : code);
    if (code == OK)
        source_call_end_request(call);
    else
        source_call_failed(call);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static const char *source_call_kept_header(const void *from, const char *name)
{
    return transfer_header(from, name);
}

/* In a worker if the answer is long. */
static void source_call_read(struct job *job)
{
    struct source_call *call = CONTAINER_OF(job, struct source_call, reading);
    const struct search_source *source = &call->site->setup->source;
    struct search_reply reply = {.http_status = call->transfer.http_status,
                                 .size = call->transfer.content_size,
                                 .header = source_call_kept_header,
                                 .from = &call->transfer,
                                 .arena = &call->answer.arena};
    search_answer_fini(&call->answer);
    search_answer_init(&call->answer);
    reply.body = json_mended(call->transfer.content, reply.size, reply.arena);
    if (!reply.body)
        search_failure_unread(&call->unread, "gave an answer that takes more memory than a search may have");
    else if (!source->provider->read_answer(source, &reply, &call->answer, &call->unread) &&
             call->unread.status.code == OK)
        search_failure_unread(&call->unread, "gave an answer that cannot be read");
    if (call->unread.status.code == OK && !call->answer.count && call->answer.left_out)
        search_failure_unread(&call->unread, "gave %zu results, none with an address", call->answer.left_out);
}

static void source_call_was_read(struct job *job)
{
    struct source_call *call = CONTAINER_OF(job, struct source_call, reading);
    if (job->status.code != OK)
        call->unread.status = job->status;
    transfer_keep_end(&call->kept);
    call->failure = (struct search_failure){.quota = false};
    call->is_late = call->in_doubt = false;
    if (call->unread.status.code != OK)
        source_call_classify_unread(call);
    source_call_settle(call);
}

static void source_call_start_reading(struct source_call *call)
{
    source_call_move(call, SOURCE_CALL_READING);
    call->unread = (struct search_failure){.quota = false};
    call->reading = (struct job){.loop = call->runner->loop,
                                 .run = source_call_read,
                                 .ended = source_call_was_read,
                                 .deadline_ns = call->deadline_ns,
                                 .owner = call->job_owner};
    transfer_keep(&call->transfer, &call->kept);
    job_start(&call->reading, call->transfer.content_size);
}

static void source_call_answered(struct transfer *transfer)
{
    struct source_call *call = transfer->owner;
    if (transfer->end == TRANSFER_COMPLETE && transfer->http_status / 100 == 2) {
        source_call_start_reading(call);
        return;
    }
    source_call_classify(call);
    source_call_settle(call);
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

static struct http_url *source_call_make_url(struct source_call *call, struct status *st)
{
    const char *base = call->site->setup->url;
    const char *target = buffer_text(&call->request.target);
    size_t length = strlen(base);
    struct buffer text;
    while (length && base[length - 1] == '/' && target[0] == '/')
        length--;
    buffer_init(&text, SEARCH_TARGET_MAX + length + 1);
    buffer_append(&text, base, length);
    buffer_print(&text, target);
    struct http_url *url = http_url_parse(buffer_text(&text), st);
    buffer_fini(&text);
    return url;
}

static bool source_call_write_request(struct source_call *call, struct status *st)
{
    const struct search_source *source = &call->site->setup->source;
    char token[SEARCH_TOKEN_MAX + 1];
    struct search_question question = call->question;
    call->request = (struct search_request){.method = "GET", .headers = http_headers_create()};
    buffer_init(&call->request.target, SEARCH_TARGET_MAX);
    buffer_init(&call->request.body, SEARCH_BODY_MAX);
    question.key = call->site->setup->key;
    question.token = token;
    bool good = search_site_token(call->site, token, st) &&
                source->provider->write_request(source, &question, &call->request, st);
    explicit_bzero(token, sizeof token);
    if (good && (call->request.target.failed || call->request.body.failed))
        good = fail(st, INVALID_ARGUMENT, "cannot be asked: the request is too long; call with fewer words");
    return good && (call->url = source_call_make_url(call, st));
}

static void source_call_send(struct source_call *call)
{
    const struct search_setup *setup = call->site->setup;
    struct transfer *transfer = &call->transfer;
    int64_t left_ms = source_call_left_ms(call);
    transfer_init(transfer, call->url, source_call_answered);
    transfer->method = call->request.method;
    transfer->headers = call->request.headers;
    transfer->body = call->request.body.length ? call->request.body.data : NULL;
    transfer->body_size = call->request.body.length;
    transfer->timeout_ms = left_ms < setup->timeout_ms ? (left_ms > 1 ? left_ms : 1) : setup->timeout_ms;
    transfer->response_max = (size_t)setup->answer_max;
    transfer->decompress = true;
    transfer->may_repeat = !call->once;
    transfer->alias = setup->source.name;
    transfer->owner = call;
    search_observe_request(call);
    if (setup->replay) {
        transfer_replay(call->runner->http, transfer, call->site->cassette);
        return;
    }
    if (setup->record)
        transfer_record(transfer, call->site->cassette);
    transfer_start(call->runner->http, transfer);
}

/* False with the reason why no request can be sent. */
static bool source_call_check(struct source_call *call, struct status *st)
{
    const struct search_setup *setup = call->site->setup;
    if (setup->source.provider->needs_key && !setup->key[0] && !setup->token_file && !setup->replay)
        return fail(st, FAILED_PRECONDITION, "has no key: set 'key' in its entry of tool_runner.search (%s)%s%s",
                    setup->place, setup->source.provider->key_variable ? ", or the variable " : "",
                    setup->source.provider->key_variable ? setup->source.provider->key_variable : "");
    if (source_call_left_ms(call) > 0)
        return true;
    call->is_late = true;
    return fail(st, UNAVAILABLE, "was not asked: the time for the search was over");
}

static void source_call_attempt(struct source_call *call)
{
    enum endpoint_refusal refusal;
    int64_t wait_ms = 0;
    call->failure = (struct search_failure){.quota = false};
    call->attempts++;
    if (!source_call_check(call, &call->failure.status) || !source_call_write_request(call, &call->failure.status)) {
        call->is_final = true;
        source_call_end_request(call);
        return;
    }
    if (!source_slot_acquire(call->site->slots, call->tenant)) {
        source_call_classify_slots(call);
        source_call_failed(call);
        return;
    }
    refusal = endpoint_health_acquire(call->site->health, clock_now_ns(), 0, &call->place, &wait_ms);
    if (refusal != ENDPOINT_AVAILABLE) {
        source_slot_release(call->site->slots, call->tenant);
        source_call_classify_refusal(call, refusal, wait_ms);
        source_call_failed(call);
        return;
    }
    source_call_move(call, SOURCE_CALL_SENDING);
    source_call_send(call);
}

static void source_call_waited(struct timer *timer)
{
    source_call_attempt(CONTAINER_OF(timer, struct source_call, wait));
}

static void source_call_begin(struct work *work)
{
    source_call_attempt(CONTAINER_OF(work, struct source_call, work));
}

/* ---- from outside ------------------------------------------------------------------------------------------------ */

void source_call_start(struct source_call *call)
{
    search_answer_init(&call->answer);
    call->wait.expired = source_call_waited;
    call->work.run = source_call_begin;
    retry_budget_earn(&call->site->budget);
    source_call_move(call, SOURCE_CALL_WAITING);
    loop_defer(call->runner->loop, &call->work);
}

static void source_call_cut(struct work *work)
{
    source_call_end_request(CONTAINER_OF(work, struct source_call, work));
}

void source_call_cancel(struct source_call *call)
{
    if (call->cancelled || call->state == SOURCE_CALL_IDLE || call->state == SOURCE_CALL_ENDED)
        return;
    call->cancelled = true;
    if (call->state == SOURCE_CALL_SENDING) {
        transfer_cancel(&call->transfer);
    } else if (call->state == SOURCE_CALL_READING) {
        job_cancel(&call->reading);
    } else {
        loop_disarm(call->runner->loop, &call->wait);
        loop_undefer(call->runner->loop, &call->work);
        call->failure = (struct search_failure){.quota = false};
        call->is_late = false;
        fail(&call->failure.status, CANCELLED, "was told to stop, as the caller left");
        call->work.run = source_call_cut;
        loop_defer(call->runner->loop, &call->work);
    }
}

bool source_call_finish(struct source_call *call)
{
    bool under_way = call->state == SOURCE_CALL_SENDING || call->state == SOURCE_CALL_READING;
    call->is_final |= under_way;
    return under_way;
}

void source_call_fini(struct source_call *call)
{
    if (call->state != SOURCE_CALL_IDLE)
        search_answer_fini(&call->answer);
}
