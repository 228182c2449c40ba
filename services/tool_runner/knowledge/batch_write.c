/* A batch on its way into the file. Its terms are written in their order, so that pages are touched once. */
#include "knowledge/batch.h"

#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_MAX      1800 /* bytes of postings in one row: it fits a page of the index without overflowing */
#define PARAGRAPH_COST 32   /* bytes of a paragraph beside its texts */
#define HEADINGS_MAX   4096

/* ---- documents --------------------------------------------------------------------------------------------------- */

/* Outermost first, a line each. */
static void print_headings(struct buffer *out, const struct heading *heading)
{
    if (!heading)
        return;
    print_headings(out, heading->above); /* at most six deep */
    if (out->length)
        buffer_put(out, '\n');
    buffer_print(out, heading->text);
}

static bool batch_write_paragraph(struct sql *sql, int64_t id, int64_t document, const struct paragraph *paragraph,
                                  struct buffer *headings, struct status *st)
{
    buffer_clear(headings);
    print_headings(headings, paragraph->heading);
    sql_bind(sql, 1, id);
    sql_bind(sql, 2, document);
    sql_bind_text(sql, 3, buffer_text(headings), headings->length);
    sql_bind(sql, 4, paragraph->line_from);
    sql_bind(sql, 5, paragraph->line_to);
    sql_bind_text(sql, 6, paragraph->text, paragraph->length);
    return sql_finish(sql, st);
}

static bool batch_write_row(struct tables *tables, const struct collection *collection,
                            const struct batch_document *kept, uint32_t first, int64_t bytes, struct status *st)
{
    struct sql *sql = tables_sql(tables, DOCUMENT_ADD, st);
    if (!sql)
        return false;
    sql_bind(sql, 1, collection->id);
    sql_bind_string(sql, 2, kept->path);
    sql_bind_bytes(sql, 3, kept->hash, HASH_SIZE);
    sql_bind_string(sql, 4, kept->document.title);
    sql_bind(sql, 5, first);
    sql_bind_bytes(sql, 6, kept->lengths, kept->document.count * sizeof *kept->lengths);
    sql_bind(sql, 7, bytes);
    return sql_finish(sql, st);
}

static bool write_paragraphs(struct tables *tables, const struct collection *collection,
                             const struct batch_document *kept, uint32_t first, struct buffer *headings,
                             struct status *st)
{
    int64_t document = sql_inserted(tables->file), id = paragraph_id(collection->id, first);
    struct sql *sql = tables_sql(tables, PARAGRAPH_ADD, st);
    if (!sql)
        return false;
    for (const struct paragraph *paragraph = kept->document.first; paragraph; paragraph = paragraph->next)
        if (!batch_write_paragraph(sql, id++, document, paragraph, headings, st))
            return false;
    return true;
}

static bool write_document(struct tables *tables, struct collection *collection, const struct batch_document *kept,
                           uint32_t first, struct buffer *headings, struct status *st)
{
    struct kept before;
    int64_t words = 0, bytes = (int64_t)strlen(kept->path) + HASH_SIZE;
    if (!kept_find(tables, collection->id, kept->path, &before, st) ||
        (before.id && !kept_remove(tables, collection, &before, st)))
        return false;
    for (const struct paragraph *paragraph = kept->document.first; paragraph; paragraph = paragraph->next)
        bytes += (int64_t)paragraph->length + PARAGRAPH_COST;
    for (size_t i = 0; i < kept->document.count; i++)
        words += kept->lengths[i] & LENGTH_MAX;
    collection->documents++;
    collection->paragraphs += (int64_t)kept->document.count;
    collection->words += words;
    collection->bytes += bytes;
    return batch_write_row(tables, collection, kept, first, bytes, st) &&
           write_paragraphs(tables, collection, kept, first, headings, st);
}

static bool write_documents(const struct batch *batch, struct tables *tables, struct collection *collection,
                            struct status *st)
{
    struct buffer headings;
    uint32_t first = (uint32_t)collection->next;
    bool written = true;
    buffer_init(&headings, HEADINGS_MAX);
    for (const struct batch_document *kept = batch->documents; kept && written; kept = kept->next) {
        written = write_document(tables, collection, kept, first, &headings, st);
        first += (uint32_t)kept->document.count;
    }
    buffer_fini(&headings);
    return written;
}

/* ---- postings ---------------------------------------------------------------------------------------------------- */

/* A row that is being filled. */
struct piece_row {
    uint32_t first, last, count;
    size_t size;
    uint8_t data[PIECE_MAX];
};

/* New postings go on from `last`, so the old ones must end with it. */
static bool piece_is_whole(const struct piece_row *row)
{
    struct postings postings = {row->data, row->data + row->size, row->first};
    struct posting posting = {row->first, 0};
    uint32_t count = 0;
    while (postings_next(&postings, &posting))
        count++;
    return postings.at == postings.end && count == row->count && posting.paragraph == row->last;
}

