/* The tables of the knowledge base and their operations, always for one thread.
 *
 *      collections --- documents --- paragraphs      text of hits
 *                          '-------- vectors         of a document, one a paragraph
 *      collections --- postings                      term -> pieces of (paragraph, how often)
 *
 * A paragraph is known by its number within the collection; numbers are never reused, so that postings of a deleted
 * paragraph are harmless until they are swept out. */
#ifndef RENGA_TOOL_RUNNER_TABLES_H
#define RENGA_TOOL_RUNNER_TABLES_H

#include "base/arena.h"
#include "base/status.h"
#include "store/sqlite/sql.h"

#include <stdbool.h>
#include <stdint.h>

#define HASH_SIZE 32 /* bytes: SHA-256 */

/* STATEMENT(name, SQL) */
/* A row is whole if its checksum fits (store/sqlite/checksum.h), or if a release without checksums wrote it. */
#define SEALED(...)   "seal_of(" __VA_ARGS__ ")"
#define WHOLE(...)    "(seal IS NULL OR seal = " SEALED(__VA_ARGS__) ")"
#define RESEALED(...) "CASE WHEN " __VA_ARGS__ " ELSE seal END" /* a damaged row stays so when it is changed */
#define COLLECTION_PARTS                                                                                               \
    "id, tenant, name, next, documents, paragraphs, words, dead, bytes, updated_ms, generation, vectors, model"
#define DOCUMENT_NAMES "id, collection, path, hash, title, first, lengths, "
#define DOCUMENT_PARTS DOCUMENT_NAMES "bytes, vectors"
#define POSTINGS_PARTS "collection, term, first, last, count, data"

