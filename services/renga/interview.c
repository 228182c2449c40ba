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
    STRING_OPTION("session", NULL, "NAME",
                  "Name of the session: one that is there goes on where it was. Unset: a new one, whose name is told."),
    STRING_OPTION("language", NULL, "TAG", "The person's language, so that it is not asked."),
    STRING_OPTION("country", NULL, "CODE", "The country, likewise: \"JP\"."),
    STRING_OPTION("timezone", NULL, "NAME", "The time zone, likewise: \"Asia/Tokyo\"."),
    STRING_OPTION("model", NULL, "MODEL", "Which model to ask, by its name in the gateway."),
    BOOLEAN_OPTION("confirm", "false", "In a pipe: confirm the form when every field is done and the input ends."),
    {.name = "result",
     .type = OPTION_STRING,
     .choices = "json|csv",
     .fallback = "json",
     .help = "The form of the result that is printed when the form is confirmed."},
    STRING_OPTION("out", NULL, "FILE", "Write the result to this file instead."),
    BOOLEAN_OPTION("json", "false",
                   "Print each reply (InterviewReply) as a JSON object, one a line; read an answer a line."),
    DURATION_OPTION("timeout", "5m", 1, DAY_MS, "How long to wait for a reply."),
    SUITE_CONNECT_OPTION,
    {0},
};

/* Of a process that asks no suite elsewhere. */
static struct local_store own;
static bool own_opened;

/* ---- the session ------------------------------------------------------------------------------------------------- */

static char *text_option(const struct conversation *conversation, const char *name)
{
    return command_text(config_string(conversation->client.config, name));
}

static bool conversation_start(struct conversation *conversation, Renga__V1__SessionForm *form)
{
    Renga__V1__Bootstrap known = RENGA__V1__BOOTSTRAP__INIT;
    renga__v1__start_interview_request__init(&conversation->start);
    known.language = text_option(conversation, "language");
    known.country = text_option(conversation, "country");
    known.timezone = text_option(conversation, "timezone");
    conversation->start.form = form;
    conversation->start.bootstrap = &known;
    conversation->start.model = text_option(conversation, "model");
    conversation->start.session_id = own.made ? own.name : text_option(conversation, "session");
    return interview_call(conversation, CONVERSATION_START);
}

/* The session that is there goes on, but not with another form. */
static bool conversation_is_same_form(struct conversation *conversation, const Renga__V1__SessionForm *form,
                                      struct arena *arena, struct status *st)
{
    bool matches = true;
    if (!form || !conversation->state->form ||
        !interview_form_matches(form, conversation->state->form, &matches, arena, st))
        return !form || !conversation->state->form;
    return matches || fail(st, INVALID_ARGUMENT,
                           "the session '%s' was begun with another form; give another --session, or no form",
                           conversation->session_id);
}

static bool conversation_resume(struct conversation *conversation, const char *session,
                                const Renga__V1__SessionForm *form, struct arena *arena)
{
    struct status st = {0};
    if (strlen(session) >= sizeof conversation->session_id)
        return fail(&conversation->call.call.status, INVALID_ARGUMENT, "--session: a name has at most %zu bytes",
                    sizeof conversation->session_id - 1);
    snprintf(conversation->session_id, sizeof conversation->session_id, "%s", session);
    if (!interview_call(conversation, CONVERSATION_GET))
        return false;
    if (!conversation_is_same_form(conversation, form, arena, &st)) {
        conversation->call.call.status = st;
        return false;
    }
    return true;
}

static bool conversation_open_session(struct conversation *conversation, const char *path, struct arena *arena)
{
    const char *session = config_string(conversation->client.config, "session");
    struct status st = {0};
    Renga__V1__SessionForm *form = path ? interview_form_read(path, arena, &st) : NULL;
    if (path && !form) {
        conversation->call.call.status = st;
        return false;
    }
    if (session && conversation_resume(conversation, session, form, arena))
        return true;
    if (session && conversation->call.call.status.code != NOT_FOUND)
        return false;
    if (!form)
        return fail(&conversation->call.call.status, INVALID_ARGUMENT,
                    "there is no session '%.128s' yet; name a form to begin it", session);
    return conversation_start(conversation, form);
}

