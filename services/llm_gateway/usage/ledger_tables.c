/* The ledger's tables and their rows.
 *
 * `sums` has a row for each quarter of an hour and combination of names. `marks` has two numbers: "batch" names the
 * last batch of sums that was written, in the very transaction that wrote it, so that after a failure in doubt no batch
 * is written twice; "folded" is the last quarter with folded runs and threads.
 *
 * `seal` is the checksum of all other columns of a row (store/sqlite/checksum.h); NULL in rows of releases without it,
 * which are taken if their counts make sense. */
#include "usage/ledger_priv.h"

#include "base/clock.h"
#include "base/log.h"

#include <inttypes.h>

#define SQL_MAX 8192

#define NAME(row, column) [row] = column,
const char *const ledger_name_columns[SUM_NAMES] = {SUM_NAMES_TABLE(NAME)};
const char *const ledger_count_columns[SUM_COUNTS] = {SUM_COUNTS_TABLE(NAME)};
#undef NAME

#define NAME_COLUMN(row, column)  column " TEXT NOT NULL, "
#define COUNT_COLUMN(row, column) column " INTEGER NOT NULL, "
/* A query for one run or thread finds it by an index; the many rows without one stay out of it. */
static const char *const upgrades[] = {
    "ALTER TABLE sums ADD COLUMN unpriced_calls INTEGER NOT NULL DEFAULT 0;", /* to version 2 */
    "ALTER TABLE sums ADD COLUMN seal INTEGER;",                              /* to version 3 */
};
static const struct sql_plan plan = {
    .version = 3,
    .subject = "their file", /* of the accounts */
    .pragmas = "PRAGMA journal_size_limit = 16777216;",
    .busy_ms = 1000,
    .memory_max = INT64_C(256) << 20,
    .upgrades = upgrades,
    .tables = "CREATE TABLE sums (quarter INTEGER NOT NULL, " SUM_NAMES_TABLE(NAME_COLUMN) SUM_COUNTS_TABLE(
        COUNT_COLUMN) "seal INTEGER, PRIMARY KEY (quarter, client, tenant, model, deployment, run, thread)) STRICT, "
                      "WITHOUT ROWID;"
                      "CREATE INDEX sums_run ON sums (run) WHERE run <> '';"
                      "CREATE INDEX sums_thread ON sums (thread) WHERE thread <> '';"
                      "CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;",
};

struct sql_file *ledger_open(const struct ledger *ledger, struct status *st)
{
    return sql_open(ledger->path, &plan, st);
}

/* ---- SQL --------------------------------------------------------------------------------------------------------- */

static void print_columns(struct buffer *sql, const char *const *columns, unsigned count, const char *format)
{
    for (unsigned i = 0; i < count; i++) {
        buffer_print(sql, i ? ", " : "");
        for (const char *at = format; *at; at++) {
            if (*at == '@')
                buffer_print(sql, columns[i]);
            else
                buffer_put(sql, *at);
        }
    }
}

/* The checksum of a row with these counts. */
static void print_seal(struct buffer *sql, const char *counts)
{
    buffer_print(sql, "seal_of(quarter, ");
    print_columns(sql, ledger_name_columns, SUM_NAMES, "@");
    buffer_print(sql, ", ");
    print_columns(sql, ledger_count_columns, SUM_COUNTS, counts);
    buffer_print(sql, ")");
}

void ledger_print_whole(struct buffer *sql)
{
    buffer_print(sql, "(CASE WHEN seal IS NULL THEN min(");
    print_columns(sql, ledger_count_columns, SUM_COUNTS, "@");
    buffer_print(sql, ") >= 0 AND max(");
    print_columns(sql, ledger_count_columns, SUM_COUNTS, "@");
    buffer_print(sql, ") <= 1000000000000000 ELSE seal = ");
    print_seal(sql, "@");
    buffer_print(sql, " END)");
}

/* A damaged row is left as it is. */
static void print_conflict(struct buffer *sql)
{
    buffer_print(sql, " ON CONFLICT DO UPDATE SET ");
    print_columns(sql, ledger_count_columns, SUM_COUNTS, "@ = @ + excluded.@");
    buffer_print(sql, ", seal = ");
    print_seal(sql, "@ + excluded.@");
    buffer_print(sql, " WHERE ");
    ledger_print_whole(sql);
}

static struct sql *ledger_tables_prepare(struct sql_file *database, void (*print)(struct buffer *sql),
                                         struct status *st)
{
    struct buffer sql;
    buffer_init(&sql, SQL_MAX);
    print(&sql);
    struct sql *statement = sql_prepare(database, buffer_text(&sql), st);
    buffer_fini(&sql);
    return statement;
}

