/* Azure AI Search: POST {endpoint}/indexes('{index}')/docs/search.post.search?api-version=…
 * (https://learn.microsoft.com/rest/api/searchservice/documents/search-post). The service fuses words and vectors
 * itself. Its scores are of three kinds (BM25, fused ranks, reranker), so the order alone counts. */
#include "http/client.h"
#include "search/passages.h"
#include "search/provider.h"
#include "json/pull.h"
#include "json/writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define AZURE_VERSION        "2024-07-01" /* the default: the oldest with vectors that all services have */
#define AZURE_NAME_MAX       128
#define AZURE_NEIGHBOURS     50 /* of a vector query: as many as the reranker reads */
#define AZURE_COVERAGE_WHOLE 99.99
#define AZURE_LETTERS        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define AZURE_MODES          "keyword|vector|hybrid|semantic"

struct azure_settings {
    const char *index, *api_version, *mode, *filter, *scoring_profile, *semantic_configuration;
    const char *title_field, *url_field, *content_field, *date_field; /* date_field may be NULL */
    struct field_list search_fields, vector_fields;
    bool vectorizer;     /* the index makes the vector of the query itself */
    bool words, vectors; /* the parts of a query, by `mode` */
    bool semantic;
};

#define OF(member) INTO(struct azure_settings, member)
static const struct field azure_fields[] = {
    {.option = {.name = "index", .type = OPTION_STRING, .max = AZURE_NAME_MAX}, OF(index)},
    {.option = {.name = "api_version", .type = OPTION_STRING, .max = 32}, OF(api_version)},
    {.option = {.name = "mode", .type = OPTION_CHOICE, .choices = AZURE_MODES}, OF(mode)},
    {.option = {.name = "filter", .type = OPTION_STRING}, OF(filter)},
    {.option = {.name = "scoring_profile", .type = OPTION_STRING, .max = AZURE_NAME_MAX}, OF(scoring_profile)},
    {.option = {.name = "semantic_configuration", .type = OPTION_STRING, .max = AZURE_NAME_MAX},
     OF(semantic_configuration)},
    {.option = {.name = "title_field", .type = OPTION_STRING, .max = AZURE_NAME_MAX}, OF(title_field)},
    {.option = {.name = "url_field", .type = OPTION_STRING, .max = AZURE_NAME_MAX}, OF(url_field)},
    {.option = {.name = "content_field", .type = OPTION_STRING, .max = AZURE_NAME_MAX}, OF(content_field)},
    {.option = {.name = "date_field", .type = OPTION_STRING, .max = AZURE_NAME_MAX}, OF(date_field)},
    {.option = {.name = "search_fields", .type = OPTION_LIST}, OF(search_fields)},
    {.option = {.name = "vector_fields", .type = OPTION_LIST}, OF(vector_fields)},
    {.option = {.name = "vectorizer", .type = OPTION_BOOLEAN}, OF(vectorizer)},
    {.option = {.name = NULL}},
};
#undef OF

/* ---- the settings ------------------------------------------------------------------------------------------------ */

static bool azure_is_plain(const char *text, const char *others)
{
    size_t length = strlen(text);
    while (*text && (strchr(AZURE_LETTERS, *text) || strchr(others, *text)))
        text++;
    return length && !*text;
}

static bool azure_check_field(const char *option, const char *name, struct status *st)
{
    return !name || azure_is_plain(name, "_/") ||
           fail(st, INVALID_ARGUMENT, "'%s' is '%.64s'; a field has letters, digits, '_' and '/' alone", option, name);
}

static bool azure_check_list(const char *option, const struct field_list *list, struct status *st)
{
    for (size_t i = 0; i < list->count; i++)
        if (!azure_check_field(option, list->items[i], st))
            return false;
    return true;
}

static bool azure_check_mode(struct azure_settings *settings, struct status *st)
{
    bool hybrid = strcmp(settings->mode, "hybrid") == 0;
    settings->semantic = strcmp(settings->mode, "semantic") == 0;
    settings->words = strcmp(settings->mode, "vector") != 0;
    settings->vectors = hybrid || !settings->words || (settings->semantic && settings->vector_fields.count);
    if (settings->vectors && !settings->vector_fields.count)
        return fail(st, INVALID_ARGUMENT, "'vector_fields' is missing; mode '%s' needs the fields with vectors",
                    settings->mode);
    if (settings->semantic && !settings->semantic_configuration)
        return fail(st, INVALID_ARGUMENT,
                    "'semantic_configuration' is missing; mode 'semantic' needs one of the index");
    return true;
}

static const char *azure_or(const char *text, const char *fallback)
{
    return text && text[0] ? text : fallback;
}

