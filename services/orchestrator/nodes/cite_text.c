#include "cite_text.h"

#include "base/hash.h"
#include "words/claims.h"
#include "words/sentences.h"
#include "words/words.h"

#include <string.h>

#define HEADINGS     8 /* levels: 1 to 6, and a line in bold */
#define BOLD_LEVEL   7
#define RULE_LEAST   3
#define CODE_INDENT  4
#define LANGUAGE_MAX 16 /* bytes of the word behind a fence */

/* A sentence that is so much longer than its source repeats itself, or says more. */
#define RUN_ON_SHARE 4
#define RUN_ON_ROOM  ((size_t)200) /* bytes */

struct cite_lines {
    const char *text;
    size_t length;
};

/* ---- support ----------------------------------------------------------------------------------------------------- */

/* What the source has of a sentence, with its surroundings. */
struct cite_source {
    struct claim quote, passage, heading;
};

static bool cite_find(const struct cite_text *cite, struct claim sentence, struct support *support,
                      struct cite_source *source)
{
    if (cite->cited_count == CITED_MAX ||
        !support_find(cite->evidence, sentence.text, sentence.length, SUPPORT_ENOUGH, support))
        return false;
    const struct passage *passage = &cite->sources->passages[support->passage];
    if (!support->exact && sentence.length > RUN_ON_SHARE * (support->quote.end - support->quote.begin) + RUN_ON_ROOM)
        return false;
    *source = (struct cite_source){
        .quote = {passage->text + support->quote.begin, support->quote.end - support->quote.begin},
        .passage = {passage->text, passage->length},
        .heading = {passage->heading, passage->heading_length},
    };
    return true;
}

bool cite_text_carries(const struct cite_text *cite, const char *sentence, size_t length, struct support *support)
{
    struct claim said = {sentence, length};
    struct cite_source source;
    return cite_find(cite, said, support, &source) &&
           (support->exact || claims_carried(said, source.quote, source.passage, source.heading));
}

bool cite_text_carries_row(const struct cite_text *cite, const char *row, size_t length, struct support *support)
{
    struct claim said = {row, length};
    struct cite_source source;
    return cite_find(cite, said, support, &source) &&
           (support->exact || claims_agree(said, source.quote, source.heading));
}

static bool cite_text_leaves_out(const struct cite_text *cite, const char *sentence, size_t length)
{
    return cite->drops_questions && cite->unsupported == CITE_DROP && cite_is_question(sentence, length);
}

static size_t cite_stop_before(const char *text, size_t end)
{
    static const char *const stops[] = {".", "!", "?", "。", "！", "？", "．"};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        size_t length = strlen(stops[i]);
        if (end >= length && memcmp(text + end - length, stops[i], length) == 0)
            return end - length;
    }
    return end;
}

/* Of a sentence in its normal form, without stops at its end. */
static uint64_t cite_sentence_hash(const char *sentence, size_t length)
{
    struct buffer text;
    buffer_init(&text, CITED_TEXT_MAX);
    words_normalize(&text, sentence, length);
    size_t end = text.length, stop;
    while (end && (stop = cite_stop_before(buffer_text(&text), end)) < end)
        end = stop;
    uint64_t hash = text.failed ? hash_bytes(sentence, length) : hash_bytes(buffer_text(&text), end);
    buffer_fini(&text);
    return hash | 1;
}

/* Whether the sentence stands in the text already. Of very many, later ones are not known. */
static bool cite_was_said(struct cite_text *cite, const char *sentence, size_t length)
{
    if (cite->unsupported != CITE_DROP)
        return false;
    uint64_t hash = cite_sentence_hash(sentence, length);
    size_t at = hash % CITE_SLOTS;
    while (cite->said[at] && cite->said[at] != hash)
        at = (at + 1) % CITE_SLOTS;
    if (cite->said[at])
        return true;
    if (cite->said_count < CITE_SLOTS / 2) {
        cite->said[at] = hash;
        cite->said_count++;
    }
    return false;
}