static void print_upsert(struct buffer *sql)
{
    const char *const ends[] = {", seal_of(", "))"};
    buffer_print(sql, "INSERT INTO sums VALUES (");
    for (unsigned twice = 0; twice < 2; twice++) {
        for (unsigned i = 1; i <= 1 + SUM_NAMES + SUM_COUNTS; i++)
            buffer_printf(sql, "%s?%u", i > 1 ? ", " : "", i);
        buffer_print(sql, ends[twice]);
    }
    print_conflict(sql);
}

/* Has the parameters of the row that is to be written. */
static void print_drop_damaged(struct buffer *sql)
{
    buffer_print(sql, "DELETE FROM sums WHERE quarter = ?1");
    for (unsigned i = 0; i < SUM_NAMES; i++)
        buffer_printf(sql, " AND %s = ?%u", ledger_name_columns[i], 2 + i);
    buffer_print(sql, " AND NOT ");
    ledger_print_whole(sql);
}

static void print_count_damaged(struct buffer *sql)
{
    buffer_print(sql, "SELECT count(*) FROM sums WHERE quarter = ?1 AND NOT ");
    ledger_print_whole(sql);
}

static void print_fold(struct buffer *sql)
{
    buffer_print(sql, "INSERT INTO sums SELECT quarter, client, tenant, model, deployment, '', '', ");
    print_columns(sql, ledger_count_columns, SUM_COUNTS, "sum(@)");
    buffer_print(sql, ", seal_of(quarter, client, tenant, model, deployment, '', '', ");
    print_columns(sql, ledger_count_columns, SUM_COUNTS, "sum(@)");
    buffer_print(sql, ") FROM sums WHERE quarter = ?1 AND (run <> '' OR thread <> '') "
                      "GROUP BY client, tenant, model, deployment");
    print_conflict(sql);
}

struct sql *ledger_upsert(struct sql_file *database, struct status *st)
{
    return ledger_tables_prepare(database, print_upsert, st);
}

/* A statement with one number and no rows. */
static bool run_once(struct sql *statement, int64_t number, struct status *st)
{
    if (statement)
        sql_bind(statement, 1, number);
    bool ran = statement && sql_finish(statement, st);
    sql_finalize(&statement);
    return ran;
}

