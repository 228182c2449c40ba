/* OpenAI's Chat Completions, and the many that speak it: vLLM, llama.cpp, SGLang, LM Studio, other gateways.
 * Answers are read leniently where the dialects differ (a missing id, an index that is always 0, a field too many) and
 * strictly where an answer could pass for whole that is not. */
#include "chat/answer.h"
#include "openai_priv.h"
#include "sse.h"

#include "base/json_reader.h"

#include <string.h>

static const struct {
    const char *word;
    Renga__V1__FinishReason reason;
} finish_words[] = {
    {"stop", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP},
    {"length", RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH},
    {"tool_calls", RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS},
    {"function_call", RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS},
    {"content_filter", RENGA__V1__FINISH_REASON__FINISH_REASON_CONTENT_FILTER},
    /* of compatible servers */
    {"eos", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP},
    {"eos_token", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP},
    {"end_turn", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP},
    {"stop_sequence", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP},
    {"max_tokens", RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH},
    {"model_length", RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH},
    {"tool_use", RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS},
};

/* What is unknown stays unspecified: "abort" or "error" must not pass for an end. */
static void read_finish(struct answer *answer, const char *word)
{
    Renga__V1__FinishReason reason = RENGA__V1__FINISH_REASON__FINISH_REASON_UNSPECIFIED;
    if (!word[0])
        return;
    for (size_t i = 0; i < sizeof finish_words / sizeof finish_words[0]; i++)
        if (strcmp(finish_words[i].word, word) == 0)
            reason = finish_words[i].reason;
    answer_stop(answer, reason, word);
}

/* Counts that cannot be read are as good as none: nobody loses an answer over them. */
static void read_usage(struct answer *answer, const cJSON *root)
{
    struct status ignored = {0};
    struct json_reader in = json_reader_of(root, &ignored);
    const cJSON *usage = json_object_or_null(&in, root, "usage");
    if (!usage)
        return;
    const cJSON *input_details = json_object_or_null(&in, usage, "prompt_tokens_details");
    const cJSON *output_details = json_object_or_null(&in, usage, "completion_tokens_details");
    int64_t input = json_integer(&in, usage, "prompt_tokens", 0, INT64_C(1) << 50);
    int64_t output = json_integer_or(&in, usage, "completion_tokens", 0, INT64_C(1) << 50, 0);
    int64_t cached = input_details ? json_integer_or(&in, input_details, "cached_tokens", 0, input, 0)
                                   : json_integer_or(&in, usage, "prompt_cache_hit_tokens", 0, input, 0);
    int64_t reasoning =
        output_details ? json_integer_or(&in, output_details, "reasoning_tokens", 0, INT64_C(1) << 50, 0) : 0;
    if (!in.failed)
        answer_spend(answer, input, output, cached, reasoning);
}

/* ---- what was said ----------------------------------------------------------------------------------------------- */

static bool read_tool_calls(struct answer *answer, struct json_reader *in, const cJSON *message, bool whole,
                            struct failure *failure)
{
    const cJSON *calls = json_array_or_null(in, message, "tool_calls");
    int64_t position = 0;
    for (const cJSON *call = calls ? calls->child : NULL; call; call = call->next, position++) {
        if (!cJSON_IsObject(call))
            return json_reader_fail(in, call, "must be an object");
        const cJSON *function = json_object_or_null(in, call, "function");
        struct answer_call_piece piece = {
            .index = whole ? position : json_integer_or(in, call, "index", 0, INT32_MAX, -1),
            .id = json_string_or(in, call, "id", ""),
            .name = function ? json_string_or(in, function, "name", "") : "",
            .arguments = function ? json_string_or(in, function, "arguments", "") : "",
        };
        if (in->failed || !answer_call_tool(answer, &piece, failure))
            return false;
    }
    return true;
}

/* A message, or what a chunk adds to it. */
static bool read_message(struct answer *answer, struct json_reader *in, const cJSON *message, bool whole,
                         struct failure *failure)
{
    /* Thinking is no part of OpenAI's own API: DeepSeek, vLLM and SGLang say reasoning_content, OpenRouter and newer
     * vLLM reasoning; where both stand they say the same. */
    const cJSON *reasoning = cJSON_GetObjectItemCaseSensitive(message, "reasoning_content");
    if (!cJSON_IsString(reasoning))
        reasoning = cJSON_GetObjectItemCaseSensitive(message, "reasoning");
    const char *content = json_string_or(in, message, "content", "");
    const char *refusal = json_string_or(in, message, "refusal", "");
    return !in->failed &&
           (!cJSON_IsString(reasoning) || answer_say(answer, ANSWER_REASONING, reasoning->valuestring, failure)) &&
           answer_say(answer, ANSWER_TEXT, content, failure) && answer_say(answer, ANSWER_REFUSAL, refusal, failure) &&
           read_tool_calls(answer, in, message, whole, failure);
}