void cite_text_forget_said(struct cite_text *cite)
{
    memset(cite->said, 0, sizeof cite->said);
    cite->said_count = 0;
}

/* All sentences of a document have the same reference. */
static uint16_t cite_reference(struct cite_text *cite, size_t passage)
{
    const struct cite_sources *sources = cite->sources;
    if (!cite->has_references || cite->references[passage])
        return cite->references[passage];
    for (size_t i = 1; i <= cite->reference_count && !cite->references[passage]; i++) {
        const Renga__V1__SearchHit *known = sources->hits[cite->first_of[i]], *hit = sources->hits[passage];
        if (strcmp(known->uri, hit->uri) == 0 && strcmp(known->collection, hit->collection) == 0)
            cite->references[passage] = (uint16_t)i;
    }
    if (!cite->references[passage]) {
        cite->references[passage] = (uint16_t)++cite->reference_count;
        cite->first_of[cite->reference_count] = passage;
    }
    return cite->references[passage];
}

/* ---- sentences that stay ----------------------------------------------------------------------------------------- */

static void cite_break(struct cite_text *cite, size_t newlines)
{
    while (cite->out.length && cite->out.data[cite->out.length - 1] == '\n' && newlines)
        newlines--;
    for (size_t i = 0; cite->out.length && i < newlines; i++)
        buffer_put(&cite->out, '\n');
}

static void cite_flush_headings(struct cite_text *cite, const char *text)
{
    for (size_t i = 0; i < HEADINGS; i++) {
        struct heading *heading = &cite->headings[i];
        if (!heading->level)
            continue;
        cite_break(cite, 2);
        for (int mark = 0; heading->level != BOLD_LEVEL && mark < heading->level; mark++)
            buffer_put(&cite->out, '#');
        buffer_print(&cite->out, heading->level == BOLD_LEVEL ? "" : " ");
        buffer_append(&cite->out, text + heading->line.begin, heading->line.end - heading->line.begin);
        cite->newlines = 2;
        heading->level = 0;
    }
}

static bool cite_is_closing_byte(char c)
{
    return c == '*' || c == '_' || c == '"' || c == '\'' || c == ')';
}

/* Before the stop, and before the bar of a row. */
static size_t cite_mark_place(const char *text, size_t length)
{
    size_t at = length;
    while (at && (text[at - 1] == '|' || text[at - 1] == ' '))
        at--;
    size_t end = text[length - 1] == '|' ? at : length;
    for (at = end; at && cite_is_closing_byte(text[at - 1]);)
        at--;
    size_t stop = cite_stop_before(text, at);
    return stop < at && stop ? stop : end;
}

static void cite_print_marked(struct cite_text *cite, const char *text, size_t length, const char *mark,
                              uint16_t number)
{
    size_t at = length ? cite_mark_place(text, length) : 0;
    buffer_append(&cite->out, text, at);
    const char *blank = at && (unsigned char)text[at - 1] < 0x80 ? " " : "";
    if (mark)
        buffer_printf(&cite->out, "%s%s", blank, mark);
    else if (number)
        buffer_printf(&cite->out, "%s[%s%u]", blank, cite->footnotes ? "^" : "", (unsigned)number);
    buffer_append(&cite->out, text + at, length - at);
}

void cite_text_keep(struct cite_text *cite, const char *sentence, size_t length, const struct support *support)
{
    uint16_t number = support ? cite_reference(cite, support->passage) : 0;
    const char *mark = !support && cite->unsupported == CITE_MARK ? cite->mark : NULL;
    if (support)
        cite->cited[cite->cited_count++] =
            (struct cited){.at = cite->out.length, .support = *support, .reference = number};
    cite_print_marked(cite, sentence, length, mark, number);
}

/* ---- running text ------------------------------------------------------------------------------------------------ */

