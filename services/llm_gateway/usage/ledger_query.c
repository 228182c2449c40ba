/* A report's query as SQL, and its rows. The text consists of constants; the request's values are bound. */
#include "usage/ledger_priv.h"

#include "base/text.h"

#include <string.h>

#define SQL_MAX       8192
#define HOUR_QUARTERS INT64_C(4)
#define UNCONST(text) ((char *)(uintptr_t)(text))

/* Parameters of both statements. */
enum { FROM = 1, TO, SHIFT, SLOT, NAMES, LIMIT = NAMES + SUM_NAMES, SKIP };
#define START_SQL "(quarter + ?3) / ?4 * ?4 - ?3" /* SHIFT and SLOT */

static const enum sum_name name_of_group[] = {
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_CLIENT] = SUM_CLIENT,
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_TENANT] = SUM_TENANT,
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_MODEL] = SUM_MODEL,
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_DEPLOYMENT] = SUM_DEPLOYMENT,
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_RUN] = SUM_RUN,
    [RENGA__V1__USAGE_GROUP__USAGE_GROUP_THREAD] = SUM_THREAD,
};

/* Quarters in a row's hour or day; 0 for a group that is no time. */
static int64_t ledger_query_slot_of(Renga__V1__UsageGroup group)
{
    return group == RENGA__V1__USAGE_GROUP__USAGE_GROUP_HOUR  ? HOUR_QUARTERS
           : group == RENGA__V1__USAGE_GROUP__USAGE_GROUP_DAY ? DAY_QUARTERS
                                                              : 0;
}

/* ---- SQL --------------------------------------------------------------------------------------------------------- */

static void print_counts(struct buffer *sql)
{
    for (unsigned i = 0; i < SUM_COUNTS; i++)
        buffer_printf(sql, "%ssum(%s)", i ? ", " : "", ledger_count_columns[i]);
}

static void print_names(struct buffer *sql, const struct usage_query *query)
{
    buffer_print(sql, " FROM sums WHERE quarter >= ?1 AND quarter < ?2");
    for (unsigned i = 0; i < SUM_NAMES; i++) {
        const char *column = ledger_name_columns[i];
        if (query->names[i])
            buffer_printf(sql, " AND %s = ?%u", column, NAMES + i);
        if (query->names[i] && (i == SUM_RUN || i == SUM_THREAD))
            buffer_printf(sql, " AND %s <> ''", column); /* as the index says */
    }
}

/* Checksums are looked at once, before: they are left out of statements if all of them fit. */
static void print_where(struct buffer *sql, const struct usage_query *query)
{
    print_names(sql, query);
    if (!query->damaged)
        return;
    buffer_print(sql, " AND ");
    ledger_print_whole(sql);
}

static void print_damaged(struct buffer *sql, const struct usage_query *query)
{
    buffer_print(sql, "SELECT count(*)");
    print_names(sql, query);
    buffer_print(sql, " AND NOT ");
    ledger_print_whole(sql);
}

/* The columns that rows are made of, each after `before`. */
static void print_groups(struct buffer *sql, const struct usage_query *query, const char *before)
{
    for (size_t i = 0; i < query->group_count; i++)
        if (!ledger_query_slot_of(query->groups[i]))
            buffer_printf(sql, "%s%s", before, ledger_name_columns[name_of_group[query->groups[i]]]);
}

static void print_totals(struct buffer *sql, const struct usage_query *query)
{
    buffer_print(sql, "SELECT ");
    print_counts(sql);
    print_where(sql, query);
}

static int64_t ledger_query_slot_of_query(const struct usage_query *query)
{
    int64_t slot = 0;
    for (size_t i = 0; i < query->group_count; i++)
        slot += ledger_query_slot_of(query->groups[i]);
    return slot;
}

/* The names come last in the order: rows of equal cost keep their place from page to page. */
static void print_rows(struct buffer *sql, const struct usage_query *query)
{
    buffer_print(sql, "SELECT ");
    print_counts(sql);
    buffer_printf(sql, ", %s AS start", ledger_query_slot_of_query(query) ? START_SQL : "0");
    print_groups(sql, query, ", ");
    print_where(sql, query);
    buffer_print(sql, " GROUP BY start");
    print_groups(sql, query, ", ");
    buffer_print(sql, " ORDER BY start, sum(cost_micros) DESC");
    print_groups(sql, query, ", ");
    buffer_printf(sql, " LIMIT ?%d OFFSET ?%d", LIMIT, SKIP);
}

