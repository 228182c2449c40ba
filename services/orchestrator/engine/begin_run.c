/* A run begins at the state of its thread, or at a checkpoint, which is replayed first. */
#include "journal/replay.h"
#include "log/ids.h"
#include "run_lifecycle.h"
#include "thread/memory.h"
#include "thread/run.h"
#include "thread/thread.h"

#include <stdlib.h>

struct beginning {
    struct thread *thread;
    uint32_t number; /* of the run, which may be cancelled meanwhile */
};

static void begin_run_at(struct run *run, struct thread *past, const struct status *st)
{
    if (past)
        run_go(run, past);
    else
        run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_FAILED, RENGA__V1__STOP_REASON__STOP_REASON_UNREADABLE,
                   (int)st->code, "%s", st->text);
}

static void begin_run_replayed(void *owner, struct thread *past, const struct status *st)
{
    struct beginning *beginning = owner;
    struct thread *thread = beginning->thread;
    struct run *run = thread->queue;
    if (run && run->number == beginning->number && thread->phase == THREAD_READY)
        begin_run_at(run, past, st);
    else if (past)
        thread_free(past);
    free(beginning);
    thread_unhold(thread);
}

void thread_begin_run(struct thread *thread, struct run *run)
{
    bool back = thread_rolls_back(thread);
    uint64_t upto = back ? thread->run->began_on : 0;
    if (*run->request->checkpoint_id)
        id_checkpoint_number(run->request->checkpoint_id, thread->place, &upto);
    if (!upto) {
        run_go(run, back ? thread_new(thread->shard, thread->tenant, thread->id) : thread);
        return;
    }
    struct beginning *beginning = xnonnull(calloc(1, sizeof *beginning));
    *beginning = (struct beginning){thread, run->number};
    thread->held = true;
    thread_replay(thread, upto, begin_run_replayed, beginning);
}
