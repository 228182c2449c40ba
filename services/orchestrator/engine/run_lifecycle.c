/* The life of a run: its turn, its work, its limits, its end. */
#include "run_lifecycle.h"
#include "graph/agents.h"
#include "graph/node_kind.h"
#include "journal/journal_writer.h"
#include "model_retries.h"
#include "monitor/run_outcome.h"
#include "monitor/run_trace.h"
#include "prune_at_end.h"
#include "step.h"
#include "thread/apply.h"
#include "thread/branches.h"
#include "thread/frame.h"
#include "thread/interrupt.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/run.h"
#include "thread/run_message.h"
#include "thread/runner_metrics.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/text.h"
#include "base/trace.h"

#include <stdio.h>
#include <stdlib.h>

#define PAUSES_MAX          100 /* nodes that a run is paused before or after, in its record */
#define FAILURES_MAX        100 /* of a single run that are listed */
#define CONCURRENCY_DEFAULT 16
#define STOP_TEXT_MAX       4096

#define RUNNING RENGA__V1__RUN_STATE__RUN_STATE_RUNNING
#define WAITING RENGA__V1__RUN_STATE__RUN_STATE_WAITING

/* ---- work -------------------------------------------------------------------------------------------------------- */

static void begin_active_period(struct run *run)
{
    struct loop *loop = run->thread->shard->loop;
    const struct graph *graph = run_graph(run);
    int64_t most = run_timeout_ms(run);
    run->active_period_ns = clock_now_ns();
    run->stopping = RENGA__V1__STOP_REASON__STOP_REASON_UNSPECIFIED;
    run->stopping_code = 0;
    run->refused = RENGA__V1__STOP_REASON__STOP_REASON_UNSPECIFIED;
    run->owner = run->thread->shard->runner->options.owner;
    run->working_max = run->request->max_concurrency ? (unsigned)run->request->max_concurrency
                       : graph->max_concurrency      ? graph->max_concurrency
                                                     : CONCURRENCY_DEFAULT;
    run->idle_ms = run->request->idle_timeout_ms ? run->request->idle_timeout_ms : graph->idle_timeout_ms;
    run->limit.expired = run_limit_passed;
    run->idle_limit.expired = run_idle_limit_passed;
    if (most) {
        int64_t left_ms = run->resumed ? most : most - run->worked_ms;
        loop_arm_after(loop, &run->limit, left_ms > 0 ? left_ms : 0);
    }
    run_alive(run);
    trace_run_began(run);
}

static void end_active_period(struct run *run)
{
    run->worked_ms = run_worked_ms(run);
    run->active_period_ns = 0;
    loop_disarm(run->thread->shard->loop, &run->limit);
    loop_disarm(run->thread->shard->loop, &run->idle_limit);
}

/* A waiting caller gets no message before the end of the first step. If that step has no effects outside, too, the
 * acceptance and the step are a single batch: if it is lost, there was no run. */
static bool begins_at_once(const struct run *run)
{
    const struct thread *thread = run->thread;
    if (!run->request->wait || run->first_record <= thread->committed)
        return false;
    for (const struct activation *activation = thread->root->activations; activation; activation = activation->next)
        if (!activation->node->kind->is_pure)
            return false;
    return true;
}

/* The root's step may begin when the appended records are on disk. */
static void await_root(struct run *run)
{
    struct thread *thread = run->thread;
    begin_active_period(run);
    run->gathers_from = 0; /* this active period is on disk before its steps gather */
    if (begins_at_once(run)) {
        run->unlisted = true;
        run->gathers_from = thread->last;
        frame_begin(thread->root);
        run_pump(run);
        return;
    }
    frame_await(thread->root);
    run->gathers_from = thread->last;
    log_write_rows(run);
}

/* Callers that wait until no task of a run is left get their answer when the next run takes its place: the run as it
 * is before. */
static void complete_waiting(const struct run *run)
{
    for (struct request *request = run ? run->quiet_waiters : NULL; request; request = request->next)
        request_complete(request, run);
}

static void free_replaced(struct run *run)
{
    while (run->quiet_waiters) {
        struct request *request = run->quiet_waiters;
        run->quiet_waiters = request->next;
        request->waits_on = NULL;
        log_await(run->thread, request);
    }
    log_note_gone(run->thread);
    run_free(run);
}

