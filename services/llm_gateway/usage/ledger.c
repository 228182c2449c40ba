/* The ledger's life cycle, and its functions for calls. */
#include "usage/ledger_priv.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "telemetry/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SUMS_MAX         65536u /* distinct ones that wait for the file; some 20 MB */
#define FLUSH_DEFAULT_MS 1000
#define MEMORY_KEEP_DAYS 1 /* retention of runs and threads without a file */

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

int64_t ledger_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

void ledger_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t at_ns)
{
    struct timespec at = {.tv_sec = at_ns / NS_PER_SEC, .tv_nsec = at_ns % NS_PER_SEC};
    if (at_ns == TIME_NEVER)
        pthread_cond_wait(condition, lock);
    else
        pthread_cond_timedwait(condition, lock, &at);
}

static void condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void ledger_free(struct ledger *ledger)
{
    sums_destroy(&ledger->pending);
    sums_destroy(&ledger->writer.taken);
    pthread_mutex_destroy(&ledger->lock);
    pthread_cond_destroy(&ledger->writer_wake);
    pthread_cond_destroy(&ledger->reader_wake);
    pthread_cond_destroy(&ledger->flushed);
    free(ledger->path);
    free(ledger);
}

static void stop_writer(struct ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    ledger->closing = true;
    pthread_cond_signal(&ledger->writer_wake);
    pthread_mutex_unlock(&ledger->lock);
    pthread_join(ledger->writer_thread, NULL);
}

static void stop_reader(struct ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    atomic_store(&ledger->reader_closing, true);
    pthread_cond_signal(&ledger->reader_wake);
    pthread_cond_broadcast(&ledger->flushed);
    pthread_mutex_unlock(&ledger->lock);
    pthread_join(ledger->reader_thread, NULL);
}

static bool ledger_start_threads(struct ledger *ledger, struct status *st)
{
    int failure = pthread_create(&ledger->writer_thread, NULL, ledger_writer_run, ledger);
    if (failure)
        return fail(st, RESOURCE_EXHAUSTED, "no thread for the accounts: %s", strerror(failure));
    failure = pthread_create(&ledger->reader_thread, NULL, ledger_reader_run, ledger);
    if (!failure)
        return true;
    stop_writer(ledger);
    return fail(st, RESOURCE_EXHAUSTED, "no thread for the accounts: %s", strerror(failure));
}

/* Days of retention of runs: fewer in memory. */
static int64_t keep_runs_days(const struct ledger *ledger, int64_t days)
{
    return ledger->in_memory && (days == 0 || days > MEMORY_KEEP_DAYS) ? MEMORY_KEEP_DAYS : days;
}

static bool name_path(struct ledger *ledger, const char *path)
{
    ledger->in_memory = !path || !path[0];
    if (!ledger->in_memory)
        return (ledger->path = strdup(path)) != NULL;
    return asprintf(&ledger->path, SQL_MEMORY "ledger-%016" PRIx64, random_u64()) >= 0;
}

struct ledger *ledger_create(const struct ledger_options *options, struct status *st)
{
    struct ledger *ledger = calloc(1, sizeof *ledger);
    if (!ledger || !name_path(ledger, options->path)) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the accounts");
        free(ledger);
        return NULL;
    }
    ledger->flush_ms = options->flush_ms ? options->flush_ms : FLUSH_DEFAULT_MS;
    ledger->keep_runs_days = keep_runs_days(ledger, options->keep_runs_days);
    pthread_mutex_init(&ledger->lock, NULL);
    condition_init(&ledger->writer_wake);
    condition_init(&ledger->reader_wake);
    condition_init(&ledger->flushed);
    ledger->pending = sums_create(SUMS_MAX);
    ledger->writer.taken = sums_create(SUMS_MAX);
    bool memory = ledger->pending && ledger->writer.taken;
    if (!memory)
        fail(st, RESOURCE_EXHAUSTED, "no memory for the accounts");
    if (memory && ledger_start_threads(ledger, st))
        return ledger;
    ledger_free(ledger);
    return NULL;
}

static void close_window(struct ledger *ledger)
{
    if (!ledger->window)
        return;
    pthread_mutex_lock(&ledger->window->lock);
    ledger->window->ledger = NULL;
    pthread_mutex_unlock(&ledger->window->lock);
}

void ledger_destroy(struct ledger **ledger)
{
    if (!*ledger)
        return;
    close_window(*ledger);
    stop_reader(*ledger);
    stop_writer(*ledger);
    ledger_free(*ledger);
    *ledger = NULL;
}

/* ---- noting ------------------------------------------------------------------------------------------------------ */

