/* The end of attempts at nodes, and the decision about another attempt. */
#include "attempt.h"
#include "journal/journal_writer.h"
#include "log/ids.h"
#include "model_retries.h"
#include "monitor/run_trace.h"
#include "state/state.h"
#include "step.h"
#include "thread/apply.h"
#include "thread/frame.h"
#include "thread/interrupt.h"
#include "thread/memory.h"
#include "thread/node_response.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "watch/pending_events.h"

#include "base/clock.h"
#include "base/status.h"
#include "loop/loop.h"
#include "proto/usage.h"

#define MESSAGE_MAX  4096
#define KEPT_POLL_MS 2 /* while a record is on its way to the disk */

/* ---- usage without a result -------------------------------------------------------------------------------------- */

/* It is kept with the failure, so that applying the record gives the reported usage. */
static void attempt_end_spend(struct activation *activation, const Renga__V1__Usage *spent)
{
    if (!spent || usage_is_nothing(spent))
        return;
    usage_add(&frame_run(activation->frame)->usage, spent);
    activation->spent = xnonnull(message_copy(activation->frame->arena, &spent->base));
}

/* ---- failure ----------------------------------------------------------------------------------------------------- */

/* Between half of the pause and the whole of it: nodes that failed together are not tried again together. The part
 * hangs on run, node, branch and attempt alone, so a test that knows them knows the pause. */
static int64_t rest_ms(const struct activation *activation, const struct status *st)
{
    const struct node_retry *retry = &activation->node->retry;
    int64_t rest = retry->base_ms ? retry->base_ms : 100, most = retry->max_ms ? retry->max_ms : 30000;
    for (unsigned i = 1; i < activation->tries && rest < most; i++)
        rest *= 2;
    rest = rest < most ? rest : most;
    rest -= (int64_t)(id_hash_number(activation_seed(activation), activation->attempts) % (uint64_t)(rest / 2 + 1));
    return rest > st->retry_after_ms ? rest : st->retry_after_ms;
}

static void attempt_end_rested(struct timer *timer)
{
    struct activation *activation = CONTAINER_OF(timer, struct activation, rest);
    struct thread *thread = activation->frame->thread;
    if (thread->committed < activation->given_up)
        loop_arm_after(thread->shard->loop, timer, KEPT_POLL_MS);
    else
        activation_retry(activation);
}

static void attempt_end_rest(struct activation *activation, int64_t ms)
{
    activation_move(activation, ACTIVATION_RESTS);
    activation->rest = (struct timer){.expired = attempt_end_rested};
    loop_arm_after(activation->frame->thread->shard->loop, &activation->rest, ms);
}

static bool is_asked_to_rest_too_long(const struct activation *activation, const struct status *st)
{
    int64_t longest_ms = activation->node->retry.longest_hint_ms;
    return longest_ms && st->retry_after_ms > longest_ms;
}

/* It is on disk before the next attempt: a watcher that has seen an attempt never sees its number again. */
static void show_retry(struct activation *activation, char *message, int64_t rest_ms)
{
    struct run *run = frame_run(activation->frame);
    Record record = RENGA__V1__LOG_RECORD__INIT;
    Renga__V1__NodeRetried retried = RENGA__V1__NODE_RETRIED__INIT;
    retried.attempt = (int32_t)activation->attempts;
    retried.status_code = activation->code;
    retried.message = message;
    retried.next_attempt_ms = wall_ms() + rest_ms;
    retried.usage = activation->spent;
    run_pending_progress(activation, &retried, NULL);
    frame_logged(activation->frame);
    activation->given_up = log_append(run->thread, run, &record);
    log_hurry(run->thread);
}

/* `final`: no other attempt would do better. `cut`: it is unknown how far it came. */
static void activation_failed(struct activation *activation, const struct status *st, bool final, bool cut)
{
    struct run *run = frame_run(activation->frame);
    char message[MESSAGE_MAX];
    text_cut_copy(message, sizeof message, st->text);
    activation->code = (int)st->code;
    activation->message = xnonnull(arena_strdup(activation->frame->arena, message));
    activation_requests_failed(activation, cut);
    bool again = !final && !run->stopping && activation->node->retry.codes >> st->code & 1 &&
                 !is_asked_to_rest_too_long(activation, st) && activation_may_retry(activation);
    if (!again) {
        activation_move(activation, ACTIVATION_FAILED);
        activation_finished(activation);
        run_pump(run);
        return;
    }
    int64_t ms = rest_ms(activation, st);
    show_retry(activation, message, ms);
    attempt_end_rest(activation, ms);
    run_pump(run);
}