void run_go(struct run *run, struct thread *from)
{
    struct status st = {0};
    struct thread *thread = run->thread;
    struct run *before = thread->run;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    Renga__V1__RunWentToWork went = RENGA__V1__RUN_WENT_TO_WORK__INIT;
    went.keeps_due = *run->request->checkpoint_id && !*run->request->input_json;
    record.went_to_work = &went;
    bool from_past = from != thread, other_version = thread->agent && thread->agent != run->agent;
    unsigned ways = from_past && from->head ? from->ways_back + 1 : 0;
    record.parent = from_past ? from->head : 0;
    record.begun = run->unlogged ? run->begun : NULL;
    run->unlogged = false;
    complete_waiting(before);
    if (!apply_went_to_work(run, from, went.keeps_due, thread->last + 1, wall_ms(), &st)) {
        record.went_to_work = NULL;
        if (record.begun)
            log_append(thread, run, &record);
        bool missing = !run->agent;
        if (from_past)
            thread_free(from);
        run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_FAILED,
                   missing ? RENGA__V1__STOP_REASON__STOP_REASON_VERSION_MISSING
                           : RENGA__V1__STOP_REASON__STOP_REASON_STATE_CONFLICT,
                   (int)st.code, "%s", st.text);
        run_next(thread);
        return;
    }
    if (before)
        free_replaced(before);
    went.due = frame_activated_nodes(thread->root, &went.n_due);
    record.goes_back = from_past && !log_snapshot_fits(thread);
    thread->ways_back += ways;
    log_append(thread, run, &record);
    free(went.due);
    if (from_past || other_version)
        log_snapshot_now(thread);
    await_root(run);
}

static int64_t budget_plus(int64_t most, int64_t used)
{
    return most < INT64_MAX - used ? most + used : INT64_MAX;
}

void run_resume(struct run *run, const struct resumption *resumption)
{
    struct status st = {0};
    struct thread *thread = run->thread;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    Renga__V1__RunGoesOn goes_on = RENGA__V1__RUN_GOES_ON__INIT;
    Renga__V1__ResumeRunRequest slim = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    Renga__V1__Budget budget = RENGA__V1__BUDGET__INIT;
    const Renga__V1__ResumeRunRequest *request = resumption->request;
    Renga__V1__HandUpdate *update = resumption->update;
    goes_on.recovered = resumption->recovered;
    goes_on.after = resumption->recovered ? thread->committed : 0;
    goes_on.timed_out = resumption->timed_out;
    goes_on.client = unconst(resumption->client);
    goes_on.node = unconst(resumption->node);
    goes_on.previous = run->state;
    goes_on.owner = unconst(thread->shard->runner->options.owner);
    if (request) {
        run_reset_retry_budget(run);
        slim = *request;
        if (slim.budget) { /* from here on: earlier usage does not count */
            budget = *slim.budget;
            budget.model_calls = budget_plus(budget.model_calls, run->usage.model_calls);
            budget.tokens = budget_plus(budget.tokens, run_tokens(run));
            budget.tool_calls = budget_plus(budget.tool_calls, run->usage.tool_calls);
            budget.duration_ms = budget_plus(budget.duration_ms, run->worked_ms);
            budget.cost_micros = budget_plus(budget.cost_micros, run->usage.cost_micros);
            slim.budget = &budget;
        }
        record.answers = slim.answers;
        record.n_answers = slim.n_answers;
        slim.n_answers = 0;
        slim.maybe_answer_json_case = RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON__NOT_SET;
        slim.update = NULL;
        goes_on.request = &slim;
    }
    run->taken_up = resumption->recovered;
    if (!request)
        run->asked = (struct trace_context){0}; /* no call has started it */
    record.goes_on = &goes_on;
    record.time_ms = wall_ms();
    record.run = run->number;
    if (!apply_parts(thread, &record, thread->last + 1, &st))
        log_error("run.resume", "run %s cannot go on: %s", run->id, st.text);
    if (update) { /* is in the state already */
        update->due = frame_activated_nodes(thread->root, &update->n_due);
        record.update = update;
        run->checkpoint = thread->last + 1;
    }
    log_append(thread, run, &record);
    if (update)
        free(update->due);
    await_root(run);
}

void run_halt(struct run *run)
{
    struct thread *thread = run->thread;
    if (thread->run != run || !thread->root)
        return;
    thread_evaluate_frames(thread); /* results of ended nodes are kept */
    if (run->state != RUNNING)
        return;
    run->stopping = RENGA__V1__STOP_REASON__STOP_REASON_CANCELLED;
    frame_stop(thread->root);
    run_leave_frames(run);
}

/* ---- its end ----------------------------------------------------------------------------------------------------- */

static void answer_all(struct run *run, struct request **list)
{
    struct thread *thread = run->thread;
    while (*list) {
        struct request *request = *list;
        *list = request->next;
        request->waits_on = NULL;
        request_complete(request, run);
        log_await(thread, request);
    }
}

