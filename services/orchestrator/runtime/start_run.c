/* StartRun: its refusals, and the run that it starts. */
#include "start_run.h"
#include "engine/run_lifecycle.h"
#include "graph/agents.h"
#include "journal/journal_writer.h"
#include "journal/replay.h"
#include "journal/run_rows.h"
#include "lifecycle/request_queue.h"
#include "log/ids.h"
#include "log/keys.h"
#include "resume_run.h"
#include "thread/apply.h"
#include "thread/memory.h"
#include "thread/pause_points.h"
#include "thread/request.h"
#include "thread/request_type.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "upgrade/agent_versions.h"

#include "base/arena.h"
#include "base/status.h"
#include "base/trace.h"
#include "store/store.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define REPLACED RENGA__V1__STOP_REASON__STOP_REASON_REPLACED

/* ---- StartRun ---------------------------------------------------------------------------------------------------- */

static bool check_guards(struct request *request, const struct graph *graph, const char *name, char *const *guards,
                         size_t count)
{
    char field[STATUS_FIELD_MAX];
    struct status st = {0}, why = {0};
    for (size_t i = 0; i < count; i++) {
        if (guard_check(graph, guards[i], &why))
            continue;
        snprintf(field, sizeof field, "%s[%zu]", name, i);
        fail_field(&st, field, "%s", why.text);
        request_fail(request, &st, NULL);
        return false;
    }
    return true;
}

static bool start_run_check_interrupt_timeout(struct request *request, const struct graph *graph)
{
    struct status st = {0};
    const Renga__V1__InterruptTimeout *limit =
        ((const Renga__V1__StartRunRequest *)request->message)->interrupt_timeout;
    if (!limit || !limit->update || resume_update_fits(graph, limit->update, "interrupt_timeout.update", &st))
        return true;
    request_fail(request, &st, NULL);
    return false;
}

static bool check_thread(struct request *request, struct thread *thread, const struct agent *agent)
{
    const Renga__V1__StartRunRequest *message = (const void *)request->message;
    const struct run *last = thread->run ? thread->run : thread->queue;
    const char *owner = thread->agent ? thread->agent->name : last ? last->request->agent : agent->name;
    uint64_t number;
    if (strcmp(owner, agent->name) != 0)
        return request_refuse(request, "OTHER_AGENT", FAILED_PRECONDITION,
                              "thread '%s' belongs to the agent '%s', not to '%s'; take another thread", thread->id,
                              owner, agent->name);
    if (*message->checkpoint_id &&
        (!id_checkpoint_number(message->checkpoint_id, thread->place, &number) || !number || number > thread->head))
        return request_refuse(request, NULL, NOT_FOUND, "thread '%s' has no checkpoint '%.64s'", thread->id,
                              message->checkpoint_id);
    bool rejects = message->on_busy <= RENGA__V1__ON_BUSY__ON_BUSY_REJECT;
    if (thread_busy(thread) && rejects)
        return request_refuse(request, "THREAD_BUSY", ABORTED,
                              "run %s is on thread '%s'; wait for it, or choose another on_busy",
                              run_is_open(thread->run) ? thread->run->id : thread->queue->id, thread->id);
    bool rolls_back = message->on_busy == RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK && run_is_open(thread->run);
    return !(*message->checkpoint_id || rolls_back || thread_rolls_back(thread)) || thread_may_go_back(thread, request);
}

/* Cancels the run at work, if `on_busy` asks for it; queued runs keep waiting, behind the new run. */
static void start_run_make_room(struct thread *thread, Renga__V1__OnBusy on_busy, const char *run_id)
{
    bool back = on_busy == RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK;
    if (on_busy != RENGA__V1__ON_BUSY__ON_BUSY_INTERRUPT && !back)
        return;
    Renga__V1__StopReason reason = back ? RENGA__V1__STOP_REASON__STOP_REASON_ROLLED_BACK : REPLACED;
    struct run *run = thread->run;
    if (!run_is_open(run))
        return;
    run_halt(run);
    if (!run_is_open(run))
        return;
    run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED, reason, CANCELLED, "run %s took its place", run_id);
}

