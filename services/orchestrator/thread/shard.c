/* The runs of a shard by id, the agent versions whose documents are in the store, and the holds of the runner. */
#include "shard.h"
#include "memory.h"
#include "run.h"
#include "thread.h"

#include "base/hash.h"
#include "store/store.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define READ_COST 4096 /* bytes: a read of no rows is work, too */

static size_t shard_run_slot(const struct shard *shard, const char *id)
{
    return hash_text(id) & (shard->run_room - 1);
}

struct run *shard_find_run(struct shard *shard, const char *tenant, const char *id)
{
    for (struct run *run = shard->runs[shard_run_slot(shard, id)]; run; run = run->shard_next)
        if (strcmp(run->id, id) == 0 && strcmp(run->thread->tenant, tenant) == 0 && run->thread->phase != THREAD_BROKEN)
            return run;
    return NULL;
}

static void shard_grow_runs(struct shard *shard)
{
    struct run **old = shard->runs;
    size_t old_room = shard->run_room;
    shard->run_room *= 2;
    shard->runs = xnonnull(calloc(shard->run_room, sizeof(*shard->runs)));
    for (size_t i = 0; i < old_room; i++)
        for (struct run *run = old[i], *next; run; run = next) {
            next = run->shard_next;
            size_t slot = shard_run_slot(shard, run->id);
            run->shard_next = shard->runs[slot];
            shard->runs[slot] = run;
        }
    free(old);
}

void shard_add_run(struct shard *shard, struct run *run)
{
    if (++shard->run_count > shard->run_room)
        shard_grow_runs(shard);
    size_t slot = shard_run_slot(shard, run->id);
    run->shard_next = shard->runs[slot];
    shard->runs[slot] = run;
    run->in_shard = true;
}

void shard_remove_run(struct shard *shard, struct run *run)
{
    struct run **link = &shard->runs[shard_run_slot(shard, run->id)];
    while (*link && *link != run)
        link = &(*link)->shard_next;
    if (*link)
        *link = run->shard_next;
    run->in_shard = false;
    shard->run_count--;
}

struct bundle_note {
    char version[65];
    struct bundle_note *next;
};

bool shard_knows_bundle(struct shard *shard, const char *version)
{
    for (struct bundle_note *note = shard->bundles; note; note = note->next)
        if (strcmp(note->version, version) == 0)
            return true;
    struct bundle_note *note = xnonnull(calloc(1, sizeof *note));
    text_cut_copy(note->version, sizeof note->version, version);
    note->next = shard->bundles;
    shard->bundles = note;
    return false;
}

void shard_clear_bundles(struct shard *shard)
{
    while (shard->bundles) {
        struct bundle_note *note = shard->bundles;
        shard->bundles = note->next;
        free(note);
    }
}

size_t read_cost(const struct store_scan *scan)
{
    size_t cost = READ_COST;
    for (size_t i = 0; i < scan->count; i++)
        cost += scan->rows[i].key.size + scan->rows[i].value.size;
    return cost;
}

struct shard *shard_of_place(struct runner *runner, uint64_t place)
{
    return &runner->shards[(place & 0x3FFFFFFF) % runner->shard_count];
}

void runner_release(struct runner *runner)
{
    if (atomic_fetch_sub(&runner->holders, 1) == 1)
        runner->unheld(runner);
}
