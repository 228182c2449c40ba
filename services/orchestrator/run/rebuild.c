/* A thread as it stood at a checkpoint, built beside it from its log; and runs that begin there. */
#include "errand.h"
#include "run_priv.h"
#include "transplant.h"

#include <stdlib.h>

#define WAYS_BACK_MAX 15

struct rebuilding {
    struct loader loader; /* first */
    struct thread *thread;
    thread_rebuilt *done;
    void *owner;
};

static void loaded(struct loader *loader)
{
    struct rebuilding *rebuilding = (struct rebuilding *)loader;
    struct thread *thread = rebuilding->thread, *past = loader->thread;
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
    rebuilding->done(rebuilding->owner, past, &st);
    free(rebuilding);
}

void thread_rebuild(struct thread *thread, uint64_t upto, thread_rebuilt *done, void *owner)
{
    struct rebuilding *rebuilding = need(calloc(1, sizeof *rebuilding));
    rebuilding->loader.upto = upto;
    rebuilding->loader.loaded = loaded;
    rebuilding->loader.thread = thread_new(thread->home, thread->tenant, thread->id);
    rebuilding->thread = thread;
    rebuilding->done = done;
    rebuilding->owner = owner;
    thread->holds++;
    loader_start(&rebuilding->loader);
}

/* In succession, each return doubles the records to read. */
bool thread_may_go_back(const struct thread *thread, struct errand *errand)
{
    return thread->ways_back < WAYS_BACK_MAX ||
           errand_refuse(errand, NULL, FAILED_PRECONDITION,
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

uint64_t thread_stands_at(const struct thread *thread)
{
    return thread_rolls_back(thread) && thread->run->undone ? thread->run->began_on : thread->head;
}

struct beginning {
    struct thread *thread;
    uint32_t number; /* of the run, which may be cancelled meanwhile */
};

static void begin(struct run *run, struct thread *past, const struct status *st)
{
    if (past)
        run_go(run, past);
    else
        run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_FAILED, RENGA__V1__STOP_REASON__STOP_REASON_UNREADABLE,
                   (int)st->code, "%s", st->text);
}

static void past_came(void *owner, struct thread *past, const struct status *st)
{
    struct beginning *beginning = owner;
    struct thread *thread = beginning->thread;
    struct run *run = thread->queue;
    if (run && run->number == beginning->number && thread->phase == THREAD_READY)
        begin(run, past, st);
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
        run_go(run, back ? thread_new(thread->home, thread->tenant, thread->id) : thread);
        return;
    }
    struct beginning *beginning = need(calloc(1, sizeof *beginning));
    *beginning = (struct beginning){thread, run->number};
    thread->held = true;
    thread_rebuild(thread, upto, past_came, beginning);
}
