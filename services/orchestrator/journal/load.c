/* A thread from its log: the last snapshot, then the records behind it, page by page. The documents that its runs are
 * pinned to are read from the store if they are not in memory. Long rows are read by a worker thread, and so are the
 * state of a long snapshot, and a long input or change by hand. The loop takes over the result. */
#include "load.h"
#include "graph/agents.h"
#include "log/keys.h"
#include "state/state.h"
#include "thread/apply.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/shard.h"
#include "thread/snapshot.h"
#include "thread/thread.h"

#include "base/status.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>

#define PAGE_ROWS  1000
#define PAGE_BYTES ((size_t)8 << 20)

static void load_read_page(struct loader *loader);
static void load_go_on(struct loader *loader);

void load_end(struct loader *loader)
{
    struct agents *agents = loader->thread->shard->runner->options.agents;
    load_drop_row(loader);
    load_drop_reader(loader);
    state_destroy(&loader->state);
    store_scan_fini(&loader->scan);
    arena_fini(&loader->arena);
    for (size_t i = 0; i < loader->held_count; i++)
        agent_release(agents, loader->held[i]);
    loader->held_count = 0;
    loader->loaded(loader);
}

static struct loader *of_scan(struct store_scan *scan)
{
    return CONTAINER_OF(scan, struct loader, scan);
}

/* ---- documents --------------------------------------------------------------------------------------------------- */

static void load_hold(struct loader *loader, struct agent *agent)
{
    struct agents *agents = loader->thread->shard->runner->options.agents;
    size_t room = sizeof loader->held / sizeof(*loader->held);
    if (loader->held_count == room)
        agent_release(agents, loader->held[--loader->held_count]);
    loader->held[loader->held_count++] = agent;
}

static void bundle_came(struct store_scan *scan)
{
    struct loader *loader = CONTAINER_OF(scan, struct loader, bundle);
    struct status ignored = {0};
    struct agent *agent = NULL;
    if (scan->status.code != OK)
        loader->status = scan->status;
    else if (scan->count)
        agent = agents_of_bundle(loader->thread->shard->runner->options.agents, scan->rows[0].value.bytes,
                                 scan->rows[0].value.size, &ignored);
    if (agent)
        load_hold(loader, agent);
    if (loader->status.code == OK && scan->count && (!agent || strcmp(agent->version, loader->missing) != 0))
        fail(&loader->status, DATA_LOSS, "thread '%s': the documents of version %s are damaged", loader->thread->id,
             loader->missing);
    store_scan_fini(scan);
    if (loader->status.code != OK)
        load_end(loader);
    else
        load_go_on(loader);
}

/* True if it is in memory, or is known not to exist; else it is read, and go_on runs later. */
static bool has_version(struct loader *loader, const char *version)
{
    struct key from;
    char last[sizeof from.bytes];
    struct agent *agent = *version ? thread_agent_for(loader->thread, version) : NULL;
    if (agent)
        load_hold(loader, agent);
    if (agent || !*version || strcmp(loader->missing, version) == 0)
        return true;
    text_cut_copy(loader->missing, sizeof loader->missing, version);
    key_named(&from, KEY_BUNDLE, "", version);
    memcpy(last, from.bytes, from.size);
    last[from.size] = '\0';
    store_scan_init(&loader->bundle, loader->thread->shard->loop, bundle_came);
    loader->bundle.from = key_bytes(&from);
    loader->bundle.to = (struct store_bytes){last, from.size + 1};
    store_scan(loader->thread->shard->runner->options.store, &loader->bundle);
    return false;
}

static bool has_versions(struct loader *loader)
{
    const Renga__V1__ThreadSnapshot *snapshot = loader->snapshot;
    for (; snapshot && loader->wanted <= snapshot->n_runs; loader->wanted++)
        if (!has_version(loader, loader->wanted ? snapshot->runs[loader->wanted - 1]->begun->graph_version
                                                : snapshot->graph_version))
            return false;
    return true;
}

/* ---- a parent ---------------------------------------------------------------------------------------------------- */

struct way_back {
    struct loader loader; /* first */
    struct loader *from;
    uint64_t record;
};

