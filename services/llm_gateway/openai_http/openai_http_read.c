/* The body of POST /v1/chat/completions: https://platform.openai.com/docs/api-reference/chat/create
 *
 * One row for each field. Supported fields are read. An unsupported field that would change the answer is refused by
 * name. Fields that only concern the provider's operation (storing, tiers, cache hints) are ignored. A null counts
 * as an absent field. */
#include "openai_http_priv.h"

#include "base/nearest.h"
#include "base/text.h"

#include <string.h>

#define RAW_MAX         ((size_t)1 << 20) /* bytes of a schema as text; the contract allows less */
#define LABEL_VALUE_MAX 256               /* bytes, as CallOrigin says */
#define LABELS_MAX      16

bool openai_http_is_given(const cJSON *item)
{
    return item && !cJSON_IsNull(item);
}

bool openai_http_read_refuse(struct openai_http_reader *reader, const cJSON *item, const char *code, const char *format,
                             ...)
{
    struct status why;
    va_list arguments;
    if (reader->in.failed)
        return false;
    reader->question->code = code;
    va_start(arguments, format);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    return json_reader_fail(&reader->in, item, "%s", why.text);
}

int openai_http_read_enum(struct openai_http_reader *reader, const cJSON *item, const char *const *words, int count)
{
    for (int i = 0; cJSON_IsString(item) && i < count; i++)
        if (words[i] && strcmp(words[i], item->valuestring) == 0)
            return i;
    if (cJSON_IsString(item))
        openai_http_read_refuse(reader, item, "unsupported_value", "'%.64s' is not supported here", item->valuestring);
    else
        json_reader_fail(&reader->in, item, "must be a string");
    return -1;
}

char *openai_http_read_raw(struct openai_http_reader *reader, const cJSON *tree)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, RAW_MAX);
    json_writer_init(&writer, &out);
    json_write_tree(&writer, NULL, tree);
    char *text = json_writer_done(&writer) ? arena_strndup(reader->arena, out.data, out.length) : NULL;
    if (!text)
        json_reader_fail(&reader->in, tree, "has more than %zu bytes", RAW_MAX);
    buffer_fini(&out);
    return text ? text : UNCONST("");
}

/* ---- how words are chosen ---------------------------------------------------------------------------------------- */

static double openai_http_read_number(struct openai_http_reader *reader, const cJSON *value)
{
    return json_double(&reader->in, reader->in.root, value->string);
}

static void read_temperature(struct openai_http_reader *reader, const cJSON *value)
{
    Renga__V1__Sampling *sampling = reader->question->request.sampling = &reader->question->sampling;
    sampling->maybe_temperature_case = RENGA__V1__SAMPLING__MAYBE_TEMPERATURE_TEMPERATURE;
    sampling->temperature = openai_http_read_number(reader, value);
}

static void read_top_p(struct openai_http_reader *reader, const cJSON *value)
{
    Renga__V1__Sampling *sampling = reader->question->request.sampling = &reader->question->sampling;
    sampling->maybe_top_p_case = RENGA__V1__SAMPLING__MAYBE_TOP_P_TOP_P;
    sampling->top_p = openai_http_read_number(reader, value);
}

static void read_frequency_penalty(struct openai_http_reader *reader, const cJSON *value)
{
    Renga__V1__Sampling *sampling = reader->question->request.sampling = &reader->question->sampling;
    sampling->maybe_frequency_penalty_case = RENGA__V1__SAMPLING__MAYBE_FREQUENCY_PENALTY_FREQUENCY_PENALTY;
    sampling->frequency_penalty = openai_http_read_number(reader, value);
}

static void read_presence_penalty(struct openai_http_reader *reader, const cJSON *value)
{
    Renga__V1__Sampling *sampling = reader->question->request.sampling = &reader->question->sampling;
    sampling->maybe_presence_penalty_case = RENGA__V1__SAMPLING__MAYBE_PRESENCE_PENALTY_PRESENCE_PENALTY;
    sampling->presence_penalty = openai_http_read_number(reader, value);
}

static void read_seed(struct openai_http_reader *reader, const cJSON *value)
{
    Renga__V1__Sampling *sampling = reader->question->request.sampling = &reader->question->sampling;
    sampling->maybe_seed_case = RENGA__V1__SAMPLING__MAYBE_SEED_SEED;
    sampling->seed = json_integer(&reader->in, reader->in.root, "seed", INT64_MIN, INT64_MAX);
}

