/* `renga run`: starts a run and shows it until it stops. */
#include "orchestrator_client.h"

#include <stdio.h>
#include <string.h>

#define NAME "renga run"

static const struct option options[] = {
    STRING_OPTION("input", "{}", "JSON", "Fields of the state to begin with: a JSON object."),
    STRING_OPTION("thread", NULL, "THREAD", "The thread to run on; unset makes a new one."),
    BOOLEAN_OPTION("background", "false", "Print the run's id and let it go on by itself."),
    BOOLEAN_OPTION("quiet", "false", "Show only what comes of it."),
    ORCHESTRATOR_RECONNECT_OPTION,
    ORCHESTRATOR_CLIENT_OPTIONS,
    {0},
};

struct started {
    char run_id[65];
    bool background;
};

static void run_started(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    struct started *started = data;
    const Renga__V1__Run *run = ((const Renga__V1__StartRunResponse *)message)->run;
    snprintf(started->run_id, sizeof started->run_id, "%s", run->run_id);
    if (!started->background)
        return;
    if (client->json)
        message_print_json(&run->base);
    else
        puts(run->run_id);
}

static int run_work(struct daemon_process *process, const struct config *config)
{
    struct orchestrator_client client;
    if (!orchestrator_client_open(&client, process, config, NAME, 1, 1, "name one agent; 'renga graph' lists them"))
        return COMMAND_USAGE;
    struct started started = {.background = config_boolean(config, "background")};
    const char *thread = config_string(config, "thread");
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.agent = (char *)(uintptr_t)client.arguments[0];
    request.input_json = (char *)(uintptr_t)config_string(config, "input");
    request.thread_id = command_text(thread);
    if (!orchestrator_client_call_soon(&client, "StartRun", &request.base, run_started, &started))
        return COMMAND_FAILED;
    return started.background ? COMMAND_OK : view_run_with_person(&client, started.run_id, 0);
}

static int run_command(int argc, char **argv)
{
    static const struct orchestrator_command command = {
        .name = NAME,
        .takes = "AGENT",
        .summary = "starts a run of an agent and shows it until it stops. On a terminal it asks the run's questions: a "
                   "line is an answer, Ctrl-C leaves the run waiting. Exit code 0: it succeeded; 3: it waits for a "
                   "person ('renga resume' answers); 1: it failed; 2: the command line is wrong.",
        .examples = "renga run echo --input '{\"text\": \"moon\"}'\n"
                    "renga run echo --thread t-1 --background\n",
        .options = options,
        .work = run_work,
    };
    return orchestrator_command_run(&command, argc, argv);
}

const struct command command_run = {
    .name = "run", .summary = "start a run of an agent and see it work", .run = run_command};