static void parent_came(struct loader *loader)
{
    struct way_back *way = (struct way_back *)loader;
    struct loader *from = way->from;
    struct thread *past = loader->thread;
    from->status = loader->status;
    if (from->status.code == OK && past->head != loader->upto)
        fail(&from->status, DATA_LOSS, "thread '%s': record %llu builds on record %llu, which is no checkpoint",
             from->thread->id, (unsigned long long)way->record, (unsigned long long)loader->upto);
    if (from->status.code == OK) {
        from->parent_read_for = way->record;
        from->thread->head = past->head;
        from->thread->ways_back += past->ways_back + 1;
        frame_reset_activations(past->root);
        thread_adopt(from->thread, past);
    } else {
        thread_free(past);
    }
    free(way);
    if (from->status.code == OK)
        load_go_on(from);
    else
        load_end(from);
}

/* Reads the parent state of a record that is too large for a snapshot; go_on runs later. */
static void load_go_back(struct loader *loader, uint64_t parent, uint64_t record)
{
    struct way_back *way = xnonnull(calloc(1, sizeof *way));
    way->loader.upto = parent;
    way->loader.loaded = parent_came;
    way->loader.thread = thread_new(loader->thread->shard, loader->thread->tenant, loader->thread->id);
    way->from = loader;
    way->record = record;
    loader_start(&way->loader);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* A function that applies a part of a record does not know the record's number. */
static bool load_names_record(const struct status *st, uint64_t number)
{
    char name[32];
    snprintf(name, sizeof name, "record %llu ", (unsigned long long)number);
    return strstr(st->text, name);
}

/* A record that its thread refuses is damaged, for every reason. */
static bool load_apply_record(struct loader *loader, const Record *record, uint64_t number)
{
    struct status *st = &loader->status;
    if (apply_record(loader->thread, record, number, st))
        return true;
    if (st->code == OK)
        return fail(st, DATA_LOSS, "thread '%s': record %llu does not fit what is before it", loader->thread->id,
                    (unsigned long long)number);
    if (st->code != NOT_FOUND && st->code != RESOURCE_EXHAUSTED && st->code != DATA_LOSS)
        fail(st, DATA_LOSS, "thread '%s': record %llu: %s", loader->thread->id, (unsigned long long)number, st->text);
    else if (st->code == DATA_LOSS && !load_names_record(st, number))
        fail(st, DATA_LOSS, "record %llu: %s", (unsigned long long)number, st->text);
    return false;
}

/* False: it is not the one that is expected here. */
static bool load_check_number(struct loader *loader, const Record *record, uint64_t number)
{
    struct status *st = &loader->status;
    uint64_t wanted = loader->thread->last + 1;
    bool recovered = record->goes_on && record->goes_on->recovered;
    if (number != wanted &&
        !(recovered && record->goes_on->after + 1 == wanted)) /* pruned while it was read, or lost */
        return fail(st, DATA_LOSS, "thread '%s': record %llu is not there, but %llu is", loader->thread->id,
                    (unsigned long long)wanted, (unsigned long long)number);
    if (record->parent >= number) /* it would be read for ever */
        return fail(st, DATA_LOSS, "thread '%s': record %llu builds on record %llu, which is not before it",
                    loader->thread->id, (unsigned long long)number, (unsigned long long)record->parent);
    return true;
}

/* True if it can be applied now; else go_on runs later. */
static bool has_all(struct loader *loader, const Record *record, uint64_t number)
{
    if (record->parent && loader->parent_read_for != number) {
        load_go_back(loader, record->parent, number);
        return false;
    }
    if (record->begun && !has_version(loader, record->begun->graph_version))
        return false;
    if (!record->begun && record->migrated && !has_version(loader, record->migrated->graph_version))
        return false;
    if (loader->has_prepared || !load_wants_prepared(loader, record, number))
        return true;
    load_work(loader, load_prepare, load_go_on);
    return false;
}

/* `waits`: go_on runs later, or has run; the loader is not to be touched any more. */
static bool load_apply_row(struct loader *loader, const struct store_row *row, bool *waits)
{
    struct thread *thread = loader->thread;
    uint64_t number = key_number(row->key);
    if (!loader->has_row) {
        loader->has_row = true;
        arena_init(&loader->row_arena, NULL, 0, RECORD_MEMORY_MAX);
        if (row->value.size > LOAD_INLINE_MAX) {
            *waits = true;
            load_work(loader, load_read_record, load_go_on);
            return true;
        }
        load_read_record(&loader->job);
    }
    const Record *record = loader->record;
    if (!record || !load_check_number(loader, record, number))
        return false;
    if (!has_all(loader, record, number))
        return *waits = true;
    thread->prepared = loader->prepared.change ? &loader->prepared : NULL;
    thread->replays = true;
    bool good = load_apply_record(loader, record, number);
    thread->replays = false;
    thread->prepared = NULL;
    if (good) {
        thread->since_snapshot += row->value.size;
        thread->steps_since += record->step != NULL;
    }
    load_drop_row(loader);
    return good;
}

static void read_snapshot(struct loader *loader)
{
    const Renga__V1__ThreadSnapshot *snapshot = loader->snapshot;
    if (!has_versions(loader))
        return;
    if (load_wants_state(loader)) {
        load_work(loader, load_read_state, load_go_on);
        return;
    }
    loader->snapshot = NULL;
    bool good = snapshot_read(loader->thread, snapshot, loader->from - 1, &loader->state, &loader->status);
    load_drop_reader(loader);
    if (good) {
        load_read_page(loader);
        return;
    }
    if (loader->status.code == INVALID_ARGUMENT || loader->status.code == FAILED_PRECONDITION)
        loader->status.code = DATA_LOSS;
    load_end(loader);
}

static void load_go_on(struct loader *loader)
{
    bool waits = false;
    if (loader->snapshot) {
        read_snapshot(loader);
        return;
    }
    for (; loader->row < loader->scan.count; loader->row++) {
        bool good = load_apply_row(loader, &loader->scan.rows[loader->row], &waits);
        if (waits)
            return;
        if (!good) {
            load_end(loader);
            return;
        }
    }
    if (!loader->scan.more) {
        load_end(loader);
        return;
    }
    loader->from = key_number(loader->scan.rows[loader->scan.count - 1].key) + 1;
    store_scan_fini(&loader->scan);
    load_read_page(loader);
}

static void load_page_came(struct store_scan *scan)
{
    struct loader *loader = of_scan(scan);
    loader->status = scan->status;
    loader->row = 0;
    if (loader->status.code != OK)
        load_end(loader);
    else
        load_go_on(loader);
}

static void load_start_scan(struct loader *loader, enum key_kind kind, uint64_t from, uint64_t to,
                            void (*done)(struct store_scan *scan))
{
    struct key first, last;
    struct thread *thread = loader->thread;
    key_numbered(&first, kind, thread->tenant, thread->id, from);
    key_numbered(&last, kind, thread->tenant, thread->id, to);
    store_scan_init(&loader->scan, thread->shard->loop, done);
    loader->scan.from = key_bytes(&first);
    loader->scan.to = key_bytes(&last);
    loader->scan.backwards = kind == KEY_SNAPSHOT;
    loader->scan.limit = kind == KEY_SNAPSHOT ? 1 : PAGE_ROWS;
    loader->scan.bytes_max = PAGE_BYTES;
    store_scan(thread->shard->runner->options.store, &loader->scan);
}

static void load_read_page(struct loader *loader)
{
    load_start_scan(loader, KEY_RECORD, loader->from, loader->upto + 1, load_page_came);
}

static void snapshot_is_read(struct loader *loader)
{
    if (loader->status.code != OK) {
        load_end(loader);
        return;
    }
    store_scan_fini(&loader->scan);
    if (loader->snapshot)
        load_go_on(loader);
    else
        load_read_page(loader);
}

static void snapshot_came(struct store_scan *scan)
{
    struct loader *loader = of_scan(scan);
    loader->status = scan->status;
    loader->from = 1;
    if (loader->status.code == OK && scan->count) {
        loader->from = key_number(scan->rows[0].key) + 1;
        loader->thread->snapshot_size = scan->rows[0].value.size;
        if (scan->rows[0].value.size > LOAD_INLINE_MAX) {
            load_work(loader, load_read_snapshot, snapshot_is_read);
            return;
        }
        load_read_snapshot(&loader->job);
    }
    snapshot_is_read(loader);
}

void loader_start(struct loader *loader)
{
    arena_init(&loader->arena, NULL, 0, RECORD_MEMORY_MAX);
    if (!loader->upto)
        loader->upto = UINT64_MAX - 1;
    load_start_scan(loader, KEY_SNAPSHOT, 0, loader->upto + 1, snapshot_came);
}
