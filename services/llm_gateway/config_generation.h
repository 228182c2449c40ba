/* A generation of the configuration: one reading of the routes, and the admissions of its models. A reload makes the
 * next one, in which what stays the same stands as it did (routing/route.h, admission/admission.h); calls end on the
 * generation that they began with, and the last of them frees it.
 *
 *      gateway_shared --- holds the current one --------------------.
 *      a loop  --- holds one --- counts its calls --- calls --+--> generation --> routes, deployments, admissions
 *
 * So a call counts in its own loop alone, and no lock or shared counter is on its way. */
#ifndef RENGA_LLM_GATEWAY_CONFIG_GENERATION_H
#define RENGA_LLM_GATEWAY_CONFIG_GENERATION_H

#include "base/status.h"
#include "config/config.h"

#include <stdatomic.h>
#include <stdbool.h>

struct pipeline_series;
struct admission;
struct admission_stats;
struct routes;

struct config_generation {
    _Atomic unsigned holders;
    struct routes *routes;
    struct admission **places; /* of each route, behind the admission; NULL: as many as are wanted */
    struct admission **turns;  /* ... and one at a time behind those, to wait for a minute's rate; NULL: without one */
    bool counts_tokens;        /* there are limits on tokens or money: estimates are worth their time */
};

/* Constant from now on, and held once. `before` may be NULL; until config_generation_enforce nothing of it has changed.
 */
struct config_generation *config_generation_create(const struct config *config, const struct config_generation *before,
                                                   struct status *st);
/* Limits are those of this generation, for calls of the one before it too. */
void config_generation_enforce(const struct config_generation *generation);

struct config_generation *config_generation_hold(struct config_generation *generation);
/* The last one frees it. Any thread. */
void config_generation_release(struct config_generation **generation);

/* Adds those who wait in its queues; they have a place of the process. */
void config_generation_count(const struct config_generation *generation, struct admission_stats *sum);

/* What is told of it, once: where models are asked. */
void config_generation_log(const struct config_generation *generation);

/* ---- by one loop ------------------------------------------------------------------------------------------------- */

struct generation_use {
    struct config_generation *generation;
    struct pipeline_series *series; /* metrics of its routes */
    unsigned calls;                 /* under way */
    bool over;                      /* the loop uses another: the last call frees this */
};

/* From inside the loop. NULL is a use that is not there. */
struct generation_use *generation_use_create(struct config_generation *generation);
void generation_use_end(struct generation_use **use);

/* A call begins and ends with it. From inside the loop. */
static inline struct generation_use *generation_use_enter(struct generation_use *use)
{
    use->calls++;
    return use;
}
void generation_use_leave(struct generation_use *use);

#endif
