/* `renga cancel`: stops a run, with everything that works for it. */
#include "orchestra.h"

#include <stdio.h>

#define NAME "renga cancel"

static const struct option options[] = {
    {.name = "reason", .type = OPTION_STRING, .unit = "TEXT", .help = "Why, for those who look at the run later."},
    ORCHESTRA_OPTIONS,
    {0},
};

static void run_cancelled(struct orchestra *orchestra, const ProtobufCMessage *message, void *data)
{
    const Renga__V1__Run *run = ((const Renga__V1__CancelRunResponse *)message)->run;
    (void)data;
    if (orchestra->json)
        message_print_json(&run->base);
    else
        printf("%s %s%s%s\n", run->run_id, state_colour(orchestra, run->state), state_word(run->state),
               colour(orchestra, PLAIN));
}

static int work(struct daemon_process *process, const struct config *config)
{
    struct orchestra orchestra;
    if (!orchestra_open(&orchestra, process, config, NAME, 1, 1, "name one run; 'renga runs' lists them"))
        return COMMAND_USAGE;
    const char *reason = config_string(config, "reason");
    Renga__V1__CancelRunRequest request = RENGA__V1__CANCEL_RUN_REQUEST__INIT;
    request.run_id = (char *)(uintptr_t)orchestra.arguments[0];
    request.reason = command_text(reason);
    request.wait = true;
    return orchestra_ask_soon(&orchestra, "CancelRun", &request.base, run_cancelled, NULL) ? COMMAND_OK
                                                                                           : COMMAND_FAILED;
}

static int cancel(int argc, char **argv)
{
    static const struct orchestra_command command = {
        .name = NAME,
        .takes = "RUN",
        .summary = "stops a run, with everything that works for it.",
        .examples = "renga cancel 01m7ztx32p6aqpyjjyss6j4x --reason \"too long\"\n",
        .options = options,
        .work = work,
    };
    return orchestra_run(&command, argc, argv);
}

const struct command command_cancel = {.name = "cancel", .summary = "stop a run", .run = cancel};
