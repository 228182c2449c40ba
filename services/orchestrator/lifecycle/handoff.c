/* Requests for a thread that another orchestrator has are forwarded to it, or sent again. No row of the thread is
 * written.
 *
 *      at work at another    all requests are forwarded
 *      at rest at another    so are requests, but for those that have come back from there, maintenance requests,
 *                            and watchers of records on disk
 *      at rest here          a forwarded request is given back if the thread is not in memory any more: so ownership
 *                            moves to the orchestrator that receives the requests */
#include "handoff.h"
#include "broken_thread.h"
#include "cluster/membership.h"
#include "cluster/ownership.h"
#include "journal/journal_writer.h"
#include "request_queue.h"
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

static bool handoff_follows_thread(const struct request *request)
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
        if (ours ? !request->given : !handoff_follows_thread(request))
            return false;
    fail(&why, UNAVAILABLE, "thread '%s' rests at %s", thread->id, ours ? "nobody's" : thread->own.known.member);
    thread_hand_off(thread, &why, address);
    return true;
}

static bool handoff_is_at_rest(const struct thread *thread)
{
    return thread->own.known.at_rest && !thread->filling && !thread->flying && !thread_busy(thread);
}

static bool serves_given(struct thread *thread, const struct request *request)
{
    struct ownership *own = &thread->own;
    if (!own->since || own->since > request->given)
        return false;
    if (!handoff_is_at_rest(thread) || thread->subscriptions || own->known.token != request->given ||
        ++own->handed < HANDED_MAX)
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
    return !handoff_follows_thread(request) || !handoff_is_at_rest(thread) || !owner_rests_at_other(thread, address);
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

static void handoff_move_requests(struct request **from, struct request **to)
{
    while (*from) {
        struct request *request = *from;
        *from = request->next;
        request->next = *to;
        *to = request;
    }
}

/* Requests without a record on disk: of a FREE thread, all. Of a thread that was ours, the requests that wait for a run
 * are left out: it may have been accepted before. */
static struct request *handoff_take_unanswered(struct thread *thread)
{
    struct request *unanswered = NULL, *waiting;
    handoff_move_requests(&thread->first_request, &unanswered);
    if (thread->own.mine)
        return unanswered;
    waiting = commit_take_waiters(thread->filling);
    handoff_move_requests(&waiting, &unanswered);
    waiting = commit_take_waiters(thread->flying);
    handoff_move_requests(&waiting, &unanswered);
    for (struct run *run = thread->run ? thread->run : thread->queue; run;
         run = run == thread->run ? thread->queue : run->next) {
        handoff_move_requests(&run->waiters, &unanswered);
        handoff_move_requests(&run->quiet_waiters, &unanswered);
    }
    return unanswered;
}

void thread_lose(struct thread *thread)
{
    struct status why = {0};
    fail(&why, UNAVAILABLE, "thread '%s' went to another orchestrator; ask again", thread->id);
    if (thread->own.mine)
        log_warn("thread.lost", "thread %s: another orchestrator has taken it; nothing more of it is written here",
                 thread->id);
    runner_metrics_owner(thread->shard->runner->options.runner_metrics, thread->shard->loop, OWNER_REFUSED, 1);
    struct request *unanswered = handoff_take_unanswered(thread);
    shard_clear_bundles(thread->shard); /* one may have been in what was refused */
    struct commit *flying = thread->flying;
    thread->flying = NULL;
    thread->holds++;
    commit_drop(&flying, &why);
    thread_unload(thread, &why);
    thread->holds--;
    thread_settle(thread);
    while (unanswered) {
        struct request *request = unanswered;
        unanswered = request->next;
        request_retry(request, &why);
    }
}
