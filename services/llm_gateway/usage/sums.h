/* Sums of usage in memory: one for each quarter of an hour and combination of names. Bounded: beyond a number of
 * sums, a new entry is added without its run and thread, and beyond another without any name, so that no money is
 * lost. Not thread-safe. */
#ifndef RENGA_LLM_GATEWAY_SUMS_H
#define RENGA_LLM_GATEWAY_SUMS_H

#include <stddef.h>
#include <stdint.h>

/* The finest time unit: days begin at a multiple of it in all time zones, and rows stay few. */
#define QUARTER_MS INT64_C(900000)

#define SUM_NAME_MAX 128 /* bytes; a longer name is cut at a character */
#define SUM_RUN_MAX  64
/* Larger counts of a call are cut to this: every sum of sums then fits an int64_t. */
#define SUM_ENTRY_MAX INT64_C(1000000000000)

/* The counts and their columns; SUM_ESTIMATED are calls whose usage is an estimate. */
#define SUM_COUNTS_TABLE(ROW)                                                                                          \
    ROW(SUM_INPUT, "input_tokens")                                                                                     \
    ROW(SUM_OUTPUT, "output_tokens")                                                                                   \
    ROW(SUM_CACHED_INPUT, "cached_input_tokens")                                                                       \
    ROW(SUM_CACHE_WRITE, "cache_write_tokens")                                                                         \
    ROW(SUM_REASONING, "reasoning_tokens")                                                                             \
    ROW(SUM_MODEL_CALLS, "model_calls")                                                                                \
    ROW(SUM_TOOL_CALLS, "tool_calls")                                                                                  \
    ROW(SUM_COST, "cost_micros")                                                                                       \
    ROW(SUM_ESTIMATED, "estimated_calls")                                                                              \
    ROW(SUM_CALLS, "calls")                                                                                            \
    ROW(SUM_FAILED, "failed_calls")                                                                                    \
    ROW(SUM_CANCELLED, "cancelled_calls")                                                                              \
    ROW(SUM_CACHED, "cached_calls")                                                                                    \
    ROW(SUM_UNPRICED, "unpriced_calls") /* since version 2 of the file */

#define SUM_NAMES_TABLE(ROW)                                                                                           \
    ROW(SUM_CLIENT, "client")                                                                                          \
    ROW(SUM_TENANT, "tenant")                                                                                          \
    ROW(SUM_MODEL, "model")                                                                                            \
    ROW(SUM_DEPLOYMENT, "deployment")                                                                                  \
    ROW(SUM_RUN, "run")                                                                                                \
    ROW(SUM_THREAD, "thread")

#define ROW(row, column) row,
enum sum_count { SUM_COUNTS_TABLE(ROW) SUM_COUNTS };
enum sum_name { SUM_NAMES_TABLE(ROW) SUM_NAMES };
#undef ROW

/* In memory the names stand one after the other, each with its NUL. */
#define SUM_KEY_MAX (sizeof(int64_t) + SUM_NAMES * (SUM_NAME_MAX + 1))

struct sum {
    struct sum *chained, *next;
    uint64_t hash;
    int64_t counts[SUM_COUNTS];
    size_t size;
    char key[]; /* the quarter as an int64_t, then the names */
};

struct sums;

/* `most` sums have all their names. */
struct sums *sums_create(unsigned most);
void sums_destroy(struct sums **sums);
void sums_clear(struct sums *sums);

/* `quarter` since 1970; NULL names count as "". */
void sums_add(struct sums *sums, int64_t quarter, const char *const names[SUM_NAMES], const int64_t counts[SUM_COUNTS]);

unsigned sums_count(const struct sums *sums);
const struct sum *sums_first(const struct sums *sums);
int64_t sum_quarter(const struct sum *sum);
void sum_names(const struct sum *sum, const char *names[SUM_NAMES]);

/* A number of bytes, the same in every process for the same seed. */
uint64_t sums_hash(const void *bytes, size_t size, uint64_t seed);

#endif
