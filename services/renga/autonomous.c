/* The calls of an autonomous research, which the command's thread waits for.
 *
 *      ResearchStream: planned, decided, searched, … ---> result ---> the report
 *                                                    '--> WAITING ---> the person decides ---> ResumeStream ---> …
 *                                                                 '--> in a pipe: exit 3, with the next command
 *      ResumeStream ---> another answer came first ---> ResearchStream again, after the last event that came */
#include "autonomous.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CANCEL_MS     5000
#define RESULT_MEMORY ((size_t)64 << 20)

/* ---- a single call ----------------------------------------------------------------------------------------------- */

static void autonomous_keep_result(struct autonomous *autonomous, const Renga__V1__AutonomousResearchResult *result)
{
    if (!result || autonomous->result)
        return;
    arena_init(&autonomous->memory, NULL, 0, RESULT_MEMORY);
    autonomous->result = rpc_message_copy(&autonomous->memory, &result->base);
    if (!autonomous->result)
        abort(); /* a message has at most 4 MiB */
}

static void autonomous_drop_result(struct autonomous *autonomous)
{
    if (autonomous->result)
        arena_fini(&autonomous->memory);
    autonomous->result = NULL;
}

static void autonomous_event_received(const Renga__V1__AutonomousResearchEvent *event, void *data)
{
    struct autonomous *autonomous = ((struct rpc_client_call *)data)->owner;
    struct research *research = autonomous->research;
    if (!event) {
        autonomous_view_end(autonomous);
        command_call_ended(&autonomous->call);
        return;
    }
    reconnect_succeeded(&autonomous->reconnect);
    if (event->event_id)
        research->how.after_event_id = event->event_id;
    if (event->event_case == RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_ACCEPTED && !*research->run_id)
        snprintf(research->run_id, sizeof research->run_id, "%s", event->accepted->run_id);
    if (event->event_case == RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_RESULT)
        autonomous_keep_result(autonomous, event->result);
    else
        autonomous_view_event(autonomous, event);
}

static void autonomous_begin(struct command_call *call)
{
    struct autonomous *autonomous = (struct autonomous *)call;
    autonomous_view_begin(autonomous);
    if (*autonomous->answer.run_id) {
        autonomous->answer_how.after_event_id = autonomous->research->how.after_event_id;
        renga__v1__autonomous_research__resume_stream(autonomous->service, &autonomous->answer,
                                                      autonomous_event_received, &call->call);
    } else {
        renga__v1__autonomous_research__research_stream(autonomous->service, &autonomous->request,
                                                        autonomous_event_received, &call->call);
    }
}

/* A suite that falls silent is asked again from the last event on. */
static bool autonomous_wait(struct autonomous *autonomous)
{
    struct orchestrator_client *client = &autonomous->research->client;
    autonomous->reconnect.client = client;
    autonomous->call.begin = autonomous_begin;
    autonomous->call.cancels = true;
    for (;;) {
        command_call_prepare(&autonomous->call, client->process, config_duration_ms(client->config, "timeout"));
        if (command_call_wait(&autonomous->call) && autonomous->result)
            return true;
        orchestrator_client_note(client, &autonomous->call);
        if (command_interrupted() || client->status.code != UNAVAILABLE || !config_string(client->config, CONNECT) ||
            !reconnect_retry(&autonomous->reconnect))
            return false;
    }
}

/* ---- how it goes on ---------------------------------------------------------------------------------------------- */

static void autonomous_tell_next(FILE *out, const struct autonomous *autonomous, const char *state)
{
    const struct research *research = autonomous->research;
    const char *connect = config_string(research->client.config, CONNECT);
    if (*research->run_id)
        fprintf(out, RESEARCH ": %s %s; '" RESEARCH " --on %s%s%s' %s\n", research->run_id, state, research->run_id,
                connect ? " --connect " : "", connect ? connect : "", autonomous->words->go_on);
}

/* The stream may be taken up again, so a run that is not awaited any more is cancelled here. */
static enum command_exit autonomous_failed(struct autonomous *autonomous)
{
    struct research *research = autonomous->research;
    Renga__V1__CancelRunRequest request = RENGA__V1__CANCEL_RUN_REQUEST__INIT;
    struct status told = research->client.status;
    bool interrupted = command_interrupted();
    command_call_report(&autonomous->call, RESEARCH);
    request.run_id = research->run_id;
    request.reason = command_text("the person who waited for the report went away");
    if (*research->run_id && (interrupted || told.code == DEADLINE_EXCEEDED)) {
        orchestrator_client_try(&research->client, "CancelRun", &request.base, CANCEL_MS, NULL, NULL);
        autonomous_tell_next(stderr, autonomous, "is cancelled");
    }
    return interrupted ? COMMAND_INTERRUPTED : told.code == INVALID_ARGUMENT ? COMMAND_USAGE : COMMAND_FAILED;
}

