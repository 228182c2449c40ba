/* Attempts at nodes: the process that runs them, and their events on the way. */
#include "attempt.h"
#include "fanout/fanout.h"
#include "graph/node_kind.h"
#include "model_retries.h"
#include "monitor/run_trace.h"
#include "node_request.h"
#include "nodes/task.h"
#include "run_lifecycle.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/node_response.h"
#include "thread/run.h"
#include "thread/runner_metrics.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "watch/pending_events.h"
#include "watch/token_buffer.h"

#include "base/clock.h"
#include "base/status.h"

#include <stdlib.h>

static struct attempt *attempt_of(struct task *task)
{
    return CONTAINER_OF(task, struct attempt, task);
}

static struct loop *loop_of(const struct attempt *attempt)
{
    return attempt->thread->shard->loop;
}

static struct fanout *fanout_of(const struct attempt *attempt)
{
    return attempt->thread->shard->runner->options.fanout;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void attempt_free_if_done(struct attempt *attempt)
{
    struct thread *thread = attempt->thread;
    if (!attempt->ended || attempt->activation || attempt->held)
        return;
    task_fini(&attempt->task);
    free(attempt);
    thread->holds--;
    thread_settle(thread);
}

void attempt_detach(struct attempt *attempt, enum status_code code)
{
    struct activation *activation = attempt->activation;
    struct run *run = frame_run(activation->frame);
    runner_metrics_task_ended(attempt->thread->shard->runner->options.runner_metrics, loop_of(attempt),
                              activation->node->kind, code, clock_now_ns() - attempt->began_ns);
    trace_attempt_ended(attempt, code);
    loop_disarm(loop_of(attempt), &attempt->limit);
    loop_disarm(loop_of(attempt), &attempt->idle_limit);
    activation->duration_ms = (uint32_t)((clock_now_ns() - attempt->began_ns) / NS_PER_MS);
    activation_release_requests(activation);
    activation->attempt = NULL;
    attempt->activation = NULL;
    token_buffer_free(&attempt->token_buffer);
    run->working--;
    if (!attempt->ended)
        run->orphaned++;
    run_alive(run);
    attempt_free_if_done(attempt);
}

bool attempt_ends(struct attempt *attempt)
{
    struct run *run = attempt->thread->run;
    attempt->ended = true;
    if (!attempt->dispatched && attempt->task.node->kind->travels)
        fanout_local_attempts(fanout_of(attempt), loop_of(attempt), -1);
    if (attempt->activation)
        return true;
    if (run && run->number == attempt->run_number && run->orphaned)
        run_orphan_ended(run);
    attempt_free_if_done(attempt);
    return false;
}

void task_drop(struct activation *activation)
{
    struct attempt *attempt = activation->attempt;
    activation_release_requests(activation);
    if (activation->state == ACTIVATION_RESTS)
        loop_disarm(activation->frame->thread->shard->loop, &activation->rest);
    if (!attempt)
        return;
    attempt->held = true; /* it lives until we are done with it */
    attempt_detach(attempt, attempt->late ? DEADLINE_EXCEEDED : CANCELLED);
    if (!attempt->ended && attempt->dispatched) /* NOLINT(clang-analyzer-unix.Malloc): it is held */
        fanout_recall(&attempt->dispatch);
    else if (!attempt->ended)
        task_cancel(&attempt->task);
    attempt->held = false;
    attempt_free_if_done(attempt);
}

/* ---- events on the way ------------------------------------------------------------------------------------------- */

static void attempt_alive(struct attempt *attempt)
{
    if (!attempt->activation)
        return;
    if (attempt->activation->node->idle_timeout_ms)
        loop_arm_after(loop_of(attempt), &attempt->idle_limit, attempt->activation->node->idle_timeout_ms);
    run_alive(frame_run(attempt->activation->frame));
}

static void attempt_progress(struct attempt *attempt, const char *json)
{
    struct status ignored;
    attempt_alive(attempt);
    if (attempt->activation && response_check_json("progress", json, PROGRESS_MAX, 0, &ignored))
        run_pending_progress(attempt->activation, NULL, json);
}

static void attempt_token(struct attempt *attempt, const char *text, const char *channel)
{
    attempt_alive(attempt);
    if (attempt->activation)
        run_token(attempt->activation, text, channel);
}

/* ---- of a task in this loop -------------------------------------------------------------------------------------- */

static const Renga__V1__RunNodeRequest *task_told(struct task *task)
{
    const struct attempt *attempt = attempt_of(task);
    return attempt->activation ? activation_node_request(attempt->activation, task->deadline_ns, &task->arena) : NULL;
}

static void task_finished(struct task *task, const Response *response)
{
    attempt_finished(attempt_of(task), response);
}

static void task_failed(struct task *task, const struct status *status)
{
    attempt_failed(attempt_of(task), status, &task->spent, task->reason);
}

static void task_progressed(struct task *task, const char *json)
{
    attempt_progress(attempt_of(task), json);
}

static void task_wrote(struct task *task, const char *text, const char *channel)
{
    attempt_token(attempt_of(task), text, channel);
}

static void task_lives(struct task *task)
{
    attempt_alive(attempt_of(task));
}

static const struct task_owner of_task = {
    .request = task_told,
    .finished = task_finished,
    .failed = task_failed,
    .progress = task_progressed,
    .token = task_wrote,
    .alive = task_lives,
};

static void begin_local(struct attempt *attempt)
{
    const struct shard *shard = attempt->thread->shard;
    runner_metrics_started(shard->runner->options.runner_metrics, shard->loop);
    if (attempt->task.node->kind->travels)
        fanout_local_attempts(fanout_of(attempt), shard->loop, 1);
    attempt->held = true;
    task_start(&attempt->task);
    attempt->held = false;
    attempt_free_if_done(attempt);
}

/* ---- a dispatched attempt ---------------------------------------------------------------------------------------- */

static void dispatch_came(struct dispatch *dispatch, const Renga__V1__RunNodeEvent *event)
{
    struct attempt *attempt = CONTAINER_OF(dispatch, struct attempt, dispatch);
    if (event->event_case == RENGA__V1__RUN_NODE_EVENT__EVENT_TOKEN)
        attempt_token(attempt, event->token->text, event->token->channel);
    else if (event->event_case == RENGA__V1__RUN_NODE_EVENT__EVENT_PROGRESS_JSON)
        attempt_progress(attempt, event->progress_json);
    else
        attempt_alive(attempt);
}

static void dispatch_ended(struct dispatch *dispatch, const Response *response, const struct status *st)
{
    struct attempt *attempt = CONTAINER_OF(dispatch, struct attempt, dispatch);
    if (response)
        attempt_finished(attempt, response);
    else if (dispatch->lost)
        attempt_lost(attempt, st);
    else
        attempt_failed(attempt, st, dispatch->spent, "");
}

static const struct dispatch_owner of_dispatch = {.came = dispatch_came, .ended = dispatch_ended};

/* Only if several nodes run in parallel: a single attempt frees no capacity for another attempt. */
static bool dispatch_attempt(struct attempt *attempt)
{
    struct fanout *fanout = fanout_of(attempt);
    struct task *task = &attempt->task;
    if (!fanout || !task->node->kind->travels || !run_is_parallel(attempt->thread->run))
        return false;
    attempt->dispatch.owner = &of_dispatch;
    attempt->dispatch.tenant = task->tenant;
    attempt->dispatch.client = task->client;
    attempt->dispatched =
        fanout_send(fanout, loop_of(attempt), &attempt->dispatch, task_request(task), task->deadline_ns, &task->trace);
    if (attempt->dispatched)
        arena_reset(&task->arena); /* the request has gone */
    return attempt->dispatched;
}

/* ---- an attempt begins ------------------------------------------------------------------------------------------- */

static struct attempt *attempt_create(struct activation *activation)
{
    struct thread *thread = activation->frame->thread;
    struct attempt *attempt = xnonnull(malloc(sizeof *attempt + activation->node->kind->size));
    memset(attempt, 0, offsetof(struct attempt, task));
    attempt->activation = activation;
    attempt->thread = thread;
    attempt->run_number = thread->run->number;
    attempt->began_ns = clock_now_ns();
    task_init(&attempt->task, &of_task, attempt->data);
    attempt->task.node = activation->node;
    attempt->task.loop = thread->shard->loop;
    attempt->task.services = thread->shard->runner->options.services;
    attempt->task.tenant = thread->tenant;
    attempt->task.client = thread->run->begun->client;
    thread->holds++;
    return attempt;
}

static void arm_limits(struct attempt *attempt)
{
    const struct node *node = attempt->activation->node;
    attempt->limit.expired = attempt_limit_passed;
    attempt->idle_limit.expired = attempt_idle_limit_passed;
    if (node->timeout_ms) {
        attempt->task.deadline_ns = attempt->began_ns + node->timeout_ms * NS_PER_MS;
        loop_arm(loop_of(attempt), &attempt->limit, attempt->task.deadline_ns);
    }
    if (node->idle_timeout_ms)
        loop_arm_after(loop_of(attempt), &attempt->idle_limit, node->idle_timeout_ms);
}

void task_begin(struct activation *activation)
{
    struct attempt *attempt = attempt_create(activation);
    const struct shard *shard = attempt->thread->shard;
    runner_metrics_task_began(shard->runner->options.runner_metrics, shard->loop);
    activation->attempt = attempt;
    activation_move(activation, ACTIVATION_AT_WORK);
    activation->attempts++;
    activation->tries++;
    activation->cached = false;
    activation->spent = NULL;
    activation->reason = NULL;
    trace_attempt_began(attempt);
    attempt->thread->run->working++;
    activation_take_requests(activation);
    arm_limits(attempt);
    run_pending_started(activation);
    if (!dispatch_attempt(attempt))
        begin_local(attempt);
}
