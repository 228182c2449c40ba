/* Ollama's own API (/api/chat): a line of JSON for each piece, the counters in the last, arguments of tools as objects.
 * Its OpenAI-compatible endpoint has no num_ctx, and cuts long questions silently. */
#include "answer/answer.h"
#include "http/sse.h"
#include "openai_priv.h"

#include "json/pull.h"
#include "json/reader.h"

#include <string.h>

#define COUNT_MAX (INT64_C(1) << 50)

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static const char *const roles[] = {
    [RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM] = "system",
    [RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER] = "user",
    [RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT] = "assistant",
    [RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL] = "tool",
};

static bool ollama_takes(const struct chat_question *question, enum parameter parameter)
{
    return !(question->capability.refused_parameters & PARAMETER_BIT(parameter));
}

/* The tool that a result comes from: results go by name here. */
static const char *tool_of(const Renga__V1__ChatRequest *request, size_t result)
{
    const char *id = request->messages[result]->tool_call_id;
    for (size_t i = result; i-- > 0;)
        for (size_t k = 0; k < request->messages[i]->n_tool_calls; k++)
            if (strcmp(request->messages[i]->tool_calls[k]->id, id) == 0)
                return request->messages[i]->tool_calls[k]->name;
    return request->messages[result]->name;
}

static void ollama_write_message(const Renga__V1__ChatRequest *request, size_t index, struct json_writer *writer)
{
    const Renga__V1__ChatMessage *message = request->messages[index];
    json_write_object(writer, NULL);
    json_write_string(writer, "role", roles[message->role]);
    json_write_string(writer, "content", message->content[0] ? message->content : message->refusal);
    if (message->reasoning[0])
        json_write_string(writer, "thinking", message->reasoning);
    if (message->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL)
        json_write_string(writer, "tool_name", tool_of(request, index));
    if (message->n_tool_calls)
        json_write_array(writer, "tool_calls");
    for (size_t i = 0; i < message->n_tool_calls; i++) {
        const Renga__V1__ToolCall *call = message->tool_calls[i];
        struct status ignored = {0};
        const char *arguments = call->arguments_json;
        size_t size = strlen(arguments);
        json_write_object(writer, NULL);
        json_write_object(writer, "function");
        json_write_string(writer, "name", call->name);
        if (arguments[strspn(arguments, " \t\r\n")] == '{' && json_check(arguments, size, NULL, &ignored)) {
            json_write_raw(writer, "arguments", arguments, size);
        } else { /* only an object is accepted; the model gets its own text back */
            json_write_object(writer, "arguments");
            if (size)
                json_write_string(writer, "arguments", arguments);
            json_write_end(writer);
        }
        json_write_end(writer);
        json_write_end(writer);
    }
    if (message->n_tool_calls)
        json_write_end(writer);
    json_write_end(writer);
}

static void ollama_write_sampling(const struct chat_question *question, struct json_writer *writer)
{
    const Renga__V1__Sampling *sampling = question->request->sampling;
    if (!sampling)
        return;
    if (sampling->maybe_temperature_case && ollama_takes(question, PARAMETER_TEMPERATURE))
        json_write_double(writer, "temperature", sampling->temperature);
    if (sampling->maybe_top_p_case && ollama_takes(question, PARAMETER_TOP_P))
        json_write_double(writer, "top_p", sampling->top_p);
    if (sampling->maybe_seed_case && ollama_takes(question, PARAMETER_SEED))
        json_write_int(writer, "seed", sampling->seed);
    if (sampling->maybe_frequency_penalty_case && ollama_takes(question, PARAMETER_FREQUENCY_PENALTY))
        json_write_double(writer, "frequency_penalty", sampling->frequency_penalty);
    if (sampling->maybe_presence_penalty_case && ollama_takes(question, PARAMETER_PRESENCE_PENALTY))
        json_write_double(writer, "presence_penalty", sampling->presence_penalty);
}

static void write_options(const struct chat_question *question, struct json_writer *writer)
{
    const Renga__V1__ChatRequest *request = question->request;
    json_write_object(writer, "options");
    if (question->context_tokens)
        json_write_int(writer, "num_ctx", question->context_tokens);
    if (request->max_output_tokens)
        json_write_int(writer, "num_predict", request->max_output_tokens);
    ollama_write_sampling(question, writer);
    if (request->n_stop)
        json_write_array(writer, "stop");
    for (size_t i = 0; i < request->n_stop; i++)
        json_write_string(writer, NULL, request->stop[i]);
    if (request->n_stop)
        json_write_end(writer);
    json_write_end(writer);
}

