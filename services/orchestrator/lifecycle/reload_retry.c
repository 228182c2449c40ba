/* Threads with work left to do whose log could not be written: read again after a while, and carried on. */
#include "broken_thread.h"
#include "thread/memory.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "thread_lifecycle.h"

#include "loop/loop.h"

#include <stdlib.h>
#include <string.h>

#define RELOAD_RETRY_MS 1000

struct reload_retry {
    struct timer timer;
    struct shard *shard;
    struct reload_retry *next;
    char *tenant, *id;
};

static void end_reload_retry(struct reload_retry *reload_retry)
{
    struct reload_retry **link = &reload_retry->shard->reload_retries;
    while (*link != reload_retry)
        link = &(*link)->next;
    *link = reload_retry->next;
    loop_disarm(reload_retry->shard->loop, &reload_retry->timer);
    free(reload_retry->tenant);
    free(reload_retry->id);
    free(reload_retry);
}

void shard_end_reload_retries(struct shard *shard)
{
    while (shard->reload_retries)
        end_reload_retry(shard->reload_retries);
}

static void reload_retry_expired(struct timer *timer)
{
    struct reload_retry *reload_retry = (struct reload_retry *)timer;
    if (!reload_retry->shard->runner->draining)
        thread_settle(thread_get(reload_retry->shard, reload_retry->tenant, reload_retry->id, false));
    end_reload_retry(reload_retry);
}

void thread_reload_later(const struct thread *thread)
{
    struct reload_retry *reload_retry = xnonnull(calloc(1, sizeof *reload_retry));
    reload_retry->shard = thread->shard;
    reload_retry->next = thread->shard->reload_retries;
    thread->shard->reload_retries = reload_retry;
    reload_retry->tenant = xnonnull(strdup(thread->tenant));
    reload_retry->id = xnonnull(strdup(thread->id));
    reload_retry->timer.expired = reload_retry_expired;
    loop_arm_after(thread->shard->loop, &reload_retry->timer, RELOAD_RETRY_MS);
}
