/* `renga ace`: a task with the help of a playbook, learning from samples, measuring, and the playbooks themselves.
 * The suite runs in this process, and runs and playbooks are kept in the user's own folder, unless --connect names a
 * suite that runs. */
#include "ace.h"
#include "interval.h"

#include "base/nearest.h"
#include "base/random.h"
#include "local_suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DAY_MS (24LL * 3600 * 1000)

static const struct option options[] = {
    CHOICE_OPTION("mode", "offline", "offline|online",
                  "Of learn: go through the samples --epochs times, or once as tasks come, each judged before it is "
                  "learnt from."),
    INTEGER_OPTION("epochs", "1", 1, 100, "COUNT", "Of learn: how often all samples are gone through."),
    INTEGER_OPTION("rounds", "1", 1, 5, "COUNT",
                   "Of learn: how often a wrong answer is reflected on and tried again before it is curated."),
    INTEGER_OPTION("budget", "80000", 100, 1000000, "TOKENS",
                   "Of learn: most tokens of the playbook; bullets of the lowest value leave first."),
    STRING_OPTION("measure", NULL, "FILE",
                  "Of learn: other samples, which are not learnt from; they are measured before and after."),
    BOOLEAN_OPTION("anew", "false",
                   "Of learn: begin anew, and do not go on with the same learning that was interrupted."),
    INTEGER_OPTION("top_k", "10", 1, 100, "BULLETS", "Most bullets that a task is given, or that a search shows."),
    CHOICE_OPTION("format", "text", "text|json",
                  "Of playbook import and export: the text format of the ACE reference, or JSON, which keeps times and "
                  "sources. A file that ends with .json is JSON in any case."),
    STRING_OPTION("output", NULL, "FILE", "Of playbook export: write to this file."),
    BOOLEAN_OPTION("replace", "false", "Of playbook import: begin with an empty playbook."),
    STRING_OPTION("reason", NULL, "TEXT", "Why a playbook is changed, for its history."),
    BOOLEAN_OPTION("yes", "false", "Of playbook delete: do it."),
    SUITE_CONNECT_OPTION,
    SUITE_MODEL_OPTION("answer"),
    STRING_OPTION("language", NULL, "TAG",
                  "Language of prompts and answers, \"ja\" or \"en\". Unset: that of the task."),
    BOOLEAN_OPTION("json", "false", "Print JSON objects, one a line."),
    BOOLEAN_OPTION("quiet", "false", "Print the result alone."),
    BOOLEAN_OPTION("verbose", "false", "Of learn and eval: a line for each sample, on standard error."),
    DURATION_OPTION("timeout", "24h", 1, 30 * DAY_MS, "How long to wait for an answer; then the run is cancelled."),
    RECONNECT_OPTION(", from the last event on that came. With --connect."),
    {0},
};

/* ---- the verbs --------------------------------------------------------------------------------------------------- */

static const struct ace_verb {
    const char *name;
    const char *action; /* of `playbook`, else NULL */
    const char *wanted; /* arguments, for errors */
    size_t min, max;    /* how many */
    int (*run)(struct ace *ace);
} verbs[] = {
    {"run", NULL, "DATASET TASK", 2, 2, ace_run_task},
    {"learn", NULL, "DATASET SAMPLES.jsonl", 2, 2, ace_learn},
    {"eval", NULL, "DATASET SAMPLES.jsonl", 2, 2, ace_eval},
    {"playbook", "list", "", 0, 0, ace_playbook_list},
    {"playbook", "show", "DATASET [REVISION]", 1, 2, ace_playbook_show},
    {"playbook", "search", "DATASET TASK", 2, 2, ace_playbook_search},
    {"playbook", "history", "DATASET", 1, 1, ace_playbook_history},
    {"playbook", "diff", "DATASET [REVISION [REVISION]]", 1, 3, ace_playbook_diff},
    {"playbook", "undo", "DATASET [REVISION]", 1, 2, ace_playbook_undo},
    {"playbook", "import", "DATASET FILE", 2, 2, ace_playbook_import},
    {"playbook", "export", "DATASET [REVISION]", 1, 2, ace_playbook_export},
    {"playbook", "proposals", "DATASET", 1, 1, ace_playbook_proposals},
    {"playbook", "accept", "DATASET PROPOSAL...", 2, 101, ace_playbook_accept},
    {"playbook", "reject", "DATASET PROPOSAL...", 2, 101, ace_playbook_reject},
    {"playbook", "delete", "DATASET", 1, 1, ace_playbook_delete},
};
#define VERB_COUNT  (sizeof verbs / sizeof *verbs)
#define ACE_ACTIONS "list, show, search, history, diff, undo, import, export, proposals, accept, reject and delete"

