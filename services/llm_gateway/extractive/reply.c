/* The answer: sentences of the sources. nothing.c says that there are none. */
#include "extract.h"

#include "words/words.h"

#include <stdio.h>
#include <string.h>

#define SENTENCES_MAX 5
#define BYTES_MAX     ((size_t)4000)
#define LEAST         0.40 /* of the best sentence's score */
#define LEAST_SECOND  0.20 /* ... of a second one where one alone must not stand */
#define NOVELTY       0.4

/* ---- what was found ---------------------------------------------------------------------------------------------- */

/* A sentence on one line: a blank stands for white space, but nothing for a line's end behind a Japanese character. */
static struct text on_one_line(struct arena *arena, struct text text)
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

static bool is_stopped(struct text text)
{
    static const char *const stops[] = {".", "!", "?", "。", "！", "？", ".)", "」", "…", "\""};
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        size_t length = strlen(stops[i]);
        if (text.length >= length && memcmp(text.bytes + text.length - length, stops[i], length) == 0)
            return true;
    }
    return false;
}

static bool stands_before(const struct chosen *a, const struct chosen *b)
{
    return a->passage != b->passage ? a->passage < b->passage : a->span.begin < b->span.begin;
}

/* As they stand in the sources, the passage of the best one first. */
static void sort(struct chosen *chosen, size_t count)
{
    size_t first = count ? chosen[0].passage : 0;
    for (size_t i = 1; i < count; i++) {
        struct chosen next = chosen[i];
        size_t at = i;
        for (; at > 0; at--) {
            bool own = next.passage == first, its = chosen[at - 1].passage == first;
            if (own != its ? its : !stands_before(&next, &chosen[at - 1]))
                break;
            chosen[at] = chosen[at - 1];
        }
        chosen[at] = next;
    }
}

static void say_sentences(const struct extract *extract, struct chosen *chosen, size_t count, struct buffer *out)
{
    struct text lines[CHOSEN_MAX];
    bool items = false;
    sort(chosen, count);
    for (size_t i = 0; i < count; i++) {
        const char *text = extract->passages[chosen[i].passage].text;
        lines[i] = on_one_line(extract->arena,
                               (struct text){text + chosen[i].span.begin, chosen[i].span.end - chosen[i].span.begin});
        items |= count > 1 && !is_stopped(lines[i]);
    }
    for (size_t i = 0; i < count; i++) {
        buffer_print(out, items ? i ? "\n- " : "- " : i && !extract->japanese ? " " : "");
        text_print(out, lines[i]);
    }
}

/* English questions of several hops are rarely answered by one sentence. */
size_t extract_choose(const struct extract *extract, const struct evidence *evidence, struct chosen chosen[CHOSEN_MAX])
{
    struct choice_terms terms = {
        .sentences_max = SENTENCES_MAX, .bytes_max = BYTES_MAX, .least = LEAST, .novelty = NOVELTY};
    struct text asked = extract->asked;
    size_t count = evidence_choose(evidence, asked.bytes, asked.length, &terms, chosen);
    if (count == 1 && !extract->japanese) {
        terms.sentences_max = 2;
        terms.least = LEAST_SECOND;
        count = evidence_choose(evidence, asked.bytes, asked.length, &terms, chosen);
    }
    return count;
}

static bool reply_from_evidence(const struct extract *extract, struct buffer *out, struct finding *finding)
{
    struct chosen chosen[CHOSEN_MAX];
    struct evidence *evidence = evidence_create(extract->arena, extract->passages, extract->passage_count);
    if (!evidence)
        return false;
    size_t count = extract_choose(extract, evidence, chosen);
    double support = evidence_answers(evidence, extract->asked.bytes, extract->asked.length, chosen, count);
    finding->confidence = extract_confidence(extract, support);
    finding->found = finding->confidence >= EXTRACT_ENOUGH;
    if (!finding->found)
        extract_say_nothing(extract, out, finding);
    else
        say_sentences(extract, chosen, count, out);
    return true;
}

/* ---- the final answer -------------------------------------------------------------------------------------------- */

static bool was_said(const struct extract *extract, size_t index)
{
    const struct result *result = &extract->results[index];
    for (size_t i = 0; i < index; i++)
        if (extract->results[i].found && extract->results[i].answer.length == result->answer.length &&
            memcmp(extract->results[i].answer.bytes, result->answer.bytes, result->answer.length) == 0)
            return true;
    return false;
}

/* The answers of the subtasks, one after the other. */
static void reply_from_results(const struct extract *extract, struct buffer *out, struct finding *finding)
{
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
}

bool extract_reply(const struct extract *extract, struct buffer *out, struct finding *finding)
{
    if (!extract->result_count)
        return reply_from_evidence(extract, out, finding);
    reply_from_results(extract, out, finding);
    return true;
}
