/* Requests to learn from samples. */
#include "ace_adapt.h"

#include "graph/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum answer_match ace_answer_match(Renga__V1__AnswerMatch match)
{
    switch (match) {
    case RENGA__V1__ANSWER_MATCH__ANSWER_MATCH_EXACT:
        return ANSWER_EXACT;
    case RENGA__V1__ANSWER_MATCH__ANSWER_MATCH_NUMBER:
        return ANSWER_NUMBER;
    case RENGA__V1__ANSWER_MATCH__ANSWER_MATCH_PATTERN:
        return ANSWER_PATTERN;
    default:
        return ANSWER_CONTAINS;
    }
}

static bool sample_check(const Renga__V1__AceSample *sample, size_t place, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    struct status why = {0};
    if (!*sample->ground_truth || answer_truth_check(ace_answer_match(sample->match), sample->ground_truth, &why))
        return true;
    snprintf(field, sizeof field, "samples[%zu].ground_truth", place);
    return fail_field(st, field, "%s", why.text);
}

static int ace_adapt_check_compare_names(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static bool samples_check_names(const Renga__V1__AdaptRequest *request, struct status *st)
{
    const char *names[ACE_SAMPLES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < request->n_samples; i++)
        if (*request->samples[i]->id)
            names[count++] = request->samples[i]->id;
    qsort(names, count, sizeof *names, ace_adapt_check_compare_names);
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            return fail_field(st, "samples", "has the id '%.128s' twice; name each sample once", names[i]);
    return true;
}

static bool samples_check(const Renga__V1__AdaptRequest *request, struct status *st)
{
    if (request->n_samples > ACE_SAMPLES_MAX) /* room of samples_check_names; the contract allows as many */
        return fail_field(st, "samples", "has %zu entries; 1 to %d are allowed", request->n_samples, ACE_SAMPLES_MAX);
    for (size_t i = 0; i < request->n_samples; i++)
        if (!sample_check(request->samples[i], i, st))
            return false;
    return samples_check_names(request, st);
}

bool ace_adapt_check(const Renga__V1__AdaptRequest *request, struct status *st)
{
    return agent_request_check(&request->base, request->options, st) &&
           dataset_check("dataset", request->dataset, st) && samples_check(request, st);
}