void attempt_failed(struct attempt *attempt, const struct status *status, const Renga__V1__Usage *spent,
                    const char *reason)
{
    struct activation *activation = attempt->activation;
    if (!attempt_ends(attempt))
        return;
    struct status st = *status;
    attempt_end_spend(activation, spent);
    activation->reason = reason;
    trace_attempt_failed(attempt, st.code, st.text);
    attempt_detach(attempt, st.code);
    activation_failed(activation, &st, false, false);
}

/* The node is not the cause, so the loss does not count as a try of the document's limit; for the node, the next try is
 * a further attempt. */
void attempt_lost(struct attempt *attempt, const struct status *why)
{
    struct activation *activation = attempt->activation;
    struct run *run = attempt->thread->run;
    char message[STATUS_TEXT_MAX];
    if (!attempt_ends(attempt))
        return;
    text_cut_copy(message, sizeof message, why->text);
    trace_attempt_failed(attempt, why->code, message);
    attempt_detach(attempt, why->code);
    activation->code = (int)why->code;
    activation->tries--;
    if (run->stopping) {
        activation_stop(activation);
        frame_touch(activation->frame);
        return;
    }
    show_retry(activation, message, 0);
    attempt_end_rest(activation, 0);
}

static void attempt_timed_out(struct attempt *attempt, const char *which, int64_t ms)
{
    struct activation *activation = attempt->activation;
    struct status st = {0};
    fail(&st, DEADLINE_EXCEEDED, "node '%s' %s %lld ms", activation->node->name, which, (long long)ms);
    attempt->late = true;
    trace_attempt_failed(attempt, st.code, st.text);
    task_drop(activation);
    activation_failed(activation, &st, false, true);
}

void attempt_limit_passed(struct timer *timer)
{
    struct attempt *attempt = CONTAINER_OF(timer, struct attempt, limit);
    attempt_timed_out(attempt, "has not ended within", attempt->activation->node->timeout_ms);
}

void attempt_idle_limit_passed(struct timer *timer)
{
    struct attempt *attempt = CONTAINER_OF(timer, struct attempt, idle_limit);
    attempt_timed_out(attempt, "gave no sign of life for", attempt->activation->node->idle_timeout_ms);
}

/* ---- success ----------------------------------------------------------------------------------------------------- */

/* The update is read at once: a fault in it is this node's. A jump writes to the graph around it. */
static bool attempt_end_read_update(struct activation *activation, struct status *st)
{
    struct frame *parent = activation->frame->parent ? activation->frame->parent->frame : NULL;
    if (!*activation->response->goto_parent || !parent)
        return activation_read_write(activation, st);
    struct write write;
    struct write_source source = {.node = activation->node->name,
                                  .update_json = activation->response->update_json,
                                  .update_size = strlen(activation->response->update_json),
                                  .overwrite_fields = activation->response->overwrite_fields,
                                  .overwrite_count = activation->response->n_overwrite_fields,
                                  .clear_fields = activation->response->clear_fields,
                                  .clear_count = activation->response->n_clear_fields};
    return write_parse(parent->graph, &source, activation->frame->arena, &write, st);
}

static Response *task_copy_response(struct activation *activation, const Response *response)
{
    Response slim = *response;
    slim.n_progress_json = 0;
    if (response->n_interrupts) {
        slim.outcome = slim.update_json = slim.goto_parent = unconst("");
        slim.n_overwrite_fields = slim.n_clear_fields = slim.n_sends = 0;
    }
    return xnonnull(message_copy(activation->frame->arena, &slim.base));
}

static void attempt_end_show_progress(struct activation *activation, const Response *response)
{
    for (size_t i = 0; i < response->n_progress_json; i++)
        run_pending_result(activation, response->progress_json[i]);
}

void attempt_finished(struct attempt *attempt, const Response *response)
{
    struct activation *activation = attempt->activation;
    struct status st = {0};
    if (!attempt_ends(attempt))
        return;
    struct run *run = frame_run(activation->frame);
    activation->conflict = false;
    bool good = response_check(activation, response, &st);
    if (good) {
        attempt_end_show_progress(activation, response);
        activation->response = task_copy_response(activation, response);
        activation->written = false;
    }
    if (good && !activation->response->n_interrupts && !attempt_end_read_update(activation, &st)) {
        good = false;
        activation->conflict = true;
    }
    if (!good && response->usage && usage_is_sane(response->usage, NULL, NULL))
        attempt_end_spend(activation, response->usage);
    if (!good)
        trace_attempt_failed(attempt, st.code, st.text);
    attempt_detach(attempt, good ? OK : st.code);
    if (!good) {
        activation_failed(activation, &st, true, false);
        return;
    }
    apply_spent(run, activation->response);
    activation_requests_answered(activation);
    bool asks = activation->response->n_interrupts > 0;
    if (asks)
        interrupts_add(activation, activation->response, wall_ms());
    activation_move(activation, asks ? ACTIVATION_WAITING : ACTIVATION_FINISHED);
    activation_finished(activation);
    run_pump(run);
}
