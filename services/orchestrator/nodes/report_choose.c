/* Sentences for a report: those of a draft, and those of the sources that tell most. */
#include "report_text.h"

#include "words/sentences.h"
#include "words/words.h"

#include <string.h>

#define CHOOSE_ASKED_MAX      ((size_t)4096)  /* bytes of a question that are looked at */
#define CHOOSE_BYTES_MAX      ((size_t)32768) /* of all sentences of a question */
#define CHOOSE_LEAST          0.35            /* of the best sentence's score, for the theme */
#define CHOOSE_LEAST_OF_POINT 0.5             /* ... for a point */
#define CHOOSE_NOVELTY        0.5
#define CHOOSE_FIRST_MAX      64           /* sources whose beginnings are looked at */
#define LINE_LEAST            8            /* characters of a sentence with content */
#define LINE_SHORT_BYTES      ((size_t)42) /* below that, a sentence is taken after longer ones */
#define LINE_MAX_BYTES        ((size_t)1200)

/* ---- a line ------------------------------------------------------------------------------------------------------ */

size_t report_characters(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* Prints a single line: a blank replaces white space, but a line's end behind a Japanese character is dropped. Emphasis
 * that is not closed is left out. */
static void line_print(struct buffer *out, const char *text, size_t length)
{
    size_t stars = 0;
    for (size_t at = 0; at + 1 < length; at++)
        stars += text[at] == '*' && text[at + 1] == '*';
    for (size_t at = 0, end; at < length; at = end) {
        bool ends_line = false, after_latin = at > 0 && (unsigned char)text[at - 1] < 0x80;
        for (end = at; end < length && strchr(" \t\r\n", text[end]); end++)
            ends_line |= text[end] == '\n';
        if (end > at) {
            if (after_latin || !ends_line)
                buffer_put(out, ' ');
            continue;
        }
        end = at + 1;
        if (text[at] == '*' && stars % 2)
            continue;
        buffer_put(out, text[at]);
    }
}

/* Past the number of an item: "2. ", "3) ". */
static struct report_span line_without_number(struct report_span line)
{
    size_t digits = 0;
    while (digits < line.length && digits < 3 && line.text[digits] >= '0' && line.text[digits] <= '9')
        digits++;
    bool number = digits && digits + 1 < line.length && strchr(".)", line.text[digits]) && line.text[digits + 1] == ' ';
    return number ? (struct report_span){line.text + digits + 2, line.length - digits - 2} : line;
}

static bool line_ends_with_stop(struct report_span line)
{
    static const char *const stops[] = {".", "!", "。", "！", "．", ".\"", ".)", "。」", "。）"};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        size_t length = strlen(stops[i]);
        if (line.length >= length && memcmp(line.text + line.length - length, stops[i], length) == 0)
            return true;
    }
    return false;
}

static bool line_is_known(const struct report_lines *lines, const struct support *support, struct report_span sentence)
{
    for (size_t i = 0; lines && i < lines->count; i++) {
        const struct report_line *known = &lines->list[i];
        bool same_place = known->carried && known->support.passage == support->passage &&
                          known->support.quote.begin < support->quote.end &&
                          support->quote.begin < known->support.quote.end;
        if (same_place || (known->sentence.length == sentence.length &&
                           memcmp(known->sentence.text, sentence.text, sentence.length) == 0))
            return true;
    }
    return false;
}

static void line_add(struct report *report, struct report_lines *lines, struct report_span sentence, bool carried,
                     const struct support *support, size_t item)
{
    char *copy = arena_strndup(report->cite.sources->arena, sentence.text, sentence.length);
    report->no_memory |= !copy;
    if (!copy || lines->count == REPORT_LINES_MAX)
        return;
    lines->list[lines->count++] = (struct report_line){.sentence = {copy, sentence.length},
                                                       .characters = report_characters(copy, sentence.length),
                                                       .support = *support,
                                                       .carried = carried,
                                                       .item = item};
}

/* Keeps a sentence that is left out, to be told with the words of the sources that are nearest to it. */
static void line_drop(struct report *report, struct report_span sentence)
{
    struct report_dropped *dropped = &report->dropped[report->dropped_count];
    const struct choice_terms nearest = {.sentences_max = 1, .bytes_max = CHOOSE_BYTES_MAX};
    struct chosen chosen[CHOSEN_MAX];
    bool full = report->dropped_count == REPORT_DROPPED_MAX || !sentence.length;
    for (size_t i = 0; !full && i < report->dropped_count; i++)
        full = report->dropped[i].sentence.length == sentence.length &&
               memcmp(report->dropped[i].sentence.text, sentence.text, sentence.length) == 0;
    char *copy = full ? NULL : arena_strndup(report->cite.sources->arena, sentence.text, sentence.length);
    if (!copy)
        return;
    size_t asked = sentence.length < CHOOSE_ASKED_MAX ? sentence.length : CHOOSE_ASKED_MAX;
    *dropped = (struct report_dropped){.sentence = {copy, sentence.length}};
    report->dropped_count++;
    if (!report->cite.sources->count || !evidence_choose(report->cite.evidence, copy, asked, &nearest, chosen))
        return;
    const struct span *span = &chosen[0].span;
    dropped->passage = chosen[0].passage;
    dropped->nearest = (struct report_span){report->cite.sources->passages[chosen[0].passage].text + span->begin,
                                            span->end - span->begin};
}

