/* OpenSearch and Elasticsearch: POST /{index}/_search with BM25 or kNN, and /{index}/_msearch with both at once, which
 * gives two lists that are fused here by rank: servers fuse only with a licence or in a new release.
 * https://docs.opensearch.org/latest/api-reference/search-apis/search https://www.elastic.co/docs/api/doc/elasticsearch
 */
#include "http/client.h"
#include "search/opensearch_answer.h"
#include "search/passages.h"
#include "search/provider.h"
#include "json/pull.h"
#include "json/writer.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#define OPENSEARCH_QUERY_CHARACTERS 400 /* a query of words in several fields may have 1,024 clauses */
#define OPENSEARCH_QUERY_WORDS      200
#define OPENSEARCH_NEIGHBOURS       50   /* of a vector query, in each shard */
#define OPENSEARCH_CANDIDATES       200  /* that Elasticsearch looks at for them */
#define OPENSEARCH_FRAGMENT         400  /* characters of a passage */
#define OPENSEARCH_FRAGMENTS        3    /* of a hit */
#define OPENSEARCH_BEGINNING        1200 /* characters of a text without the query's words */
#define OPENSEARCH_TIE              0.3
#define OPENSEARCH_NAME_MAX         256
#define OPENSEARCH_SECRET_MAX       8192 /* bytes of user and password, encoded */

#define OF(member) INTO(struct opensearch_settings, member)
static const struct field opensearch_fields[] = {
    {.option = {.name = "index", .type = OPTION_STRING, .max = OPENSEARCH_NAME_MAX}, OF(index)},
    {.option = {.name = "dialect", .type = OPTION_CHOICE, .choices = "opensearch|elasticsearch"}, OF(dialect)},
    {.option = {.name = "mode", .type = OPTION_CHOICE, .choices = "keyword|vector|hybrid"}, OF(mode)},
    {.option = {.name = "user", .type = OPTION_STRING, .max = OPENSEARCH_NAME_MAX}, OF(user)},
    {.option = {.name = "filter", .type = OPTION_STRING}, OF(filter)},
    {.option = {.name = "search_fields", .type = OPTION_LIST}, OF(search_fields)},
    {.option = {.name = "vector_field", .type = OPTION_STRING, .max = OPENSEARCH_NAME_MAX}, OF(vector_field)},
    {.option = {.name = "title_field", .type = OPTION_STRING, .max = OPENSEARCH_NAME_MAX}, OF(title_field)},
    {.option = {.name = "url_field", .type = OPTION_STRING, .max = OPENSEARCH_NAME_MAX}, OF(url_field)},
    {.option = {.name = "content_field", .type = OPTION_STRING, .max = OPENSEARCH_NAME_MAX}, OF(content_field)},
    {.option = {.name = "date_field", .type = OPTION_STRING, .max = OPENSEARCH_NAME_MAX}, OF(date_field)},
    {.option = {.name = "whole_content", .type = OPTION_BOOLEAN}, OF(whole_content)},
    {.option = {.name = NULL}},
};
#undef OF

/* ---- the settings ------------------------------------------------------------------------------------------------ */

static const char *opensearch_or(const char *text, const char *fallback)
{
    return text && text[0] ? text : fallback;
}

/* A filter is a single clause of the query language: {"term": {"lang": "ja"}}. */
static bool opensearch_check_filter(const char *filter, struct status *st)
{
    struct status why = {0};
    cJSON *clause = filter ? json_parse(filter, strlen(filter), NULL, &why) : NULL;
    bool good = !filter || (cJSON_IsObject(clause) && cJSON_GetArraySize(clause) == 1);
    cJSON_Delete(clause);
    return good || fail(st, INVALID_ARGUMENT, "'filter' must be one clause, as {\"term\": {\"lang\": \"ja\"}}%s%s",
                        why.code != OK ? ": " : "", why.code != OK ? why.text : "");
}

