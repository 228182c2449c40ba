/* A hash table of playbooks and a list by last use. A lookup holds the lock for a few hundred nanoseconds; a playbook
 * that leaves is released outside of it. */
#include "playbook_cache.h"

#include "base/hash.h"
#include "base/memory.h"
#include "playbook_rows.h"
#include "record/key_lock.h"
#include "telemetry/metrics.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

struct playbook_entry {
    struct playbook *playbook;
    size_t bytes;                         /* as they were counted last */
    struct playbook_entry *next;          /* in its bucket */
    struct playbook_entry *newer, *older; /* by last use */
};

struct playbooks *playbooks_create(const struct playbooks_options *options)
{
    struct playbooks *playbooks = xcalloc(1, sizeof *playbooks);
    playbooks->buckets = xcalloc(BUCKETS, sizeof(*playbooks->buckets));
    playbooks->options = *options;
    playbooks->key_locks = key_locks_create();
    pthread_mutex_init(&playbooks->lock, NULL);
    return playbooks;
}

/* ---- the list and the table -------------------------------------------------------------------------------------- */

static struct playbook_entry **playbook_cache_place_of(struct playbooks *playbooks, const char *tenant,
                                                       const char *dataset)
{
    struct playbook_entry **at = &playbooks->buckets[hash_more_text(hash_text(tenant), dataset) % BUCKETS];
    while (*at && (strcmp((*at)->playbook->tenant, tenant) != 0 || strcmp((*at)->playbook->dataset, dataset) != 0))
        at = &(*at)->next;
    return at;
}

static void playbook_cache_list_remove(struct playbooks *playbooks, struct playbook_entry *entry)
{
    *(entry->newer ? &entry->newer->older : &playbooks->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &playbooks->oldest) = entry->newer;
}

static void list_put_first(struct playbooks *playbooks, struct playbook_entry *entry)
{
    entry->newer = NULL;
    entry->older = playbooks->newest;
    *(playbooks->newest ? &playbooks->newest->newer : &playbooks->oldest) = entry;
    playbooks->newest = entry;
}

static void recount(struct playbooks *playbooks, struct playbook_entry *entry)
{
    size_t bytes = entry->playbook->memory + sizeof *entry + atomic_load(&entry->playbook->slot->bytes);
    playbooks->bytes += bytes - entry->bytes;
    entry->bytes = bytes;
}

/* The entry leaves; its playbook is the caller's. */
static struct playbook *playbook_cache_take_out(struct playbooks *playbooks, struct playbook_entry *entry)
{
    struct playbook *playbook = entry->playbook;
    *playbook_cache_place_of(playbooks, playbook->tenant, playbook->dataset) = entry->next;
    playbook_cache_list_remove(playbooks, entry);
    playbooks->bytes -= entry->bytes;
    playbooks->count--;
    free(entry);
    return playbook;
}

/* One that is too much, or NULL. */
static struct playbook *evict(struct playbooks *playbooks)
{
    struct playbook_entry *oldest = playbooks->oldest;
    if (!oldest || playbooks->bytes <= playbooks->options.bytes_max)
        return NULL;
    playbooks->evicted++;
    return playbook_cache_take_out(playbooks, oldest);
}

static void evict_all(struct playbooks *playbooks)
{
    bool more = true;
    while (more) {
        pthread_mutex_lock(&playbooks->lock);
        struct playbook *gone = evict(playbooks);
        pthread_mutex_unlock(&playbooks->lock);
        more = gone != NULL;
        playbook_release(&gone);
    }
}

/* ---- for the methods --------------------------------------------------------------------------------------------- */

static struct playbook *playbook_cache_look(struct playbooks *playbooks, const char *tenant, const char *dataset,
                                            int64_t incarnation, const int64_t *version)
{
    struct playbook *found = NULL;
    pthread_mutex_lock(&playbooks->lock);
    struct playbook_entry *entry = *playbook_cache_place_of(playbooks, tenant, dataset);
    if (entry && entry->playbook->incarnation == incarnation && (!version || entry->playbook->version == *version)) {
        found = playbook_hold(entry->playbook);
        playbook_cache_list_remove(playbooks, entry);
        list_put_first(playbooks, entry);
        recount(playbooks, entry);
    }
    pthread_mutex_unlock(&playbooks->lock);
    return found;
}

struct playbook *playbook_cache_find(struct playbooks *playbooks, const char *tenant, const char *dataset,
                                     const struct playbook_head *head)
{
    struct playbook *found = playbook_cache_look(playbooks, tenant, dataset, head->incarnation, &head->version);
    atomic_fetch_add(found ? &playbooks->hits : &playbooks->misses, 1);
    return found;
}

struct playbook *playbook_cache_any(struct playbooks *playbooks, const char *tenant, const char *dataset,
                                    int64_t incarnation)
{
    return playbook_cache_look(playbooks, tenant, dataset, incarnation, NULL);
}

