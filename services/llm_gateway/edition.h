/* An edition of the routes: one reading of the document, and the gates before its models. A reload makes the next one,
 * in which what stays the same stands as it did (route/route.h, limits/gate.h); calls end on the edition that they
 * began with, and the last of them frees it.
 *
 *      commons --- holds the current one --------------------.
 *      a loop  --- holds one --- counts its calls --- calls --+--> edition --> routes, deployments, gates
 *
 * So a call counts in its own loop alone, and no lock or shared counter is on its way. */
#ifndef RENGA_LLM_GATEWAY_EDITION_H
#define RENGA_LLM_GATEWAY_EDITION_H

#include "base/config.h"
#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>

struct ask_series;
struct gate;
struct gate_stats;
struct routes;

struct edition {
    _Atomic unsigned holders;
    struct routes *routes;
    struct gate **places; /* of each route, behind the gate; NULL: as many as are wanted */
    struct gate **turns;  /* ... and one at a time behind those, to wait for a minute's rate; NULL: without one */
    bool counts_tokens;   /* there are limits on tokens or money: estimates are worth their time */
};

/* Constant from now on, and held once. `before` may be NULL; until edition_enforce nothing of it has changed. */
struct edition *edition_create(const struct config *config, const struct edition *before, struct status *st);
/* Limits are those of this edition, for calls of the one before it too. */
void edition_enforce(const struct edition *edition);

struct edition *edition_hold(struct edition *edition);
/* The last one frees it. Any thread. */
void edition_release(struct edition **edition);

/* Adds those who wait at its gates; they have a place of the process. */
void edition_count(const struct edition *edition, struct gate_stats *sum);

/* What is told of it, once: where models are asked. */
void edition_log(const struct edition *edition);

/* ---- by one loop ------------------------------------------------------------------------------------------------- */

struct edition_use {
    struct edition *edition;
    struct ask_series *series; /* metrics of its routes */
    unsigned calls;            /* under way */
    bool over;                 /* the loop uses another: the last call frees this */
};

/* From inside the loop. NULL is a use that is not there. */
struct edition_use *edition_use_create(struct edition *edition);
void edition_use_end(struct edition_use **use);

/* A call begins and ends with it. From inside the loop. */
static inline struct edition_use *edition_use_enter(struct edition_use *use)
{
    use->calls++;
    return use;
}
void edition_use_leave(struct edition_use *use);

#endif
