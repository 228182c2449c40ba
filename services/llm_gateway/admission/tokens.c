/* Estimates a request's tokens before a provider counts them. */
#include "admission/tokens.h"

#include <string.h>

/* Tokens that the format adds, as OpenAI counts them; other providers are near. */
#define MESSAGE_TOKENS 4 /* its beginning, its role, its end */
#define NAME_TOKENS    1
#define CALL_TOKENS    8  /* of a tool call, beside its name and arguments */
#define TOOL_TOKENS    10 /* of a tool on offer, beside its name, description and schema */
#define SCHEMA_TOKENS  10
#define REPLY_TOKENS   3 /* each answer is begun for the model */

static int64_t tokens_of(const char *text)
{
    return tokens_of_text(text, strlen(text));
}

static int64_t tokens_of_turn(const Renga__V1__ChatMessage *turn)
{
    int64_t tokens = MESSAGE_TOKENS + tokens_of(turn->content) + tokens_of(turn->refusal) + tokens_of(turn->reasoning);
    if (turn->name[0])
        tokens += NAME_TOKENS + tokens_of(turn->name);
    for (size_t i = 0; i < turn->n_tool_calls; i++)
        tokens += CALL_TOKENS + tokens_of(turn->tool_calls[i]->name) + tokens_of(turn->tool_calls[i]->arguments_json);
    return tokens;
}

static int64_t tokens_of_tool(const Renga__V1__ToolDefinition *tool)
{
    return TOOL_TOKENS + tokens_of(tool->name) + tokens_of(tool->description) + tokens_of(tool->parameters_json);
}

int64_t tokens_of_chat(const Renga__V1__ChatRequest *request)
{
    int64_t tokens = REPLY_TOKENS;
    for (size_t i = 0; i < request->n_messages; i++)
        tokens += tokens_of_turn(request->messages[i]);
    for (size_t i = 0; i < request->n_tools; i++)
        tokens += tokens_of_tool(request->tools[i]);
    if (request->response_format && request->response_format->schema_json[0])
        tokens += SCHEMA_TOKENS + tokens_of(request->response_format->schema_json);
    return tokens;
}

int64_t tokens_of_embed(const Renga__V1__EmbedRequest *request)
{
    int64_t tokens = 0;
    for (size_t i = 0; i < request->n_inputs; i++)
        tokens += tokens_of(request->inputs[i]);
    return tokens;
}
