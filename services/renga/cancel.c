/* `renga cancel`: stops a run and the work of its tasks. */
#include "orchestrator_client.h"

#include <stdio.h>

#define NAME "renga cancel"

static const struct option options[] = {
    STRING_OPTION("reason", NULL, "TEXT", "Why, for those who look at the run later."),
    ORCHESTRATOR_CLIENT_OPTIONS,
    {0},
};

static void cancel_run_cancelled(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    const Renga__V1__Run *run = ((const Renga__V1__CancelRunResponse *)message)->run;
    (void)data;
    if (client->json)
        message_print_json(&run->base);
    else
        printf("%s %s%s%s\n", run->run_id, state_colour(client, run->state), state_word(run->state),
               colour(client, PLAIN));
}

static int cancel_command_work(struct daemon_process *process, const struct config *config)
{
    struct orchestrator_client client;
    if (!orchestrator_client_open(&client, process, config, NAME, 1, 1, "name one run; 'renga runs' lists them"))
        return COMMAND_USAGE;
    const char *reason = config_string(config, "reason");
    Renga__V1__CancelRunRequest request = RENGA__V1__CANCEL_RUN_REQUEST__INIT;
    request.run_id = (char *)(uintptr_t)client.arguments[0];
    request.reason = command_text(reason);
    request.wait = true;
    return orchestrator_client_call_soon(&client, "CancelRun", &request.base, cancel_run_cancelled, NULL)
               ? COMMAND_OK
               : COMMAND_FAILED;
}

static int cancel_command(int argc, char **argv)
{
    static const struct orchestrator_command command = {
        .name = NAME,
        .takes = "RUN",
        .summary = "stops a run, with everything that works for it.",
        .examples = "renga cancel 01m7ztx32p6aqpyjjyss6j4x --reason \"too long\"\n",
        .options = options,
        .work = cancel_command_work,
    };
    return orchestrator_command_run(&command, argc, argv);
}

const struct command command_cancel = {.name = "cancel", .summary = "stop a run", .run = cancel_command};
