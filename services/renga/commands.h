/* The sub-commands of `renga`: one file each, and a row in main.c. */
#ifndef RENGA_COMMANDS_H
#define RENGA_COMMANDS_H

#include "daemon/daemon.h"
#include "daemon/process.h"
#include "rpc/rpc.h"

#include <semaphore.h>

/* Exit codes of commands; scripts may rely on them. */
enum command_exit {
    COMMAND_OK = 0,
    COMMAND_FAILED = 1,        /* it was tried and did not work out; the reason stands on standard error */
    COMMAND_USAGE = 2,         /* the command line or the configuration is wrong */
    COMMAND_NOTHING = 3,       /* of `ask`: the documents do not say it */
    COMMAND_WAITS = 3,         /* of `run`, `watch` and `resume`: the run waits for a person */
    COMMAND_INTERRUPTED = 130, /* Ctrl-C; what ran has been cancelled */
};

struct command {
    const char *name;
    const char *summary; /* half a line for the list of commands */
    int (*run)(int argc, char **argv);
};

extern const struct command command_serve, command_chat, command_usage, command_tools, command_health;
extern const struct command command_run, command_runs, command_watch, command_resume, command_cancel, command_state,
    command_history, command_graph, command_index, command_ask, command_backup;

/* Around a command that uses services: reads the configuration, starts them, runs `work`, stops them. */
int command_with_process(const struct daemon *daemon, int argc, char **argv,
                         int (*work)(struct daemon_process *process, const struct config *config));

/* A call that the command's own thread waits for. Embedded in what the closure needs to find by `call.owner`. */
struct command_call {
    struct work work;
    struct rpc_client_call call;
    void (*begin)(struct command_call *call); /* makes the call, in its loop */
    bool cancels;                             /* Ctrl-C cancels the call; a second one ends the process as ever */
    struct work cancel;
    sem_t woken;
};

/* `begin` is set by the caller. */
void command_call_prepare(struct command_call *call, struct daemon_process *process, int64_t timeout_ms);
/* Makes the call and waits; its closure ends with command_call_ended. True for OK, else the reason is printed. */
bool command_call_run(struct command_call *call, const char *command);
void command_call_ended(struct command_call *call);
/* Whether Ctrl-C has cancelled the last call. */
bool command_interrupted(void);

/* All services in this process. */
extern const struct service *const all_services[];

#endif