void run_orphan_ended(struct run *run)
{
    run->orphaned--;
    run_pump(run);
    if (!run->orphaned && !run_is_open(run))
        answer_all(run, &run->quiet_waiters);
}

static void gather_failures(struct run *run, struct frame *frame, Renga__V1__NodeFailure **list, size_t *count,
                            size_t *all)
{
    for (struct activation *activation = frame->activations; activation; activation = activation->next) {
        for (size_t i = 0; i < activation->branch_count; i++)
            if (activation->branches[i].frame)
                gather_failures(run, activation->branches[i].frame, list, count, all);
        if (activation->state != ACTIVATION_FAILED ||
            (activation->branches && activation->settled == activation->opened && activation->code == ABORTED &&
             strncmp(activation->message, BRANCH_FAILED, sizeof BRANCH_FAILED - 1) == 0))
            continue;
        ++*all;
        if (*count == FAILURES_MAX)
            continue;
        struct buffer path;
        Renga__V1__NodeFailure *failure = xnonnull(arena_alloc(&run->arena, sizeof *failure));
        renga__v1__node_failure__init(failure);
        buffer_init(&path, PATH_MAX_BYTES);
        frame_path(frame, &path);
        failure->path = xnonnull(arena_strdup(&run->arena, buffer_text(&path)));
        buffer_fini(&path);
        failure->node = unconst(activation->node->name);
        failure->branch = (int32_t)activation->branch;
        failure->status_code = activation->code;
        failure->message = xnonnull(arena_strdup(&run->arena, activation->message));
        failure->reason = xnonnull(arena_strdup(&run->arena, activation->reason ? activation->reason : ""));
        failure->attempts = (int32_t)activation->attempts;
        list[(*count)++] = failure;
    }
}

static bool any_conflict(const struct frame *frame)
{
    for (const struct activation *activation = frame->activations; activation; activation = activation->next) {
        if (activation->state == ACTIVATION_FAILED && activation->conflict)
            return true;
        for (size_t i = 0; i < activation->branch_count; i++)
            if (activation->branches[i].frame && any_conflict(activation->branches[i].frame))
                return true;
    }
    return false;
}

static bool stop_failed(struct run *run)
{
    Renga__V1__NodeFailure *failures[FAILURES_MAX];
    size_t count = 0, all = 0;
    gather_failures(run, run->thread->root, failures, &count, &all);
    if (!count)
        return false;
    const Renga__V1__NodeFailure *first = failures[0];
    Renga__V1__StopReason reason = any_conflict(run->thread->root) ? RENGA__V1__STOP_REASON__STOP_REASON_STATE_CONFLICT
                                                                   : RENGA__V1__STOP_REASON__STOP_REASON_NODE_FAILED;
    char more[48] = "";
    if (all > 1)
        snprintf(more, sizeof more, " (and %zu more)", all - 1);
    run->new_failures = failures;
    run->new_failure_count = count;
    run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_FAILED, reason, first->status_code, "node '%s%s%s' failed: %s%s",
               first->path, *first->path ? "/" : "", first->node, first->message, more);
    return true;
}

struct open_interrupts {
    unsigned counts[4];
    Renga__V1__Interrupt *list[PAUSES_MAX];
    size_t count;
};

static void note_interrupt(struct interrupt_visit *visit, const struct frame *frame, const struct node *node,
                           const struct activation *activation, struct interrupt *interrupt,
                           Renga__V1__InterruptKind kind)
{
    struct open_interrupts *open = visit->data;
    open->counts[kind]++;
    if (!interrupt && open->count < PAUSES_MAX)
        open->list[open->count++] = interrupt_message(&frame_run(frame)->arena, frame, node, activation, NULL, kind);
}

static void run_stop_waiting(struct run *run)
{
    struct open_interrupts open = {0};
    const unsigned *counts = open.counts;
    struct interrupt_visit visit = {.came = note_interrupt, .data = &open};
    interrupts_each(run->thread->root, &visit);
    run->pauses = open.list;
    run->pause_count = open.count;
    unsigned questions = counts[RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_QUESTION];
    unsigned before = counts[RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_BEFORE];
    unsigned after = counts[RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_AFTER];
    if (questions)
        run_change(run, WAITING, RENGA__V1__STOP_REASON__STOP_REASON_QUESTION, 0, "%u question%s open", questions,
                   questions == 1 ? " is" : "s are");
    else if (before)
        run_change(run, WAITING, RENGA__V1__STOP_REASON__STOP_REASON_INTERRUPT_BEFORE, 0, "paused before %u node%s",
                   before, before == 1 ? "" : "s");
    else if (after)
        run_change(run, WAITING, RENGA__V1__STOP_REASON__STOP_REASON_INTERRUPT_AFTER, 0, "paused after %u node%s",
                   after, after == 1 ? "" : "s");
    else
        run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_FAILED, RENGA__V1__STOP_REASON__STOP_REASON_INTERNAL, INTERNAL,
                   "nothing is at work, and nothing is waited for");
}

