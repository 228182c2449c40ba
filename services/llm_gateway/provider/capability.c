#include "capability.h"

#include <fnmatch.h>
#include <string.h>

#define DEGRADATIONS_MAX 8 /* ChatFinish.degradations */
#define SAMPLING         PARAMETER_SAMPLING
#define PENALTIES        PARAMETER_PENALTIES

/* The first matching pattern counts; each begins with a small letter. A model that is not listed gets all
 * parameters, and its errors tell. */
static const struct {
    const char *pattern;
    struct capability capability;
} models[] = {
    {"o1-mini*", {.refused_parameters = SAMPLING | PENALTIES, .new_token_limit = true, .no_tools = true}},
    {"o1-preview*", {.refused_parameters = SAMPLING | PENALTIES, .new_token_limit = true, .no_tools = true}},
    {"o[134]", {.refused_parameters = SAMPLING | PENALTIES, .new_token_limit = true}},
    {"o[134]-*", {.refused_parameters = SAMPLING | PENALTIES, .new_token_limit = true}},
    {"gpt-5*-chat*", {.new_token_limit = true}},
    {"gpt-5*", {.refused_parameters = SAMPLING | PENALTIES, .new_token_limit = true}},
    {"gpt-oss*", {.effort_words = true}},
    {"claude-opus-4-[789]*", {.refused_parameters = SAMPLING, .adaptive_thinking = true}},
    {"claude-opus-[5-9]*", {.refused_parameters = SAMPLING, .adaptive_thinking = true}},
    {"claude-sonnet-[5-9]*", {.refused_parameters = SAMPLING, .adaptive_thinking = true}},
    {"claude-haiku-[5-9]*", {.refused_parameters = SAMPLING, .adaptive_thinking = true}},
};

struct capability capability_of(const char *model)
{
    const char *slash = strrchr(model, '/'), *name = slash ? slash + 1 : model;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (models[i].pattern[0] == (name[0] | 0x20) && fnmatch(models[i].pattern, name, FNM_CASEFOLD) == 0)
            return models[i].capability;
    return (struct capability){0};
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *field, *theirs, *reason;
} parameters[PARAMETERS] = {
    [PARAMETER_TEMPERATURE] = {"sampling.temperature", "temperature", "The model does not take a temperature."},
    [PARAMETER_TOP_P] = {"sampling.top_p", "top_p", "The model does not take top_p."},
    [PARAMETER_SEED] = {"sampling.seed", "seed", "The model does not take a seed."},
    [PARAMETER_FREQUENCY_PENALTY] = {"sampling.frequency_penalty", "frequency_penalty",
                                     "The model does not take a frequency penalty."},
    [PARAMETER_PRESENCE_PENALTY] = {"sampling.presence_penalty", "presence_penalty",
                                    "The model does not take a presence penalty."},
    [PARAMETER_EFFORT] = {"reasoning_effort", "thinking", "The model cannot choose how long to think."},
    [PARAMETER_PARALLEL] = {"parallel_tool_calls", "parallel_tool_calls",
                            "The provider cannot be told whether tools may be called in parallel."},
};

/* Whether the text refuses the parameter itself, by the phrases that upstreams use. */
static bool says_unsupported(const char *body, size_t size)
{
    static const char *const words[] = {"unsupported", "Unsupported",       "not support", "deprecated",
                                        "nrecognized", "Unknown parameter", "xtra inputs"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (memmem(body, size, words[i], strlen(words[i])))
            return true;
    return false;
}

enum parameter capability_refused(const char *field, const char *body, size_t size)
{
    if (!says_unsupported(body, size))
        return PARAMETERS;
    for (int i = 0; i < PARAMETERS; i++)
        if (field[0] ? strcmp(field, parameters[i].field) == 0
                     : memmem(body, size, parameters[i].theirs, strlen(parameters[i].theirs)) != NULL)
            return (enum parameter)i;
    return PARAMETERS;
}

/* ---- report in an answer ----------------------------------------------------------------------------------------- */

uint32_t capability_missed(const Renga__V1__ChatRequest *request, uint32_t refused_parameters)
{
    static const Renga__V1__Sampling nothing = RENGA__V1__SAMPLING__INIT;
    const Renga__V1__Sampling *sampling = request->sampling ? request->sampling : &nothing;
    const bool present[PARAMETERS] = {
        [PARAMETER_TEMPERATURE] = sampling->maybe_temperature_case != 0,
        [PARAMETER_TOP_P] = sampling->maybe_top_p_case != 0,
        [PARAMETER_SEED] = sampling->maybe_seed_case != 0,
        [PARAMETER_FREQUENCY_PENALTY] = sampling->maybe_frequency_penalty_case != 0,
        [PARAMETER_PRESENCE_PENALTY] = sampling->maybe_presence_penalty_case != 0,
        [PARAMETER_EFFORT] = request->reasoning_effort != 0,
        [PARAMETER_PARALLEL] = request->maybe_parallel_tool_calls_case && request->n_tools,
    };
    uint32_t missed = 0;
    for (int i = 0; i < PARAMETERS; i++)
        if (present[i])
            missed |= refused_parameters & PARAMETER_BIT(i);
    return missed;
}

size_t capability_degradations(struct arena *arena, uint32_t missed, Renga__V1__Degradation *const *said, size_t count,
                               Renga__V1__Degradation ***list)
{
    if (!missed && !count)
        return 0;
    Renga__V1__Degradation *all = arena_alloc(arena, PARAMETERS * sizeof *all);
    Renga__V1__Degradation **pointers = arena_alloc(arena, (PARAMETERS + count) * sizeof(*pointers));
    if (!all || !pointers)
        return 0;
    for (size_t i = 0; i < count; i++)
        pointers[i] = said[i];
    for (int i = 0; i < PARAMETERS && count < DEGRADATIONS_MAX; i++) {
        if (!(missed & PARAMETER_BIT(i)))
            continue;
        renga__v1__degradation__init(&all[i]);
        all[i].part = (char *)(uintptr_t)parameters[i].field;
        all[i].kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_SKIPPED;
        all[i].reason = (char *)(uintptr_t)parameters[i].reason;
        pointers[count++] = &all[i];
    }
    *list = pointers;
    return count;
}