/* The API has no tool_choice: NONE hides the tools; a required call is checked in the answer. */
static void ollama_write_tools(const Renga__V1__ChatRequest *request, struct json_writer *writer)
{
    bool none =
        request->tool_choice && request->tool_choice->mode == RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NONE;
    if (!request->n_tools || none)
        return;
    json_write_array(writer, "tools");
    for (size_t i = 0; i < request->n_tools; i++) {
        static const char nothing[] = "{\"type\":\"object\",\"properties\":{}}";
        const Renga__V1__ToolDefinition *tool = request->tools[i];
        const char *schema = tool->parameters_json[0] ? tool->parameters_json : nothing;
        json_write_object(writer, NULL);
        json_write_string(writer, "type", "function");
        json_write_object(writer, "function");
        json_write_string(writer, "name", tool->name);
        json_write_string(writer, "description", tool->description);
        json_write_raw(writer, "parameters", schema, strlen(schema));
        json_write_end(writer);
        json_write_end(writer);
    }
    json_write_end(writer);
}

static void write_think(const struct chat_question *question, struct json_writer *writer)
{
    static const char *const words[] = {
        [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_NONE] = "low",
        [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_MINIMAL] = "low",
        [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_LOW] = "low",
        [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_MEDIUM] = "medium",
        [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_HIGH] = "high",
    };
    Renga__V1__ReasoningEffort effort = question->request->reasoning_effort;
    if (!effort || !ollama_takes(question, PARAMETER_EFFORT))
        return;
    if (question->capability.effort_words)
        json_write_string(writer, "think", words[effort]);
    else
        json_write_bool(writer, "think", effort > RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_NONE);
}

