/* `renga feedback`: a person's judgement of a run teaches the playbook of its agent. A run that a command has done by
 * itself is learnt from in this process. */
#include "ace.h"
#include "local_suite.h"
#include "saved_run.h"

#include "base/crc32c.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FEEDBACK    "renga feedback"
#define WANTED      "give a run, good or bad, and why, in quotes"
#define KEPT_MEMORY ((size_t)16 << 20)

static const struct option options[] = {
    STRING_OPTION("model", NULL, "MODEL", "Which model reflects, by its name in the gateway."),
    BOOLEAN_OPTION("json", "false", "Print JSON objects, one a line."),
    DURATION_OPTION("timeout", "15m", 1, 24LL * 3600 * 1000,
                    "How long to wait for the model to reflect; then nothing is learnt."),
    CONNECT_OPTION(
        "The orchestrator that has the run, HOST:PORT. Unset: this process for a run that it keeps, else what "
        "peers.orchestrator says, else 127.0.0.1:15000, where 'renga serve' is."),
    {0},
};

struct feedback_told {
    const struct orchestrator_client *client;
    bool why;
};

static void feedback_received(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    const Renga__V1__FeedbackResponse *response = (const Renga__V1__FeedbackResponse *)message;
    const Renga__V1__Curation *curation = response->curation;
    const struct feedback_told *told = data;
    if (client->json) {
        message_print_json(message);
        return;
    }
    if (response->reflection && *response->reflection->key_insight) {
        fputs(colour(client, BOLD), stdout);
        show_text(response->reflection->key_insight);
        printf("%s\n", colour(client, PLAIN));
    }
    printf("playbook '%s'", response->dataset);
    if (curation && curation->n_operations)
        printf(", revision %" PRId64 ": %zu %s; 'renga ace playbook diff %s' shows them\n", curation->revision,
               curation->n_operations, curation->n_operations == 1 ? "change" : "changes", response->dataset);
    else
        puts(": nothing was changed");
    if (told->why && !response->reflection)
        fputs(FEEDBACK ": learning from the reason needs a model, and none is set up (OPENAI_API_KEY, "
                       "OPENAI_BASE_URL): only the bullets that the run used are counted\n",
              stderr);
}

struct feedback_word {
    Renga__V1__FeedbackRequest request;
    Renga__V1__AgentOptions how;
    char name[ACE_REQUEST_ID];
};

/* Fills the request from the arguments; false after an error message. */
static bool feedback_read(struct feedback_word *word, const struct orchestrator_client *client, const char *run_id)
{
    const char *verdict = client->arguments[1], *why = client->argument_count > 2 ? client->arguments[2] : "";
    bool good = strcmp(verdict, "good") == 0;
    if (!good && strcmp(verdict, "bad") != 0) {
        fprintf(stderr, FEEDBACK ": '%s' is neither good nor bad\n", verdict);
        return false;
    }
    renga__v1__feedback_request__init(&word->request);
    renga__v1__agent_options__init(&word->how);
    snprintf(word->name, sizeof word->name, "feedback-%.64s-%.4s-%08" PRIx32, run_id, verdict,
             crc32c(0, why, strlen(why))); /* the same feedback counts once */
    word->how.request_id = word->name;
    word->how.model = command_text(config_string(client->config, "model"));
    word->request.run_id = command_text(run_id);
    word->request.verdict = good ? RENGA__V1__ACE_VERDICT__ACE_VERDICT_GOOD : RENGA__V1__ACE_VERDICT__ACE_VERDICT_BAD;
    word->request.remark = command_text(why);
    word->request.options = &word->how;
    return true;
}

static int feedback_send(struct orchestrator_client *client, struct feedback_word *word)
{
    struct feedback_told told = {.client = client, .why = *word->request.remark};
    ProtobufCService *service = process_stub(client->process, &renga__v1__ace_generator__descriptor, &client->status);
    if (!service) {
        fprintf(stderr, FEEDBACK ": %s\n", client->status.text);
        return COMMAND_USAGE;
    }
    if (orchestrator_client_try_service(client, service, "Feedback", &word->request.base,
                                        config_duration_ms(client->config, "timeout"), feedback_received, &told))
        return COMMAND_OK;
    orchestrator_client_report(client);
    return client->status.code == INVALID_ARGUMENT ? COMMAND_USAGE : COMMAND_FAILED;
}

static int feedback_work(struct daemon_process *process, const struct config *config)
{
    struct orchestrator_client client;
    struct feedback_word word;
    if (!orchestrator_client_open(&client, process, config, FEEDBACK, 2, 3, WANTED) ||
        !feedback_read(&word, &client, client.arguments[0]))
        return COMMAND_USAGE;
    return feedback_send(&client, &word);
}

/* ---- a run of a command that has ended --------------------------------------------------------------------------- */

static char feedback_kept[SAVED_RUN_ID];

static int feedback_work_here(struct daemon_process *process, const struct config *config)
{
    struct orchestrator_client client;
    struct feedback_word word;
    struct arena memory;
    if (!local_suite_check(config, FEEDBACK) ||
        !orchestrator_client_open(&client, process, config, FEEDBACK, 2, 3, WANTED) ||
        !feedback_read(&word, &client, feedback_kept))
        return COMMAND_USAGE;
    arena_init(&memory, NULL, 0, KEPT_MEMORY);
    word.request.trajectory = saved_run_read(feedback_kept, &memory, &client.status);
    if (!word.request.trajectory)
        fprintf(stderr, FEEDBACK ": the run '%s' cannot be read: %s\n", feedback_kept, client.status.text);
    int code = word.request.trajectory ? feedback_send(&client, &word) : COMMAND_FAILED;
    arena_fini(&memory);
    return code;
}

static int feedback_here(const struct orchestrator_command *command, int argc, char **argv)
{
    char runs[PATH_MAX + 32], record[PATH_MAX + 32];
    struct daemon daemon = command_daemon(FEEDBACK, command->summary, all_services, argc, argv);
    daemon.usage = FEEDBACK " [OPTIONS] RUN VERDICT [WHY]";
    daemon.examples = command->examples;
    daemon.extra_options = command->options;
    local_suite_stores(runs, record);
    return local_suite_run(&daemon, runs, record, NULL, false, argc, argv, feedback_work_here);
}

static int feedback_run(int argc, char **argv)
{
    static const struct orchestrator_command command = {
        .name = FEEDBACK,
        .takes = "RUN VERDICT [WHY]",
        .summary =
            "says whether a run was good or bad, and why: the bullets of the playbook that it used are counted, and a "
            "model reflects on the reason. The agent's next runs are given what was learnt. RUN is a run of an "
            "orchestrator, or one that 'renga ask' or 'renga ace run' has done by itself on this machine: then its "
            "lessons go into $XDG_DATA_HOME/renga/playbooks.db, which they read; 'last' is the last of these.",
        .examples = FEEDBACK " last bad \"Backups are kept for 30 days, not 7.\"\n" FEEDBACK
                             " --connect 127.0.0.1:15000 r-1 good\n",
        .options = options,
        .work = feedback_work,
    };
    bool elsewhere = command_early(argc, argv, "--" CONNECT, "RENGA_CONNECT") != NULL;
    return !elsewhere && saved_run_find(argc, argv, feedback_kept) ? feedback_here(&command, argc, argv)
                                                                   : orchestrator_command_run(&command, argc, argv);
}

const struct command command_feedback = {
    .name = "feedback",
    .summary = "say whether a run was good, so that its agent learns",
    .run = feedback_run,
};