static bool read_choices(struct answer *answer, struct json_reader *in, const cJSON *root, bool whole,
                         struct failure *failure)
{
    const cJSON *choices = whole ? json_array(in, root, "choices") : json_array_or_null(in, root, "choices");
    if (in->failed || !choices || !choices->child) /* with the usage chunk, or where the model said nothing */
        return !in->failed;
    const cJSON *choice = json_element(in, choices, 0);
    const cJSON *message = whole ? json_object(in, choice, "message") : json_object_or_null(in, choice, "delta");
    answer->had_choice = true;
    if (in->failed || (message && !read_message(answer, in, message, whole, failure)))
        return false;
    read_finish(answer, json_string_or(in, choice, "finish_reason", ""));
    return !in->failed;
}

/* An answer or a chunk of one. */
static bool read_root(struct answer *answer, const cJSON *root, bool whole, struct failure *failure)
{
    struct status st = {0};
    struct json_reader in = json_reader_of(root, &st);
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
    if (error && !cJSON_IsNull(error))
        return openai_fail_in_band(error, failure);
    if (!cJSON_IsObject(root))
        return fail(&failure->status, DATA_LOSS, "the answer is JSON, but no object");
    answer_name(answer, json_string_or(&in, root, "id", ""), json_string_or(&in, root, "model", ""));
    read_usage(answer, root);
    if (read_choices(answer, &in, root, whole, failure))
        return true;
    if (failure->status.code == OK)
        fail(&failure->status, DATA_LOSS, "the answer is not as the API has it: %s", st.text);
    return false;
}

static bool read_json(struct answer *answer, const char *text, size_t size, bool whole, struct failure *failure)
{
    struct status st = {0};
    cJSON *root = json_parse(text, size, NULL, &st);
    if (!root && whole)
        return fail(&failure->status, DATA_LOSS, "the answer's %zu bytes are not JSON: %s", size, st.text);
    if (!root)
        return fail(&failure->status, DATA_LOSS, "an event of the stream is not JSON: %s", st.text);
    bool good = read_root(answer, root, whole, failure);
    cJSON_Delete(root);
    return good;
}

bool openai_read_chat(struct answer *answer, const char *body, size_t size, struct failure *failure)
{
    answer->ended = true;
    return read_json(answer, body, size, true, failure);
}

/* `event: error`, with the error alone or within an object as in a chunk. */
static bool read_error_event(const struct sse_event *event, struct failure *failure)
{
    struct status st = {0};
    cJSON *root = json_parse(event->data, event->size, NULL, &st);
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
    openai_fail_in_band(error ? error : root, failure);
    cJSON_Delete(root);
    return false;
}

bool openai_read_event(struct answer *answer, const struct sse_event *event, struct failure *failure)
{
    if (strcmp(event->data, "[DONE]") == 0) {
        answer->ended = true;
        return true;
    }
    if (event->size == 0) /* of servers that open a stream with an empty event */
        return true;
    if (strcmp(event->type, "error") == 0)
        return read_error_event(event, failure);
    return read_json(answer, event->data, event->size, false, failure);
}

static bool find_way(const struct provider_terms *terms, struct provider_way *way, struct status *st)
{
    strcpy(way->path, "/chat/completions");
    strcpy(way->embed_path, "/embeddings");
    way->key_header = "Authorization";
    way->bearer = true;
    return true;
}

const struct provider openai_provider = {
    .name = "openai",
    .base_url = "https://api.openai.com/v1",
    .url_variable = "OPENAI_BASE_URL",
    .key_variable = "OPENAI_API_KEY",
    .keyed_host = "api.openai.com",
    .stream_type = "text/event-stream",
    .find_way = find_way,
    .write_chat = openai_write_chat,
    .read_chat = openai_read_chat,
    .read_event = openai_read_event,
    .read_error = openai_read_error,
    .write_embed = openai_write_embed,
    .read_embed = openai_read_embed,
};
