/* The tables of the knowledge base and what is done to their rows, always on behalf of one thread.
 *
 *      collections --- documents --- paragraphs      what is shown
 *                          '-------- vectors         of a document, one a paragraph
 *      collections --- postings                      term -> pieces of (paragraph, how often)
 *
 * A paragraph is known by its number within the collection; numbers are never given twice, so that the postings of one
 * that is gone do no harm until they are swept out. */
#ifndef RENGA_TOOL_RUNNER_TABLES_H
#define RENGA_TOOL_RUNNER_TABLES_H

#include "base/arena.h"
#include "base/status.h"
#include "knowledge/knowledge_sqlite.h"

#include <stdbool.h>
#include <stdint.h>

#define HASH_SIZE 32 /* bytes: SHA-256 */

/* STATEMENT(name, SQL) */
#define TABLE_STATEMENTS(STATEMENT)                                                                                    \
    STATEMENT(COLLECTION_FIND, "SELECT " COLLECTION_COLUMNS " FROM collections WHERE tenant = ?1 AND name = ?2")       \
    STATEMENT(COLLECTION_LIST,                                                                                         \
              "SELECT " COLLECTION_COLUMNS " FROM collections WHERE tenant = ?1 ORDER BY name LIMIT ?2")               \
    STATEMENT(COLLECTION_MAKE, "INSERT INTO collections (tenant, name) VALUES (?1, ?2)")                               \
    STATEMENT(COLLECTION_SAVE, "UPDATE collections SET next = ?2, documents = ?3, paragraphs = ?4, words = ?5, "       \
                               "dead = ?6, bytes = ?7, updated_ms = ?8, model = ?9, vectors = ?10, "                   \
                               "generation = generation + 1 WHERE id = ?1")                                            \
    STATEMENT(COLLECTION_DELETE, "DELETE FROM collections WHERE id = ?1")                                              \
    STATEMENT(TENANT_BYTES, "SELECT sum(bytes), count(*) FROM collections WHERE tenant = ?1")                          \
    STATEMENT(DOCUMENT_FIND, "SELECT id, hash, first, lengths, bytes, vectors FROM documents "                         \
                             "WHERE collection = ?1 AND path = ?2")                                                    \
    STATEMENT(DOCUMENT_LIST, "SELECT path FROM documents WHERE collection = ?1 AND path > ?2 ORDER BY path LIMIT ?3")  \
    STATEMENT(DOCUMENT_LENGTHS, "SELECT first, lengths FROM documents WHERE collection = ?1")                          \
    STATEMENT(DOCUMENT_ADD, "INSERT INTO documents (collection, path, hash, title, first, lengths, bytes) "            \
                            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")                                                     \
    STATEMENT(DOCUMENT_DELETE, "DELETE FROM documents WHERE id = ?1")                                                  \
    STATEMENT(DOCUMENT_BARE, "SELECT id, first, length(lengths) / 2, title FROM documents "                            \
                             "WHERE collection = ?1 AND vectors = 0 AND id > ?2 AND lengths <> x'' "                   \
                             "ORDER BY id LIMIT 1")                                                                    \
    STATEMENT(PARAGRAPH_ADD, "INSERT INTO paragraphs VALUES (?1, ?2, ?3, ?4, ?5, ?6)")                                 \
    STATEMENT(PARAGRAPH_FIND, "SELECT d.path, d.title, p.headings, p.line_from, p.line_to, p.text "                    \
                              "FROM paragraphs p JOIN documents d ON d.id = p.document WHERE p.id = ?1")               \
    STATEMENT(PARAGRAPH_RANGE, "SELECT headings, text FROM paragraphs WHERE id >= ?1 AND id < ?2 ORDER BY id")         \
    STATEMENT(PARAGRAPH_DELETE, "DELETE FROM paragraphs WHERE id >= ?1 AND id < ?2")                                   \
    STATEMENT(POSTINGS_LAST, "SELECT first, last, count, data FROM postings WHERE collection = ?1 AND term = ?2 "      \
                             "ORDER BY first DESC LIMIT 1")                                                            \
    STATEMENT(POSTINGS_PUT, "INSERT OR REPLACE INTO postings VALUES (?1, ?2, ?3, ?4, ?5, ?6)")                         \
    STATEMENT(POSTINGS_COUNT, "SELECT sum(count) FROM postings WHERE collection = ?1 AND term = ?2")                   \
    STATEMENT(POSTINGS_OF, "SELECT first, data FROM postings WHERE collection = ?1 AND term = ?2")                     \
    STATEMENT(POSTINGS_SCAN, "SELECT term, first, data FROM postings WHERE collection = ?1 "                           \
                             "AND (term, first) > (?2, ?3) ORDER BY term, first LIMIT ?4")                             \
    STATEMENT(POSTINGS_DELETE, "DELETE FROM postings WHERE collection = ?1 AND term = ?2 AND first = ?3")              \
    STATEMENT(POSTINGS_CLEAR, "DELETE FROM postings WHERE (collection, term, first) IN "                               \
                              "(SELECT collection, term, first FROM postings WHERE collection = ?1 LIMIT ?2)")         \
    STATEMENT(VECTORS_PUT, "INSERT OR REPLACE INTO vectors VALUES (?1, ?2, ?3, ?4)")                                   \
    STATEMENT(VECTORS_MARK, "UPDATE documents SET vectors = ?2, bytes = bytes + ?3 WHERE id = ?1")                     \
    STATEMENT(VECTORS_OF, "SELECT first, data FROM vectors WHERE collection = ?1")                                     \
    STATEMENT(VECTORS_DELETE, "DELETE FROM vectors WHERE document = ?1")

#define COLLECTION_COLUMNS                                                                                             \
    "id, next, documents, paragraphs, words, dead, bytes, updated_ms, generation, vectors, name, model"

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
    char model[MODEL_NAME_MAX + 1]; /* of its vectors; "": it has none */
};

/* `id` is 0 where there is none. False where it could not be looked for. */
bool collection_find(struct tables *tables, const char *tenant, const char *name, struct collection *collection,
                     struct status *st);
/* Makes it where there is none. */
bool collection_make(struct tables *tables, const char *tenant, const char *name, struct collection *collection,
                     struct status *st);
/* Its counts, and that it has changed. */
bool collection_save(struct tables *tables, const struct collection *collection, struct status *st);
void collection_read(struct sql *sql, struct collection *collection);

/* A document that is kept. */
struct kept {
    int64_t id; /* 0: there is none */
    uint8_t hash[HASH_SIZE];
    int64_t first, count; /* its paragraphs */
    int64_t words, bytes;
    bool has_vectors;
};
bool kept_find(struct tables *tables, int64_t collection, const char *path, struct kept *kept, struct status *st);
/* Takes it out of the collection, whose counts are changed but not saved. Its postings stay until they are swept out.
 */
bool kept_remove(struct tables *tables, struct collection *collection, const struct kept *kept, struct status *st);

/* Lengths of paragraphs, as they are kept with a document: little more than a count of words. */
#define LENGTH_MAX      0x1fff
#define LENGTH_NUMBER   0x2000 /* the paragraph has a number */
#define LENGTH_JAPANESE 0x4000 /* the paragraph is in Japanese, else in English */
#define LENGTH_ANSWER   0x8000 /* the paragraph answers a question */

/* The row of a paragraph. */
int64_t paragraph_id(int64_t collection, int64_t number);

/* Removes postings of dead paragraphs, some at a time; `stop` is asked between. */
bool sweep_postings(struct tables *tables, struct collection *collection, bool (*stop)(void *data), void *data,
                    struct status *st);

#endif
