/* services/llm_gateway/extractive: the provider that answers in the gateway's own loop. */
#include "readers.h"

#include "answer/answer.h"
#include "extractive/extract.h"

/* A user's turn, then, if `found` is not NULL, the findings of a tool. */
static void extractive_ask(struct input *in, const char *said, const char *found, const char *schema,
                           const Renga__V1__ToolDefinition *offered)
{
    Renga__V1__ChatRequest request = RENGA__V1__CHAT_REQUEST__INIT;
    Renga__V1__ChatMessage user = RENGA__V1__CHAT_MESSAGE__INIT, tool = RENGA__V1__CHAT_MESSAGE__INIT;
    Renga__V1__ResponseFormat format = RENGA__V1__RESPONSE_FORMAT__INIT;
    Renga__V1__ChatMessage *turns[] = {&user, &tool};
    Renga__V1__ToolDefinition *tools[] = {(Renga__V1__ToolDefinition *)(uintptr_t)offered};
    struct chat_question question = {.request = &request, .least_confidence = 50};
    struct failure failure = {0};
    struct answer answer;
    user.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    user.content = (char *)(uintptr_t)said;
    tool.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL;
    tool.content = (char *)(uintptr_t)found;
    request.messages = turns;
    request.n_messages = found ? 2 : 1;
    request.tools = tools;
    request.n_tools = offered ? 1 : 0;
    format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    format.schema_json = (char *)(uintptr_t)schema;
    request.response_format = schema ? &format : NULL;
    answer_init(&answer, &in->arena, &request);
    answer.keeps_content = answer.keeps_rest = true;
    extractive_provider.answer_chat(&question, &answer, &failure);
}

static void answer_from(struct input *in)
{
    extractive_ask(in, "Which port is open, and is it there?", in->text, NULL, NULL);
}

static void extractive_answer_to(struct input *in)
{
    extractive_ask(in, in->text, "[1] a.md:1-2 (0.62) | A\nThe port 15000 is open.", NULL, NULL);
}

/* A question; the row's schema tells its kind. */
static void ask_by_schema(struct input *in)
{
    extractive_ask(in, in->text, NULL, in->with, NULL);
}

static void split_in_japanese(struct input *in)
{
    struct text parts[EXTRACT_PARTS_MAX];
    size_t most = in->length < EXTRACT_ASKED_MAX ? in->length : EXTRACT_ASKED_MAX;
    extract_split(&in->arena, (struct text){in->text, most}, true, EXTRACT_PARTS_MAX, parts);
    extract_split(&in->arena, (struct text){in->text, most}, false, EXTRACT_PARTS_MAX, parts);
}

/* The text as passage and as question, beside a question with slips. */
static void mend_slips(struct input *in)
{
    static const char question[] = "Which messagess are refussed, who is Mariion, and was the flixht booked?";
    const struct passage passage = {.text = in->text, .length = in->length};
    size_t most = in->length < EXTRACT_ASKED_MAX ? in->length : EXTRACT_ASKED_MAX;
    extract_spelled(&in->arena, &passage, 1, (struct text){question, sizeof question - 1});
    extract_spelled(&in->arena, &passage, 1, (struct text){in->text, most});
}

static void extractive_judge(struct input *in)
{
    static const char schema[] = "{\"properties\":{\"is_completed\":{},\"advice\":{}}}";
    buffer_printf(&in->out, "<question>Which port?</question><results>%s</results><answer>%s</answer>", in->text,
                  in->text);
    extractive_ask(in, buffer_text(&in->out), NULL, schema, NULL);
}

/* Subtasks that were worked on. */
static void answer_from_results(struct input *in)
{
    buffer_printf(&in->out, "<question>Which port?</question><results>%s</results>", in->text);
    extractive_ask(in, buffer_text(&in->out), NULL, NULL, NULL);
}

static void read_schema(struct input *in)
{
    extractive_ask(in, "Which port?", NULL, in->text, NULL);
}

static void call_tool(struct input *in)
{
    Renga__V1__ToolDefinition tool = RENGA__V1__TOOL_DEFINITION__INIT;
    tool.name = tool.description = (char *)(uintptr_t) "port";
    tool.parameters_json = (char *)(uintptr_t)in->text;
    extractive_ask(in, "Which port?", NULL, NULL, &tool);
}

static const struct generator schemas_of_tools[] = {
    {"parameters that are required", .begin = "{\"properties\":{\"\":{\"type\":\"boolean\"}",
     .unit = ",\"a\1\":{\"type\":\"boolean\"}", .middle = "},\"required\":[\"\"", .close = ",\"a\1\"", .end = "]}"},
    {"values that are listed", .begin = "{\"properties\":{\"a\":{\"type\":\"string\",\"enum\":[\"\"",
     .unit = ",\"a\1\"", .end = "]}},\"required\":[\"a\"]}"},
    {.name = NULL},
};

static const struct generator results_of_subtasks[] = {
    {"results", .begin = "[{\"subtask\":\"a\",\"answer\":\"b\",\"is_completed\":true}",
     .unit = ",{\"subtask\":\"a\",\"answer\":\"port \1\",\"is_completed\":true}", .end = "]"},
    {.name = NULL},
};

static const struct generator near_words[] = {
    {"words that are near", .unit = "messages flight refused "},
    {"sentences with a near word", .unit = "Messages are refused. "},
    {"slips of each other", .unit = "messagex messagey\1 "},
    {.name = NULL},
};

static const struct generator clauses_of_languages[] = {
    {"German clauses", .begin = "Wann fährt der Zug", .unit = " und wo hält er"},
    {"French clauses", .begin = "Quand part le train", .unit = " et où est-ce qu'il arrive"},
    {"Spanish clauses", .begin = "Cuándo sale el tren", .unit = " y dónde para"},
    {"German choices", .begin = "Was ist größer, Frankfurt an der Oder", .unit = " oder Frankfurt an der Oder"},
    {"Chinese comparisons", .begin = "面积更大的是哪个", .unit = "，甲和乙哪个更大"},
    {"Korean comparisons", .begin = "어느 쪽이 더 큽니까", .unit = ", 가와 나 중에 어느 쪽이 더 큽니까"},
    {.name = NULL},
};

#define SPLIT   "{\"properties\":{\"subtasks\":{\"maxItems\":10}}}"
#define QUERIES "{\"properties\":{\"queries\":{}}}"

const struct reader readers_extractive[] = {
    {"answer from what was found", answer_from, .sets = HOSTILE_TEXT},
    {"answer to a question", extractive_answer_to, .sets = HOSTILE_TEXT},
    {"question of several parts", ask_by_schema, .sets = HOSTILE_TEXT, .with = SPLIT},
    {"question of several parts in Japanese", split_in_japanese, .sets = HOSTILE_TEXT},
    {"question of several parts in other languages", ask_by_schema, .own = clauses_of_languages, .with = SPLIT},
    {"slips", mend_slips, .sets = HOSTILE_TEXT, .own = near_words},
    {"judgement", extractive_judge, .sets = HOSTILE_TEXT},
    {"queries", ask_by_schema, .sets = HOSTILE_TEXT, .with = QUERIES},
    {"answer from results of subtasks", answer_from_results, .sets = HOSTILE_JSON, .own = results_of_subtasks},
    {"schema of an answer", read_schema, .sets = HOSTILE_JSON},
    {"schema of a tool", call_tool, .sets = HOSTILE_JSON, .own = schemas_of_tools},
    {.name = NULL},
};
