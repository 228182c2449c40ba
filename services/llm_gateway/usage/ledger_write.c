/* The writer thread: takes the pending sums, writes them, and merges old days while it is idle.
 *
 * A taken batch stays taken until it is written. It is therefore the same in every attempt, and its number
 * identifies it; new notes gather in `pending` meanwhile. */
#include "usage/ledger_priv.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"

#include <inttypes.h>

#define RETRY_FACTOR_MAX 30 /* of flush_ms, to which the time between tries doubles up */
#define FOLD_EVERY_NS    (3600 * NS_PER_SEC)

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void close_file(struct ledger_writer *writer)
{
    sql_finalize(&writer->upsert);
    sql_close(&writer->database);
}

/* Writing to a file that was deleted or moved away would succeed, and be lost. */
static bool ledger_write_open_file(struct ledger *ledger, struct status *st)
{
    struct ledger_writer *writer = &ledger->writer;
    if (writer->database && !ledger->in_memory && sql_moved(writer->database))
        close_file(writer);
    if (!writer->database)
        writer->database = ledger_open(ledger, st);
    if (writer->database && !writer->upsert)
        writer->upsert = ledger_upsert(writer->database, st);
    return writer->upsert != NULL;
}

/* True: there are sums to write. */
static bool take_pending(struct ledger *ledger)
{
    struct ledger_writer *writer = &ledger->writer;
    pthread_mutex_lock(&ledger->lock);
    struct sums *taken = ledger->pending;
    ledger->pending = writer->taken;
    writer->taken = taken;
    ledger->taken_count = sums_count(taken);
    ledger->taken_since_ns = ledger->pending_since_ns;
    ledger->pending_since_ns = 0;
    pthread_mutex_unlock(&ledger->lock);
    writer->batch = (int64_t)(random_u64() >> 1);
    writer->in_doubt = false;
    return sums_count(taken) > 0;
}

static bool write_taken(struct ledger *ledger, struct status *st)
{
    struct ledger_writer *writer = &ledger->writer;
    if (!ledger_write(writer->database, writer->upsert, writer->taken, writer->batch, writer->in_doubt, st)) {
        writer->in_doubt = true;
        return false;
    }
    pthread_mutex_lock(&ledger->lock);
    ledger->written += ledger->taken_count;
    ledger->taken_count = 0;
    ledger->taken_since_ns = 0;
    pthread_mutex_unlock(&ledger->lock);
    sums_clear(writer->taken);
    return true;
}

/* A file that failed is opened anew; one in memory would be gone. */
static bool ledger_write_flush(struct ledger *ledger, struct status *st)
{
    struct ledger_writer *writer = &ledger->writer;
    bool flushed = ledger_write_open_file(ledger, st) && (sums_count(writer->taken) == 0 || write_taken(ledger, st)) &&
                   (!take_pending(ledger) || write_taken(ledger, st));
    if (!flushed && !ledger->in_memory)
        close_file(writer);
    return flushed;
}

/* ---- how it went ------------------------------------------------------------------------------------------------- */

static void flush_succeeded(struct ledger *ledger, int64_t complete_ms)
{
    struct ledger_writer *writer = &ledger->writer;
    if (writer->failing_since_ns)
        log_info("ledger.recovered", "the accounts are written again, after %" PRId64 " s",
                 (ledger_clock_ns() - writer->failing_since_ns) / NS_PER_SEC);
    writer->failing_since_ns = 0;
    writer->retry_ms = 0;
    pthread_mutex_lock(&ledger->lock);
    ledger->complete_ms = complete_ms;
    status_clear(&ledger->trouble);
    pthread_mutex_unlock(&ledger->lock);
}

static void flush_failed(struct ledger *ledger, const struct status *why)
{
    struct ledger_writer *writer = &ledger->writer;
    if (!writer->failing_since_ns) {
        writer->failing_since_ns = ledger_clock_ns();
        log_error("ledger.unwritable",
                  "the accounts in '%s' cannot be written: %s; what calls use is kept in memory until they can",
                  ledger->path, why->text);
    }
    int64_t longest_ms = ledger->flush_ms * RETRY_FACTOR_MAX;
    writer->retry_ms = writer->retry_ms ? writer->retry_ms * 2 : ledger->flush_ms;
    writer->retry_ms = writer->retry_ms > longest_ms ? longest_ms : writer->retry_ms;
    pthread_mutex_lock(&ledger->lock);
    ledger->failures++;
    ledger->trouble = *why;
    pthread_mutex_unlock(&ledger->lock);
}

