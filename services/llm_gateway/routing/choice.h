/* The choice among the deployments of a model, by their health (upstream/endpoint_health.h). */
#ifndef RENGA_LLM_GATEWAY_CHOICE_H
#define RENGA_LLM_GATEWAY_CHOICE_H

#include "upstream/endpoint_health.h"

struct retry_question;
struct route;

/* Chooses a target and takes its slot: on the lowest rank with an available target, the target with the fewest
 * requests per weight; among equals at random by weight. Targets in `tried` (a bit each) follow after the untried
 * targets of their rank, and only if `again` allows them. -1: no target; then `refusal` and `wait_ms` are of the
 * soonest one, or `refusal` is ENDPOINT_AVAILABLE: all have been tried. */
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

/* The prospects for retry_decide after a target of `rank` failed: sets others, again, lower and hint_ms (the
 * shortest rest among `again`) of the question. Only targets that are available now count, or, for `again`, after a
 * wait. */
void route_prospects(const struct route *route, const struct choice *choice, unsigned rank, int64_t now_ns,
                     struct retry_question *question);

#endif
