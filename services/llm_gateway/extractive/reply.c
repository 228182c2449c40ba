/* The answer: sentences of the sources. nothing.c writes the answer without a finding. */
#include "extract.h"

#include "words/steps.h"
#include "words/words.h"

#include <stdio.h>
#include <string.h>

#define SENTENCES_MAX 3
#define BYTES_MAX     ((size_t)4000)

/* ---- findings ---------------------------------------------------------------------------------------------------- */

/* A sentence on one line: white space becomes a blank; a line end after a Japanese character is removed. */
static struct text reply_on_one_line(struct arena *arena, struct text text)
{
    char *line = arena_alloc(arena, text.length + 1);
    size_t length = 0;
    if (!line)
        return text;
    for (size_t at = 0; at < text.length;) {
        size_t end = at;
        bool ends_line = false;
        for (; end < text.length && strchr(" \t\r\n", text.bytes[end]); end++)
            ends_line |= text.bytes[end] == '\n';
        bool after_latin = length > 0 && (unsigned char)line[length - 1] < 0x80;
        if (end == at)
            line[length++] = text.bytes[at++];
        else if (length > 0 && (after_latin || !ends_line))
            line[length++] = ' ';
        at = end > at ? end : at;
    }
    return (struct text){line, length};
}

static bool reply_is_stopped(struct text text)
{
    static const char *const stops[] = {".", "!", "?", "。", "！", "？", ".)", "」", "…", "\""};
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        size_t length = strlen(stops[i]);
        if (text.length >= length && memcmp(text.bytes + text.length - length, stops[i], length) == 0)
            return true;
    }
    return false;
}

static void reply_print_line(const struct extract *extract, struct text text, struct buffer *out)
{
    text_print(out, reply_on_one_line(extract->arena, text));
}

static struct text reply_text_of(const struct extract *extract, const struct picked *picked)
{
    return (struct text){extract->passages[picked->passage].text + picked->span.begin,
                         picked->span.end - picked->span.begin};
}

/* The heading that names the subject of a sentence: "Backups: They are kept for 30 days." A list stands below it, as
 * below a heading in Markdown, which makes no claim and needs no source. */
static void print_heading(const struct extract *extract, const struct picked *picked, struct buffer *out)
{
    const struct passage *passage = &extract->passages[picked->passage];
    const struct span *heading = &picked->heading;
    if (heading->end == heading->begin)
        return;
    buffer_print(out, picked->item ? "**" : "");
    reply_print_line(extract, (struct text){passage->heading + heading->begin, heading->end - heading->begin}, out);
    buffer_print(out, picked->item ? "**\n" : ": ");
}

/* Whether a sentence stands behind the other one in the same line of the source. */
static bool goes_on_in_line(const struct extract *extract, const struct picked *before, const struct picked *picked)
{
    const char *text = extract->passages[picked->passage].text;
    return before->passage == picked->passage && before->span.end <= picked->span.begin &&
           !memchr(text + before->span.end, '\n', picked->span.begin - before->span.end);
}

/* A number or a bullet that is part of the item's text. */
static bool begins_with_mark(const struct extract *extract, const struct picked *picked)
{
    static const char *const bullets[] = {"・", "•", "●", "■", "⁃"};
    struct text text = reply_text_of(extract, picked);
    size_t behind;
    for (size_t i = 0; i < sizeof bullets / sizeof bullets[0]; i++)
        if (text.length > strlen(bullets[i]) && memcmp(text.bytes, bullets[i], strlen(bullets[i])) == 0)
            return true;
    return (*text.bytes >= '0' && *text.bytes <= '9') || steps_number(text.bytes, text.length, 0, &behind);
}

/* The best sentence first. Items of lists and texts without a full stop stand on lines of their own. A sentence after
 * an item has an empty line before it, unless it belongs to the item: Markdown, and the reviewer, would read it as part
 * of the item. */
static void say_sentences(const struct extract *extract, const struct picked *picked, size_t count, struct buffer *out)
{
    bool own_line = false, after_item = false;
    for (size_t i = 0; i < count; i++) {
        struct text text = reply_text_of(extract, &picked[i]);
        bool leads = i + 1 < count && picked[i + 1].item && !picked[i].item;
        bool further = after_item && !picked[i].item && goes_on_in_line(extract, &picked[i - 1], &picked[i]);
        bool item = picked[i].item || further || (count > 1 && !leads && !reply_is_stopped(text));
        const char *between = after_item && !item ? "\n\n" : item || own_line ? "\n" : extract->japanese ? "" : " ";
        if (further)
            between = extract->japanese ? "" : " ";
        buffer_print(out, i ? between : "");
        print_heading(extract, &picked[i], out);
        buffer_print(out, item && !further && !picked[i].row && !begins_with_mark(extract, &picked[i]) ? "- " : "");
        reply_print_line(extract, text, out);
        own_line = item || leads;
        after_item = item;
    }
}

