/* OpenAI's Chat Completions, and compatible servers: vLLM, llama.cpp, SGLang, LM Studio, other gateways. Reading is
 * lenient about dialects (a missing id, an index that is always 0, unknown fields). It is strict whenever an
 * incomplete answer could pass for a complete one. */
#include "answer/answer.h"
#include "http/sse.h"
#include "openai_priv.h"

#include "json/pull.h"

#include <string.h>

static const struct answer_word finish_words[] = {
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
    {NULL, RENGA__V1__FINISH_REASON__FINISH_REASON_UNSPECIFIED},
};

/* ---- usage ------------------------------------------------------------------------------------------------------- */

#define COUNT_MAX (INT64_C(1) << 50)
enum { NO_COUNT = -1, BAD_COUNT = -2 };

struct counts {
    int64_t input, output, cached, cache_hits, reasoning;
    bool has_input_details;
};

static int64_t read_count(struct json_pull *in)
{
    int64_t count;
    if (json_pull_null(in))
        return NO_COUNT;
    return json_pull_whole(in, &count) && count >= 0 && count <= COUNT_MAX ? count : BAD_COUNT;
}

/* Reads one count of the details; sets `there` if the details exist. */
static int64_t read_detail(struct json_pull *in, const char *name, bool *there)
{
    struct json_scope details;
    int64_t count = NO_COUNT;
    if (json_pull_null(in))
        return NO_COUNT;
    *there = json_pull_kind(in) == JSON_OBJECT;
    if (!*there) {
        json_pull_skip(in);
        return BAD_COUNT;
    }
    if (json_pull_object(in, &details))
        while (json_pull_next(in, &details))
            if (json_pull_at(in, name))
                count = read_count(in);
    return count;
}

static void openai_read_usage(struct json_pull *in, struct counts *counts)
{
    struct json_scope usage;
    bool has_output_details;
    if (json_pull_kind(in) != JSON_OBJECT || !json_pull_object(in, &usage))
        return;
    while (json_pull_next(in, &usage)) {
        if (json_pull_at(in, "prompt_tokens"))
            counts->input = read_count(in);
        else if (json_pull_at(in, "completion_tokens"))
            counts->output = read_count(in);
        else if (json_pull_at(in, "prompt_cache_hit_tokens"))
            counts->cache_hits = read_count(in);
        else if (json_pull_at(in, "prompt_tokens_details"))
            counts->cached = read_detail(in, "cached_tokens", &counts->has_input_details);
        else if (json_pull_at(in, "completion_tokens_details"))
            counts->reasoning = read_detail(in, "reasoning_tokens", &has_output_details);
    }
}

/* Unreadable counts are ignored: they do not fail the answer. */
static void openai_spend(struct answer *answer, const struct counts *counts)
{
    int64_t cached = counts->has_input_details || counts->cached == BAD_COUNT ? counts->cached : counts->cache_hits;
    bool good = counts->input >= 0 && counts->output != BAD_COUNT && counts->reasoning != BAD_COUNT &&
                cached != BAD_COUNT && cached <= counts->input;
    if (good)
        answer_set_usage(answer, counts->input, counts->output > 0 ? counts->output : 0, cached > 0 ? cached : 0,
                         counts->reasoning > 0 ? counts->reasoning : 0);
}

/* ---- content ----------------------------------------------------------------------------------------------------- */

struct call_heard {
    struct call_heard *next;
    struct answer_call_piece piece;
};

/* An answer, or a chunk of one, kept aside until all of its text has turned out to be JSON. */
struct heard {
    bool whole; /* an answer */
    bool is_object, is_error, has_choices, has_choice, has_message;
    bool has_other_choice; /* of another number than 0 */
    const char *id, *model, *finish;
    const char *content, *refusal;
    /* Thinking is no part of OpenAI's own API. DeepSeek, vLLM and SGLang name it reasoning_content, OpenRouter and
     * newer vLLM reasoning; if both are present, they are equal. */
    const char *reasoning_content, *reasoning;
    struct call_heard *first_call, **last_call;
    struct counts counts;
};

static void read_function(struct json_pull *in, struct answer_call_piece *piece)
{
    struct json_scope function;
    if (json_pull_null(in) || !json_pull_object(in, &function))
        return;
    while (json_pull_next(in, &function)) {
        if (json_pull_at(in, "name"))
            piece->name = json_pull_text(in);
        else if (json_pull_at(in, "arguments"))
            piece->arguments = json_pull_text(in);
    }
}

