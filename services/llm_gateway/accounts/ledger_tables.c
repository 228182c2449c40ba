/* The ledger's tables, and what is written to them.
 *
 * `sums` has a row for each quarter of an hour and combination of names. `marks` has two numbers: "batch" names the
 * last batch of sums that was written, in the very transaction that wrote it, so that after a failure in doubt nothing
 * is written twice; "folded" is the last quarter whose runs and threads were folded. */
#include "accounts/ledger_priv.h"

#include "base/clock.h"

#define SQL_MAX 8192

#define NAME(row, column) [row] = column,
const char *const ledger_name_columns[SUM_NAMES] = {SUM_NAMES_TABLE(NAME)};
const char *const ledger_count_columns[SUM_COUNTS] = {SUM_COUNTS_TABLE(NAME)};
#undef NAME

#define NAME_COLUMN(row, column)  column " TEXT NOT NULL, "
#define COUNT_COLUMN(row, column) column " INTEGER NOT NULL, "
/* A query for one run or thread finds it by an index; the many rows without one stay out of it. */
static const struct database_plan plan = {
    .version = 1,
    .tables = "CREATE TABLE sums (quarter INTEGER NOT NULL, " SUM_NAMES_TABLE(NAME_COLUMN) SUM_COUNTS_TABLE(
        COUNT_COLUMN) "PRIMARY KEY (quarter, client, tenant, model, deployment, run, thread)) STRICT, WITHOUT ROWID;"
                      "CREATE INDEX sums_run ON sums (run) WHERE run <> '';"
                      "CREATE INDEX sums_thread ON sums (thread) WHERE thread <> '';"
                      "CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;",
};

