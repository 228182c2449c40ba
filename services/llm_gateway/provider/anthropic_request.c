/* ChatRequest as the body of POST /v1/messages: https://docs.anthropic.com/en/api/messages */
#include "anthropic_priv.h"

#include <string.h>

#define BUDGET_MIN 1024 /* tokens of thinking; the API takes no less */

static bool anthropic_request_takes(const struct chat_question *question, enum parameter parameter)
{
    return !(question->capability.refused_parameters & PARAMETER_BIT(parameter));
}

/* ---- thinking ---------------------------------------------------------------------------------------------------- */

/* With tool results, the API requires the assistant's own thinking with its signature. If the thinking was not
 * stored, or another provider called the tools, thinking is switched off. */
static bool may_think(const Renga__V1__ChatRequest *request)
{
    const Renga__V1__ChatMessage *last = request->messages[request->n_messages - 1];
    if (last->role != RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL)
        return true;
    for (size_t i = request->n_messages; i-- > 0;)
        if (request->messages[i]->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT)
            return request->messages[i]->reasoning_signature[0] != '\0';
    return true;
}

/* A tool cannot be forced on a model that thinks. */
static bool forces_tool(const Renga__V1__ChatRequest *request)
{
    return request->n_tools && request->tool_choice &&
           request->tool_choice->mode >= RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_REQUIRED;
}

static bool thinks(const struct chat_question *question)
{
    const Renga__V1__ChatRequest *request = question->request;
    return request->reasoning_effort > RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_NONE &&
           anthropic_request_takes(question, PARAMETER_EFFORT) && may_think(request) && !forces_tool(request) &&
           (question->capability.adaptive_thinking || !request->max_output_tokens ||
            request->max_output_tokens > BUDGET_MIN);
}

static const struct {
    const char *word;
    int64_t budget; /* tokens */
} efforts[] = {
    [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_MINIMAL] = {"low", BUDGET_MIN},
    [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_LOW] = {"low", 2048},
    [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_MEDIUM] = {"medium", 8192},
    [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_HIGH] = {"high", 16384},
};

/* The limit is one for thinking and answer together: without one of the caller's the answer keeps its own. */
static void write_limits(const struct chat_question *question, struct json_writer *writer)
{
    const Renga__V1__ChatRequest *request = question->request;
    int64_t limit = request->max_output_tokens ? request->max_output_tokens : question->output_tokens;
    if (!thinks(question)) {
        json_write_int(writer, "max_tokens", limit);
        return;
    }
    int64_t budget = efforts[request->reasoning_effort].budget;
    if (!request->max_output_tokens)
        limit += budget;
    if (budget >= limit)
        budget = limit - 1 > BUDGET_MIN ? limit - 1 : BUDGET_MIN;
    json_write_int(writer, "max_tokens", limit);
    json_write_object(writer, "thinking");
    json_write_string(writer, "type", question->capability.adaptive_thinking ? "adaptive" : "enabled");
    if (!question->capability.adaptive_thinking)
        json_write_int(writer, "budget_tokens", budget);
    json_write_end(writer);
}

/* ---- how to answer ----------------------------------------------------------------------------------------------- */

/* A model that thinks takes no other temperature than 1; temperatures end at 1 here. */
static void anthropic_request_write_sampling(const struct chat_question *question, struct json_writer *writer)
{
    const Renga__V1__Sampling *sampling = question->request->sampling;
    if (!sampling || thinks(question))
        return;
    if (sampling->maybe_temperature_case && anthropic_request_takes(question, PARAMETER_TEMPERATURE))
        json_write_double(writer, "temperature", sampling->temperature < 1 ? sampling->temperature : 1);
    if (sampling->maybe_top_p_case && anthropic_request_takes(question, PARAMETER_TOP_P))
        json_write_double(writer, "top_p", sampling->top_p);
}

static void anthropic_request_write_stops(const Renga__V1__ChatRequest *request, struct json_writer *writer)
{
    if (!request->n_stop)
        return;
    json_write_strings(writer, "stop_sequences", request->stop, request->n_stop);
}

/* This API has no format for "any JSON object"; the gateway checks the answer in any case. */
static void write_output(const struct chat_question *question, struct json_writer *writer)
{
    const Renga__V1__ChatRequest *request = question->request;
    const Renga__V1__ResponseFormat *format = request->response_format;
    bool schema = format && format->kind == RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    bool effort = thinks(question) && question->capability.adaptive_thinking;
    if (!schema && !effort)
        return;
    json_write_object(writer, "output_config");
    if (effort)
        json_write_string(writer, "effort", efforts[request->reasoning_effort].word);
    if (schema) {
        json_write_object(writer, "format");
        json_write_string(writer, "type", "json_schema");
        json_write_raw(writer, "schema", format->schema_json, strlen(format->schema_json));
        json_write_end(writer);
    }
    json_write_end(writer);
}

/* ---- tools ------------------------------------------------------------------------------------------------------- */

static const char *const choices[] = {
    [RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_UNSPECIFIED] = "auto",
    [RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_AUTO] = "auto",
    [RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NONE] = "none",
    [RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_REQUIRED] = "any",
    [RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NAMED] = "tool",
};

static void anthropic_request_write_tools(const Renga__V1__ChatRequest *request, struct json_writer *writer)
{
    if (!request->n_tools)
        return;
    json_write_array(writer, "tools");
    for (size_t i = 0; i < request->n_tools; i++) {
        const Renga__V1__ToolDefinition *tool = request->tools[i];
        static const char nothing[] = "{\"type\":\"object\",\"properties\":{}}";
        const char *schema = tool->parameters_json[0] ? tool->parameters_json : nothing;
        json_write_object(writer, NULL);
        json_write_string(writer, "name", tool->name);
        if (tool->description[0])
            json_write_string(writer, "description", tool->description);
        json_write_raw(writer, "input_schema", schema, strlen(schema));
        if (tool->strict)
            json_write_bool(writer, "strict", true);
        json_write_end(writer);
    }
    json_write_end(writer);
    Renga__V1__ToolChoiceMode mode = request->tool_choice ? request->tool_choice->mode : 0;
    bool one_at_most = request->maybe_parallel_tool_calls_case && !request->parallel_tool_calls;
    if (!mode && !one_at_most)
        return;
    json_write_object(writer, "tool_choice");
    json_write_string(writer, "type", choices[mode]);
    if (mode == RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NAMED)
        json_write_string(writer, "name", request->tool_choice->name);
    if (one_at_most && mode != RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NONE)
        json_write_bool(writer, "disable_parallel_tool_use", true);
    json_write_end(writer);
}

void anthropic_write_chat(const struct chat_question *question, struct json_writer *writer)
{
    const Renga__V1__ChatRequest *request = question->request;
    json_write_object(writer, NULL);
    json_write_string(writer, "model", question->model);
    write_limits(question, writer);
    anthropic_write_conversation(request, thinks(question), writer);
    anthropic_request_write_sampling(question, writer);
    anthropic_request_write_stops(request, writer);
    anthropic_request_write_tools(request, writer);
    write_output(question, writer);
    if (question->stream)
        json_write_bool(writer, "stream", true);
    json_write_end(writer);
}
