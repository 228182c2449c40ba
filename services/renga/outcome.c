#include "outcome.h"

#include "wrap.h"

#include <string.h>

#define NOTES_SHOWN     3
#define EXTRACTIVE_PART "extractive"      /* of the gateway's degradation without a model */
#define LINE_BYTES      ((size_t)1 << 20) /* bytes */

struct outcome_words {
    const char *extractive, *partial;
    const char *more[2]; /* before and after the number */
};

static const struct outcome_words english = {
    .extractive = "extractive: no model was asked; these are sentences of the documents",
    .partial = "partial",
    .more = {"and ", " more"},
};

static const struct outcome_words japanese = {
    .extractive = "抽出のみ：モデルは使わず、文書にある文をそのまま示しています",
    .partial = "途中まで",
    .more = {"ほか", "件"},
};

bool outcome_has_notes(const Renga__V1__AgentOutcome *outcome)
{
    return outcome &&
           (outcome->n_degradations || outcome->stop_reason != RENGA__V1__STOP_REASON__STOP_REASON_COMPLETED);
}

static bool outcome_said_before(const Renga__V1__AgentOutcome *outcome, size_t note)
{
    for (size_t i = 0; i < note; i++)
        if (strcmp(outcome->degradations[i]->reason, outcome->degradations[note]->reason) == 0)
            return true;
    return false;
}

void outcome_line(FILE *out, const struct orchestrator_client *client, size_t width, const char *sequence,
                  const char *part, const char *reason)
{
    struct buffer line;
    buffer_init(&line, LINE_BYTES);
    wrap_put(&line, part, strlen(part), true);
    buffer_print(&line, *part ? ": " : "");
    wrap_put(&line, reason, strlen(reason), true);
    fputs(colour(client, sequence), out);
    wrap_text_on(out, buffer_text(&line), 0, width, false);
    fputs(colour(client, PLAIN), out);
    buffer_fini(&line);
}

static bool outcome_is_extractive(const Renga__V1__Degradation *note)
{
    return note->kind == RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_EXTRACTIVE;
}

/* The gateway's own note. Those of an agent tell why a model's words gave way. */
bool outcome_has_no_model(const Renga__V1__AgentOutcome *outcome)
{
    for (size_t i = 0; outcome && i < outcome->n_degradations; i++)
        if (outcome_is_extractive(outcome->degradations[i]) &&
            strcmp(outcome->degradations[i]->part, EXTRACTIVE_PART) == 0)
            return true;
    return false;
}

static size_t outcome_show_degradations(FILE *out, const struct orchestrator_client *client, size_t width,
                                        const Renga__V1__AgentOutcome *outcome, bool no_model)
{
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < outcome->n_degradations; i++) {
        const Renga__V1__Degradation *note = outcome->degradations[i];
        bool extractive = outcome_is_extractive(note);
        if (outcome_said_before(outcome, i) || (extractive && no_model))
            continue;
        if (shown++ < NOTES_SHOWN)
            outcome_line(out, client, width, YELLOW, extractive ? "" : note->part, note->reason);
        else
            more++;
    }
    return more;
}

void outcome_show(FILE *out, const struct orchestrator_client *client, size_t width, const char *language,
                  const Renga__V1__AgentOutcome *outcome)
{
    const struct outcome_words *words = strncmp(language, "ja", 2) == 0 ? &japanese : &english;
    if (!outcome)
        return;
    bool no_model = outcome_has_no_model(outcome);
    size_t more = outcome_show_degradations(out, client, width, outcome, no_model);
    if (more)
        fprintf(out, "%s%zu%s\n", words->more[0], more, words->more[1]);
    if (outcome->stop_reason != RENGA__V1__STOP_REASON__STOP_REASON_COMPLETED)
        outcome_line(out, client, width, YELLOW, words->partial,
                     outcome->stop_text[0] ? outcome->stop_text : reason_word(outcome->stop_reason));
    if (no_model)
        outcome_line(out, client, width, DIM, "", words->extractive);
}
