/* Threads whose time is over. The sweep deletes them from the disk periodically; until then no request finds them:
 *
 *      a request that reads or continues the thread   NOT_FOUND
 *      a request that makes a thread of this name     waits until the old thread is erased, and is served then
 *      DeleteThread                                   is served */
#include "lifecycle/request_queue.h"
#include "retention.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/request_type.h"
#include "thread/retention_limits.h"
#include "thread/runner_metrics.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include <stdlib.h>

static bool expire_is_over(const struct thread *thread)
{
    return thread->exists && !thread->unreadable && !thread->deleted && !thread_busy(thread) &&
           retention_is_over(thread->shard->runner, thread->retention, thread->updated_ms);
}

/* The turn of the maintenance request itself counts as 1 hold. */
static bool expire_may_erase(const struct thread *thread)
{
    return !thread->held && thread->holds <= 1;
}

void expire_thread(struct request *request, struct thread *thread)
{
    if (!expire_is_over(thread) || !expire_may_erase(thread)) {
        request_answer(request);
        return;
    }
    runner_metrics_expired(thread->shard->runner->options.runner_metrics, thread->shard->loop);
    erase_thread(request, thread);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

struct expired_request {
    struct request maintenance;
    struct request *request; /* that waits */
};

static void expire_erased(struct request *maintenance)
{
    struct expired_request *expired_request = maintenance->owner;
    if (maintenance->status.code == OK)
        request_retry(expired_request->request, &maintenance->status);
    else
        request_fail(expired_request->request, &maintenance->status, NULL);
    free(expired_request);
}

static void expire_replace(struct request *request, struct thread *thread)
{
    struct expired_request *expired_request = xnonnull(calloc(1, sizeof *expired_request));
    expired_request->request = request;
    expired_request->maintenance =
        (struct request){.loop = thread->shard->loop, .answered = expire_erased, .owner = expired_request};
    expire_thread(&expired_request->maintenance, thread);
}

bool expire_serves(struct request *request, struct thread *thread)
{
    if (request->maintenance || !expire_is_over(thread) || request->type->traits & REQUEST_DELETES_THREAD)
        return false;
    if (!(request->type->traits & REQUEST_MAKES_THREAD))
        request_refuse(request, NULL, NOT_FOUND, "there is no %s '%.128s'", request->run_id ? "run" : "thread",
                       request->run_id ? request->run_id : thread->id);
    else if (expire_may_erase(thread))
        expire_replace(request, thread);
    else
        request_refuse(request, NULL, UNAVAILABLE, "thread '%s' has expired and is still in use; ask again",
                       thread->id);
    return true;
}
