/* A thread as it was at a checkpoint, built beside it from its log. */
#include "replay.h"
#include "load.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/thread.h"

#include "base/status.h"

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
