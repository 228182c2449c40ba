#include "prune_at_end.h"
#include "journal/journal_writer.h"
#include "log/keys.h"
#include "thread/retention_limits.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/snapshot.h"
#include "thread/thread.h"

#include "store/store.h"

static bool prune_at_end_fits(const struct thread *thread)
{
    return retention_limits_of(thread->shard->runner, thread->retention).max_checkpoints == 1 &&
           !thread->subscriptions && thread->head && thread->last == thread->head && snapshot_possible(thread) &&
           log_snapshot_fits(thread);
}

static void prune_before(struct thread *thread, enum key_kind kind, uint64_t number)
{
    struct key first, cut;
    key_numbered(&first, kind, thread->tenant, thread->id, 0);
    key_numbered(&cut, kind, thread->tenant, thread->id, number);
    store_delete_range(log_batch(thread), key_bytes(&first), key_bytes(&cut));
}

void prune_at_end(struct run *run)
{
    struct thread *thread = run->thread;
    if (run->request->durability != RENGA__V1__DURABILITY__DURABILITY_EXIT || !prune_at_end_fits(thread))
        return;
    prune_before(thread, KEY_RECORD, thread->head);
    prune_before(thread, KEY_SNAPSHOT, thread->head);
    log_snapshot_now(thread);
}
