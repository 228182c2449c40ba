/* Jobs: work that would hold a loop too long, done by the process's worker threads.
 *
 *      job_start --- small, or a loop without a thread: run and ended at once, within job_start
 *          |  '----- no room: ended at once, RESOURCE_EXHAUSTED
 *          |
 *        WAITING ---(a worker)---> running ---(posted)---> ended, in the loop
 *          '--- job_cancel: CANCELLED; deadline: DEADLINE_EXCEEDED ---^
 *
 * A process has one pool of workers, started with the first job. Its queue is bounded and fair: owners are hashed to
 * lanes, the lanes take turns, a lane may fill a part of the queue only and never holds the last worker. Workers have a
 * lower priority than loops, so that on a busy machine a job waits and a loop does not.
 *
 * The owner of a job keeps it, and its data, until `ended` has run. While it runs, no other thread
 * touches these: an arena, too, belongs to one thread at a time. A call that is cut is answered at once; its handler
 * ends it after its job. */
#ifndef RENGA_LOOP_JOBS_H
#define RENGA_LOOP_JOBS_H

#include "loop/loop.h"

#include <stdatomic.h>

/* Bytes of input that are worked on in the loop: handing over costs some 20 µs and two switches of threads; the slowest
 * reader of text takes 1 µs a byte, so this holds a loop for at most 4 ms. */
#define JOB_INLINE_MAX ((size_t)4096)

#define JOBS_WAITING_MAX      1024 /* in the process: some seconds of work at 5 ms each */
#define JOBS_LANE_WAITING_MAX 256  /* of one lane, so that three others still find room */

/* Embedded in its owner, zeroed before its first use. */
struct job {
    /* The owner's. */
    struct loop *loop;              /* in which it ends */
    void (*run)(struct job *job);   /* in a worker, or in the loop */
    void (*ended)(struct job *job); /* in the loop, once; perhaps within job_start */
    int64_t deadline_ns;            /* on clock_now_ns: it does not begin later; 0 or TIME_NEVER: no deadline */
    uint64_t owner;                 /* job_owner of the waiting party */

    /* To be read in `ended`: OK: it has run. CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED: it has not. */
    struct status status;

    /* The pool's. */
    struct work work;
    struct job *next, *previous;
    bool waits; /* under the pool's lock */
    atomic_bool stop;
};

/* The owner by tenant and client. Either may be NULL or "". */
uint64_t job_owner(const char *tenant, const char *client);

/* From inside the job's loop. `bytes` is the size of its input. */
void job_start(struct job *job, size_t bytes);

/* From inside the job's loop: one that waits ends soon, as CANCELLED; one that runs ends when it has run. No effect on
 * a job that is not under way. */
void job_cancel(struct job *job);

/* In `run`: true after a cancellation or the deadline. For jobs that can stop in the middle. */
bool job_is_over(const struct job *job);

struct jobs_count {
    unsigned waiting, running, workers;
    uint64_t run, refused; /* since the process began */
};
/* Any thread. */
void jobs_count(struct jobs_count *count);

/* Ends the workers. No job is under way and no loop starts another. */
void jobs_stop(void);

#endif
