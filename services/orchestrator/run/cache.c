/* Results of nodes that are used again. The key covers all that a node's result depends on: the version of the agent
 * (its graph and prompts), graph and node, the node's input, and the run's configuration. Other tenants have other
 * rows. Labels, budget and names of runs and threads are left out.
 *
 *      due ---> the row of its place ---> the same key, not too old: finished, and no attempt was made
 *                                    '--> else an attempt; its result goes there with the record that has it
 *
 * A tenant has CACHE_PLACES; a key maps to a single place, and a new result replaces the old result there. So the bound
 * needs no count. Questions, degraded results and the usage are not kept.
 */
#include "attempt.h"
#include "keep.h"
#include "run_priv.h"

#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>

#define CACHE_PLACES    4096
#define CACHE_VALUE_MAX ((size_t)64 << 10) /* bytes of a result that is kept */

struct cache_lookup {
    struct store_scan scan;
    struct due *due; /* NULL: it is not wanted any more */
    struct thread *thread;
};

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static void write_key(const struct due *due, uint8_t hash[SHA256_DIGEST_LENGTH])
{
    struct buffer out;
    struct json_writer writer;
    const struct run *run = frame_run(due->frame);
    const struct graph *graph = due->frame->graph;
    buffer_init(&out, FRAME_MEMORY_MAX);
    buffer_printf(&out, "%s\n%s\n%s\n", run->agent->version, graph->name, due->node->name);
    due_write_configuration(due, &out);
    buffer_put(&out, '\n');
    json_writer_init(&writer, &out);
    if (due->sent)
        buffer_print(&out, due->input);
    else
        state_write(due->frame->state, due->node->inputs, due->node->input_count, &writer);
    SHA256((const uint8_t *)buffer_text(&out), out.length, hash);
    buffer_fini(&out);
}

static void write_place(char place[8], const uint8_t *hash)
{
    snprintf(place, 8, "%04x", (unsigned)(hash[0] << 8 | hash[1]) % CACHE_PLACES);
}

/* ---- asked ------------------------------------------------------------------------------------------------------- */

static bool take_result(struct due *due, const Renga__V1__CachedResult *row)
{
    struct status ignored;
    bool same = row->key.len == SHA256_DIGEST_LENGTH && memcmp(row->key.data, due->cache_key, row->key.len) == 0;
    if (!same || row->expires_ms <= wall_ms() || !row->response || !response_check(due, row->response, &ignored))
        return false;
    due->response = need(message_copy(due->frame->arena, &row->response->base));
    due->written = false;
    if (!*due->response->goto_parent && !due_read_write(due, &ignored)) {
        due->response = NULL;
        return false;
    }
    return true;
}

static bool is_found(struct due *due, const struct store_scan *scan)
{
    struct arena arena;
    struct status ignored;
    arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
    const Renga__V1__CachedResult *row =
        scan->status.code == OK && scan->count
            ? row_read(&arena, &renga__v1__cached_result__descriptor, &scan->rows[0], &ignored)
            : NULL;
    bool found = row && take_result(due, row);
    arena_fini(&arena);
    return found;
}

static void go_on(struct due *due, bool found)
{
    struct run *run = frame_run(due->frame);
    due->cache_lookup = NULL;
    run->working--;
    tally_cache(run->thread->home->runner->options.tally, run->thread->home->loop, found);
    if (found) {
        due->cached = true;
        due->duration_ms = 0;
        due->conflict = false;
        due->state = DUE_FINISHED;
        due_finished(due);
    } else if (run->stopping) {
        due_stop(due);
        frame_touch(due->frame);
    } else {
        task_begin(due);
    }
    run_pump(run);
}

static void row_came(struct store_scan *scan)
{
    struct cache_lookup *lookup = (struct cache_lookup *)scan;
    struct thread *thread = lookup->thread;
    struct due *due = lookup->due;
    if (due)
        go_on(due, is_found(due, scan));
    store_scan_fini(scan);
    free(lookup);
    thread->holds--;
    thread_settle(thread);
}

bool cache_ask(struct due *due)
{
    struct key from, to;
    char place[8];
    struct thread *thread = due->frame->thread;
    struct run *run = thread->run;
    if (!due->node->cache_ttl_ms || due->tries || due->questions)
        return false;
    uint8_t *hash = need(arena_alloc(due->frame->arena, SHA256_DIGEST_LENGTH));
    write_key(due, hash);
    due->cache_key = hash;
    if (run->request->bypass_node_cache)
        return false;
    struct cache_lookup *lookup = due->cache_lookup = need(calloc(1, sizeof *lookup));
    lookup->due = due;
    lookup->thread = thread;
    thread->holds++;
    run->working++;
    due->state = DUE_AT_WORK;
    write_place(place, hash);
    key_named(&from, KEY_CACHED, thread->tenant, place);
    to = from;
    to.bytes[to.size++] = '\0';
    store_scan_init(&lookup->scan, thread->home->loop, row_came);
    lookup->scan.from = key_bytes(&from);
    lookup->scan.to = key_bytes(&to);
    store_scan(thread->home->runner->options.store, &lookup->scan);
    return true;
}

void cache_drop(struct due *due)
{
    if (!due->cache_lookup)
        return;
    due->cache_lookup->due = NULL;
    due->cache_lookup = NULL;
    frame_run(due->frame)->working--;
}

/* ---- kept -------------------------------------------------------------------------------------------------------- */

void cache_keep(const struct due *due)
{
    char place[8];
    struct key key;
    struct thread *thread = due->frame->thread;
    Renga__V1__CachedResult row = RENGA__V1__CACHED_RESULT__INIT;
    if (!due->cache_key || due->cached || due->state != DUE_FINISHED || due->response->n_degradations)
        return;
    Response response = *due->response;
    response.usage = NULL;
    row.key = (ProtobufCBinaryData){.data = (uint8_t *)(uintptr_t)due->cache_key, .len = SHA256_DIGEST_LENGTH};
    row.expires_ms = wall_ms() + due->node->cache_ttl_ms;
    row.response = &response;
    size_t size = renga__v1__cached_result__get_packed_size(&row);
    if (size > CACHE_VALUE_MAX)
        return;
    write_place(place, due->cache_key);
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
