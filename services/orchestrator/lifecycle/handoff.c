/* A thread that another orchestrator has: what was asked of it here is asked there, or anew. Nothing of it is written.
 *
 *      at work at another    all is asked there
 *      at rest at another    so are requests; but not those that have come back from there, nor
 *                            maintenance requests, nor watchers that only want what is on disk
 *      at rest here          what others have handed on is given back with the thread where that is not in memory
 *                            any more, so that it wanders off to who is asked for it */
#include "handoff.h"
#include "broken_thread.h"
#include "cluster/membership.h"
#include "cluster/ownership.h"
#include "journal/journal_writer.h"
#include "request.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/run.h"
#include "thread/runner_metrics.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/log.h"
#include "base/status.h"

#define HANDED_MAX                                                                                                     \
    64 /* requests that others hand on; then the thread goes after them, so that no load is pinned here */

static void handoff_point(struct request *request, const struct thread *thread, const char *address)
{
    request->handoff_address = xnonnull(arena_strdup(request->arena, address));
    request->thread_token = thread->own.known.token;
    request->at_rest = thread->own.known.at_rest;
}

void thread_hand_off(struct thread *thread, struct status *why, const char *address)
{
    why->code = UNAVAILABLE;
    for (struct request *request = thread->first_request; request; request = request->next)
        if (request->message)
            handoff_point(request, thread, address);
    thread_unload(thread, why);
}

/* ---- at rest ----------------------------------------------------------------------------------------------------- */

static bool is_watch_of_the_past(const ProtobufCMessage *message)
{
    return message->descriptor == &renga__v1__watch_run_request__descriptor &&
           !((const Renga__V1__WatchRunRequest *)message)->follow;
}

static bool follows(const struct request *request)
{
    return request->message && !request->returned && !is_watch_of_the_past(request->message);
}

bool thread_stays_handed_off(struct thread *thread)
{
    struct status why = {0};
    char address[MEMBER_ADDRESS_MAX];
    bool ours = !owner_rests_at_other(thread, address);
    if (!thread->own.known.at_rest || !thread->first_request)
        return false;
    for (const struct request *request = thread->first_request; request; request = request->next)
        if (ours ? !request->given : !follows(request))
            return false;
    fail(&why, UNAVAILABLE, "thread '%s' rests at %s", thread->id, ours ? "nobody's" : thread->own.known.member);
    thread_hand_off(thread, &why, address);
    return true;
}

static bool is_still(const struct thread *thread)
{
    return thread->own.known.at_rest && !thread->filling && !thread->flying && !thread_busy(thread);
}

static bool serves_given(struct thread *thread, const struct request *request)
{
    struct ownership *own = &thread->own;
    if (!own->since || own->since > request->given)
        return false;
    if (!is_still(thread) || thread->subscriptions || own->known.token != request->given || ++own->handed < HANDED_MAX)
        return true;
    own->handed = 0;
    return false;
}

static bool handoff_is_served(struct thread *thread, const struct request *request, char address[MEMBER_ADDRESS_MAX])
{
    const struct ownership *own = &thread->own;
    *address = '\0';
    if (request->given)
        return serves_given(thread, request);
    if (request->returned)
        return own->known.token == request->returned || own->since == request->returned + 1;
    return !follows(request) || !is_still(thread) || !owner_rests_at_other(thread, address);
}

bool thread_serves(struct thread *thread, struct request *request)
{
    struct status why = {0};
    char address[MEMBER_ADDRESS_MAX];
    if (!thread->shard->runner->membership || handoff_is_served(thread, request, address))
        return true;
    fail(&why, UNAVAILABLE, "thread '%s' goes from one orchestrator to another; ask again", thread->id);
    handoff_point(request, thread, address);
    request_fail(request, &why, NULL);
    return false;
}

/* ---- lost -------------------------------------------------------------------------------------------------------- */

static void take_all(struct request **from, struct request **to)
{
    while (*from) {
        struct request *request = *from;
        *from = request->next;
        request->next = *to;
        *to = request;
    }
}

/* Those of whom nothing is on disk: of a thread that was nobody's, all. Of one that was ours, runs that others wait for
 * may have been accepted long since. */
static struct request *take_unheard(struct thread *thread)
{
    struct request *unheard = NULL, *waiting;
    take_all(&thread->first_request, &unheard);
    if (thread->own.mine)
        return unheard;
    waiting = commit_take_waiters(thread->filling);
    take_all(&waiting, &unheard);
    waiting = commit_take_waiters(thread->flying);
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
    runner_metrics_owner(thread->shard->runner->options.runner_metrics, thread->shard->loop, OWNER_REFUSED, 1);
    struct request *unheard = take_unheard(thread);
    shard_clear_bundles(thread->shard); /* one may have been in what was refused */
    struct commit *flying = thread->flying;
    thread->flying = NULL;
    thread->holds++;
    commit_drop(&flying, &why);
    thread_unload(thread, &why);
    thread->holds--;
    thread_settle(thread);
    while (unheard) {
        struct request *request = unheard;
        unheard = request->next;
        request_retry(request, &why);
    }
}
