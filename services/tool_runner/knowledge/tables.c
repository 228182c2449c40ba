#include "knowledge/tables.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const upgrades[] = {
    "ALTER TABLE collections ADD COLUMN seal INTEGER; ALTER TABLE documents ADD COLUMN seal INTEGER;"
    "ALTER TABLE paragraphs ADD COLUMN seal INTEGER; ALTER TABLE postings ADD COLUMN seal INTEGER;"
    "ALTER TABLE vectors ADD COLUMN seal INTEGER;", /* to version 2 */
};
static const struct sql_plan plan = {
    .version = 2,
    .subject = "the knowledge base",
    /* A piece of postings is a fourth of a page, which is the most that a row of an index may have. */
    .first_pragmas = "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL;",
    .pragmas = "PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -65536;",
    .busy_ms = 20000, /* a batch takes a second or two */
    .memory_max = INT64_C(512) << 20,
    .upgrades = upgrades,
    .tables =
        "CREATE TABLE collections (id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, "
        "name TEXT NOT NULL, next INTEGER NOT NULL DEFAULT 0, documents INTEGER NOT NULL DEFAULT 0, "
        "paragraphs INTEGER NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0, "
        "dead INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, "
        "updated_ms INTEGER NOT NULL DEFAULT 0, generation INTEGER NOT NULL DEFAULT 0, "
        "vectors INTEGER NOT NULL DEFAULT 0, model TEXT NOT NULL DEFAULT '', seal INTEGER, UNIQUE (tenant, name));"
        "CREATE TABLE documents (id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, path TEXT NOT NULL, "
        "hash BLOB NOT NULL, title TEXT NOT NULL, first INTEGER NOT NULL, lengths BLOB NOT NULL, "
        "bytes INTEGER NOT NULL, vectors INTEGER NOT NULL DEFAULT 0, seal INTEGER, UNIQUE (collection, path));"
        "CREATE TABLE paragraphs (id INTEGER PRIMARY KEY, document INTEGER NOT NULL, headings TEXT NOT NULL, "
        "line_from INTEGER NOT NULL, line_to INTEGER NOT NULL, text TEXT NOT NULL, seal INTEGER);"
        "CREATE TABLE postings (collection INTEGER NOT NULL, term TEXT NOT NULL, first INTEGER NOT NULL, "
        "last INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL, seal INTEGER, "
        "PRIMARY KEY (collection, term, first)) WITHOUT ROWID;"
        "CREATE TABLE vectors (document INTEGER PRIMARY KEY, collection INTEGER NOT NULL, "
        "first INTEGER NOT NULL, data BLOB NOT NULL, seal INTEGER);"
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

bool tables_run(struct tables *tables, enum table_statement statement, int64_t number, struct status *st)
{
    struct sql *sql = tables_sql(tables, statement, st);
    if (!sql)
        return false;
    sql_bind(sql, 1, number);
    return sql_finish(sql, st);
}

/* ---- collections ------------------------------------------------------------------------------------------------- */

#define NEXT_MAX       (INT64_C(1) << 28) /* a search takes 6 bytes of memory for each */
#define ID_MAX         (INT64_C(1) << 31) /* of a collection: its paragraphs have 63 bits */
#define AMOUNT_MAX     (INT64_C(1) << 48) /* words or bytes of a collection */
#define PARAGRAPHS_MAX (INT64_C(1) << 32)

static bool is_within(int64_t number, int64_t least, int64_t most)
{
    return number >= least && number <= most;
}

static bool counts_fit(const struct collection *collection)
{
    int64_t next = collection->next;
    return is_within(collection->id, 1, ID_MAX) && is_within(next, 0, NEXT_MAX) &&
           is_within(collection->paragraphs, 0, next) && is_within(collection->dead, 0, next) &&
           is_within(collection->vectors, 0, next) && is_within(collection->documents, 0, PARAGRAPHS_MAX) &&
           is_within(collection->words, 0, AMOUNT_MAX) && is_within(collection->bytes, -AMOUNT_MAX, AMOUNT_MAX);
}

bool collection_read(struct sql *sql, struct collection *collection, struct status *st)
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
    if (!text_is_clean(collection->name, strlen(collection->name)))
        return fail(st, DATA_LOSS,
                    "the name of collection %" PRId64 " in the knowledge file is damaged: it is no UTF-8",
                    collection->id);
    bool sealed = sql_number(sql, 12) != 0;
    if (sealed && counts_fit(collection) && text_is_clean(collection->model, strlen(collection->model)))
        return true;
    struct collection bare = {.id = collection->id, .generation = collection->generation};
    memcpy(bare.name, collection->name, sizeof bare.name);
    *collection = bare;
    return fail(st, DATA_LOSS, "the row of collection '%s' is damaged: %s; delete the collection and index it again",
                bare.name, sealed ? "its counts or its model make no sense" : "its checksum does not fit its values");
}