static bool autonomous_waits(const struct autonomous *autonomous)
{
    const Renga__V1__AutonomousResearchResult *result = autonomous->result;
    return result->outcome && result->outcome->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING && result->waiting;
}

/* The decision as a request of its own, which may be repeated. */
static void autonomous_command_answer(struct autonomous *autonomous)
{
    static unsigned number;
    struct research *research = autonomous->research;
    renga__v1__resume_research_request__init(&autonomous->answer);
    renga__v1__agent_options__init(&autonomous->answer_how);
    snprintf(autonomous->answer_id, sizeof autonomous->answer_id, "%.100s-%u-%d", research->request_id, ++number,
             (int)getpid());
    autonomous->answer_how.request_id = autonomous->answer_id;
    autonomous->answer_how.keep_running = true;
    autonomous->answer.run_id = research->run_id;
    autonomous->answer.options = &autonomous->answer_how;
    autonomous->answer.decision = &autonomous->decision.decision;
    snprintf(autonomous->interrupt_id, sizeof autonomous->interrupt_id, "%s",
             autonomous->result->waiting->interrupt_id);
    autonomous->answer.interrupt_id = autonomous->interrupt_id;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* The parts of a report that deep research has, too, are shown and written in the same way. */
static int autonomous_end(struct autonomous *autonomous)
{
    struct research *research = autonomous->research;
    const Renga__V1__AutonomousResearchResult *result = autonomous->result;
    Renga__V1__DeepResearchResult report = RENGA__V1__DEEP_RESEARCH_RESULT__INIT;
    char *queries[AUTONOMOUS_QUERIES_MAX], run_id[RESEARCH_RUN_SIZE];
    report.question = autonomous->request.theme;
    report.report_md = result->draft;
    report.citations = result->citations;
    report.n_citations = result->n_citations;
    report.outcome = result->outcome;
    report.queries = queries;
    for (size_t i = 0; i < result->n_searches && report.n_queries < AUTONOMOUS_QUERIES_MAX; i++)
        queries[report.n_queries++] = result->searches[i]->query;
    research->result = &report;
    research->exact = &result->base;
    bool written = !research->output || research_write(research);
    memcpy(run_id, research->run_id, sizeof run_id);
    research->run_id[0] = '\0'; /* a further question needs a run of deep research */
    research_show(research);
    memcpy(research->run_id, run_id, sizeof run_id);
    if (!research->json && !research->quiet)
        autonomous_show_end(research->client.terminal ? stdout : stderr, autonomous);
    research->result = NULL;
    return !written ? COMMAND_FAILED : result->n_citations ? COMMAND_OK : COMMAND_NOTHING;
}

/* The person at the terminal decides, until the research has ended. */
static int autonomous_go_on(struct autonomous *autonomous)
{
    struct research *research = autonomous->research;
    bool person = research->live && isatty(STDIN_FILENO);
    for (;;) {
        bool answered = *autonomous->answer.run_id != '\0';
        if (!autonomous_wait(autonomous)) {
            if (!answered || research->client.status.code != FAILED_PRECONDITION || command_interrupted())
                return (int)autonomous_failed(autonomous);
            fprintf(stderr, RESEARCH ": %s: %s\n", autonomous->words->answered, research->client.status.text);
            autonomous->answer.run_id = command_text("");
            continue;
        }
        if (!autonomous_waits(autonomous))
            return autonomous_end(autonomous);
        if (!person && research->json)
            message_print_json(&autonomous->result->base);
        if (!person || autonomous_ask_person(autonomous) == PERSON_LEFT) {
            autonomous_tell_next(stderr, autonomous, autonomous->words->waits);
            return COMMAND_WAITS;
        }
        autonomous_command_answer(autonomous);
        autonomous_drop_result(autonomous);
    }
}

int autonomous_study(struct autonomous *autonomous)
{
    autonomous->words = autonomous_words(autonomous->research->words);
    int code = autonomous_go_on(autonomous);
    autonomous_drop_result(autonomous);
    autonomous_decision_fini(&autonomous->decision);
    return code;
}
