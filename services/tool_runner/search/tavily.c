/* Tavily: POST /search (https://docs.tavily.com/documentation/api-reference/endpoint/search). Its scores are 0 to 1. A
 * used-up plan is HTTP 432 or 433, which waiting does not mend. */
#include "http/client.h"
#include "search/provider.h"
#include "json/pull.h"
#include "json/writer.h"

#include <math.h>
#include <string.h>

#define TAVILY_QUERY_CHARACTERS 400
#define TAVILY_DEPTHS           "basic|advanced|fast|ultra-fast"
#define TAVILY_TOPICS           "general|news|finance"
#define TAVILY_TIMES            "day|week|month|year"

struct tavily_settings {
    const char *depth, *topic, *time_range, *country; /* NULL: Tavily's own choice */
    struct field_list include_domains, exclude_domains;
};

static const struct field tavily_fields[] = {
    {.option = {.name = "search_depth", .type = OPTION_CHOICE, .choices = TAVILY_DEPTHS},
     INTO(struct tavily_settings, depth)},
    {.option = {.name = "topic", .type = OPTION_CHOICE, .choices = TAVILY_TOPICS}, INTO(struct tavily_settings, topic)},
    {.option = {.name = "time_range", .type = OPTION_CHOICE, .choices = TAVILY_TIMES},
     INTO(struct tavily_settings, time_range)},
    {.option = {.name = "country", .type = OPTION_STRING, .max = 64}, INTO(struct tavily_settings, country)},
    {.option = {.name = "include_domains", .type = OPTION_LIST}, INTO(struct tavily_settings, include_domains)},
    {.option = {.name = "exclude_domains", .type = OPTION_LIST}, INTO(struct tavily_settings, exclude_domains)},
    {.option = {.name = NULL}},
};

/* ---- the request ------------------------------------------------------------------------------------------------- */

static void tavily_write_optional(struct json_writer *out, const char *name, const char *value)
{
    if (value && value[0])
        json_write_string(out, name, value);
}

static void tavily_write_list(struct json_writer *out, const char *name, const struct field_list *list)
{
    if (!list->count)
        return;
    json_write_array(out, name);
    for (size_t i = 0; i < list->count; i++)
        json_write_string(out, NULL, list->items[i]);
    json_write_end(out);
}

static bool tavily_write_request(const struct search_source *source, const struct search_question *question,
                                 struct search_request *request, struct status *st)
{
    const struct tavily_settings *settings = source->settings;
    struct json_writer out;
    json_writer_init(&out, &request->body);
    json_write_object(&out, NULL);
    json_write_text(&out, "query", question->query, search_query_cut(question->query, TAVILY_QUERY_CHARACTERS, 0));
    json_write_int(&out, "max_results", question->limit);
    tavily_write_optional(&out, "search_depth", settings->depth);
    tavily_write_optional(&out, "topic", settings->topic);
    tavily_write_optional(&out, "time_range", settings->time_range);
    tavily_write_optional(&out, "country", settings->country);
    tavily_write_list(&out, "include_domains", &settings->include_domains);
    tavily_write_list(&out, "exclude_domains", &settings->exclude_domains);
    json_write_end(&out);
    request->method = "POST";
    buffer_print(&request->target, "/search");
    return http_headers_add(request->headers, "Content-Type", "application/json", st) &&
           search_request_authorize(request, "Authorization", "Bearer ", question->key, st);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void tavily_read_result(struct json_pull *in, struct search_answer *answer)
{
    struct json_scope fields;
    struct search_result result = {.score = NAN};
    float score;
    if (json_pull_kind(in) != JSON_OBJECT || !json_pull_object(in, &fields))
        return;
    while (json_pull_next(in, &fields))
        if (json_pull_at(in, "url"))
            result.uri = json_pull_text_if_any(in);
        else if (json_pull_at(in, "title"))
            result.title = json_pull_text_if_any(in);
        else if (json_pull_at(in, "content"))
            result.snippet = json_pull_text_if_any(in);
        else if (json_pull_at(in, "published_date"))
            result.published_date = json_pull_text_if_any(in);
        else if (json_pull_at(in, "score") && json_pull_float(in, &score))
            result.score = (double)score;
    search_answer_add(answer, &result);
}

static bool tavily_read_answer(const struct search_source *source, const struct search_reply *reply,
                               struct search_answer *answer, struct search_failure *failure)
{
    struct json_pull in;
    struct json_scope root, list;
    struct status why = {0};
    bool has_results = false;
    json_pull_init(&in, reply->body, reply->size, NULL, reply->arena, &why);
    for (bool more = json_pull_object(&in, &root); more && json_pull_next(&in, &root);)
        if (json_pull_at(&in, "results") && json_pull_array(&in, &list)) {
            has_results = true;
            while (json_pull_next(&in, &list))
                tavily_read_result(&in, answer);
        }
    if (!json_pull_end(&in))
        return search_failure_unread(failure, "gave an answer that cannot be read: %.300s", why.text);
    return has_results || search_failure_unread(failure, "gave an answer without 'results'");
}

/* `detail` is an object, a text, or a list; without a key it is `error.message`. */
static void tavily_read_error(const struct search_source *source, const struct search_reply *reply,
                              struct search_failure *failure)
{
    static const char *const paths[] = {"detail.error", "detail", "error.message", "error"};
    const char *message = NULL;
    for (size_t i = 0; !message && i < sizeof paths / sizeof paths[0]; i++)
        message = search_error_text(reply, paths[i]);
    search_failure_of_http(failure, reply->http_status, message);
    if (reply->http_status == 432 || reply->http_status == 433) {
        failure->status.code = RESOURCE_EXHAUSTED;
        failure->quota = true;
    }
}

const struct search_provider search_tavily = {
    .kind = "tavily",
    .group = "web",
    .url = "https://api.tavily.com",
    .key_variable = "TAVILY_API_KEY",
    .needs_key = true,
    .is_paid = true,
    .scores_compare = true,
    .fields = tavily_fields,
    .settings_size = sizeof(struct tavily_settings),
    .write_request = tavily_write_request,
    .read_answer = tavily_read_answer,
    .read_error = tavily_read_error,
};
