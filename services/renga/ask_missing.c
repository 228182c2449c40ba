/* The passages that came nearest to what nothing answers, marked as such, and how a model is connected. */
#include "ask.h"
#include "outcome.h"

#include <stdio.h>

static bool no_model_answered(const Renga__V1__AgentOutcome *outcome)
{
    for (size_t i = 0; outcome && i < outcome->n_degradations; i++)
        if (outcome->degradations[i]->kind == RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_EXTRACTIVE)
            return true;
    return false;
}

static Renga__V1__Citation citation_of(const Renga__V1__SearchHit *hit)
{
    Renga__V1__Citation citation = RENGA__V1__CITATION__INIT;
    citation.uri = hit->uri;
    citation.line_from = hit->line_from;
    citation.line_to = hit->line_to;
    citation.heading_path = hit->heading_path;
    citation.n_heading_path = hit->n_heading_path;
    citation.quote = hit->quote;
    return citation;
}

void ask_show_missing(const struct ask *ask, const Renga__V1__AgentResult *result, size_t width)
{
    const Renga__V1__NotFound *missing = result->not_found;
    if (!missing)
        return;
    if (missing->n_nearest) {
        putchar('\n');
        outcome_line(stdout, &ask->way, width, DIM, "", ask->words->nearest);
    }
    for (size_t i = 0; i < missing->n_nearest; i++) {
        const Renga__V1__Citation citation = citation_of(missing->nearest[i]);
        ask_show_place(ask, &citation, "~ ", width);
    }
}

void ask_show_connect(const struct ask *ask, const Renga__V1__AgentResult *result, size_t width)
{
    if (!result->not_found || !no_model_answered(result->outcome))
        return;
    putchar('\n');
    outcome_line(stdout, &ask->way, width, DIM, "", ask->words->connect);
}
