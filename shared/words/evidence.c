#include "words/evidence.h"

#include "base/hash.h"
#include "words/alike.h"
#include "words/table.h"

#include <math.h>
#include <string.h>

#define ROOM_AT_FIRST   64
#define STOP_WORD_SHARE 0.08 /* of the weight of a content term */

uint64_t term_hash(const char *text, size_t length)
{
    uint64_t hash = hash_bytes(text, length);
    return hash == 0 ? 1 : hash;
}

/* Doubles the capacity of an array in the arena. The old array is freed only with the arena. */
static bool evidence_grow(struct arena *arena, void **array, size_t *room, size_t size)
{
    size_t wanted = *room == 0 ? ROOM_AT_FIRST : *room * 2;
    void *larger = arena_alloc(arena, wanted * size);
    if (larger == NULL)
        return false;
    if (*room > 0)
        memcpy(larger, *array, *room * size);
    *array = larger;
    *room = wanted;
    return true;
}

static struct known_term *evidence_slot_of(struct known_term *known, size_t room, uint64_t hash)
{
    size_t at = (size_t)hash & (room - 1);
    while (known[at].hash != 0 && known[at].hash != hash)
        at = (at + 1) & (room - 1);
    return &known[at];
}

static bool grow_known(struct evidence *evidence)
{
    size_t room = evidence->known_room == 0 ? 2 * (size_t)ROOM_AT_FIRST : evidence->known_room * 2;
    struct known_term *larger = arena_zalloc(evidence->arena, room * sizeof(*larger));
    if (larger == NULL)
        return false;
    for (size_t i = 0; i < evidence->known_room; i++) {
        if (evidence->known[i].hash != 0)
            *evidence_slot_of(larger, room, evidence->known[i].hash) = evidence->known[i];
    }
    evidence->known = larger;
    evidence->known_room = room;
    return true;
}

static bool evidence_add_term(struct evidence *evidence, const struct term *term)
{
    uint32_t unit = (uint32_t)evidence->unit_count - 1;
    if (evidence->term_count * 2 >= evidence->known_room && !grow_known(evidence))
        return false;
    uint64_t hash = alike_hash(term_hash(term->text, term->length));
    struct known_term *slot = evidence_slot_of(evidence->known, evidence->known_room, hash);
    if (slot->hash == 0) {
        if (evidence->term_count == evidence->term_room &&
            !evidence_grow(evidence->arena, (void **)&evidence->terms, &evidence->term_room, sizeof(*evidence->terms)))
            return false;
        *slot = (struct known_term){.hash = hash, .id = (uint32_t)evidence->term_count};
        evidence->terms[evidence->term_count++] = (struct term_entry){.last = NO_TERM, .stop_word = term->stop_word};
    }
    struct term_entry *entry = &evidence->terms[slot->id];
    if (entry->last == unit)
        return true;
    if (evidence->unit_term_count == evidence->unit_term_room &&
        !evidence_grow(evidence->arena, (void **)&evidence->unit_terms, &evidence->unit_term_room,
                       sizeof(*evidence->unit_terms)))
        return false;
    entry->last = unit;
    entry->count++;
    evidence->unit_terms[evidence->unit_term_count++] = slot->id;
    return true;
}

static bool add_unit(struct evidence *evidence, size_t passage, const char *text, struct span span, bool heading,
                     enum latin_language language)
{
    struct term_reader reader;
    struct term term;
    if (evidence->unit_count == evidence->unit_room &&
        !evidence_grow(evidence->arena, (void **)&evidence->units, &evidence->unit_room, sizeof(*evidence->units)))
        return false;
    struct unit *unit = &evidence->units[evidence->unit_count++];
    *unit = (struct unit){.passage = (uint32_t)passage,
                          .header = NO_TERM,
                          .span = span,
                          .terms = (uint32_t)evidence->unit_term_count,
                          .heading = heading};
    terms_begin_in(&reader, text + span.begin, span.end - span.begin, language);
    while (terms_next(&reader, &term)) {
        if (!evidence_add_term(evidence, &term))
            return false;
    }
    unit->terms_end = (uint32_t)evidence->unit_term_count;
    return true;
}

/* The table that the last unit of a passage stands in. */
struct table_reader {
    uint32_t header; /* NO_TERM: no header is known */
    bool in_row;
};

/* A cell with several sentences ends its unit within the row. */
static void add_to_table(struct evidence *evidence, struct table_reader *table)
{
    uint32_t at = (uint32_t)evidence->unit_count - 1;
    struct unit *unit = &evidence->units[at];
    const char *text = evidence->passages[unit->passage].text;
    struct claim line = {text + unit->span.begin, unit->span.end - unit->span.begin};
    size_t before = table->in_row ? unit[-1].span.end : unit->span.begin;
    if (table->in_row && !memchr(text + before, '\n', unit->span.begin - before))
        return;
    bool row = table_is_row(line);
    if (row && table->header != NO_TERM)
        unit->header = table->header;
    else
        table->header = row && table->in_row && table_is_rule(line) ? at - 1 : NO_TERM;
    table->in_row = row;
}

