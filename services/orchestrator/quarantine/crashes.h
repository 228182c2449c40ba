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

#include "journal/journal_writer.h"
#include "log/ids.h"
#include "loop/loop.h"

#include <stdbool.h>

struct quarantine;
struct runner;
struct thread;

#define CRASH_OWNERS_MAX 10

struct crash_record { /* CrashRow */
    char owners[CRASH_OWNERS_MAX][ID_MAX];
    unsigned count, parkings;
    int64_t taken_ms; /* when its owner began to take it up, by the wall clock; 0: before the first death */
    int64_t life_ms;  /* no owner that died lived longer; 0: not known */
};

enum trial_phase { TRIAL_NONE, TRIAL_WAITING, TRIAL_IN_LINE, TRIAL_AT_WORK };

struct crashes {                 /* of a thread */
    struct crash_record *record; /* as it is in the store; NULL: no record */
    enum trial_phase trial;
    bool parks;            /* its run is to fail when it has been read */
    uint64_t cleared_at;   /* number of the record with which the row goes; 0: the row stays */
    int64_t trial_ns;      /* when the trial began */
    int64_t trial_life_ms; /* the longest life of its owners before */
    struct thread *next_in_line;
    struct work turn;
    struct timer timer;
};

/* Before the log of a thread is read, which may have a run at work: counts, and goes on with thread_read later, with
 * thread_break, or when the thread's turn in quarantine comes. */
void crashes_ask(struct thread *thread);
/* It was read, and its run, or the first that is queued, is to fail: it does. */
void crashes_park(struct thread *thread);
/* A record is appended: if it tells of progress, the count is 0 when it is on disk. */
void crashes_note(struct thread *thread, const struct run *run, const Record *record, uint64_t number);
void crashes_committed(struct thread *thread);
/* Until its trial begins. */
bool crashes_is_in_quarantine(const struct thread *thread);
/* Then GetRun is answered with the run's row, and all else with UNAVAILABLE. */
void crashes_refuse(struct thread *thread);
/* The thread leaves memory, or is not this orchestrator's any more. */
void crashes_leave(struct thread *thread);

/* Within these files. */
unsigned crashes_max(const struct thread *thread);
void crashes_put_row(struct thread *thread, struct store_batch *batch, const struct crash_record *record, bool alone);
void crashes_delete_row(const struct thread *thread, struct store_batch *batch);
void crashes_clear(struct thread *thread, uint64_t number); /* with the record of this number */
/* So long no orchestrator may have died before its trial begins. */
int64_t crashes_quiet_ms(const struct crash_record *record);
void quarantine_begin(struct thread *thread);

/* quarantine.c: a single thread at a time. Call it from any thread. */
struct quarantine *quarantine_create(void);
void quarantine_destroy(struct quarantine **quarantine);
/* An orchestrator of the store has died. The start of this orchestrator counts, too. */
void quarantine_note_death(struct quarantine *quarantine);
int64_t quarantine_quiet_ms(struct quarantine *quarantine); /* since the last death */
/* `turn` runs in its loop when it is the only thread on trial: at once, or later. */
void quarantine_enter(struct quarantine *quarantine, struct thread *thread);
/* Also for a thread that is not in it. True if it was in line, and `turn` will not run. */
bool quarantine_leave(struct quarantine *quarantine, struct thread *thread);
bool quarantine_has_line(struct quarantine *quarantine);

/* session.c: a store that is this process' alone has a row for each of its lives that has not ended in good order. */
void session_begin(struct runner *runner);
/* From inside the first loop; `ended` runs there. */
void session_end(struct runner *runner, void (*ended)(void *data), void *data);
/* The name under which a thread is listed as pending: of the member, or of this life. */
const char *runner_self(const struct runner *runner);

#endif