/* The last row of a term if it has capacity; else an empty row. */
static bool read_last(struct tables *tables, int64_t collection, const struct batch_term *term, struct piece_row *row,
                      struct status *st)
{
    struct sql *sql = tables_sql(tables, POSTINGS_LAST, st);
    row->count = 0;
    row->size = 0;
    if (!sql)
        return false;
    sql_bind(sql, 1, collection);
    sql_bind_text(sql, 2, term->text, term->length);
    enum sql_step step = sql_step(sql, st);
    if (step == SQL_ROW) {
        size_t size;
        const void *data = sql_bytes(sql, 3, &size);
        if (size + POSTING_SIZE_MAX <= PIECE_MAX) {
            row->first = (uint32_t)sql_number(sql, 0);
            row->last = (uint32_t)sql_number(sql, 1);
            row->count = (uint32_t)sql_number(sql, 2);
            row->size = size;
            if (size)
                memcpy(row->data, data, size);
            if (!sql_number(sql, 4) || !piece_is_whole(row))
                row->count = row->size = 0; /* damaged: it stays as it is, and another row begins */
        }
    }
    sql_reset(sql);
    return step != SQL_FAILED;
}

static bool put_row(struct tables *tables, int64_t collection, const struct batch_term *term,
                    const struct piece_row *row, struct status *st)
{
    struct sql *sql = tables_sql(tables, POSTINGS_PUT, st);
    if (!sql)
        return false;
    sql_bind(sql, 1, collection);
    sql_bind_text(sql, 2, term->text, term->length);
    sql_bind(sql, 3, row->first);
    sql_bind(sql, 4, row->last);
    sql_bind(sql, 5, row->count);
    sql_bind_bytes(sql, 6, row->data, row->size);
    return sql_finish(sql, st);
}

static void add_to_row(struct piece_row *row, struct posting posting, struct collection *collection,
                       const struct batch_term *term)
{
    size_t before = row->size;
    if (row->count == 0) {
        row->first = row->last = posting.paragraph;
        collection->bytes += (int64_t)term->length + POSTINGS_ROW;
    }
    row->size += posting_write(row->data + row->size, row->last, posting);
    row->last = posting.paragraph;
    row->count++;
    collection->bytes += (int64_t)(row->size - before);
}

static bool write_term(struct tables *tables, struct collection *collection, const struct batch_term *term,
                       const struct posting *postings, struct status *st)
{
    struct piece_row row;
    if (!read_last(tables, collection->id, term, &row, st))
        return false;
    for (uint32_t i = 0; i < term->count; i++) {
        if (row.size + POSTING_SIZE_MAX > PIECE_MAX) {
            if (!put_row(tables, collection->id, term, &row, st))
                return false;
            row.size = row.count = 0;
        }
        add_to_row(&row, postings[i], collection, term);
    }
    return put_row(tables, collection->id, term, &row, st);
}

static int by_text(const void *a, const void *b, void *terms)
{
    const struct batch_term *of = terms;
    return strcmp(of[*(const uint32_t *)a].text, of[*(const uint32_t *)b].text);
}

/* Sorts postings from the order of paragraphs to the order of terms, each still in the order of paragraphs. `starts`
 * has the begin of each term's postings. */
static void gather(const struct batch *batch, size_t *starts, struct posting *gathered)
{
    size_t at = 0;
    for (size_t i = 0; i < batch->term_count; i++) {
        starts[i] = at;
        at += batch->terms[i].count;
    }
    for (size_t i = 0; i < batch->posting_count; i++)
        gathered[starts[batch->postings[i].term]++] = batch->postings[i].posting;
    for (size_t i = 0; i < batch->term_count; i++)
        starts[i] -= batch->terms[i].count;
}

static bool write_postings(const struct batch *batch, struct tables *tables, struct collection *collection,
                           struct status *st)
{
    uint32_t *order = malloc((batch->term_count + 1) * sizeof *order);
    size_t *starts = malloc((batch->term_count + 1) * sizeof *starts);
    struct posting *gathered = malloc((batch->posting_count + 1) * sizeof *gathered);
    bool written = order && starts && gathered;
    if (!written)
        fail(st, RESOURCE_EXHAUSTED, "no memory for %zu postings", batch->posting_count);
    else
        gather(batch, starts, gathered);
    for (uint32_t i = 0; written && i < batch->term_count; i++)
        order[i] = i;
    if (written)
        qsort_r(order, batch->term_count, sizeof *order, by_text, batch->terms);
    for (size_t i = 0; written && i < batch->term_count; i++) {
        const struct batch_term *term = &batch->terms[order[i]];
        if (term->count)
            written = write_term(tables, collection, term, gathered + starts[order[i]], st);
    }
    free(order);
    free(starts);
    free(gathered);
    return written;
}

bool batch_write(struct batch *batch, struct tables *tables, struct collection *collection, struct status *st)
{
    if (batch->exhausted)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for %zu documents at once", batch->document_count);
    if (!write_documents(batch, tables, collection, st) || !write_postings(batch, tables, collection, st))
        return false;
    collection->next = batch->next;
    return true;
}