static void read_stop(struct openai_http_reader *reader, const cJSON *value)
{
    Renga__V1__ChatRequest *request = &reader->question->request;
    const cJSON *first = cJSON_IsArray(value) ? value->child : value;
    size_t count = cJSON_IsArray(value) ? (size_t)cJSON_GetArraySize(value) : 1;
    request->stop = arena_alloc(reader->arena, count * sizeof(char *));
    for (const cJSON *text = first; text && request->stop && request->n_stop < count; text = text->next) {
        if (!cJSON_IsString(text)) {
            json_reader_fail(&reader->in, text, "must be a string or a list of strings");
            return;
        }
        request->stop[request->n_stop++] = text->valuestring;
    }
}

/* ---- how long, and how ------------------------------------------------------------------------------------------- */

/* Both names of it; the newer one counts. */
static void read_token_limit(struct openai_http_reader *reader, const cJSON *value)
{
    int64_t limit = json_integer(&reader->in, reader->in.root, value->string, 1, INT32_MAX);
    if (!reader->question->request.max_output_tokens || strcmp(value->string, "max_completion_tokens") == 0)
        reader->question->request.max_output_tokens = (int32_t)limit;
}

static void read_reasoning_effort(struct openai_http_reader *reader, const cJSON *value)
{
    static const char *const efforts[] = {
        [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_NONE] = "none",
        [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_MINIMAL] = "minimal",
        [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_LOW] = "low",
        [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_MEDIUM] = "medium",
        [RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_HIGH] = "high",
    };
    int effort = openai_http_read_enum(reader, value, efforts, sizeof efforts / sizeof efforts[0]);
    if (effort >= 0)
        reader->question->request.reasoning_effort = (Renga__V1__ReasoningEffort)effort;
}

static void read_parallel_tool_calls(struct openai_http_reader *reader, const cJSON *value)
{
    Renga__V1__ChatRequest *request = &reader->question->request;
    request->maybe_parallel_tool_calls_case = RENGA__V1__CHAT_REQUEST__MAYBE_PARALLEL_TOOL_CALLS_PARALLEL_TOOL_CALLS;
    request->parallel_tool_calls = json_boolean(&reader->in, reader->in.root, "parallel_tool_calls");
}

static void read_stream(struct openai_http_reader *reader, const cJSON *value)
{
    reader->question->stream = json_boolean(&reader->in, reader->in.root, "stream");
}

static void read_stream_options(struct openai_http_reader *reader, const cJSON *value)
{
    const cJSON *options = json_object(&reader->in, reader->in.root, "stream_options");
    reader->question->include_usage = json_boolean_or(&reader->in, options, "include_usage", false);
}

/* ---- the caller -------------------------------------------------------------------------------------------------- */

/* A label is for finding a call again: a value that is too long is cut, not refused. */
static void add_label(struct openai_http_reader *reader, const char *key, const char *value)
{
    Renga__V1__CallOrigin *origin = reader->question->request.origin = &reader->question->origin;
    Renga__V1__CallOrigin__LabelsEntry *label = arena_alloc(reader->arena, sizeof *label);
    if (!origin->labels)
        origin->labels = arena_alloc(reader->arena, LABELS_MAX * sizeof(*origin->labels));
    if (!label || !origin->labels)
        return;
    renga__v1__call_origin__labels_entry__init(label);
    label->key = UNCONST(key);
    label->value = arena_strndup(reader->arena, value, text_cut(value, strlen(value), LABEL_VALUE_MAX));
    if (label->value && origin->n_labels < LABELS_MAX)
        origin->labels[origin->n_labels++] = label;
}

static void read_user(struct openai_http_reader *reader, const cJSON *value)
{
    add_label(reader, "user", json_string(&reader->in, reader->in.root, "user"));
}

static void read_metadata(struct openai_http_reader *reader, const cJSON *value)
{
    const cJSON *metadata = json_object(&reader->in, reader->in.root, "metadata");
    if (metadata && cJSON_GetArraySize(metadata) > LABELS_MAX)
        json_reader_fail(&reader->in, metadata, "has %d keys; at most %d are allowed", cJSON_GetArraySize(metadata),
                         LABELS_MAX);
    for (const cJSON *item = metadata ? metadata->child : NULL; item && !reader->in.failed; item = item->next)
        add_label(reader, item->string, json_string(&reader->in, metadata, item->string));
}

/* ---- unsupported fields ------------------------------------------------------------------------------------------ */

static void pass_over(struct openai_http_reader *reader, const cJSON *value) {}

static void openai_http_read_refuse_field(struct openai_http_reader *reader, const cJSON *value)
{
    openai_http_read_refuse(reader, value, "unsupported_parameter", "is not supported by this gateway; leave it out");
}

static void only_one(struct openai_http_reader *reader, const cJSON *value)
{
    if (json_integer(&reader->in, reader->in.root, value->string, 1, INT32_MAX) > 1)
        openai_http_read_refuse(reader, value, "unsupported_parameter",
                                "must be 1: this gateway gives one answer a request");
}

