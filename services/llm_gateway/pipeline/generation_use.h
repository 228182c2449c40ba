/* The generation of the configuration (routing/config_generation.h) that a loop uses for its new calls, with the
 * metrics of its routes. Each call counts as a user from its beginning to its end, in its own loop. */
#ifndef RENGA_LLM_GATEWAY_GENERATION_USE_H
#define RENGA_LLM_GATEWAY_GENERATION_USE_H

#include <stdbool.h>

struct config_generation;
struct pipeline_series;

struct generation_use {
    struct config_generation *generation;
    struct pipeline_series *series; /* metrics of its routes */
    unsigned calls;                 /* in progress */
    bool over;                      /* the loop uses another generation: the last call frees this */
};

/* From inside the loop. NULL: memory is exhausted. */
struct generation_use *generation_use_create(struct config_generation *generation);
void generation_use_end(struct generation_use **use);

/* Each call enters at its beginning and leaves at its end. From inside the loop. */
static inline struct generation_use *generation_use_enter(struct generation_use *use)
{
    use->calls++;
    return use;
}
void generation_use_leave(struct generation_use *use);

#endif