static bool add_passage(struct evidence *evidence, size_t index, size_t *room)
{
    const struct passage *passage = &evidence->passages[index];
    struct sentence_reader reader;
    struct span span;
    size_t heading = passage->heading == NULL ? 0 : passage->heading_length;
    heading = heading < *room ? heading : *room;
    evidence->firsts[index] = (uint32_t)evidence->unit_count;
    *room -= heading;
    size_t length = passage->length < *room ? passage->length : *room;
    enum latin_language language = words_latin_language(passage->text, length);
    *room -= length;
    if (heading > 0 && !add_unit(evidence, index, passage->heading, (struct span){.end = heading}, true, language))
        return false;
    sentences_begin(&reader, passage->text, length);
    struct table_reader table = {.header = NO_TERM};
    while (sentences_next(&reader, &span)) {
        if (!add_unit(evidence, index, passage->text, span, false, language))
            return false;
        add_to_table(evidence, &table);
    }
    return true;
}

static bool list_holders(struct evidence *evidence)
{
    uint32_t at = 0;
    evidence->holders = arena_alloc(evidence->arena, evidence->unit_term_count * sizeof(*evidence->holders));
    if (evidence->holders == NULL)
        return false;
    for (size_t i = 0; i < evidence->term_count; i++) {
        struct term_entry *entry = &evidence->terms[i];
        entry->holders = at;
        at += entry->count;
        entry->count = 0;
    }
    for (size_t i = 0; i < evidence->unit_count; i++) {
        for (uint32_t t = evidence->units[i].terms; t < evidence->units[i].terms_end; t++) {
            struct term_entry *entry = &evidence->terms[evidence->unit_terms[t]];
            evidence->holders[entry->holders + entry->count++] = (uint32_t)i;
        }
    }
    return true;
}

struct evidence *evidence_create(struct arena *arena, const struct passage *passages, size_t count)
{
    struct evidence *evidence = arena_zalloc(arena, sizeof(*evidence));
    size_t room = EVIDENCE_MAX;
    if (evidence == NULL)
        return NULL;
    evidence->arena = arena;
    evidence->passages = passages;
    evidence->passage_count = count;
    evidence->firsts = arena_zalloc(arena, count * sizeof(*evidence->firsts));
    if (evidence->firsts == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (room == 0)
            evidence->firsts[i] = (uint32_t)evidence->unit_count;
        else if (!add_passage(evidence, i, &room))
            return NULL;
    }
    return list_holders(evidence) ? evidence : NULL;
}

bool evidence_heads_table(const struct evidence *evidence, uint32_t unit)
{
    return (unit + 2 < evidence->unit_count && evidence->units[unit + 2].header == unit) ||
           (unit > 0 && unit + 1 < evidence->unit_count && evidence->units[unit + 1].header == unit - 1);
}

uint32_t evidence_term(const struct evidence *evidence, uint64_t hash)
{
    if (evidence->known_room == 0)
        return NO_TERM;
    const struct known_term *slot = evidence_slot_of(evidence->known, evidence->known_room, alike_hash(hash));
    return slot->hash == 0 ? NO_TERM : slot->id;
}

double evidence_weight(const struct evidence *evidence, uint32_t count, bool stop_word)
{
    double idf = log(1.0 + ((double)evidence->unit_count + 1.0) / ((double)count + 0.5));
    return stop_word ? idf * STOP_WORD_SHARE : idf;
}

static bool query_has(const struct query *query, uint64_t hash)
{
    for (size_t i = 0; i < query->count; i++) {
        if (query->terms[i].hash == hash)
            return true;
    }
    return false;
}

static size_t evidence_slot_of_query(const struct query *query, uint32_t id)
{
    size_t at = id & (QUERY_SLOTS - 1);
    while (query->slots[at] != 0 && query->terms[query->slots[at] - 1].id != id)
        at = (at + 1) & (QUERY_SLOTS - 1);
    return at;
}

int query_find(const struct query *query, uint32_t id)
{
    return (int)query->slots[evidence_slot_of_query(query, id)] - 1;
}

static bool has_letter(const struct term *term)
{
    for (size_t i = 0; i < term->length; i++) {
        if ((term->text[i] >= 'a' && term->text[i] <= 'z') || (unsigned char)term->text[i] >= 0x80)
            return true;
    }
    return false;
}

/* "[3]" is a reference and not a number of the text. */
static bool is_reference(const char *text, size_t length, const struct term *term)
{
    return term->kind == TERM_NUMBER && term->begin > 0 && term->end < length && text[term->begin - 1] == '[' &&
           text[term->end] == ']';
}

void query_read(const struct evidence *evidence, const struct evidence *weights, const char *text, size_t length,
                struct query *query)
{
    struct term_reader reader;
    struct term term;
    size_t katakana_end = 0;
    query->count = 0;
    query->weight = 0;
    memset(query->slots, 0, sizeof(query->slots));
    terms_begin(&reader, text, length);
    while (query->count < QUERY_TERMS_MAX && terms_next(&reader, &term)) {
        uint64_t hash = alike_hash(term_hash(term.text, term.length));
        double share = term_share(&term, &katakana_end);
        if (is_reference(text, length, &term) || query_has(query, hash))
            continue;
        uint32_t id = evidence_term(evidence, hash);
        uint32_t known = evidence_term(weights, hash);
        double weight =
            share * evidence_weight(weights, known == NO_TERM ? 0 : weights->terms[known].count, term.stop_word);
        query->terms[query->count++] = (struct query_term){
            .hash = hash,
            .id = id,
            .weight = weight,
            .begin = term.begin,
            .end = term.end,
            .stop_word = term.stop_word,
            .exact = term.kind == TERM_NUMBER || (term.kind == TERM_IDENTIFIER && !has_letter(&term))};
        query->weight += weight;
        if (id != NO_TERM)
            query->slots[evidence_slot_of_query(query, id)] = (uint16_t)query->count;
    }
}
