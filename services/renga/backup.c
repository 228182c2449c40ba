/* `renga backup`: a copy of a store that is in use. No service is asked: the copy is made of the file. */
#include "commands.h"
#include "store/store.h"

#include <stdio.h>

#define NAME "renga backup"

static int backup_copy(const struct config *config)
{
    struct status st = {0};
    const char *const *arguments = command_arguments(
        config, NAME, 2, 2, "give a store, such as sqlite:renga.db, and the file that becomes its copy", NULL);
    if (!arguments)
        return COMMAND_USAGE;
    if (store_backup(arguments[0], arguments[1], &st))
        return COMMAND_OK;
    fprintf(stderr, NAME ": %s\n", st.text);
    return COMMAND_FAILED;
}

static int backup(int argc, char **argv)
{
    int code;
    static const struct peer nobody[] = {{0}};
    struct daemon daemon = command_daemon(
        NAME,
        "copies a store while a process uses it: the orchestrator's (orchestrator.store) or the record of the "
        "tool-runner (tool_runner.record). To restore, start on the copy, or on a copy of it under the old name where "
        "no FILE, FILE-wal or FILE-shm is left.",
        NULL, argc, argv);
    daemon.usage = NAME " sqlite:FILE COPY";
    daemon.examples = NAME " sqlite:renga.db monday.db\n";
    daemon.peers = nobody;
    struct config *config = daemon_configure(&daemon, argc, argv, &code);
    if (config)
        code = backup_copy(config);
    config_destroy(config);
    return code;
}

const struct command command_backup = {
    .name = "backup",
    .summary = "copy a store that is in use",
    .run = backup,
};
