/* `renga backup`: a copy of a store that is in use. No service is asked: the copy is made of the file. */
#include "commands.h"
#include "store/store.h"
#include "suite.h"

#include <stdio.h>

#define NAME "renga backup"

static int copy(const struct config *config)
{
    size_t count;
    struct status st = {0};
    const char *const *arguments = config_arguments(config, &count);
    if (count != 2) {
        fprintf(stderr, NAME ": give a store, such as sqlite:renga.db, and the file that becomes its copy\n");
        return COMMAND_USAGE;
    }
    if (store_backup(arguments[0], arguments[1], &st))
        return COMMAND_OK;
    fprintf(stderr, NAME ": %s\n", st.text);
    return COMMAND_FAILED;
}

static int backup(int argc, char **argv)
{
    int code;
    static const struct service *const none[] = {NULL};
    struct daemon daemon = suite_daemon(
        NAME,
        "copies a store while a process uses it: the orchestrator's (orchestrator.store) or the record of the "
        "tool-runner (tool_runner.record). To restore, start on the copy, or on a copy of it under the old name where "
        "no FILE, FILE-wal or FILE-shm is left.",
        none);
    daemon.usage = NAME " sqlite:FILE COPY";
    struct config *config = daemon_configure(&daemon, argc, argv, &code);
    if (config)
        code = copy(config);
    config_destroy(config);
    return code;
}

const struct command command_backup = {
    .name = "backup",
    .summary = "copy a store that is in use",
    .run = backup,
};
