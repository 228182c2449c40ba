/* An answer for people: numbers behind its sentences, the places that they refer to, the passages nearest to the
 * unanswered parts, and the gaps of the result. */
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

static void ask_answer_put_place(struct buffer *out, const Renga__V1__Citation *citation)
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

void ask_show_place(const struct ask *ask, const Renga__V1__Citation *citation, const char *label, size_t width)
{
    struct buffer out, quote;
    buffer_init(&out, TEXT_MAX);
    buffer_init(&quote, TEXT_MAX);
    wrap_put(&quote, citation->quote, strlen(citation->quote), true);
    ask_answer_put_place(&out, citation);
    size_t length = ask->live ? wrap_fit(buffer_text(&quote), QUOTE_COLUMNS) : quote.length;
    buffer_printf(&out, "%c\"%.*s%s\"%c", WRAP_DIM, (int)length, buffer_text(&quote), length < quote.length ? "…" : "",
                  WRAP_PLAIN);
    fputs(label, stdout);
    wrap_text(buffer_text(&out), strlen(label), width, ask->client.colours);
    buffer_fini(&quote);
    buffer_fini(&out);
}

static void show_sources(const struct ask *ask, const Renga__V1__AgentResult *result, const size_t *numbers,
                         size_t width)
{
    size_t shown = 0;
    char label[24];
    for (size_t i = 0; i < result->n_citations; i++) {
        if (numbers[i] <= shown)
            continue;
        shown = numbers[i];
        snprintf(label, sizeof label, "[%zu] ", shown);
        ask_show_place(ask, result->citations[i], label, width);
    }
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void ask_answer_put_answer(const struct ask *ask, const Renga__V1__AgentResult *result, const size_t *numbers,
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
            outcome_line(stdout, &ask->client, ask->width, YELLOW, part, subtask->message);
    }
}

static bool has_notes(const Renga__V1__AgentResult *result, const Renga__V1__AgentOutcome *outcome)
{
    bool broken = false;
    for (size_t i = 0; i < result->n_subtasks; i++)
        broken |= result->subtasks[i]->status_code != 0;
    return broken || outcome_has_notes(outcome);
}

/* Without citations, the answer shows no sentence of the documents, so the note about quoted sentences is left out. */
static Renga__V1__AgentOutcome notes_of(const Renga__V1__AgentResult *result, Renga__V1__Degradation **list)
{
    Renga__V1__AgentOutcome outcome = RENGA__V1__AGENT_OUTCOME__INIT;
    if (result->outcome)
        outcome = *result->outcome;
    if (!list || result->n_citations)
        return outcome;
    outcome.degradations = list;
    outcome.n_degradations = 0;
    for (size_t i = 0; result->outcome && i < result->outcome->n_degradations; i++)
        if (result->outcome->degradations[i]->kind != RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_EXTRACTIVE)
            list[outcome.n_degradations++] = result->outcome->degradations[i];
    return outcome;
}

static void show_notes(const struct ask *ask, const Renga__V1__AgentResult *result)
{
    size_t count = result->outcome ? result->outcome->n_degradations : 0;
    Renga__V1__Degradation **list = calloc(count + 1, sizeof *list);
    Renga__V1__AgentOutcome outcome = notes_of(result, list);
    if (has_notes(result, result->outcome ? &outcome : NULL)) {
        putchar('\n');
        show_broken(ask, result);
        outcome_show(stdout, &ask->client, ask->width, ask->words->tag, result->outcome ? &outcome : NULL);
    }
    free(list);
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
    ask_answer_put_answer(ask, result, numbers, &out);
    wrap_text(buffer_text(&out), 0, width, ask->client.colours);
    if (result->n_citations) {
        putchar('\n');
        show_sources(ask, result, numbers, width);
    }
    ask_show_missing(ask, result, width);
    show_notes(ask, result);
    ask_show_connect(ask, result, width);
    buffer_fini(&out);
    free(numbers);
}
