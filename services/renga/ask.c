/* `renga ask`: a question over documents, the work as it happens, and the answer with its sources. The suite runs in
 * this process unless --connect names a suite that runs. */
#include "ask.h"
#include "index.h"
#include "local_suite.h"
#include "renga/v1/tool_runner.pb-c.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME           "renga ask"
#define DAY_MS         (24LL * 3600 * 1000)
#define BEGINNINGS_MAX 3

static const struct option options[] = {
    INDEX_DOCUMENTS_OPTIONS,
    SUITE_CONNECT_OPTION,
    SUITE_MODEL_OPTION("answer"),
    STRING_OPTION("language", NULL, "TAG", "Language of the answer, \"ja\" or \"en\". Unset: that of the question."),
    BOOLEAN_OPTION("json", "false", "Print the AgentResult as one JSON object."),
    BOOLEAN_OPTION("quiet", "false", "Print the answer and its sources alone, on a terminal too."),
    BOOLEAN_OPTION("verbose", "false", "In a pipe: print the steps of the work on standard error."),
    DURATION_OPTION("timeout", "15m", 1, DAY_MS, "How long to wait for the answer; then the run is cancelled."),
    RECONNECT_OPTION("; the question begins anew, twice at most. With --connect."),
    {0},
};

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* Then the documents were not searched properly, so an empty result has no meaning. */
static bool all_broke_off(const Renga__V1__AgentResult *result)
{
    size_t broken = 0;
    for (size_t i = 0; i < result->n_subtasks; i++)
        broken += result->subtasks[i]->status_code != 0;
    return broken && broken == result->n_subtasks && !result->n_citations;
}

static void ask_result_received(struct ask *ask, const Renga__V1__AgentResult *result)
{
    ask->shown = true;
    ask->nothing_found = !result->n_citations;
    ask->broke_off = all_broke_off(result);
    if (!ask->broke_off)
        saved_run_take(&ask->kept, result->outcome, result->answer);
    ask_view_end(ask);
    if (ask->json)
        message_print_json(&result->base);
    else if (!ask->broke_off)
        ask_show_answer(ask, result);
    if (ask->broke_off)
        fprintf(stderr, NAME ": %s: every subtask broke off, so there is no answer; the first: %s\n",
                status_code_name((enum status_code)result->subtasks[0]->status_code), result->subtasks[0]->message);
    fflush(stdout);
}

static void ask_event_received(const Renga__V1__AskEvent *event, void *data)
{
    struct ask *ask = ((struct rpc_client_call *)data)->owner;
    if (!event) {
        ask_view_stop(ask);
        command_call_ended(&ask->call);
        return;
    }
    reconnect_succeeded(&ask->reconnect);
    if (event->event_case == RENGA__V1__ASK_EVENT__EVENT_RESULT)
        ask_result_received(ask, event->result);
    else
        ask_view_event(ask, event);
}

static void ask_begin(struct command_call *call)
{
    struct ask *ask = (struct ask *)call;
    ask_view_begin(ask);
    renga__v1__helpdesk__ask_stream(ask->helpdesk, &ask->request, ask_event_received, &call->call);
}

/* A lost remote suite is asked anew, and the abandoned run is cancelled there. Each time the run starts from the
 * beginning, so a question that a suite does not survive is not asked for ever. */
static bool ask_with_reconnect(struct ask *ask, const struct config *config)
{
    const char *connect = config_string(config, CONNECT);
    ask->reconnect.client = &ask->client;
    for (int lost = 0;;) {
        command_call_prepare(&ask->call, ask->client.process, config_duration_ms(config, "timeout"));
        if (command_call_wait(&ask->call) || (ask->shown && !command_interrupted()))
            return true;
        orchestrator_client_note(&ask->client, &ask->call);
        ask_view_leave(ask);
        lost += ask->reconnect.known && !ask->reconnect.lost_ns; /* with the question begun */
        if (command_interrupted() || !connect || lost == BEGINNINGS_MAX) {
            command_call_report(&ask->call, NAME);
            return false;
        }
        if (!reconnect_retry(&ask->reconnect))
            return false;
    }
}

