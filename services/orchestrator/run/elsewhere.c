/* A thread that another orchestrator has: what was asked of it here is asked there, or anew. Nothing of it is written.
 */
#include "errand.h"
#include "run_priv.h"

#include "base/log.h"

void thread_go_elsewhere(struct thread *thread, struct status *why, const char *address)
{
    why->code = UNAVAILABLE;
    for (struct errand *errand = thread->first_errand; errand; errand = errand->next)
        errand->elsewhere = errand->request ? need(arena_strdup(errand->arena, address)) : NULL;
    thread_forget(thread, why);
}

static void take_all(struct errand **from, struct errand **to)
{
    while (*from) {
        struct errand *errand = *from;
        *from = errand->next;
        errand->next = *to;
        *to = errand;
    }
}

/* Those of whom nothing is on disk: of a thread that was nobody's, all. Of one that was ours, runs that others wait for
 * may have been accepted long since. */
static struct errand *take_unheard(struct thread *thread)
{
    struct errand *unheard = NULL, *waiting;
    take_all(&thread->first_errand, &unheard);
    if (thread->own.mine)
        return unheard;
    waiting = commit_take_errands(thread->filling);
    take_all(&waiting, &unheard);
    waiting = commit_take_errands(thread->flying);
    take_all(&waiting, &unheard);
    for (struct run *run = thread->run ? thread->run : thread->queue; run;
         run = run == thread->run ? thread->queue : run->next) {
        take_all(&run->waiters, &unheard);
        take_all(&run->quiet_waiters, &unheard);
    }
    return unheard;
}

void thread_lose(struct thread *thread)
{
    struct status why = {0};
    fail(&why, UNAVAILABLE, "thread '%s' went to another orchestrator; ask again", thread->id);
    if (thread->own.mine)
        log_warn("thread.lost", "thread %s: another orchestrator has taken it; nothing more of it is written here",
                 thread->id);
    tally_owner(thread->home->runner->options.tally, thread->home->loop, OWNER_REFUSED, 1);
    struct errand *unheard = take_unheard(thread);
    home_forget_bundles(thread->home); /* one may have been in what was refused */
    struct commit *flying = thread->flying;
    thread->flying = NULL;
    thread->holds++;
    commit_drop(&flying, &why);
    thread_forget(thread, &why);
    thread->holds--;
    thread_settle(thread);
    while (unheard) {
        struct errand *errand = unheard;
        unheard = errand->next;
        errand_again(errand, &why);
    }
}
