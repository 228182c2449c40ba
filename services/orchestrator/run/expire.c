/* Threads whose time is over. The sweep deletes them from the disk periodically; until then no request finds them:
 *
 *      a request that reads or continues the thread   NOT_FOUND
 *      a request that makes a thread of this name     waits until the old thread is erased, and is served then
 *      DeleteThread                                   is served */
#include "errand.h"
#include "keep.h"
#include "run_priv.h"

#include <stdlib.h>

#define TYPE(request, name) ((request)->descriptor == &renga__v1__##name##__descriptor)

bool keeping_is_over(const struct runner *runner, const Renga__V1__Retention *own, int64_t updated_ms)
{
    struct keeping keeping = keeping_of(runner, own);
    return keeping.ttl_ms > 0 && wall_ms() - updated_ms >= keeping.ttl_ms;
}

static bool expire_is_due(const struct thread *thread)
{
    return thread->exists && !thread->unreadable && !thread->deleted && !thread_busy(thread) &&
           keeping_is_over(thread->home->runner, thread->retention, thread->updated_ms);
}

/* The turn of the chore itself counts as 1 hold. */
static bool expire_may_erase(const struct thread *thread)
{
    return !thread->held && thread->holds <= 1;
}

void expire_thread(struct errand *errand, struct thread *thread)
{
    if (!expire_is_due(thread) || !expire_may_erase(thread)) {
        errand_answer(errand);
        return;
    }
    tally_expired(thread->home->runner->options.tally, thread->home->loop);
    erase_thread(errand, thread);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

struct replacement {
    struct errand chore;
    struct errand *errand; /* that waits */
};

static void expire_erased(struct errand *chore)
{
    struct replacement *replacement = chore->owner;
    if (chore->status.code == OK)
        errand_again(replacement->errand, &chore->status);
    else
        errand_fail(replacement->errand, &chore->status, NULL);
    free(replacement);
}

static void expire_replace(struct errand *errand, struct thread *thread)
{
    struct replacement *replacement = need(calloc(1, sizeof *replacement));
    replacement->errand = errand;
    replacement->chore = (struct errand){.loop = thread->home->loop, .answered = expire_erased, .owner = replacement};
    expire_thread(&replacement->chore, thread);
}

static bool expire_makes_thread(const struct errand *errand)
{
    return TYPE(errand->request, start_run_request) || TYPE(errand->request, fork_thread_request) ||
           TYPE(errand->request, copy_thread_request);
}

bool expire_serves(struct errand *errand, struct thread *thread)
{
    if (errand->chore || !expire_is_due(thread) || TYPE(errand->request, delete_thread_request))
        return false;
    if (!expire_makes_thread(errand))
        errand_refuse(errand, NULL, NOT_FOUND, "there is no %s '%.128s'", errand->run_id ? "run" : "thread",
                      errand->run_id ? errand->run_id : thread->id);
    else if (expire_may_erase(thread))
        expire_replace(errand, thread);
    else
        errand_refuse(errand, NULL, UNAVAILABLE, "thread '%s' has expired and is still in use; ask again", thread->id);
    return true;
}
