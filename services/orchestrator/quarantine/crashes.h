/* Private to the orchestrator: runs with owners that die again and again. The store counts a crash before the thread is
 * read, so that a run that kills each orchestrator that takes it up is told from others, for every cause of death.
 *
 *      its owner died         counted; taken up at once, beside all others
 *      once less than may be  QUARANTINE: taken up alone among these runs when no orchestrator has died for a while,
 *                             and marked as alone (trial.c)
 *      alone, and died        PARKED: the run has FAILED, and no orchestrator takes it up again
 *
 * A clean end does not count, nor does an owner that was taken for dead and lives. A step on disk, the end of the run,
 * or a trial that no owner dies in, sets the count to 0. From inside the loop of the thread. */
#ifndef RENGA_ORCHESTRATOR_CRASHES_H
#define RENGA_ORCHESTRATOR_CRASHES_H

#include "thread/apply.h"

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct run;
struct thread;

/* Before the log of a thread is read, which may have a run at work: counts. `judged` comes now or later, in the loop of
 * the thread: OK: its log may be read; else the reason why it may not. A thread that is in quarantine then is judged
 * again when its trial begins. */
void crashes_ask(struct thread *thread, void (*judged)(struct thread *thread, const struct status *st));
/* It was read, and its run, or the first that is queued, is to fail: it does. */
void crashes_park(struct thread *thread);
/* A record is appended: if it tells of progress, the count is 0 when it is on disk. */
void crashes_note(struct thread *thread, const struct run *run, const Record *record, uint64_t number);
void crashes_committed(struct thread *thread);
/* Until its trial begins. */
bool crashes_is_in_quarantine(const struct thread *thread);
/* Then GetRun is answered with the run's row, and other requests with this: UNAVAILABLE. */
struct status crashes_quarantine_status(const struct thread *thread);
/* The thread leaves memory, or is not this orchestrator's any more. */
void crashes_leave(struct thread *thread);

#endif
