#include "ownership_state.h"
#include "runner_metrics.h"
#include "shard.h"
#include "thread.h"

int64_t owner_token(const struct thread *thread)
{
    if (!thread->shard->runner->membership)
        return 0;
    return (int64_t)thread->own.known.token + (thread->own.mine ? 0 : 1);
}

void owner_clear(struct thread *thread)
{
    if (thread->own.mine)
        runner_metrics_owner(thread->shard->runner->options.runner_metrics, thread->shard->loop, OWNER_HELD, -1);
    thread->own.mine = false;
}
