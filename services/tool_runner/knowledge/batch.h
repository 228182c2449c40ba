/* A batch: documents to be written together, with the postings of their terms. It stays in memory until batch_write,
 * which writes the whole batch or no part of it. Belongs to one thread. */
#ifndef RENGA_TOOL_RUNNER_BATCH_H
#define RENGA_TOOL_RUNNER_BATCH_H

#include "documents/document.h"
#include "knowledge/postings.h"
#include "knowledge/tables.h"

/* Past one of these a batch is full. */
#define BATCH_POSTINGS_MAX  1000000
#define BATCH_BYTES_MAX     ((size_t)16 << 20)
#define BATCH_DOCUMENTS_MAX 4096

struct batch_document {
    struct batch_document *next;
    char *path;
    uint8_t hash[HASH_SIZE];
    char *text; /* that the document points into */
    struct document document;
    uint16_t *lengths;
};

struct batch_term {
    const char *text;
    uint32_t length, hash;
    uint32_t count;     /* of its postings */
    uint32_t paragraph; /* the last paragraph with the term, and the position of that posting */
    uint32_t posting;
};

struct batch_posting {
    uint32_t term;
    struct posting posting;
};

struct batch {
    struct arena arena; /* texts of terms */
    struct batch_term *terms;
    uint32_t *slots; /* of the hash table: a term's index and 1 */
    size_t term_count, term_room, slot_count;
    struct batch_posting *postings;
    size_t posting_count, posting_room;
    struct batch_document *documents, **last;
    size_t document_count, bytes;
    uint32_t next;                 /* number of the next paragraph */
    const struct heading *heading; /* heading with indexed terms */
    uint32_t *above;               /* terms of the headings and the title */
    size_t above_count, above_room;
    size_t innermost_count; /* of these, the terms of the innermost heading, which come first and count twice */
    bool exhausted;         /* memory is out: it can only be cleared */
};

/* Paragraphs are numbered from `next`. */
void batch_init(struct batch *batch, uint32_t next);
void batch_fini(struct batch *batch);
/* As it was after batch_init. */
void batch_clear(struct batch *batch, uint32_t next);

/* Takes the document and the text that it points into (to be freed); `path` is copied. */
void batch_add(struct batch *batch, const char *path, const uint8_t hash[HASH_SIZE], struct document *document,
               char *text);
bool batch_is_full(const struct batch *batch);

/* Within a transaction: documents of the same paths are replaced, the collection's counts are changed and not saved. */
bool batch_write(struct batch *batch, struct tables *tables, struct collection *collection, struct status *st);

#endif
