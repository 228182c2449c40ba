/* `renga interview`: a conversation that fills a form. All services run in this process, and the session is kept in the
 * user's own folder, unless --connect names a suite that runs.
 *
 *      Start, or GetSession for an existing session ---> a line of the person ---> Answer ---> ...
 *      every field is done ---> Enter, or a word that agrees ---> Confirm ---> the result */
#include "interview.h"

#include "local_suite.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORM_MEMORY ((size_t)16 << 20)
#define DAY_MS      (24LL * 3600 * 1000)

static const struct option options[] = {
    {.name = "session",
     .type = OPTION_STRING,
     .unit = "NAME",
     .help = "Name of the session: one that is there goes on where it was. Unset: a new one, whose name is told."},
    {.name = "language",
     .type = OPTION_STRING,
     .unit = "TAG",
     .help = "The person's language, so that it is not asked."},
    {.name = "country", .type = OPTION_STRING, .unit = "CODE", .help = "The country, likewise: \"JP\"."},
    {.name = "timezone", .type = OPTION_STRING, .unit = "NAME", .help = "The time zone, likewise: \"Asia/Tokyo\"."},
    {.name = "model",
     .type = OPTION_STRING,
     .unit = "MODEL",
     .help = "Which model to ask, by its name in the gateway."},
    {.name = "confirm",
     .type = OPTION_BOOLEAN,
     .fallback = "false",
     .help = "In a pipe: confirm the form when every field is done and the input ends."},
    {.name = "result",
     .type = OPTION_STRING,
     .choices = "json|csv",
     .fallback = "json",
     .help = "The form of the result that is printed when the form is confirmed."},
    {.name = "out", .type = OPTION_STRING, .unit = "FILE", .help = "Write the result to this file instead."},
    {.name = "json",
     .type = OPTION_BOOLEAN,
     .fallback = "false",
     .help = "Print each reply (InterviewReply) as a JSON object, one a line; read an answer a line."},
    {.name = "timeout",
     .type = OPTION_DURATION,
     .fallback = "5m",
     .min = 1,
     .max = DAY_MS,
     .unit = "DURATION",
     .help = "How long to wait for a reply."},
    SUITE_CONNECT_OPTION,
    {0},
};

/* Of a process that asks no suite elsewhere. */
static struct own_store own;
static bool own_opened;

/* ---- the session ------------------------------------------------------------------------------------------------- */

static char *text_option(const struct talk *talk, const char *name)
{
    return command_text(config_string(talk->way.config, name));
}

static bool talk_start(struct talk *talk, Renga__V1__SessionForm *form)
{
    Renga__V1__Bootstrap known = RENGA__V1__BOOTSTRAP__INIT;
    renga__v1__start_interview_request__init(&talk->start);
    known.language = text_option(talk, "language");
    known.country = text_option(talk, "country");
    known.timezone = text_option(talk, "timezone");
    talk->start.form = form;
    talk->start.bootstrap = &known;
    talk->start.model = text_option(talk, "model");
    talk->start.session_id = own.made ? own.name : text_option(talk, "session");
    return interview_call(talk, TALK_START);
}

/* The session that is there goes on, but not with another form. */
static bool talk_is_same_form(struct talk *talk, const Renga__V1__SessionForm *form, struct arena *arena,
                              struct status *st)
{
    bool matches = true;
    if (!form || !talk->state->form || !interview_form_matches(form, talk->state->form, &matches, arena, st))
        return !form || !talk->state->form;
    return matches ||
           fail(st, INVALID_ARGUMENT,
                "the session '%s' was begun with another form; give another --session, or no form", talk->session_id);
}

static bool talk_resume(struct talk *talk, const char *session, const Renga__V1__SessionForm *form, struct arena *arena)
{
    struct status st = {0};
    if (strlen(session) >= sizeof talk->session_id)
        return fail(&talk->call.call.status, INVALID_ARGUMENT, "--session: a name has at most %zu bytes",
                    sizeof talk->session_id - 1);
    snprintf(talk->session_id, sizeof talk->session_id, "%s", session);
    if (!interview_call(talk, TALK_GET))
        return false;
    if (!talk_is_same_form(talk, form, arena, &st)) {
        talk->call.call.status = st;
        return false;
    }
    return true;
}

static bool talk_open_session(struct talk *talk, const char *path, struct arena *arena)
{
    const char *session = config_string(talk->way.config, "session");
    struct status st = {0};
    Renga__V1__SessionForm *form = path ? interview_form_read(path, arena, &st) : NULL;
    if (path && !form) {
        talk->call.call.status = st;
        return false;
    }
    if (session && talk_resume(talk, session, form, arena))
        return true;
    if (session && talk->call.call.status.code != NOT_FOUND)
        return false;
    if (!form)
        return fail(&talk->call.call.status, INVALID_ARGUMENT,
                    session ? "there is no session '%.128s' yet; name a form to begin it" : "name a form, FORM.json%s",
                    session ? session : "");
    return talk_start(talk, form);
}

