/* States of a result: whether it answers, the parts without an answer, and the parts that the review rejected. */
#include "helpdesk.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define NEAREST_MAX      3              /* as NotFound.nearest */
#define QUOTE_MAX        ((size_t)300)  /* bytes of a hit without a quote that are quoted */
#define REASON_MAX       ((size_t)1024) /* bytes, as Degradation.reason */
#define DEGRADATIONS_MAX 100            /* as AgentOutcome.degradations */

/* ---- passages that came nearest ---------------------------------------------------------------------------------- */

static bool is_same_passage(const Renga__V1__SearchHit *one, const Renga__V1__SearchHit *other)
{
    return (one->line_from == other->line_from && strcmp(one->uri, other->uri) == 0 &&
            strcmp(one->collection, other->collection) == 0) ||
           strcmp(one->snippet, other->snippet) == 0;
}

/* Keeps the list in the order of the scores, the first of equal ones first. */
static void near_passage(Renga__V1__NotFound *missing, Renga__V1__SearchHit *hit)
{
    size_t at = 0;
    for (size_t i = 0; i < missing->n_nearest; i++)
        if (is_same_passage(missing->nearest[i], hit))
            return;
    while (at < missing->n_nearest && missing->nearest[at]->score >= hit->score)
        at++;
    if (at == NEAREST_MAX)
        return;
    missing->n_nearest += missing->n_nearest < NEAREST_MAX;
    memmove(&missing->nearest[at + 1], &missing->nearest[at],
            (missing->n_nearest - at - 1) * sizeof(*missing->nearest));
    missing->nearest[at] = hit;
}

static void near_subtask(Renga__V1__NotFound *missing, const Renga__V1__Subtask *subtask)
{
    for (size_t try = 0; try < subtask->n_tool_results; try++)
        for (size_t tool = 0; tool < subtask->tool_results[try]->n_results; tool++) {
            const Renga__V1__SubtaskToolResult *result = subtask->tool_results[try]->results[tool];
            for (size_t i = 0; i < result->n_results; i++)
                if (*result->results[i]->snippet)
                    near_passage(missing, result->results[i]);
        }
}

/* Copies, since the tool results of a long answer are cut. */
static bool quote_nearest(Renga__V1__NotFound *missing, struct arena *arena)
{
    for (size_t i = 0; i < missing->n_nearest; i++) {
        Renga__V1__SearchHit *hit = missing->nearest[i] = arena_copy(arena, missing->nearest[i], sizeof *hit);
        if (hit && !*hit->quote)
            hit->quote = arena_strndup(arena, hit->snippet, text_cut(hit->snippet, strlen(hit->snippet), QUOTE_MAX));
        if (!hit || !hit->quote)
            return false;
    }
    return true;
}

/* ---- searches without a result ----------------------------------------------------------------------------------- */

static bool tell_missing(Renga__V1__AgentResult *result, struct arena *arena)
{
    Renga__V1__NotFound *missing = arena_alloc(arena, sizeof *missing);
    if (!missing)
        return false;
    renga__v1__not_found__init(missing);
    missing->looked_for = arena_alloc(arena, HELPDESK_SUBTASKS_MAX * sizeof(*missing->looked_for));
    missing->nearest = arena_alloc(arena, NEAREST_MAX * sizeof(*missing->nearest));
    if (!missing->looked_for || !missing->nearest)
        return false;
    for (size_t i = 0; i < result->n_subtasks; i++) {
        if (result->found && result->subtasks[i]->found)
            continue;
        missing->looked_for[missing->n_looked_for++] = result->subtasks[i]->task_name;
        near_subtask(missing, result->subtasks[i]);
    }
    if (missing->n_looked_for)
        result->not_found = missing;
    return quote_nearest(missing, arena);
}

/* ---- parts that the review did not take -------------------------------------------------------------------------- */

static Renga__V1__Degradation *unreviewed(const struct helpdesk_call *call, const Renga__V1__Subtask *subtask,
                                          size_t number)
{
    struct arena *arena = rpc_call_arena(call->run.call);
    Renga__V1__Degradation *said = arena_alloc(arena, sizeof *said);
    size_t tries = subtask->n_reflection_results;
    const char *advice = tries ? subtask->reflection_results[tries - 1]->advice : "";
    bool japanese = strncmp(call->run.language, "ja", 2) == 0;
    char reason[REASON_MAX + 128];
    if (!said)
        return NULL;
    int length = snprintf(reason, sizeof reason, "%s%s%.*s",
                          japanese ? "見直しでは、この部分の回答が完全とは認められていません"
                                   : "the review did not take the answer to this part as complete",
                          *advice ? ": " : "", (int)text_cut(advice, strlen(advice), REASON_MAX), advice);
    renga__v1__degradation__init(said);
    said->kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL;
    said->part = arena_printf(arena, japanese ? "サブタスク%zu" : "subtask %zu", number);
    said->reason = arena_strndup(arena, reason, text_cut(reason, (size_t)length, REASON_MAX));
    return said->part && said->reason ? said : NULL;
}

static bool tell_unreviewed(const struct helpdesk_call *call, Renga__V1__AgentResult *result)
{
    Renga__V1__AgentOutcome *outcome = result->outcome;
    Renga__V1__Degradation **list =
        arena_alloc(rpc_call_arena(call->run.call), DEGRADATIONS_MAX * sizeof(*outcome->degradations));
    if (!list)
        return false;
    if (outcome->n_degradations > DEGRADATIONS_MAX)
        outcome->n_degradations = DEGRADATIONS_MAX;
    if (outcome->n_degradations)
        memcpy(list, outcome->degradations, outcome->n_degradations * sizeof *list);
    outcome->degradations = list;
    for (size_t i = 0; i < result->n_subtasks && outcome->n_degradations < DEGRADATIONS_MAX; i++) {
        const Renga__V1__Subtask *subtask = result->subtasks[i];
        if (!subtask->found || subtask->is_completed || !subtask->n_reflection_results)
            continue; /* without a review, another degradation tells why */
        list[outcome->n_degradations] = unreviewed(call, subtask, i + 1);
        if (!list[outcome->n_degradations++])
            return false;
    }
    return true;
}

bool helpdesk_tell(const struct helpdesk_call *call, Renga__V1__AgentResult *result)
{
    result->maybe_found_case = RENGA__V1__AGENT_RESULT__MAYBE_FOUND_FOUND;
    result->found = result->n_citations > 0;
    return result->outcome && tell_missing(result, rpc_call_arena(call->run.call)) && tell_unreviewed(call, result);
}
