/* Requests to learn from samples. */
#include "ace_adapt.h"

#include "base/text.h"
#include "nodes/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPOCHS_MAX 100
#define ROUNDS_MAX 5

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

static bool sample_fail(struct status *st, size_t place, const char *name, const struct status *why)
{
    char field[STATUS_FIELD_MAX];
    snprintf(field, sizeof field, "samples[%zu].%s", place, name);
    return fail_field(st, field, "%s", why->text);
}

static bool sample_check(const Renga__V1__AceSample *sample, size_t place, struct status *st)
{
    struct status why = {0};
    const struct {
        const char *name, *text;
        size_t most;
    } texts[] = {
        {"id", sample->id, ACE_SAMPLE_ID_MAX},
        {"query", sample->query, ACE_QUERY_MAX},
        {"ground_truth", sample->ground_truth, ACE_TEXT_MAX},
        {"test_output", sample->test_output, ACE_TEXT_MAX},
        {"remark", sample->remark, ACE_REMARK_MAX},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strlen(texts[i].text) > texts[i].most) {
            fail(&why, INVALID_ARGUMENT, "has %zu bytes; at most %zu are allowed", strlen(texts[i].text),
                 texts[i].most);
            return sample_fail(st, place, texts[i].name, &why);
        }
    if (text_is_blank(sample->query)) {
        fail(&why, INVALID_ARGUMENT, "is blank; give a task");
        return sample_fail(st, place, "query", &why);
    }
    if (sample->match > RENGA__V1__ANSWER_MATCH__ANSWER_MATCH_PATTERN) {
        fail(&why, INVALID_ARGUMENT, "is %d; it must be EXACT, CONTAINS, NUMBER or PATTERN", (int)sample->match);
        return sample_fail(st, place, "match", &why);
    }
    return !*sample->ground_truth || answer_truth_check(ace_answer_match(sample->match), sample->ground_truth, &why) ||
           sample_fail(st, place, "ground_truth", &why);
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
    if (!request->n_samples || request->n_samples > ACE_SAMPLES_MAX)
        return fail_field(st, "samples", "has %zu entries; 1 to %d are allowed", request->n_samples, ACE_SAMPLES_MAX);
    for (size_t i = 0; i < request->n_samples; i++)
        if (!sample_check(request->samples[i], i, st))
            return false;
    return samples_check_names(request, st);
}

static bool range_check(const char *field, int32_t value, int most, struct status *st)
{
    return (value >= 0 && value <= most) ||
           fail_field(st, field, "is %d; 1 to %d are allowed, and 0 means 1", value, most);
}

bool ace_adapt_check(const Renga__V1__AdaptRequest *request, struct status *st)
{
    if (request->mode < RENGA__V1__ADAPT_MODE__ADAPT_MODE_OFFLINE ||
        request->mode > RENGA__V1__ADAPT_MODE__ADAPT_MODE_EVALUATE)
        return fail_field(st, "mode", "is %d; it must be OFFLINE, ONLINE or EVALUATE", (int)request->mode);
    return dataset_check("dataset", request->dataset, st) && range_check("epochs", request->epochs, EPOCHS_MAX, st) &&
           range_check("reflection_rounds", request->reflection_rounds, ROUNDS_MAX, st) &&
           ace_check_budget(request->token_budget, st) && ace_check_top_k(request->top_k, st) &&
           samples_check(request, st) && agent_options_check(request->options, st);
}