#define TABLE_STATEMENTS(STATEMENT)                                                                                    \
    STATEMENT(COLLECTION_FIND, "SELECT " COLLECTION_COLUMNS " FROM collections WHERE tenant = ?1 AND name = ?2")       \
    STATEMENT(COLLECTION_LIST,                                                                                         \
              "SELECT " COLLECTION_COLUMNS " FROM collections WHERE tenant = ?1 OR (tenant = ?3 AND name NOT IN "      \
              "(SELECT name FROM collections WHERE tenant = ?1)) ORDER BY name LIMIT ?2")                              \
    STATEMENT(COLLECTION_MAKE, "INSERT INTO collections (tenant, name) VALUES (?1, ?2)")                               \
    STATEMENT(COLLECTION_SAVE,                                                                                         \
              "UPDATE collections SET next = ?2, documents = ?3, paragraphs = ?4, words = ?5, "                        \
              "dead = ?6, bytes = ?7, updated_ms = ?8, model = ?9, vectors = ?10, "                                    \
              "generation = generation + 1, seal = " SEALED(                                                           \
                  "id, tenant, name, ?2, ?3, ?4, ?5, ?6, ?7, ?8, generation + 1, ?10, ?9") " WHERE id = ?1")           \
    STATEMENT(COLLECTION_DELETE, "DELETE FROM collections WHERE id = ?1")                                              \
    STATEMENT(TENANT_BYTES,                                                                                            \
              "SELECT sum(bytes), count(*) FROM collections WHERE tenant = ?1 AND " WHOLE(COLLECTION_PARTS))           \
    STATEMENT(DOCUMENT_FIND, "SELECT id, hash, first, lengths, bytes, vectors, " WHOLE(                                \
                                 DOCUMENT_PARTS) " FROM documents WHERE collection = ?1 AND path = ?2")                \
    STATEMENT(DOCUMENT_LIST, "SELECT path FROM documents WHERE collection = ?1 AND path > ?2 ORDER BY path LIMIT ?3")  \
    STATEMENT(DOCUMENT_LENGTHS,                                                                                        \
              "SELECT first, lengths, " WHOLE(DOCUMENT_PARTS) " FROM documents WHERE collection = ?1")                 \
    STATEMENT(DOCUMENT_ADD,                                                                                            \
              "INSERT INTO documents (" DOCUMENT_PARTS ", seal) SELECT next, ?1, ?2, ?3, ?4, ?5, ?6, "                 \
              "?7, 0, " SEALED(                                                                                        \
                  "next, ?1, ?2, ?3, ?4, ?5, ?6, ?7, 0") " FROM "                                                      \
                                                         "(SELECT ifnull(max(id), 0) + 1 AS next FROM documents)")     \
    STATEMENT(DOCUMENT_DELETE, "DELETE FROM documents WHERE id = ?1")                                                  \
    STATEMENT(DOCUMENT_BARE, "SELECT id, first, length(lengths) / 2, title FROM documents "                            \
                             "WHERE collection = ?1 AND vectors = 0 AND id > ?2 AND lengths <> x'' "                   \
                             "AND " WHOLE(DOCUMENT_PARTS) " ORDER BY id LIMIT 1")                                      \
    STATEMENT(PARAGRAPH_ADD,                                                                                           \
              "INSERT INTO paragraphs VALUES (?1, ?2, ?3, ?4, ?5, ?6, " SEALED("?1, ?2, ?3, ?4, ?5, ?6") ")")          \
    STATEMENT(PARAGRAPH_FIND,                                                                                          \
              "SELECT d.path, d.title, p.headings, p.line_from, p.line_to, p.text, "                                   \
              "(p.seal IS NULL OR p.seal = " SEALED(                                                                   \
                  "p.id, p.document, p.headings, p.line_from, p.line_to, "                                             \
                  "p.text") ") AND (d.seal IS NULL OR d.seal = " SEALED("d.id, d.collection, d.path, "                 \
                                                                        "d.hash, d.title, "                            \
                                                                        "d.first, d.lengths, d.bytes, "                \
                                                                        "d.vectors") ") "                              \
                                                                                     "FROM paragraphs p "              \
                                                                                     "JOIN documents d ON "            \
                                                                                     "d.id = "                         \
                                                                                     "p.document WHERE "               \
                                                                                     "p.id = ?1")                      \
    STATEMENT(PARAGRAPH_RANGE, "SELECT headings, text, " WHOLE(                                                        \
                                   "id, document, headings, line_from, line_to, text") " FROM paragraphs WHERE id >= " \
                                                                                       "?1 AND id < ?2 ORDER BY id")   \
    STATEMENT(PARAGRAPH_LAST, "SELECT max(id) FROM paragraphs WHERE id >= ?1 AND id < ?2")                             \
    STATEMENT(PARAGRAPH_DELETE, "DELETE FROM paragraphs WHERE id >= ?1 AND id < ?2 AND document = ?3")                 \
    STATEMENT(POSTINGS_LAST, "SELECT first, last, count, data, " WHOLE(                                                \
                                 POSTINGS_PARTS) " FROM postings WHERE collection = ?1 AND term = ?2 "                 \
                                                 "ORDER BY first DESC LIMIT 1")                                        \
    STATEMENT(POSTINGS_PUT,                                                                                            \
              "INSERT OR REPLACE INTO postings VALUES (?1, ?2, ?3, ?4, ?5, ?6, " SEALED("?1, ?2, ?3, ?4, ?5, ?6") ")") \
    STATEMENT(POSTINGS_COUNT,                                                                                          \
              "SELECT count, " WHOLE(POSTINGS_PARTS) " FROM postings WHERE collection = ?1 AND term = ?2")             \
    STATEMENT(POSTINGS_FIRST, "SELECT count FROM postings WHERE collection = ?1 AND term = ?2 LIMIT 1")                \
    STATEMENT(POSTINGS_OF,                                                                                             \
              "SELECT first, data, " WHOLE(POSTINGS_PARTS) " FROM postings WHERE collection = ?1 AND term = ?2")       \
    STATEMENT(POSTINGS_SCAN, "SELECT term, first, data, " WHOLE(                                                       \
                                 POSTINGS_PARTS) " FROM postings WHERE collection = ?1 "                               \
                                                 "AND (term, first) > (?2, ?3) ORDER BY term, first LIMIT ?4")         \
    STATEMENT(POSTINGS_DELETE, "DELETE FROM postings WHERE collection = ?1 AND term = ?2 AND first = ?3")              \
    STATEMENT(POSTINGS_CLEAR, "DELETE FROM postings WHERE (collection, term, first) IN "                               \
                              "(SELECT collection, term, first FROM postings WHERE collection = ?1 LIMIT ?2)")         \
    STATEMENT(VECTORS_PUT, "INSERT OR REPLACE INTO vectors VALUES (?1, ?2, ?3, ?4, " SEALED("?1, ?2, ?3, ?4") ")")     \
    STATEMENT(VECTORS_MARK, "UPDATE documents SET vectors = ?2, bytes = bytes + ?3, seal = " RESEALED(WHOLE(           \
                                DOCUMENT_PARTS) " THEN " SEALED(DOCUMENT_NAMES "bytes + ?3, ?2")) " WHERE id = ?1")    \
    STATEMENT(VECTORS_UNMARK,                                                                                          \
              "UPDATE documents SET vectors = 0, seal = " RESEALED(                                                    \
                  WHOLE(DOCUMENT_PARTS) " THEN " SEALED(DOCUMENT_NAMES "bytes, 0")) " WHERE collection = ?1")          \
    STATEMENT(VECTORS_CLEAR, "DELETE FROM vectors WHERE collection = ?1")                                              \
    STATEMENT(VECTORS_OF,                                                                                              \
              "SELECT first, data, " WHOLE("document, collection, first, data") " FROM vectors WHERE collection = ?1") \
    STATEMENT(VECTORS_DELETE, "DELETE FROM vectors WHERE document = ?1")

