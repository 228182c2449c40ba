#include "knowledge/tables.h"

#include <stdio.h>
#include <string.h>

static const struct sql_plan plan = {
    .version = 1,
    .tables = "CREATE TABLE collections (id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, "
              "name TEXT NOT NULL, next INTEGER NOT NULL DEFAULT 0, documents INTEGER NOT NULL DEFAULT 0, "
              "paragraphs INTEGER NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0, "
              "dead INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, "
              "updated_ms INTEGER NOT NULL DEFAULT 0, generation INTEGER NOT NULL DEFAULT 0, "
              "vectors INTEGER NOT NULL DEFAULT 0, model TEXT NOT NULL DEFAULT '', UNIQUE (tenant, name));"
              "CREATE TABLE documents (id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, path TEXT NOT NULL, "
              "hash BLOB NOT NULL, title TEXT NOT NULL, first INTEGER NOT NULL, lengths BLOB NOT NULL, "
              "bytes INTEGER NOT NULL, vectors INTEGER NOT NULL DEFAULT 0, UNIQUE (collection, path));"
              "CREATE TABLE paragraphs (id INTEGER PRIMARY KEY, document INTEGER NOT NULL, headings TEXT NOT NULL, "
              "line_from INTEGER NOT NULL, line_to INTEGER NOT NULL, text TEXT NOT NULL);"
              "CREATE TABLE postings (collection INTEGER NOT NULL, term TEXT NOT NULL, first INTEGER NOT NULL, "
              "last INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL, "
              "PRIMARY KEY (collection, term, first)) WITHOUT ROWID;"
              "CREATE TABLE vectors (document INTEGER PRIMARY KEY, collection INTEGER NOT NULL, "
              "first INTEGER NOT NULL, data BLOB NOT NULL);"
              "CREATE INDEX vectors_collection ON vectors (collection);",
};

bool tables_open(struct tables *tables, const char *path, struct status *st)
{
    *tables = (struct tables){.file = sql_open(path, &plan, st)};
    return tables->file != NULL;
}

void tables_close(struct tables *tables)
{
    for (int i = 0; i < TABLE_STATEMENTS_COUNT; i++)
        if (tables->statements[i])
            sql_finalize(&tables->statements[i]);
    sql_close(&tables->file);
}

struct sql *tables_sql(struct tables *tables, enum table_statement statement, struct status *st)
{
    static const char *const texts[] = {
#define TEXT(name, text) [name] = text,
        TABLE_STATEMENTS(TEXT)
#undef TEXT
    };
    struct sql **sql = &tables->statements[statement];
    if (*sql)
        sql_reset(*sql);
    else
        *sql = sql_prepare(tables->file, texts[statement], st);
    return *sql;
}

/* ---- collections ------------------------------------------------------------------------------------------------- */

void collection_read(struct sql *sql, struct collection *collection)
{
    *collection = (struct collection){
        .id = sql_number(sql, 0),
        .next = sql_number(sql, 1),
        .documents = sql_number(sql, 2),
        .paragraphs = sql_number(sql, 3),
        .words = sql_number(sql, 4),
        .dead = sql_number(sql, 5),
        .bytes = sql_number(sql, 6),
        .updated_ms = sql_number(sql, 7),
        .generation = sql_number(sql, 8),
        .vectors = sql_number(sql, 9),
    };
    snprintf(collection->name, sizeof collection->name, "%s", sql_text(sql, 10));
    snprintf(collection->model, sizeof collection->model, "%s", sql_text(sql, 11));
}

bool collection_find(struct tables *tables, const char *tenant, const char *name, struct collection *collection,
                     struct status *st)
{
    struct sql *sql = tables_sql(tables, COLLECTION_FIND, st);
    *collection = (struct collection){0};
    if (!sql)
        return false;
    sql_bind_string(sql, 1, tenant);
    sql_bind_string(sql, 2, name);
    enum sql_step step = sql_step(sql, st);
    if (step == SQL_ROW)
        collection_read(sql, collection);
    sql_reset(sql);
    return step != SQL_FAILED;
}

