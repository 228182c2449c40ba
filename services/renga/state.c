/* `renga state`: the state of a thread, its due nodes, its questions. */
#include "orchestra.h"

#include <stdio.h>

#define NAME "renga state"

static const struct option options[] = {
    {.name = "checkpoint",
     .type = OPTION_STRING,
     .unit = "CHECKPOINT",
     .help = "The state at this checkpoint ('renga history' lists them); unset is the newest."},
    {.name = "path",
     .type = OPTION_STRING,
     .unit = "PATH",
     .help = "The state of a sub-graph; unset is the agent's own."},
    {.name = "fields", .type = OPTION_LIST, .unit = "FIELDS", .help = "Only these fields."},
    ORCHESTRA_OPTIONS,
    {0},
};

static void state_came(struct orchestra *orchestra, const ProtobufCMessage *message, void *data)
{
    const Renga__V1__GetStateResponse *response = (const Renga__V1__GetStateResponse *)message;
    (void)data;
    if (orchestra->json) {
        message_print_json(message);
        return;
    }
    show_json(orchestra, response->state_json);
    if (!orchestra->terminal)
        return;
    for (size_t i = 0; i < response->n_due; i++) {
        printf("%snext: ", colour(orchestra, DIM));
        show_text(response->due[i]->node);
        puts(colour(orchestra, PLAIN));
    }
    for (size_t i = 0; i < response->n_interrupts; i++)
        show_interrupt(orchestra, response->interrupts[i]);
}

static int work(struct daemon_process *process, const struct config *config)
{
    struct orchestra orchestra;
    if (!orchestra_open(&orchestra, process, config, NAME, 1, 1, "name one thread; 'renga runs' shows them"))
        return COMMAND_USAGE;
    const char *checkpoint = config_string(config, "checkpoint"), *path = config_string(config, "path");
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t)orchestra.arguments[0];
    request.checkpoint_id = command_text(checkpoint);
    request.path = command_text(path);
    request.fields = (char **)(uintptr_t)config_list(config, "fields", &request.n_fields);
    return orchestra_ask_soon(&orchestra, "GetState", &request.base, state_came, NULL) ? COMMAND_OK : COMMAND_FAILED;
}

static int state(int argc, char **argv)
{
    static const struct orchestra_command command = {
        .name = NAME,
        .takes = "THREAD",
        .summary = "shows the state of a thread.",
        .examples = "renga state t-1\n"
                    "renga state t-1 --fields answer,plan --json\n",
        .options = options,
        .work = work,
    };
    return orchestra_run(&command, argc, argv);
}

const struct command command_state = {.name = "state", .summary = "show the state of a thread", .run = state};
