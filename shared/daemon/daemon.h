/* A process that hosts services: arguments and configuration, loops, telemetry, serving, signals, drain.
 *
 *      int main(int argc, char **argv) { return daemon_main(&planner_daemon, argc, argv); }
 *
 * SIGTERM and SIGINT drain within drain.limit; a second one ends the process at once. */
#ifndef RENGA_DAEMON_DAEMON_H
#define RENGA_DAEMON_DAEMON_H

#include "daemon/service.h"

#include <stddef.h>

/* Exit codes of a daemon. */
enum daemon_exit {
    DAEMON_EXIT_OK = 0,
    DAEMON_EXIT_FAILED = 1, /* it could not start: an address in use, a file that cannot be read */
    DAEMON_EXIT_USAGE = 2,  /* the configuration is wrong */
    DAEMON_EXIT_FORCED = 3, /* a second signal cut the drain short */
};

/* The address of another service: one option of the peers' table. */
struct peer {
    const char *option; /* "peers.planner" */
    const ProtobufCServiceDescriptor *descriptor;
};

/* Replaces the default of a service's option in this binary. */
struct daemon_default {
    const char *option, *value;
};

struct daemon {
    const char *name;                      /* "renga-planner": in logs and traces */
    const char *summary;                   /* for --help */
    const char *usage;                     /* for --help; NULL: the name and [OPTIONS] */
    const char *examples;                  /* for --help, a line each; may be NULL */
    bool is_command;                       /* it has no listener: options of servers have no effect in it */
    const char *log_level;                 /* default of log.level; NULL: info */
    const char *listen;                    /* default of rpc.listen */
    const char *http;                      /* default of http.listen */
    const struct service *const *services; /* NULL-terminated */
    const struct service *const *others;   /* NULL-terminated, or NULL: its file may have their options, unheeded */
    const struct option *extra_options;    /* further options of this binary; may be NULL */
    const struct peer *peers;              /* ends with a row without an option */
    const struct option *peer_options;     /* the table that holds those options */
    const struct daemon_default *defaults; /* ends with a row without an option; may be NULL */
    const void *descriptor_set;            /* of the contract */
    size_t descriptor_set_size;
};

int daemon_main(const struct daemon *daemon, int argc, char **argv);

/* The configuration from flags, environment and file; logging is set up from it. NULL if the process must end at once
 * with `exit_code`: help or the like was printed, or the configuration is wrong and stderr gives the reason. */
struct config *daemon_configure(const struct daemon *daemon, int argc, char **argv, int *exit_code);

#endif
