/* A run that was cancelled or has failed goes on. The request is made again from its state, with the request_id of the
 * run, so that the stream belongs to the same run.
 *
 *      GetRun ---> GetState: the fields of the request ---> ResumeRun ---> ResearchStream */
#include "autonomous.h"

#include "rpc/message_json.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEP       "deep_research"
#define AUTONOMOUS "autonomous_research"
#define SOON_MS    30000
#define KEPT_BYTES ((size_t)16 << 20)

static char *const deep_fields[] = {(char[]){"question"}, (char[]){"max_cycles"}, (char[]){"summary_tokens"},
                                    (char[]){"sources"}, (char[]){"collections"}};
static char *const autonomous_fields[] = {
    (char[]){"theme"},   (char[]){"max_iterations"}, (char[]){"max_results_per_query"}, (char[]){"min_data_count"},
    (char[]){"sources"}, (char[]){"collections"},    (char[]){"human_input_required"}};

static void resume_run_was_read(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    struct research *research = data;
    (void)client;
    research->run = rpc_message_copy(&research->kept, &((const Renga__V1__GetRunResponse *)message)->run->base);
}

static bool resume_refuse(const struct research *research, const char *why)
{
    fprintf(stderr, RESEARCH ": the run %s %s\n", research->run_id, why);
    return false;
}

static bool resume_read_run(struct research *research)
{
    Renga__V1__GetRunRequest request = RENGA__V1__GET_RUN_REQUEST__INIT;
    request.run_id = research->run_id;
    if (!orchestrator_client_call(&research->client, "GetRun", &request.base, SOON_MS, resume_run_was_read, research))
        return false;
    bool autonomous = research->run && strcmp(research->run->agent, AUTONOMOUS) == 0;
    if (!research->run || (!autonomous && strcmp(research->run->agent, DEEP) != 0))
        return resume_refuse(research, "is no run of research");
    if (!autonomous)
        research->autonomous = NULL;
    if (!autonomous && research->run->state == RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED)
        return resume_refuse(research, "is finished; give a question to ask it");
    return *research->run->request_id ||
           resume_refuse(research, "was started without a request_id, so that only 'renga resume' goes on with it");
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

static void resume_take_deep(struct research *research, const cJSON *state, struct status *st)
{
    const Renga__V1__DeepResearchRequest *of_state = (const Renga__V1__DeepResearchRequest *)message_read_json(
        &renga__v1__deep_research_request__descriptor, state, &research->kept, st);
    if (!of_state)
        return;
    research->request.question = of_state->question;
    research->request.max_cycles = of_state->max_cycles;
    research->request.summary_tokens = of_state->summary_tokens;
    research->request.collections = of_state->collections;
    research->request.n_collections = of_state->n_collections;
}

static void resume_take_autonomous(struct research *research, const cJSON *state, struct status *st)
{
    Renga__V1__AutonomousResearchRequest *request = &research->autonomous->request;
    const Renga__V1__AutonomousResearchRequest *of_state =
        (const Renga__V1__AutonomousResearchRequest *)message_read_json(
            &renga__v1__autonomous_research_request__descriptor, state, &research->kept, st);
    if (!of_state)
        return;
    request->theme = research->request.question = of_state->theme;
    request->max_iterations = of_state->max_iterations;
    request->max_results_per_query = of_state->max_results_per_query;
    request->min_data_count = of_state->min_data_count;
    request->collections = of_state->collections;
    request->n_collections = of_state->n_collections;
    request->n_sources = research->request.n_sources;
    request->human_intervention = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(state, "human_input_required"));
}

static void resume_state_was_read(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    struct research *research = data;
    const char *json = ((const Renga__V1__GetStateResponse *)message)->state_json;
    struct status st = {0};
    (void)client;
    cJSON *state = json_parse(json, strlen(json), NULL, &st);
    const cJSON *source;
    cJSON *sources = cJSON_DetachItemFromObjectCaseSensitive(state, "sources"); /* here by words, there by numbers */
    cJSON_ArrayForEach(source, sources) if (cJSON_IsString(source) && research->request.n_sources < 2)
        research->sources[research->request.n_sources++] =
        strcmp(source->valuestring, "web") == 0 ? RENGA__V1__DEEP_RESEARCH_SOURCE__DEEP_RESEARCH_SOURCE_WEB
                                                : RENGA__V1__DEEP_RESEARCH_SOURCE__DEEP_RESEARCH_SOURCE_INTERNAL;
    (research->autonomous ? resume_take_autonomous : resume_take_deep)(research, state, &st);
    cJSON_Delete(sources);
    cJSON_Delete(state);
}

static void resume_take_labels(struct research *research)
{
    research->how.labels = (Renga__V1__AgentOptions__LabelsEntry **)research->run->labels; /* maps of the same layout */
    research->how.n_labels = research->run->n_labels;
    for (size_t i = 0; i < research->how.n_labels; i++) {
        const Renga__V1__AgentOptions__LabelsEntry *label = research->how.labels[i];
        if (strcmp(label->key, RESEARCH_LANGUAGE) == 0)
            research->how.language = label->value;
        else if (strcmp(label->key, RESEARCH_MODEL) == 0)
            research->how.model = label->value;
        else if (research->autonomous && strcmp(label->key, AUTONOMOUS_TIMEOUT) == 0)
            research->autonomous->request.human_timeout_ms = strtoll(label->value, NULL, 10);
        else if (research->autonomous && strcmp(label->key, AUTONOMOUS_DEFAULT) == 0)
            research->autonomous->request.human_default = (Renga__V1__HumanDefault)atoi(label->value);
    }
}

static bool resume_read_request(struct research *research)
{
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    request.thread_id = research->run->thread_id;
    request.fields = (char **)(uintptr_t)(research->autonomous ? autonomous_fields : deep_fields);
    request.n_fields = research->autonomous ? sizeof autonomous_fields / sizeof *autonomous_fields
                                            : sizeof deep_fields / sizeof *deep_fields;
    research->request.n_sources = 0;
    if (!orchestrator_client_call(&research->client, "GetState", &request.base, SOON_MS, resume_state_was_read,
                                  research))
        return false;
    resume_take_labels(research);
    snprintf(research->request_id, sizeof research->request_id, "%s", research->run->request_id);
    return *research->request.question || resume_refuse(research, "has no question in its state");
}

bool research_resume(struct research *research)
{
    Renga__V1__ResumeRunRequest request = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    arena_init(&research->kept, NULL, 0, KEPT_BYTES);
    snprintf(research->run_id, sizeof research->run_id, "%s", research->further.run_id);
    research->further.run_id = command_text("");
    if (!resume_read_run(research) || !resume_read_request(research))
        return false;
    bool ended = research->run->state == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED ||
                 research->run->state == RENGA__V1__RUN_STATE__RUN_STATE_FAILED;
    request.run_id = research->run_id;
    return !ended || orchestrator_client_call(&research->client, "ResumeRun", &request.base, SOON_MS, NULL, NULL);
}
