/* SearXNG: POST /search with format=json (https://docs.searxng.org/dev/search_api.html). A server of one's own, without
 * a key. Its scores are sums of weights. Of its defaults two are in the way: JSON is off (403), and its limiter takes
 * programs for robots that lack the headers of browsers. */
#include "http/client.h"
#include "search/provider.h"
#include "json/pull.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SEARXNG_TIMES  "day|week|month|year"
#define SEARXNG_NAMED  4 /* engines that are named in a message */
#define SEARXNG_AGENT  "Mozilla/5.0 (compatible; Renga)"
#define SEARXNG_SAFETY 2

struct searxng_settings {
    const char *categories, *engines, *language, *time_range; /* NULL: the server's own choice */
    int64_t safesearch;
};

static const struct field searxng_fields[] = {
    {.option = {.name = "categories", .type = OPTION_STRING, .max = 256}, INTO(struct searxng_settings, categories)},
    {.option = {.name = "engines", .type = OPTION_STRING, .max = 256}, INTO(struct searxng_settings, engines)},
    {.option = {.name = "language", .type = OPTION_STRING, .max = 16}, INTO(struct searxng_settings, language)},
    {.option = {.name = "time_range", .type = OPTION_CHOICE, .choices = SEARXNG_TIMES},
     INTO(struct searxng_settings, time_range)},
    {.option = {.name = "safesearch", .type = OPTION_INTEGER, .max = SEARXNG_SAFETY},
     INTO(struct searxng_settings, safesearch)},
    {.option = {.name = NULL}},
};

/* ---- the request ------------------------------------------------------------------------------------------------- */

/* The query without the words that are commands of SearXNG: "!engine", "!!g" (which leads to another site), ":ja",
 * "<3" (a time limit). Models and people quoting text do not mean them. */
static void searxng_put_query(struct buffer *body, const char *query)
{
    char kept[SEARCH_QUERY_MAX + 1];
    size_t used = 0;
    for (const char *at = query; *at;) {
        size_t blanks = strspn(at, " \t\r\n"), word = strcspn(at + blanks, " \t\r\n");
        const char *start = at + blanks;
        size_t commands = strspn(start, "!:<?");
        commands = commands < word ? commands : word;
        if (word > commands && used + word - commands + 1 < sizeof kept) {
            if (used)
                kept[used++] = ' ';
            memcpy(kept + used, start + commands, word - commands);
            used += word - commands;
        }
        at = start + word;
    }
    kept[used] = '\0';
    search_form_add(body, "q", used ? kept : query);
}

static void searxng_put_optional(struct buffer *body, const char *name, const char *value)
{
    if (value && value[0])
        search_form_add(body, name, value);
}

