/* CancelRun. A run that its caller has left is CANCELLED already, but a repetition of the call goes on with it, or
 * begins another in its place. CancelRun ends that, too; if such a run is no longer in memory, its row is changed. */
#include "engine/run_lifecycle.h"
#include "journal/journal_writer.h"
#include "request_queue.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/run.h"
#include "thread/thread.h"

#define STATE_CANCELLED    RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED
#define REASON_CALLER_LEFT RENGA__V1__STOP_REASON__STOP_REASON_CALLER_LEFT

static const char *cancel_text(const Renga__V1__CancelRunRequest *message)
{
    return *message->reason ? message->reason : "cancelled by its caller";
}

static void run_cancel(struct run *run, const Renga__V1__CancelRunRequest *message)
{
    run_change(run, STATE_CANCELLED,
               message->caller_left ? REASON_CALLER_LEFT : RENGA__V1__STOP_REASON__STOP_REASON_CANCELLED, CANCELLED,
               "%s", cancel_text(message));
}

static bool is_left(Renga__V1__RunState state, Renga__V1__StopReason reason)
{
    return state == STATE_CANCELLED && reason == REASON_CALLER_LEFT;
}

static void cancel_gone_run(struct request *request, struct thread *thread, Renga__V1__RunRow *row)
{
    Renga__V1__RunChanged changed = RENGA__V1__RUN_CHANGED__INIT;
    changed.previous = changed.state = STATE_CANCELLED;
    changed.stop_reason = RENGA__V1__STOP_REASON__STOP_REASON_CANCELLED;
    changed.stop_text = unconst(cancel_text((const void *)request->message));
    changed.status_code = CANCELLED;
    log_change_gone(thread, row, &changed);
    request_complete_with(request, row->run);
    log_await(thread, request);
}

void request_cancel_run(struct request *request, struct thread *thread)
{
    const Renga__V1__CancelRunRequest *message = (const void *)request->message;
    struct run *run = thread_find_run(thread, request->run_id);
    Renga__V1__RunRow *row = request->place;
    if (!run && row && thread->exists && !thread->deleted && is_left(row->run->state, row->run->stop_reason) &&
        !message->caller_left) {
        cancel_gone_run(request, thread, row);
        return;
    }
    if (run && run == thread->run && is_left(run->state, run->reason) && !message->caller_left)
        run_cancel(run, message);
    if (!run || run->state >= RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED) {
        request_get_run(request, thread);
        return;
    }
    run_halt(run);
    if (run->state >= RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED) {
        request_get_run(request, thread);
        return;
    }
    if (message->wait && run->orphaned) {
        request->next = run->quiet_waiters;
        run->quiet_waiters = request;
    } else {
        request->next = run->waiters;
        run->waiters = request;
    }
    request->waits_on = run;
    run_cancel(run, message);
}
