/* `renga resume`: goes on with a run that waits, failed or was cancelled; with an answer, or answers by their ids. */
#include "orchestrator_client.h"

#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME        "renga resume"
#define ANSWERS_MAX 1000

static const struct option options[] = {
    STRING_OPTION("answer", NULL, "JSON",
                  "The answer to the one open question: any JSON value, so that text stands in quotes."),
    STRING_OPTION("answers", NULL, "JSON", "Answers by interrupt: {\"ID\": ANSWER, …}. Questions left out stay open."),
    BOOLEAN_OPTION("quiet", "false", "Show only what comes of it."),
    ORCHESTRATOR_RECONNECT_OPTION,
    ORCHESTRATOR_CLIENT_OPTIONS,
    {0},
};

struct answers {
    Renga__V1__InterruptAnswer entries[ANSWERS_MAX], *list[ANSWERS_MAX];
    size_t count;
};

/* Both strings are freed by release_answers. */
static bool read_answers(const char *json, struct answers *answers)
{
    struct status st = {0};
    cJSON *tree = json_parse(json, strlen(json), NULL, &st), *item;
    bool good = tree && cJSON_IsObject(tree) && cJSON_GetArraySize(tree) <= ANSWERS_MAX;
    if (!good)
        fprintf(stderr, NAME ": --answers %s\n", tree ? "must be an object of at most 1000 answers" : st.text);
    for (item = good ? tree->child : NULL; item; item = item->next) {
        Renga__V1__InterruptAnswer *answer = answers->list[answers->count] = &answers->entries[answers->count];
        renga__v1__interrupt_answer__init(answer);
        answer->interrupt_id = strdup(item->string);
        answer->answer_json = cJSON_PrintUnformatted(item);
        answers->count++;
    }
    cJSON_Delete(tree);
    return good;
}

static bool answer_is_json(const char *answer)
{
    struct status st = {0};
    cJSON *tree = json_parse(answer, strlen(answer), NULL, &st);
    if (!tree)
        fprintf(stderr, NAME ": --answer is not JSON: %s; a text stands in double quotes: --answer '\"yes\"'\n",
                st.text);
    cJSON_Delete(tree);
    return tree != NULL;
}

static void release_answers(struct answers *answers)
{
    for (size_t i = 0; i < answers->count; i++) {
        free(answers->entries[i].interrupt_id);
        cJSON_free(answers->entries[i].answer_json);
    }
    free(answers);
}

static void resume_run_resumed(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    (void)client;
    *(int64_t *)data = ((const Renga__V1__ResumeRunResponse *)message)->run->last_event_id;
}

static int go_on(struct orchestrator_client *client, struct answers *answers)
{
    const struct config *config = client->config;
    const char *answer = config_string(config, "answer"), *by_id = config_string(config, "answers");
    int64_t last_event_id = 0;
    Renga__V1__ResumeRunRequest request = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    request.run_id = (char *)(uintptr_t)client->arguments[0];
    if ((by_id && !read_answers(by_id, answers)) || (answer && !answer_is_json(answer)))
        return COMMAND_USAGE;
    if (answer) {
        request.maybe_answer_json_case = RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON_ANSWER_JSON;
        request.answer_json = (char *)(uintptr_t)answer;
    }
    request.answers = answers->list;
    request.n_answers = answers->count;
    if (!orchestrator_client_call_soon(client, "ResumeRun", &request.base, resume_run_resumed, &last_event_id))
        return COMMAND_FAILED;
    return view_run_with_person(client, client->arguments[0], last_event_id);
}

static int resume_command_work(struct daemon_process *process, const struct config *config)
{
    struct orchestrator_client client;
    if (!orchestrator_client_open(&client, process, config, NAME, 1, 1, "name one run; 'renga runs' lists them"))
        return COMMAND_USAGE;
    struct answers *answers = calloc(1, sizeof *answers);
    if (!answers)
        abort();
    int code = go_on(&client, answers);
    release_answers(answers);
    return code;
}

static int resume_command(int argc, char **argv)
{
    static const struct orchestrator_command command = {
        .name = NAME,
        .takes = "RUN",
        .summary = "goes on with a run that waits for an answer, has failed or was cancelled. On a terminal it asks "
                   "questions that are still open. Exit codes are those of 'renga run'.",
        .examples = "renga resume 01m7ztx32p6aqpyjjyss6j4x --answer '\"yes\"'\n"
                    "renga resume 01m7ztx32p6aqpyjjyss6j4x\n",
        .options = options,
        .work = resume_command_work,
    };
    return orchestrator_command_run(&command, argc, argv);
}

const struct command command_resume = {
    .name = "resume", .summary = "answer a run's question, go on", .run = resume_command};