static void write_chat(const struct chat_question *question, struct json_writer *writer)
{
    const Renga__V1__ChatRequest *request = question->request;
    json_write_object(writer, NULL);
    json_write_string(writer, "model", question->model);
    json_write_bool(writer, "stream", question->stream); /* the default is to stream */
    json_write_array(writer, "messages");
    for (size_t i = 0; i < request->n_messages; i++)
        ollama_write_message(request, i, writer);
    json_write_end(writer);
    ollama_write_tools(request, writer);
    const Renga__V1__ResponseFormat *format = request->response_format;
    if (format && format->kind == RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_OBJECT)
        json_write_string(writer, "format", "json");
    if (format && format->kind == RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA)
        json_write_raw(writer, "format", format->schema_json, strlen(format->schema_json));
    write_think(question, writer);
    write_options(question, writer);
    json_write_end(writer);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* Calls come whole, each for itself; older releases give them neither id nor number. */
static bool ollama_read_call(struct answer *answer, struct json_reader *in, const cJSON *call, struct failure *failure)
{
    if (!cJSON_IsObject(call))
        return json_reader_fail(in, call, "must be an object");
    const cJSON *function = json_object(in, call, "function");
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(function, "arguments");
    struct answer_call_piece piece = {
        .index = -1,
        .id = json_string_or(in, call, "id", ""),
        .name = json_string(in, function, "name"),
        .arguments = "",
    };
    if (in->failed)
        return false;
    if (cJSON_IsString(arguments)) /* some servers copied OpenAI's format */
        piece.arguments = arguments->valuestring;
    char *text = cJSON_IsObject(arguments) ? cJSON_PrintUnformatted(arguments) : NULL;
    if (text)
        piece.arguments = text;
    bool good = answer_call_tool(answer, &piece, failure);
    cJSON_free(text);
    return good;
}

static bool ollama_read_message(struct answer *answer, struct json_reader *in, const cJSON *message,
                                struct failure *failure)
{
    const char *thinking = json_string_or(in, message, "thinking", "");
    const char *content = json_string_or(in, message, "content", "");
    const cJSON *calls = json_array_or_null(in, message, "tool_calls");
    if (in->failed || !answer_add(answer, ANSWER_REASONING, thinking, failure) ||
        !answer_add(answer, ANSWER_TEXT, content, failure))
        return false;
    for (const cJSON *call = calls ? calls->child : NULL; call; call = call->next)
        if (!ollama_read_call(answer, in, call, failure))
            return false;
    return true;
}

static const struct answer_word done_reasons[] = {
    {"stop", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP},
    {"length", RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH},
    {"load", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP},
    {"unload", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP},
    {NULL, RENGA__V1__FINISH_REASON__FINISH_REASON_UNSPECIFIED},
};

/* prompt_eval_count is missing if the whole prompt was cached. */
static void ollama_read_end(struct answer *answer, const cJSON *root)
{
    struct status ignored = {0};
    struct json_reader in = json_reader_of(root, &ignored);
    const char *word = json_string_or(&in, root, "done_reason", "stop");
    int64_t input = json_integer_or(&in, root, "prompt_eval_count", 0, COUNT_MAX, 0);
    int64_t output = json_integer_or(&in, root, "eval_count", 0, COUNT_MAX, 0);
    answer->ended = true;
    answer_stop(answer, done_reasons, word);
    if (!in.failed && output > 0) /* 0: it does not count */
        answer_set_usage(answer, input, output, 0, 0);
}

static bool ollama_read_root(struct answer *answer, const cJSON *root, struct failure *failure)
{
    struct status st = {0};
    struct json_reader in = json_reader_of(root, &st);
    if (!cJSON_IsObject(root))
        return fail(&failure->status, DATA_LOSS, "the answer is JSON, but no object");
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
    if (error && !cJSON_IsNull(error))
        return openai_fail_in_band(error, failure);
    const cJSON *message = json_object_or_null(&in, root, "message");
    bool done = json_boolean(&in, root, "done");
    answer_name(answer, "", json_string_or(&in, root, "model", ""));
    if (in.failed || (message && !ollama_read_message(answer, &in, message, failure))) {
        if (failure->status.code == OK)
            fail(&failure->status, DATA_LOSS, "the answer is not as the API has it: %s", st.text);
        return false;
    }
    if (done)
        ollama_read_end(answer, root);
    return !done || answer_finish_calls(answer, failure);
}

static bool ollama_read_json(struct answer *answer, const char *text, size_t size, const char *what,
                             struct failure *failure)
{
    struct status st = {0};
    cJSON *root = json_parse(text, size, NULL, &st);
    if (!root)
        return fail(&failure->status, DATA_LOSS, "%s is not JSON: %s", what, st.text);
    bool good = ollama_read_root(answer, root, failure);
    cJSON_Delete(root);
    return good;
}

static bool ollama_read_chat(struct answer *answer, const char *body, size_t size, struct failure *failure)
{
    return ollama_read_json(answer, body, size, "the answer", failure);
}

/* ---- more text --------------------------------------------------------------------------------------------------- */

#define TEXTS_INLINE 2048 /* bytes */

/* The text or thinking that a line adds. */
struct text_line {
    const char *model, *thinking, *content; /* content: NULL without a message */
    bool has_more;                          /* than that */
    bool done;
};

static void read_text_message(struct json_pull *in, struct text_line *found)
{
    struct json_scope message;
    if (!json_pull_object(in, &message))
        return;
    while (json_pull_next(in, &message)) {
        if (json_pull_at(in, "content"))
            found->content = json_pull_text(in);
        else if (json_pull_at(in, "thinking"))
            found->thinking = json_pull_text(in);
        else if (json_pull_at(in, "tool_calls"))
            found->has_more = true;
    }
}

static void read_text_line(struct json_pull *in, struct text_line *found)
{
    struct json_scope root;
    if (!json_pull_object(in, &root))
        return;
    while (json_pull_next(in, &root)) {
        if (json_pull_at(in, "model"))
            found->model = json_pull_text(in);
        else if (json_pull_at(in, "message"))
            read_text_message(in, found);
        else if (json_pull_at(in, "error"))
            found->has_more = true;
        else if (json_pull_at(in, "done"))
            found->done = json_pull_boolean(in, true);
    }
}

/* Parses the line of a single token without a tree. False: another line, or an unexpected form. */
static bool read_more_text(struct answer *answer, const struct sse_event *event, struct failure *failure, bool *good)
{
    char storage[TEXTS_INLINE];
    struct status st = {0};
    struct arena texts;
    struct json_pull in;
    struct text_line found = {.model = "", .thinking = "", .done = true};
    arena_init(&texts, storage, sizeof storage, event->size + TEXTS_INLINE);
    json_pull_init(&in, event->data, event->size, NULL, &texts, &st);
    read_text_line(&in, &found);
    bool plain = json_pull_end(&in) && !found.done && !found.has_more && found.content;
    if (plain) {
        answer_name(answer, "", found.model);
        *good = answer_add(answer, ANSWER_REASONING, found.thinking, failure) &&
                answer_add(answer, ANSWER_TEXT, found.content, failure);
    }
    arena_fini(&texts);
    return plain;
}

static bool ollama_read_event(struct answer *answer, const struct sse_event *event, struct failure *failure)
{
    bool good = true;
    if (read_more_text(answer, event, failure, &good))
        return good;
    return ollama_read_json(answer, event->data, event->size, "a line of the stream", failure);
}

static bool ollama_find_endpoint(const struct provider_terms *terms, struct provider_endpoint *way, struct status *st)
{
    strcpy(way->path, "/api/chat");
    strcpy(way->embed_path, "/api/embed");
    way->key_header = "Authorization"; /* of proxies before it, and of its hosted models */
    way->bearer = true;
    return true;
}

const struct provider ollama_provider = {
    .name = "ollama",
    .base_url = "http://127.0.0.1:11434",
    .stream_type = "application/x-ndjson",
    .unknown = PARAMETER_BIT(PARAMETER_PARALLEL),
    .find_endpoint = ollama_find_endpoint,
    .write_chat = write_chat,
    .read_chat = ollama_read_chat,
    .read_event = ollama_read_event,
    .read_error = openai_read_error,
    .write_embed = ollama_write_embed,
    .read_embed = ollama_read_embed,
};
