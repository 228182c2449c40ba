/* A thread that another orchestrator has: what was asked of it here is asked there, or anew. Nothing of it is written.
 *
 *      at work at another    all is asked there
 *      at rest at another    so are requests; but not those that have come back from there, nor chores, nor watchers
 *                            that only want what is on disk
 *      at rest here          what others have handed on is given back with the thread where that is not in memory
 *                            any more, so that it wanders off to who is asked for it */
#include "errand.h"
#include "run_priv.h"

#include "base/log.h"

#define HANDED_MAX                                                                                                     \
    64 /* requests that others hand on; then the thread goes after them, so that no load is pinned here */

static void point_elsewhere(struct errand *errand, const struct thread *thread, const char *address)
{
    errand->elsewhere = need(arena_strdup(errand->arena, address));
    errand->thread_token = thread->own.known.token;
    errand->at_rest = thread->own.known.at_rest;
}

void thread_go_elsewhere(struct thread *thread, struct status *why, const char *address)
{
    why->code = UNAVAILABLE;
    for (struct errand *errand = thread->first_errand; errand; errand = errand->next)
        if (errand->request)
            point_elsewhere(errand, thread, address);
    thread_forget(thread, why);
}

/* ---- at rest ----------------------------------------------------------------------------------------------------- */

static bool is_watch_of_the_past(const ProtobufCMessage *request)
{
    return request->descriptor == &renga__v1__watch_run_request__descriptor &&
           !((const Renga__V1__WatchRunRequest *)request)->follow;
}

static bool follows(const struct errand *errand)
{
    return errand->request && !errand->returned && !is_watch_of_the_past(errand->request);
}

bool thread_stays_elsewhere(struct thread *thread)
{
    struct status why = {0};
    char address[MEMBER_ADDRESS_MAX];
    bool ours = !owner_rests_elsewhere(thread, address);
    if (!thread->own.known.at_rest || !thread->first_errand)
        return false;
    for (const struct errand *errand = thread->first_errand; errand; errand = errand->next)
        if (ours ? !errand->given : !follows(errand))
            return false;
    fail(&why, UNAVAILABLE, "thread '%s' rests at %s", thread->id, ours ? "nobody's" : thread->own.known.member);
    thread_go_elsewhere(thread, &why, address);
    return true;
}

static bool is_still(const struct thread *thread)
{
    return thread->own.known.at_rest && !thread->filling && !thread->flying && !thread_busy(thread);
}

static bool serves_given(struct thread *thread, const struct errand *errand)
{
    struct ownership *own = &thread->own;
    if (!own->since || own->since > errand->given)
        return false;
    if (!is_still(thread) || thread->seats || own->known.token != errand->given || ++own->handed < HANDED_MAX)
        return true;
    own->handed = 0;
    return false;
}

static bool is_served(struct thread *thread, const struct errand *errand, char address[MEMBER_ADDRESS_MAX])
{
    const struct ownership *own = &thread->own;
    *address = '\0';
    if (errand->given)
        return serves_given(thread, errand);
    if (errand->returned)
        return own->known.token == errand->returned || own->since == errand->returned + 1;
    return !follows(errand) || !is_still(thread) || !owner_rests_elsewhere(thread, address);
}

bool thread_serves(struct thread *thread, struct errand *errand)
{
    struct status why = {0};
    char address[MEMBER_ADDRESS_MAX];
    if (!thread->home->runner->members || is_served(thread, errand, address))
        return true;
    fail(&why, UNAVAILABLE, "thread '%s' goes from one orchestrator to another; ask again", thread->id);
    point_elsewhere(errand, thread, address);
    errand_fail(errand, &why, NULL);
    return false;
}

/* ---- lost -------------------------------------------------------------------------------------------------------- */

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
