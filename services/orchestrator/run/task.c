/* The end of attempts at nodes, and the decision about another attempt. */
#include "attempt.h"
#include "trace.h"

#include "base/clock.h"
#include "thinking/usage.h"

#define MESSAGE_MAX  4096
#define KEPT_LOOK_MS 2 /* while a record is on its way to the disk */

/* ---- usage without a result -------------------------------------------------------------------------------------- */

/* It is kept with the failure, so that applying the record gives the reported usage. */
static void spend(struct due *due, const Renga__V1__Usage *spent)
{
    if (!spent || usage_is_nothing(spent))
        return;
    usage_add(&frame_run(due->frame)->usage, spent);
    due->spent = need(message_copy(due->frame->arena, &spent->base));
}

/* ---- failure ----------------------------------------------------------------------------------------------------- */

/* Between half of the pause and the whole of it: nodes that failed together are not tried again together. The part
 * hangs on run, node, branch and attempt alone, so a test that knows them knows the pause. */
static int64_t rest_ms(const struct due *due, const struct status *st)
{
    const struct node_retry *retry = &due->node->retry;
    int64_t rest = retry->base_ms ? retry->base_ms : 100, most = retry->max_ms ? retry->max_ms : 30000;
    for (unsigned i = 1; i < due->tries && rest < most; i++)
        rest *= 2;
    rest = rest < most ? rest : most;
    rest -= (int64_t)(id_hash_number(due_seed(due), due->attempts) % (uint64_t)(rest / 2 + 1));
    return rest > st->retry_after_ms ? rest : st->retry_after_ms;
}

static void rested(struct timer *timer)
{
    struct due *due = OWNER_OF(timer, struct due, rest);
    struct thread *thread = due->frame->thread;
    if (thread->committed < due->given_up)
        loop_arm_after(thread->home->loop, timer, KEPT_LOOK_MS);
    else
        due_again(due);
}

static void rest(struct due *due, int64_t ms)
{
    due->state = DUE_RESTS;
    due->rest = (struct timer){.expired = rested};
    loop_arm_after(due->frame->thread->home->loop, &due->rest, ms);
}

/* It is on disk before the next attempt: a watcher that has seen an attempt never sees its number again. */
static void show_retry(struct due *due, char *message, int64_t rest_ms)
{
    struct run *run = frame_run(due->frame);
    Record record = RENGA__V1__LOG_RECORD__INIT;
    Renga__V1__NodeRetried retried = RENGA__V1__NODE_RETRIED__INIT;
    retried.attempt = (int32_t)due->attempts;
    retried.status_code = due->code;
    retried.message = message;
    retried.next_attempt_ms = wall_ms() + rest_ms;
    retried.usage = due->spent;
    run_shown(due, &retried, NULL);
    frame_logged(due->frame);
    due->given_up = log_append(run->thread, run, &record);
    log_hurry(run->thread);
}

/* `final`: no other attempt would do better. `cut`: it is unknown how far it came. */
static void due_failed(struct due *due, const struct status *st, bool final, bool cut)
{
    struct run *run = frame_run(due->frame);
    char message[MESSAGE_MAX];
    text_cut_copy(message, sizeof message, st->text);
    due->code = (int)st->code;
    due->message = need(arena_strdup(due->frame->arena, message));
    due_requests_failed(due, cut);
    bool again = !final && !run->stopping && due->node->retry.codes >> st->code & 1 && due_may_retry(due);
    if (!again) {
        due->state = DUE_FAILED;
        due_finished(due);
        run_pump(run);
        return;
    }
    int64_t ms = rest_ms(due, st);
    show_retry(due, message, ms);
    rest(due, ms);
    run_pump(run);
}

void attempt_failed(struct attempt *attempt, const struct status *status, const Renga__V1__Usage *spent,
                    const char *reason)
{
    struct due *due = attempt->due;
    if (!attempt_ends(attempt))
        return;
    struct status st = *status;
    spend(due, spent);
    due->reason = reason;
    trace_attempt_failed(attempt, st.code, st.text);
    attempt_detach(attempt, st.code);
    due_failed(due, &st, false, false);
}