static int conversation_end_session(const struct conversation *conversation)
{
    const char *out = config_string(conversation->client.config, "out"),
               *format = config_string(conversation->client.config, "result");
    if (conversation->interactive)
        printf("%s%s%s\n", colour(&conversation->client, GREEN),
               interview_say(conversation, "✓ 確定しました。", "✓ Confirmed."), colour(&conversation->client, PLAIN));
    fflush(stdout);
    return interview_write_result(conversation, format, out) ? COMMAND_OK : COMMAND_FAILED;
}

static int converse_to_the_end(struct conversation *conversation)
{
    enum command_exit code = COMMAND_OK;
    if (!conversation->state->confirmed) {
        if (conversation->interactive && !config_string(conversation->client.config, "session"))
            interview_show_name(conversation);
        interview_show_reply(conversation);
        code = interview_converse(conversation);
    }
    if (code == COMMAND_OK)
        return conversation_end_session(conversation);
    interview_show_waits(conversation);
    return code;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* If standard output is no terminal, only the result goes there; the conversation goes to standard error. */
static bool open_streams(struct conversation *conversation)
{
    conversation->json = config_boolean(conversation->client.config, "json");
    conversation->result = stdout;
    if (!conversation->json && !isatty(STDOUT_FILENO)) {
        int result = dup(STDOUT_FILENO);
        conversation->result = result < 0 ? NULL : fdopen(result, "w");
        if (!conversation->result || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
            return false;
    }
    conversation->interactive = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !conversation->json;
    conversation->client.terminal = command_on_terminal() && !conversation->json;
    conversation->client.colours = command_in_colours() && !conversation->json;
    return true;
}

static bool interview_check_options(const struct config *config, struct status *st)
{
    const char *out = config_string(config, "out"), *session = config_string(config, "session");
    if (*own.name && session && strcmp(own.name, session) != 0) /* its file is chosen before --config is read */
        return fail(st, INVALID_ARGUMENT,
                    "session '%.128s': give the session as the flag --session, with at most %d bytes", session,
                    LOCAL_STORE_NAME_SIZE - 1);
    if (out)
        return command_check_out("--out", out, st);
    if (config_boolean(config, "json") && strcmp(config_string(config, "result"), "csv") == 0)
        return fail(st, INVALID_ARGUMENT, "--json and --result csv: give --out FILE, too, for the table");
    return true;
}

static int conversation_hold(struct conversation *conversation, const char *path)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, FORM_MEMORY);
    own_opened = conversation_open_session(conversation, path, &arena);
    int code = own_opened ? converse_to_the_end(conversation) : (int)interview_failed(conversation);
    interview_forget(conversation);
    arena_fini(&arena);
    return code;
}

static int interview_work(struct daemon_process *process, const struct config *config)
{
    struct status st = {0};
    size_t count;
    struct conversation conversation = {.client = {.command = INTERVIEW, .process = process, .config = config}};
    size_t least = config_string(config, "session") ? 0 : 1; /* a session that has begun has its form */
    const char *const *arguments = command_arguments(config, INTERVIEW, least, 1, "give one form, FORM.json", &count);
    if (!arguments)
        return COMMAND_USAGE;
    conversation.interview = process_stub(process, &renga__v1__form_interview__descriptor, &st);
    if (!conversation.interview || !interview_check_options(config, &st)) {
        fprintf(stderr, INTERVIEW ": %s\n", st.text);
        return COMMAND_USAGE;
    }
    if (!open_streams(&conversation)) {
        fprintf(stderr, INTERVIEW ": standard output: %s\n", strerror(errno));
        return COMMAND_FAILED;
    }
    return conversation_hold(&conversation, count ? arguments[0] : NULL);
}

/* ---- the services in this process -------------------------------------------------------------------------------- */

/* A session outlives the command: it is kept in the user's own folder. */
static int interview_here(struct daemon *daemon, int argc, char **argv)
{
    local_store_open(&own, "interviews", command_early(argc, argv, "--session", "RENGA_SESSION"));
    int code =
        local_suite_run(daemon, own.target, LOCAL_SUITE_FORGET, "form_interview", false, argc, argv, interview_work);
    local_store_close(&own, own_opened);
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
