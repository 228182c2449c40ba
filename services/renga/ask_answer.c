/* An answer for people: numbers behind its sentences, the places that they refer to, and the gaps of the result. */
#include "ask.h"
#include "outcome.h"
#include "wrap.h"

#include "base/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX      ((size_t)4 << 20)
#define LINE_COLUMNS  100 /* of text; longer ones are hard to read, however wide the terminal */
#define QUOTE_COLUMNS 240 /* of a quote on a terminal */

/* ---- sources ----------------------------------------------------------------------------------------------------- */

static bool same_place(const Renga__V1__Citation *a, const Renga__V1__Citation *b)
{
    return a->line_from == b->line_from && a->line_to == b->line_to && strcmp(a->uri, b->uri) == 0 &&
           strcmp(a->quote, b->quote) == 0;
}

static size_t first_of_its_place(const Renga__V1__AgentResult *result, size_t citation)
{
    size_t first = 0;
    while (!same_place(result->citations[first], result->citations[citation]))
        first++;
    return first;
}

/* Places count in the order in which they are first cited. */
static void number_places(const Renga__V1__AgentResult *result, size_t *numbers)
{
    size_t places = 0;
    for (size_t i = 0; i < result->n_citations; i++) {
        size_t first = first_of_its_place(result, i);
        numbers[i] = first == i ? ++places : numbers[first];
    }
}

static void put_place(struct buffer *out, const Renga__V1__Citation *citation)
{
    wrap_put(out, citation->uri, strlen(citation->uri), true);
    if (citation->line_from)
        buffer_printf(out, ":%d", citation->line_from);
    if (citation->line_to > citation->line_from)
        buffer_printf(out, "-%d", citation->line_to);
    for (size_t i = 0; i < citation->n_heading_path; i++) {
        buffer_print(out, i ? " > " : " — ");
        wrap_put(out, citation->heading_path[i], strlen(citation->heading_path[i]), true);
    }
    buffer_print(out, ": ");
}

static void show_source(const struct ask *ask, const Renga__V1__Citation *citation, size_t number, size_t width)
{
    struct buffer out, quote;
    char label[24];
    int indent = snprintf(label, sizeof label, "[%zu] ", number);
    buffer_init(&out, TEXT_MAX);
    buffer_init(&quote, TEXT_MAX);
    wrap_put(&quote, citation->quote, strlen(citation->quote), true);
    put_place(&out, citation);
    size_t length = ask->live ? wrap_fit(buffer_text(&quote), QUOTE_COLUMNS) : quote.length;
    buffer_printf(&out, "%c\"%.*s%s\"%c", WRAP_DIM, (int)length, buffer_text(&quote), length < quote.length ? "…" : "",
                  WRAP_PLAIN);
    fputs(label, stdout);
    wrap_text(buffer_text(&out), (size_t)indent, width, ask->way.colours);
    buffer_fini(&quote);
    buffer_fini(&out);
}

static void show_sources(const struct ask *ask, const Renga__V1__AgentResult *result, const size_t *numbers,
                         size_t width)
{
    size_t shown = 0;
    for (size_t i = 0; i < result->n_citations; i++)
        if (numbers[i] > shown)
            show_source(ask, result->citations[i], shown = numbers[i], width);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void put_answer(const struct ask *ask, const Renga__V1__AgentResult *result, const size_t *numbers,
                       struct buffer *out)
{
    const char *rest = result->answer, *end;
    for (size_t i = 0; i < result->n_citations; i++) {
        const Renga__V1__Citation *citation = result->citations[i];
        bool again = i && citation->sentence_number == result->citations[i - 1]->sentence_number;
        const char *there = again || !*citation->sentence ? NULL : strstr(rest, citation->sentence);
        end = there ? there + strlen(citation->sentence) : rest;
        wrap_put(out, rest, (size_t)(end - rest), false);
        rest = end;
        buffer_printf(out, "%s%c[%zu]%c", again ? "" : ask->words->space, WRAP_DIM, numbers[i], WRAP_PLAIN);
    }
    wrap_put(out, rest, strlen(rest), false);
}

/* ---- gaps of the result ------------------------------------------------------------------------------------------ */

static void show_broken(const struct ask *ask, const Renga__V1__AgentResult *result)
{
    for (size_t i = 0; i < result->n_subtasks; i++) {
        const Renga__V1__Subtask *subtask = result->subtasks[i];
        char part[32];
        snprintf(part, sizeof part, "%zu", i + 1);
        if (subtask->status_code)
            outcome_line(stdout, &ask->way, ask->width, YELLOW, part, subtask->message);
    }
}

static bool has_notes(const Renga__V1__AgentResult *result)
{
    bool broken = false;
    for (size_t i = 0; i < result->n_subtasks; i++)
        broken |= result->subtasks[i]->status_code != 0;
    return broken || outcome_has_notes(result->outcome);
}

void ask_show_answer(struct ask *ask, const Renga__V1__AgentResult *result)
{
    struct buffer out;
    size_t width = ask->width > LINE_COLUMNS ? LINE_COLUMNS : ask->width;
    size_t *numbers = calloc(result->n_citations + 1, sizeof *numbers);
    if (!numbers)
        abort();
    number_places(result, numbers);
    buffer_init(&out, TEXT_MAX);
    put_answer(ask, result, numbers, &out);
    wrap_text(buffer_text(&out), 0, width, ask->way.colours);
    if (result->n_citations) {
        putchar('\n');
        show_sources(ask, result, numbers, width);
    }
    if (has_notes(result)) {
        putchar('\n');
        show_broken(ask, result);
        outcome_show(stdout, &ask->way, ask->width, ask->words->tag, result->outcome);
    }
    buffer_fini(&out);
    free(numbers);
}
