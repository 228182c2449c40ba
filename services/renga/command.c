#include "commands.h"

#include "base/text.h"
#include "suite.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define WIDTH_UNKNOWN    80
#define TITLE_CHARACTERS 60

/* ---- the command line -------------------------------------------------------------------------------------------- */

const char *command_early(int argc, char **argv, const char *flag, const char *variable)
{
    const char *value = getenv(variable);
    size_t length = strlen(flag);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], flag, length) == 0 && argv[i][length] == '=')
            value = argv[i] + length + 1;
        else if (strcmp(argv[i], flag) == 0 && i + 1 < argc)
            value = argv[++i];
    return value && *value ? value : NULL;
}

struct daemon command_daemon(const char *name, const char *summary, const struct service *const *services, int argc,
                             char **argv)
{
    static const struct service *const none[] = {NULL};
    bool elsewhere = command_early(argc, argv, "--" CONNECT, "RENGA_CONNECT") != NULL;
    struct daemon daemon = suite_daemon(name, summary, services && !elsewhere ? services : none);
    daemon.is_command = true;
    daemon.others = served_services;
    daemon.log_level = "error";
    return daemon;
}

const char *const *command_arguments(const struct config *config, const char *command, size_t min, size_t max,
                                     const char *wanted, size_t *count)
{
    size_t given;
    const char *const *arguments = config_arguments(config, &given);
    if (given > max)
        fprintf(stderr, "%s: '%s' is not expected: %s\n", command, arguments[max], wanted);
    else if (given < min)
        fprintf(stderr, "%s: %s\n", command, wanted);
    if (given > max || given < min)
        fprintf(stderr, "Try '%s --help'.\n", command);
    if (count)
        *count = given;
    return given < min || given > max ? NULL : arguments;
}

/* ---- the terminal ------------------------------------------------------------------------------------------------ */

bool command_on_terminal(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

bool command_in_colours(void)
{
    const char *no_colour = getenv("NO_COLOR");
    return command_on_terminal() && !(no_colour && *no_colour);
}

size_t command_terminal_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH_UNKNOWN;
}

/* ---- the user's folder ------------------------------------------------------------------------------------------- */

bool command_data_folder(char out[PATH_MAX])
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data && *data == '/')
        snprintf(out, PATH_MAX, "%s/renga", data);
    else if (home && *home == '/')
        snprintf(out, PATH_MAX, "%s/.local/share/renga", home);
    else
        return false;
    for (char *slash = out + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(out, 0700);
    }
    return mkdir(out, 0700) == 0 || errno == EEXIST;
}

bool command_check_out(const char *flag, const char *path, struct status *st)
{
    char copy[PATH_MAX];
    struct stat there;
    bool exists = stat(path, &there) == 0;
    if (exists && S_ISDIR(there.st_mode))
        return fail(st, FAILED_PRECONDITION, "%s %s: it is a folder; name a file", flag, path);
    snprintf(copy, sizeof copy, "%s", path);
    if (access(exists ? path : dirname(copy), W_OK) == 0)
        return true;
    return fail(st, FAILED_PRECONDITION, "%s %s: it cannot be written: %s", flag, path, strerror(errno));
}

/* ---- around a command -------------------------------------------------------------------------------------------- */

int command_with_process(const struct daemon *daemon, int argc, char **argv,
                         int (*work)(struct daemon_process *process, const struct config *config))
{
    int code;
    struct config *config = daemon_configure(daemon, argc, argv, &code);
    if (!config)
        return code;
    signal(SIGPIPE, SIG_IGN);
    struct status st = {0};
    struct daemon_process *process = process_start(daemon, config, &st);
    if (process) {
        code = work(process, config);
    } else {
        bool wrong = st.code == INVALID_ARGUMENT || st.code == FAILED_PRECONDITION;
        fprintf(stderr, "%s: %s\n", daemon->name, st.text);
        code = wrong ? COMMAND_USAGE : COMMAND_FAILED;
    }
    if (!process_stop(&process)) {
        fflush(stdout);
        _exit(code);
    }
    config_destroy(config);
    return code;
}

