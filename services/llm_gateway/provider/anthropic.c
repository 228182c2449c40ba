/* Anthropic's Messages API, in both generations of its headers: x-api-key up to 2023-06-01, Bearer from 2026-10-21.
 *
 * A stream: message_start, then for each block content_block_start, _delta …, _stop, then message_delta with the reason
 * to stop, and message_stop; ping anywhere; error in the place of any of them. A whole answer is the same blocks. */
#include "anthropic_priv.h"

#include "answer/answer.h"
#include "http/sse.h"
#include "openai_priv.h"

#include "json/pull.h"
#include "json/reader.h"

#include <string.h>

#define COUNT_MAX (INT64_C(1) << 50)

static const struct answer_word stop_words[] = {
    {"end_turn", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP},
    {"stop_sequence", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP},
    {"max_tokens", RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH},
    {"model_context_window_exceeded", RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH},
    {"tool_use", RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS},
    /* Said by the classifiers that watch the model, not by the model: there is no text that says why. */
    {"refusal", RENGA__V1__FINISH_REASON__FINISH_REASON_CONTENT_FILTER},
    {NULL, RENGA__V1__FINISH_REASON__FINISH_REASON_UNSPECIFIED},
};

/* Anthropic counts cached tokens beside input_tokens; the contract counts them within it. Counts are cumulative; a
 * count that an event does not repeat stays. `last`: the output's count is more than its first token's. */
