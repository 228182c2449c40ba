/* The registry: the existing series and the places of their cells. Protected by a lock, since no call passes here. */
#include "telemetry/metrics.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "telemetry/metrics_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_FIRST 16
#define CACHE_LINE    64

size_t metric_label_count(const struct metric *metric)
{
    size_t count = 0;
    while (metric->labels[count])
        count++;
    return count;
}

size_t metric_cells(const struct metric *metric)
{
    return metric->kind == METRIC_HISTOGRAM ? metric->bound_count + 2 : 1;
}

struct metrics *metrics_create(unsigned loop_count)
{
    struct metrics *metrics = xcalloc(1, sizeof *metrics);
    metrics->loop_count = loop_count;
    metrics->shards = xcalloc(loop_count, sizeof *metrics->shards);
    metrics->registry = xcalloc(1, sizeof *metrics->registry);
    metrics->registry->cells_used = METRICS_CHUNK_CELLS; /* the first chunk is made when it is needed */
    pthread_mutex_init(&metrics->registry->lock, NULL);
    return metrics;
}

static void family_destroy(struct metric_family *family)
{
    for (struct metric_series *series = family->first; series;) {
        struct metric_series *next = series->next;
        free(series);
        series = next;
    }
    free(family->table);
    free(family);
}

void metrics_destroy(struct metrics **metrics_pointer)
{
    struct metrics *metrics = *metrics_pointer;
    if (!metrics)
        return;
    *metrics_pointer = NULL;
    struct metrics_registry *registry = metrics->registry;
    while (registry->families) {
        struct metric_family *next = registry->families->next;
        family_destroy(registry->families);
        registry->families = next;
    }
    while (registry->collectors) {
        struct metrics_collector *collector = registry->collectors;
        registry->collectors = collector->next;
        if (collector->release)
            collector->release(collector->data);
        free(collector);
    }
    for (unsigned loop = 0; loop < metrics->loop_count; loop++)
        for (size_t i = 0; i < registry->chunk_count; i++)
            free((void *)(uintptr_t)metrics->shards[loop].chunks[i]);
    pthread_mutex_destroy(&registry->lock);
    free(registry);
    free(metrics->shards);
    free(metrics);
}

