/* A thread as it stood at a checkpoint, for a run that begins there: built beside it from its log, then taken over. */
#include "run_priv.h"
#include "transplant.h"

#include <stdlib.h>

/* Takes over where the graph of a rebuilt thread stands, and frees that thread. */
void thread_adopt(struct thread *thread, struct thread *from)
{
    frame_destroy(&thread->root);
    memories_drop(&thread->memories);
    thread->root = from->root;
    thread->memories = from->memories;
    from->root = NULL;
    from->memories = NULL;
    if (thread->root) {
        frame_due_anew(thread->root); /* what was within it belongs to a run, and is not of the checkpoint */
        thread->root->thread = thread;
    }
    if (from->agent)
        thread_take_agent(thread, from->agent);
    thread_free(from);
}

static void rebuilt(struct loader *loader)
{
    struct run *run = loader->owner;
    struct thread *thread = run->thread, *from = loader->thread;
    struct status st = loader->status;
    uint64_t upto = loader->upto;
    free(loader);
    thread->holds--;
    if (st.code == OK && from->head != upto)
        fail(&st, NOT_FOUND, "thread '%s' has the checkpoint no more that the run was to begin at", thread->id);
    if (st.code != OK) {
        thread_free(from);
        thread->held = false;
        run_change(run, RENGA__V1__RUN_STATE__RUN_STATE_FAILED, RENGA__V1__STOP_REASON__STOP_REASON_UNREADABLE,
                   (int)st.code, "%s", st.text);
        thread_unhold(thread);
        return;
    }
    thread_adopt(thread, from);
    thread->parent = thread->head = upto;
    run_go(run);
    thread_unhold(thread);
}

void thread_rebuild(struct thread *thread, uint64_t upto, void (*done)(struct loader *loader), void *owner)
{
    struct loader *loader = need(calloc(1, sizeof *loader));
    *loader = (struct loader){.upto = upto, .loaded = done, .owner = owner};
    loader->thread = thread_new(thread->home, thread->tenant, thread->id);
    thread->holds++;
    loader_start(loader);
}

void thread_begin_run(struct thread *thread, struct run *run)
{
    uint64_t upto = thread->rollback_to;
    if (*run->request->checkpoint_id)
        id_checkpoint_number(run->request->checkpoint_id, thread->place, &upto);
    thread->rollback_to = 0;
    if (!upto) {
        if (thread->rolls_back)
            thread_adopt(thread, thread_new(thread->home, thread->tenant, thread->id));
        run_go(run);
        return;
    }
    thread->held = true;
    thread_rebuild(thread, upto, rebuilt, run);
}
