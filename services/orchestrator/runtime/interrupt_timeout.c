/* Pauses before and after nodes that last too long (StartRunRequest.interrupt_timeout). A run that is paused leaves a
 * row under the time at which its pause ends. A sweep goes through the rows whose time has come, twice a second, and
 * sends a maintenance request to the thread, which checks again. The run may have gone on, ended, or paused again
 * since. */
#include "interrupt_timeout.h"
#include "engine/run_lifecycle.h"
#include "journal/journal_writer.h"
#include "journal/run_rows.h"
#include "resume_run.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/run.h"
#include "thread/thread.h"

#include "base/status.h"

#define ROW_TOLERANCE_MS 5 /* between the time of a record and that of its row */

static void interrupt_timeout_cancel(struct run *run)
{
    run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED, RENGA__V1__STOP_REASON__STOP_REASON_INTERRUPT_TIMEOUT,
               CANCELLED, "it was not resumed within %lld ms", (long long)run->request->interrupt_timeout->after_ms);
}

static void interrupt_timeout_resume(struct run *run)
{
    struct status st = {0};
    if (!run_resume_timed_out(run, &st))
        run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_FAILED, RENGA__V1__STOP_REASON__STOP_REASON_STATE_CONFLICT,
                   st.code, "it was not resumed within %lld ms, and cannot go on as it was told: %s",
                   (long long)run->request->interrupt_timeout->after_ms, st.text);
}

void interrupt_timeout_expire(struct request *request, struct thread *thread)
{
    struct run *run = thread->run;
    int64_t expires_ms = run && run->agent ? log_pause_ends_ms(run) : 0;
    if (!expires_ms || thread_busy(thread) || wall_ms() + ROW_TOLERANCE_MS < expires_ms) {
        request_answer(request);
        return;
    }
    if (run->request->interrupt_timeout->then == RENGA__V1__INTERRUPT_DEFAULT__INTERRUPT_DEFAULT_CANCEL)
        interrupt_timeout_cancel(run);
    else
        interrupt_timeout_resume(run);
    log_await(thread, request);
}
