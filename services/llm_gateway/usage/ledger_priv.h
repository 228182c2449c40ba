/* Shared by the files of the ledger. Private to usage/.
 *
 *      note --> pending --(writer thread, each second)--> taken --> the file
 *                                                                     |
 *      GetUsage --> reports --(reader thread)-- asks for a flush, then reads --> posted back to the call's loop */
#ifndef RENGA_LLM_GATEWAY_LEDGER_PRIV_H
#define RENGA_LLM_GATEWAY_LEDGER_PRIV_H

#include "base/arena.h"
#include "base/buffer.h"
#include "store/sqlite/sql.h"
#include "usage/ledger.h"
#include "usage/sums.h"

#include <pthread.h>
#include <stdatomic.h>

#define LEDGER_GROUPS_MAX 4
#define DAY_QUARTERS      INT64_C(96)

struct report;

/* Only the writer thread uses this. */
struct ledger_writer {
    struct sql_file *database; /* NULL: to be opened */
    struct sql *upsert;
    struct sums *taken; /* on their way to the file */
    int64_t batch;      /* number of the taken batch: the file contains it after the write */
    bool in_doubt;      /* writing `taken` has failed, maybe after it had been written */
    int64_t failing_since_ns, retry_ms;
    int64_t fold_at_ns;
};

/* Outlives the ledger while a scrape uses it. */
struct ledger_window {
    pthread_mutex_t lock;
    struct ledger *ledger; /* NULL: it is gone */
};

struct ledger {
    char *path;
    bool in_memory;
    int64_t flush_ms, keep_runs_days;
    pthread_t writer_thread, reader_thread;
    struct ledger_window *window; /* NULL: no metrics */
    struct ledger_writer writer;

    pthread_mutex_t lock; /* of all that follows; held for moments, never while a file is waited for */
    pthread_cond_t writer_wake, reader_wake, flushed;
    struct sums *pending;
    int64_t pending_since_ns, taken_since_ns; /* first note; 0: no note */
    unsigned taken_count;
    uint64_t entries, written, failures;
    uint64_t flush_asked, flush_done; /* flushes are counted: one that was asked for is done when its number is */
    int64_t complete_ms;              /* wall clock at the beginning of the last good flush */
    struct status trouble;            /* OK: the last flush was good */
    bool closing;                     /* the writer is to flush a last time and end */
    atomic_bool reader_closing;
    struct report *reports_first, *reports_last; /* that wait */
    unsigned reports;                            /* that wait or are being answered */
};

/* CLOCK_MONOTONIC, which never stops: threads of the ledger wait by it. */
int64_t ledger_clock_ns(void);
void ledger_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t at_ns);

void *ledger_writer_run(void *ledger);
void *ledger_reader_run(void *ledger);

/* ---- tables (ledger_tables.c) ------------------------------------------------------------------------------------ */

extern const char *const ledger_name_columns[SUM_NAMES];
extern const char *const ledger_count_columns[SUM_COUNTS];

/* A condition in SQL: the row's checksum fits, or it is absent and the counts make sense. */
void ledger_print_whole(struct buffer *sql);

struct sql_file *ledger_open(const struct ledger *ledger, struct status *st);
struct sql *ledger_upsert(struct sql_file *database, struct status *st);

/* In one transaction, with the number of the batch. Skipped if `maybe_written` and the file has that number. */
bool ledger_write(struct sql_file *database, struct sql *upsert, const struct sums *sums, int64_t batch,
                  bool maybe_written, struct status *st);

/* Folds the sums of the oldest quarter before `limit` that was not folded yet over runs and threads. `more` says
 * whether there was one. */
bool ledger_fold(struct sql_file *database, int64_t limit, bool *more, struct status *st);

/* ---- questions (ledger_query.c) ---------------------------------------------------------------------------------- */

struct usage_query {
    int64_t from, to;             /* quarters since 1970, `to` excluded */
    const char *names[SUM_NAMES]; /* only these; NULL: all */
    Renga__V1__UsageGroup groups[LEDGER_GROUPS_MAX];
    size_t group_count;
    int64_t offset;                                                  /* of local time, in quarters */
    int64_t skip, limit;                                             /* rows */
    int64_t damaged;                                                 /* filled in: rows that are left out */
    char own_client[SUM_NAME_MAX + 1], own_tenant[SUM_NAME_MAX + 1]; /* storage for `names` */
};

/* `rows` and `totals` in `arena`. `more` says whether there are rows after these. */
struct usage_answer {
    Renga__V1__UsageRow **rows;
    size_t count;
    Renga__V1__UsageRow *totals;
    bool more;
};
bool ledger_ask(struct sql_file *database, struct usage_query *query, struct arena *arena, struct usage_answer *answer,
                struct status *st);

/* ---- requests (ledger_check.c) ----------------------------------------------------------------------------------- */

/* The request as a query; `now_ms` is the time of its first page. Names are borrowed. `sees_all` is false for a
 * caller that may see only its own usage. INVALID_ARGUMENT, PERMISSION_DENIED, OUT_OF_RANGE. */
struct rpc_principal;
bool usage_query_init(struct usage_query *query, const Renga__V1__GetUsageRequest *request,
                      const struct rpc_principal *caller, bool sees_all, int64_t *now_ms, struct status *st);

#define PAGE_TOKEN_SIZE 80 /* bytes, the NUL included */
void page_token_write(char token[PAGE_TOKEN_SIZE], const Renga__V1__GetUsageRequest *request, int64_t issued_ms,
                      int64_t skip);
/* `now_ms` becomes the time of the request for the first page. OUT_OF_RANGE: the token is of another request or too
 * old. */
bool page_token_read(const Renga__V1__GetUsageRequest *request, int64_t *now_ms, int64_t *skip, struct status *st);

#endif
