/* Attempts at nodes: where they run, how they end, and whether there is another one. An attempt has its task here,
 * or it is away, in another loop that has asked for work (fanout/fanout.h); what comes of it is the same. One that is
 * over (timed out, cancelled) but has not ended yet belongs to nobody any more: whatever it says is dropped. */
#include "run_priv.h"

#include "fanout/fanout.h"
#include "nodes/task.h"

#include "base/clock.h"

#include <stdlib.h>

#define PROGRESS_MAX 65536 /* bytes, as RunNodeEvent.progress_json */
#define MESSAGE_MAX  4096

struct attempt {
    struct due *due; /* NULL: nothing of it counts any more */
    struct thread *thread;
    uint32_t run_number;
    bool ended, held, late; /* held: it is not to be freed yet; late: its time was over */
    bool away;
    int64_t began_ns;
    struct timer limit, idle_limit;
    struct dispatch dispatch; /* where it is away */
    struct task task;         /* else; and the request of either */
    _Alignas(16) char data[];
};

static struct attempt *attempt_of(struct task *task)
{
    return (struct attempt *)((char *)task - offsetof(struct attempt, task));
}

static struct loop *loop_of(const struct attempt *attempt)
{
    return attempt->thread->home->loop;
}

static struct fanout *fanout_of(const struct attempt *attempt)
{
    return attempt->thread->home->runner->options.fanout;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void free_if_done(struct attempt *attempt)
{
    struct thread *thread = attempt->thread;
    if (!attempt->ended || attempt->due || attempt->held)
        return;
    task_fini(&attempt->task);
    free(attempt);
    thread->holds--;
    thread_settle(thread);
}

/* The attempt is over; its task may still have to end. */
static void detach(struct attempt *attempt, enum status_code code)
{
    struct due *due = attempt->due;
    struct run *run = frame_run(due->frame);
    tally_task_ended(attempt->thread->home->runner->options.tally, loop_of(attempt), due->node->kind, code,
                     clock_now_ns() - attempt->began_ns);
    loop_disarm(loop_of(attempt), &attempt->limit);
    loop_disarm(loop_of(attempt), &attempt->idle_limit);
    due->duration_ms = (uint32_t)((clock_now_ns() - attempt->began_ns) / NS_PER_MS);
    due->attempt = NULL;
    attempt->due = NULL;
    run->working--;
    if (!attempt->ended)
        run->loose++;
    run_alive(run);
    free_if_done(attempt);
}

/* True where it still counts. */
static bool ends(struct attempt *attempt)
{
    struct run *run = attempt->thread->run;
    attempt->ended = true;
    if (!attempt->away && attempt->task.node->kind->travels)
        fanout_at_home(fanout_of(attempt), loop_of(attempt), -1);
    if (attempt->due)
        return true;
    if (run && run->number == attempt->run_number && run->loose)
        run_loose_ended(run);
    free_if_done(attempt);
    return false;
}

void task_drop(struct due *due)
{
    struct attempt *attempt = due->attempt;
    if (due->state == DUE_RESTS)
        loop_disarm(due->frame->thread->home->loop, &due->rest);
    if (!attempt)
        return;
    attempt->held = true; /* it lives until we are done with it */
    detach(attempt, attempt->late ? DEADLINE_EXCEEDED : CANCELLED);
    if (!attempt->ended && attempt->away) /* NOLINT(clang-analyzer-unix.Malloc): it is held */
        fanout_recall(&attempt->dispatch);
    else if (!attempt->ended)
        task_cancel(&attempt->task);
    attempt->held = false;
    free_if_done(attempt);
}

/* ---- failure ----------------------------------------------------------------------------------------------------- */

static int64_t rest_ms(const struct due *due, const struct status *st)
{
    const struct node_retry *retry = &due->node->retry;
    int64_t rest = retry->base_ms ? retry->base_ms : 100, most = retry->max_ms ? retry->max_ms : 30000;
    for (unsigned i = 1; i < due->tries && rest < most; i++)
        rest *= 2;
    rest = rest < most ? rest : most;
    return rest > st->retry_after_ms ? rest : st->retry_after_ms;
}

static void rested(struct timer *timer)
{
    struct due *due = (struct due *)((char *)timer - offsetof(struct due, rest));
    due_again(due);
}

static void show_retry(struct due *due, char *message, int64_t rest_ms)
{
    Renga__V1__NodeRetried retried = RENGA__V1__NODE_RETRIED__INIT;
    retried.attempt = (int32_t)due->attempts;
    retried.status_code = due->code;
    retried.message = message;
    retried.next_attempt_ms = wall_ms() + rest_ms;
    run_shown(due, &retried, NULL);
}

static void attempt_failed(struct due *due, const struct status *st, bool final)
{
    struct run *run = frame_run(due->frame);
    char message[MESSAGE_MAX];
    text_cut_copy(message, sizeof message, st->text);
    due->code = (int)st->code;
    due->message = need(arena_strdup(due->frame->arena, message));
    bool again =
        !final && !run->stopping && due->tries < due->node->retry.attempts && due->node->retry.codes >> st->code & 1;
    if (!again) {
        due->state = DUE_FAILED;
        due_finished(due);
        run_pump(run);
        return;
    }
    int64_t rest = rest_ms(due, st);
    show_retry(due, message, rest);
    due->state = DUE_RESTS;
    due->rest = (struct timer){.expired = rested};
    loop_arm_after(due->frame->thread->home->loop, &due->rest, rest);
    run_pump(run);
}

static void end_failed(struct attempt *attempt, const struct status *status)
{
    struct due *due = attempt->due;
    if (!ends(attempt))
        return;
    struct status st = *status;
    detach(attempt, st.code);
    attempt_failed(due, &st, false);
}

/* Nobody is to blame, so it costs none of the tries that the document allows; to the node it is one more attempt. */
static void take_over(struct attempt *attempt, const struct status *why)
{
    struct due *due = attempt->due;
    struct run *run = attempt->thread->run;
    char message[STATUS_TEXT_MAX];
    if (!ends(attempt))
        return;
    text_cut_copy(message, sizeof message, why->text);
    detach(attempt, why->code);
    due->code = (int)why->code;
    due->tries--;
    if (run->stopping) {
        due_stop(due);
        frame_touch(due->frame);
        return;
    }
    show_retry(due, message, 0);
    due_again(due);
}

static void timed_out(struct attempt *attempt, const char *which, int64_t ms)
{
    struct due *due = attempt->due;
    struct status st = {0};
    fail(&st, DEADLINE_EXCEEDED, "node '%s' %s %lld ms", due->node->name, which, (long long)ms);
    attempt->late = true;
    task_drop(due);
    attempt_failed(due, &st, false);
}

static void limit_passed(struct timer *timer)
{
    struct attempt *attempt = (struct attempt *)((char *)timer - offsetof(struct attempt, limit));
    timed_out(attempt, "has not ended within", attempt->due->node->timeout_ms);
}

static void idle_limit_passed(struct timer *timer)
{
    struct attempt *attempt = (struct attempt *)((char *)timer - offsetof(struct attempt, idle_limit));
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
    struct status ignored;
    for (size_t i = 0; i < response->n_progress_json && i < 100; i++)
        if (response_check_json("progress", response->progress_json[i], PROGRESS_MAX, 0, &ignored))
            run_shown(due, NULL, response->progress_json[i]);
}

static void end_finished(struct attempt *attempt, const Response *response)
{
    struct due *due = attempt->due;
    struct status st = {0};
    if (!ends(attempt))
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
    detach(attempt, good ? OK : st.code);
    if (!good) {
        attempt_failed(due, &st, true);
        return;
    }
    fold_spent(run, due->response);
    due->state = DUE_FINISHED;
    if (due->response->n_interrupts) {
        question_ask(due, due->response, wall_ms());
        due->state = DUE_WAITING;
    }
    due_finished(due);
    run_pump(run);
}

/* ---- what is said on the way ------------------------------------------------------------------------------------- */

static void alive(struct attempt *attempt)
{
    if (!attempt->due)
        return;
    if (attempt->due->node->idle_timeout_ms)
        loop_arm_after(loop_of(attempt), &attempt->idle_limit, attempt->due->node->idle_timeout_ms);
    run_alive(frame_run(attempt->due->frame));
}

static void progress(struct attempt *attempt, const char *json)
{
    struct status ignored;
    alive(attempt);
    if (attempt->due && response_check_json("progress", json, PROGRESS_MAX, 0, &ignored))
        run_shown(attempt->due, NULL, json);
}

static void token(struct attempt *attempt, const char *text, const char *channel)
{
    alive(attempt);
    if (attempt->due)
        run_token(attempt->due, text, channel);
}

/* ---- of a task at home ------------------------------------------------------------------------------------------- */

static const Renga__V1__RunNodeRequest *task_told(struct task *task)
{
    const struct attempt *attempt = attempt_of(task);
    return attempt->due ? due_request(attempt->due, task->deadline_ns, &task->arena) : NULL;
}

static void task_finished(struct task *task, const Response *response)
{
    end_finished(attempt_of(task), response);
}

static void task_failed(struct task *task, const struct status *status)
{
    end_failed(attempt_of(task), status);
}

static void task_progressed(struct task *task, const char *json)
{
    progress(attempt_of(task), json);
}

static void task_wrote(struct task *task, const char *text, const char *channel)
{
    token(attempt_of(task), text, channel);
}

static void task_lives(struct task *task)
{
    alive(attempt_of(task));
}

static const struct task_owner of_task = {
    .request = task_told,
    .finished = task_finished,
    .failed = task_failed,
    .progress = task_progressed,
    .token = task_wrote,
    .alive = task_lives,
};

static void begin_at_home(struct attempt *attempt)
{
    const struct home *home = attempt->thread->home;
    tally_started(home->runner->options.tally, home->loop);
    if (attempt->task.node->kind->travels)
        fanout_at_home(fanout_of(attempt), home->loop, 1);
    attempt->held = true;
    task_start(&attempt->task);
    attempt->held = false;
    free_if_done(attempt);
}

/* ---- of one that is away ----------------------------------------------------------------------------------------- */

static void dispatch_came(struct dispatch *dispatch, const Renga__V1__RunNodeEvent *event)
{
    struct attempt *attempt = (struct attempt *)((char *)dispatch - offsetof(struct attempt, dispatch));
    if (event->event_case == RENGA__V1__RUN_NODE_EVENT__EVENT_TOKEN)
        token(attempt, event->token->text, event->token->channel);
    else if (event->event_case == RENGA__V1__RUN_NODE_EVENT__EVENT_PROGRESS_JSON)
        progress(attempt, event->progress_json);
    else
        alive(attempt);
}

static void dispatch_ended(struct dispatch *dispatch, const Response *response, const struct status *st)
{
    struct attempt *attempt = (struct attempt *)((char *)dispatch - offsetof(struct attempt, dispatch));
    if (response)
        end_finished(attempt, response);
    else if (dispatch->lost)
        take_over(attempt, st);
    else
        end_failed(attempt, st);
}

static const struct dispatch_owner of_dispatch = {.came = dispatch_came, .ended = dispatch_ended};

/* Only one of several: what is alone has nobody to make room for. */
static bool send_away(struct attempt *attempt)
{
    struct fanout *fanout = fanout_of(attempt);
    struct task *task = &attempt->task;
    const struct run *run = attempt->thread->run;
    if (!fanout || !task->node->kind->travels || !(run->working > 1 || run->ready_first || run->openers_first))
        return false;
    attempt->dispatch.owner = &of_dispatch;
    attempt->away =
        fanout_send(fanout, loop_of(attempt), &attempt->dispatch, task_request(task), task->deadline_ns, &task->trace);
    if (attempt->away)
        arena_reset(&task->arena); /* the request has gone */
    return attempt->away;
}

/* ---- an attempt begins ------------------------------------------------------------------------------------------- */

static struct attempt *attempt_create(struct due *due)
{
    struct thread *thread = due->frame->thread;
    struct attempt *attempt = need(malloc(sizeof *attempt + due->node->kind->size));
    memset(attempt, 0, offsetof(struct attempt, task));
    attempt->due = due;
    attempt->thread = thread;
    attempt->run_number = thread->run->number;
    attempt->began_ns = clock_now_ns();
    task_init(&attempt->task, &of_task, attempt->data);
    attempt->task.node = due->node;
    attempt->task.loop = thread->home->loop;
    attempt->task.orchestrator = thread->home->runner->options.orchestrator;
    thread->holds++;
    return attempt;
}

static void arm_limits(struct attempt *attempt)
{
    const struct node *node = attempt->due->node;
    attempt->limit.expired = limit_passed;
    attempt->idle_limit.expired = idle_limit_passed;
    if (node->timeout_ms) {
        attempt->task.deadline_ns = attempt->began_ns + node->timeout_ms * NS_PER_MS;
        loop_arm(loop_of(attempt), &attempt->limit, attempt->task.deadline_ns);
    }
    if (node->idle_timeout_ms)
        loop_arm_after(loop_of(attempt), &attempt->idle_limit, node->idle_timeout_ms);
}

void task_begin(struct due *due)
{
    struct attempt *attempt = attempt_create(due);
    const struct home *home = attempt->thread->home;
    tally_task_began(home->runner->options.tally, home->loop);
    due->attempt = attempt;
    due->state = DUE_AT_WORK;
    due->attempts++;
    due->tries++;
    due->cached = false;
    attempt->thread->run->working++;
    arm_limits(attempt);
    run_shown_start(due);
    if (!send_away(attempt))
        begin_at_home(attempt);
}
