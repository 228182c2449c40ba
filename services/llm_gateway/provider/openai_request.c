/* ChatRequest as the body of POST /chat/completions: https://platform.openai.com/docs/api-reference/chat/create */
#include "openai_priv.h"

#include <string.h>

static const char *const roles[] = {
    [RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM] = "system",
    [RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER] = "user",
    [RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT] = "assistant",
    [RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL] = "tool",
};

static const char *const efforts[] = {
    [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_NONE] = "none",
    [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_MINIMAL] = "minimal",
    [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_LOW] = "low",
    [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_MEDIUM] = "medium",
    [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_HIGH] = "high",
};

static const char *const choices[] = {
    [RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_AUTO] = "auto",
    [RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NONE] = "none",
    [RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_REQUIRED] = "required",
};

static void write_if_any(struct json_writer *writer, const char *key, const char *text)
{
    if (text[0])
        json_write_string(writer, key, text);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

void openai_write_tool_calls(const Renga__V1__ChatMessage *message, struct json_writer *writer)
{
    json_write_array(writer, "tool_calls");
    for (size_t i = 0; i < message->n_tool_calls; i++) {
        const Renga__V1__ToolCall *call = message->tool_calls[i];
        json_write_object(writer, NULL);
        json_write_string(writer, "id", call->id);
        json_write_string(writer, "type", "function");
        json_write_object(writer, "function");
        json_write_string(writer, "name", call->name);
        json_write_string(writer, "arguments", call->arguments_json[0] ? call->arguments_json : "{}");
        json_write_end(writer);
        json_write_end(writer);
    }
    json_write_end(writer);
}

/* ---- how to answer ----------------------------------------------------------------------------------------------- */

static void openai_request_write_sampling(const struct chat_question *question, struct json_writer *writer)
{
    const Renga__V1__Sampling *sampling = question->request->sampling;
    uint32_t refused_parameters = question->capability.refused_parameters;
    if (!sampling)
        return;
    if (sampling->maybe_temperature_case && !(refused_parameters & PARAMETER_BIT(PARAMETER_TEMPERATURE)))
        json_write_double(writer, "temperature", sampling->temperature);
    if (sampling->maybe_top_p_case && !(refused_parameters & PARAMETER_BIT(PARAMETER_TOP_P)))
        json_write_double(writer, "top_p", sampling->top_p);
    if (sampling->maybe_seed_case && !(refused_parameters & PARAMETER_BIT(PARAMETER_SEED)))
        json_write_int(writer, "seed", sampling->seed);
    if (sampling->maybe_frequency_penalty_case && !(refused_parameters & PARAMETER_BIT(PARAMETER_FREQUENCY_PENALTY)))
        json_write_double(writer, "frequency_penalty", sampling->frequency_penalty);
    if (sampling->maybe_presence_penalty_case && !(refused_parameters & PARAMETER_BIT(PARAMETER_PRESENCE_PENALTY)))
        json_write_double(writer, "presence_penalty", sampling->presence_penalty);
}

static void openai_request_write_stops(const Renga__V1__ChatRequest *request, struct json_writer *writer)
{
    if (!request->n_stop)
        return;
    json_write_strings(writer, "stop", request->stop, request->n_stop);
}

static void openai_request_write_format(const Renga__V1__ResponseFormat *format, struct json_writer *writer)
{
    if (!format || format->kind < RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_OBJECT)
        return;
    json_write_object(writer, "response_format");
    if (format->kind == RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_OBJECT) {
        json_write_string(writer, "type", "json_object");
    } else {
        json_write_string(writer, "type", "json_schema");
        json_write_object(writer, "json_schema");
        json_write_string(writer, "name", format->name);
        write_if_any(writer, "description", format->description);
        json_write_raw(writer, "schema", format->schema_json, strlen(format->schema_json));
        json_write_bool(writer, "strict", format->strict);
        json_write_end(writer);
    }
    json_write_end(writer);
}

/* ---- tools ------------------------------------------------------------------------------------------------------- */

static void openai_request_write_tool_choice(const Renga__V1__ToolChoice *choice, struct json_writer *writer)
{
    if (!choice || choice->mode == RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_UNSPECIFIED)
        return;
    if (choice->mode != RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NAMED) {
        json_write_string(writer, "tool_choice", choices[choice->mode]);
        return;
    }
    json_write_object(writer, "tool_choice");
    json_write_string(writer, "type", "function");
    json_write_object(writer, "function");
    json_write_string(writer, "name", choice->name);
    json_write_end(writer);
    json_write_end(writer);
}

/* The API refuses tool_choice and parallel_tool_calls without tools. */
static void openai_request_write_tools(const struct chat_question *question, struct json_writer *writer)
{
    const Renga__V1__ChatRequest *request = question->request;
    if (!request->n_tools)
        return;
    json_write_array(writer, "tools");
    for (size_t i = 0; i < request->n_tools; i++) {
        const Renga__V1__ToolDefinition *tool = request->tools[i];
        json_write_object(writer, NULL);
        json_write_string(writer, "type", "function");
        json_write_object(writer, "function");
        json_write_string(writer, "name", tool->name);
        write_if_any(writer, "description", tool->description);
        if (tool->parameters_json[0])
            json_write_raw(writer, "parameters", tool->parameters_json, strlen(tool->parameters_json));
        if (tool->strict)
            json_write_bool(writer, "strict", true);
        json_write_end(writer);
        json_write_end(writer);
    }
    json_write_end(writer);
    openai_request_write_tool_choice(request->tool_choice, writer);
    if (request->maybe_parallel_tool_calls_case &&
        !(question->capability.refused_parameters & PARAMETER_BIT(PARAMETER_PARALLEL)))
        json_write_bool(writer, "parallel_tool_calls", request->parallel_tool_calls);
}

void openai_write_chat(const struct chat_question *question, struct json_writer *writer)
{
    const Renga__V1__ChatRequest *request = question->request;
    json_write_object(writer, NULL);
    json_write_string(writer, "model", question->model);
    json_write_array(writer, "messages");
    for (size_t i = 0; i < request->n_messages; i++) {
        /* The assistant's thinking stays here: the API has no field for it, and refuses fields it does not have. */
        const Renga__V1__ChatMessage *message = request->messages[i];
        json_write_object(writer, NULL);
        json_write_string(writer, "role", roles[message->role]);
        if (message->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL)
            json_write_string(writer, "tool_call_id", message->tool_call_id);
        else
            write_if_any(writer, "name", message->name);
        if (message->content[0] || message->role != RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT)
            json_write_string(writer, "content", message->content);
        else
            json_write_null(writer, "content");
        write_if_any(writer, "refusal", message->refusal);
        if (message->n_tool_calls)
            openai_write_tool_calls(message, writer);
        json_write_end(writer);
    }
    json_write_end(writer);
    openai_request_write_sampling(question, writer);
    if (request->max_output_tokens)
        json_write_int(writer, question->old_token_limit ? "max_tokens" : "max_completion_tokens",
                       request->max_output_tokens);
    openai_request_write_stops(request, writer);
    if (request->reasoning_effort && !(question->capability.refused_parameters & PARAMETER_BIT(PARAMETER_EFFORT)))
        json_write_string(writer, "reasoning_effort", efforts[request->reasoning_effort]);
    openai_request_write_tools(question, writer);
    openai_request_write_format(request->response_format, writer);
    if (question->stream) {
        json_write_bool(writer, "stream", true);
        json_write_object(writer, "stream_options");
        json_write_bool(writer, "include_usage", true);
        json_write_end(writer);
    }
    json_write_end(writer);
}