static void count_entry(const struct ledger_entry *entry, int64_t counts[SUM_COUNTS])
{
    static const Renga__V1__Usage none = RENGA__V1__USAGE__INIT;
    const Renga__V1__Usage *usage = entry->usage ? entry->usage : &none;
    counts[SUM_INPUT] = usage->input_tokens;
    counts[SUM_OUTPUT] = usage->output_tokens;
    counts[SUM_CACHED_INPUT] = usage->cached_input_tokens;
    counts[SUM_CACHE_WRITE] = usage->cache_write_tokens;
    counts[SUM_REASONING] = usage->reasoning_tokens;
    counts[SUM_MODEL_CALLS] = usage->model_calls;
    counts[SUM_TOOL_CALLS] = usage->tool_calls;
    counts[SUM_COST] = usage->cost_micros;
    counts[SUM_ESTIMATED] = usage->estimated;
    counts[SUM_CALLS] = 1;
    counts[SUM_FAILED] = entry->failed;
    counts[SUM_CANCELLED] = entry->cancelled;
    counts[SUM_CACHED] = entry->cached;
    counts[SUM_UNPRICED] = usage->unpriced_calls;
}

void ledger_note(struct ledger *ledger, const struct ledger_entry *entry)
{
    const char *const names[SUM_NAMES] = {
        [SUM_CLIENT] = entry->client,         [SUM_TENANT] = entry->tenant, [SUM_MODEL] = entry->model,
        [SUM_DEPLOYMENT] = entry->deployment, [SUM_RUN] = entry->run_id,    [SUM_THREAD] = entry->thread_id,
    };
    int64_t counts[SUM_COUNTS];
    count_entry(entry, counts);
    pthread_mutex_lock(&ledger->lock);
    sums_add(ledger->pending, entry->ended_ms > 0 ? entry->ended_ms / QUARTER_MS : 0, names, counts);
    ledger->entries++;
    if (!ledger->pending_since_ns) {
        ledger->pending_since_ns = ledger_clock_ns();
        pthread_cond_signal(&ledger->writer_wake);
    }
    pthread_mutex_unlock(&ledger->lock);
}

/* ---- how it goes ------------------------------------------------------------------------------------------------- */

void ledger_stats(struct ledger *ledger, struct ledger_stats *stats)
{
    pthread_mutex_lock(&ledger->lock);
    int64_t since_ns = ledger->taken_since_ns ? ledger->taken_since_ns : ledger->pending_since_ns;
    *stats = (struct ledger_stats){
        .entries = ledger->entries,
        .written = ledger->written,
        .failures = ledger->failures,
        .behind_ms = since_ns ? (ledger_clock_ns() - since_ns) / NS_PER_MS : 0,
        .pending = sums_count(ledger->pending) + ledger->taken_count,
    };
    pthread_mutex_unlock(&ledger->lock);
}

static const struct metric entries = {
    .name = "renga_ledger_entries_total", .help = "Calls that were entered in the accounts.", .kind = METRIC_COUNTER};
static const struct metric written = {
    .name = "renga_ledger_sums_written_total", .help = "Sums that were written to the file.", .kind = METRIC_COUNTER};
static const struct metric failures = {.name = "renga_ledger_write_failures_total",
                                       .help = "Times that the file could not be written.",
                                       .kind = METRIC_COUNTER};
static const struct metric pending = {
    .name = "renga_ledger_pending_sums", .help = "Sums that wait to be written.", .kind = METRIC_GAUGE};
static const struct metric behind = {
    .name = "renga_ledger_behind_seconds", .help = "Age of the oldest sum that is not written.", .kind = METRIC_GAUGE};

static void show(struct buffer *out, void *data)
{
    struct ledger_window *window = data;
    pthread_mutex_lock(&window->lock);
    if (window->ledger) {
        struct ledger_stats stats;
        ledger_stats(window->ledger, &stats);
        metrics_show(out, &entries, NULL, (double)stats.entries);
        metrics_show(out, &written, NULL, (double)stats.written);
        metrics_show(out, &failures, NULL, (double)stats.failures);
        metrics_show(out, &pending, NULL, stats.pending);
        metrics_show(out, &behind, NULL, (double)stats.behind_ms / 1000);
    }
    pthread_mutex_unlock(&window->lock);
}

static void window_free(void *data)
{
    struct ledger_window *window = data;
    pthread_mutex_destroy(&window->lock);
    free(window);
}

void ledger_show(struct ledger *ledger, struct metrics *metrics)
{
    struct ledger_window *window = xcalloc(1, sizeof *window);
    pthread_mutex_init(&window->lock, NULL);
    window->ledger = ledger;
    ledger->window = window;
    metrics_collect(metrics, show, window_free, window);
}
