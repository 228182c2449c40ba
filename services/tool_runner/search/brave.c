/* Brave Search: GET /res/v1/web/search (https://api-dashboard.search.brave.com/app/documentation/web-search). It gives
 * no scores. A wrong key is HTTP 422, and a used-up plan is a 429 with a code of its own, so codes are read before the
 * status. */
#include "http/client.h"
#include "search/passages.h"
#include "search/provider.h"
#include "json/pull.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BRAVE_QUERY_CHARACTERS 400
#define BRAVE_QUERY_WORDS      50
#define BRAVE_WAIT_MAX_S       3600 /* a window that takes longer to refill is a quota */
#define BRAVE_WINDOWS_MAX      8
#define BRAVE_ERROR_MAX        ((size_t)64 << 10) /* bytes of an error's body that are read */

struct brave_settings {
    const char *country, *search_lang, *safesearch, *freshness, *goggles; /* NULL: Brave's own choice */
    bool extra_snippets;
};

static const struct field brave_fields[] = {
    {.option = {.name = "country", .type = OPTION_STRING, .max = 3}, INTO(struct brave_settings, country)},
    {.option = {.name = "search_lang", .type = OPTION_STRING, .max = 16}, INTO(struct brave_settings, search_lang)},
    {.option = {.name = "safesearch", .type = OPTION_CHOICE, .choices = "off|moderate|strict"},
     INTO(struct brave_settings, safesearch)},
    {.option = {.name = "freshness", .type = OPTION_STRING, .max = 32}, INTO(struct brave_settings, freshness)},
    {.option = {.name = "goggles", .type = OPTION_STRING, .max = 1024}, INTO(struct brave_settings, goggles)},
    {.option = {.name = "extra_snippets", .type = OPTION_BOOLEAN}, INTO(struct brave_settings, extra_snippets)},
    {.option = {.name = NULL}},
};

/* ---- the request ------------------------------------------------------------------------------------------------- */

static void brave_add_optional(struct buffer *target, const char *name, const char *value)
{
    if (value && value[0])
        search_target_add(target, name, value);
}

/* Brave's word for Japanese is "jp". */
static const char *brave_language(const struct brave_settings *settings, const char *language)
{
    if (settings->search_lang)
        return settings->search_lang;
    return strcmp(language, "ja") == 0 ? "jp" : language;
}

