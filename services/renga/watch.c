/* `renga watch`: a run as it happens. */
#include "orchestrator_client.h"

#define NAME "renga watch"

static const struct option options[] = {
    INTEGER_OPTION("after", "0", -1, INT64_MAX, "EVENT",
                   "Id of the last event that was seen; 0 is from the beginning, -1 only what is yet to come."),
    BOOLEAN_OPTION("follow", "false", "Stay while the run waits for a person, until it has ended."),
    ORCHESTRATOR_RECONNECT_OPTION,
    ORCHESTRATOR_CLIENT_OPTIONS,
    {0},
};

static int watch_command_work(struct daemon_process *process, const struct config *config)
{
    struct orchestrator_client client;
    if (!orchestrator_client_open(&client, process, config, NAME, 1, 1, "name one run; 'renga runs' lists them"))
        return COMMAND_USAGE;
    return view_run(&client, client.arguments[0], config_integer(config, "after"), config_boolean(config, "follow"),
                    false, false);
}

static int watch_command(int argc, char **argv)
{
    static const struct orchestrator_command command = {
        .name = NAME,
        .takes = "RUN",
        .summary = "shows a run as it happens, and what has happened before. Exit code 0: it succeeded; 3: it waits "
                   "for a person; 1: it failed, or the orchestrator did not come back; 2: the command line is wrong.",
        .examples = "renga watch 01m7ztx32p6aqpyjjyss6j4x\n"
                    "renga watch 01m7ztx32p6aqpyjjyss6j4x --json | jq -r .event_id\n",
        .options = options,
        .work = watch_command_work,
    };
    return orchestrator_command_run(&command, argc, argv);
}

const struct command command_watch = {.name = "watch", .summary = "see a run as it happens", .run = watch_command};
