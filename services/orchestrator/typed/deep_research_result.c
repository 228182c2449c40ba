/* Converts the state of an ended run to DeepResearchResult. All fields except `cycle` have the names of the contract.
 * If the output is too large for one message, it is read field by field. */
#include "deep_research.h"

#include "base/text.h"
#include "rpc/message_json.h"
#include "json/json.h"

#include <string.h>

#define QUERIES_MAX   9
#define GAPS_MAX      16
#define CITATIONS_MAX 2000
#define REPORT_MAX    ((size_t)1048576) /* bytes */

static char *const fields[] = {(char[]){"report_md"},     (char[]){"citations"}, (char[]){"notes"}, (char[]){"queries"},
                               (char[]){"empty_queries"}, (char[]){"gaps"},      (char[]){"cycle"}};
#define FIELDS (sizeof fields / sizeof *fields)

static void result_limit_count(size_t *count, size_t most)
{
    if (*count > most)
        *count = most;
}

static bool result_no_memory(struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "no memory for the result");
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

/* Copies the fields that are set in `from`. */
static void result_take_fields(Renga__V1__DeepResearchResult *to, const Renga__V1__DeepResearchResult *from,
                               const cJSON *object)
{
    const cJSON *cycle = cJSON_GetObjectItemCaseSensitive(object, "cycle");
    if (*from->report_md)
        to->report_md = from->report_md;
    if (from->n_citations) {
        to->citations = from->citations;
        to->n_citations = from->n_citations;
    }
    if (from->n_notes) {
        to->notes = from->notes;
        to->n_notes = from->n_notes;
    }
    if (from->n_queries) {
        to->queries = from->queries;
        to->n_queries = from->n_queries;
    }
    if (from->n_empty_queries) {
        to->empty_queries = from->empty_queries;
        to->n_empty_queries = from->n_empty_queries;
    }
    if (from->n_gaps) {
        to->gaps = from->gaps;
        to->n_gaps = from->n_gaps;
    }
    if (cJSON_IsNumber(cycle))
        to->cycles = cycle->valueint;
}

static bool result_read_fields(struct deep_research_call *call, const char *json, struct status *st)
{
    cJSON *object = json_parse(json, strlen(json), NULL, st);
    const ProtobufCMessage *message = object ? message_read_json(&renga__v1__deep_research_result__descriptor, object,
                                                                 rpc_call_arena(call->run.call), st)
                                             : NULL;
    if (message)
        result_take_fields(call->result, (const Renga__V1__DeepResearchResult *)message, object);
    cJSON_Delete(object);
    return message != NULL;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool result_cut_report(Renga__V1__DeepResearchResult *result, struct arena *arena)
{
    size_t length = strlen(result->report_md);
    if (length > REPORT_MAX)
        result->report_md = arena_strndup(arena, result->report_md, text_cut(result->report_md, length, REPORT_MAX));
    return result->report_md != NULL;
}

static void result_complete(struct deep_research_call *call)
{
    struct status st = {0};
    struct arena *arena = rpc_call_arena(call->run.call);
    Renga__V1__DeepResearchResult *result = call->result;
    result_limit_count(&result->n_queries, QUERIES_MAX);
    result_limit_count(&result->n_empty_queries, QUERIES_MAX);
    result_limit_count(&result->n_gaps, GAPS_MAX);
    result_limit_count(&result->n_notes, DEEP_RESEARCH_NOTES_MAX);
    result_limit_count(&result->n_citations, CITATIONS_MAX);
    for (size_t i = 0; i < result->n_notes; i++)
        deep_research_complete_note(call, result->notes[i], i);
    if (call->asked_run) /* these values belong to the earlier run */
        result->n_queries = result->n_empty_queries = 0, result->cycles = 0;
    result->question = (char *)(uintptr_t)call->question;
    result->outcome = agent_outcome(arena, call->ended);
    if (!result->outcome || !result_cut_report(result, arena)) {
        result_no_memory(&st);
        rpc_fail(call->run.call, &st);
        return;
    }
    deep_research_cut(result, arena);
    deep_research_answer(call, result);
}

static void result_refuse_state(struct deep_research_call *call, const struct status *why)
{
    struct status st = {0};
    if (why->code == RESOURCE_EXHAUSTED)
        result_no_memory(&st);
    else
        fail(&st, FAILED_PRECONDITION, "the run '%s' has ended, but its state is not that of deep research: %s",
             call->run.run_id, why->text);
    rpc_fail(call->run.call, &st);
}

/* ---- a large output ---------------------------------------------------------------------------------------------- */

static void deep_research_result_read_next(struct deep_research_call *call);

static void deep_research_result_field_loaded(const Renga__V1__GetStateResponse *response, void *data)
{
    struct deep_research_call *call = (struct deep_research_call *)((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!response)
        agent_call_failed(&call->run, &call->get);
    else if (!result_read_fields(call, response->state_json, &st))
        result_refuse_state(call, &st);
    else if (++call->field == FIELDS)
        result_complete(call);
    else
        deep_research_result_read_next(call);
}

static void deep_research_result_read_next(struct deep_research_call *call)
{
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    request.thread_id = call->ended->thread_id;
    request.checkpoint_id = call->ended->checkpoint_id;
    request.fields = (char **)(uintptr_t)&fields[call->field];
    request.n_fields = 1;
    agent_call_prepare(&call->run, &call->get);
    renga__v1__orchestrator__get_state(call->run.orchestrator, &request, deep_research_result_field_loaded, &call->get);
}

static void result_read_large(struct deep_research_call *call, const Renga__V1__Run *run)
{
    struct status st = {0};
    call->ended = rpc_message_copy(rpc_call_arena(call->run.call), &run->base);
    if (call->ended) {
        deep_research_result_read_next(call);
        return;
    }
    result_no_memory(&st);
    rpc_fail(call->run.call, &st);
}

void deep_research_read(struct deep_research_call *call, const Renga__V1__Run *run)
{
    struct status st = {0};
    call->result = arena_alloc(rpc_call_arena(call->run.call), sizeof *call->result);
    if (!call->result) {
        result_no_memory(&st);
        rpc_fail(call->run.call, &st);
        return;
    }
    renga__v1__deep_research_result__init(call->result);
    call->ended = run;
    if (run->output_omitted)
        result_read_large(call, run);
    else if (result_read_fields(call, run->output_json, &st))
        result_complete(call);
    else
        result_refuse_state(call, &st);
}
