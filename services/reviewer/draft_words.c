/* The sentences of a draft as claims: without marks, notes and addresses. */
#include "draft_facts_priv.h"

#include "words/no_results.h"
#include "words/quantity.h"
#include "words/sentences_priv.h"
#include "words/words.h"

#define LETTERS_MIN 12 /* bytes; a shorter text without a stop is a label, not a sentence */

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

static bool words_are_separator(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r|:-", text[i]))
            return false;
    return true;
}

/* The header of a table is the row above the line of dashes. */
static bool row_is_header(const char *line)
{
    const char *next = strchr(line, '\n');
    if (!next)
        return false;
    size_t length = strcspn(next + 1, "\n");
    return memchr(next + 1, '-', length) && words_are_separator(next + 1, length);
}

static bool words_claim(const char *text, size_t length)
{
    struct term_reader reader;
    struct term term;
    terms_begin(&reader, text, length);
    while (terms_next(&reader, &term))
        if (!term.stop_word)
            return true;
    return false;
}

/* Whether the text is the theme, or a point of the plan. */
static bool words_are_planned(const Renga__V1__ResearchPlan *plan, const char *text, size_t length)
{
    size_t count = plan ? plan->n_investigation_points : 0;
    if (plan && strlen(plan->theme) == length && memcmp(plan->theme, text, length) == 0)
        return true;
    for (size_t i = 0; i < count; i++)
        if (strlen(plan->investigation_points[i]) == length && memcmp(plan->investigation_points[i], text, length) == 0)
            return true;
    return false;
}

/* A line of a reference says no more than its source: its numbers are those of the source's title and date. */
static bool reference_line_claims(struct draft_facts *facts, const char *line, size_t length)
{
    int number, owner = draft_source_of(&facts->table, line, length);
    size_t label = length && line[0] == '[' ? draft_note_read(line, length, &number) : 0;
    struct marker marker = marker_read(line, length, label);
    label = marker.kind ? marker.end : label;
    const char *address = draft_address_in(line, length), *tail = line + length;
    if (address && owner < 0)
        return false; /* an unknown address is an issue already */
    const Renga__V1__SearchResult *source = owner < 0 ? NULL : facts->request->sources[owner];
    if (address)
        tail = address + draft_address_length(address);
    else if (source)
        address = memmem(line, length, source->url, strlen(source->url)); /* lines of a file follow its path */
    size_t words = address ? (size_t)(address - line) : length;
    if (!source)
        return label < words && words_has_number(line + label, words - label);
    struct claim said[] = {{line + label, label < words ? words - label : 0}, {tail, (size_t)(line + length - tail)}};
    for (size_t i = 0; i < 2; i++)
        if (!claims_numbers_stand(said[i], fact_claim(source->title), fact_claim(source->published_date)) &&
            !claims_numbers_stand(said[i], fact_claim(source->url), fact_claim(source->url)))
            return true;
    return false;
}

static bool reference_claims(struct draft_facts *facts, const char *text, size_t length)
{
    for (size_t at = 0, end; at < length; at = end + 1) {
        const char *newline = memchr(text + at, '\n', length - at);
        end = newline ? (size_t)(newline - text) : length;
        if (reference_line_claims(facts, text + at, end - at))
            return true;
    }
    return false;
}

enum fact_kind fact_kind_of(struct draft_facts *facts, const struct span *span, struct fact_line *line)
{
    const char *draft = facts->request->draft, *text = draft + span->begin;
    size_t length = span->end - span->begin;
    for (; line->known < span->begin; line->known++)
        if (draft[line->known] == '\n')
            line->begin = line->known + 1;
    const char *begin = draft + line->begin;
    begin += strspn(begin, " \t");
    if (*begin == '|') {
        if (words_are_separator(text, length))
            return FACT_NOTHING;
        if (line->row != line->begin + 1) { /* once a line, which may have many sentences */
            line->row = line->begin + 1;
            line->header = row_is_header(begin);
            if (line->header)
                line->columns = (struct claim){begin, strcspn(begin, "\n")};
        }
        return line->header ? FACT_LABEL : FACT_ROW;
    }
    line->columns.length = 0;
    if (!words_claim(text, length) || words_say_no_source(text, length))
        return FACT_NOTHING;
    if (span->begin >= line->references && (memmem(text, length, "://", 3) || memcmp(text, "[^", 2) == 0))
        return reference_claims(facts, text, length) ? FACT_CLAIM : FACT_NOTHING;
    /* True if the last character ends a sentence that is no question. */
    size_t last = length, end;
    do
        last--;
    while (last && ((unsigned char)text[last] & 0xC0) == 0x80);
    uint32_t code = utf8_read(text, length, last, &end);
    bool ends = stop_mark(code) && code != '?' && code != 0xFF1F;
    if (*begin == '#' && (draft_heading_is_part(begin) || words_are_planned(facts->request->plan, text, length)))
        return FACT_NOTHING;
    if (*begin == '#')
        return ends ? FACT_CLAIM : FACT_LABEL;
    return length >= LETTERS_MIN || ends || words_has_number(text, length) ? FACT_CLAIM : FACT_LABEL;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* The number of bytes at `text` that are not words: the target of a link, an address, a mark. */
static size_t fact_mark(const char *text, size_t length)
{
    if (length > 1 && memcmp(text, "](", 2) == 0) {
        const char *close = memchr(text, ')', length);
        return close ? (size_t)(close - text) + 1 : 1;
    }
    if (draft_is_address(text, length)) {
        size_t end = 0;
        while (end < length && (unsigned char)text[end] > ' ' && (unsigned char)text[end] < 0x7f && text[end] != ')')
            end++;
        return end;
    }
    return strchr("*`[]", text[0]) ? 1 : 0;
}

/* "[1]" without "^" is a note only if it is defined. */
static void fact_take_note(const struct draft_facts *facts, struct fact *fact, const char *text, size_t length)
{
    bool caret = text[1] == '^';
    const struct draft_note *note = draft_note_find(&facts->notes, text + 1 + caret, length - 2 - caret);
    if (note && note->defined && note->source && fact->note_count < NOTES_MOST)
        fact->notes[fact->note_count++] = note;
    fact->open_note |= caret && (!note || !note->source);
}

void fact_read(const struct draft_facts *facts, struct fact *fact, const struct span *span, int number,
               enum fact_kind kind)
{
    const char *text = facts->request->draft + span->begin;
    size_t length = span->end - span->begin, at = skip_space(text, length, line_mark(text, length, 0));
    struct marker marker = marker_read(text, length, at);
    at = marker.kind ? skip_space(text, length, marker.end) : at;
    fact->length = fact->note_count = 0;
    fact->open_note = false;
    fact->columns.length = 0;
    fact->number = number;
    while (at < length && fact->length < SENTENCE_MAX) {
        int ignored;
        size_t skipped = draft_note_read(text + at, length - at, &ignored);
        if (skipped)
            fact_take_note(facts, fact, text + at, skipped);
        skipped = skipped ? skipped : fact_mark(text + at, length - at);
        if (!skipped) /* a cell ends like a clause */
            fact->words[fact->length++] = kind == FACT_ROW && text[at] == '|' ? ';' : text[at];
        at += skipped ? skipped : 1;
    }
    fact->words[fact->length] = '\0';
}
