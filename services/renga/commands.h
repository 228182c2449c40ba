/* The sub-commands of `renga`: a file each, and a row in main.c. */
#ifndef RENGA_COMMANDS_H
#define RENGA_COMMANDS_H

#include "daemon/daemon.h"
#include "daemon/process.h"
#include "rpc/rpc.h"

#include <limits.h>
#include <semaphore.h>

/* Exit codes of commands; scripts may rely on them. */
enum command_exit {
    COMMAND_OK = 0,
    COMMAND_FAILED = 1,        /* it was tried and did not work out; the reason stands on standard error */
    COMMAND_USAGE = 2,         /* the command line or the configuration is wrong */
    COMMAND_NOTHING = 3,       /* of `ask`: the documents do not say it; of `research`: no source was found */
    COMMAND_WAITS = 3,         /* of `run`, `watch` and `resume`: the run waits for a person */
    COMMAND_INTERRUPTED = 130, /* Ctrl-C; the running work has been cancelled */
};

struct command {
    const char *name;
    const char *summary; /* half a line for the list of commands */
    int (*run)(int argc, char **argv);
};

extern const struct command command_serve, command_chat, command_usage, command_tools, command_health;
extern const struct command command_run, command_runs, command_watch, command_resume, command_cancel, command_state,
    command_history, command_graph, command_index, command_ask, command_backup, command_interview, command_research,
    command_ace, command_feedback, command_eval;

/* ---- the command line -------------------------------------------------------------------------------------------- */

/* A row of options: a remote suite, or a remote service of a suite. The first row of the command's peers is for
 * it, so that it goes before the address that an option of peers may have. */
#define CONNECT "connect"
#define CONNECT_OPTION(whom)                                                                                           \
    {                                                                                                                  \
        .name = CONNECT, .type = OPTION_STRING, .unit = "TARGET", .help = whom                                         \
    }

/* A daemon that serves no clients, to be completed by usage, examples, options and peers. `services` are made in this
 * process if --connect and RENGA_CONNECT name no running suite: that is decided before a file is read. */
struct daemon command_daemon(const char *name, const char *summary, const struct service *const *services, int argc,
                             char **argv);
/* The value that a flag or variable has before the configuration is read; NULL: no value. */
const char *command_early(int argc, char **argv, const char *flag, const char *variable);
/* The arguments that are not flags, `min` to `max` of them; else NULL, after an error with the expected arguments. */
const char *const *command_arguments(const struct config *config, const char *command, size_t min, size_t max,
                                     const char *wanted, size_t *count);

/* ---- the terminal ------------------------------------------------------------------------------------------------ */

/* Standard output is a terminal on which lines may be drawn anew. */
bool command_on_terminal(void);
/* The terminal shows colours, and NO_COLOR is not set. */
bool command_in_colours(void);
/* Columns of it. */
size_t command_terminal_width(void);

/* The user's own folder for kept files, made if it is absent; false without a folder: then all is gone with the
 * process. */
bool command_data_folder(char out[PATH_MAX]);
/* Whether a file could be written there. FAILED_PRECONDITION names the flag and says why not. */
bool command_check_out(const char *flag, const char *path, struct status *st);

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* The text as a field of a request, which is only read; "" for NULL. */
/* The beginning of a question as the label COMMAND_TITLE of its run, by which the console lists it; "" if the question
 * is blank or not well-formed. */
#define COMMAND_TITLE     "title"
#define COMMAND_TITLE_MAX 256 /* with the NUL */
void command_title(const char *question, char title[COMMAND_TITLE_MAX]);

static inline char *command_text(const char *text)
{
    return (char *)(uintptr_t)(text ? text : "");
}

/* Around a command that uses services: reads the configuration, starts them, runs `work`, stops them. */
int command_with_process(const struct daemon *daemon, int argc, char **argv,
                         int (*work)(struct daemon_process *process, const struct config *config));

/* A call that the command's own thread waits for. Embedded in the struct that the closure finds by `call.owner`. */
struct command_call {
    struct work work;
    struct rpc_client_call call;
    void (*begin)(struct command_call *call); /* makes the call, in its loop */
    bool cancels;                             /* Ctrl-C cancels the call; a second Ctrl-C ends the process as usual */
    bool lost;                                /* it ended without an answer of the service: rpc_client_call_is_lost */
    struct work cancel;
    sem_t woken;
};

/* `begin` is set by the caller. */
void command_call_prepare(struct command_call *call, struct daemon_process *process, int64_t timeout_ms);
/* Makes the call and waits; its closure ends with command_call_ended. True for OK. */
bool command_call_wait(struct command_call *call);
/* Advice for a person at the terminal, behind the text of a failure; "" if the text has it. */
const char *command_remedy(const struct status *status);
/* Prints the reason of a failed call. */
void command_call_report(const struct command_call *call, const char *command);
/* Both. */
bool command_call_run(struct command_call *call, const char *command);
void command_call_ended(struct command_call *call);
/* Whether Ctrl-C has cancelled the last call. */
bool command_interrupted(void);
/* Between these two, Ctrl-C posts `woken`, and command_interrupted is true; a second Ctrl-C ends the process as usual.
 * For commands with several calls at a time. */
void command_interrupt_begin(sem_t *woken);
void command_interrupt_end(void);

/* All services in this process. */
extern const struct service *const all_services[];
/* The same with the edge, for renga serve. */
extern const struct service *const served_services[];

#endif