static void flush_and_tell(struct ledger *ledger)
{
    struct status st = {0};
    int64_t complete_ms = clock_wall_ns() / NS_PER_MS;
    pthread_mutex_lock(&ledger->lock);
    uint64_t asked = ledger->flush_asked;
    pthread_mutex_unlock(&ledger->lock);
    if (ledger_write_flush(ledger, &st))
        flush_succeeded(ledger, complete_ms);
    else
        flush_failed(ledger, &st);
    pthread_mutex_lock(&ledger->lock);
    ledger->flush_done = asked;
    pthread_cond_broadcast(&ledger->flushed);
    pthread_mutex_unlock(&ledger->lock);
}

/* ---- folding ----------------------------------------------------------------------------------------------------- */

/* Merges one quarter of an hour; if there may be more, the next follows at once, after a check of the pending sums. */
static void fold(struct ledger *ledger)
{
    struct ledger_writer *writer = &ledger->writer;
    struct status st = {0};
    bool more = false;
    int64_t today = clock_wall_ns() / NS_PER_MS / QUARTER_MS / DAY_QUARTERS;
    int64_t limit = (today - ledger->keep_runs_days) * DAY_QUARTERS;
    if (writer->database && !ledger_fold(writer->database, limit, &more, &st))
        log_warn("ledger.unfolded", "old days of the accounts could not be folded: %s; tried again in an hour",
                 st.text);
    writer->fold_at_ns = ledger_clock_ns() + (more ? 0 : FOLD_EVERY_NS);
}

static bool fold_is_due(const struct ledger *ledger)
{
    return ledger->keep_runs_days > 0 && ledger->writer.database && ledger_clock_ns() >= ledger->writer.fold_at_ns;
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

/* The time of the next flush without a request for one. */
static int64_t flush_at_ns(const struct ledger *ledger, int64_t tried_ns)
{
    const struct ledger_writer *writer = &ledger->writer;
    if (writer->failing_since_ns || !writer->database)
        return tried_ns + writer->retry_ms * NS_PER_MS;
    return ledger->pending_since_ns ? ledger->pending_since_ns + ledger->flush_ms * NS_PER_MS : TIME_NEVER;
}

/* Until a flush or a fold is due. */
static bool ledger_write_wait_for_work(struct ledger *ledger, int64_t tried_ns)
{
    bool flush_due = false;
    pthread_mutex_lock(&ledger->lock);
    for (;;) {
        int64_t now_ns = ledger_clock_ns(), at_ns = flush_at_ns(ledger, tried_ns);
        flush_due = ledger->closing || ledger->flush_asked != ledger->flush_done || now_ns >= at_ns;
        if (flush_due || fold_is_due(ledger))
            break;
        if (ledger->keep_runs_days > 0 && ledger->writer.database && ledger->writer.fold_at_ns < at_ns)
            at_ns = ledger->writer.fold_at_ns;
        ledger_wait_until(&ledger->writer_wake, &ledger->lock, at_ns);
    }
    pthread_mutex_unlock(&ledger->lock);
    return flush_due;
}

static bool ledger_write_is_closing(struct ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    bool closing = ledger->closing;
    pthread_mutex_unlock(&ledger->lock);
    return closing;
}

void *ledger_writer_run(void *data)
{
    struct ledger *ledger = data;
    flush_and_tell(ledger); /* opens the file: a wrong path is logged at the start */
    int64_t tried_ns = ledger_clock_ns();
    bool closing;
    do {
        if (ledger_write_wait_for_work(ledger, tried_ns)) {
            closing = ledger_write_is_closing(ledger);
            flush_and_tell(ledger);
            tried_ns = ledger_clock_ns();
        } else {
            closing = false;
            fold(ledger);
        }
    } while (!closing);
    /* Sums that cannot be written at the end are lost; the log reports their number. */
    const struct sums *lost[] = {ledger->pending, ledger->writer.taken};
    int64_t calls = 0, micros = 0;
    for (unsigned i = 0; i < 2; i++) {
        for (const struct sum *sum = sums_first(lost[i]); sum; sum = sum->next) {
            calls += sum->counts[SUM_CALLS];
            micros += sum->counts[SUM_COST];
        }
    }
    if (calls)
        log_error("ledger.lost", "%" PRId64 " calls that cost %" PRId64 " micro-USD could not be written to '%s'",
                  calls, micros, ledger->path);
    close_file(&ledger->writer);
    return NULL;
}