static int talk_end_session(const struct talk *talk)
{
    const char *out = config_string(talk->way.config, "out"), *format = config_string(talk->way.config, "result");
    if (talk->interactive)
        printf("%s%s%s\n", colour(&talk->way, GREEN), interview_say(talk, "✓ 確定しました。", "✓ Confirmed."),
               colour(&talk->way, PLAIN));
    fflush(stdout);
    return interview_write_result(talk, format, out) ? COMMAND_OK : COMMAND_FAILED;
}

static int converse_to_the_end(struct talk *talk)
{
    enum command_exit code = COMMAND_OK;
    if (!talk->state->confirmed) {
        if (talk->interactive && !config_string(talk->way.config, "session"))
            interview_show_name(talk);
        interview_show_reply(talk);
        code = interview_converse(talk);
    }
    if (code == COMMAND_OK)
        return talk_end_session(talk);
    interview_show_waits(talk);
    return code;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* If standard output is no terminal, only the result goes there; the conversation goes to standard error. */
static bool open_streams(struct talk *talk)
{
    talk->json = config_boolean(talk->way.config, "json");
    talk->result = stdout;
    if (!talk->json && !isatty(STDOUT_FILENO)) {
        int result = dup(STDOUT_FILENO);
        talk->result = result < 0 ? NULL : fdopen(result, "w");
        if (!talk->result || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
            return false;
    }
    talk->interactive = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !talk->json;
    talk->way.terminal = command_on_terminal() && !talk->json;
    talk->way.colours = command_in_colours() && !talk->json;
    return true;
}

static bool interview_check_options(const struct config *config, struct status *st)
{
    const char *out = config_string(config, "out"), *session = config_string(config, "session");
    if (*own.name && session && strcmp(own.name, session) != 0) /* its file is chosen before --config is read */
        return fail(st, INVALID_ARGUMENT,
                    "session '%.128s': give the session as the flag --session, with at most %d bytes", session,
                    OWN_NAME_SIZE - 1);
    if (out)
        return command_check_out("--out", out, st);
    if (config_boolean(config, "json") && strcmp(config_string(config, "result"), "csv") == 0)
        return fail(st, INVALID_ARGUMENT, "--json and --result csv: give --out FILE, too, for the table");
    return true;
}

static int talk_hold(struct talk *talk, const char *path)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, FORM_MEMORY);
    own_opened = talk_open_session(talk, path, &arena);
    int code = own_opened ? converse_to_the_end(talk) : (int)interview_failed(talk);
    interview_forget(talk);
    arena_fini(&arena);
    return code;
}

static int interview_work(struct daemon_process *process, const struct config *config)
{
    struct status st = {0};
    size_t count;
    struct talk talk = {.way = {.command = INTERVIEW, .process = process, .config = config}};
    const char *const *arguments = command_arguments(config, INTERVIEW, 0, 1, "give one form, FORM.json", &count);
    if (!arguments)
        return COMMAND_USAGE;
    talk.interview = process_stub(process, &renga__v1__form_interview__descriptor, &st);
    if (!talk.interview || !interview_check_options(config, &st)) {
        fprintf(stderr, INTERVIEW ": %s\n", st.text);
        return COMMAND_USAGE;
    }
    if (!open_streams(&talk)) {
        fprintf(stderr, INTERVIEW ": standard output: %s\n", strerror(errno));
        return COMMAND_FAILED;
    }
    return talk_hold(&talk, count ? arguments[0] : NULL);
}

/* ---- the services in this process -------------------------------------------------------------------------------- */

/* A session outlives the command: it is kept in the user's own folder. */
static int interview_here(struct daemon *daemon, int argc, char **argv)
{
    own_store_open(&own, "interviews", command_early(argc, argv, "--session", "RENGA_SESSION"));
    int code = local_suite_run(daemon, own.target, LOCAL_SUITE_FORGET, false, argc, argv, interview_work);
    own_store_close(&own, own_opened);
    return code;
}

static int interview_command_run(int argc, char **argv)
{
    static const struct peer elsewhere[] = {{CONNECT, &renga__v1__form_interview__descriptor}, {0}};
    struct daemon daemon = command_daemon(
        INTERVIEW,
        "fills a form by a conversation, and prints the result when it is confirmed. FORM.json is a SessionForm "
        "(proto/renga/v1/form.proto) or a JSON Schema. Exit code 0: confirmed; 3: the session waits; 1: it failed; 2: "
        "the command line or the form is wrong; 130: Ctrl-C. Each session is a file in $XDG_DATA_HOME/renga/interviews "
        "(~/.local/share/renga/interviews), unless --orchestrator.store says otherwise.",
        all_services, argc, argv);
    daemon.usage = INTERVIEW " [OPTIONS] [FORM.json]";
    daemon.examples = INTERVIEW " deploy/samples/forms/incident.json\n" INTERVIEW
                                " --session lunch --result csv --out lunch.csv deploy/samples/forms/onboarding.json\n";
    daemon.extra_options = options;
    if (*daemon.services)
        return interview_here(&daemon, argc, argv);
    daemon.peers = elsewhere;
    return command_with_process(&daemon, argc, argv, interview_work);
}

const struct command command_interview = {
    .name = "interview",
    .summary = "fill a form by a conversation",
    .run = interview_command_run,
};
