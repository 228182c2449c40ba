/* Asks a person, and writes the answer into a field. */
#include "graph/agents.h"
#include "graph/node_kind.h"

#include "json/schema.h"
#include "json/writer.h"

#include <string.h>

#define ASK_QUESTION_MAX ((size_t)64 << 10)  /* bytes, as NodeInterrupt.question */
#define ASK_PAYLOAD_MAX  ((size_t)256 << 10) /* bytes, as NodeInterrupt.payload_json */
#define ASK_SCHEMA_MAX   ((size_t)64 << 10)  /* bytes, as NodeInterrupt.answer_schema_json */
#define ANSWER_MAX       ((size_t)1 << 20)   /* bytes of an answer and its field */
#define ASK_KEY          "answer"
#define SCHEMA_MEMORY    ((size_t)8 << 20) /* to try it */

enum { ASK_QUESTION, ASK_PAYLOAD, ASK_SCHEMA, ASK_INTO };

static const struct node_parameter parameters[] = {
    [ASK_QUESTION] = {"question", PARAMETER_TEXT, OPTIONAL, "The question, in words."},
    [ASK_PAYLOAD] = {"payload", PARAMETER_JSON, OPTIONAL, "Whatever a client needs to ask it."},
    [ASK_SCHEMA] = {"schema", PARAMETER_JSON, OPTIONAL,
                    "What an answer has to look like: a JSON Schema. Unset: any value that the field takes."},
    [ASK_INTO] = {"into", PARAMETER_FIELD, REQUIRED, "The field of the answer."},
    {.name = NULL},
};
static const char *const outcomes[] = {"answered", NULL};

static bool ask_check_size(const struct node *node, size_t row, size_t most, struct status *st)
{
    const char *text = node_argument(node, row)->text;
    return !text || strlen(text) <= most ||
           fail_field(st, parameters[row].name, "has %zu bytes; at most %zu are allowed", strlen(text), most);
}

static bool check_schema(const char *text, struct status *st)
{
    struct arena arena;
    struct status why = {0};
    cJSON *tree = json_parse(text, strlen(text), NULL, st);
    if (!tree)
        return false;
    arena_init(&arena, NULL, 0, SCHEMA_MEMORY);
    bool good = json_schema_compile(&arena, tree, JSON_SCHEMA_PLAIN, &why) != NULL;
    arena_fini(&arena);
    cJSON_Delete(tree);
    return good || fail_field(st, "schema", "is no JSON Schema that answers can be held to: %s", why.text);
}

static bool ask_check(const struct node *node, struct status *st)
{
    const char *question = node_argument(node, ASK_QUESTION)->text, *schema = node_argument(node, ASK_SCHEMA)->text;
    if ((!question || !*question) && !node_argument(node, ASK_PAYLOAD)->text)
        return fail(st, INVALID_ARGUMENT, "asks nothing; give it a \"question\" or a \"payload\"");
    return ask_check_size(node, ASK_QUESTION, ASK_QUESTION_MAX, st) &&
           ask_check_size(node, ASK_PAYLOAD, ASK_PAYLOAD_MAX, st) &&
           ask_check_size(node, ASK_SCHEMA, ASK_SCHEMA_MAX, st) && (!schema || check_schema(schema, st));
}

static char *ask_text_of(const struct node *node, size_t row)
{
    const char *text = node_argument(node, row)->text;
    return (char *)(uintptr_t)(text ? text : "");
}

/* Without a schema of its own, an answer is held to the field: a wrong one is refused, and does not fail the run. */
static const char *ask_schema(const struct node *node, struct buffer *made)
{
    const char *own = node_argument(node, ASK_SCHEMA)->text;
    const struct field *field = node_argument(node, ASK_INTO)->field;
    if (own || (field->type == FIELD_ANY && !field->list))
        return own ? own : "";
    field_write_schema(field, made);
    return made->failed ? "" : buffer_text(made);
}

static void ask_node_run(struct task *task)
{
    struct buffer schema;
    const struct node *node = task_node(task);
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    Renga__V1__NodeInterrupt question = RENGA__V1__NODE_INTERRUPT__INIT, *list[] = {&question};
    question.key = (char *)(uintptr_t)ASK_KEY;
    question.question = ask_text_of(node, ASK_QUESTION);
    question.payload_json = ask_text_of(node, ASK_PAYLOAD);
    buffer_init(&schema, ASK_SCHEMA_MAX);
    question.answer_schema_json = (char *)(uintptr_t)ask_schema(node, &schema);
    response.interrupts = list;
    response.n_interrupts = 1;
    task_finish(task, &response);
    buffer_fini(&schema);
}

static void ask_start(struct task *task)
{
    struct buffer update;
    struct json_writer out;
    const Renga__V1__RunNodeRequest *request = task_request(task);
    if (!request->n_answers) {
        ask_node_run(task);
        return;
    }
    const char *answer = request->answers[0]->answer_json;
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    buffer_init(&update, ANSWER_MAX);
    json_writer_init(&out, &update);
    json_write_object(&out, NULL);
    json_write_raw(&out, node_argument(task_node(task), ASK_INTO)->field->name, answer, strlen(answer));
    json_write_end(&out);
    response.outcome = (char *)(uintptr_t)outcomes[0];
    response.update_json = (char *)(uintptr_t)buffer_text(&update);
    task_finish(task, &response);
    buffer_fini(&update);
}

extern const struct node_kind ask_kind;
const struct node_kind ask_kind = {
    .name = "ask",
    .help = "Asks a person, and waits for the answer.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = ask_check,
    .start = ask_start,
    .is_pure = true,
};