static bool searxng_write_request(const struct search_source *source, const struct search_question *question,
                                  struct search_request *request, struct status *st)
{
    static const struct http_header headers[] = {{"Content-Type", "application/x-www-form-urlencoded"},
                                                 {"Accept", "application/json, text/html;q=0.5"},
                                                 {"Accept-Language", "en"},
                                                 {"User-Agent", SEARXNG_AGENT}};
    const struct searxng_settings *settings = source->settings;
    char safety[2] = {(char)('0' + settings->safesearch), '\0'};
    request->method = "POST";
    buffer_print(&request->target, "/search");
    searxng_put_query(&request->body, question->query);
    search_form_add(&request->body, "format", "json");
    searxng_put_optional(&request->body, "language", settings->language ? settings->language : question->language);
    searxng_put_optional(&request->body, "categories", settings->categories);
    searxng_put_optional(&request->body, "engines", settings->engines);
    searxng_put_optional(&request->body, "time_range", settings->time_range);
    if (settings->safesearch)
        search_form_add(&request->body, "safesearch", safety);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (!http_headers_add(request->headers, headers[i].name, headers[i].value, st))
            return false;
    return !question->key[0] || search_request_authorize(request, "Authorization", "Bearer ", question->key, st);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void searxng_read_result(struct json_pull *in, struct search_answer *answer)
{
    struct json_scope fields;
    struct search_result result = {.score = NAN};
    if (json_pull_kind(in) != JSON_OBJECT || !json_pull_object(in, &fields))
        return;
    while (json_pull_next(in, &fields))
        if (json_pull_at(in, "url"))
            result.uri = json_pull_text_if_any(in);
        else if (json_pull_at(in, "title"))
            result.title = json_pull_text_if_any(in);
        else if (json_pull_at(in, "content"))
            result.snippet = json_pull_text_if_any(in);
        else if (json_pull_at(in, "publishedDate"))
            result.published_date = json_pull_text_if_any(in);
    search_answer_add(answer, &result);
}

/* Engines that did not answer, [[name, message], …]: their names, and how many they are. */
static size_t searxng_read_silent(struct json_pull *in, struct buffer *names)
{
    struct json_scope list, pair;
    size_t count = 0;
    if (json_pull_kind(in) != JSON_ARRAY || !json_pull_array(in, &list))
        return 0;
    while (json_pull_next(in, &list)) {
        if (json_pull_kind(in) != JSON_ARRAY || !json_pull_array(in, &pair))
            continue;
        for (const char *name; json_pull_next(in, &pair);)
            if (pair.index == 0 && (name = json_pull_text_if_any(in)) && count++ < SEARXNG_NAMED)
                buffer_printf(names, "%s%.40s", names->length ? ", " : "", name);
    }
    return count;
}

/* No result and engines that failed: it is unknown whether there are results. */
static bool searxng_judge_silent(struct search_answer *answer, struct buffer *names, size_t silent,
                                 struct search_failure *failure)
{
    if (silent && !answer->count) {
        *failure = (struct search_failure){.quota = false};
        return fail(&failure->status, UNAVAILABLE, "got no answer from any of its engines (%s)", buffer_text(names));
    }
    if (silent)
        search_answer_partial(answer, "SearXNG got no answer from %zu of its engines (%s)", silent, buffer_text(names));
    return true;
}

static bool searxng_read_answer(const struct search_source *source, const struct search_reply *reply,
                                struct search_answer *answer, struct search_failure *failure)
{
    struct json_pull in;
    struct json_scope root, list;
    struct status why = {0};
    struct buffer names;
    size_t silent = 0;
    bool has_results = false;
    buffer_init(&names, 512);
    json_pull_init(&in, reply->body, reply->size, NULL, reply->arena, &why);
    for (bool more = json_pull_object(&in, &root); more && json_pull_next(&in, &root);)
        if (json_pull_at(&in, "results") && json_pull_array(&in, &list)) {
            has_results = true;
            while (json_pull_next(&in, &list))
                searxng_read_result(&in, answer);
        } else if (json_pull_at(&in, "unresponsive_engines")) {
            silent = searxng_read_silent(&in, &names);
        }
    bool good = json_pull_end(&in);
    if (!good)
        search_failure_unread(failure, "gave an answer that cannot be read: %.300s", why.text);
    else if (!has_results)
        good = search_failure_unread(failure, "gave an answer without 'results'");
    else
        good = searxng_judge_silent(answer, &names, silent, failure);
    buffer_fini(&names);
    return good;
}

/* A redirect is its limiter's word for a client that it takes for a robot. */
static void searxng_read_error(const struct search_source *source, const struct search_reply *reply,
                               struct search_failure *failure)
{
    struct status *st = &failure->status;
    search_failure_of_http(failure, reply->http_status, search_error_text(reply, "error"));
    if (reply->http_status == 403)
        fail(st, FAILED_PRECONDITION,
             "does not give JSON (HTTP 403); add json to 'formats' of 'search' in its settings.yml");
    if (reply->http_status == 302)
        fail(st, RESOURCE_EXHAUSTED, "takes us for a robot (HTTP 302); add our address to its botdetection.ip_lists");
}

const struct search_provider search_searxng = {
    .kind = "searxng",
    .group = "web",
    .fields = searxng_fields,
    .settings_size = sizeof(struct searxng_settings),
    .write_request = searxng_write_request,
    .read_answer = searxng_read_answer,
    .read_error = searxng_read_error,
};
