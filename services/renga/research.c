/* `renga research`: a question is studied over documents or the web, seen as it goes, and ends as a report with its
 * sources. --on asks a further question about a run that has ended. The suite runs in this process, and the run is
 * kept in the user's own folder, unless --connect names a suite that runs. */
#include "autonomous.h"
#include "index.h"
#include "local_store.h"
#include "local_suite.h"
#include "renga/v1/tool_runner.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define DAY_MS  (24LL * 3600 * 1000)
#define KEPT_IN "research"

#define AUTONOMOUS_RESULTS 5 /* results of a query, and sources that are enough to write from */

static const struct option options[] = {
    INDEX_DOCUMENTS_OPTIONS,
    BOOLEAN_OPTION("web", "false",
                   "Search on the web, with the sources that tool_runner.search names; with --docs or --collection in "
                   "the documents, too."),
    STRING_OPTION("on", NULL, "RUN",
                  "Ask a further question about the run that a report ended with. It is answered from the notes and "
                  "sources of that run: nothing is searched. Without a question: go on with a run that was cancelled."),
    INTEGER_OPTION("cycles", "3", 1, RESEARCH_CYCLES_MAX, "CYCLES", "Most cycles of searching."),
    INTEGER_OPTION("summary_tokens", "512", 64, 4096, "TOKENS", "Most tokens in the summary of one query."),
    BOOLEAN_OPTION("autonomous", "false",
                   "Study the question as a theme, in rounds: a supervisor plans and chooses, a researcher searches, a "
                   "writer writes, a reviewer judges, until the draft is approved or the steps are made."),
    BOOLEAN_OPTION("human", "false",
                   "With --autonomous: ask a person before each decision and each draft, at this terminal. In a pipe "
                   "the command ends with 3, and 'renga research --on RUN' goes on."),
    INTEGER_OPTION("iterations", "5", 1, 100, "STEPS",
                   "With --autonomous: most steps; a search, a draft and a review each count as one."),
    DURATION_OPTION("human_timeout", "0s", 0, 365 * DAY_MS,
                    "With --human: longest wait for an answer; then --human_default is done. 0s sets no limit."),
    CHOICE_OPTION("human_default", "approve", "approve|stop",
                  "With --human_timeout: go on as planned, or end with the best draft so far."),
    STRING_OPTION("output", NULL, "FILE",
                  "Write the report to FILE.md, FILE.html (a page that needs no other file, with the quotes) or "
                  "FILE.json instead."),
    SUITE_CONNECT_OPTION,
    SUITE_MODEL_OPTION("report"),
    STRING_OPTION("language", NULL, "TAG", "Language of the report, \"ja\" or \"en\". Unset: that of the question."),
    BOOLEAN_OPTION("json", "false",
                   "Print the DeepResearchResult, with --autonomous the AutonomousResearchResult, as one JSON object."),
    BOOLEAN_OPTION("quiet", "false", "Print the report alone, on a terminal too."),
    BOOLEAN_OPTION("verbose", "false", "In a pipe: print plans, searches and notes on standard error."),
    DURATION_OPTION("timeout", "30m", 1, DAY_MS, "How long to wait for the report; then the run is cancelled."),
    RECONNECT_OPTION(", from the last event on that came. With --connect."),
    {0},
};

/* Of a process that asks no suite elsewhere. */
static struct local_store own;

/* ---- before them ------------------------------------------------------------------------------------------------- */

/* A name for the call, so that it can be made again. */
static void research_name_request(struct research *research, bool further)
{
    unsigned char random[16] = {0};
    size_t used = (size_t)snprintf(research->request_id, sizeof research->request_id, "research-");
    if (getrandom(random, sizeof random, 0) < 0)
        return;
    for (size_t i = 0; i < sizeof random && used + 3 <= sizeof research->request_id; i++)
        used += (size_t)snprintf(research->request_id + used, 3, "%02x", random[i]);
    research->how.request_id = research->request_id;
    research->how.keep_running = !further;
}

/* The data for a later continuation of the run. */
static void research_label(struct research *research, const char *key, const char *value)
{
    size_t place = research->how.n_labels;
    if (!*value)
        return;
    renga__v1__agent_options__labels_entry__init(&research->labels[place]);
    research->labels[place].key = command_text(key);
    research->labels[place].value = command_text(value);
    research->label_list[place] = &research->labels[place];
    research->how.labels = research->label_list;
    research->how.n_labels++;
}

static void research_look_around(struct research *research, const struct config *config)
{
    research->json = config_boolean(config, "json");
    research->quiet = config_boolean(config, "quiet");
    research->verbose = config_boolean(config, "verbose");
    research->output = config_string(config, "output");
    research->client.terminal = command_on_terminal() && !research->json;
    research->client.colours = command_in_colours() && !research->json;
    research->live = research->client.terminal && !research->quiet;
    research->width = research->client.terminal ? command_terminal_width() : 0;
    research->words =
        research_words(*research->how.language ? research->how.language : NULL, research->request.question);
}