/* ---- of a draft -------------------------------------------------------------------------------------------------- */

static bool line_begins_item(const char *text, size_t at, size_t end)
{
    at += strspn(text + at, " \t");
    size_t digits = strspn(text + at, "0123456789");
    const char *mark = text + at + digits;
    if (at >= end || !*mark)
        return false;
    return (strchr(digits ? ".)" : "-*+", *mark) && mark[1] == ' ') || strncmp(mark, "・", 3) == 0 ||
           strncmp(mark, "•", 3) == 0;
}

static bool line_is_other(const char *text, size_t at)
{
    at += strspn(text + at, " \t>");
    return text[at] == '#' || text[at] == '|' || strncmp(text + at, "```", 3) == 0 || strncmp(text + at, "~~~", 3) == 0;
}

void report_read_lines(struct report *report, struct report_span text, struct report_lines *lines)
{
    struct sentence_reader reader;
    struct buffer line;
    struct span span;
    const struct support no_place = {0}; /* two sentences of a draft may rest on the same sentence of a source */
    size_t begin = 0, known = 0, item = 0;
    bool first = true;
    buffer_init(&line, 2 * SENTENCE_MAX);
    sentences_begin(&reader, text.text, text.length);
    while (sentences_next(&reader, &span) && lines->count < REPORT_LINES_MAX) {
        struct support support = {0};
        bool in_code = reader.in_code;
        for (; known < span.begin; known++)
            if (text.text[known] == '\n') {
                begin = known + 1;
                first = true;
            }
        if (first && line_begins_item(text.text, begin, text.length))
            item++;
        first = false;
        struct report_span raw =
            line_without_number((struct report_span){text.text + span.begin, span.end - span.begin});
        if (in_code || line_is_other(text.text, begin))
            continue;
        buffer_clear(&line);
        line_print(&line, raw.text, raw.length);
        const struct report_span sentence = {buffer_text(&line), line.length};
        bool asks = report->cite.unsupported == CITE_DROP && cite_is_question(sentence.text, sentence.length);
        bool carried = !asks && cite_text_carries(&report->cite, sentence.text, sentence.length, &support);
        report->looked++;
        if (!carried && report->cite.unsupported == CITE_DROP)
            line_drop(report, sentence);
        if ((!carried && report->cite.unsupported == CITE_DROP) || !sentence.length ||
            line_is_known(lines, &no_place, sentence))
            continue;
        report->kept += carried;
        line_add(report, lines, sentence, carried, &support, item);
    }
    buffer_fini(&line);
}

/* ---- of the sources ---------------------------------------------------------------------------------------------- */

/* A row of a menu or a table, a few letters, or a question, is no sentence of a report. */
static bool line_says_something(struct report_span line)
{
    return line.length <= LINE_MAX_BYTES && report_characters(line.text, line.length) >= LINE_LEAST &&
           !memmem(line.text, line.length, " | ", 3) && !strchr("|#`", line.text[0]) &&
           !cite_is_question(line.text, line.length);
}

/* A sentence of a source as a line of the report: without links, marks and tags, and still carried. */
static void line_take(struct report *report, size_t passage, struct span span, const struct report_lines *used,
                      struct report_lines *lines)
{
    const struct cite_sources *sources = report->cite.sources;
    const char *text = sources->passages[passage].text;
    struct cited_span ignored;
    struct buffer flat;
    struct support support;
    struct report_span raw = line_without_number((struct report_span){text + span.begin, span.end - span.begin});
    buffer_init(&flat, 2 * SENTENCE_MAX);
    line_print(&flat, raw.text, raw.length);
    char *clean = cite_clean(sources, buffer_text(&flat), &ignored);
    buffer_fini(&flat);
    report->no_memory |= !clean;
    if (!clean)
        return;
    struct report_span line = {clean, strcspn(clean, "\n")};
    while (line.length && line.text[line.length - 1] == ' ')
        line.length--;
    if (line_says_something(line) && cite_text_carries(&report->cite, line.text, line.length, &support) &&
        !line_is_known(used, &support, line) && !line_is_known(lines, &support, line))
        line_add(report, lines, line, true, &support, lines->count);
}

enum { LINE_CUT, LINE_SHORT, LINE_FULL };