void run_take_trace(struct run *run, const struct request *request)
{
    run->asked = request->trace ? *request->trace : (struct trace_context){0};
}

/* Whether it goes to work with the same record that accepts it: no record of another run or checkpoint comes between.
 */
static bool goes_at_once(const struct thread *thread, const Renga__V1__StartRunRequest *message)
{
    const struct run *before = thread->run;
    bool alone = !before || (before->state > RENGA__V1__RUN_STATE__RUN_STATE_WAITING && !before->pending_event_count);
    return alone && !thread_busy(thread) && !thread_rolls_back(thread) && !*message->checkpoint_id;
}

static void start_run_start(struct request *request, struct thread *thread, struct agent *agent)
{
    char id[ID_MAX];
    Renga__V1__StartRunRequest message = *(const Renga__V1__StartRunRequest *)request->message;
    Renga__V1__RunBegun begun = RENGA__V1__RUN_BEGUN__INIT;
    Record record = RENGA__V1__LOG_RECORD__INIT;
    int64_t now_ms = wall_ms();
    id_make_run(id, now_ms, thread->place);
    thread->held = true; /* the next run begins when its record is there */
    start_run_make_room(thread, message.on_busy, id);
    thread->held = false;
    message.thread_id = unconst("");
    begun.run_id = id;
    begun.graph_version = agent->version;
    begun.request = &message;
    begun.queued = thread_busy(thread);
    begun.client = unconst(request->access.principal.name);
    begun.first = thread->queue && (message.on_busy == RENGA__V1__ON_BUSY__ON_BUSY_INTERRUPT ||
                                    message.on_busy == RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK);
    record.begun = &begun;
    bool at_once = goes_at_once(thread, &message);
    struct run *run = apply_begun(thread, &begun, thread->runs_begun + 1, thread->last + 1, now_ms);
    run->agent = agent;
    if (begun.first)
        thread_queue_first(thread, run);
    run->unlogged = at_once;
    run_take_trace(run, request);
    if (!at_once)
        log_append(thread, run, &record);
    log_write_name(run);
    request_remember(request, thread, run->request->request_id, run->id, 0);
    if (begun.queued)
        log_write_rows(run);
    request->run_id = xnonnull(arena_strdup(request->arena, id));
    bool replaces = request->replaces;
    request_wait(request, run, true); /* a run that cannot begin is gone then, and the request gets the reason */
    run_next(thread);
    if (replaces)
        log_note_gone(thread); /* a further repetition, which has read the row of the run before, reads again */
    assert(!thread->queue || !thread->queue->unlogged);
    run = message.wait ? NULL : request_end_wait(request);
    if (run)
        request_wait(request, run, false);
}

void request_start_checked(struct request *request, struct thread *thread, struct agent *agent)
{
    const Renga__V1__StartRunRequest *message = (const void *)request->message;
    if (check_guards(request, agent->graph, "interrupt_before", message->interrupt_before,
                     message->n_interrupt_before) &&
        check_guards(request, agent->graph, "interrupt_after", message->interrupt_after, message->n_interrupt_after) &&
        start_run_check_interrupt_timeout(request, agent->graph) && check_thread(request, thread, agent))
        start_run_start(request, thread, agent);
    else
        agent_release(thread->shard->runner->options.agents, agent);
}

void request_start_run(struct request *request, struct thread *thread)
{
    const Renga__V1__StartRunRequest *message = (const void *)request->message;
    if (!request_is_new(request, thread, message->request_id))
        return;
    if (request->unfit_if_new.code != OK) {
        request_fail(request, &request->unfit_if_new, NULL);
        return;
    }
    struct agent *agent = request_find_agent(request, thread, message->agent, message->graph_version);
    if (agent)
        request_check_input(request, thread, agent);
}

/* ---- again ------------------------------------------------------------------------------------------------------- */

/* The run of a repeated request, as it is now. */
void request_repeat_run(struct request *request, struct thread *thread, const Renga__V1__RequestRow *row)
{
    request->run_id = row->run_id;
    struct run *run = thread_find_run(thread, row->run_id);
    if (run)
        request_wait(request, run, request_flag(request->message, request->type->wait));
    else
        request_read_run(request, thread->shard);
}
