/* `renga state`: the state of a thread, its due nodes, its questions. */
#include "orchestrator_client.h"

#include <stdio.h>

#define NAME "renga state"

static const struct option options[] = {
    STRING_OPTION("checkpoint", NULL, "CHECKPOINT",
                  "The state at this checkpoint ('renga history' lists them); unset is the newest."),
    STRING_OPTION("path", NULL, "PATH", "The state of a sub-graph; unset is the agent's own."),
    LIST_OPTION("fields", NULL, "FIELDS", "Only these fields."),
    ORCHESTRATOR_CLIENT_OPTIONS,
    {0},
};

static void state_received(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    const Renga__V1__GetStateResponse *response = (const Renga__V1__GetStateResponse *)message;
    (void)data;
    if (client->json) {
        message_print_json(message);
        return;
    }
    show_json(client, response->state_json);
    if (!client->terminal)
        return;
    for (size_t i = 0; i < response->n_due; i++) {
        printf("%snext: ", colour(client, DIM));
        show_text(response->due[i]->node);
        puts(colour(client, PLAIN));
    }
    for (size_t i = 0; i < response->n_interrupts; i++)
        show_interrupt(client, response->interrupts[i]);
}

static int state_work(struct daemon_process *process, const struct config *config)
{
    struct orchestrator_client client;
    if (!orchestrator_client_open(&client, process, config, NAME, 1, 1, "name one thread; 'renga runs' shows them"))
        return COMMAND_USAGE;
    const char *checkpoint = config_string(config, "checkpoint"), *path = config_string(config, "path");
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t)client.arguments[0];
    request.checkpoint_id = command_text(checkpoint);
    request.path = command_text(path);
    request.fields = (char **)(uintptr_t)config_list(config, "fields", &request.n_fields);
    return orchestrator_client_call_soon(&client, "GetState", &request.base, state_received, NULL) ? COMMAND_OK
                                                                                                   : COMMAND_FAILED;
}

static int state(int argc, char **argv)
{
    static const struct orchestrator_command command = {
        .name = NAME,
        .takes = "THREAD",
        .summary = "shows the state of a thread.",
        .examples = "renga state t-1\n"
                    "renga state t-1 --fields answer,plan --json\n",
        .options = options,
        .work = state_work,
    };
    return orchestrator_command_run(&command, argc, argv);
}

const struct command command_state = {.name = "state", .summary = "show the state of a thread", .run = state};
