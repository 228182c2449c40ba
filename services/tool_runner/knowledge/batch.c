#include "knowledge/batch.h"

#include "words/quantity.h"
#include "words/steps.h"
#include "words/words.h"

#include <stdlib.h>
#include <string.h>

#define TERMS_ARENA_MAX ((size_t)64 << 20)
#define SLOTS_MIN       4096

void batch_init(struct batch *batch, uint32_t next)
{
    *batch = (struct batch){.next = next};
    batch->last = &batch->documents;
    arena_init(&batch->arena, NULL, 0, TERMS_ARENA_MAX);
}

static void free_documents(struct batch *batch)
{
    for (struct batch_document *document = batch->documents, *next; document; document = next) {
        next = document->next;
        document_fini(&document->document);
        free(document->text);
        free(document->lengths);
        free(document->path);
        free(document);
    }
}

void batch_fini(struct batch *batch)
{
    free_documents(batch);
    free(batch->terms);
    free(batch->slots);
    free(batch->postings);
    free(batch->above);
    arena_fini(&batch->arena);
}

void batch_clear(struct batch *batch, uint32_t next)
{
    free_documents(batch);
    arena_reset(&batch->arena);
    if (batch->slots)
        memset(batch->slots, 0, batch->slot_count * sizeof *batch->slots);
    batch->documents = NULL;
    batch->last = &batch->documents;
    batch->term_count = batch->posting_count = batch->document_count = batch->bytes = 0;
    batch->next = next;
    batch->exhausted = false;
}

bool batch_is_full(const struct batch *batch)
{
    return batch->posting_count >= BATCH_POSTINGS_MAX || batch->bytes >= BATCH_BYTES_MAX ||
           batch->document_count >= BATCH_DOCUMENTS_MAX || batch->exhausted;
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

static bool batch_grow(struct batch *batch, void **array, size_t *room, size_t size)
{
    size_t more = *room ? 2 * *room : SLOTS_MIN;
    void *grown = realloc(*array, more * size);
    batch->exhausted |= !grown;
    if (!grown)
        return false;
    *array = grown;
    *room = more;
    return true;
}

static uint32_t batch_hash_of(const char *text, size_t length)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return (uint32_t)(hash ^ hash >> 32);
}

static void batch_place(struct batch *batch, uint32_t index)
{
    size_t slot = batch->terms[index].hash & (batch->slot_count - 1);
    while (batch->slots[slot])
        slot = (slot + 1) & (batch->slot_count - 1);
    batch->slots[slot] = index + 1;
}

/* Never more than half full. */
static bool batch_make_room(struct batch *batch)
{
    if (batch->term_count == batch->term_room &&
        !batch_grow(batch, (void **)&batch->terms, &batch->term_room, sizeof *batch->terms))
        return false;
    if (2 * (batch->term_count + 1) <= batch->slot_count)
        return true;
    if (!batch_grow(batch, (void **)&batch->slots, &batch->slot_count, sizeof *batch->slots))
        return false;
    memset(batch->slots, 0, batch->slot_count * sizeof *batch->slots);
    for (uint32_t i = 0; i < batch->term_count; i++)
        batch_place(batch, i);
    return true;
}

#define NO_TERM UINT32_MAX

static uint32_t find_term(struct batch *batch, const char *text, size_t length)
{
    uint32_t hash = batch_hash_of(text, length);
    if (!batch_make_room(batch))
        return NO_TERM;
    for (size_t slot = hash;; slot++) {
        uint32_t index = batch->slots[slot & (batch->slot_count - 1)];
        if (!index)
            break;
        const struct batch_term *term = &batch->terms[index - 1];
        if (term->hash == hash && term->length == length && memcmp(term->text, text, length) == 0)
            return index - 1;
    }
    char *kept = arena_strndup(&batch->arena, text, length);
    batch->exhausted |= !kept;
    if (!kept)
        return NO_TERM;
    uint32_t index = (uint32_t)batch->term_count++;
    batch->terms[index] = (struct batch_term){.text = kept, .length = (uint32_t)length, .hash = hash};
    batch_place(batch, index);
    return index;
}

/* ---- postings ---------------------------------------------------------------------------------------------------- */

