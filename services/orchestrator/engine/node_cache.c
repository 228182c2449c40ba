/* Results of nodes that are used again. The key covers all that a node's result depends on: the version of the agent
 * (its graph and prompts), graph and node, the node's input, and the run's configuration. Other tenants have other
 * rows. Labels, budget and names of runs and threads are left out.
 *
 *      activation ---> the row of its place ---> the same key, not too old: finished, and no attempt was made
 *                                           '--> else an attempt; its result goes there with its record
 *
 * A tenant has CACHE_PLACES; a key maps to a single place, and a new result replaces the old result there. So the bound
 * needs no count. Interrupts, degraded results and the usage are not kept.
 */
#include "node_cache.h"
#include "attempt.h"
#include "graph/agents.h"
#include "journal/journal_writer.h"
#include "log/keys.h"
#include "log/rows.h"
#include "node_request.h"
#include "state/state.h"
#include "step.h"
#include "thread/apply.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/node_response.h"
#include "thread/run.h"
#include "thread/runner_metrics.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/sha256.h"
#include "base/status.h"
#include "store/store.h"
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>

#define CACHE_PLACES    4096
#define CACHE_VALUE_MAX ((size_t)64 << 10) /* bytes of a result that is kept */

struct cache_lookup {
    struct store_scan scan;
    struct activation *activation; /* NULL: it is not wanted any more */
    struct thread *thread;
};

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static void node_cache_write_key(const struct activation *activation, uint8_t hash[SHA256_SIZE])
{
    struct buffer out;
    struct json_writer writer;
    const struct run *run = frame_run(activation->frame);
    const struct graph *graph = activation->frame->graph;
    buffer_init(&out, FRAME_MEMORY_MAX);
    buffer_printf(&out, "%s\n%s\n%s\n", run->agent->version, graph->name, activation->node->name);
    activation_write_configuration(activation, &out);
    buffer_put(&out, '\n');
    json_writer_init(&writer, &out);
    if (activation->sent)
        buffer_print(&out, activation->input);
    else
        state_write(activation->frame->state, activation->node->inputs, activation->node->input_count, &writer);
    sha256_of(buffer_text(&out), out.length, hash);
    buffer_fini(&out);
}

static void node_cache_write_place(char place[8], const uint8_t *hash)
{
    snprintf(place, 8, "%04x", (unsigned)(hash[0] << 8 | hash[1]) % CACHE_PLACES);
}

/* ---- asked ------------------------------------------------------------------------------------------------------- */

static bool node_cache_take_result(struct activation *activation, const Renga__V1__CachedResult *row)
{
    struct status ignored;
    bool same = row->key.len == SHA256_SIZE && memcmp(row->key.data, activation->cache_key, row->key.len) == 0;
    if (!same || row->expires_ms <= wall_ms() || !row->response || !response_check(activation, row->response, &ignored))
        return false;
    activation->response = xnonnull(message_copy(activation->frame->arena, &row->response->base));
    activation->written = false;
    if (!*activation->response->goto_parent && !activation_read_write(activation, &ignored)) {
        activation->response = NULL;
        return false;
    }
    return true;
}

static bool node_cache_take_row(struct activation *activation, const struct store_scan *scan)
{
    struct arena arena;
    struct status ignored;
    arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
    const Renga__V1__CachedResult *row =
        scan->status.code == OK && scan->count
            ? row_read(&arena, &renga__v1__cached_result__descriptor, &scan->rows[0], &ignored)
            : NULL;
    bool found = row && node_cache_take_result(activation, row);
    arena_fini(&arena);
    return found;
}

static void node_cache_go_on(struct activation *activation, bool found)
{
    struct run *run = frame_run(activation->frame);
    activation->cache_lookup = NULL;
    run->working--;
    runner_metrics_cache(run->thread->shard->runner->options.runner_metrics, run->thread->shard->loop, found);
    if (found) {
        activation->cached = true;
        activation->duration_ms = 0;
        activation->conflict = false;
        activation_move(activation, ACTIVATION_FINISHED);
        activation_finished(activation);
    } else if (run->stopping) {
        activation_stop(activation);
        frame_touch(activation->frame);
    } else {
        task_begin(activation);
    }
    run_pump(run);
}

static void node_cache_row_came(struct store_scan *scan)
{
    struct cache_lookup *lookup = (struct cache_lookup *)scan;
    struct thread *thread = lookup->thread;
    struct activation *activation = lookup->activation;
    if (activation)
        node_cache_go_on(activation, node_cache_take_row(activation, scan));
    store_scan_fini(scan);
    free(lookup);
    thread->holds--;
    thread_settle(thread);
}

bool cache_ask(struct activation *activation)
{
    struct key from, to;
    char place[8];
    struct thread *thread = activation->frame->thread;
    struct run *run = thread->run;
    if (!activation->node->cache_ttl_ms || activation->tries || activation->interrupts)
        return false;
    uint8_t *hash = xnonnull(arena_alloc(activation->frame->arena, SHA256_SIZE));
    node_cache_write_key(activation, hash);
    activation->cache_key = hash;
    if (run->request->bypass_node_cache)
        return false;
    struct cache_lookup *lookup = activation->cache_lookup = xnonnull(calloc(1, sizeof *lookup));
    lookup->activation = activation;
    lookup->thread = thread;
    thread->holds++;
    run->working++;
    activation_move(activation, ACTIVATION_AT_WORK);
    node_cache_write_place(place, hash);
    key_named(&from, KEY_CACHED, thread->tenant, place);
    to = from;
    to.bytes[to.size++] = '\0';
    store_scan_init(&lookup->scan, thread->shard->loop, node_cache_row_came);
    lookup->scan.from = key_bytes(&from);
    lookup->scan.to = key_bytes(&to);
    store_scan(thread->shard->runner->options.store, &lookup->scan);
    return true;
}

void cache_drop(struct activation *activation)
{
    if (!activation->cache_lookup)
        return;
    activation->cache_lookup->activation = NULL;
    activation->cache_lookup = NULL;
    frame_run(activation->frame)->working--;
}

/* ---- kept -------------------------------------------------------------------------------------------------------- */

void cache_store(const struct activation *activation)
{
    char place[8];
    struct key key;
    struct thread *thread = activation->frame->thread;
    Renga__V1__CachedResult row = RENGA__V1__CACHED_RESULT__INIT;
    if (!activation->cache_key || activation->cached || activation->state != ACTIVATION_FINISHED ||
        activation->response->n_degradations)
        return;
    Response response = *activation->response;
    response.usage = NULL;
    row.key = (ProtobufCBinaryData){.data = (uint8_t *)(uintptr_t)activation->cache_key, .len = SHA256_SIZE};
    row.expires_ms = wall_ms() + activation->node->cache_ttl_ms;
    row.response = &response;
    size_t size = renga__v1__cached_result__get_packed_size(&row);
    if (size > CACHE_VALUE_MAX)
        return;
    node_cache_write_place(place, activation->cache_key);
    key_named(&key, KEY_CACHED, thread->tenant, place);
    row_put(log_batch(thread), &key, &row.base);
    key_under(&key, KEY_THREAD_CACHED, thread->tenant, thread->id, place);
    store_put(log_batch(thread), key_bytes(&key), (struct store_bytes){"", 0});
}

bool cache_is_over(const struct store_row *kept)
{
    struct arena arena;
    struct status ignored;
    arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
    const Renga__V1__CachedResult *row = row_read(&arena, &renga__v1__cached_result__descriptor, kept, &ignored);
    bool over = !row || row->expires_ms <= wall_ms();
    arena_fini(&arena);
    return over;
}
