/* `renga`: the whole suite in a single process, and a person's access to it. */
#include "commands.h"

#include "base/nearest.h"

#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {
    &command_ask,    &command_research, &command_interview, &command_ace,   &command_feedback, &command_eval,
    &command_index,  &command_serve,    &command_run,       &command_runs,  &command_watch,    &command_resume,
    &command_cancel, &command_state,    &command_history,   &command_graph, &command_tools,    &command_chat,
    &command_usage,  &command_health,   &command_backup,    NULL,
};

static const struct command *main_find(const char *name)
{
    for (const struct command *const *command = commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}

static void print_usage(FILE *out)
{
    fputs("Usage: renga COMMAND [OPTIONS]\n\n", out);
    for (const struct command *const *command = commands; *command; command++)
        fprintf(out, "  %-9s %s\n", (*command)->name, (*command)->summary);
    fputs("\nFor instance: renga ask --docs ~/handbook \"How long are backups kept?\"\n"
          "'renga COMMAND --help' explains a command, with examples.\n",
          out);
}

static int main_refuse(const char *name)
{
    struct nearest nearest = nearest_to(name);
    for (const struct command *const *command = commands; *command; command++)
        nearest_try(&nearest, (*command)->name);
    if (*name == '-')
        fprintf(stderr, "renga: the command comes before '%s'\n\n", name);
    else if (nearest.name)
        fprintf(stderr, "renga: there is no command '%s', did you mean '%s'?\n\n", name, nearest.name);
    else if (*name)
        fprintf(stderr, "renga: there is no command '%s'\n\n", name);
    print_usage(stderr);
    return COMMAND_USAGE;
}

static bool main_is_one_of(const char *name, const char *a, const char *b)
{
    return strcmp(name, a) == 0 || strcmp(name, b) == 0;
}

/* Whether the reader of a pipe went away: it has read enough. */
static bool main_reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

/* An answer that could not be printed, as on a full disk, is no success. */
static int main_end(int code)
{
    bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (!lost || code != COMMAND_OK || main_reader_left())
        return code;
    fputs("renga: standard output cannot be written; the answer is not complete\n", stderr);
    return COMMAND_FAILED;
}

/* Debian's archives of Abseil, which gRPC is linked with here (RENGA_STATIC_GRPC), look for deadlocks at each lock of
 * gRPC; its shared libraries do not. That is a tenth of the instructions of a small call. Abseil has no C interface, so
 * the function is named as the linker knows it; 0 is kIgnore. Weak: a build with other libraries goes without it. */
extern void
abseil_deadlock_detection(int mode) __asm__("_ZN4absl7debian329SetMutexDeadlockDetectionModeENS0_15OnDeadlockCycleE")
    __attribute__((weak));

int main(int argc, char **argv)
{
    if (abseil_deadlock_detection)
        abseil_deadlock_detection(0);
    const char *name = argc > 1 ? argv[1] : "";
    const struct command *command = main_find(name);
    setlocale(LC_CTYPE, "C.UTF-8"); /* for columns of a terminal */
    if (command)
        return main_end(command->run(argc - 1, argv + 1));
    bool helps = strcmp(name, "help") == 0;
    if (helps && argc > 2 && (command = main_find(argv[2])))
        return command->run(2, (char *[]){argv[2], (char[]){"--help"}, NULL});
    if (helps && argc > 2)
        return main_refuse(argv[2]);
    if (helps || main_is_one_of(name, "--help", "-h"))
        print_usage(stdout);
    else if (main_is_one_of(name, "--version", "version"))
        puts("renga " RENGA_VERSION);
    else
        return main_refuse(name);
    return COMMAND_OK;
}