static void research_fill_request(struct research *research, const struct config *config, const char *question)
{
    renga__v1__agent_options__init(&research->how);
    renga__v1__deep_research_request__init(&research->request);
    renga__v1__deep_research_follow_up_request__init(&research->further);
    research->how.model = command_text(config_string(config, "model"));
    research->how.language = command_text(config_string(config, "language"));
    research_label(research, RESEARCH_LANGUAGE, research->how.language);
    research_label(research, RESEARCH_MODEL, research->how.model);
    command_title(question ? question : "", research->title);
    research_label(research, COMMAND_TITLE, research->title);
    research->request.question = research->further.question = command_text(question);
    research->request.options = research->further.options = &research->how;
    research->request.max_cycles = (int32_t)config_integer(config, "cycles");
    research->request.summary_tokens = (int32_t)config_integer(config, "summary_tokens");
    research->request.sources = research->sources;
    research->further.run_id = command_text(config_string(config, "on"));
}

static void research_fill_autonomous(struct research *research, const struct config *config)
{
    Renga__V1__AutonomousResearchRequest *request = &research->autonomous->request;
    char timeout[24], standard[8];
    renga__v1__autonomous_research_request__init(request);
    renga__v1__resume_research_request__init(&research->autonomous->answer);
    request->theme = research->request.question;
    request->max_iterations = (int32_t)config_integer(config, "iterations");
    request->max_results_per_query = request->min_data_count = AUTONOMOUS_RESULTS;
    request->human_intervention = config_boolean(config, "human");
    request->options = &research->how;
    request->sources = research->sources;
    request->human_timeout_ms = config_duration_ms(config, "human_timeout");
    if (!request->human_timeout_ms)
        return;
    request->human_default = strcmp(config_string(config, "human_default"), "stop") == 0
                                 ? RENGA__V1__HUMAN_DEFAULT__HUMAN_DEFAULT_STOP
                                 : RENGA__V1__HUMAN_DEFAULT__HUMAN_DEFAULT_APPROVE;
    snprintf(timeout, sizeof timeout, "%lld", (long long)request->human_timeout_ms);
    snprintf(standard, sizeof standard, "%d", (int)request->human_default);
    research_label(research, AUTONOMOUS_TIMEOUT, strcpy(research->autonomous->timeout_label, timeout));
    research_label(research, AUTONOMOUS_DEFAULT, strcpy(research->autonomous->default_label, standard));
}

/* Options that go together. */
static bool research_check_autonomous(const struct config *config, struct status *st)
{
    bool autonomous = config_boolean(config, "autonomous"), human = config_boolean(config, "human");
    if (human && !autonomous)
        return fail(st, INVALID_ARGUMENT, "--human goes with --autonomous");
    if (config_duration_ms(config, "human_timeout") && !human)
        return fail(st, INVALID_ARGUMENT, "--human_timeout goes with --human");
    if (config_integer(config, "iterations") != 5 && !autonomous)
        return fail(st, INVALID_ARGUMENT, "--iterations goes with --autonomous; --cycles bounds a deep research");
    if (config_integer(config, "cycles") != RESEARCH_CYCLES_MAX && autonomous)
        return fail(st, INVALID_ARGUMENT, "--cycles is of deep research; --iterations bounds an autonomous one");
    return !autonomous || !config_string(config, "on") ||
           fail(st, INVALID_ARGUMENT, "--on goes on with a run as it began; leave out --autonomous");
}

static bool research_check_options(const struct config *config, struct status *st)
{
    const char *output = config_string(config, "output"), *on = config_string(config, "on");
    if (on && (config_string(config, "docs") || config_string(config, "collection") || config_boolean(config, "web")))
        return fail(st, INVALID_ARGUMENT,
                    "--on asks about a run that has ended, and nothing is searched; leave out --docs, --collection and "
                    "--web");
    if (on && (!*on || strlen(on) >= RESEARCH_RUN_SIZE))
        return fail(st, INVALID_ARGUMENT, "--on: a run has a name of 1 to %d bytes", RESEARCH_RUN_SIZE - 1);
    return research_check_autonomous(config, st) && (!output || research_check_output(output, st));
}

/* The run is in its own file, which has the name of the run. */
static bool research_check_run(const char *on, struct status *st)
{
    return !on || !*own.path || own.existed ||
           fail(st, NOT_FOUND, "there is no finished run '%s' of this user; a report ends with the name of its run",
                on);
}

/* Chooses the sources to search. */
static int research_choose_sources(struct research *research, const struct config *config, struct index *index)
{
    const char *collection;
    index->optional = config_boolean(config, "web");
    int code = index_bring_documents(index, &research->client, research->live, &collection);
    research->request.n_sources = config_boolean(config, "web") ? 1u + (collection != NULL) : 0;
    research->sources[0] = RENGA__V1__DEEP_RESEARCH_SOURCE__DEEP_RESEARCH_SOURCE_WEB;
    research->sources[1] = RENGA__V1__DEEP_RESEARCH_SOURCE__DEEP_RESEARCH_SOURCE_INTERNAL;
    research->collection = command_text(collection);
    research->request.collections = &research->collection;
    research->request.n_collections = collection != NULL;
    if (research->autonomous) {
        research->autonomous->request.n_sources = research->request.n_sources;
        research->autonomous->request.collections = research->request.collections;
        research->autonomous->request.n_collections = research->request.n_collections;
    }
    return code;
}

