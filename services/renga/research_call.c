/* The call of a research, which the command's thread waits for, and its end.
 *
 *      ResearchStream: accepted, planned, searched, noted, … ---> result ---> the report, or FILE
 *           '--- an orchestrator that falls silent ---> ResearchStream again, after the last event that came
 *           '--- Ctrl-C, or no time is left ---> the run is cancelled */
#include "research.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CANCEL_MS     5000
#define RESULT_MEMORY ((size_t)64 << 20)

static void research_keep_result(struct research *research, const Renga__V1__DeepResearchResult *result)
{
    if (!result || research->result)
        return;
    arena_init(&research->memory, NULL, 0, RESULT_MEMORY);
    research->result = rpc_message_copy(&research->memory, &result->base);
    if (!research->result)
        abort(); /* a message has at most 4 MiB */
}

static void research_keep_run(struct research *research, const char *run_id)
{
    if (!*research->run_id)
        snprintf(research->run_id, sizeof research->run_id, "%s", run_id);
}

static void research_event_received(const Renga__V1__DeepResearchEvent *event, void *data)
{
    struct research *research = ((struct rpc_client_call *)data)->owner;
    if (!event) {
        research_view_end(research);
        command_call_ended(&research->call);
        return;
    }
    reconnect_succeeded(&research->reconnect);
    research->how.after_event_id = event->event_id;
    if (event->event_case == RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_ACCEPTED)
        research_keep_run(research, event->accepted->run_id);
    if (event->event_case == RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_RESULT)
        research_keep_result(research, event->result);
    else
        research_view_event(research, event);
}

static void research_answer_received(const Renga__V1__DeepResearchResponse *response, void *data)
{
    struct research *research = ((struct rpc_client_call *)data)->owner;
    research_view_end(research);
    if (response)
        research_keep_result(research, response->result);
    command_call_ended(&research->call);
}

static void research_call_begin(struct command_call *call)
{
    struct research *research = (struct research *)call;
    research_view_begin(research);
    if (*research->further.run_id)
        renga__v1__deep_research__follow_up(research->service, &research->further, research_answer_received,
                                            &call->call);
    else
        renga__v1__deep_research__research_stream(research->service, &research->request, research_event_received,
                                                  &call->call);
}

/* A stream may be taken up again (keep_running), so an abandoned run is cancelled here. */
static void research_cancel_run(struct research *research)
{
    Renga__V1__CancelRunRequest request = RENGA__V1__CANCEL_RUN_REQUEST__INIT;
    struct status told = research->client.status;
    request.run_id = research->run_id;
    request.reason = command_text("the person who waited for the report went away");
    if (research->how.keep_running && *research->run_id && !*research->further.run_id)
        orchestrator_client_try(&research->client, "CancelRun", &request.base, CANCEL_MS, NULL, NULL);
    research->client.status = told;
}

static void research_tell_how_to_go_on(const struct research *research)
{
    const char *connect = config_string(research->client.config, CONNECT);
    if (*research->run_id && !*research->further.run_id)
        fprintf(stderr, RESEARCH ": the run %s is cancelled; '" RESEARCH " --on %s%s%s' goes on with it\n",
                research->run_id, research->run_id, connect ? " --connect " : "", connect ? connect : "");
}

static enum command_exit research_failed(struct research *research)
{
    const char *connect = config_string(research->client.config, CONNECT);
    bool interrupted = command_interrupted(), lost = research->client.status.code == UNAVAILABLE && connect;
    if (!lost || interrupted) {
        command_call_report(&research->call, RESEARCH);
        research_cancel_run(research);
    }
    if (interrupted || research->client.status.code == DEADLINE_EXCEEDED)
        research_tell_how_to_go_on(research);
    else if (lost && *research->run_id)
        fprintf(stderr, RESEARCH ": the run %s goes on without this command: 'renga watch %s --connect %s'\n",
                research->run_id, research->run_id, connect);
    return interrupted                                        ? COMMAND_INTERRUPTED
           : research->client.status.code == INVALID_ARGUMENT ? COMMAND_USAGE
                                                              : COMMAND_FAILED;
}

/* A suite that falls silent is asked again from the last event on. */
static bool research_wait(struct research *research)
{
    const char *connect = config_string(research->client.config, CONNECT);
    research->reconnect.client = &research->client;
    research->call.begin = research_call_begin;
    research->call.cancels = true;
    for (;;) {
        command_call_prepare(&research->call, research->client.process,
                             config_duration_ms(research->client.config, "timeout"));
        if (command_call_wait(&research->call) && research->result)
            return true;
        orchestrator_client_note(&research->client, &research->call);
        research->view.live.count = 0;
        if (command_interrupted() || research->client.status.code != UNAVAILABLE)
            return false;
        if (!connect || !reconnect_retry(&research->reconnect))
            return false;
    }
}

static bool research_found_nothing(const Renga__V1__DeepResearchResult *result)
{
    return !result->n_citations && (result->n_queries || result->n_notes);
}

static int research_end(struct research *research)
{
    const Renga__V1__DeepResearchResult *result = research->result;
    if (result->outcome)
        research_keep_run(research, *research->further.run_id ? research->further.run_id : result->outcome->run_id);
    bool written = !research->output || research_write(research);
    research_show(research);
    return !written ? COMMAND_FAILED : research_found_nothing(result) ? COMMAND_NOTHING : COMMAND_OK;
}

int research_study(struct research *research)
{
    bool answered = research_wait(research);
    int code = answered ? research_end(research) : (int)research_failed(research);
    research_view_free(research);
    if (research->result)
        arena_fini(&research->memory);
    return code;
}