static struct sql *ledger_query_prepare(struct sql_file *database, const struct usage_query *query,
                                        void (*print)(struct buffer *, const struct usage_query *), struct status *st)
{
    struct buffer sql;
    buffer_init(&sql, SQL_MAX);
    print(&sql, query);
    struct sql *statement = sql_prepare(database, buffer_text(&sql), st);
    buffer_fini(&sql);
    if (!statement)
        return NULL;
    sql_bind(statement, FROM, query->from);
    sql_bind(statement, TO, query->to);
    sql_bind(statement, SHIFT, query->offset + DAY_QUARTERS); /* a whole day more: never below zero */
    sql_bind(statement, SLOT, ledger_query_slot_of_query(query));
    for (unsigned i = 0; i < SUM_NAMES; i++)
        if (query->names[i])
            sql_bind_clean(statement, NAMES + (int)i, query->names[i]);
    sql_bind(statement, LIMIT, query->limit + 1);
    sql_bind(statement, SKIP, query->skip);
    return statement;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* NULL if memory is exhausted. */
static Renga__V1__UsageRow *make_row(struct sql *statement, struct arena *arena)
{
    Renga__V1__UsageRow *row = arena_alloc(arena, sizeof *row);
    Renga__V1__Usage *usage = arena_alloc(arena, sizeof *usage);
    if (!row || !usage)
        return NULL;
    renga__v1__usage_row__init(row);
    renga__v1__usage__init(usage);
    usage->input_tokens = sql_number(statement, SUM_INPUT);
    usage->output_tokens = sql_number(statement, SUM_OUTPUT);
    usage->cached_input_tokens = sql_number(statement, SUM_CACHED_INPUT);
    usage->cache_write_tokens = sql_number(statement, SUM_CACHE_WRITE);
    usage->reasoning_tokens = sql_number(statement, SUM_REASONING);
    usage->model_calls = sql_number(statement, SUM_MODEL_CALLS);
    usage->tool_calls = sql_number(statement, SUM_TOOL_CALLS);
    usage->cost_micros = sql_number(statement, SUM_COST);
    usage->unpriced_calls = sql_number(statement, SUM_UNPRICED);
    usage->estimated = sql_number(statement, SUM_ESTIMATED) > 0;
    row->usage = usage;
    row->calls = sql_number(statement, SUM_CALLS);
    row->failed_calls = sql_number(statement, SUM_FAILED);
    row->cancelled_calls = sql_number(statement, SUM_CANCELLED);
    row->cached_calls = sql_number(statement, SUM_CACHED);
    return row;
}

/* Names of rows without a checksum may be damaged. */
static char *copy_clean(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, text_clean_length(text, strlen(text)));
}

static bool ledger_query_out_of_memory(const struct arena *arena, struct status *st)
{
    return arena->exhausted && !fail(st, RESOURCE_EXHAUSTED, "the report takes too much memory; ask for fewer rows");
}

static bool count_damaged(struct sql_file *database, struct usage_query *query, struct status *st)
{
    struct sql *statement = ledger_query_prepare(database, query, print_damaged, st);
    bool read = statement && sql_step(statement, st) == SQL_ROW;
    query->damaged = read ? sql_number(statement, 0) : 0;
    sql_finalize(&statement);
    return read;
}

static bool ask_totals(struct sql_file *database, const struct usage_query *query, struct arena *arena,
                       struct usage_answer *answer, struct status *st)
{
    struct sql *statement = ledger_query_prepare(database, query, print_totals, st);
    if (!statement)
        return false;
    bool read = sql_step(statement, st) == SQL_ROW;
    if (read)
        answer->totals = make_row(statement, arena);
    sql_finalize(&statement);
    return read && !ledger_query_out_of_memory(arena, st);
}

static bool ledger_query_read_rows(struct sql *statement, const struct usage_query *query, struct arena *arena,
                                   struct usage_answer *answer, struct status *st)
{
    enum sql_step step;
    while ((step = sql_step(statement, st)) == SQL_ROW) {
        if ((answer->more = answer->count == (size_t)query->limit))
            return true;
        Renga__V1__UsageRow *row = make_row(statement, arena);
        if (row) {
            char **const fields[SUM_NAMES] = {
                [SUM_CLIENT] = &row->client,         [SUM_TENANT] = &row->tenant, [SUM_MODEL] = &row->model,
                [SUM_DEPLOYMENT] = &row->deployment, [SUM_RUN] = &row->run_id,    [SUM_THREAD] = &row->thread_id,
            };
            int column = SUM_COUNTS;
            row->start_ms = ledger_query_slot_of_query(query) ? sql_number(statement, column) * QUARTER_MS : 0;
            for (size_t i = 0; i < query->group_count; i++)
                if (!ledger_query_slot_of(query->groups[i]))
                    *fields[name_of_group[query->groups[i]]] = copy_clean(arena, sql_text(statement, ++column));
        }
        if (ledger_query_out_of_memory(arena, st))
            return false;
        answer->rows[answer->count++] = row;
    }
    return step == SQL_DONE;
}

static bool ledger_query_ask_rows(struct sql_file *database, const struct usage_query *query, struct arena *arena,
                                  struct usage_answer *answer, struct status *st)
{
    answer->rows = arena_alloc(arena, (size_t)query->limit * sizeof *answer->rows);
    if (ledger_query_out_of_memory(arena, st))
        return false;
    struct sql *statement = ledger_query_prepare(database, query, print_rows, st);
    bool read = statement && ledger_query_read_rows(statement, query, arena, answer, st);
    sql_finalize(&statement);
    return read;
}

/* In one transaction: rows and totals are of the same moment. */
bool ledger_ask(struct sql_file *database, struct usage_query *query, struct arena *arena, struct usage_answer *answer,
                struct status *st)
{
    *answer = (struct usage_answer){0};
    bool asked = sql_run(database, "BEGIN", st) && count_damaged(database, query, st) &&
                 ask_totals(database, query, arena, answer, st) &&
                 (!query->group_count || ledger_query_ask_rows(database, query, arena, answer, st));
    sql_rollback(database);
    return asked;
}