static void read_tool_call(struct json_pull *in, struct heard *heard, int64_t position)
{
    struct json_scope scope;
    struct call_heard *call = arena_zalloc(in->arena, sizeof *call);
    if (!call || !json_pull_object(in, &scope))
        return;
    call->piece =
        (struct answer_call_piece){.index = heard->whole ? position : -1, .id = "", .name = "", .arguments = ""};
    while (json_pull_next(in, &scope)) {
        if (json_pull_at(in, "id"))
            call->piece.id = json_pull_text(in);
        else if (json_pull_at(in, "function"))
            read_function(in, &call->piece);
        else if (json_pull_at(in, "index") && !heard->whole)
            call->piece.index = json_pull_integer(in, 0, INT32_MAX, -1);
    }
    *heard->last_call = call;
    heard->last_call = &call->next;
}

static void read_tool_calls(struct json_pull *in, struct heard *heard)
{
    struct json_scope calls;
    if (json_pull_null(in) || !json_pull_array(in, &calls))
        return;
    while (json_pull_next(in, &calls))
        read_tool_call(in, heard, calls.index);
}

/* A message, or the delta of a chunk. */
static void openai_read_message(struct json_pull *in, struct heard *heard)
{
    struct json_scope message;
    if (!json_pull_object(in, &message))
        return;
    heard->has_message = true;
    while (json_pull_next(in, &message)) {
        if (json_pull_at(in, "content"))
            heard->content = json_pull_text(in);
        else if (json_pull_at(in, "refusal"))
            heard->refusal = json_pull_text(in);
        else if (json_pull_at(in, "reasoning_content"))
            heard->reasoning_content = json_pull_text_if_any(in);
        else if (json_pull_at(in, "reasoning"))
            heard->reasoning = json_pull_text_if_any(in);
        else if (json_pull_at(in, "tool_calls"))
            read_tool_calls(in, heard);
    }
}

/* Gives its number; -1 without one. */
static int64_t openai_read_choice(struct json_pull *in, struct heard *heard)
{
    struct json_scope choice;
    int64_t index = -1;
    if (!json_pull_object(in, &choice))
        return index;
    heard->has_choice = true;
    while (json_pull_next(in, &choice)) {
        if (json_pull_at(in, "index") && !json_pull_null(in))
            index = json_pull_integer(in, 0, INT32_MAX, -1);
        else if (json_pull_at(in, heard->whole ? "message" : "delta") && (heard->whole || !json_pull_null(in)))
            openai_read_message(in, heard);
        else if (json_pull_at(in, "finish_reason"))
            heard->finish = json_pull_text(in);
    }
    if (heard->whole && !heard->has_message)
        json_pull_wrong(in, "message", "is missing");
    return index;
}

static struct heard no_choice(bool whole)
{
    return (struct heard){.whole = whole, .finish = "", .content = "", .refusal = ""};
}

/* Number 0 counts, or the first one without numbers. An answer with other numbers alone is refused at its end. There is
 * no choice with the usage chunk, or if the model's answer is empty. */
static void read_choices(struct json_pull *in, struct heard *heard)
{
    struct json_scope choices;
    heard->has_choices = true;
    if (!heard->whole && json_pull_null(in))
        return;
    if (json_pull_array(in, &choices))
        while (json_pull_next(in, &choices)) {
            struct heard choice = no_choice(heard->whole);
            choice.last_call = &choice.first_call;
            int64_t index = openai_read_choice(in, &choice);
            bool first = (index < 0 ? choices.index : index) == 0;
            heard->has_other_choice |= choice.has_choice && !first;
            if (choice.has_choice && !heard->has_choice && first) {
                /* One choice was requested: further choices are skipped, in every chunk. */
                heard->has_choice = true;
                heard->has_message = choice.has_message;
                heard->finish = choice.finish;
                heard->content = choice.content;
                heard->refusal = choice.refusal;
                heard->reasoning_content = choice.reasoning_content;
                heard->reasoning = choice.reasoning;
                heard->first_call = choice.first_call;
            }
        }
}

static void openai_read_root(struct json_pull *in, struct heard *heard)
{
    struct json_scope root;
    heard->is_object = json_pull_kind(in) == JSON_OBJECT;
    if (!heard->is_object || !json_pull_object(in, &root))
        return;
    while (json_pull_next(in, &root)) {
        if (json_pull_at(in, "id"))
            heard->id = json_pull_text(in);
        else if (json_pull_at(in, "model"))
            heard->model = json_pull_text(in);
        else if (json_pull_at(in, "usage"))
            openai_read_usage(in, &heard->counts);
        else if (json_pull_at(in, "choices"))
            read_choices(in, heard);
        else if (json_pull_at(in, "error"))
            heard->is_error = !json_pull_null(in);
    }
    if (heard->whole && !heard->has_choices)
        json_pull_wrong(in, "choices", "is missing");
}