void playbook_cache_put(struct playbooks *playbooks, struct playbook *playbook)
{
    struct playbook_entry *made = xcalloc(1, sizeof *made);
    struct playbook *gone = NULL;
    pthread_mutex_lock(&playbooks->lock);
    struct playbook_entry **at = playbook_cache_place_of(playbooks, playbook->tenant, playbook->dataset);
    bool newer =
        !*at || (*at)->playbook->incarnation != playbook->incarnation || (*at)->playbook->version < playbook->version;
    if (newer) {
        if (*at)
            gone = playbook_cache_take_out(playbooks, *at);
        *made = (struct playbook_entry){.playbook = playbook_hold(playbook), .next = *at};
        *at = made;
        list_put_first(playbooks, made);
        recount(playbooks, made);
        playbooks->count++;
    }
    pthread_mutex_unlock(&playbooks->lock);
    if (!newer)
        free(made);
    playbook_release(&gone);
    evict_all(playbooks);
}

void playbook_cache_drop(struct playbooks *playbooks, const char *tenant, const char *dataset)
{
    struct playbook *gone = NULL;
    pthread_mutex_lock(&playbooks->lock);
    struct playbook_entry **at = playbook_cache_place_of(playbooks, tenant, dataset);
    if (*at)
        gone = playbook_cache_take_out(playbooks, *at);
    pthread_mutex_unlock(&playbooks->lock);
    playbook_release(&gone);
}

void playbooks_destroy(struct playbooks **playbooks_pointer)
{
    struct playbooks *playbooks = *playbooks_pointer;
    *playbooks_pointer = NULL;
    if (!playbooks)
        return;
    playbooks->options.bytes_max = 0;
    evict_all(playbooks);
    key_locks_destroy(&playbooks->key_locks);
    pthread_mutex_destroy(&playbooks->lock);
    free(playbooks->buckets);
    free(playbooks);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static void show_counter(struct buffer *out, const struct metric *metric, atomic_uint_fast64_t *value)
{
    metrics_show(out, metric, NULL, (double)atomic_load(value));
}

void playbooks_show(struct buffer *out, struct playbooks *playbooks)
{
    static const struct metric
        bytes = {.name = "renga_playbook_cache_bytes",
                 .help = "Memory of the playbooks that are cached, with their indexes.",
                 .kind = METRIC_GAUGE},
        count = {.name = "renga_playbook_cached", .help = "Playbooks that are cached.", .kind = METRIC_GAUGE},
        evicted = {.name = "renga_playbook_cache_evicted_total", .help = "Playbooks that left the cache for others."},
        hits = {.name = "renga_playbook_cache_hits_total", .help = "Playbooks that were read from the cache."},
        misses = {.name = "renga_playbook_cache_misses_total", .help = "Playbooks that were read from the store."},
        caught_up = {.name = "renga_playbook_caught_up_total",
                     .help = "Playbooks of an earlier revision that were brought to the current one by its changes."},
        changes = {.name = "renga_playbook_changes_total", .help = "Revisions that were made."},
        unchanged = {.name = "renga_playbook_unchanged_total", .help = "Requests that changed no bullet."},
        repeated = {.name = "renga_playbook_repeated_total",
                    .help = "Requests that were answered as before, by their request_id."},
        conflicts = {.name = "renga_playbook_conflicts_total",
                     .help = "Changes made anew, since another tool-runner was first."},
        dropped = {.name = "renga_playbook_dropped_total", .help = "Bullets that left for a token budget."},
        proposed = {.name = "renga_playbook_proposed_total", .help = "Operations that were proposed to a person."},
        damaged = {.name = "renga_playbook_damaged_total", .help = "Requests that met a row that cannot be read."};
    pthread_mutex_lock(&playbooks->lock);
    size_t used = playbooks->bytes, cached = playbooks->count;
    uint64_t gone = playbooks->evicted;
    pthread_mutex_unlock(&playbooks->lock);
    metrics_show(out, &bytes, NULL, (double)used);
    metrics_show(out, &count, NULL, (double)cached);
    metrics_show(out, &evicted, NULL, (double)gone);
    show_counter(out, &hits, &playbooks->hits);
    show_counter(out, &misses, &playbooks->misses);
    show_counter(out, &caught_up, &playbooks->caught_up);
    show_counter(out, &changes, &playbooks->changes);
    show_counter(out, &unchanged, &playbooks->unchanged);
    show_counter(out, &repeated, &playbooks->repeated);
    show_counter(out, &conflicts, &playbooks->conflicts);
    show_counter(out, &dropped, &playbooks->dropped);
    show_counter(out, &proposed, &playbooks->proposed);
    show_counter(out, &damaged, &playbooks->damaged);
}