static bool azure_check(void *data, struct status *st)
{
    struct azure_settings *settings = data;
    settings->api_version = azure_or(settings->api_version, AZURE_VERSION);
    settings->mode = azure_or(settings->mode, "keyword");
    settings->title_field = azure_or(settings->title_field, "title");
    settings->url_field = azure_or(settings->url_field, "url");
    settings->content_field = azure_or(settings->content_field, "content");
    if (!settings->index)
        return fail(st, INVALID_ARGUMENT, "'index' is missing; it names the index, or its alias");
    if (!azure_is_plain(settings->index, "-_"))
        return fail(st, INVALID_ARGUMENT, "'index' is '%.64s'; it has letters, digits, '-' and '_' alone",
                    settings->index);
    if (!azure_is_plain(settings->api_version, "-"))
        return fail(st, INVALID_ARGUMENT, "'api_version' is '%.32s'; it is like " AZURE_VERSION, settings->api_version);
    return azure_check_field("title_field", settings->title_field, st) &&
           azure_check_field("url_field", settings->url_field, st) &&
           azure_check_field("content_field", settings->content_field, st) &&
           azure_check_field("date_field", settings->date_field, st) &&
           azure_check_list("search_fields", &settings->search_fields, st) &&
           azure_check_list("vector_fields", &settings->vector_fields, st) && azure_check_mode(settings, st);
}

