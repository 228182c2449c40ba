/* Makes the result from the fields of the state. The fields have the form of the contract's messages, but with other
 * names, and with words instead of enums: "approve" is HUMAN_ACTION_APPROVE. No other thread uses the call at the same
 * time. */
#include "autonomous_research.h"

#include "base/text.h"
#include "rpc/message_json.h"
#include "json/json.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define CITATIONS_MAX 2000
#define SOURCES_MAX   1000
#define SEARCHES_MAX  1000
#define DECISIONS_MAX 200
#define HUMANS_MAX    200
#define DRAFT_MAX     ((size_t)1048576) /* bytes */
#define WORD_MAX      64                /* bytes of an enum's name */

typedef Renga__V1__AutonomousResearchResult Result;

static const struct {
    const char *field, *member;
} state_names[] = {
    {"current_draft", "draft"}, {"research_data", "sources"}, {"task_plan", "plan"}, {"iteration_count", "iterations"}};

/* ---- as the contract has it -------------------------------------------------------------------------------------- */

/* "max_iterations" becomes PREFIX_MAX_ITERATIONS; an empty word is removed. */
static void state_name_enum(cJSON *object, const char *key, const char *prefix)
{
    char name[WORD_MAX];
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    if (!word || strncmp(word, prefix, strlen(prefix)) == 0)
        return;
    int length = snprintf(name, sizeof name, "%s%s", prefix, word);
    if (!*word || length < 0 || (size_t)length >= sizeof name) {
        cJSON_DeleteItemFromObjectCaseSensitive(object, key);
        return;
    }
    for (char *c = name; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    cJSON_ReplaceItemInObjectCaseSensitive(object, key, cJSON_CreateString(name));
}

static void state_name_enums(cJSON *list, const char *key, const char *prefix)
{
    cJSON *row;
    cJSON_ArrayForEach(row, list)
    {
        state_name_enum(row, key, prefix);
    }
}

/* The initial value of an object field is {}, which means that the field is not set. */
static void state_drop_empty(cJSON *state, const char *key)
{
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(state, key);
    if (cJSON_IsObject(object) && !object->child)
        cJSON_DeleteItemFromObjectCaseSensitive(state, key);
}

static void state_rename(cJSON *state)
{
    for (size_t i = 0; i < sizeof state_names / sizeof *state_names; i++) {
        cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(state, state_names[i].field);
        if (item)
            cJSON_AddItemToObject(state, state_names[i].member, item);
    }
    state_drop_empty(state, "plan");
    state_drop_empty(state, "review");
    state_name_enum(state, "stop_reason", "RESEARCH_STOP_REASON_");
    state_name_enums(cJSON_GetObjectItemCaseSensitive(state, "human_decisions"), "action", "HUMAN_ACTION_");
    state_name_enums(cJSON_GetObjectItemCaseSensitive(state, "decisions"), "next_action", "NEXT_ACTION_");
}

static cJSON *state_unite(const struct autonomous_call *call, struct status *st)
{
    cJSON *whole = NULL;
    for (size_t i = 0; i < call->part_count; i++) {
        cJSON *part = json_parse(call->parts[i], strlen(call->parts[i]), NULL, st);
        if (!part) {
            cJSON_Delete(whole);
            return NULL;
        }
        cJSON *first = whole ? cJSON_DetachItemViaPointer(part, part->child) : NULL;
        if (first) /* each part has one field */
            cJSON_AddItemToObject(whole, first->string, first);
        if (whole)
            cJSON_Delete(part);
        else
            whole = part;
    }
    return whole;
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

#define KEEP_NEWEST(result, list, most)                                                                                \
    do {                                                                                                               \
        size_t spare = (result)->n_##list > (most) ? (result)->n_##list - (most) : 0;                                  \
        if (spare) {                                                                                                   \
            (result)->list += spare;                                                                                   \
            (result)->n_##list -= spare;                                                                               \
        }                                                                                                              \
    } while (0)

static void state_limit(Result *result)
{
    result->n_sources = result->n_sources < SOURCES_MAX ? result->n_sources : SOURCES_MAX;
    result->n_citations = result->n_citations < CITATIONS_MAX ? result->n_citations : CITATIONS_MAX;
    result->n_searches = result->n_searches < SEARCHES_MAX ? result->n_searches : SEARCHES_MAX;
    KEEP_NEWEST(result, decisions, DECISIONS_MAX);
    KEEP_NEWEST(result, human_decisions, HUMANS_MAX);
    size_t length = strlen(result->draft);
    if (length > DRAFT_MAX)
        result->draft[text_cut(result->draft, length, DRAFT_MAX)] = '\0';
}

void autonomous_cut(Result *result, struct arena *arena)
{
    char *summaries[SOURCES_MAX];
    size_t count = 0;
    for (; count < result->n_sources && count < SOURCES_MAX; count++)
        summaries[count] = result->sources[count]->summary;
    bool cut = agent_cut_texts(summaries, count, agent_excess(&result->base));
    bool citations =
        agent_cut_rows((ProtobufCMessage **)result->citations, &result->n_citations, agent_excess(&result->base));
    bool sources =
        agent_cut_rows((ProtobufCMessage **)result->sources, &result->n_sources, agent_excess(&result->base));
    if (cut)
        agent_note_cut(result->outcome, "sources", "the longest summaries are cut, so that the result fits in 4 MiB",
                       arena);
    if (citations)
        agent_note_cut(result->outcome, "citations",
                       "the last citations are left out, so that the result fits in 4 MiB", arena);
    if (sources)
        agent_note_cut(result->outcome, "sources", "the last sources are left out, so that the result fits in 4 MiB",
                       arena);
}

/* ---- people ------------------------------------------------------------------------------------------------------ */

/* Rows of waits that timed out take their time and node from the run. Counted from the end, each of these rows belongs
 * to a resumption by timeout. */
static void state_complete_timed_out(Result *result, const Renga__V1__Run *run)
{
    size_t row = result->n_human_decisions, at = run->n_resumptions;
    while (row-- > 0) {
        Renga__V1__HumanDecisionRecord *record = result->human_decisions[row];
        if (!record->timed_out)
            continue;
        while (at > 0 && !run->resumptions[at - 1]->timed_out)
            at--;
        if (at == 0)
            return;
        record->time_ms = run->resumptions[--at]->time_ms;
        record->node = run->resumptions[at]->node;
    }
}

/* Reads the default that autonomous_timeout has written. */
static Renga__V1__HumanDefault state_default(const Renga__V1__InterruptTimeout *timeout)
{
    bool stops = timeout->update && *timeout->update->as_node;
    return stops ? RENGA__V1__HUMAN_DEFAULT__HUMAN_DEFAULT_STOP : RENGA__V1__HUMAN_DEFAULT__HUMAN_DEFAULT_APPROVE;
}

static int32_t state_rejections_left(const Result *result)
{
    int32_t left = AUTONOMOUS_REJECTIONS_MAX;
    for (size_t i = 0; i < result->n_human_decisions && left > 0; i++)
        left -= result->human_decisions[i]->action == RENGA__V1__HUMAN_ACTION__HUMAN_ACTION_REJECT;
    return left;
}

static bool state_add_waiting(Result *result, const Renga__V1__Run *run, struct arena *arena)
{
    if (run->state != RENGA__V1__RUN_STATE__RUN_STATE_WAITING || !run->n_interrupts)
        return true;
    const Renga__V1__Interrupt *interrupt = run->interrupts[0];
    Renga__V1__ResearchWaiting *waiting = result->waiting = arena_alloc(arena, sizeof *waiting);
    if (!waiting)
        return false;
    renga__v1__research_waiting__init(waiting);
    waiting->node = interrupt->node;
    waiting->interrupt_id = interrupt->interrupt_id;
    waiting->since_ms = interrupt->asked_ms;
    waiting->until_ms = interrupt->expires_ms;
    if (interrupt->expires_ms && run->interrupt_timeout)
        waiting->human_default = state_default(run->interrupt_timeout);
    waiting->rejections_left = state_rejections_left(result);
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool state_ended_by_budget(const Renga__V1__Run *run)
{
    return run->state == RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED &&
           run->stop_reason != RENGA__V1__STOP_REASON__STOP_REASON_COMPLETED;
}

static bool state_complete(struct autonomous_call *call, struct status *st)
{
    struct arena *arena = rpc_call_arena(call->run.call);
    Result *result = call->result;
    result->outcome = agent_outcome(arena, call->ended);
    if (!result->outcome || !state_add_waiting(result, call->ended, arena))
        return fail(st, RESOURCE_EXHAUSTED, "no memory");
    state_complete_timed_out(result, call->ended);
    state_limit(result);
    if (state_ended_by_budget(call->ended))
        result->stop_reason = RENGA__V1__RESEARCH_STOP_REASON__RESEARCH_STOP_REASON_BUDGET;
    if (result->waiting)
        result->stop_reason = RENGA__V1__RESEARCH_STOP_REASON__RESEARCH_STOP_REASON_UNSPECIFIED;
    autonomous_cut(result, arena);
    return true;
}

bool autonomous_make_result(struct autonomous_call *call, struct status *st)
{
    cJSON *state = state_unite(call, st);
    if (!state)
        return false;
    state_rename(state);
    call->result = (Result *)message_read_json(&renga__v1__autonomous_research_result__descriptor, state,
                                               rpc_call_arena(call->run.call), st);
    cJSON_Delete(state);
    return call->result && state_complete(call, st);
}
