#include "search/ask.h"

#include "base/clock.h"
#include "base/json_pull.h"
#include "base/machine.h"
#include "http/cassette.h"
#include "search/ask_judge.h"
#include "search/observe.h"
#include "tool_runner_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASK_BACKOFF_MS  250   /* longest backoff before the second request */
#define ASK_BACKOFF_MAX 4000  /* ... and before any */
#define ASK_HINT_MAX_MS 10000 /* a source that asks for a longer rest is not waited for */

static const char *const states[] = {"idle", "sending", "reading", "waiting", "ended"};
static const uint32_t moves[] = {
    [ASK_IDLE] = MACHINE_TO(ASK_WAITING),
    [ASK_SENDING] = MACHINE_TO(ASK_READING) | MACHINE_TO(ASK_WAITING) | MACHINE_TO(ASK_ENDED),
    [ASK_READING] = MACHINE_TO(ASK_WAITING) | MACHINE_TO(ASK_ENDED),
    [ASK_WAITING] = MACHINE_TO(ASK_SENDING) | MACHINE_TO(ASK_WAITING) | MACHINE_TO(ASK_ENDED),
    [ASK_ENDED] = 0,
};
static const struct machine machine = MACHINE("search_ask", states, moves);

static void ask_move(struct search_ask *ask, enum search_ask_state state)
{
    machine_move(&machine, &ask->state, state);
}

static int64_t ask_left_ms(const struct search_ask *ask)
{
    return (ask->deadline_ns - clock_now_ns()) / NS_PER_MS;
}

/* ---- its end ----------------------------------------------------------------------------------------------------- */

static void ask_clear_request(struct search_ask *ask)
{
    buffer_fini(&ask->request.target);
    buffer_fini(&ask->request.body);
    http_headers_destroy(&ask->request.headers);
    http_url_destroy(&ask->url);
}

static void search_ask_end_request(struct search_ask *ask)
{
    char token[SEARCH_TOKEN_MAX + 1];
    struct status ignored = {0};
    struct status *st = &ask->failure.status;
    ask_clear_request(ask);
    if (st->code != OK) {
        search_site_token(ask->site, token, &ignored);
        search_ask_name_failure(ask, token);
        explicit_bzero(token, sizeof token);
    }
    if (st->code != OK && ask->is_late)
        st->code = DEADLINE_EXCEEDED;
    ask_move(ask, ASK_ENDED);
    ask->ended(ask);
}

/* ---- whether it is tried again ----------------------------------------------------------------------------------- */

static bool ask_may_retry(struct search_ask *ask, int64_t *wait_ms)
{
    const struct retry_policy policy = {.attempts = (unsigned)ask->site->setup->attempts,
                                        .base_ms = ASK_BACKOFF_MS,
                                        .max_ms = ASK_BACKOFF_MAX,
                                        .hint_ms = ASK_HINT_MAX_MS};
    const struct search_failure *failure = &ask->failure;
    const struct retry_question question = {
        .code = failure->status.code,
        .quota = failure->quota,
        .lower = ask->has_stand_in,
        .hint_ms = failure->status.retry_after_ms,
        .attempts = ask->attempts,
        .attempts_all = ask->attempts,
        .left_ms = ask_left_ms(ask),
    };
    return !ask->is_final && !ask->cancelled && retry_decide(&policy, &question, wait_ms) == RETRY_SAME &&
           retry_budget_spend(&ask->site->budget);
}

static void ask_wait(struct search_ask *ask, int64_t wait_ms)
{
    ask_move(ask, ASK_WAITING);
    loop_arm_after(ask->runner->loop, &ask->wait, wait_ms);
}

/* A request has failed, or could not be begun. */
static void ask_failed(struct search_ask *ask)
{
    int64_t wait_ms;
    if (ask_may_retry(ask, &wait_ms)) {
        ask_clear_request(ask);
        ask_wait(ask, wait_ms);
    } else {
        search_ask_end_request(ask);
    }
}

