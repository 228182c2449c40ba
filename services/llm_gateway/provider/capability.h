/* Parameters that a model does not support, by its name: known beforehand (a table), or learned from a refusal. */
#ifndef RENGA_LLM_GATEWAY_CAPABILITY_H
#define RENGA_LLM_GATEWAY_CAPABILITY_H

#include "base/arena.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Optional parameters: an answer is possible without them. */
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

/* All zero: the model supports all parameters. */
struct capability {
    uint32_t refused_parameters; /* PARAMETER_BITs that are not sent */
    bool new_token_limit;        /* it wants "max_completion_tokens" */
    bool no_tools;               /* tools are not supported */
    bool effort_words;           /* Ollama: "low" to "high" rather than yes or no */
    bool adaptive_thinking;      /* Anthropic: it chooses its own budget, after an effort */
};

/* By the upstream's name of the model; a prefix before a slash is ignored. */
struct capability capability_of(const char *model);

/* The parameter that an error's body calls unsupported: by `field` (status.h) if the provider names it, else by its
 * text. PARAMETERS: no parameter is unsupported, though a value may be wrong. */
enum parameter capability_refused(const char *field, const char *body, size_t size);

/* Which of `refused_parameters` the request has. */
uint32_t capability_missed(const Renga__V1__ChatRequest *request, uint32_t refused_parameters);

/* Copies `count` degradations from `said`, at most 2, and adds a Degradation for each bit of `missed`, in the arena.
 * Returns the number; 0 also if memory is exhausted. */
size_t capability_degradations(struct arena *arena, uint32_t missed, Renga__V1__Degradation *const *said, size_t count,
                               Renga__V1__Degradation ***list);

#endif