size_t extract_pick(const struct extract *extract, const struct evidence *evidence, const struct selection *selection,
                    struct picked picked[PICKED_MAX])
{
    enum asked_type type = selection->asked.type;
    struct selection_terms terms = {
        .sentences_max = SENTENCES_MAX, .bytes_max = BYTES_MAX, .lists = type == ASKED_LIST || type == ASKED_HOW};
    return selection_cut(evidence, extract->asked.bytes, extract->asked.length, selection, &terms, picked);
}

/* The answer to one question; no text if it is not found. False: no memory. */
static bool reply_to_one(const struct extract *extract, const struct evidence *evidence, struct buffer *out,
                         struct finding *finding)
{
    struct picked picked[PICKED_MAX];
    struct selection *selection = arena_alloc(extract->arena, sizeof *selection);
    if (!selection || !selection_rank(evidence, extract->asked.bytes, extract->asked.length, selection))
        return false;
    finding->confidence = extract_confidence(extract, selection);
    finding->found = finding->confidence >= extract->least_confidence;
    if (finding->found)
        say_sentences(extract, picked, extract_pick(extract, evidence, selection, picked), out);
    return true;
}

/* The answers to the parts of a question, each on lines of its own. A comparison needs all of its parts. The scores of
 * the searches belong to no part, so that the words alone decide. */
static bool reply_to_parts(const struct extract *extract, const struct evidence *evidence, const struct text *parts,
                           size_t count, struct buffer *out, struct finding *finding)
{
    struct asked asked;
    struct buffer all, said;
    size_t answered = 0;
    bool good = true;
    struct extract *part = arena_copy(extract->arena, extract, sizeof *part);
    if (!part)
        return false;
    part->found = (struct found){0};
    buffer_init(&all, out->limit);
    for (size_t i = 0; good && i < count; i++) {
        struct finding one = {0};
        part->asked = parts[i];
        buffer_init(&said, out->limit);
        good = reply_to_one(part, evidence, &said, &one);
        if (one.found)
            buffer_printf(&all, "%s%s", answered ? "\n\n" : "", buffer_text(&said));
        answered += one.found;
        finding->confidence = one.confidence > finding->confidence ? one.confidence : finding->confidence;
        buffer_fini(&said);
    }
    bool compares = asked_read(extract->asked.bytes, extract->asked.length, &asked) && asked.type == ASKED_COMPARISON;
    finding->found = answered == count || (answered && !compares);
    if (finding->found)
        buffer_print(out, buffer_text(&all));
    buffer_fini(&all);
    return good;
}

static bool reply_from_evidence(const struct extract *extract, struct buffer *out, struct finding *finding)
{
    struct text parts[EXTRACT_PARTS_MAX];
    struct evidence *evidence = evidence_create(extract->arena, extract->passages, extract->passage_count);
    size_t count = extract_split(extract->arena, extract->asked, extract->japanese, EXTRACT_PARTS_MAX, parts);
    if (!evidence || !(count > 1 ? reply_to_parts(extract, evidence, parts, count, out, finding)
                                 : reply_to_one(extract, evidence, out, finding)))
        return false;
    if (!finding->found)
        extract_say_nothing(extract, out, finding);
    return true;
}

/* ---- the final answer -------------------------------------------------------------------------------------------- */

/* Whether the answer stands in an earlier one, which may have a heading before it. */
static bool was_said(const struct extract *extract, size_t index)
{
    const struct result *result = &extract->results[index];
    for (size_t i = 0; i < index; i++)
        if (extract->results[i].found && memmem(extract->results[i].answer.bytes, extract->results[i].answer.length,
                                                result->answer.bytes, result->answer.length))
            return true;
    return false;
}

bool extract_reply(const struct extract *extract, struct buffer *out, struct finding *finding)
{
    if (!extract->result_count)
        return reply_from_evidence(extract, out, finding);
    /* The answers of the subtasks, one after the other. */
    for (size_t i = 0; i < extract->result_count; i++) {
        const struct result *result = &extract->results[i];
        if (!result->found || was_said(extract, i))
            continue;
        buffer_print(out, finding->found ? "\n\n" : "");
        text_print(out, result->answer);
        finding->found = true;
    }
    if (!finding->found)
        extract_say_nothing(extract, out, finding);
    return true;
}
