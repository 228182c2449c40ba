/* Removes postings of deleted paragraphs from their rows, some rows in each transaction. Finished work stays done;
 * unswept postings are harmless. */
#include "knowledge/postings.h"
#include "knowledge/tables.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 2000 /* of one transaction */
#define TERM_MAX 1024 /* bytes */
#define DATA_MAX 8192 /* bytes of a row's postings; ours are less */

/* Searches count the postings of dead paragraphs, so that their terms seem more frequent than they are. A small
 * collection is swept after each deletion, a larger one when one paragraph in this number is dead. */
#define SWEEP_SMALL 2000 /* paragraphs, dead ones among them */
#define SWEEP_SHARE 4

struct sweep {
    struct tables *tables;
    struct collection *collection;
    uint8_t *alive; /* by number of the paragraph */
    char term[TERM_MAX];
    int64_t first; /* with `term`: the row that was looked at last */
    bool more;
};

static bool read_alive(struct sweep *sweep, struct status *st)
{
    struct sql *sql = tables_sql(sweep->tables, DOCUMENT_LENGTHS, st);
    int64_t next = sweep->collection->next;
    enum sql_step step;
    sweep->alive = calloc((size_t)next + 1, 1);
    if (!sql || !sweep->alive)
        return sql && fail(st, RESOURCE_EXHAUSTED, "no memory to sweep a collection");
    sql_bind(sql, 1, sweep->collection->id);
    while ((step = sql_step(sql, st)) == SQL_ROW) {
        size_t size;
        int64_t first = sql_number(sql, 0);
        sql_bytes(sql, 1, &size);
        int64_t count = (int64_t)(size / sizeof(uint16_t));
        if (sql_number(sql, 2) && first >= 0 && count <= next && first <= next - count)
            memset(sweep->alive + first, 1, (size_t)count);
    }
    sql_reset(sql);
    return step == SQL_DONE;
}

struct swept_row {
    char *term;
    int64_t first, last;
    uint32_t count;
    size_t size;
    bool changed;
    int64_t freed; /* bytes */
    uint8_t *data;
};

/* The live part of a row. The first posting is the base of the row's differences and stays, even if it is dead. */
static void sweep_data(const struct sweep *sweep, const uint8_t *data, size_t size, struct swept_row *row)
{
    struct postings postings = {data, data + size, (uint32_t)row->first};
    struct posting posting;
    uint32_t previous = (uint32_t)row->first;
    row->size = row->count = 0;
    row->last = row->first;
    while (postings_next(&postings, &posting)) {
        bool alive = posting.paragraph < sweep->collection->next && sweep->alive[posting.paragraph];
        row->changed |= !alive;
        if (!alive)
            continue;
        row->size += posting_write(row->data + row->size, previous, posting);
        row->last = previous = posting.paragraph;
        row->count++;
    }
    row->freed = (int64_t)(size - row->size) + (row->count ? 0 : POSTINGS_ROW + (int64_t)strlen(row->term));
}

static bool take_row(struct sweep *sweep, struct sql *sql, struct arena *arena, struct swept_row *row,
                     struct status *st)
{
    size_t size;
    const uint8_t *data = sql_bytes(sql, 2, &size);
    *row = (struct swept_row){.term = arena_strdup(arena, sql_text(sql, 0)),
                              .first = sql_number(sql, 1),
                              .data = arena_alloc(arena, size + POSTING_SIZE_MAX)};
    if (!row->term || !row->data || strlen(row->term) >= TERM_MAX)
        return fail(st, RESOURCE_EXHAUSTED, "no memory to sweep a collection");
    sweep_data(sweep, data, size, row);
    strcpy(sweep->term, row->term);
    sweep->first = row->first;
    return true;
}

static bool sweep_take_rows(struct sweep *sweep, struct arena *arena, struct swept_row *rows, size_t *count,
                            struct status *st)
{
    struct sql *sql = tables_sql(sweep->tables, POSTINGS_SCAN, st);
    char after[TERM_MAX]; /* bound values must not change meanwhile */
    if (!sql)
        return false;
    strcpy(after, sweep->term);
    sql_bind(sql, 1, sweep->collection->id);
    sql_bind_string(sql, 2, after);
    sql_bind(sql, 3, sweep->first);
    sql_bind(sql, 4, ROWS_MAX);
    for (*count = 0; *count < ROWS_MAX && sql_step(sql, st) == SQL_ROW; (*count)++) {
        if (!take_row(sweep, sql, arena, &rows[*count], st))
            break;
        rows[*count].changed &= sql_number(sql, 3) != 0; /* a damaged one stays, so that searches tell of it */
    }
    sql_reset(sql);
    sweep->more = *count == ROWS_MAX;
    return st->code == OK;
}

static bool put_back(struct sweep *sweep, const struct swept_row *row, struct status *st)
{
    struct sql *sql = tables_sql(sweep->tables, row->count ? POSTINGS_PUT : POSTINGS_DELETE, st);
    if (!sql)
        return false;
    sweep->collection->bytes -= row->freed;
    sql_bind(sql, 1, sweep->collection->id);
    sql_bind_string(sql, 2, row->term);
    sql_bind(sql, 3, row->first);
    if (row->count) {
        sql_bind(sql, 4, row->last);
        sql_bind(sql, 5, row->count);
        sql_bind_bytes(sql, 6, row->data, row->size);
    }
    return sql_finish(sql, st);
}

static bool sweep_some(struct sweep *sweep, struct swept_row *rows, struct status *st)
{
    struct arena arena;
    size_t count = 0;
    arena_init(&arena, NULL, 0, ROWS_MAX * (DATA_MAX + TERM_MAX));
    bool swept = sql_begin(sweep->tables->file, st) && sweep_take_rows(sweep, &arena, rows, &count, st);
    for (size_t i = 0; i < count && swept; i++)
        if (rows[i].changed)
            swept = put_back(sweep, &rows[i], st);
    swept = swept && sql_commit(sweep->tables->file, st);
    sql_rollback(sweep->tables->file);
    arena_fini(&arena);
    return swept;
}

static bool sweep_settle(struct sweep *sweep, struct status *st)
{
    sweep->collection->dead = 0;
    bool saved = sql_begin(sweep->tables->file, st) && collection_save(sweep->tables, sweep->collection, st) &&
                 sql_commit(sweep->tables->file, st);
    sql_rollback(sweep->tables->file);
    return saved;
}

bool sweep_is_due(const struct collection *collection)
{
    return collection->dead > 0 && (collection->dead + collection->paragraphs <= SWEEP_SMALL ||
                                    collection->dead * SWEEP_SHARE > collection->paragraphs);
}

bool sweep_postings(struct tables *tables, struct collection *collection, bool (*stop)(void *data), void *data,
                    struct status *st)
{
    struct sweep sweep = {.tables = tables, .collection = collection, .first = -1, .more = true};
    struct swept_row *rows = calloc(ROWS_MAX, sizeof *rows);
    bool swept = rows && read_alive(&sweep, st);
    while (swept && sweep.more && !stop(data))
        swept = sweep_some(&sweep, rows, st);
    if (swept && !sweep.more)
        swept = sweep_settle(&sweep, st);
    free(sweep.alive);
    free(rows);
    return swept;
}