/* Accepts false, 0, [] and {}: they request no feature. */
static void only_nothing(struct openai_http_reader *reader, const cJSON *value)
{
    bool empty = (cJSON_IsArray(value) || cJSON_IsObject(value)) && !value->child;
    if (!cJSON_IsFalse(value) && !(cJSON_IsNumber(value) && value->valuedouble == 0) && !empty)
        openai_http_read_refuse_field(reader, value);
}

static void only_text(struct openai_http_reader *reader, const cJSON *value)
{
    const cJSON *first = cJSON_IsArray(value) ? value->child : NULL;
    if (!first || first->next || !cJSON_IsString(first) || strcmp(first->valuestring, "text") != 0)
        openai_http_read_refuse(reader, value, "unsupported_parameter",
                                "must be [\"text\"]: this gateway speaks text alone");
}

static void only_medium(struct openai_http_reader *reader, const cJSON *value)
{
    if (!cJSON_IsString(value) || strcmp(value->valuestring, "medium") != 0)
        openai_http_read_refuse_field(reader, value);
}

static const struct {
    const char *name;
    void (*read)(struct openai_http_reader *reader, const cJSON *value);
} fields[] = {
    {"model", pass_over}, /* this and the next ones are read after all others */
    {"messages", pass_over},
    {"tools", pass_over},
    {"tool_choice", pass_over},
    {"response_format", pass_over},
    {"temperature", read_temperature},
    {"top_p", read_top_p},
    {"seed", read_seed},
    {"frequency_penalty", read_frequency_penalty},
    {"presence_penalty", read_presence_penalty},
    {"max_completion_tokens", read_token_limit},
    {"max_tokens", read_token_limit},
    {"stop", read_stop},
    {"reasoning_effort", read_reasoning_effort},
    {"parallel_tool_calls", read_parallel_tool_calls},
    {"stream", read_stream},
    {"stream_options", read_stream_options},
    {"user", read_user},
    {"metadata", read_metadata},
    {"n", only_one},
    {"logprobs", only_nothing},
    {"top_logprobs", only_nothing},
    {"logit_bias", only_nothing},
    {"modalities", only_text},
    {"verbosity", only_medium},
    {"audio", openai_http_read_refuse_field},
    {"web_search_options", openai_http_read_refuse_field},
    {"functions", openai_http_read_refuse_field},
    {"function_call", openai_http_read_refuse_field},
    {"prediction", pass_over},
    {"store", pass_over},
    {"service_tier", pass_over},
    {"safety_identifier", pass_over},
    {"prompt_cache_key", pass_over},
    {"prompt_cache_retention", pass_over},
};

static void openai_http_read_refuse_unknown(struct openai_http_reader *reader, const cJSON *value)
{
    struct nearest nearest = nearest_to(value->string);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        nearest_try(&nearest, fields[i].name);
    if (nearest.name)
        openai_http_read_refuse(reader, value, "unknown_parameter", "is not known; did you mean '%s'?", nearest.name);
    else
        openai_http_read_refuse(reader, value, "unknown_parameter", "is not known; leave it out");
}

static void openai_http_read_begin(struct openai_http_chat_request *question)
{
    *question = (struct openai_http_chat_request){.code = NULL};
    renga__v1__chat_request__init(&question->request);
    renga__v1__sampling__init(&question->sampling);
    renga__v1__tool_choice__init(&question->tool_choice);
    renga__v1__response_format__init(&question->response_format);
    renga__v1__call_origin__init(&question->origin);
}

bool openai_http_read_chat(const cJSON *root, struct arena *arena, struct openai_http_chat_request *question,
                           struct status *st)
{
    struct openai_http_reader reader = {.in = json_reader_of(root, st), .arena = arena, .question = question};
    openai_http_read_begin(question);
    if (!cJSON_IsObject(root))
        return fail(st, INVALID_ARGUMENT, "the body must be a JSON object");
    for (const cJSON *value = root->child; value && !reader.in.failed; value = value->next) {
        size_t i = 0;
        while (i < sizeof fields / sizeof fields[0] && strcmp(fields[i].name, value->string) != 0)
            i++;
        if (i == sizeof fields / sizeof fields[0])
            openai_http_read_refuse_unknown(&reader, value);
        else if (openai_http_is_given(value))
            fields[i].read(&reader, value);
    }
    question->request.model = UNCONST(json_string(&reader.in, root, "model"));
    openai_http_read_messages(&reader);
    openai_http_read_tools(&reader);
    openai_http_read_tool_choice(&reader);
    openai_http_read_format(&reader);
    if (!reader.in.failed && arena->exhausted)
        return fail(st, RESOURCE_EXHAUSTED, "the request takes more memory than it may");
    return !reader.in.failed;
}
