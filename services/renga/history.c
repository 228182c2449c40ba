/* `renga history`: the checkpoints of a thread, newest first. */
#include "orchestrator_client.h"

#include <stdio.h>

#define NAME        "renga history"
#define NAMES_SHOWN 256 /* bytes */

static const struct option options[] = {
    INTEGER_OPTION("limit", "50", 1, 500, "CHECKPOINTS", "How many at most, the newest."),
    ORCHESTRATOR_CLIENT_OPTIONS,
    {0},
};

/* "a, b" */
static const char *history_joined(char *const *names, size_t count, char out[NAMES_SHOWN])
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && used < NAMES_SHOWN; i++)
        used += (size_t)snprintf(out + used, NAMES_SHOWN - used, "%s%s", i ? ", " : "", names[i]);
    return out;
}

static const char *cause_word(Renga__V1__CheckpointCause cause)
{
    static const char *const words[] = {"unknown", "input", "step", "update", "fork", "migration"};
    return (unsigned)cause < sizeof words / sizeof words[0] ? words[cause] : words[0];
}

static void show_checkpoint(const struct orchestrator_client *client, const Renga__V1__Checkpoint *checkpoint)
{
    char when[32], step[24], made_by[NAMES_SHOWN], next[NAMES_SHOWN];
    snprintf(step, sizeof step, "%lld", (long long)checkpoint->step);
    show_cell(client, YELLOW, 26, checkpoint->checkpoint_id);
    show_cell(client, DIM, 19, time_text(checkpoint->created_ms, when));
    show_cell(client, PLAIN, 9, cause_word(checkpoint->cause));
    show_cell(client, PLAIN, 6, step);
    show_cell(client, BOLD, 24, history_joined(checkpoint->nodes, checkpoint->n_nodes, made_by));
    show_cell(client, DIM, 0, history_joined(checkpoint->next_nodes, checkpoint->n_next_nodes, next));
}

static void checkpoints_received(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    const Renga__V1__ListCheckpointsResponse *response = (const Renga__V1__ListCheckpointsResponse *)message;
    (void)data;
    for (size_t i = 0; i < response->n_checkpoints; i++) {
        if (client->json)
            message_print_json(&response->checkpoints[i]->base);
        else
            show_checkpoint(client, response->checkpoints[i]);
    }
}

static int history_work(struct daemon_process *process, const struct config *config)
{
    struct orchestrator_client client;
    if (!orchestrator_client_open(&client, process, config, NAME, 1, 1, "name one thread; 'renga runs' shows them"))
        return COMMAND_USAGE;
    Renga__V1__ListCheckpointsRequest request = RENGA__V1__LIST_CHECKPOINTS_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t)client.arguments[0];
    request.page_size = (int32_t)config_integer(config, "limit");
    return orchestrator_client_call_soon(&client, "ListCheckpoints", &request.base, checkpoints_received, NULL)
               ? COMMAND_OK
               : COMMAND_FAILED;
}

static int history(int argc, char **argv)
{
    static const struct orchestrator_command command = {
        .name = NAME,
        .takes = "THREAD",
        .summary = "lists the checkpoints of a thread, newest first.",
        .examples = "renga history t-1 --limit 10\n",
        .options = options,
        .work = history_work,
    };
    return orchestrator_command_run(&command, argc, argv);
}

const struct command command_history = {
    .name = "history", .summary = "list the checkpoints of a thread", .run = history};