static int ask_question(struct ask *ask, const struct config *config)
{
    Renga__V1__AgentOptions how = RENGA__V1__AGENT_OPTIONS__INIT;
    Renga__V1__AgentOptions__LabelsEntry label = RENGA__V1__AGENT_OPTIONS__LABELS_ENTRY__INIT, *labels[] = {&label};
    char title[COMMAND_TITLE_MAX];
    command_title(ask->request.question, title);
    label.key = command_text(COMMAND_TITLE);
    label.value = title;
    how.labels = labels;
    how.n_labels = *title ? 1 : 0;
    const char *model = config_string(config, "model"), *language = config_string(config, "language");
    how.model = command_text(model);
    how.language = command_text(language);
    ask->request.options = &how;
    ask->call.begin = ask_begin;
    ask->call.cancels = true;
    bool answered = ask_with_reconnect(ask, config);
    ask_view_free(ask);
    if (answered)
        return ask->broke_off ? COMMAND_FAILED : ask->nothing_found ? COMMAND_NOTHING : COMMAND_OK;
    return command_interrupted()                            ? COMMAND_INTERRUPTED
           : ask->call.call.status.code == INVALID_ARGUMENT ? COMMAND_USAGE
                                                            : COMMAND_FAILED;
}

/* ---- before it --------------------------------------------------------------------------------------------------- */

static void look_around(struct ask *ask, const struct config *config)
{
    ask->json = config_boolean(config, "json");
    ask->verbose = config_boolean(config, "verbose");
    ask->live = command_on_terminal() && !ask->json && !config_boolean(config, "quiet");
    ask->width = isatty(STDOUT_FILENO) ? command_terminal_width() : 0;
    ask->client.terminal = command_on_terminal() && !ask->json;
    ask->client.colours = command_in_colours() && !ask->json;
    const char *language = config_string(config, "language"), *question = ask->request.question;
    ask->words = ask_words(language, question);
    ask->language = language ? language_tagged(language) : language_of(question, strlen(question));
}

static int ask_work(struct daemon_process *process, const struct config *config)
{
    struct status st = {0};
    struct index index = {0};
    struct ask ask = {.client = {.command = NAME, .process = process, .config = config}};
    const char *const *arguments = command_arguments(config, NAME, 1, 1, "give one question, in quotes", NULL);
    if (!arguments)
        return COMMAND_USAGE;
    ask.helpdesk = process_stub(process, &renga__v1__helpdesk__descriptor, &st);
    if (!ask.helpdesk) {
        fprintf(stderr, NAME ": %s\n", st.text);
        return COMMAND_USAGE;
    }
    renga__v1__ask_request__init(&ask.request);
    ask.request.question = command_text(arguments[0]);
    look_around(&ask, config);
    const char *collection;
    int code = index_bring_documents(&index, &ask.client, ask.live, &collection);
    if (code != COMMAND_OK)
        return code;
    ask.no_documents = index.empty;
    char *collections[] = {command_text(collection)};
    ask.request.collections = collections;
    ask.request.n_collections = collection != NULL;
    code = ask_question(&ask, config);
    if (!config_string(config, CONNECT))
        saved_run_write(&ask.kept, &ask.client, "helpdesk", arguments[0],
                        !ask.json && !config_boolean(config, "quiet"));
    free(ask.kept.answer); /* another process keeps its runs itself */
    return code;
}

/* ---- the services in this process -------------------------------------------------------------------------------- */

static int work_here(struct daemon_process *process, const struct config *config)
{
    return local_suite_check(config, NAME) ? ask_work(process, config) : (int)COMMAND_USAGE;
}

static int ask_run(int argc, char **argv)
{
    static const struct peer elsewhere[] = {
        {CONNECT, &renga__v1__helpdesk__descriptor}, {CONNECT, &renga__v1__tool_runner__descriptor}, {0}};
    struct daemon daemon = command_daemon(
        NAME,
        "answers a question over documents, with a source for every sentence. Exit code 0: answered; 3: the documents "
        "do not say it; 1: it failed; 2: the command line is wrong; 130: Ctrl-C, the run is cancelled. The knowledge "
        "base is " LOCAL_SUITE_KNOWLEDGE
        " of the working directory where 'renga index' has made one there, else the user's "
        "own in $XDG_DATA_HOME/renga (~/.local/share/renga). Of the run its question and answer are kept there for "
        "'renga "
        "feedback', the rest in memory, unless --orchestrator.store says otherwise.",
        all_services, argc, argv);
    daemon.usage = NAME " [OPTIONS] QUESTION";
    daemon.examples = NAME " --docs ~/handbook \"How long are backups kept?\"\n" NAME
                           " --connect 127.0.0.1:15000 --json \"How long are backups kept?\" | jq -r .answer\n";
    daemon.extra_options = options;
    if (*daemon.services) /* a run ends with its command, so that it is not worth a disk's time */
        return local_suite_run(&daemon, "memory:", LOCAL_SUITE_READS, "helpdesk", true, argc, argv, work_here);
    daemon.peers = elsewhere;
    return command_with_process(&daemon, argc, argv, ask_work);
}

const struct command command_ask = {
    .name = "ask",
    .summary = "ask a question over documents and see it answered, with sources",
    .run = ask_run,
};