/* A search cuts its hits, and a few words alone seldom tell a fact. */
static int line_worth(struct report_span line)
{
    return !line_ends_with_stop(line) ? LINE_CUT : line.length < LINE_SHORT_BYTES ? LINE_SHORT : LINE_FULL;
}

/* The best full sentences first, then short sentences. Cut sentences only if there are no others. */
static void lines_take(struct report *report, const struct chosen *chosen, size_t count, size_t most,
                       const struct report_lines *used, struct report_lines *lines)
{
    size_t before = lines->count;
    for (int worth = LINE_FULL; worth >= LINE_CUT; worth--)
        for (size_t i = 0; i < count && lines->count - before < most; i++) {
            const char *text = report->cite.sources->passages[chosen[i].passage].text;
            const struct span *span = &chosen[i].span;
            if (worth == LINE_CUT && lines->count > before)
                return;
            if (line_worth((struct report_span){text + span->begin, span->end - span->begin}) == worth)
                line_take(report, chosen[i].passage, *span, used, lines);
        }
}

static struct report_answer *report_ask(struct report *report, size_t question)
{
    const struct report_span theme = {report->theme, strlen(report->theme)};
    const struct report_span text = question == REPORT_THEME ? theme : report->points[question];
    const struct evidence *evidence = report->cite.evidence;
    struct report_answer *answer = &report->answers[question];
    const struct choice_terms terms = {.sentences_max = CHOSEN_MAX,
                                       .bytes_max = CHOOSE_BYTES_MAX,
                                       .least = question == REPORT_THEME ? CHOOSE_LEAST : CHOOSE_LEAST_OF_POINT,
                                       .novelty = CHOOSE_NOVELTY};
    size_t length = text.length < CHOOSE_ASKED_MAX ? text.length : CHOOSE_ASKED_MAX;
    if (answer->asked || !report->cite.sources->count)
        return answer;
    answer->asked = true;
    answer->count = evidence_choose(evidence, text.text, length, &terms, answer->chosen);
    if (question == REPORT_THEME)
        return answer; /* the sources were found by searching for it */
    bool japanese = strcmp(words_language(text.text, length), "ja") == 0;
    if (evidence_answers(evidence, text.text, length, answer->chosen, answer->count) <
        (japanese ? ANSWER_ENOUGH_JAPANESE : ANSWER_ENOUGH))
        answer->count = 0;
    return answer;
}

static bool report_is_of_other_point(const struct report *report, struct report_span sentence)
{
    static const struct report_span no_words = {"", 0};
    for (size_t i = 0; i < report->point_count; i++) /* every sentence goes with an overview */
        if (report_aspect_fits(report->points[i], sentence) && !report_aspect_fits(report->points[i], no_words))
            return true;
    return false;
}

/* Chooses sentences about the theme that go with a point of any theme. Sentences that go with no other point come
 * first. */
static size_t report_ask_aspect(struct report *report, struct report_span point, struct chosen chosen[CHOSEN_MAX])
{
    const struct report_answer *theme = report_ask(report, REPORT_THEME);
    bool general = report_aspect_fits(point, (struct report_span){"", 0});
    size_t count = 0;
    for (int other = 0; other < 2 && !count; other++)
        for (size_t i = 0; i < theme->count; i++) {
            const struct span *span = &theme->chosen[i].span;
            const char *text = report->cite.sources->passages[theme->chosen[i].passage].text + span->begin;
            const struct report_span sentence = {text, span->end - span->begin};
            if (report_aspect_fits(point, sentence) &&
                (!general || other || !report_is_of_other_point(report, sentence)))
                chosen[count++] = theme->chosen[i];
        }
    return count;
}

void report_choose(struct report *report, size_t question, size_t most, const struct report_lines *used,
                   struct report_lines *lines)
{
    const struct report_answer *answer = report_ask(report, question);
    struct chosen of_aspect[CHOSEN_MAX];
    size_t before = lines->count;
    lines_take(report, answer->chosen, answer->count, most, used, lines);
    if (lines->count > before || question == REPORT_THEME || !report_aspect_is(report->points[question]))
        return;
    lines_take(report, of_aspect, report_ask_aspect(report, report->points[question], of_aspect), most, used, lines);
}

void report_choose_first(struct report *report, size_t most, struct report_lines *lines)
{
    const struct cite_sources *sources = report->cite.sources;
    for (size_t i = 0; i < sources->count && i < CHOOSE_FIRST_MAX && most; i++) {
        struct sentence_reader reader;
        struct chosen first = {.passage = i};
        sentences_begin(&reader, sources->passages[i].text, sources->passages[i].length);
        size_t before = lines->count;
        if (sentences_next(&reader, &first.span))
            lines_take(report, &first, 1, 1, NULL, lines);
        most -= lines->count - before;
    }
}
