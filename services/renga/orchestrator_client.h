/* Shared by the commands about runs: the connection to a remote orchestrator, blocking calls, and the display of
 * answers. A terminal gets colours, a pipe plain lines, and --json prints a JSON object per line. */
#ifndef RENGA_ORCHESTRATOR_CLIENT_H
#define RENGA_ORCHESTRATOR_CLIENT_H

#include "commands.h"

#include "base/buffer.h"
#include "renga/v1/orchestrator.pb-c.h"

#include <stdio.h>

#define ORCHESTRATOR_CLIENT_TARGET "peers.orchestrator"

/* Rows that come last in a command's own options. */
#define ORCHESTRATOR_CLIENT_OPTIONS                                                                                    \
    BOOLEAN_OPTION("json", "false", "Print JSON objects, one a line."),                                                \
        {.name = "timeout",                                                                                            \
         .type = OPTION_DURATION,                                                                                      \
         .fallback = "30s",                                                                                            \
         .min = 1,                                                                                                     \
         .max = 24LL * 3600 * 1000,                                                                                    \
         .unit = "DURATION",                                                                                           \
         .help = "How long to wait for an answer. What is watched is watched until it ends."},                         \
        CONNECT_OPTION(                                                                                                \
            "The orchestrator that is asked: HOST:PORT, or several of one store, \"ipv4:A:PORT,B:PORT\" or "           \
            "\"dns:///NAME:PORT\". Unset: what peers.orchestrator says, else 127.0.0.1:15000, where 'renga "           \
            "serve' is.")
#define RECONNECT_OPTION(what)                                                                                         \
    {                                                                                                                  \
        .name = "patience", .type = OPTION_DURATION, .fallback = "30s", .min = 0, .max = 24LL * 3600 * 1000,           \
        .unit = "DURATION", .help = "How long an orchestrator that has fallen silent is asked again" what              \
    }
#define ORCHESTRATOR_RECONNECT_OPTION RECONNECT_OPTION(", from the last event on that came.")

struct orchestrator_command {
    const char *name;     /* "renga runs", for errors */
    const char *takes;    /* behind the options in its usage: "RUN"; "" */
    const char *summary;  /* its purpose */
    const char *examples; /* a line each */
    const struct option *options;
    int (*work)(struct daemon_process *process, const struct config *config);
};

struct orchestrator_client {
    const char *command; /* "renga runs", for errors */
    struct daemon_process *process;
    const struct config *config;
    ProtobufCService *orchestrator;
    const char *const *arguments;
    size_t argument_count;
    bool json;
    bool terminal; /* for people: lines that move, columns, indented JSON */
    bool colours;
    bool asks;            /* a person is asked the run's questions: view_run does not show them */
    struct status status; /* how the last call ended */
    bool lost;            /* without an answer of the service */
};

int orchestrator_command_run(const struct orchestrator_command *command, int argc, char **argv);
/* The address that is asked. */
const char *orchestrator_client_target(const struct orchestrator_client *client);
/* Within `work`; false, after an error message, if the arguments are not `min` to `max`, or the orchestrator has no
 * address. */
bool orchestrator_client_open(struct orchestrator_client *client, struct daemon_process *process,
                              const struct config *config, const char *command, size_t min, size_t max,
                              const char *wanted);

/* Makes a call of the Orchestrator by its name and waits; `received` runs in the loop with each message. False, after
 * an error message, if it failed. */
bool orchestrator_client_call(
    struct orchestrator_client *client, const char *method, const ProtobufCMessage *request, int64_t timeout_ms,
    void (*received)(struct orchestrator_client *client, const ProtobufCMessage *message, void *data), void *data);
/* The same without a message about a failure: orchestrator_client_report prints it. */
bool orchestrator_client_try(
    struct orchestrator_client *client, const char *method, const ProtobufCMessage *request, int64_t timeout_ms,
    void (*received)(struct orchestrator_client *client, const ProtobufCMessage *message, void *data), void *data);
/* The same for a method of another service that answers once. */
bool orchestrator_client_try_service(struct orchestrator_client *client, ProtobufCService *service, const char *method,
                                     const ProtobufCMessage *request, int64_t timeout_ms,
                                     void (*received)(struct orchestrator_client *client,
                                                      const ProtobufCMessage *message, void *data),
                                     void *data);
void orchestrator_client_report(const struct orchestrator_client *client);
/* Notes how a call of the command's own ended. */
void orchestrator_client_note(struct orchestrator_client *client, const struct command_call *call);
/* Within --timeout. */
bool orchestrator_client_call_soon(
    struct orchestrator_client *client, const char *method, const ProtobufCMessage *request,
    void (*received)(struct orchestrator_client *client, const ProtobufCMessage *message, void *data), void *data);

/* A message as a single line of JSON: set fields by name, enums by name, and a field x_json as the value x.
 */
void message_print_json(const ProtobufCMessage *message);

/* ---- output ------------------------------------------------------------------------------------------------------ */

/* Shows text without control characters, which a terminal would obey. */
void show_text(const char *text);
/* The same on another stream than standard output. */
void show_text_on(FILE *out, const char *text);
/* Its first bytes alone. */
void show_bytes(const char *text, size_t size);
/* A cell of a line: padded on a terminal, ended by a tab in a pipe; width 0 ends the line. */
void show_cell(const struct orchestrator_client *client, const char *sequence, int width, const char *text);
/* An escape sequence if colours are on. */
const char *colour(const struct orchestrator_client *client, const char *sequence);
#define DIM    "\033[2m"
#define BOLD   "\033[1m"
#define RED    "\033[31m"
#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define BLUE   "\033[34m"
#define PLAIN  "\033[0m"
const char *state_word(Renga__V1__RunState state); /* "waiting" */
const char *state_colour(const struct orchestrator_client *client, Renga__V1__RunState state);
const char *reason_word(Renga__V1__StopReason reason);
/* "2026-03-01 12:30:05", local time. */
const char *time_text(int64_t ms, char out[32]);
/* JSON as it is in a pipe, indented on a terminal. */
void show_json(const struct orchestrator_client *client, const char *json);
void show_interrupt(const struct orchestrator_client *client, const Renga__V1__Interrupt *interrupt);

/* ---- watching (view.c) ------------------------------------------------------------------------------------------- */

/* Shows the run's events until it stops, then how it stands; gives the exit code. `known`: the orchestrator has
 * answered before. */
int view_run(struct orchestrator_client *client, const char *run_id, int64_t after_event_id, bool follow, bool quiet,
             bool known);
/* The command that goes on with a run that waits. */
void view_next_command(const struct orchestrator_client *client, const Renga__V1__Run *run);

/* ---- questions of a run (run_person.c) ------------------------------------------------------------------------- */

/* As view_run for a run that was begun or resumed just now. On a terminal a person is asked its questions, and it goes
 * on with each answer. In a pipe only the result is shown. */
int view_run_with_person(struct orchestrator_client *client, const char *run_id, int64_t after_event_id);

#endif