static void anthropic_read_usage(struct answer *answer, const cJSON *root, bool last)
{
    struct status ignored = {0};
    struct json_reader in = json_reader_of(root, &ignored);
    const cJSON *usage = json_object_or_null(&in, root, "usage");
    Renga__V1__Usage *so_far = &answer->usage;
    if (!usage)
        return;
    int64_t fresh = so_far->input_tokens - so_far->cached_input_tokens - so_far->cache_write_tokens;
    int64_t input = json_integer_or(&in, usage, "input_tokens", 0, COUNT_MAX, fresh);
    int64_t cached = json_integer_or(&in, usage, "cache_read_input_tokens", 0, COUNT_MAX, so_far->cached_input_tokens);
    int64_t written =
        json_integer_or(&in, usage, "cache_creation_input_tokens", 0, COUNT_MAX, so_far->cache_write_tokens);
    int64_t output = json_integer_or(&in, usage, "output_tokens", 0, COUNT_MAX, 0);
    if (in.failed)
        return;
    so_far->cache_write_tokens = written;
    if (last)
        answer_set_usage(answer, input + cached + written, output, cached, 0);
    else
        answer_read(answer, input + cached + written, cached);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* A tool's input stands whole in the block of a whole answer, and follows as text in a stream. */
static bool read_tool_use(struct answer *answer, struct json_reader *in, const cJSON *block, int64_t index,
                          struct failure *failure)
{
    const cJSON *input = json_object_or_null(in, block, "input");
    struct answer_call_piece piece = {
        .index = index,
        .id = json_string_or(in, block, "id", ""),
        .name = json_string(in, block, "name"),
        .arguments = "",
    };
    if (in->failed)
        return false;
    char *text = input && input->child ? cJSON_PrintUnformatted(input) : NULL;
    if (text)
        piece.arguments = text;
    bool good = answer_call_tool(answer, &piece, failure);
    cJSON_free(text);
    return good;
}

static bool read_block(struct answer *answer, struct json_reader *in, const cJSON *block, int64_t index,
                       struct failure *failure)
{
    const char *type = json_string(in, block, "type");
    answer->had_choice = true;
    if (in->failed)
        return false;
    if (strcmp(type, "text") == 0)
        return answer_add(answer, ANSWER_TEXT, json_string_or(in, block, "text", ""), failure) && !in->failed;
    if (strcmp(type, "tool_use") == 0)
        return read_tool_use(answer, in, block, index, failure);
    if (strcmp(type, "thinking") == 0) {
        const char *thinking = json_string_or(in, block, "thinking", "");
        const char *signature = json_string_or(in, block, "signature", "");
        /* One seal goes with one stretch of thinking; the contract has capacity for one, and a part of several would be
         * refused. */
        if (answer->seal.size)
            answer->seal_broken = true;
        if (answer->seal_broken)
            answer->seal = (struct answer_text){0};
        answer_seal(answer, signature);
        return !in->failed && answer_add(answer, ANSWER_REASONING, thinking, failure);
    }
    if (strcmp(type, "redacted_thinking") == 0) {
        answer->seal_broken = true;
        answer->seal = (struct answer_text){0};
    }
    return true; /* blocks of features that are never asked for */
}

static bool read_delta(struct answer *answer, struct json_reader *in, const cJSON *root, struct failure *failure)
{
    int64_t index = json_integer(in, root, "index", 0, INT32_MAX);
    const cJSON *delta = json_object(in, root, "delta");
    const char *type = json_string(in, delta, "type");
    if (in->failed)
        return false;
    if (strcmp(type, "text_delta") == 0)
        return answer_add(answer, ANSWER_TEXT, json_string(in, delta, "text"), failure) && !in->failed;
    if (strcmp(type, "thinking_delta") == 0)
        return answer_add(answer, ANSWER_REASONING, json_string(in, delta, "thinking"), failure) && !in->failed;
    if (strcmp(type, "input_json_delta") == 0) {
        struct answer_call_piece piece = {
            .index = index, .id = "", .name = "", .arguments = json_string(in, delta, "partial_json")};
        return !in->failed && answer_call_tool(answer, &piece, failure);
    }
    if (strcmp(type, "signature_delta") == 0)
        answer_seal(answer, json_string(in, delta, "signature"));
    return !in->failed;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static bool anthropic_read_message(struct answer *answer, struct json_reader *in, const cJSON *message, bool whole,
                                   struct failure *failure)
{
    answer_name(answer, json_string_or(in, message, "id", ""), json_string_or(in, message, "model", ""));
    anthropic_read_usage(answer, message, whole);
    const cJSON *content = whole ? json_array(in, message, "content") : json_array_or_null(in, message, "content");
    int64_t index = 0;
    for (const cJSON *block = content ? content->child : NULL; block; block = block->next, index++)
        if (!cJSON_IsObject(block) ? !json_reader_fail(in, block, "must be an object")
                                   : !read_block(answer, in, block, index, failure))
            return false;
    answer_stop(answer, stop_words, json_string_or(in, message, "stop_reason", ""));
    return !in->failed && (!whole || answer_finish_calls(answer, failure));
}

static bool message_starts(struct answer *answer, struct json_reader *in, const cJSON *root, struct failure *failure)
{
    const cJSON *message = json_object(in, root, "message");
    return !in->failed && anthropic_read_message(answer, in, message, false, failure);
}

static bool block_starts(struct answer *answer, struct json_reader *in, const cJSON *root, struct failure *failure)
{
    int64_t index = json_integer(in, root, "index", 0, INT32_MAX);
    const cJSON *block = json_object(in, root, "content_block");
    return !in->failed && read_block(answer, in, block, index, failure);
}

static bool message_changes(struct answer *answer, struct json_reader *in, const cJSON *root, struct failure *failure)
{
    const cJSON *delta = json_object_or_null(in, root, "delta");
    anthropic_read_usage(answer, root, true);
    if (delta)
        answer_stop(answer, stop_words, json_string_or(in, delta, "stop_reason", ""));
    return !in->failed && (!answer->word[0] || answer_finish_calls(answer, failure));
}

static bool message_stops(struct answer *answer, struct json_reader *in, const cJSON *root, struct failure *failure)
{
    answer->ended = true;
    return true;
}

static bool error_came(struct answer *answer, struct json_reader *in, const cJSON *root, struct failure *failure)
{
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
    return openai_fail_in_band(error ? error : root, failure);
}

static const struct {
    const char *type;
    bool (*read)(struct answer *answer, struct json_reader *in, const cJSON *root, struct failure *failure);
} events[] = {
    {"content_block_delta", read_delta}, {"content_block_start", block_starts}, {"message_start", message_starts},
    {"message_delta", message_changes},  {"message_stop", message_stops},       {"error", error_came},
};

/* The data always repeats the type. As the API demands, an unknown type is skipped. */
static bool anthropic_read_root(struct answer *answer, const cJSON *root, bool whole, struct failure *failure)
{
    struct status st = {0};
    struct json_reader in = json_reader_of(root, &st);
    if (!cJSON_IsObject(root))
        return fail(&failure->status, DATA_LOSS, "the answer is JSON, but no object");
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
    if (error && !cJSON_IsNull(error))
        return openai_fail_in_band(error, failure);
    const char *type = json_string_or(&in, root, "type", "");
    bool good = true;
    if (whole)
        good = anthropic_read_message(answer, &in, root, true, failure);
    for (size_t i = 0; !whole && i < sizeof events / sizeof events[0]; i++)
        if (strcmp(events[i].type, type) == 0)
            good = events[i].read(answer, &in, root, failure);
    if (!good && failure->status.code == OK)
        fail(&failure->status, DATA_LOSS, "the answer is not as the API has it: %s", st.text);
    return good;
}

static bool anthropic_read_json(struct answer *answer, const char *text, size_t size, bool whole,
                                struct failure *failure)
{
    struct status st = {0};
    cJSON *root = json_parse(text, size, NULL, &st);
    if (!root && whole)
        return fail(&failure->status, DATA_LOSS, "the answer's %zu bytes are not JSON: %s", size, st.text);
    if (!root)
        return fail(&failure->status, DATA_LOSS, "an event of the stream is not JSON: %s", st.text);
    bool good = anthropic_read_root(answer, root, whole, failure);
    cJSON_Delete(root);
    return good;
}

static bool anthropic_read_chat(struct answer *answer, const char *body, size_t size, struct failure *failure)
{
    answer->ended = true;
    return anthropic_read_json(answer, body, size, true, failure);
}

/* ---- more of a block --------------------------------------------------------------------------------------------- */

#define TEXTS_INLINE 2048 /* bytes */

/* The text, thinking or tool input that an event adds. */
struct piece {
    const char *type, *part_type, *text, *thinking, *input;
    int64_t index;
    bool is_error;
};

static void read_piece(struct json_pull *in, struct piece *found)
{
    struct json_scope root, delta;
    if (!json_pull_object(in, &root))
        return;
    while (json_pull_next(in, &root)) {
        if (json_pull_at(in, "type"))
            found->type = json_pull_text(in);
        else if (json_pull_at(in, "index"))
            found->index = json_pull_integer(in, 0, INT32_MAX, -1);
        else if (json_pull_at(in, "error"))
            found->is_error = true;
        else if (json_pull_at(in, "delta") && json_pull_object(in, &delta))
            while (json_pull_next(in, &delta)) {
                if (json_pull_at(in, "type"))
                    found->part_type = json_pull_text(in);
                else if (json_pull_at(in, "text"))
                    found->text = json_pull_text_if_any(in);
                else if (json_pull_at(in, "thinking"))
                    found->thinking = json_pull_text_if_any(in);
                else if (json_pull_at(in, "partial_json"))
                    found->input = json_pull_text_if_any(in);
            }
    }
}

/* Parses the event of a single token without a tree. False: another event, or an unexpected form. */
static bool read_more(struct answer *answer, const struct sse_event *event, struct failure *failure, bool *good)
{
    char storage[TEXTS_INLINE];
    struct status st = {0};
    struct arena texts;
    struct json_pull in;
    struct piece found = {.type = "", .part_type = "", .index = -1};
    arena_init(&texts, storage, sizeof storage, event->size + TEXTS_INLINE);
    json_pull_init(&in, event->data, event->size, NULL, &texts, &st);
    read_piece(&in, &found);
    bool plain =
        json_pull_end(&in) && !found.is_error && found.index >= 0 && strcmp(found.type, "content_block_delta") == 0;
    if (plain && found.text && strcmp(found.part_type, "text_delta") == 0)
        *good = answer_add(answer, ANSWER_TEXT, found.text, failure);
    else if (plain && found.thinking && strcmp(found.part_type, "thinking_delta") == 0)
        *good = answer_add(answer, ANSWER_REASONING, found.thinking, failure);
    else if (plain && found.input && strcmp(found.part_type, "input_json_delta") == 0)
        *good = answer_call_tool(answer, &(struct answer_call_piece){found.index, "", "", found.input}, failure);
    else
        plain = false;
    arena_fini(&texts);
    return plain;
}

static bool anthropic_read_event(struct answer *answer, const struct sse_event *event, struct failure *failure)
{
    bool good = true;
    if (event->size == 0 ||
        (memmem(event->data, event->size, "_delta\"", 7) && read_more(answer, event, failure, &good)))
        return good;
    return anthropic_read_json(answer, event->data, event->size, false, failure);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* An empty account is told by the text alone. */
static void anthropic_read_error(int http_status, const char *body, size_t size, struct failure *failure)
{
    static const char empty[] = "credit balance";
    openai_read_error(http_status, body, size, failure);
    if (http_status == 400 && memmem(body, size, empty, sizeof empty - 1)) {
        failure->status.field[0] = '\0';
        failure->status.code = RESOURCE_EXHAUSTED;
        failure->reason = FAILURE_QUOTA;
    }
}

static bool anthropic_find_endpoint(const struct provider_terms *terms, struct provider_endpoint *way,
                                    struct status *st)
{
    static const char first_with_bearer[] = "2026-10-21"; /* versions are dates: their order is that of the text */
    strcpy(way->path, "/v1/messages");
    way->version_header = "anthropic-version";
    way->version = terms->version[0] ? terms->version : "2023-06-01";
    way->bearer = strcmp(way->version, first_with_bearer) >= 0;
    way->key_header = way->bearer ? "Authorization" : "x-api-key";
    return true;
}

const struct provider anthropic_provider = {
    .name = "anthropic",
    .base_url = "https://api.anthropic.com",
    .url_variable = "ANTHROPIC_BASE_URL",
    .key_variable = "ANTHROPIC_API_KEY",
    .keyed_host = "api.anthropic.com",
    .stream_type = "text/event-stream",
    .unknown = PARAMETER_BIT(PARAMETER_SEED) | PARAMETER_PENALTIES,
    .find_endpoint = anthropic_find_endpoint,
    .write_chat = anthropic_write_chat,
    .read_chat = anthropic_read_chat,
    .read_event = anthropic_read_event,
    .read_error = anthropic_read_error,
};