/* Gives the place back, with the verdict on the source. */
static void ask_settle(struct search_ask *ask)
{
    struct standing_report report = search_ask_report(ask);
    enum status_code code = ask->failure.status.code;
    standing_give_back(ask->site->standing, clock_now_ns(), &report);
    search_share_leave(ask->site->shares, ask->tenant);
    search_observe_answer(ask, ask->is_late ? DEADLINE_EXCEEDED : code);
    if (code == OK)
        search_ask_end_request(ask);
    else
        ask_failed(ask);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static const char *ask_kept_header(const void *from, const char *name)
{
    return transfer_header(from, name);
}

/* In a worker if the answer is long. */
static void ask_read(struct job *job)
{
    struct search_ask *ask = OWNER_OF(job, struct search_ask, reading);
    const struct search_source *source = &ask->site->setup->source;
    struct search_reply reply = {.http_status = ask->transfer.http_status,
                                 .size = ask->transfer.content_size,
                                 .header = ask_kept_header,
                                 .from = &ask->transfer,
                                 .arena = &ask->answer.arena};
    search_answer_fini(&ask->answer);
    search_answer_init(&ask->answer);
    reply.body = json_mended(ask->transfer.content, reply.size, reply.arena);
    if (!reply.body)
        search_failure_unread(&ask->unread, "gave an answer that takes more memory than a search may have");
    else if (!source->provider->read_answer(source, &reply, &ask->answer, &ask->unread) &&
             ask->unread.status.code == OK)
        search_failure_unread(&ask->unread, "gave an answer that cannot be read");
    if (ask->unread.status.code == OK && !ask->answer.count && ask->answer.left_out)
        search_failure_unread(&ask->unread, "gave %zu results, none with an address", ask->answer.left_out);
}

static void ask_was_read(struct job *job)
{
    struct search_ask *ask = OWNER_OF(job, struct search_ask, reading);
    if (job->status.code != OK)
        ask->unread.status = job->status;
    transfer_keep_end(&ask->kept);
    ask->failure = (struct search_failure){.quota = false};
    ask->is_late = ask->in_doubt = false;
    if (ask->unread.status.code != OK)
        search_ask_judge_unread(ask);
    ask_settle(ask);
}

static void ask_start_reading(struct search_ask *ask)
{
    ask_move(ask, ASK_READING);
    ask->unread = (struct search_failure){.quota = false};
    ask->reading = (struct job){.loop = ask->runner->loop,
                                .run = ask_read,
                                .ended = ask_was_read,
                                .deadline_ns = ask->deadline_ns,
                                .owner = ask->job_owner};
    transfer_keep(&ask->transfer, &ask->kept);
    job_start(&ask->reading, ask->transfer.content_size);
}

static void ask_answered(struct transfer *transfer)
{
    struct search_ask *ask = transfer->owner;
    if (transfer->end == TRANSFER_COMPLETE && transfer->http_status / 100 == 2) {
        ask_start_reading(ask);
        return;
    }
    search_ask_judge(ask);
    ask_settle(ask);
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

static struct http_url *ask_make_url(struct search_ask *ask, struct status *st)
{
    const char *base = ask->site->setup->url;
    const char *target = buffer_text(&ask->request.target);
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

static bool ask_write_request(struct search_ask *ask, struct status *st)
{
    const struct search_source *source = &ask->site->setup->source;
    char token[SEARCH_TOKEN_MAX + 1];
    struct search_question question = ask->question;
    ask->request = (struct search_request){.method = "GET", .headers = http_headers_create()};
    buffer_init(&ask->request.target, SEARCH_TARGET_MAX);
    buffer_init(&ask->request.body, SEARCH_BODY_MAX);
    question.key = ask->site->setup->key;
    question.token = token;
    bool good = search_site_token(ask->site, token, st) &&
                source->provider->write_request(source, &question, &ask->request, st);
    explicit_bzero(token, sizeof token);
    if (good && (ask->request.target.failed || ask->request.body.failed))
        good = fail(st, INVALID_ARGUMENT, "cannot be asked: the request is too long; ask with fewer words");
    return good && (ask->url = ask_make_url(ask, st));
}

static void ask_send(struct search_ask *ask)
{
    const struct search_setup *setup = ask->site->setup;
    struct transfer *transfer = &ask->transfer;
    int64_t left_ms = ask_left_ms(ask);
    transfer_init(transfer, ask->url, ask_answered);
    transfer->method = ask->request.method;
    transfer->headers = ask->request.headers;
    transfer->body = ask->request.body.length ? ask->request.body.data : NULL;
    transfer->body_size = ask->request.body.length;
    transfer->timeout_ms = left_ms < setup->timeout_ms ? (left_ms > 1 ? left_ms : 1) : setup->timeout_ms;
    transfer->response_max = (size_t)setup->answer_max;
    transfer->decompress = true;
    transfer->may_repeat = !ask->once;
    transfer->alias = setup->source.name;
    transfer->owner = ask;
    search_observe_request(ask);
    if (setup->replay) {
        transfer_replay(ask->runner->http, transfer, ask->site->cassette);
        return;
    }
    if (setup->record)
        transfer_record(transfer, ask->site->cassette);
    transfer_start(ask->runner->http, transfer);
}

/* False with the reason why no request can be sent. */
static bool ask_check(struct search_ask *ask, struct status *st)
{
    const struct search_setup *setup = ask->site->setup;
    if (setup->source.provider->needs_key && !setup->key[0] && !setup->token_file && !setup->replay)
        return fail(st, FAILED_PRECONDITION, "has no key: set 'key' in its entry of tool_runner.search (%s)%s%s",
                    setup->place, setup->source.provider->key_variable ? ", or the variable " : "",
                    setup->source.provider->key_variable ? setup->source.provider->key_variable : "");
    if (ask_left_ms(ask) > 0)
        return true;
    ask->is_late = true;
    return fail(st, UNAVAILABLE, "was not asked: the time for the search was over");
}

static void ask_attempt(struct search_ask *ask)
{
    enum standing_refusal refusal;
    int64_t wait_ms = 0;
    ask->failure = (struct search_failure){.quota = false};
    ask->attempts++;
    if (!ask_check(ask, &ask->failure.status) || !ask_write_request(ask, &ask->failure.status)) {
        ask->is_final = true;
        search_ask_end_request(ask);
        return;
    }
    if (!search_share_take(ask->site->shares, ask->tenant)) {
        search_ask_judge_share(ask);
        ask_failed(ask);
        return;
    }
    refusal = standing_take(ask->site->standing, clock_now_ns(), 0, &ask->place, &wait_ms);
    if (refusal != STANDING_FREE) {
        search_share_leave(ask->site->shares, ask->tenant);
        search_ask_judge_refusal(ask, refusal, wait_ms);
        ask_failed(ask);
        return;
    }
    ask_move(ask, ASK_SENDING);
    ask_send(ask);
}

static void ask_waited(struct timer *timer)
{
    ask_attempt(OWNER_OF(timer, struct search_ask, wait));
}

static void ask_begin(struct work *work)
{
    ask_attempt(OWNER_OF(work, struct search_ask, work));
}

/* ---- from outside ------------------------------------------------------------------------------------------------ */

void search_ask_start(struct search_ask *ask)
{
    search_answer_init(&ask->answer);
    ask->wait.expired = ask_waited;
    ask->work.run = ask_begin;
    retry_budget_earn(&ask->site->budget);
    ask_move(ask, ASK_WAITING);
    loop_defer(ask->runner->loop, &ask->work);
}

static void ask_cut(struct work *work)
{
    search_ask_end_request(OWNER_OF(work, struct search_ask, work));
}

void search_ask_cancel(struct search_ask *ask)
{
    if (ask->cancelled || ask->state == ASK_IDLE || ask->state == ASK_ENDED)
        return;
    ask->cancelled = true;
    if (ask->state == ASK_SENDING) {
        transfer_cancel(&ask->transfer);
    } else if (ask->state == ASK_READING) {
        job_cancel(&ask->reading);
    } else {
        loop_disarm(ask->runner->loop, &ask->wait);
        loop_undefer(ask->runner->loop, &ask->work);
        ask->failure = (struct search_failure){.quota = false};
        ask->is_late = false;
        fail(&ask->failure.status, CANCELLED, "was told to stop, as the caller left");
        ask->work.run = ask_cut;
        loop_defer(ask->runner->loop, &ask->work);
    }
}

bool search_ask_finish(struct search_ask *ask)
{
    bool under_way = ask->state == ASK_SENDING || ask->state == ASK_READING;
    ask->is_final |= under_way;
    return under_way;
}

void search_ask_fini(struct search_ask *ask)
{
    if (ask->state != ASK_IDLE)
        search_answer_fini(&ask->answer);
}
