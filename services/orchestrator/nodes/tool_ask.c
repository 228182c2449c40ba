#include "tool_ask.h"

#include "base/text.h"
#include "json/json.h"

#include <string.h>

#define QUESTION_MAX  ((size_t)65536) /* bytes, as NodeInterrupt.question */
#define UNCONST(text) ((char *)(uintptr_t)(text))

static const char schema[] = "{\"type\": \"object\", \"properties\": {\"question\": {\"type\": \"string\", "
                             "\"description\": \"The question, as the person is to read it.\"}}, "
                             "\"required\": [\"question\"], \"additionalProperties\": false}";

static bool tool_ask_no_memory(struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "the questions take more memory than an attempt may have");
}

Renga__V1__ToolDefinition *tool_ask_definition(struct arena *arena, const char *when)
{
    Renga__V1__ToolDefinition *definition = arena_alloc(arena, sizeof *definition);
    if (!definition)
        return NULL;
    renga__v1__tool_definition__init(definition);
    definition->name = UNCONST(TOOL_ASK_NAME);
    definition->description = UNCONST(when);
    definition->parameters_json = UNCONST(schema);
    return definition;
}

bool tool_ask_is(const Renga__V1__ToolCall *call)
{
    return strcmp(call->name, TOOL_ASK_NAME) == 0;
}

/* NULL if the model has not kept to the schema. */
static char *tool_ask_question_of(const Renga__V1__ToolCall *call, struct arena *arena)
{
    struct status ignored = {0};
    cJSON *arguments = json_parse(call->arguments_json, strlen(call->arguments_json), NULL, &ignored);
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(arguments, "question"));
    char *question = text && *text ? arena_strndup(arena, text, text_cut(text, strlen(text), QUESTION_MAX)) : NULL;
    cJSON_Delete(arguments);
    return question;
}

static const char *answer_to(const char *key, const Renga__V1__RunNodeRequest *told)
{
    for (size_t i = 0; i < told->n_answers; i++)
        if (strcmp(told->answers[i]->key, key) == 0)
            return told->answers[i]->answer_json;
    return NULL;
}

/* A string as it is, any other value as JSON. */
static const char *as_text(const char *json, struct arena *arena)
{
    struct status ignored = {0};
    cJSON *value = json_parse(json, strlen(json), NULL, &ignored);
    const char *text = cJSON_GetStringValue(value);
    char *copy = arena_strdup(arena, text ? text : json);
    cJSON_Delete(value);
    return copy;
}

static Renga__V1__ChatMessage *turn_of(const Renga__V1__ToolCall *call, const char *content, bool failed,
                                       struct arena *arena)
{
    Renga__V1__ChatMessage *turn = content ? arena_alloc(arena, sizeof *turn) : NULL;
    if (!turn)
        return NULL;
    renga__v1__chat_message__init(turn);
    turn->role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL;
    turn->tool_call_id = call->id;
    turn->content = UNCONST(content);
    turn->tool_failed = failed;
    return turn;
}

static bool add_question(struct tool_asks *asks, char *key, char *text, struct arena *arena, struct status *st)
{
    Renga__V1__NodeInterrupt *question = arena_alloc(arena, sizeof *question);
    if (!question)
        return tool_ask_no_memory(st);
    renga__v1__node_interrupt__init(question);
    question->key = key;
    question->question = text;
    asks->questions[asks->count++] = question;
    asks->open = true;
    return true;
}

bool tool_ask(struct tool_asks *asks, const Renga__V1__ToolCall *call, size_t index,
              const Renga__V1__RunNodeRequest *told, struct arena *arena, Renga__V1__ChatMessage **turn,
              struct status *st)
{
    char *key = arena_printf(arena, "%s%zu", TOOL_ASK_NAME, index), *text = tool_ask_question_of(call, arena);
    const char *answer = key ? answer_to(key, told) : NULL;
    *turn = NULL;
    if (!key)
        return tool_ask_no_memory(st);
    if (!text)
        *turn = turn_of(call, "INVALID_ARGUMENT: the arguments must be {\"question\": \"…\"}", true, arena);
    else if (++asks->met > TOOL_ASKS_MAX)
        *turn =
            turn_of(call, "RESOURCE_EXHAUSTED: too many questions at once; ask the most important ones", true, arena);
    else if (!answer)
        return add_question(asks, key, text, arena, st);
    else
        *turn = turn_of(call, as_text(answer, arena), false, arena);
    return *turn || tool_ask_no_memory(st);
}