struct database *ledger_open(const struct ledger *ledger, struct status *st)
{
    return database_open(ledger->path, &plan, st);
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

static void print_conflict(struct buffer *sql)
{
    buffer_print(sql, " ON CONFLICT DO UPDATE SET ");
    print_columns(sql, ledger_count_columns, SUM_COUNTS, "@ = @ + excluded.@");
}

static struct statement *prepare(struct database *database, void (*print)(struct buffer *sql), struct status *st)
{
    struct buffer sql;
    buffer_init(&sql, SQL_MAX);
    print(&sql);
    struct statement *statement = statement_prepare(database, buffer_text(&sql), st);
    buffer_fini(&sql);
    return statement;
}

static void print_upsert(struct buffer *sql)
{
    buffer_print(sql, "INSERT INTO sums VALUES (?");
    for (unsigned i = 0; i < SUM_NAMES + SUM_COUNTS; i++)
        buffer_print(sql, ", ?");
    buffer_print(sql, ")");
    print_conflict(sql);
}

static void print_fold(struct buffer *sql)
{
    buffer_print(sql, "INSERT INTO sums SELECT quarter, client, tenant, model, deployment, '', '', ");
    print_columns(sql, ledger_count_columns, SUM_COUNTS, "sum(@)");
    buffer_print(sql, " FROM sums WHERE quarter = ?1 AND (run <> '' OR thread <> '') "
                      "GROUP BY client, tenant, model, deployment");
    print_conflict(sql);
}

struct statement *ledger_upsert(struct database *database, struct status *st)
{
    return prepare(database, print_upsert, st);
}

/* A statement with one number and no rows. */
static bool run_once(struct statement *statement, int64_t number, struct status *st)
{
    if (statement)
        statement_bind(statement, 1, number);
    bool ran = statement && statement_run(statement, st);
    statement_finalize(&statement);
    return ran;
}

/* The first number of the first row, or `fallback` where there is no row. */
static bool read_number(struct database *database, const char *sql, int64_t parameter, int64_t second, int64_t fallback,
                        int64_t *number, struct status *st)
{
    struct statement *statement = statement_prepare(database, sql, st);
    if (!statement)
        return false;
    statement_bind(statement, 1, parameter);
    statement_bind(statement, 2, second);
    enum statement_step step = statement_step(statement, st);
    *number = step == STATEMENT_ROW ? statement_number(statement, 0) : fallback;
    statement_finalize(&statement);
    return step != STATEMENT_FAILED;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static bool write_sum(struct statement *upsert, const struct sum *sum, struct status *st)
{
    const char *names[SUM_NAMES];
    int parameter = 1;
    sum_names(sum, names);
    statement_bind(upsert, parameter++, sum_quarter(sum));
    for (unsigned i = 0; i < SUM_NAMES; i++)
        statement_bind_text(upsert, parameter++, names[i]);
    for (unsigned i = 0; i < SUM_COUNTS; i++)
        statement_bind(upsert, parameter++, sum->counts[i]);
    return statement_run(upsert, st);
}

static bool write_batch(struct database *database, struct statement *upsert, const struct sums *sums, int64_t batch,
                        bool maybe_written, struct status *st)
{
    int64_t last = 0;
    if (maybe_written && !read_number(database, "SELECT value FROM marks WHERE name = 'batch'", 0, 0, 0, &last, st))
        return false;
    if (maybe_written && last == batch)
        return true;
    for (const struct sum *sum = sums_first(sums); sum; sum = sum->next)
        if (!write_sum(upsert, sum, st))
            return false;
    return run_once(statement_prepare(database, "INSERT OR REPLACE INTO marks VALUES ('batch', ?1)", st), batch, st);
}

bool ledger_write(struct database *database, struct statement *upsert, const struct sums *sums, int64_t batch,
                  bool maybe_written, struct status *st)
{
    bool written = database_run(database, "BEGIN IMMEDIATE", st) &&
                   write_batch(database, upsert, sums, batch, maybe_written, st) &&
                   database_run(database, "COMMIT", st);
    database_rollback(database);
    return written;
}

/* ---- folding ----------------------------------------------------------------------------------------------------- */

static bool fold_quarter(struct database *database, int64_t quarter, struct status *st)
{
    return database_run(database, "BEGIN IMMEDIATE", st) && run_once(prepare(database, print_fold, st), quarter, st) &&
           run_once(
               statement_prepare(database, "DELETE FROM sums WHERE quarter = ?1 AND (run <> '' OR thread <> '')", st),
               quarter, st) &&
           run_once(statement_prepare(database, "INSERT OR REPLACE INTO marks VALUES ('folded', ?1)", st), quarter,
                    st) &&
           database_run(database, "COMMIT", st);
}

bool ledger_fold(struct database *database, int64_t limit, bool *more, struct status *st)
{
    int64_t last, quarter;
    *more = false;
    if (!read_number(database, "SELECT value FROM marks WHERE name = 'folded'", 0, 0, -1, &last, st) ||
        !read_number(database, "SELECT quarter FROM sums WHERE quarter > ?1 AND quarter < ?2 ORDER BY quarter LIMIT 1",
                     last, limit, -1, &quarter, st))
        return false;
    if (quarter < 0)
        return true;
    *more = fold_quarter(database, quarter, st);
    database_rollback(database);
    return *more;
}

/* ---- what was spent ---------------------------------------------------------------------------------------------- */

bool ledger_spent(struct ledger *ledger, int64_t now_ms, bool tenants,
                  void (*spent)(const char *name, int64_t micros, void *data), void *data, struct status *st)
{
    struct database *database = ledger_open(ledger, st);
    if (!database)
        return false;
    struct statement *statement =
        statement_prepare(database,
                          tenants ? "SELECT tenant, sum(cost_micros) FROM sums WHERE quarter >= ?1 GROUP BY tenant"
                                  : "SELECT client, sum(cost_micros) FROM sums WHERE quarter >= ?1 GROUP BY client",
                          st);
    enum statement_step step = STATEMENT_FAILED;
    if (statement) {
        statement_bind(statement, 1, now_ms / QUARTER_MS / DAY_QUARTERS * DAY_QUARTERS);
        while ((step = statement_step(statement, st)) == STATEMENT_ROW)
            spent(statement_text(statement, 0), statement_number(statement, 1), data);
    }
    statement_finalize(&statement);
    database_close(&database);
    return step == STATEMENT_DONE;
}