static bool opensearch_check(void *data, struct status *st)
{
    struct opensearch_settings *settings = data;
    settings->mode = opensearch_or(settings->mode, "keyword");
    settings->title_field = opensearch_or(settings->title_field, "title");
    settings->url_field = opensearch_or(settings->url_field, "url");
    settings->content_field = opensearch_or(settings->content_field, "content");
    settings->words = strcmp(settings->mode, "vector") != 0;
    settings->vectors = strcmp(settings->mode, "keyword") != 0;
    settings->beside = settings->dialect && strcmp(settings->dialect, "elasticsearch") == 0;
    if (!settings->index)
        return fail(st, INVALID_ARGUMENT, "'index' is missing; it names one, an alias, or several with commas and '*'");
    if (strpbrk(settings->index, "/\\?#\"<>| ") || settings->index[0] == '_')
        return fail(st, INVALID_ARGUMENT, "'index' is '%.64s', which is no name of an index", settings->index);
    if (settings->vectors && !settings->vector_field)
        return fail(st, INVALID_ARGUMENT, "'vector_field' is missing; mode '%s' needs the field with vectors",
                    settings->mode);
    return opensearch_check_filter(settings->filter, st);
}

static bool opensearch_wants_vector(const struct search_source *source)
{
    return ((const struct opensearch_settings *)source->settings)->vectors;
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

static void opensearch_write_filter(struct json_writer *out, const struct opensearch_settings *settings)
{
    if (settings->filter)
        json_write_raw(out, "filter", settings->filter, strlen(settings->filter));
}

static void opensearch_write_words(struct json_writer *out, const struct opensearch_settings *settings,
                                   const char *query, size_t length)
{
    json_write_object(out, "query");
    json_write_object(out, "bool");
    json_write_object(out, "must");
    json_write_object(out, "multi_match");
    json_write_text(out, "query", query, length);
    json_write_array(out, "fields");
    for (size_t i = 0; i < settings->search_fields.count; i++)
        json_write_string(out, NULL, settings->search_fields.items[i]);
    if (!settings->search_fields.count) {
        json_write_string(out, NULL, settings->title_field);
        json_write_string(out, NULL, settings->content_field);
    }
    json_write_end(out);
    json_write_double(out, "tie_breaker", OPENSEARCH_TIE);
    json_write_end(out);
    json_write_end(out);
    opensearch_write_filter(out, settings);
    json_write_end(out);
    json_write_end(out);
}

/* OpenSearch has it within the query, Elasticsearch beside it. */
static void opensearch_write_vector(struct json_writer *out, const struct opensearch_settings *settings,
                                    const struct search_question *question)
{
    if (!settings->beside)
        json_write_object(out, "query");
    json_write_object(out, "knn");
    if (settings->beside)
        json_write_string(out, "field", settings->vector_field);
    else
        json_write_object(out, settings->vector_field);
    const char *key = settings->beside ? "query_vector" : "vector";
    json_write_array(out, key);
    for (size_t i = 0; i < question->dimensions; i++)
        json_write_float(out, NULL, question->vector[i]);
    json_write_end(out);
    json_write_int(out, "k", OPENSEARCH_NEIGHBOURS);
    if (settings->beside)
        json_write_int(out, "num_candidates", OPENSEARCH_CANDIDATES);
    opensearch_write_filter(out, settings);
    json_write_end(out);
    for (int i = 0; !settings->beside && i < 2; i++)
        json_write_end(out);
}

static void opensearch_write_mark(struct json_writer *out, const char *key, char mark)
{
    json_write_array(out, key);
    json_write_text(out, NULL, &mark, 1);
    json_write_end(out);
}

/* Passages with words of the query; also of a hit that its vector found. */
static void opensearch_write_highlight(struct json_writer *out, const struct opensearch_settings *settings,
                                       const char *query, size_t length)
{
    json_write_object(out, "highlight");
    opensearch_write_mark(out, "pre_tags", SEARCH_MARK_BEGIN);
    opensearch_write_mark(out, "post_tags", SEARCH_MARK_END);
    json_write_object(out, "fields");
    json_write_object(out, settings->content_field);
    json_write_int(out, "fragment_size", OPENSEARCH_FRAGMENT);
    json_write_int(out, "number_of_fragments", OPENSEARCH_FRAGMENTS);
    json_write_int(out, "no_match_size", OPENSEARCH_BEGINNING);
    json_write_object(out, "highlight_query");
    json_write_object(out, "match");
    json_write_text(out, settings->content_field, query, length);
    for (int i = 0; i < 5; i++)
        json_write_end(out);
}

/* A single search, by words or by its vector. */
static void opensearch_write_search(struct buffer *body, const struct opensearch_settings *settings,
                                    const struct search_question *question, bool words)
{
    struct json_writer out;
    size_t length = search_query_cut(question->query, OPENSEARCH_QUERY_CHARACTERS, OPENSEARCH_QUERY_WORDS);
    json_writer_init(&out, body);
    json_write_object(&out, NULL);
    json_write_int(&out, "size", question->limit);
    json_write_bool(&out, "track_total_hits", false);
    if (words)
        opensearch_write_words(&out, settings, question->query, length);
    else
        opensearch_write_vector(&out, settings, question);
    json_write_array(&out, "_source");
    for (enum opensearch_part part = 0; part < OPENSEARCH_PARTS; part++)
        if (opensearch_field(settings, part) && (part != OPENSEARCH_CONTENT || settings->whole_content))
            json_write_string(&out, NULL, opensearch_field(settings, part));
    json_write_end(&out);
    if (!settings->whole_content)
        opensearch_write_highlight(&out, settings, question->query, length);
    json_write_end(&out);
}

static bool opensearch_authorize(const struct opensearch_settings *settings, const struct search_question *question,
                                 struct search_request *request, struct status *st)
{
    char plain[OPENSEARCH_SECRET_MAX / 4 * 3 - 3], encoded[OPENSEARCH_SECRET_MAX + 1];
    if (question->token[0])
        return search_request_authorize(request, "Authorization", "Bearer ", question->token, st);
    if (!settings->user)
        return !question->key[0] || search_request_authorize(request, "Authorization", "ApiKey ", question->key, st);
    int length = snprintf(plain, sizeof plain, "%s:%s", settings->user, question->key);
    bool fits = length >= 0 && (size_t)length < sizeof plain;
    if (fits)
        EVP_EncodeBlock((unsigned char *)encoded, (const unsigned char *)plain, length);
    bool added = fits ? search_request_authorize(request, "Authorization", "Basic ", encoded, st)
                      : fail(st, FAILED_PRECONDITION, "has a password of %zu bytes; at most %zu fit",
                             strlen(question->key), sizeof plain - strlen(settings->user) - 2);
    explicit_bzero(plain, sizeof plain);
    explicit_bzero(encoded, sizeof encoded);
    return added;
}

/* Without a vector, a mode with words asks for words alone. */
static bool opensearch_write_request(const struct search_source *source, const struct search_question *question,
                                     struct search_request *request, struct status *st)
{
    const struct opensearch_settings *settings = source->settings;
    struct buffer *body = &request->body;
    bool vectors = settings->vectors && question->vector, both = vectors && settings->words;
    if (!settings->words && !vectors)
        return fail(st, FAILED_PRECONDITION, "needs a vector of the query: set tool_runner.embedding_model");
    request->method = "POST";
    buffer_put(&request->target, '/');
    search_percent_encode(&request->target, settings->index, strlen(settings->index));
    buffer_print(&request->target, both ? "/_msearch" : "/_search");
    buffer_print(body, both ? "{}\n" : "");
    opensearch_write_search(body, settings, question, settings->words);
    if (both) {
        buffer_print(body, "\n{}\n");
        opensearch_write_search(body, settings, question, false);
        buffer_put(body, '\n');
    }
    return http_headers_add(request->headers, "Content-Type", both ? "application/x-ndjson" : "application/json", st) &&
           http_headers_add(request->headers, "Accept", "application/json", st) &&
           opensearch_authorize(settings, question, request, st);
}

const struct search_provider search_opensearch = {
    .kind = "opensearch",
    .group = "internal",
    .fields = opensearch_fields,
    .settings_size = sizeof(struct opensearch_settings),
    .check = opensearch_check,
    .wants_vector = opensearch_wants_vector,
    .write_request = opensearch_write_request,
    .read_answer = opensearch_read_answer,
    .read_error = opensearch_read_error,
};