bool collection_make(struct tables *tables, const char *tenant, const char *name, struct collection *collection,
                     struct status *st)
{
    if (!collection_find(tables, tenant, name, collection, st))
        return false;
    if (collection->id)
        return true;
    struct sql *sql = tables_sql(tables, COLLECTION_MAKE, st);
    if (!sql)
        return false;
    sql_bind_string(sql, 1, tenant);
    sql_bind_string(sql, 2, name);
    return sql_finish(sql, st) && collection_find(tables, tenant, name, collection, st);
}

bool collection_save(struct tables *tables, const struct collection *collection, struct status *st)
{
    struct sql *sql = tables_sql(tables, COLLECTION_SAVE, st);
    if (!sql)
        return false;
    const int64_t numbers[] = {collection->id,    collection->next, collection->documents, collection->paragraphs,
                               collection->words, collection->dead, collection->bytes,     collection->updated_ms};
    for (int i = 0; i < (int)(sizeof numbers / sizeof numbers[0]); i++)
        sql_bind(sql, i + 1, numbers[i]);
    sql_bind_string(sql, 9, collection->model);
    sql_bind(sql, 10, collection->vectors);
    return sql_finish(sql, st);
}

/* ---- documents --------------------------------------------------------------------------------------------------- */

int64_t paragraph_id(int64_t collection, int64_t number)
{
    return collection << 32 | number;
}

static int64_t sum_of(const uint16_t *lengths, int64_t count)
{
    int64_t words = 0;
    for (int64_t i = 0; i < count; i++)
        words += lengths[i] & LENGTH_MAX;
    return words;
}

static void kept_read(struct sql *sql, struct kept *kept)
{
    size_t size;
    kept->id = sql_number(sql, 0);
    const void *hash = sql_bytes(sql, 1, &size);
    memcpy(kept->hash, hash, size < HASH_SIZE ? size : HASH_SIZE);
    kept->first = sql_number(sql, 2);
    const uint16_t *lengths = sql_bytes(sql, 3, &size);
    kept->count = (int64_t)(size / sizeof *lengths);
    kept->words = sum_of(lengths, kept->count);
    kept->bytes = sql_number(sql, 4);
    kept->has_vectors = sql_number(sql, 5) != 0;
}

bool kept_find(struct tables *tables, int64_t collection, const char *path, struct kept *kept, struct status *st)
{
    struct sql *sql = tables_sql(tables, DOCUMENT_FIND, st);
    *kept = (struct kept){0};
    if (!sql)
        return false;
    sql_bind(sql, 1, collection);
    sql_bind_string(sql, 2, path);
    enum sql_step step = sql_step(sql, st);
    if (step == SQL_ROW)
        kept_read(sql, kept);
    sql_reset(sql);
    return step != SQL_FAILED;
}

static bool run_with(struct tables *tables, enum table_statement statement, int64_t first, int64_t second,
                     struct status *st)
{
    struct sql *sql = tables_sql(tables, statement, st);
    if (!sql)
        return false;
    sql_bind(sql, 1, first);
    if (second >= 0)
        sql_bind(sql, 2, second);
    return sql_finish(sql, st);
}

bool kept_remove(struct tables *tables, struct collection *collection, const struct kept *kept, struct status *st)
{
    int64_t from = paragraph_id(collection->id, kept->first);
    if (!run_with(tables, PARAGRAPH_DELETE, from, from + kept->count, st) ||
        !run_with(tables, VECTORS_DELETE, kept->id, -1, st) || !run_with(tables, DOCUMENT_DELETE, kept->id, -1, st))
        return false;
    collection->documents--;
    collection->paragraphs -= kept->count;
    collection->dead += kept->count;
    collection->words -= kept->words;
    collection->bytes -= kept->bytes;
    if (kept->has_vectors)
        collection->vectors -= kept->count;
    return true;
}