#define COLLECTION_COLUMNS                                                                                             \
    "id, next, documents, paragraphs, words, dead, bytes, updated_ms, generation, vectors, name, model, " WHOLE(       \
        COLLECTION_PARTS)

enum table_statement {
#define NAME(name, text) name,
    TABLE_STATEMENTS(NAME)
#undef NAME
        TABLE_STATEMENTS_COUNT,
};

struct tables {
    struct sql_file *file;
    struct sql *statements[TABLE_STATEMENTS_COUNT];
};

bool tables_open(struct tables *tables, const char *path, struct status *st);
void tables_close(struct tables *tables);

/* Prepared at its first use, reset at each. */
struct sql *tables_sql(struct tables *tables, enum table_statement statement, struct status *st);
/* One with a single number as its parameter, to its end. */
bool tables_run(struct tables *tables, enum table_statement statement, int64_t number, struct status *st);

#define COLLECTION_NAME_MAX 64  /* bytes */
#define MODEL_NAME_MAX      128 /* bytes */

struct collection {
    int64_t id;
    int64_t next; /* number of the next paragraph */
    int64_t documents, paragraphs, vectors;
    int64_t words; /* sum of the lengths of its paragraphs */
    int64_t dead;  /* paragraphs that are gone and may still stand in postings */
    int64_t bytes;
    int64_t updated_ms;
    int64_t generation; /* grows with each change */
    char name[COLLECTION_NAME_MAX + 1];
    char model[MODEL_NAME_MAX + 1]; /* of its vectors; "": without vectors */
};

/* `id` is 0 without a row. False if it could not be looked for, or its row is damaged (DATA_LOSS): then its
 * counts are 0, so that it can be deleted. */
bool collection_find(struct tables *tables, const char *tenant, const char *name, struct collection *collection,
                     struct status *st);
/* Creates it if it does not exist. */
bool collection_make(struct tables *tables, const char *tenant, const char *name, struct collection *collection,
                     struct status *st);
/* Its counts, and that it has changed. */
bool collection_save(struct tables *tables, const struct collection *collection, struct status *st);
/* Of a row of COLLECTION_COLUMNS. False if it is damaged (DATA_LOSS). */
bool collection_read(struct sql *sql, struct collection *collection, struct status *st);
/* For readers that have memory for each paragraph: `next` becomes the number behind the last one that is there. */
bool collection_trim(struct tables *tables, struct collection *collection, struct status *st);

/* A document that is kept. */
struct kept {
    int64_t id; /* 0: does not exist */
    uint8_t hash[HASH_SIZE];
    int64_t first, count; /* its paragraphs; not checked */
    int64_t words, bytes;
    bool has_vectors;
};
bool kept_find(struct tables *tables, int64_t collection, const char *path, struct kept *kept, struct status *st);
/* Removes it from the collection; the changed counts are not saved. Its postings stay until they are swept out. */
bool kept_remove(struct tables *tables, struct collection *collection, const struct kept *kept, struct status *st);

/* Lengths of paragraphs, as they are kept with a document: little more than a count of words. A paragraph has at most
 * PARAGRAPH_MAX bytes, so that files of releases before LENGTH_STEPS have no such bit. */
#define LENGTH_MAX      0x0fff
#define LENGTH_STEPS    0x1000 /* the paragraph has numbered steps */
#define LENGTH_NUMBER   0x2000 /* the paragraph has a number */
#define LENGTH_JAPANESE 0x4000 /* the paragraph is in Japanese, else in English */
#define LENGTH_ANSWER   0x8000 /* the paragraph answers a question */

/* The row of a paragraph. */
int64_t paragraph_id(int64_t collection, int64_t number);

/* Enough paragraphs are dead that sweeping their postings out is worth the work. */
bool sweep_is_due(const struct collection *collection);
/* Removes postings of dead paragraphs, some at a time; `stop` is asked between. */
bool sweep_postings(struct tables *tables, struct collection *collection, bool (*stop)(void *data), void *data,
                    struct status *st);

#endif
