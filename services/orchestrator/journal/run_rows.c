#include "run_rows.h"
#include "graph/agents.h"
#include "journal_writer.h"
#include "log/ids.h"
#include "log/keys.h"
#include "log/rows.h"
#include "thread/memory.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "store/store.h"

void log_write_name(struct run *run)
{
    struct key key;
    struct thread *thread = run->thread;
    const struct agent *agent = run->agent;
    key_numbered(&key, KEY_THREAD_RUN, thread->tenant, thread->id, run->number);
    row_put_run_name(log_batch(thread), &key, run->id, agent->version);
    if (shard_knows_bundle(thread->shard, agent->version))
        return;
    key_named(&key, KEY_BUNDLE, "", agent->version);
    store_put(log_batch(thread), key_bytes(&key), (struct store_bytes){agent->bundle_json, agent->bundle_size});
}

void log_unlist_version(struct run *run)
{
    struct key key;
    struct thread *thread = run->thread;
    if (!*run->listed_version)
        return;
    key_under(&key, KEY_VERSION, thread->tenant, run->request->agent, run->id);
    store_delete(log_batch(thread), key_bytes(&key));
    if (run->listed_before) {
        key_old_version(&key, thread->tenant, run->request->agent, run->listed_version, run->id);
        store_delete(log_batch(thread), key_bytes(&key));
    }
    *run->listed_version = '\0';
}

void log_write_version(struct run *run)
{
    struct key key;
    struct thread *thread = run->thread;
    bool open = run->state < RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED;
    const char *wanted = open ? run->begun->graph_version : "";
    if (strcmp(run->listed_version, wanted) == 0)
        return;
    log_unlist_version(run);
    if (!*wanted)
        return;
    char packed[ID_VERSION_MAX];
    key_under(&key, KEY_VERSION, thread->tenant, run->request->agent, run->id);
    store_put(log_batch(thread), key_bytes(&key), (struct store_bytes){packed, id_pack_version(wanted, packed)});
    text_cut_copy(run->listed_version, sizeof run->listed_version, wanted);
}

int64_t log_pause_ends_ms(const struct run *run)
{
    return run->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING ? run_pause_expires_ms(run, run->updated_ms) : 0;
}

void log_write_pause(const struct run *run)
{
    struct key key;
    struct thread *thread = run->thread;
    int64_t expires_ms = log_pause_ends_ms(run);
    if (!expires_ms)
        return;
    key_timed(&key, KEY_INTERRUPT_TIMEOUT, expires_ms, thread->tenant, thread->id);
    store_put(log_batch(thread), key_bytes(&key), (struct store_bytes){"s", 1});
}