static void stop_as_wished(struct run *run)
{
    bool budget = run->stopping >= RENGA__V1__STOP_REASON__STOP_REASON_BUDGET_MODEL_CALLS &&
                  run->stopping <= RENGA__V1__STOP_REASON__STOP_REASON_BUDGET_COST;
    int code = run->stopping_code ? run->stopping_code : RESOURCE_EXHAUSTED;
    run_change(run, budget ? RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED : RENGA__V1__RUN_STATE__RUN_STATE_FAILED,
               run->stopping, budget ? 0 : code, "%s", run->stopping_text);
}

void run_root_stopped(struct run *run)
{
    struct frame *root = run->thread->root;
    if (run->state != RUNNING)
        return;
    if (root->phase == FRAME_ENDED) {
        prune_at_end(run);
        bool refused = run->refused != RENGA__V1__STOP_REASON__STOP_REASON_UNSPECIFIED;
        run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED,
                   refused ? run->refused : RENGA__V1__STOP_REASON__STOP_REASON_COMPLETED, 0, "%s",
                   refused ? run->refused_text : RUN_COMPLETED_TEXT);
    } else if (run->stopping)
        stop_as_wished(run);
    else if (!stop_failed(run))
        run_stop_waiting(run);
}

/* A run that was never at work has no effects to undo. A run that its budget ended did only a part. */
static bool is_undone(const struct run *run, Renga__V1__RunState state, Renga__V1__StopReason reason)
{
    bool partial =
        state == RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED && reason != RENGA__V1__STOP_REASON__STOP_REASON_COMPLETED;
    bool lost = partial || state == RENGA__V1__RUN_STATE__RUN_STATE_FAILED ||
                state == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED;
    return lost && run->started_ms && run_graph(run) && run_graph(run)->atomic;
}

void run_change(struct run *run, Renga__V1__RunState state, Renga__V1__StopReason reason, int code, const char *format,
                ...)
{
    char text[STOP_TEXT_MAX];
    va_list arguments;
    struct thread *thread = run->thread;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    Renga__V1__RunChanged changed = RENGA__V1__RUN_CHANGED__INIT;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text[text_cut(text, strlen(text), sizeof text - 1)] = '\0';
    changed.previous = run->state;
    changed.state = state;
    changed.stop_reason = reason;
    changed.stop_text = text;
    changed.status_code = code;
    changed.failures = run->new_failures;
    changed.n_failures = run->new_failure_count;
    changed.reason = run->new_failure_count ? run->new_failures[0]->reason : unconst("");
    changed.undone = is_undone(run, state, reason);
    changed.standing = run->pauses;
    changed.n_standing = run->pause_count;
    run->new_failure_count = run->pause_count = 0;
    record.changed = &changed;
    if (run->active_period_ns)
        end_active_period(run);
    trace_run_ended(run, state, code, text);
    apply_changed(run, &changed, wall_ms());
    if (changed.previous != state) { /* else only the reason is another */
        runner_metrics_run(thread->shard->runner->options.runner_metrics, thread->shard->loop, state, reason);
        report_run_changed(run, &changed);
    }
    log_append(thread, run, &record);
    log_write_rows(run);
    answer_all(run, &run->waiters);
    if (!run->orphaned)
        answer_all(run, &run->quiet_waiters);
    bool was_last = run == thread->run;
    if (!was_last && run->ended_ms) {
        log_note_gone(thread);
        thread_unqueue(thread, run);
    }
    if (was_last || !thread->run)
        run_next(thread);
}

/* The next run in the queue goes to work, if no run is at work: then the previous run is freed. */
void run_next(struct thread *thread)
{
    struct run *run = thread->run, *next = thread->queue;
    if (!next || (run && (run->state == RUNNING)) || thread->held)
        return;
    if (run && run->state == WAITING)
        run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED, RENGA__V1__STOP_REASON__STOP_REASON_REPLACED, 0,
                   "run %s took its place", next->id); /* comes here again */
    else
        thread_begin_run(thread, next);
}

void thread_unhold(struct thread *thread)
{
    thread->held = false;
    if (thread->phase == THREAD_READY)
        run_next(thread);
    loop_defer(thread->shard->loop, &thread->go);
}
