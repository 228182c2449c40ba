/* The extractive provider asked as the gateway asks it: a conversation in, an answer out. */
#ifndef RENGA_UNIT_EXTRACT_FIXTURE_H
#define RENGA_UNIT_EXTRACT_FIXTURE_H

#include "answer/answer.h"
#include "provider/provider.h"
#include "json/json.h"

#include "unit.h"

#define TURNS_MAX 16
#define TOOLS_MAX 8

struct asking {
    struct arena arena;
    Renga__V1__ChatRequest request;
    Renga__V1__ChatMessage turns[TURNS_MAX], *turn_list[TURNS_MAX];
    Renga__V1__ToolDefinition tools[TOOLS_MAX], *tool_list[TOOLS_MAX];
    Renga__V1__ToolChoice choice;
    Renga__V1__ResponseFormat format;
    struct answer answer;
    struct failure failure;
    int64_t least_confidence; /* percent */
};

static inline void asking_init(struct asking *asking)
{
    memset(asking, 0, sizeof *asking);
    asking->least_confidence = 50;
    arena_init(&asking->arena, NULL, 0, (size_t)64 << 20);
    renga__v1__chat_request__init(&asking->request);
    asking->request.messages = asking->turn_list;
    asking->request.tools = asking->tool_list;
}

static inline void asking_fini(struct asking *asking)
{
    arena_fini(&asking->arena);
}

static inline Renga__V1__ChatMessage *say_as(struct asking *asking, Renga__V1__ChatRole role, const char *content)
{
    size_t index = asking->request.n_messages++;
    Renga__V1__ChatMessage *turn = asking->turn_list[index] = &asking->turns[index];
    renga__v1__chat_message__init(turn);
    turn->role = role;
    turn->content = arena_strdup(&asking->arena, content);
    return turn;
}

static inline void user_says(struct asking *asking, const char *content)
{
    say_as(asking, RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER, content);
}

static inline void tool_says(struct asking *asking, const char *content)
{
    say_as(asking, RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT, "");
    say_as(asking, RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL, content);
}

static inline void offer(struct asking *asking, const char *name, const char *description, const char *parameters)
{
    size_t index = asking->request.n_tools++;
    Renga__V1__ToolDefinition *tool = asking->tool_list[index] = &asking->tools[index];
    renga__v1__tool_definition__init(tool);
    tool->name = (char *)(uintptr_t)name;
    tool->description = (char *)(uintptr_t)description;
    tool->parameters_json = (char *)(uintptr_t)parameters;
}

static inline void choose_tools(struct asking *asking, Renga__V1__ToolChoiceMode mode, const char *name)
{
    renga__v1__tool_choice__init(&asking->choice);
    asking->choice.mode = mode;
    asking->choice.name = (char *)(uintptr_t)name;
    asking->request.tool_choice = &asking->choice;
}

static inline void want_json(struct asking *asking, const char *schema)
{
    renga__v1__response_format__init(&asking->format);
    asking->format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    asking->format.name = (char *)(uintptr_t) "form";
    asking->format.schema_json = (char *)(uintptr_t)schema;
    asking->request.response_format = &asking->format;
}

/* The text of the answer; NULL where it failed. */
static inline const char *answer_of(struct asking *asking)
{
    struct status st = {0};
    Renga__V1__ChatFinish finish = RENGA__V1__CHAT_FINISH__INIT;
    const struct chat_question question = {
        .request = &asking->request, .model = "extractive", .least_confidence = asking->least_confidence};
    answer_init(&asking->answer, &asking->arena, &asking->request);
    asking->answer.keeps_content = asking->answer.keeps_rest = true;
    assert_true(answer_expect(&asking->answer, &st));
    asking->failure = (struct failure){0};
    if (!extractive_provider.answer_chat(&question, &asking->answer, &asking->failure))
        return NULL;
    assert_true(answer_finish(&asking->answer, &finish, &asking->failure));
    const struct answer_text *text = &asking->answer.parts[ANSWER_TEXT];
    return text->bytes ? text->bytes : "";
}

#endif