/* The node is not the cause, so the loss does not count as a try of the document's limit; for the node, the next try is
 * a further attempt. */
void attempt_lost(struct attempt *attempt, const struct status *why)
{
    struct due *due = attempt->due;
    struct run *run = attempt->thread->run;
    char message[STATUS_TEXT_MAX];
    if (!attempt_ends(attempt))
        return;
    text_cut_copy(message, sizeof message, why->text);
    trace_attempt_failed(attempt, why->code, message);
    attempt_detach(attempt, why->code);
    due->code = (int)why->code;
    due->tries--;
    if (run->stopping) {
        due_stop(due);
        frame_touch(due->frame);
        return;
    }
    show_retry(due, message, 0);
    rest(due, 0);
}

static void timed_out(struct attempt *attempt, const char *which, int64_t ms)
{
    struct due *due = attempt->due;
    struct status st = {0};
    fail(&st, DEADLINE_EXCEEDED, "node '%s' %s %lld ms", due->node->name, which, (long long)ms);
    attempt->late = true;
    trace_attempt_failed(attempt, st.code, st.text);
    task_drop(due);
    due_failed(due, &st, false, true);
}

void attempt_limit_passed(struct timer *timer)
{
    struct attempt *attempt = OWNER_OF(timer, struct attempt, limit);
    timed_out(attempt, "has not ended within", attempt->due->node->timeout_ms);
}

void attempt_idle_limit_passed(struct timer *timer)
{
    struct attempt *attempt = OWNER_OF(timer, struct attempt, idle_limit);
    timed_out(attempt, "gave no sign of life for", attempt->due->node->idle_timeout_ms);
}

/* ---- success ----------------------------------------------------------------------------------------------------- */

/* The update is read at once: a fault in it is this node's. A jump writes to the graph around it. */
static bool read_update(struct due *due, struct status *st)
{
    struct frame *parent = due->frame->parent ? due->frame->parent->frame : NULL;
    if (!*due->response->goto_parent || !parent)
        return due_read_write(due, st);
    struct write write;
    struct write_source source = {.node = due->node->name,
                                  .update_json = due->response->update_json,
                                  .update_size = strlen(due->response->update_json),
                                  .overwrite_fields = due->response->overwrite_fields,
                                  .overwrite_count = due->response->n_overwrite_fields,
                                  .clear_fields = due->response->clear_fields,
                                  .clear_count = due->response->n_clear_fields};
    return write_parse(parent->graph, &source, due->frame->arena, &write, st);
}

static Response *keep(struct due *due, const Response *response)
{
    Response slim = *response;
    slim.n_progress_json = 0;
    if (response->n_interrupts) {
        slim.outcome = slim.update_json = slim.goto_parent = unconst("");
        slim.n_overwrite_fields = slim.n_clear_fields = slim.n_sends = 0;
    }
    return need(message_copy(due->frame->arena, &slim.base));
}

static void show_progress(struct due *due, const Response *response)
{
    for (size_t i = 0; i < response->n_progress_json; i++)
        run_shown_result(due, response->progress_json[i]);
}

void attempt_finished(struct attempt *attempt, const Response *response)
{
    struct due *due = attempt->due;
    struct status st = {0};
    if (!attempt_ends(attempt))
        return;
    struct run *run = frame_run(due->frame);
    due->conflict = false;
    bool good = response_check(due, response, &st);
    if (good) {
        show_progress(due, response);
        due->response = keep(due, response);
        due->written = false;
    }
    if (good && !due->response->n_interrupts && !read_update(due, &st)) {
        good = false;
        due->conflict = true;
    }
    if (!good && response->usage && usage_is_sane(response->usage, NULL, NULL))
        spend(due, response->usage);
    if (!good)
        trace_attempt_failed(attempt, st.code, st.text);
    attempt_detach(attempt, good ? OK : st.code);
    if (!good) {
        due_failed(due, &st, true, false);
        return;
    }
    fold_spent(run, due->response);
    due_requests_answered(due);
    due->state = DUE_FINISHED;
    if (due->response->n_interrupts) {
        question_ask(due, due->response, wall_ms());
        due->state = DUE_WAITING;
    }
    due_finished(due);
    run_pump(run);
}