/* ---- answer ------------------------------------------------------------------------------------------------------ */

static bool say_all(struct answer *answer, const struct heard *heard, struct failure *failure)
{
    const char *reasoning = heard->reasoning_content ? heard->reasoning_content : heard->reasoning;
    if (heard->has_message && ((reasoning && !answer_add(answer, ANSWER_REASONING, reasoning, failure)) ||
                               !answer_add(answer, ANSWER_TEXT, heard->content, failure) ||
                               !answer_add(answer, ANSWER_REFUSAL, heard->refusal, failure)))
        return false;
    for (const struct call_heard *call = heard->first_call; call; call = call->next)
        if (!answer_call_tool(answer, &call->piece, failure))
            return false;
    if (heard->has_choice)
        answer_stop(answer, finish_words, heard->finish);
    return !heard->finish[0] || answer_finish_calls(answer, failure);
}

/* Errors are rare, and have many shapes. */
static bool fail_in_band(const char *text, size_t size, struct failure *failure)
{
    struct status st = {0};
    cJSON *root = json_parse(text, size, NULL, &st);
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
    openai_fail_in_band(error ? error : root, failure);
    cJSON_Delete(root);
    return false;
}

static bool take_in(struct answer *answer, const struct heard *heard, bool good, const struct status *st,
                    struct failure *failure)
{
    if (!heard->is_object)
        return fail(&failure->status, DATA_LOSS, "the answer is JSON, but no object");
    answer_name(answer, heard->id, heard->model);
    openai_spend(answer, &heard->counts);
    answer->had_choice |= heard->has_choice;
    answer->had_other_choice |= heard->has_other_choice;
    if (!good)
        return fail(&failure->status, DATA_LOSS, "the answer is not as the API has it: %s", st->text);
    return say_all(answer, heard, failure);
}

#define TEXTS_INLINE 2048               /* bytes: an answer of the usual size touches the heap not at all */
#define TEXTS_BESIDE ((size_t)32 << 20) /* bytes: JSON_VALUES_DEFAULT texts with their overhead, and tool calls */

static bool openai_read_json(struct answer *answer, const char *text, size_t size, bool whole, struct failure *failure)
{
    char storage[TEXTS_INLINE];
    struct status st = {0};
    struct arena texts;
    struct json_pull in;
    struct heard heard = {
        .whole = whole,
        .id = "",
        .model = "",
        .finish = "",
        .content = "",
        .refusal = "",
        .counts = {NO_COUNT, NO_COUNT, NO_COUNT, NO_COUNT, NO_COUNT, false},
    };
    heard.last_call = &heard.first_call;
    arena_init(&texts, storage, sizeof storage, size + TEXTS_BESIDE);
    json_pull_init(&in, text, size, NULL, &texts, &st);
    openai_read_root(&in, &heard);
    bool good = json_pull_end(&in) && !texts.exhausted;
    if (texts.exhausted)
        fail(&failure->status, RESOURCE_EXHAUSTED, "no memory for an answer of %zu bytes", size);
    else if (in.broken && whole)
        fail(&failure->status, DATA_LOSS, "the answer's %zu bytes are not JSON: %s", size, st.text);
    else if (in.broken)
        fail(&failure->status, DATA_LOSS, "an event of the stream is not JSON: %s", st.text);
    else if (heard.is_error)
        fail_in_band(text, size, failure);
    else
        good = take_in(answer, &heard, good, &st, failure) && good;
    arena_fini(&texts);
    return good && !heard.is_error;
}

bool openai_read_chat(struct answer *answer, const char *body, size_t size, struct failure *failure)
{
    answer->ended = true;
    return openai_read_json(answer, body, size, true, failure);
}

bool openai_read_event(struct answer *answer, const struct sse_event *event, struct failure *failure)
{
    if (strcmp(event->data, "[DONE]") == 0) {
        answer->ended = true;
        return true;
    }
    if (event->size == 0) /* of servers that open a stream with an empty event */
        return true;
    if (strcmp(event->type, "error") == 0) /* alone, or within an object as in a chunk */
        return fail_in_band(event->data, event->size, failure);
    return openai_read_json(answer, event->data, event->size, false, failure);
}

static bool openai_find_endpoint(const struct provider_terms *terms, struct provider_endpoint *way, struct status *st)
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
    .model_variable = "OPENAI_MODEL",
    .keyed_host = "api.openai.com",
    .stream_type = "text/event-stream",
    .find_endpoint = openai_find_endpoint,
    .write_chat = openai_write_chat,
    .read_chat = openai_read_chat,
    .read_event = openai_read_event,
    .read_error = openai_read_error,
    .write_embed = openai_write_embed,
    .read_embed = openai_read_embed,
};
