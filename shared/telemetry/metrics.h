/* Metrics, as Prometheus reads them.
 *
 * A metric is a const row. A series is one combination of its label values; it is looked up once and then known by a
 * number, its first cell. Each loop has cells of its own and is their only writer, so counting costs a load and a store
 * without contention; a scrape sums the loops.
 *
 *      static const struct metric tokens = {.name = "renga_tokens_total", .help = "Tokens by model and direction.",
 *                                           .kind = METRIC_COUNTER, .labels = {"model", "direction"}};
 *      struct metric_family *family = metrics_register(metrics, &tokens);
 *      uint32_t series = metrics_series(family, (const char *[]){"gpt-5", "input"});       // once
 *      metrics_add(metrics, loop_index(loop), series, 42);                                 // from inside that loop
 *
 * Cells are whole numbers in a unit of the metric's choice; `scale` turns them into the unit that is shown, so that
 * seconds may be counted in nanoseconds and money in millionths, exactly. */
#ifndef RENGA_TELEMETRY_METRICS_H
#define RENGA_TELEMETRY_METRICS_H

#include "base/buffer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METRIC_LABELS_MAX         6
#define METRIC_SERIES_DEFAULT_MAX 1000
#define METRIC_LABEL_VALUE_MAX    128 /* bytes; a longer value is cut */
#define METRICS_CHUNK_CELLS       512
#define METRICS_CHUNKS_MAX        1024
#define METRIC_BOUNDS_MAX         64

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric {
    const char *name, *help;
    enum metric_kind kind;
    const char *labels[METRIC_LABELS_MAX + 1]; /* ends with NULL */
    const int64_t *bounds;                     /* of a histogram's buckets, rising; without the infinite one */
    size_t bound_count;
    double scale;        /* shown = cell × scale; 0: 1 */
    unsigned series_max; /* further series are counted in one whose label values are all "other"; 0: the default */
};

struct metric_family;
struct metrics_registry;

struct metrics_shard {
    _Atomic int64_t *chunks[METRICS_CHUNKS_MAX];
};

struct metrics {
    unsigned loop_count;
    struct metrics_shard *shards; /* one a loop */
    struct metrics_registry *registry;
};

struct metrics *metrics_create(unsigned loop_count);
void metrics_destroy(struct metrics **metrics);

/* Any thread. The row is borrowed for as long as the metrics live; the same row again gives the same family. */
struct metric_family *metrics_register(struct metrics *metrics, const struct metric *metric);

/* Any thread; takes a lock. One value for each label, copied; NULL counts as "". */
uint32_t metrics_series(struct metric_family *family, const char *const *values);

static inline _Atomic int64_t *metrics_cell(const struct metrics *metrics, unsigned loop, uint32_t cell)
{
    return &metrics->shards[loop].chunks[cell / METRICS_CHUNK_CELLS][cell % METRICS_CHUNK_CELLS];
}

/* From inside loop `loop`: the cell has no other writer. For counters and gauges. */
static inline void metrics_add(const struct metrics *metrics, unsigned loop, uint32_t series, int64_t n)
{
    _Atomic int64_t *cell = metrics_cell(metrics, loop, series);
    int64_t value = atomic_load_explicit(cell, memory_order_relaxed);
    atomic_store_explicit(cell, value + n, memory_order_relaxed);
}

/* A gauge's share of this loop. */
static inline void metrics_set(const struct metrics *metrics, unsigned loop, uint32_t series, int64_t value)
{
    atomic_store_explicit(metrics_cell(metrics, loop, series), value, memory_order_relaxed);
}

/* Of a histogram: its buckets, then its sum. `metric` is the row it was registered with. */
static inline void metrics_observe(const struct metrics *metrics, unsigned loop, const struct metric *metric,
                                   uint32_t series, int64_t value)
{
    size_t low = 0, high = metric->bound_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (value > metric->bounds[middle])
            low = middle + 1;
        else
            high = middle;
    }
    metrics_add(metrics, loop, series + (uint32_t)low, 1);
    metrics_add(metrics, loop, series + (uint32_t)metric->bound_count + 1, value);
}

/* ---- being read -------------------------------------------------------------------------------------------------- */

/* For values that are computed on demand: `collect` runs within each scrape, in the scraper's thread, and calls
 * metrics_show. `release` (may be NULL) runs on `data` when the metrics are destroyed. */
void metrics_collect(struct metrics *metrics, void (*collect)(struct buffer *out, void *data),
                     void (*release)(void *data), void *data);
/* No more of them: those of this `data` are released now. Not from within a scrape. */
void metrics_uncollect(struct metrics *metrics, const void *data);
/* One sample with the metric's HELP and TYPE; and further ones of the same metric, straight after it. */
void metrics_show(struct buffer *out, const struct metric *metric, const char *const *values, double value);
void metrics_show_more(struct buffer *out, const struct metric *metric, const char *const *values, double value);

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Any thread. Text exposition format 0.0.4. */
void metrics_write(struct metrics *metrics, struct buffer *out);

/* The sum over all loops; for tests, and for decisions by a count. */
int64_t metrics_value(const struct metrics *metrics, uint32_t series);

#endif