/* The first number of the first row, or `fallback` without a row. */
static bool ledger_tables_read_number(struct sql_file *database, const char *sql, int64_t parameter, int64_t second,
                                      int64_t fallback, int64_t *number, struct status *st)
{
    struct sql *statement = sql_prepare(database, sql, st);
    if (!statement)
        return false;
    sql_bind(statement, 1, parameter);
    sql_bind(statement, 2, second);
    enum sql_step step = sql_step(statement, st);
    *number = step == SQL_ROW ? sql_number(statement, 0) : fallback;
    sql_finalize(&statement);
    return step != SQL_FAILED;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static int bind_names(struct sql *statement, const struct sum *sum)
{
    const char *names[SUM_NAMES];
    int parameter = 1;
    sum_names(sum, names);
    sql_bind(statement, parameter++, sum_quarter(sum));
    for (unsigned i = 0; i < SUM_NAMES; i++)
        sql_bind_clean(statement, parameter++, names[i]);
    return parameter;
}

static bool run_upsert(struct sql *upsert, const struct sum *sum, struct status *st)
{
    int parameter = bind_names(upsert, sum);
    for (unsigned i = 0; i < SUM_COUNTS; i++)
        sql_bind(upsert, parameter++, sum->counts[i]);
    return sql_finish(upsert, st);
}

static bool drop_damaged(struct sql_file *database, const struct sum *sum, struct status *st)
{
    struct sql *drop = ledger_tables_prepare(database, print_drop_damaged, st);
    if (drop)
        bind_names(drop, sum);
    bool dropped = drop && sql_finish(drop, st);
    sql_finalize(&drop);
    if (dropped)
        log_error("ledger.damaged", "a damaged row of the accounts, of the quarter %" PRId64 ", begins anew at 0",
                  sum_quarter(sum));
    return dropped;
}

/* Adding to a damaged row would give it a checksum that fits: it is dropped, and the new counts are kept. */
static bool write_sum(struct sql_file *database, struct sql *upsert, const struct sum *sum, struct status *st)
{
    if (!run_upsert(upsert, sum, st))
        return false;
    return sql_changed(database) > 0 || (drop_damaged(database, sum, st) && run_upsert(upsert, sum, st));
}

static bool ledger_tables_write_batch(struct sql_file *database, struct sql *upsert, const struct sums *sums,
                                      int64_t batch, bool maybe_written, struct status *st)
{
    int64_t last = 0;
    if (maybe_written &&
        !ledger_tables_read_number(database, "SELECT value FROM marks WHERE name = 'batch'", 0, 0, 0, &last, st))
        return false;
    if (maybe_written && last == batch)
        return true;
    for (const struct sum *sum = sums_first(sums); sum; sum = sum->next)
        if (!write_sum(database, upsert, sum, st))
            return false;
    return run_once(sql_prepare(database, "INSERT OR REPLACE INTO marks VALUES ('batch', ?1)", st), batch, st);
}

bool ledger_write(struct sql_file *database, struct sql *upsert, const struct sums *sums, int64_t batch,
                  bool maybe_written, struct status *st)
{
    bool written = sql_begin(database, st) &&
                   ledger_tables_write_batch(database, upsert, sums, batch, maybe_written, st) &&
                   sql_commit(database, st);
    sql_rollback(database);
    return written;
}

/* ---- folding ----------------------------------------------------------------------------------------------------- */

static bool fold_rows(struct sql_file *database, int64_t quarter, struct status *st)
{
    struct sql *count = ledger_tables_prepare(database, print_count_damaged, st);
    if (count)
        sql_bind(count, 1, quarter);
    bool counted = count && sql_step(count, st) == SQL_ROW;
    int64_t damaged = counted ? sql_number(count, 0) : 0;
    sql_finalize(&count);
    if (!counted)
        return false;
    if (damaged)
        log_error("ledger.damaged",
                  "%" PRId64 " rows of the accounts, of the quarter %" PRId64
                  ", are damaged; the quarter keeps its runs and threads",
                  damaged, quarter);
    return damaged ||
           (run_once(ledger_tables_prepare(database, print_fold, st), quarter, st) &&
            run_once(sql_prepare(database, "DELETE FROM sums WHERE quarter = ?1 AND (run <> '' OR thread <> '')", st),
                     quarter, st));
}

static bool fold_quarter(struct sql_file *database, int64_t quarter, struct status *st)
{
    return sql_begin(database, st) && fold_rows(database, quarter, st) &&
           run_once(sql_prepare(database, "INSERT OR REPLACE INTO marks VALUES ('folded', ?1)", st), quarter, st) &&
           sql_commit(database, st);
}

bool ledger_fold(struct sql_file *database, int64_t limit, bool *more, struct status *st)
{
    int64_t last, quarter;
    *more = false;
    if (!ledger_tables_read_number(database, "SELECT value FROM marks WHERE name = 'folded'", 0, 0, -1, &last, st) ||
        !ledger_tables_read_number(
            database, "SELECT quarter FROM sums WHERE quarter > ?1 AND quarter < ?2 ORDER BY quarter LIMIT 1",
            last < limit ? last : -1, limit, -1, &quarter, st))
        return false;
    if (quarter < 0)
        return true;
    *more = fold_quarter(database, quarter, st);
    sql_rollback(database);
    return *more;
}

/* ---- spend ------------------------------------------------------------------------------------------------------- */

static void print_spent(struct buffer *sql, const char *column)
{
    buffer_printf(sql, "SELECT %s, sum(cost_micros) FROM sums WHERE quarter >= ?1 AND ", column);
    ledger_print_whole(sql);
    buffer_printf(sql, " GROUP BY %s", column);
}

static void print_spent_by_client(struct buffer *sql)
{
    print_spent(sql, "client");
}

static void print_spent_by_tenant(struct buffer *sql)
{
    print_spent(sql, "tenant");
}

bool ledger_spent(struct ledger *ledger, int64_t now_ms, bool tenants,
                  void (*spent)(const char *name, int64_t micros, void *data), void *data, struct status *st)
{
    struct sql_file *database = ledger_open(ledger, st);
    if (!database)
        return false;
    struct sql *statement =
        ledger_tables_prepare(database, tenants ? print_spent_by_tenant : print_spent_by_client, st);
    enum sql_step step = SQL_FAILED;
    if (statement) {
        sql_bind(statement, 1, now_ms / QUARTER_MS / DAY_QUARTERS * DAY_QUARTERS);
        while ((step = sql_step(statement, st)) == SQL_ROW)
            spent(sql_text(statement, 0), sql_number(statement, 1), data);
    }
    sql_finalize(&statement);
    sql_close(&database);
    return step == SQL_DONE;
}