static void add_posting(struct batch *batch, uint32_t index, uint32_t paragraph)
{
    struct batch_term *term = &batch->terms[index];
    if (term->count && term->paragraph == paragraph) {
        batch->postings[term->posting].posting.times++;
        return;
    }
    if (batch->posting_count == batch->posting_room &&
        !batch_grow(batch, (void **)&batch->postings, &batch->posting_room, sizeof *batch->postings))
        return;
    term->count++;
    term->paragraph = paragraph;
    term->posting = (uint32_t)batch->posting_count;
    batch->postings[batch->posting_count++] = (struct batch_posting){index, {paragraph, 1}};
}

/* A word that stands in two headings counts once. */
static void add_above(struct batch *batch, const char *text, enum latin_language language)
{
    struct term_reader reader;
    struct term term;
    terms_begin_in(&reader, text, strlen(text), language);
    while (terms_next(&reader, &term)) {
        size_t i = 0;
        uint32_t index = find_term(batch, term.text, term.length);
        while (i < batch->above_count && batch->above[i] != index)
            i++;
        if (index == NO_TERM || i < batch->above_count)
            continue;
        if (batch->above_count == batch->above_room &&
            !batch_grow(batch, (void **)&batch->above, &batch->above_room, sizeof *batch->above))
            return;
        batch->above[batch->above_count++] = index;
    }
}

/* Headings are short: their language is that of the first paragraph. */
static void read_above(struct batch *batch, const struct document *document, const struct heading *heading)
{
    const struct paragraph *first = document->first;
    enum latin_language language = first ? words_latin_language(first->text, first->length) : LATIN_UNKNOWN;
    batch->above_count = 0;
    batch->heading = heading;
    if (heading)
        add_above(batch, heading->text, language);
    batch->innermost_count = batch->above_count;
    add_above(batch, document->title, language);
    for (; heading; heading = heading->above)
        add_above(batch, heading->text, language);
}

/* Its length in words. */
static unsigned add_paragraph(struct batch *batch, const struct paragraph *paragraph, uint32_t number)
{
    struct term_reader reader;
    struct term term;
    unsigned length = 0;
    terms_begin(&reader, paragraph->text, paragraph->length);
    while (terms_next(&reader, &term)) {
        uint32_t index = find_term(batch, term.text, term.length);
        if (index != NO_TERM)
            add_posting(batch, index, number);
        length += !term.stop_word;
    }
    for (size_t i = 0; i < batch->above_count; i++)
        add_posting(batch, batch->above[i], number);
    for (size_t i = 0; i < batch->innermost_count; i++)
        add_posting(batch, batch->above[i], number);
    return length < LENGTH_MAX ? length : LENGTH_MAX;
}

static unsigned batch_kind_of(const struct paragraph *paragraph)
{
    bool japanese = strcmp(words_language(paragraph->text, paragraph->length), "ja") == 0;
    bool number = words_has_number(paragraph->text, paragraph->length);
    bool steps = words_has_steps(paragraph->text, paragraph->length);
    return (japanese ? LENGTH_JAPANESE : 0) | (number ? LENGTH_NUMBER : 0) | (steps ? LENGTH_STEPS : 0) |
           (paragraph->answer ? LENGTH_ANSWER : 0);
}

static void read_terms(struct batch *batch, struct batch_document *kept)
{
    const struct document *document = &kept->document;
    size_t i = 0;
    read_above(batch, document, NULL);
    for (const struct paragraph *paragraph = document->first; paragraph; paragraph = paragraph->next) {
        if (paragraph->heading != batch->heading)
            read_above(batch, document, paragraph->heading);
        unsigned length = add_paragraph(batch, paragraph, batch->next++);
        kept->lengths[i++] = (uint16_t)((length ? length : 1) | batch_kind_of(paragraph));
        batch->bytes += paragraph->length + sizeof *paragraph;
    }
}

void batch_add(struct batch *batch, const char *path, const uint8_t hash[HASH_SIZE], struct document *document,
               char *text)
{
    struct batch_document *kept = calloc(1, sizeof *kept);
    uint16_t *lengths = calloc(document->count + 1, sizeof *lengths);
    char *copy = strdup(path);
    if (!kept || !lengths || !copy) {
        document_fini(document);
        free(kept);
        free(lengths);
        free(copy);
        free(text);
        batch->exhausted = true;
        return;
    }
    *kept = (struct batch_document){.path = copy, .text = text, .document = *document, .lengths = lengths};
    memcpy(kept->hash, hash, HASH_SIZE);
    *batch->last = kept;
    batch->last = &kept->next;
    batch->document_count++;
    read_terms(batch, kept);
}