bool collection_trim(struct tables *tables, struct collection *collection, struct status *st)
{
    struct sql *sql = tables_sql(tables, PARAGRAPH_LAST, st);
    if (!sql)
        return false;
    sql_bind(sql, 1, paragraph_id(collection->id, 0));
    sql_bind(sql, 2, paragraph_id(collection->id + 1, 0));
    enum sql_step step = sql_step(sql, st);
    int64_t last = step == SQL_ROW ? sql_number(sql, 0) : 0;
    sql_reset(sql);
    int64_t behind = last ? (last & (PARAGRAPHS_MAX - 1)) + 1 : 0;
    if (behind > collection->next)
        return fail(st, DATA_LOSS,
                    "the row of collection '%s' is damaged: it has paragraph %" PRId64 ", and next is "
                    "%" PRId64,
                    collection->name, behind - 1, collection->next);
    collection->next = behind;
    return step == SQL_ROW;
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
    bool good = step != SQL_FAILED && (step == SQL_DONE || collection_read(sql, collection, st));
    sql_reset(sql);
    return good;
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

static int64_t sum_of(const uint8_t *lengths, int64_t count)
{
    int64_t words = 0;
    for (int64_t i = 0; i < count; i++) {
        uint16_t length; /* a column is not aligned */
        memcpy(&length, lengths + i * (int64_t)sizeof length, sizeof length);
        words += length & LENGTH_MAX;
    }
    return words;
}

static void kept_read(struct sql *sql, struct kept *kept)
{
    size_t size;
    kept->id = sql_number(sql, 0);
    const void *hash = sql_bytes(sql, 1, &size);
    if (size == HASH_SIZE) /* else it is the hash of no document, which is indexed again */
        memcpy(kept->hash, hash, HASH_SIZE);
    kept->first = sql_number(sql, 2);
    const void *lengths = sql_bytes(sql, 3, &size);
    kept->count = (int64_t)(size / sizeof(uint16_t));
    kept->words = sum_of(lengths, kept->count);
    kept->bytes = sql_number(sql, 4);
    kept->has_vectors = sql_number(sql, 5) != 0;
    if (sql_number(sql, 6))
        return;
    memset(kept->hash, 0, HASH_SIZE); /* damaged: it is indexed again, and its paragraphs are looked for */
    kept->first = -1;
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

/* If the document's row does not say which, all paragraphs of the collection are looked through. */
static bool remove_paragraphs(struct tables *tables, const struct collection *collection, const struct kept *kept,
                              struct status *st)
{
    struct sql *sql = tables_sql(tables, PARAGRAPH_DELETE, st);
    bool known =
        is_within(kept->count, 0, collection->next) && is_within(kept->first, 0, collection->next - kept->count);
    int64_t first = known ? kept->first : 0, behind = known ? kept->first + kept->count : PARAGRAPHS_MAX;
    if (!sql)
        return false;
    sql_bind(sql, 1, paragraph_id(collection->id, 0) + first);
    sql_bind(sql, 2, paragraph_id(collection->id, 0) + behind);
    sql_bind(sql, 3, kept->id);
    return sql_finish(sql, st);
}

/* A damaged row of a document may claim more than the collection has. */
static void take_away(int64_t *from, int64_t amount)
{
    *from -= is_within(amount, 0, *from) ? amount : *from > 0 ? *from : 0;
}

bool kept_remove(struct tables *tables, struct collection *collection, const struct kept *kept, struct status *st)
{
    if (!remove_paragraphs(tables, collection, kept, st) || !tables_run(tables, VECTORS_DELETE, kept->id, st) ||
        !tables_run(tables, DOCUMENT_DELETE, kept->id, st))
        return false;
    int64_t paragraphs = collection->paragraphs;
    take_away(&collection->documents, 1);
    take_away(&collection->paragraphs, kept->count);
    collection->dead += paragraphs - collection->paragraphs;
    take_away(&collection->words, kept->words);
    take_away(&collection->bytes, kept->bytes);
    if (kept->has_vectors)
        take_away(&collection->vectors, kept->count);
    return true;
}