static void cite_begin_line(struct cite_text *cite, const char *text)
{
    cite_flush_headings(cite, text);
    cite_break(cite, cite->newlines > 2 ? 2 : cite->newlines);
    size_t from = cite->prefix.begin, blanks = strspn(text + from, " ");
    from += cite->newlines >= 2 && blanks >= CODE_INDENT ? blanks : 0; /* its parent is gone: it would be code */
    buffer_append(&cite->out, text + from, cite->prefix.end - from);
    cite->line_empty = false;
    cite->newlines = 0;
}

/* The part of the gap that closes the sentence before it: quotes, emphasis. */
static size_t cite_gap_tail(const char *text, size_t begin, size_t end)
{
    size_t at = begin;
    while (at < end && !strchr(" \t\r\n", text[at]))
        at++;
    return at;
}

static bool cite_ends_text(const char *text, size_t at)
{
    return text[at + strspn(text + at, " \t\r\n*_\"')")] == '\0';
}

static void cite_prose(struct cite_text *cite, const char *text, size_t begin, size_t end)
{
    struct sentence_reader reader;
    struct span span;
    size_t done = begin;
    bool kept = false;
    cite->newlines = 2;
    cite->line_empty = true;
    cite->prefix = (struct cited_span){begin, begin};
    sentences_begin(&reader, text + begin, end - begin);
    while (sentences_next(&reader, &span)) {
        size_t from = begin + span.begin, to = begin + span.end, tail = cite_gap_tail(text, done, from), line = from;
        struct support support;
        if (kept && done > begin)
            buffer_append(&cite->out, text + done, tail - done);
        while (line > done && text[line - 1] != '\n')
            line--;
        if (line > done || done == begin) { /* it begins a line */
            size_t newlines = 0;
            for (size_t i = done; i < from; i++)
                newlines += text[i] == '\n';
            cite->newlines = newlines > cite->newlines ? newlines : cite->newlines;
            cite->prefix = (struct cited_span){line, from};
            cite->line_empty = true;
        }
        bool said = cite_was_said(cite, text + from, to - from);
        cite->sentences += !said;
        bool carried = !said && !cite_text_leaves_out(cite, text + from, to - from) &&
                       cite_text_carries(cite, text + from, to - from, &support) &&
                       !(cite_ends_text(text, to) && cite_is_cut(cite->sources, text + from, to - from));
        kept = carried || cite->unsupported != CITE_DROP;
        if (kept && cite->line_empty)
            cite_begin_line(cite, text);
        else if (kept)
            buffer_append(&cite->out, text + tail, from - tail);
        if (kept)
            cite_text_keep(cite, text + from, to - from, carried ? &support : NULL);
        done = to;
    }
    if (kept)
        buffer_append(&cite->out, text + done, cite_gap_tail(text, done, end) - done);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static size_t cite_line_end(struct cite_lines lines, size_t at)
{
    const char *found = at < lines.length ? memchr(lines.text + at, '\n', lines.length - at) : NULL;
    return found ? (size_t)(found - lines.text) : lines.length;
}

static size_t cite_next_line(struct cite_lines lines, size_t at)
{
    size_t end = cite_line_end(lines, at);
    return end < lines.length ? end + 1 : lines.length;
}

/* A line that repeats a single character, three times at least: a rule, or the underline of a heading. */
static bool cite_is_rule(struct cite_lines lines, size_t at, const char *marks)
{
    size_t end = cite_line_end(lines, at), count = 0;
    char mark = at < end ? lines.text[at] : ' ';
    for (size_t i = at; i < end; i++) {
        if (lines.text[i] != mark && !strchr(" \t\r", lines.text[i]))
            return false;
        count += lines.text[i] == mark;
    }
    return strchr(marks, mark) && count >= RULE_LEAST;
}

static bool cite_is_row(struct cite_lines lines, size_t at)
{
    at += strspn(lines.text + at, " \t");
    return at < lines.length && lines.text[at] == '|';
}

/* A row, and below it a row of dashes. */
static bool cite_begins_table(struct cite_lines lines, size_t at)
{
    size_t next = cite_next_line(lines, at), end = cite_line_end(lines, next);
    return cite_is_row(lines, at) && cite_is_row(lines, next) && strspn(lines.text + next, " \t\r|:-") >= end - next &&
           memchr(lines.text + next, '-', end - next);
}

static bool cite_is_fence(struct cite_lines lines, size_t at)
{
    const char *line = lines.text + at + strspn(lines.text + at, " \t");
    return strncmp(line, "```", 3) == 0 || strncmp(line, "~~~", 3) == 0;
}

/* "**Words**" alone on its line, without a stop. */
static bool cite_is_bold_heading(struct cite_lines lines, size_t at)
{
    size_t end = cite_line_end(lines, at);
    while (end > at && strchr(" \t\r:", lines.text[end - 1]))
        end--;
    if (end - at < 5 || strncmp(lines.text + at, "**", 2) != 0 || memcmp(lines.text + end - 2, "**", 2) != 0)
        return false;
    return !memmem(lines.text + at + 2, end - at - 4, "**", 2) && cite_stop_before(lines.text, end - 2) == end - 2;
}

static int cite_heading_level(struct cite_lines lines, size_t at)
{
    int marks = (int)strspn(lines.text + at, "#");
    size_t next = cite_next_line(lines, at);
    if (marks >= 1 && marks <= 6 && lines.text[at + (size_t)marks] == ' ')
        return marks;
    if (cite_is_bold_heading(lines, at))
        return BOLD_LEVEL;
    bool plain = at < lines.length && !strchr(" \t\r\n->*+|#`", lines.text[at]);
    if (plain && next < lines.length && cite_is_rule(lines, next, "=-"))
        return lines.text[next] == '=' ? 1 : 2;
    return 0;
}

static size_t cite_take_heading(struct cite_text *cite, struct cite_lines lines, size_t at, int level)
{
    size_t begin = at, end = cite_line_end(lines, at), after = cite_next_line(lines, at);
    bool underlined = level != BOLD_LEVEL && lines.text[at] != '#';
    begin += level == BOLD_LEVEL || underlined ? 0 : (size_t)level;
    begin += strspn(lines.text + begin, " ");
    while (end > begin && strchr(" \t\r", lines.text[end - 1]))
        end--;
    for (int i = level; i < HEADINGS; i++)
        cite->headings[i].level = 0;
    if (cite->unsupported != CITE_DROP || claims_heading_stands(cite->evidence, lines.text + begin, end - begin))
        cite->headings[level] = (struct heading){level, {begin, end}};
    return underlined ? cite_next_line(lines, after) : after;
}

/* Rows that are carried, below their header. */
static size_t cite_take_table(struct cite_text *cite, struct cite_lines lines, size_t at)
{
    size_t header = at, body = cite_next_line(lines, cite_next_line(lines, at));
    bool stands = cite->unsupported != CITE_DROP ||
                  evidence_has_numbers(cite->evidence, lines.text + header, cite_line_end(lines, header) - header);
    bool any = false;
    for (at = body; at < lines.length && cite_is_row(lines, at); at = cite_next_line(lines, at)) {
        size_t end = cite_line_end(lines, at), from = at;
        struct support support;
        while (end > at && strchr(" \t\r", lines.text[end - 1]))
            end--;
        from += strspn(lines.text + at, " \t|");
        if (from >= end)
            continue;
        cite->sentences++;
        bool carried = cite_text_carries_row(cite, lines.text + from, end - from, &support);
        if ((!carried || !stands) && cite->unsupported == CITE_DROP)
            continue;
        if (!any) {
            cite_flush_headings(cite, lines.text);
            cite_break(cite, 2);
            buffer_append(&cite->out, lines.text + header, body - header);
        }
        any = true;
        cite_break(cite, 1);
        cite_text_keep(cite, lines.text + at, end - at, carried ? &support : NULL);
    }
    return at;
}

/* Bytes of a fence with the blanks before it. */
static size_t cite_fence_length(struct cite_lines lines, size_t at)
{
    size_t blanks = strspn(lines.text + at, " \t");
    return blanks + strspn(lines.text + at + blanks, "`~");
}

/* "```sh": words that say no language are left out. */
static void cite_open_fence(struct cite_text *cite, struct cite_lines lines, size_t at)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+#-";
    size_t end = cite_line_end(lines, at), behind = at + cite_fence_length(lines, at);
    size_t language = strspn(lines.text + behind, letters);
    bool alone = behind + language + strspn(lines.text + behind + language, " \t\r") == end;
    buffer_append(&cite->out, lines.text + at, behind - at + (alone && language <= LANGUAGE_MAX ? language : 0));
    buffer_put(&cite->out, '\n');
}