static bool azure_wants_vector(const struct search_source *source)
{
    const struct azure_settings *settings = source->settings;
    return settings->vectors && !settings->vectorizer;
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

/* Azure has lists as a text with commas. */
static void azure_write_names(struct json_writer *out, const char *key, const char *const *names, size_t count)
{
    struct buffer list;
    buffer_init(&list, SEARCH_TARGET_MAX);
    for (size_t i = 0; i < count; i++)
        if (names[i]) {
            buffer_print(&list, list.length ? "," : "");
            buffer_print(&list, names[i]);
        }
    if (list.length)
        json_write_text(out, key, list.data, list.length);
    buffer_fini(&list);
}

static void azure_write_vector(struct json_writer *out, const struct azure_settings *settings,
                               const struct search_question *question)
{
    json_write_array(out, "vectorQueries");
    json_write_object(out, NULL);
    json_write_string(out, "kind", settings->vectorizer ? "text" : "vector");
    if (settings->vectorizer)
        json_write_string(out, "text", question->query);
    else
        json_write_array(out, "vector");
    for (size_t i = 0; !settings->vectorizer && i < question->dimensions; i++)
        json_write_float(out, NULL, question->vector[i]);
    if (!settings->vectorizer)
        json_write_end(out);
    azure_write_names(out, "fields", settings->vector_fields.items, settings->vector_fields.count);
    json_write_int(out, "k", AZURE_NEIGHBOURS);
    json_write_end(out);
    json_write_end(out);
}

static void azure_write_words(struct json_writer *out, const struct azure_settings *settings, const char *query)
{
    json_write_string(out, "search", query);
    azure_write_names(out, "searchFields", settings->search_fields.items, settings->search_fields.count);
    if (settings->scoring_profile)
        json_write_string(out, "scoringProfile", settings->scoring_profile);
    if (!settings->semantic)
        return;
    json_write_string(out, "queryType", "semantic");
    json_write_string(out, "semanticConfiguration", settings->semantic_configuration);
    json_write_string(out, "captions", "extractive|highlight-false");
}

static void azure_write_body(struct buffer *body, const struct azure_settings *settings,
                             const struct search_question *question, bool vectors)
{
    const char *selected[] = {settings->title_field, settings->url_field, settings->content_field,
                              settings->date_field};
    struct json_writer out;
    json_writer_init(&out, body);
    json_write_object(&out, NULL);
    if (settings->words)
        azure_write_words(&out, settings, question->query);
    if (vectors)
        azure_write_vector(&out, settings, question);
    azure_write_names(&out, "select", selected, sizeof selected / sizeof selected[0]);
    if (settings->filter)
        json_write_string(&out, "filter", settings->filter);
    json_write_int(&out, "top", question->limit);
    json_write_end(&out);
}

/* Without a vector, a mode with words asks for words alone. */
static bool azure_write_request(const struct search_source *source, const struct search_question *question,
                                struct search_request *request, struct status *st)
{
    const struct azure_settings *settings = source->settings;
    bool vectors = settings->vectors && (settings->vectorizer || question->vector);
    if (!settings->words && !vectors)
        return fail(st, FAILED_PRECONDITION,
                    "needs a vector of the query: set tool_runner.embedding_model, or 'vectorizer' in the document");
    request->method = "POST";
    buffer_printf(&request->target, "/indexes('%s')/docs/search.post.search", settings->index);
    search_target_add(&request->target, "api-version", settings->api_version);
    azure_write_body(&request->body, settings, question, vectors);
    if (!http_headers_add(request->headers, "Content-Type", "application/json", st) ||
        !http_headers_add(request->headers, "Accept", "application/json;odata.metadata=none", st))
        return false;
    return question->token[0] ? search_request_authorize(request, "Authorization", "Bearer ", question->token, st)
                              : search_request_authorize(request, "api-key", "", question->key, st);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* Signs that an answer is not whole. */
struct azure_rest {
    bool incomplete; /* it is continued elsewhere */
    float coverage;  /* percent of the index */
    const char *reason, *type;
};

static void azure_read_captions(struct json_pull *in, struct search_passages *captions)
{
    struct json_scope list, caption;
    if (json_pull_kind(in) != JSON_ARRAY || !json_pull_array(in, &list))
        return;
    while (json_pull_next(in, &list))
        for (bool more = json_pull_kind(in) == JSON_OBJECT && json_pull_object(in, &caption);
             more && json_pull_next(in, &caption);)
            if (json_pull_at(in, "text"))
                search_passages_add(captions, json_pull_text_if_any(in));
}

/* The snippet is the caption, and behind it the content; a content that begins with the caption stands alone. */
static void azure_read_hit(struct json_pull *in, const struct azure_settings *settings, struct search_answer *answer)
{
    struct json_scope fields;
    struct search_result result = {.score = NAN};
    struct search_passages snippet = {0};
    const char *content = NULL;
    if (json_pull_kind(in) != JSON_OBJECT || !json_pull_object(in, &fields))
        return;
    while (json_pull_next(in, &fields))
        if (json_pull_at(in, settings->url_field))
            result.uri = json_pull_text_if_any(in);
        else if (json_pull_at(in, settings->title_field))
            result.title = json_pull_text_if_any(in);
        else if (json_pull_at(in, settings->content_field))
            content = json_pull_text_if_any(in);
        else if (settings->date_field && json_pull_at(in, settings->date_field))
            result.published_date = json_pull_text_if_any(in);
        else if (json_pull_at(in, "@search.captions"))
            azure_read_captions(in, &snippet);
    bool is_within = content && strncmp(content, snippet.text, snippet.length) == 0;
    if (!is_within)
        search_passages_add(&snippet, content);
    result.snippet = is_within ? content : search_passages_text(&snippet);
    search_answer_add(answer, &result);
}

static void azure_read_rest(struct json_pull *in, struct azure_rest *rest)
{
    if (json_pull_at(in, "@search.semanticPartialResponseReason"))
        rest->reason = json_pull_text_if_any(in);
    else if (json_pull_at(in, "@search.semanticPartialResponseType"))
        rest->type = json_pull_text_if_any(in);
    else if (json_pull_at(in, "@search.coverage"))
        json_pull_float(in, &rest->coverage);
    else if (json_pull_at(in, "@search.nextPageParameters"))
        rest->incomplete = json_pull_kind(in) == JSON_OBJECT;
}

static const char *azure_reason(const char *reason)
{
    static const struct {
        const char *name, *text;
    } reasons[] = {{"maxWaitExceeded", "it took too long"},
                   {"capacityOverloaded", "it has too much to do"},
                   {"transient", "it failed for a moment"}};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (strcasecmp(reason, reasons[i].name) == 0)
            return reasons[i].text;
    return "it gives a reason that is not known";
}

/* The service offers a next page with whole answers, too: only HTTP 206 tells that an answer was cut. */
static void azure_tell_rest(const struct azure_rest *rest, int http_status, struct search_answer *answer)
{
    bool ranked = rest->type && strcasecmp(rest->type, "rerankedResults") == 0;
    if (rest->reason)
        search_answer_partial(answer, "the semantic ranker %s: %s", ranked ? "ranked a part" : "ranked nothing",
                              azure_reason(rest->reason));
    if (rest->coverage < AZURE_COVERAGE_WHOLE)
        search_answer_partial(answer, "%.1f %% of the index was searched", (double)rest->coverage);
    if (http_status == 206)
        search_answer_partial(answer, rest->incomplete ? "the answer was cut to a page" : "the answer is partial");
}

static bool azure_read_answer(const struct search_source *source, const struct search_reply *reply,
                              struct search_answer *answer, struct search_failure *failure)
{
    struct json_pull in;
    struct json_scope root, list;
    struct status why = {0};
    struct azure_rest rest = {.coverage = 100};
    bool has_value = false;
    json_pull_init(&in, reply->body, reply->size, NULL, reply->arena, &why);
    for (bool more = json_pull_object(&in, &root); more && json_pull_next(&in, &root);) {
        azure_read_rest(&in, &rest);
        if (json_pull_at(&in, "value") && json_pull_array(&in, &list)) {
            has_value = true;
            while (json_pull_next(&in, &list))
                azure_read_hit(&in, source->settings, answer);
        }
    }
    if (!json_pull_end(&in))
        return search_failure_unread(failure, "gave an answer that cannot be read: %.300s", why.text);
    azure_tell_rest(&rest, reply->http_status, answer);
    return has_value || search_failure_unread(failure, "gave an answer without 'value'");
}

static void azure_read_error(const struct search_source *source, const struct search_reply *reply,
                             struct search_failure *failure)
{
    search_failure_of_http(failure, reply->http_status, search_error_text(reply, "error.message"));
}

const struct search_provider search_azure_ai_search = {
    .kind = "azure_ai_search",
    .group = "internal",
    .needs_key = true,
    .is_paid = true,
    .fields = azure_fields,
    .settings_size = sizeof(struct azure_settings),
    .check = azure_check,
    .wants_vector = azure_wants_vector,
    .write_request = azure_write_request,
    .read_answer = azure_read_answer,
    .read_error = azure_read_error,
};
