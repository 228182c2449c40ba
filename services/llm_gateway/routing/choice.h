/* The choice among the deployments of a model, by their health (upstream/endpoint_health.h). */
#ifndef RENGA_LLM_GATEWAY_CHOICE_H
#define RENGA_LLM_GATEWAY_CHOICE_H

#include "upstream/endpoint_health.h"

struct retry_question;
struct route;

/* Which target is to be asked, its place taken: of the lowest rank that has one to be asked, the one with the fewest
 * requests under way for its weight; among equals at random by weight. Those in `tried` (a bit each) come only where
 * `again` allows them, after the untried of their rank. -1: none; then `refusal` and `wait_ms` tell of the soonest, or
 * `refusal` is ENDPOINT_AVAILABLE: all have been tried. */
struct choice {
    uint32_t tried, again; /* targets asked already; those of them that may be asked once more */
    unsigned rank_min;     /* lower ranks have had their attempts */
    int64_t tokens;
    struct endpoint_slot place; /* of the one that was chosen */
    enum endpoint_refusal refusal;
    int64_t wait_ms;
};
int route_choose(const struct route *route, struct choice *choice, int64_t now_ns);

/* Notes that a target was asked and failed, and whether it may be asked again (retry_mends). */
void route_note_failure(const struct route *route, struct choice *choice, int target, enum status_code code,
                        bool quota);

/* Whom retry_decide may hope for after a target of `rank` failed: sets others, again, lower and hint_ms (how long the
 * soonest of `again` rests) of the question. Only those count that could be asked now, or, for `again`, after a wait.
 */
void route_prospects(const struct route *route, const struct choice *choice, unsigned rank, int64_t now_ns,
                     struct retry_question *question);

#endif