static bool brave_write_request(const struct search_source *source, const struct search_question *question,
                                struct search_request *request, struct status *st)
{
    const struct brave_settings *settings = source->settings;
    struct buffer *target = &request->target;
    char count[16];
    snprintf(count, sizeof count, "%d", question->limit);
    buffer_print(target, "/res/v1/web/search?q=");
    search_percent_encode(target, question->query,
                          search_query_cut(question->query, BRAVE_QUERY_CHARACTERS, BRAVE_QUERY_WORDS));
    search_target_add(target, "count", count);
    search_target_add(target, "result_filter", "web");
    search_target_add(target, "text_decorations", "false");
    brave_add_optional(target, "search_lang", brave_language(settings, question->language));
    brave_add_optional(target, "country", settings->country);
    brave_add_optional(target, "safesearch", settings->safesearch);
    brave_add_optional(target, "freshness", settings->freshness);
    brave_add_optional(target, "goggles", settings->goggles);
    if (settings->extra_snippets)
        search_target_add(target, "extra_snippets", "true");
    return http_headers_add(request->headers, "Accept", "application/json", st) &&
           search_request_authorize(request, "X-Subscription-Token", "", question->key, st);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void brave_read_extra(struct json_pull *in, struct search_passages *snippet)
{
    struct json_scope list;
    if (json_pull_kind(in) == JSON_ARRAY && json_pull_array(in, &list))
        while (json_pull_next(in, &list))
            search_passages_add_html(snippet, json_pull_text_if_any(in));
}

static void brave_read_result(struct json_pull *in, struct search_answer *answer)
{
    struct json_scope fields;
    struct search_result result = {.score = NAN};
    struct search_passages title = {0}, snippet = {0};
    if (json_pull_kind(in) != JSON_OBJECT || !json_pull_object(in, &fields))
        return;
    while (json_pull_next(in, &fields))
        if (json_pull_at(in, "url"))
            result.uri = json_pull_text_if_any(in);
        else if (json_pull_at(in, "title"))
            search_passages_add_html(&title, json_pull_text_if_any(in));
        else if (json_pull_at(in, "description"))
            search_passages_add_html(&snippet, json_pull_text_if_any(in));
        else if (json_pull_at(in, "extra_snippets"))
            brave_read_extra(in, &snippet);
        else if (json_pull_at(in, "page_age"))
            result.published_date = json_pull_text_if_any(in);
    result.title = search_passages_text(&title);
    result.snippet = search_passages_text(&snippet);
    search_answer_add(answer, &result);
}

static bool brave_read_web(struct json_pull *in, struct search_answer *answer)
{
    struct json_scope web, list;
    bool has_results = false;
    if (!json_pull_object(in, &web))
        return false;
    while (json_pull_next(in, &web))
        if (json_pull_at(in, "results") && json_pull_array(in, &list)) {
            has_results = true;
            while (json_pull_next(in, &list))
                brave_read_result(in, answer);
        }
    return has_results;
}

/* Without any hit there is no `web`. */
static bool brave_read_answer(const struct search_source *source, const struct search_reply *reply,
                              struct search_answer *answer, struct search_failure *failure)
{
    struct json_pull in;
    struct json_scope root;
    struct status why = {0};
    const char *type = NULL;
    bool has_web = false;
    json_pull_init(&in, reply->body, reply->size, NULL, reply->arena, &why);
    for (bool more = json_pull_object(&in, &root); more && json_pull_next(&in, &root);)
        if (json_pull_at(&in, "web"))
            has_web = brave_read_web(&in, answer);
        else if (json_pull_at(&in, "type"))
            type = json_pull_text_if_any(&in);
    if (!json_pull_end(&in))
        return search_failure_unread(failure, "gave an answer that cannot be read: %.300s", why.text);
    return has_web || (type && strcmp(type, "search") == 0) ||
           search_failure_unread(failure, "gave an answer that is no search: 'web' is missing");
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* The field of the first error of a list, as the documentation has them: {"errors": [{"code", "detail"}]}. */
static const char *brave_listed_error(const struct search_reply *reply, const char *name)
{
    struct json_pull in;
    struct json_scope root, list, fields;
    struct status ignored = {0};
    const char *found = NULL;
    if (reply->size > BRAVE_ERROR_MAX)
        return NULL;
    json_pull_init(&in, reply->body, reply->size, NULL, reply->arena, &ignored);
    for (bool more = json_pull_object(&in, &root); more && json_pull_next(&in, &root);)
        if (json_pull_at(&in, "errors") && json_pull_array(&in, &list))
            while (json_pull_next(&in, &list))
                for (bool inside = !found && json_pull_object(&in, &fields); inside && json_pull_next(&in, &fields);)
                    if (json_pull_at(&in, name))
                        found = json_pull_text_if_any(&in);
    return json_pull_end(&in) ? found : NULL;
}

static const char *brave_error(const struct search_reply *reply, const char *path, const char *name)
{
    const char *text = search_error_text(reply, path);
    return text ? text : brave_listed_error(reply, name);
}

/* The numbers of a header like "X-RateLimit-Remaining: 49, 1960", a number for each window. */
static size_t brave_read_windows(const struct search_reply *reply, const char *name, long long *windows)
{
    const char *at = reply->header(reply->from, name);
    size_t count = 0;
    while (at && *at && count < BRAVE_WINDOWS_MAX) {
        char *end;
        windows[count] = strtoll(at, &end, 10);
        if (end == at)
            break;
        count++;
        at = strchr(end, ',');
        at = at ? at + 1 : NULL;
    }
    return count;
}

/* Seconds until the next permitted request, by the exhausted window that refills first; -1: unknown. A window with a
 * limit of 0 has no limit. */
static long long brave_wait_s(const struct search_reply *reply)
{
    long long limits[BRAVE_WINDOWS_MAX], left[BRAVE_WINDOWS_MAX], resets[BRAVE_WINDOWS_MAX], wait = -1;
    size_t n_limits = brave_read_windows(reply, "X-RateLimit-Limit", limits);
    size_t n_left = brave_read_windows(reply, "X-RateLimit-Remaining", left);
    size_t n_resets = brave_read_windows(reply, "X-RateLimit-Reset", resets);
    for (size_t i = 0; i < n_left && i < n_resets; i++)
        if (left[i] <= 0 && resets[i] >= 0 && !(i < n_limits && limits[i] == 0))
            wait = wait < 0 || resets[i] < wait ? resets[i] : wait;
    return wait;
}

static const struct {
    const char *code, *text;
} brave_refusals[] = {
    {"SUBSCRIPTION_TOKEN_INVALID", "does not let us in; look at its key in the document"},
    {"SUBSCRIPTION_NOT_FOUND", "has no plan of this key for web search; look at its key in the document"},
    {"OPTION_NOT_IN_PLAN", "has an option in the document that the plan of its key leaves out"},
};

static void brave_read_error(const struct search_source *source, const struct search_reply *reply,
                             struct search_failure *failure)
{
    const char *code = brave_error(reply, "error.code", "code");
    long long wait_s = reply->http_status == 429 ? brave_wait_s(reply) : -1;
    code = code ? code : "";
    search_failure_of_http(failure, reply->http_status, brave_error(reply, "error.detail", "detail"));
    for (size_t i = 0; i < sizeof brave_refusals / sizeof brave_refusals[0]; i++)
        if (strcmp(code, brave_refusals[i].code) == 0)
            fail(&failure->status, FAILED_PRECONDITION, "%s (HTTP %d, %s)", brave_refusals[i].text, reply->http_status,
                 code);
    if (strcmp(code, "QUOTA_LIMITED") == 0 || wait_s > BRAVE_WAIT_MAX_S) {
        failure->status.code = RESOURCE_EXHAUSTED;
        failure->quota = true;
    } else if (wait_s >= 0) {
        failure->status.retry_after_ms = (int32_t)(wait_s * 1000);
    }
}

const struct search_provider search_brave = {
    .kind = "brave",
    .group = "web",
    .url = "https://api.search.brave.com",
    .key_variable = "BRAVE_SEARCH_API_KEY",
    .needs_key = true,
    .is_paid = true,
    .fields = brave_fields,
    .settings_size = sizeof(struct brave_settings),
    .write_request = brave_write_request,
    .read_answer = brave_read_answer,
    .read_error = brave_read_error,
};
