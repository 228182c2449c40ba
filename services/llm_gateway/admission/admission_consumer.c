/* Clients and tenants by name. The names come from keys, so the operator bounds their number. When the table is
 * full, all further names share one entry, with the limits for consumers without a row of their own. */
#include "admission_priv.h"

#include "base/hash.h"
#include "base/log.h"
#include "rpc/auth.h"

#include <stdlib.h>
#include <string.h>

uint32_t admission_name_hash(const char *name)
{
    return (uint32_t)hash_text(name);
}

static void set_limits(struct admission_consumer *consumer, const struct limits *limits, bool only_weights,
                       int64_t now_ns)
{
    consumer->weight = limits->weight ? limits->weight : 1;
    if (only_weights)
        return;
    consumer->concurrency = limits->concurrency;
    admission_bucket_limit(&consumer->requests, limits->requests_per_minute, now_ns);
    admission_bucket_limit(&consumer->tokens, limits->tokens_per_minute, now_ns);
    consumer->spend.limit = limits->micros_per_day;
    consumer->spend.counted = consumer->budgeted;
    if (!consumer->budgeted)
        consumer->spend.spent = 0; /* and the amount of the ledger */
    consumer->budgeted = limits->requests_per_minute || limits->tokens_per_minute || limits->micros_per_day;
}

static struct admission_consumer *consumer_create(const struct admission_consumers *consumers, const char *name,
                                                  uint32_t hash, const struct limits *limits)
{
    struct admission_consumer *consumer = calloc(1, sizeof *consumer);
    char *copy = strdup(name);
    if (!consumer || !copy) {
        free(consumer);
        free(copy);
        return NULL;
    }
    consumer->name = copy;
    consumer->hash = hash;
    consumer->tenant = consumers->tenants;
    set_limits(consumer, limits, consumers->only_weights, 0);
    for (int i = 0; i < ADMISSION_PRIORITIES; i++) {
        consumer->flows[i].client = consumer;
        admission_list_init(&consumer->flows[i].tickets);
    }
    return consumer;
}

static void consumer_free(struct admission_consumer *consumer)
{
    free(consumer->name);
    free(consumer);
}

static struct admission_consumer *consumer_add(struct admission_consumers *consumers, const char *name, uint32_t hash,
                                               const struct limits *limits)
{
    struct admission_consumer *consumer = consumer_create(consumers, name, hash, limits);
    struct admission_consumer **head = &consumers->buckets[hash % ADMISSION_CONSUMER_BUCKETS];
    if (!consumer)
        return NULL;
    consumer->next = *head;
    *head = consumer;
    consumers->count++;
    return consumer;
}

static struct admission_consumer *admission_consumer_known(struct admission_consumers *consumers, const char *name,
                                                           uint32_t hash)
{
    struct admission_consumer *consumer = consumers->buckets[hash % ADMISSION_CONSUMER_BUCKETS];
    while (consumer && (consumer->hash != hash || strcmp(consumer->name, name) != 0))
        consumer = consumer->next;
    return consumer;
}

static int admission_consumer_by_name(const void *name, const void *row)
{
    return strcmp(name, ((const struct limits_row *)row)->name);
}

/* Rows are sorted by name. */
static const struct limits *limits_of(const struct limits_table *table, const char *name)
{
    const struct limits_row *row =
        table->count ? bsearch(name, table->rows, table->count, sizeof *row, admission_consumer_by_name) : NULL;
    return row ? &row->limits : &table->fallback;
}

struct admission_consumer *admission_consumer_find(struct admission_consumers *consumers, const char *name,
                                                   uint32_t hash)
{
    struct admission_consumer *consumer = admission_consumer_known(consumers, name, hash);
    if (!consumer && consumers->count < consumers->count_max)
        consumer = consumer_add(consumers, name, hash, &consumers->fallback);
    return consumer ? consumer : consumers->others;
}

void admission_consumers_init(struct admission_consumers *consumers, const struct limits_table *table)
{
    static const struct limits_table none;
    if (!table)
        table = &none;
    consumers->fallback = table->fallback;
    consumers->count_max = RPC_AUTH_KEYS_MAX + table->count;
    consumers->others = consumer_create(consumers, "others", 0, &table->fallback);
    bool made = consumers->others != NULL;
    for (size_t i = 0; i < table->count && made; i++) {
        const struct limits_row *row = &table->rows[i];
        uint32_t hash = admission_name_hash(row->name);
        made = admission_consumer_known(consumers, row->name, hash) ||
               consumer_add(consumers, row->name, hash, &row->limits);
    }
    if (!made)
        fatal("llm_gateway.memory", "no memory for the limits of %zu names", table->count);
}

void admission_consumers_limit(struct admission_consumers *consumers, const struct limits_table *table, int64_t now_ns)
{
    size_t count_max = RPC_AUTH_KEYS_MAX + table->count;
    consumers->fallback = table->fallback;
    consumers->count_max = count_max > consumers->count_max ? count_max : consumers->count_max;
    set_limits(consumers->others, &table->fallback, consumers->only_weights, now_ns);
    for (size_t i = 0; i < ADMISSION_CONSUMER_BUCKETS; i++)
        for (struct admission_consumer *consumer = consumers->buckets[i]; consumer; consumer = consumer->next)
            set_limits(consumer, limits_of(table, consumer->name), consumers->only_weights, now_ns);
    for (size_t i = 0; i < table->count; i++) {
        const struct limits_row *row = &table->rows[i];
        uint32_t hash = admission_name_hash(row->name);
        if (!admission_consumer_known(consumers, row->name, hash) &&
            !consumer_add(consumers, row->name, hash, &row->limits))
            fatal("llm_gateway.memory", "no memory for the limits of %zu names", table->count);
    }
}

void admission_consumers_fini(struct admission_consumers *consumers)
{
    for (size_t i = 0; i < ADMISSION_CONSUMER_BUCKETS; i++) {
        for (struct admission_consumer *consumer = consumers->buckets[i], *next; consumer; consumer = next) {
            next = consumer->next;
            consumer_free(consumer);
        }
    }
    consumer_free(consumers->others);
}
