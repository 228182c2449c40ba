/* `renga watch`: a run as it happens. */
#include "orchestra.h"

#include "suite.h"

#define NAME "renga watch"

static const struct option options[] = {
    ORCHESTRA_OPTIONS,
    {.name = "after",
     .type = OPTION_INTEGER,
     .fallback = "0",
     .min = -1,
     .max = INT64_MAX,
     .unit = "EVENT",
     .help = "Id of the last event that was seen; 0 is from the beginning, -1 only what is yet to come."},
    {.name = "follow",
     .type = OPTION_BOOLEAN,
     .fallback = "false",
     .help = "Stay while the run waits for a person, until it has ended."},
    {0},
};

static int work(struct daemon_process *process, const struct config *config)
{
    struct orchestra orchestra;
    if (!orchestra_open(&orchestra, process, config, NAME, 1, 1, "name one run; 'renga runs' lists them"))
        return COMMAND_USAGE;
    return view_run(&orchestra, orchestra.arguments[0], config_integer(config, "after"),
                    config_boolean(config, "follow"), false);
}

static int watch(int argc, char **argv)
{
    static const struct service *const none[] = {NULL};
    struct daemon daemon = suite_daemon(NAME, "shows a run as it happens, and what has happened before.", none);
    daemon.usage = NAME " [OPTIONS] RUN";
    return orchestra_run(&daemon, options, argc, argv, work);
}

const struct command command_watch = {.name = "watch", .summary = "see a run as it happens", .run = watch};