static const struct ace_verb *ace_refuse_verb(const char *name, const char *action)
{
    bool playbook = strcmp(name, "playbook") == 0;
    struct nearest nearest = nearest_to(playbook ? action : name);
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (!playbook || verbs[i].action)
            nearest_try(&nearest, playbook ? verbs[i].action : verbs[i].name);
    fprintf(stderr, ACE ": there is no '%s%s%s'; ", name, playbook ? " " : "", playbook ? action : "");
    if (nearest.name)
        fprintf(stderr, "did you mean '%s'?\n", nearest.name);
    else if (playbook)
        fputs(ACE_ACTIONS " are possible\n", stderr);
    else
        fputs("run, learn, eval and playbook are possible\n", stderr);
    return NULL;
}

static const struct ace_verb *ace_find_verb(const struct ace *ace)
{
    const char *const *arguments = ace->client.arguments;
    if (ace->client.argument_count == 1 && strcmp(arguments[0], "playbook") == 0) {
        fputs(ACE ": say what to do with playbooks: " ACE_ACTIONS "\n", stderr);
        return NULL;
    }
    const char *action = ace->client.argument_count > 1 ? arguments[1] : "show";
    for (size_t i = 0; i < VERB_COUNT; i++) {
        const struct ace_verb *verb = &verbs[i];
        if (strcmp(verb->name, arguments[0]) != 0 || (verb->action && strcmp(verb->action, action) != 0))
            continue;
        size_t words = verb->action ? 2 : 1, given = ace->client.argument_count;
        if (given >= words + verb->min && given <= words + verb->max)
            return verb;
        fprintf(stderr, "Usage: " ACE " %s%s%s%s%s\n", verb->name, verb->action ? " " : "",
                verb->action ? verb->action : "", *verb->wanted ? " " : "", verb->wanted);
        return NULL;
    }
    return ace_refuse_verb(arguments[0], action);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

struct ace_kept {
    struct arena *memory;
    const ProtobufCMessage *message;
};

static void ace_answer_received(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    struct ace_kept *kept = data;
    (void)client;
    kept->message = rpc_message_copy(kept->memory, message);
}

const ProtobufCMessage *ace_ask(struct ace *ace, ProtobufCService *service, const char *method,
                                const ProtobufCMessage *request)
{
    struct ace_kept kept = {.memory = &ace->memory};
    if (!orchestrator_client_try_service(&ace->client, service, method, request,
                                         config_duration_ms(ace->client.config, "timeout"), ace_answer_received,
                                         &kept)) {
        orchestrator_client_report(&ace->client);
        return NULL;
    }
    if (!kept.message)
        fputs(ACE ": RESOURCE_EXHAUSTED: no memory for the answer\n", stderr);
    return kept.message;
}

void ace_name_request(char name[ACE_REQUEST_ID], const char *what)
{
    snprintf(name, ACE_REQUEST_ID, "%.32s-%016" PRIx64 "%016" PRIx64, what, random_u64(), random_u64());
}

/* ---- figures ----------------------------------------------------------------------------------------------------- */

void ace_share_bounds(int64_t correct, int64_t judged, double *low, double *high)
{
    struct interval interval = interval_of_share(correct, judged);
    *low = interval.low;
    *high = interval.high;
}

void ace_put_share(char *out, size_t room, int64_t correct, int64_t judged)
{
    double low, high;
    ace_share_bounds(correct, judged, &low, &high);
    if (judged)
        snprintf(out, room, "%" PRId64 " of %" PRId64 " (%.1f %%, 95 %%: %.1f–%.1f %%)", correct, judged,
                 100 * (double)correct / (double)judged, 100 * low, 100 * high);
    else
        snprintf(out, room, "no sample has a known answer");
}

void ace_put_cost(char *out, size_t room, const Renga__V1__Usage *usage)
{
    int used = snprintf(out, room, "%" PRId64 " %s, %" PRId64 " tokens", usage->model_calls,
                        usage->model_calls == 1 ? "call" : "calls", usage->input_tokens + usage->output_tokens);
    if (usage->cost_micros && used > 0 && (size_t)used < room)
        snprintf(out + used, room - (size_t)used, ", %sUSD %.4f", usage->unpriced_calls ? "> " : "",
                 (double)usage->cost_micros / 1e6);
}

void ace_add_usage(Renga__V1__Usage *sum, const Renga__V1__Usage *usage)
{
    if (!usage)
        return;
    sum->input_tokens += usage->input_tokens;
    sum->output_tokens += usage->output_tokens;
    sum->model_calls += usage->model_calls;
    sum->cost_micros += usage->cost_micros;
    sum->unpriced_calls += usage->unpriced_calls;
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

static bool ace_open(struct ace *ace, struct daemon_process *process, const struct config *config)
{
    struct status *st = &ace->client.status;
    ace->client = (struct orchestrator_client){.command = ACE, .process = process, .config = config};
    ace->client.arguments = command_arguments(config, ACE, 1, 103, "give run, learn, eval or playbook, and a dataset",
                                              &ace->client.argument_count);
    if (!ace->client.arguments)
        return false;
    ace->quiet = config_boolean(config, "quiet");
    ace->client.json = config_boolean(config, "json");
    ace->client.terminal = !ace->client.json && command_on_terminal();
    ace->client.colours = !ace->client.json && command_in_colours();
    ace->client.orchestrator = process_stub(process, &renga__v1__orchestrator__descriptor, st);
    ace->generator = process_stub(process, &renga__v1__ace_generator__descriptor, st);
    ace->tool_runner = process_stub(process, &renga__v1__tool_runner__descriptor, st);
    if (ace->client.orchestrator && ace->generator && ace->tool_runner)
        return true;
    fprintf(stderr, ACE ": %s\n", st->text);
    return false;
}

static int ace_work(struct daemon_process *process, const struct config *config)
{
    struct ace ace = {0};
    if (!ace_open(&ace, process, config))
        return COMMAND_USAGE;
    const struct ace_verb *verb = ace_find_verb(&ace);
    if (!verb)
        return COMMAND_USAGE;
    size_t words = verb->action ? 2 : 1;
    if (ace.client.argument_count > words) {
        ace.dataset = ace.client.arguments[words];
        ace.rest = ace.client.arguments + words + 1;
        ace.rest_count = ace.client.argument_count - words - 1;
    }
    arena_init(&ace.memory, NULL, 0, ACE_MEMORY);
    int code = verb->run(&ace);
    arena_fini(&ace.memory);
    return code;
}

static int ace_work_here(struct daemon_process *process, const struct config *config)
{
    return local_suite_check(config, ACE) ? ace_work(process, config) : (int)COMMAND_USAGE;
}

/* Runs and playbooks of this user; in memory without a folder. */
static int ace_here(struct daemon *daemon, int argc, char **argv)
{
    char runs[PATH_MAX + 32], record[PATH_MAX + 32];
    local_suite_stores(runs, record);
    return local_suite_run(daemon, runs, record, NULL, true, argc, argv, ace_work_here);
}

static int ace_run(int argc, char **argv)
{
    static const struct peer elsewhere[] = {{CONNECT, &renga__v1__ace_generator__descriptor},
                                            {CONNECT, &renga__v1__orchestrator__descriptor},
                                            {CONNECT, &renga__v1__tool_runner__descriptor},
                                            {0}};
    struct daemon daemon = command_daemon(
        ACE,
        "does tasks with the help of a playbook that learns. 'run DATASET TASK' does a task; 'learn DATASET "
        "SAMPLES.jsonl' learns from samples, each {\"query\", \"ground_truth\"} on a line; 'eval DATASET "
        "SAMPLES.jsonl' measures; 'playbook ACTION DATASET' shows and changes what was learnt: list, show, search, "
        "history, diff, undo, import, export, proposals, accept, reject, delete. Exit code 0: it was done; 1: it "
        "failed; 2: the command line or the samples are wrong; 130: Ctrl-C, and the same command goes on. Playbooks "
        "are in $XDG_DATA_HOME/renga/playbooks.db (~/.local/share/renga), unless --tool_runner.record says otherwise.",
        all_services, argc, argv);
    daemon.usage = ACE " [OPTIONS] VERB [ARGUMENT...]";
    daemon.examples = ACE " run handbook \"How is a rate limit done?\"\n" ACE
                          " learn handbook train.jsonl --epochs 3 --measure held-out.jsonl\n" ACE
                          " playbook show handbook\n" ACE " playbook undo handbook\n";
    daemon.extra_options = options;
    if (*daemon.services)
        return ace_here(&daemon, argc, argv);
    daemon.peers = elsewhere;
    return command_with_process(&daemon, argc, argv, ace_work);
}

const struct command command_ace = {
    .name = "ace",
    .summary = "do tasks with a playbook that learns",
    .run = ace_run,
};
