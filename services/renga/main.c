/* `renga`: the whole suite in one process, and a person's way to it. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

static const struct command *const commands[] = {
    &command_ask,    &command_serve, &command_run,     &command_runs,   &command_watch, &command_resume,
    &command_cancel, &command_state, &command_history, &command_graph,  &command_index, &command_chat,
    &command_usage,  &command_tools, &command_health,  &command_backup, NULL,
};

static void print_usage(FILE *out)
{
    fputs("Usage: renga COMMAND [OPTIONS]\n\n", out);
    for (const struct command *const *command = commands; *command; command++)
        fprintf(out, "  %-8s %s\n", (*command)->name, (*command)->summary);
    fputs("\n'renga COMMAND --help' lists the command's options.\n", out);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--version") == 0) {
        puts("renga " RENGA_VERSION);
        return COMMAND_OK;
    }
    if (!*name || strcmp(name, "--help") == 0 || strcmp(name, "help") == 0) {
        print_usage(*name ? stdout : stderr);
        return *name ? COMMAND_OK : COMMAND_USAGE;
    }
    for (const struct command *const *command = commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return (*command)->run(argc - 1, argv + 1);
    fprintf(stderr, "renga: there is no command '%s'\n\n", name);
    print_usage(stderr);
    return COMMAND_USAGE;
}
