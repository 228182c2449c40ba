/* The sub-commands of `renga`: one file each, and a row in main.c. */
#ifndef RENGA_COMMANDS_H
#define RENGA_COMMANDS_H

#include "daemon/daemon.h"

/* Exit codes of commands; scripts may rely on them. */
enum command_exit {
    COMMAND_OK = 0,
    COMMAND_FAILED = 1, /* it was tried and did not work out; the reason stands on standard error */
    COMMAND_USAGE = 2,  /* the command line or the configuration is wrong */
};

struct command {
    const char *name;
    const char *usage;   /* what follows "renga NAME" */
    const char *summary; /* half a line for the list of commands */
    int (*run)(int argc, char **argv);
};

extern const struct command command_serve, command_chat, command_health;

/* All services in this process. */
extern const struct service *const all_services[];

#endif
