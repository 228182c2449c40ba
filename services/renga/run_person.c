/* The questions of a run, asked at a terminal. A line that is JSON is sent as it stands and, if the question refuses
 * it, as text; any other line is text. */
#include "orchestrator_client.h"
#include "prompt_line.h"

#include "json/json.h"
#include "json/writer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_PERSON_LINE_MAX ((size_t)256 << 10) /* bytes */
#define RUN_PERSON_PROMPT   "> "
#define RUN_PERSON_FIELD    "answer_json: " /* before the reason why an answer is refused */

struct run_person {
    struct orchestrator_client *client;
    const char *run_id;
    int64_t last_event_id;
    char interrupt_id[65];
    bool resumed; /* the last answer was taken */
};

/* ---- the question ------------------------------------------------------------------------------------------------ */

static const Renga__V1__Interrupt *run_person_question(const Renga__V1__Run *run)
{
    bool waits = run->state == RENGA__V1__RUN_STATE__RUN_STATE_WAITING;
    for (size_t i = 0; waits && i < run->n_interrupts; i++)
        if (run->interrupts[i]->kind == RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_QUESTION)
            return run->interrupts[i];
    return NULL;
}

static void run_person_run_received(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    struct run_person *person = data;
    const Renga__V1__Run *run = ((const Renga__V1__GetRunResponse *)message)->run;
    const Renga__V1__Interrupt *question = run_person_question(run);
    if (!question) {
        view_next_command(client, run);
        return;
    }
    snprintf(person->interrupt_id, sizeof person->interrupt_id, "%s", question->interrupt_id);
    printf("%s", colour(client, BOLD));
    show_text(question->question);
    printf("%s%s", colour(client, PLAIN), *question->question ? "\n" : "");
    if (*question->payload_json)
        show_json(client, question->payload_json);
}

/* False if the run waits for something else than an answer. */
static bool run_person_show_question(struct run_person *person)
{
    Renga__V1__GetRunRequest request = RENGA__V1__GET_RUN_REQUEST__INIT;
    request.run_id = (char *)(uintptr_t)person->run_id;
    *person->interrupt_id = '\0';
    return orchestrator_client_call_soon(person->client, "GetRun", &request.base, run_person_run_received, person) &&
           *person->interrupt_id;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void run_person_resumed(struct orchestrator_client *client, const ProtobufCMessage *message, void *data)
{
    (void)client;
    struct run_person *person = data;
    person->last_event_id = ((const Renga__V1__ResumeRunResponse *)message)->run->last_event_id;
    person->resumed = true;
}

static bool run_person_send(struct run_person *person, const char *json)
{
    Renga__V1__InterruptAnswer answer = RENGA__V1__INTERRUPT_ANSWER__INIT, *list[] = {&answer};
    Renga__V1__ResumeRunRequest request = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    int64_t timeout_ms = config_duration_ms(person->client->config, "timeout");
    answer.interrupt_id = person->interrupt_id;
    answer.answer_json = (char *)(uintptr_t)json;
    request.run_id = (char *)(uintptr_t)person->run_id;
    request.answers = list;
    request.n_answers = 1;
    return orchestrator_client_try(person->client, "ResumeRun", &request.base, timeout_ms, run_person_resumed, person);
}

static bool run_person_send_text(struct run_person *person, const char *line)
{
    struct buffer json;
    struct json_writer out;
    buffer_init(&json, SIZE_MAX);
    json_writer_init(&out, &json);
    json_write_string(&out, NULL, line);
    bool sent = run_person_send(person, buffer_text(&json));
    buffer_fini(&json);
    return sent;
}

/* Sends a line; the status of the client says why it is refused. */
static bool run_person_answer(struct run_person *person, const char *line)
{
    struct status st = {0};
    cJSON *tree = json_parse(line, strlen(line), NULL, &st);
    bool is_json = tree != NULL, is_text = !tree || !cJSON_IsString(tree);
    cJSON_Delete(tree);
    if (is_json && run_person_send(person, line))
        return true;
    struct status refused = person->client->status;
    if (is_json && (refused.code != INVALID_ARGUMENT || !is_text))
        return false;
    if (run_person_send_text(person, line))
        return true;
    if (is_json && person->client->status.code == INVALID_ARGUMENT)
        person->client->status = refused;
    return false;
}

static void run_person_report(const struct run_person *person)
{
    const struct status *status = &person->client->status;
    size_t field = strlen(RUN_PERSON_FIELD);
    bool refused = strncmp(status->text, RUN_PERSON_FIELD, field) == 0;
    fprintf(stderr, "%s: ", person->client->command);
    show_text_on(stderr, status->text + (refused ? field : 0));
    fputc('\n', stderr);
}

static char *run_person_trim(struct buffer *line)
{
    while (line->length && isspace((unsigned char)line->data[line->length - 1]))
        line->length--;
    const char *text = buffer_text(line);
    return command_text(text + strspn(text, " \t"));
}

/* Asks until an answer is taken. False: the person leaves, or the orchestrator cannot take any answer now. */
static bool run_person_ask(struct run_person *person)
{
    struct buffer line;
    enum prompt_line read = PROMPT_LINE;
    bool can_take = true;
    if (!run_person_show_question(person))
        return false;
    person->resumed = false;
    buffer_init(&line, RUN_PERSON_LINE_MAX + 1);
    while (!person->resumed && can_take) {
        read = prompt_line_read(RUN_PERSON_PROMPT, &line, RUN_PERSON_LINE_MAX);
        if (read == PROMPT_ENDED || read == PROMPT_INTERRUPTED)
            break;
        char *text = read == PROMPT_LINE ? run_person_trim(&line) : command_text("");
        if (!*text || run_person_answer(person, text))
            continue;
        run_person_report(person);
        can_take = person->client->status.code == INVALID_ARGUMENT;
    }
    buffer_fini(&line);
    if (!person->resumed && can_take)
        printf("\n%sthe run %s waits; go on with: renga resume %s%s\n", colour(person->client, DIM), person->run_id,
               person->run_id, colour(person->client, PLAIN));
    return person->resumed;
}

int view_run_with_person(struct orchestrator_client *client, const char *run_id, int64_t after_event_id)
{
    struct run_person person = {.client = client, .run_id = run_id, .last_event_id = after_event_id};
    bool quiet = config_boolean(client->config, "quiet") || (!client->terminal && !client->json);
    int code = COMMAND_WAITS;
    client->asks = client->terminal && !quiet && isatty(STDIN_FILENO);
    do
        code = view_run(client, run_id, person.last_event_id, false, quiet, true);
    while (code == COMMAND_WAITS && client->asks && run_person_ask(&person));
    return code;
}