/* Its file gets the name of the run, if later questions or a continuation need it. */
static void research_name_run(const struct research *research, int code)
{
    bool kept = code == COMMAND_OK || code == COMMAND_NOTHING || research->how.keep_running;
    snprintf(own.name, sizeof own.name, "%s", kept ? research->run_id : "");
}

static int research_work(struct daemon_process *process, const struct config *config)
{
    struct status st = {0};
    struct index index = {0};
    size_t count;
    struct autonomous autonomous = {0};
    struct research research = {.client = {.command = RESEARCH, .process = process, .config = config}};
    bool on = config_string(config, "on") != NULL;
    const char *const *arguments = command_arguments(config, RESEARCH, !on, 1, "give one question, in quotes", &count);
    if (!arguments)
        return COMMAND_USAGE;
    research.service = process_stub(process, &renga__v1__deep_research__descriptor, &st);
    autonomous.service = process_stub(process, &renga__v1__autonomous_research__descriptor, &st);
    research.client.orchestrator = process_stub(process, &renga__v1__orchestrator__descriptor, &st);
    if (!research.service || !autonomous.service || !research_check_options(config, &st)) {
        fprintf(stderr, RESEARCH ": %s\n", st.text);
        return COMMAND_USAGE;
    }
    research_fill_request(&research, config, count ? arguments[0] : "");
    research_name_request(&research, on && count);
    if (config_boolean(config, "autonomous") || (on && !count)) { /* the run says which it is */
        autonomous.research = &research;
        research.autonomous = &autonomous;
        research_fill_autonomous(&research, config);
    }
    bool goes_on = count || research_resume(&research);
    research_look_around(&research, config);
    int code = !goes_on ? COMMAND_FAILED : on ? COMMAND_OK : research_choose_sources(&research, config, &index);
    if (code == COMMAND_OK)
        code = research.autonomous ? autonomous_study(&autonomous) : research_study(&research);
    research_name_run(&research, code);
    if (!count)
        arena_fini(&research.kept);
    return code;
}

/* ---- the services in this process -------------------------------------------------------------------------------- */

static int research_work_here(struct daemon_process *process, const struct config *config)
{
    struct status st = {0};
    const char *on = config_string(config, "on");
    bool kept = strcmp(config_string(config, "orchestrator.store"), own.target) == 0;
    if (!local_suite_check(config, RESEARCH))
        return COMMAND_USAGE;
    if (kept && on && !research_check_run(on, &st)) {
        fprintf(stderr, RESEARCH ": %s: %s\n", status_code_name((int)st.code), st.text);
        return COMMAND_FAILED;
    }
    return research_work(process, config);
}

/* The run is kept in a file of its own, so that further questions can be asked. */
static int research_here(struct daemon *daemon, const char *on, int argc, char **argv)
{
    local_store_open(&own, KEPT_IN, on);
    int code = local_suite_run(daemon, own.target, NULL, "deep_research,autonomous_research", true, argc, argv,
                               research_work_here);
    bool named = *own.name && !on && local_store_rename(&own, KEPT_IN, own.name);
    local_store_close(&own, named);
    return code;
}

static int research_run(int argc, char **argv)
{
    static const struct peer elsewhere[] = {{CONNECT, &renga__v1__deep_research__descriptor},
                                            {CONNECT, &renga__v1__autonomous_research__descriptor},
                                            {CONNECT, &renga__v1__orchestrator__descriptor},
                                            {CONNECT, &renga__v1__tool_runner__descriptor},
                                            {0}};
    struct daemon daemon = command_daemon(
        RESEARCH,
        "studies a question: plans queries, searches, takes notes, looks for gaps, and writes a report with a source "
        "for every sentence. Exit code 0: the report has sources; 3: nothing was found, or the run waits for a person; "
        "1: it failed; 2: the command "
        "line is wrong; 130: Ctrl-C, the run is cancelled. The knowledge base is that of 'renga ask'. Each run is a "
        "file in "
        "$XDG_DATA_HOME/renga/research (~/.local/share/renga/research), unless --orchestrator.store says otherwise.",
        all_services, argc, argv);
    daemon.usage = RESEARCH " [OPTIONS] QUESTION";
    daemon.examples = RESEARCH " --docs ~/handbook \"How do we keep backups, and for how long?\"\n" RESEARCH
                               " --docs ~/handbook --output report.html \"Which errors need a restart?\"\n" RESEARCH
                               " --on RUN \"And for how long in Osaka?\"\n" RESEARCH
                               " --docs ~/handbook --autonomous --human \"Backups\"\n";
    daemon.extra_options = options;
    if (*daemon.services)
        return research_here(&daemon, command_early(argc, argv, "--on", "RENGA_ON"), argc, argv);
    daemon.peers = elsewhere;
    return command_with_process(&daemon, argc, argv, research_work);
}

const struct command command_research = {
    .name = "research",
    .summary = "study a question and get a report with its sources",
    .run = research_run,
};