static void cite_close_fence(struct cite_text *cite, struct cite_lines lines, size_t open)
{
    cite_break(cite, 1);
    buffer_append(&cite->out, lines.text + open, cite_fence_length(lines, open));
    buffer_put(&cite->out, '\n');
}

/* Code stays whole, if each of its lines stands in a source as it is. */
static size_t cite_take_code(struct cite_text *cite, struct cite_lines lines, size_t at)
{
    size_t open = at, begin = cite_next_line(lines, at), before = cite->cited_count;
    bool good = true;
    for (at = begin; at < lines.length && !cite_is_fence(lines, at); at = cite_next_line(lines, at)) {
        size_t end = cite_line_end(lines, at);
        struct support support;
        if (strspn(lines.text + at, " \t\r") >= end - at)
            continue;
        cite->sentences++;
        if (cite_text_carries(cite, lines.text + at, end - at, &support) &&
            (support.exact || cite->unsupported != CITE_DROP))
            cite->cited[cite->cited_count++] = (struct cited){.at = at - begin, .support = support};
        else
            good = false;
    }
    size_t close = at, after = cite_next_line(lines, at);
    if ((!good || cite->cited_count == before) && cite->unsupported == CITE_DROP) {
        cite->cited_count = before;
        return after;
    }
    cite_flush_headings(cite, lines.text);
    cite_break(cite, 2);
    cite_open_fence(cite, lines, open);
    for (size_t i = before; i < cite->cited_count; i++) {
        cite->cited[i].at += cite->out.length;
        cite->cited[i].reference = cite_reference(cite, cite->cited[i].support.passage);
    }
    buffer_append(&cite->out, lines.text + begin, close - begin);
    cite_close_fence(cite, lines, open);
    return after;
}

static bool cite_begins_other(struct cite_lines lines, size_t at)
{
    return cite_is_fence(lines, at) || cite_begins_table(lines, at) || cite_heading_level(lines, at) ||
           cite_is_rule(lines, at, "-*_");
}

void cite_text_write(struct cite_text *cite, const char *text)
{
    struct cite_lines lines = {text, strlen(text)};
    for (size_t at = 0, end; at < lines.length; at = end) {
        int level = cite_heading_level(lines, at);
        if (cite_is_fence(lines, at)) {
            end = cite_take_code(cite, lines, at);
        } else if (cite_begins_table(lines, at)) {
            end = cite_take_table(cite, lines, at);
        } else if (level) {
            end = cite_take_heading(cite, lines, at, level);
        } else if (cite_is_rule(lines, at, "-*_")) {
            end = cite_next_line(lines, at);
        } else {
            end = cite_next_line(lines, at);
            while (end < lines.length && !cite_begins_other(lines, end))
                end = cite_next_line(lines, end);
            cite_prose(cite, text, at, end);
        }
    }
    while (cite->out.length && strchr(" \t\r\n", cite->out.data[cite->out.length - 1]))
        cite->out.length--;
    memset(cite->headings, 0, sizeof cite->headings); /* they have no section left */
}
