/* The private interface of metrics.c and metrics_text.c. */
#ifndef RENGA_TELEMETRY_METRICS_PRIV_H
#define RENGA_TELEMETRY_METRICS_PRIV_H

#include "telemetry/metrics.h"

#include <pthread.h>

struct metric_series {
    struct metric_series *next, *chained;
    uint64_t hash;
    uint32_t cell;
    size_t size;
    char values[]; /* one after the other, each with its NUL */
};

struct metric_family {
    struct metrics *metrics;
    struct metric_family *next;
    const struct metric *metric;
    size_t label_count;
    struct metric_series *first, *last; /* the first is "other" if there are labels */
    struct metric_series **table;
    size_t table_size, count;
};

struct metrics_collector {
    struct metrics_collector *next;
    void (*collect)(struct buffer *out, void *data);
    void (*release)(void *data);
    void *data;
};

struct metrics_registry {
    pthread_mutex_t lock;
    struct metric_family *families;
    struct metrics_collector *collectors;
    size_t chunk_count, cells_used; /* cells_used: of the last chunk */
};

size_t metric_label_count(const struct metric *metric);
size_t metric_cells(const struct metric *metric);

#endif
