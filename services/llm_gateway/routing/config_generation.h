/* A generation of the configuration: one reading of the routes, and the admissions of its models. A reload makes the
 * next generation, which takes over the state of all unchanged parts (routing/route.h, admission/admission.h). A call
 * ends on the generation that it began with; the last call of an old generation frees it.
 *
 *      gateway_shared --- holds the current one --------------------.
 *      a loop  --- holds one --- counts its calls --- calls --+--> generation --> routes, deployments, admissions
 *
 * A call is counted only in its own loop, without a lock or a shared counter (pipeline/generation_use.h). */
#ifndef RENGA_LLM_GATEWAY_CONFIG_GENERATION_H
#define RENGA_LLM_GATEWAY_CONFIG_GENERATION_H

#include "base/status.h"
#include "config/config.h"

#include <stdatomic.h>
#include <stdbool.h>

struct admission;
struct admission_stats;
struct routes;

struct config_generation {
    _Atomic unsigned holders;
    struct routes *routes;
    struct admission **places; /* of each route, behind the process's admission; NULL: no limit */
    struct admission *
        *turns;         /* for each route, a queue for the rate per minute, served one at a time; NULL: no limit */
    bool counts_tokens; /* there are limits on tokens or money, so requests are estimated */
};

/* Immutable, with one reference. `before` may be NULL; it is unchanged until config_generation_enforce. */
struct config_generation *config_generation_create(const struct config *config, const struct config_generation *before,
                                                   struct status *st);
/* Puts the limits of this generation into force, also for calls of the one before. */
void config_generation_enforce(const struct config_generation *generation);

struct config_generation *config_generation_hold(struct config_generation *generation);
/* Drops a reference; the last one frees it. Any thread. */
void config_generation_release(struct config_generation **generation);

/* Adds the tickets that wait in its queues; they hold a slot of the process. */
void config_generation_count(const struct config_generation *generation, struct admission_stats *sum);

/* Logs its deployments once. */
void config_generation_log(const struct config_generation *generation);

#endif
