/* What models do not take, by their names: known beforehand (a table), or learned from a refusal. */
#ifndef RENGA_LLM_GATEWAY_CAPABILITY_H
#define RENGA_LLM_GATEWAY_CAPABILITY_H

#include "base/arena.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a request may have and an answer can do without. */
enum parameter {
    PARAMETER_TEMPERATURE,
    PARAMETER_TOP_P,
    PARAMETER_SEED,
    PARAMETER_FREQUENCY_PENALTY,
    PARAMETER_PRESENCE_PENALTY,
    PARAMETER_EFFORT,
    PARAMETER_PARALLEL,
    PARAMETERS
};

#define PARAMETER_BIT(parameter) (1u << (parameter))
#define PARAMETER_SAMPLING       (PARAMETER_BIT(PARAMETER_TEMPERATURE) | PARAMETER_BIT(PARAMETER_TOP_P))
#define PARAMETER_PENALTIES      (PARAMETER_BIT(PARAMETER_FREQUENCY_PENALTY) | PARAMETER_BIT(PARAMETER_PRESENCE_PENALTY))

/* All zero: a model that takes everything. */
struct capability {
    uint32_t refused_parameters; /* PARAMETER_BITs that are not sent */
    bool new_token_limit;        /* it wants "max_completion_tokens" */
    bool no_tools;               /* it has none */
    bool effort_words;           /* Ollama: "low" to "high" rather than yes or no */
    bool adaptive_thinking;      /* Anthropic: it chooses its own budget, after an effort */
};

/* By the upstream's name of the model; whatever stands before a slash is not looked at. */
struct capability capability_of(const char *model);

/* Which parameter an error's body says is not taken: by `field` (status.h) where the provider names it apart, else by
 * its text. PARAMETERS: none, or something is wrong with the value and not with having it. */
enum parameter capability_refused(const char *field, const char *body, size_t size);

/* Which of `refused_parameters` the request has. */
uint32_t capability_missed(const Renga__V1__ChatRequest *request, uint32_t refused_parameters);

/* The `count` that are `said`, at most 2, and a Degradation for each bit of `missed`, in the arena; gives how many, 0
 * also where memory is out. */
size_t capability_degradations(struct arena *arena, uint32_t missed, Renga__V1__Degradation *const *said, size_t count,
                               Renga__V1__Degradation ***list);

#endif