void command_call_prepare(struct command_call *call, struct daemon_process *process, int64_t timeout_ms)
{
    rpc_client_call_init(&call->call, process_loop(process), NULL);
    call->call.timeout_ms = timeout_ms;
    call->call.owner = call;
}

static void command_begin(struct work *work)
{
    struct command_call *call = (struct command_call *)work;
    call->begin(call);
}

/* From now on the call may be gone. */
void command_call_ended(struct command_call *call)
{
    call->lost = rpc_client_call_is_lost(&call->call);
    sem_post(&call->woken);
}

/* ---- Ctrl-C ------------------------------------------------------------------------------------------------------ */

static sem_t *volatile at_work; /* the one that Ctrl-C wakes */
static struct sigaction action_before;
static atomic_int interrupted;

static void told_to_stop(int number)
{
    sem_t *woken = at_work;
    (void)number;
    atomic_store(&interrupted, 1);
    if (woken)
        sem_post(woken);
}

void command_interrupt_begin(sem_t *woken)
{
    struct sigaction action = {.sa_handler = told_to_stop, .sa_flags = (int)SA_RESETHAND};
    atomic_store(&interrupted, 0);
    at_work = woken;
    sigaction(SIGINT, &action, &action_before);
}

void command_interrupt_end(void)
{
    sigaction(SIGINT, &action_before, NULL);
    at_work = NULL;
}

static void cancel(struct work *work)
{
    struct command_call *call = CONTAINER_OF(work, struct command_call, cancel);
    rpc_client_call_cancel(&call->call);
    sem_post(&call->woken);
}

/* The end wakes once, and so do Ctrl-C and the cancelling that follows it: after all of them, no other code refers to
 * the call. */
static void wait_for_end(struct command_call *call)
{
    int woken = 0;
    bool cancelling = false;
    while (woken < 1 + atomic_load(&interrupted) + cancelling) {
        woken += sem_wait(&call->woken) == 0;
        if (!atomic_load(&interrupted) || cancelling)
            continue;
        cancelling = true;
        call->cancel.run = cancel;
        loop_post(call->call.loop, &call->cancel);
    }
}

static void run_and_wait(struct command_call *call)
{
    atomic_store(&interrupted, 0);
    if (call->cancels)
        command_interrupt_begin(&call->woken);
    loop_post(call->call.loop, &call->work);
    wait_for_end(call);
    if (call->cancels)
        command_interrupt_end();
}

bool command_interrupted(void)
{
    return atomic_load(&interrupted) != 0;
}

bool command_call_wait(struct command_call *call)
{
    sem_init(&call->woken, 0, 0);
    call->work.run = command_begin;
    run_and_wait(call);
    sem_destroy(&call->woken);
    return call->call.status.code == OK;
}

void command_title(const char *question, char title[COMMAND_TITLE_MAX])
{
    size_t whole = strlen(question), size = text_cut_characters(question, whole, TITLE_CHARACTERS);
    bool cut = size < whole;
    *title = '\0';
    if (!text_is_clean(question, whole) || text_is_blank(question))
        return;
    snprintf(title, COMMAND_TITLE_MAX, "%.*s%s", (int)text_cut(question, size, COMMAND_TITLE_MAX - sizeof "…"),
             question, cut ? "…" : "");
    for (char *c = title; *c; c++)
        if (*c == '\n' || *c == '\t' || *c == '\r')
            *c = ' ';
}

const char *command_remedy(const struct status *status)
{
    return status->code == UNAUTHENTICATED ? " (of this command: --peers.key or RENGA_PEERS_KEY)" : "";
}

void command_call_report(const struct command_call *call, const char *command)
{
    const struct status *status = &call->call.status;
    fprintf(stderr, "%s: %s: %s%s\n", command, status_code_name((int)status->code), status->text,
            command_remedy(status));
}

bool command_call_run(struct command_call *call, const char *command)
{
    bool answered = command_call_wait(call);
    if (!answered)
        command_call_report(call, command);
    return answered;
}
