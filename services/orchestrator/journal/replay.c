/* A thread as it was at a checkpoint, built beside it from its log; and runs that begin there. */
#include "runtime/request.h"
#include "thread/run_priv.h"
#include "thread/state_migration.h"

#include <stdlib.h>

#define WAYS_BACK_MAX 15

struct replay {
    struct loader loader; /* first */
    struct thread *thread;
    thread_replayed *done;
    void *owner;
};

static void replay_loaded(struct loader *loader)
{
    struct replay *replay = (struct replay *)loader;
    struct thread *thread = replay->thread, *past = loader->thread;
    struct status st = loader->status;
    if (st.code == OK && thread->phase != THREAD_READY)
        fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    else if (st.code == OK && past->head != loader->upto)
        fail(&st, NOT_FOUND, "thread '%s' has no such checkpoint, or not any more", thread->id);
    if (st.code != OK) {
        thread_free(past);
        past = NULL;
    }
    thread->holds--;
    replay->done(replay->owner, past, &st);
    free(replay);
}

void thread_replay(struct thread *thread, uint64_t upto, thread_replayed *done, void *owner)
{
    struct replay *replay = xnonnull(calloc(1, sizeof *replay));
    replay->loader.upto = upto;
    replay->loader.loaded = replay_loaded;
    replay->loader.thread = thread_new(thread->shard, thread->tenant, thread->id);
    replay->thread = thread;
    replay->done = done;
    replay->owner = owner;
    thread->holds++;
    loader_start(&replay->loader);
}

/* In succession, each return doubles the records to read. */
bool thread_may_go_back(const struct thread *thread, struct request *request)
{
    return thread->ways_back < WAYS_BACK_MAX ||
           request_refuse(request, NULL, FAILED_PRECONDITION,
                          "thread '%s' is larger than a snapshot, and has gone back too often since it is; make its "
                          "state smaller, or go on from its head",
                          thread->id);
}

void thread_adopt(struct thread *thread, struct thread *from)
{
    frame_destroy(&thread->root);
    memories_drop(&thread->memories);
    thread->root = from->root;
    thread->memories = from->memories;
    from->root = NULL;
    from->memories = NULL;
    if (thread->root)
        thread->root->thread = thread;
    if (from->agent)
        thread_take_agent(thread, from->agent);
    thread_free(from);
}

/* ---- a run that begins there ------------------------------------------------------------------------------------- */

bool thread_rolls_back(const struct thread *thread)
{
    const struct run *last = thread->run;
    return last && thread->head == last->checkpoint &&
           (last->undone || (last->state == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED &&
                             last->reason == RENGA__V1__STOP_REASON__STOP_REASON_ROLLED_BACK));
}

uint64_t thread_state_checkpoint(const struct thread *thread)
{
    return thread_rolls_back(thread) && thread->run->undone ? thread->run->began_on : thread->head;
}

struct beginning {
    struct thread *thread;
    uint32_t number; /* of the run, which may be cancelled meanwhile */
};

static void replay_begin(struct run *run, struct thread *past, const struct status *st)
{
    if (past)
        run_go(run, past);
    else
        run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_FAILED, RENGA__V1__STOP_REASON__STOP_REASON_UNREADABLE,
                   (int)st->code, "%s", st->text);
}

static void replay_past_came(void *owner, struct thread *past, const struct status *st)
{
    struct beginning *beginning = owner;
    struct thread *thread = beginning->thread;
    struct run *run = thread->queue;
    if (run && run->number == beginning->number && thread->phase == THREAD_READY)
        replay_begin(run, past, st);
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
    thread_replay(thread, upto, replay_past_came, beginning);
}