struct metric_family *metrics_register(struct metrics *metrics, const struct metric *metric)
{
    struct metrics_registry *registry = metrics->registry;
    assert(metric->kind != METRIC_HISTOGRAM || (metric->bounds && metric->bound_count <= METRIC_BOUNDS_MAX));
    pthread_mutex_lock(&registry->lock);
    struct metric_family **end = &registry->families;
    while (*end && strcmp((*end)->metric->name, metric->name) != 0)
        end = &(*end)->next;
    if (!*end) {
        struct metric_family *family = xcalloc(1, sizeof *family);
        family->metrics = metrics;
        family->metric = metric;
        family->label_count = metric_label_count(metric);
        *end = family;
    }
    struct metric_family *family = *end;
    pthread_mutex_unlock(&registry->lock);
    assert(family->metric == metric); /* two metrics of the same name are our own bug */
    return family;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static void add_chunk(struct metrics *metrics)
{
    struct metrics_registry *registry = metrics->registry;
    if (registry->chunk_count == METRICS_CHUNKS_MAX)
        fatal("metrics.cells", "more than %d cells of metrics; lower a series_max",
              METRICS_CHUNKS_MAX * METRICS_CHUNK_CELLS);
    for (unsigned loop = 0; loop < metrics->loop_count; loop++) {
        size_t size = METRICS_CHUNK_CELLS * sizeof(int64_t);
        _Atomic int64_t *chunk = xnonnull(aligned_alloc(CACHE_LINE, size)); /* no line has cells of two loops */
        for (size_t i = 0; i < METRICS_CHUNK_CELLS; i++)
            atomic_init(&chunk[i], 0);
        metrics->shards[loop].chunks[registry->chunk_count] = chunk;
    }
    registry->chunk_count++;
    registry->cells_used = 0;
}

/* ---- series ------------------------------------------------------------------------------------------------------ */

/* The concatenated values, each with its NUL. */
struct key {
    char bytes[METRIC_LABELS_MAX * METRIC_LABEL_VALUE_MAX];
    size_t size;
    uint64_t hash;
};

static void metrics_key_make(struct key *key, const struct metric_family *family, const char *const *values)
{
    key->size = 0;
    for (size_t i = 0; i < family->label_count; i++) {
        const char *value = values && values[i] ? values[i] : "";
        size_t length = strnlen(value, METRIC_LABEL_VALUE_MAX - 1);
        memcpy(key->bytes + key->size, value, length);
        key->size += length;
        key->bytes[key->size++] = '\0';
    }
    key->hash = hash_bytes(key->bytes, key->size);
}

static struct metric_series **metrics_find(const struct metric_family *family, const struct key *key)
{
    struct metric_series **place = &family->table[key->hash % family->table_size];
    while (*place && !((*place)->hash == key->hash && (*place)->size == key->size &&
                       memcmp((*place)->values, key->bytes, key->size) == 0))
        place = &(*place)->chained;
    return place;
}

static void metrics_grow(struct metric_family *family)
{
    free(family->table);
    family->table_size = family->table_size ? family->table_size * 2 : BUCKETS_FIRST;
    family->table = xcalloc(family->table_size, sizeof(*family->table));
    for (struct metric_series *series = family->first; series; series = series->next) {
        struct metric_series **place = &family->table[series->hash % family->table_size];
        series->chained = *place;
        *place = series;
    }
}

static struct metric_series *metrics_series_of(struct metric_family *family, const struct key *key)
{
    if (family->count >= family->table_size)
        metrics_grow(family);
    struct metric_series **place = metrics_find(family, key);
    unsigned most = family->metric->series_max ? family->metric->series_max : METRIC_SERIES_DEFAULT_MAX;
    if (*place || family->count > most) /* `most` + 1: the series "other" */
        return *place;
    struct metric_series *series = xmalloc(sizeof *series + key->size);
    *series = (struct metric_series){.hash = key->hash, .size = key->size};
    memcpy(series->values, key->bytes, key->size);
    struct metrics *metrics = family->metrics;
    size_t count = metric_cells(family->metric);
    struct metrics_registry *registry = metrics->registry;
    if (registry->cells_used + count > METRICS_CHUNK_CELLS)
        add_chunk(metrics);
    uint32_t cell = (uint32_t)((registry->chunk_count - 1) * METRICS_CHUNK_CELLS + registry->cells_used);
    registry->cells_used += count;
    series->cell = cell;
    *place = series;
    if (family->last)
        family->last->next = series;
    else
        family->first = series;
    family->last = series;
    family->count++;
    return series;
}

uint32_t metrics_series(struct metric_family *family, const char *const *values)
{
    static const char *const others[METRIC_LABELS_MAX] = {"other", "other", "other", "other", "other", "other"};
    struct key key, other;
    metrics_key_make(&key, family, values);
    pthread_mutex_t *lock = &family->metrics->registry->lock;
    pthread_mutex_lock(lock);
    if (!family->first && family->label_count) { /* its place is kept from the beginning */
        metrics_key_make(&other, family, others);
        metrics_series_of(family, &other);
    }
    struct metric_series *series = metrics_series_of(family, &key);
    assert(series || family->first); /* only series with labels are refused, and then "other" exists */
    uint32_t cell = series ? series->cell : family->first->cell;
    pthread_mutex_unlock(lock);
    return cell;
}

int64_t metrics_value(const struct metrics *metrics, uint32_t series)
{
    int64_t sum = 0;
    for (unsigned loop = 0; loop < metrics->loop_count; loop++)
        sum += atomic_load_explicit(metrics_cell(metrics, loop, series), memory_order_relaxed);
    return sum;
}

void metrics_collect(struct metrics *metrics, void (*collect)(struct buffer *out, void *data),
                     void (*release)(void *data), void *data)
{
    struct metrics_collector *collector = xmalloc(sizeof *collector);
    *collector = (struct metrics_collector){.collect = collect, .release = release, .data = data};
    pthread_mutex_lock(&metrics->registry->lock);
    struct metrics_collector **end = &metrics->registry->collectors;
    while (*end)
        end = &(*end)->next;
    *end = collector;
    pthread_mutex_unlock(&metrics->registry->lock);
}

void metrics_uncollect(struct metrics *metrics, const void *data)
{
    pthread_mutex_lock(&metrics->registry->lock);
    for (struct metrics_collector **at = &metrics->registry->collectors; *at;) {
        struct metrics_collector *collector = *at;
        if (collector->data != data) {
            at = &collector->next;
            continue;
        }
        *at = collector->next;
        if (collector->release)
            collector->release(collector->data);
        free(collector);
    }
    pthread_mutex_unlock(&metrics->registry->lock);
}
