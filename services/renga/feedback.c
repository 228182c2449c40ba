/* `renga feedback`: what a person says of a run teaches the playbook of its agent. */
#include "ace.h"

#include "base/crc32c.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FEEDBACK "renga feedback"

static const struct option options[] = {
    {.name = "model",
     .type = OPTION_STRING,
     .unit = "MODEL",
     .help = "Which model reflects, by its name in the gateway."},
    ORCHESTRA_OPTIONS,
    {0},
};

struct feedback_told {
    const struct orchestra *way;
    bool why;
};

static void feedback_came(struct orchestra *way, const ProtobufCMessage *message, void *data)
{
    const Renga__V1__FeedbackResponse *response = (const Renga__V1__FeedbackResponse *)message;
    const Renga__V1__Curation *curation = response->curation;
    const struct feedback_told *told = data;
    if (way->json) {
        message_print_json(message);
        return;
    }
    if (response->reflection && *response->reflection->key_insight) {
        fputs(colour(way, BOLD), stdout);
        show_text(response->reflection->key_insight);
        printf("%s\n", colour(way, PLAIN));
    }
    printf("playbook '%s'", response->dataset);
    if (curation)
        printf(", revision %" PRId64 ": %zu %s", curation->revision, curation->n_operations,
               curation->n_operations == 1 ? "change" : "changes");
    printf("; 'renga ace playbook diff %s' shows them\n", response->dataset);
    if (told->why && !response->reflection)
        fputs(FEEDBACK ": no model reflected on it, so bullets were counted alone\n", stderr);
}

static int feedback_work(struct daemon_process *process, const struct config *config)
{
    struct orchestra way;
    struct status st = {0};
    Renga__V1__FeedbackRequest request = RENGA__V1__FEEDBACK_REQUEST__INIT;
    Renga__V1__AgentOptions how = RENGA__V1__AGENT_OPTIONS__INIT;
    char name[ACE_REQUEST_ID];
    if (!orchestra_open(&way, process, config, FEEDBACK, 2, 3, "give a run, good or bad, and why, in quotes"))
        return COMMAND_USAGE;
    bool good = strcmp(way.arguments[1], "good") == 0;
    if (!good && strcmp(way.arguments[1], "bad") != 0) {
        fprintf(stderr, FEEDBACK ": '%s' is neither good nor bad\n", way.arguments[1]);
        return COMMAND_USAGE;
    }
    ProtobufCService *service = process_stub(process, &renga__v1__ace_generator__descriptor, &st);
    if (!service) {
        fprintf(stderr, FEEDBACK ": %s\n", st.text);
        return COMMAND_USAGE;
    }
    struct feedback_told told = {.way = &way, .why = way.argument_count > 2};
    const char *why = told.why ? way.arguments[2] : "";
    snprintf(name, sizeof name, "feedback-%.64s-%.4s-%08" PRIx32, way.arguments[0], way.arguments[1],
             crc32c(0, why, strlen(why))); /* the same feedback counts once */
    how.request_id = name;
    how.model = command_text(config_string(config, "model"));
    request.run_id = command_text(way.arguments[0]);
    request.verdict = good ? RENGA__V1__ACE_VERDICT__ACE_VERDICT_GOOD : RENGA__V1__ACE_VERDICT__ACE_VERDICT_BAD;
    request.remark = command_text(why);
    request.options = &how;
    if (orchestra_try_service(&way, service, "Feedback", &request.base, config_duration_ms(config, "timeout"),
                              feedback_came, &told))
        return COMMAND_OK;
    orchestra_report(&way);
    return way.status.code == INVALID_ARGUMENT ? COMMAND_USAGE : COMMAND_FAILED;
}

static int feedback_run(int argc, char **argv)
{
    static const struct orchestra_command command = {
        .name = FEEDBACK,
        .takes = "RUN VERDICT [WHY]",
        .summary =
            "says whether a run was good or bad, and why: the bullets of the playbook that it used are counted, and a "
            "model reflects on the reason. The agent's next runs are given what was learnt.",
        .examples = FEEDBACK " r-1 bad \"Backups are kept for 30 days, not 7.\"\n",
        .options = options,
        .work = feedback_work,
    };
    return orchestra_run(&command, argc, argv);
}

const struct command command_feedback = {
    .name = "feedback",
    .summary = "say whether a run was good, so that its agent learns",
    .run = feedback_run,
};
