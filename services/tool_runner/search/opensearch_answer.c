#include "search/opensearch_answer.h"

#include "search/passages.h"
#include "json/pull.h"

#include <math.h>
#include <string.h>

#define OPENSEARCH_PATH_MAX  256
#define OPENSEARCH_ERROR_MAX ((size_t)64 << 10) /* bytes of an error's body that are read */

/* ---- a hit ------------------------------------------------------------------------------------------------------- */

struct opensearch_hit {
    const char *index, *id;
    const char *parts[OPENSEARCH_PARTS];
    struct search_passages passages;
};

/* A field may hold a text or a list of texts; of a list the first counts. */
static const char *opensearch_text(struct json_pull *in)
{
    struct json_scope list;
    const char *first = NULL;
    if (json_pull_kind(in) != JSON_ARRAY || !json_pull_array(in, &list))
        return json_pull_text_if_any(in);
    while (json_pull_next(in, &list))
        if (!first)
            first = json_pull_text_if_any(in);
    return first;
}

static bool opensearch_leads_to(const struct opensearch_settings *settings, const char *path, size_t length)
{
    for (enum opensearch_part part = 0; part < OPENSEARCH_PARTS; part++) {
        const char *field = opensearch_field(settings, part);
        if (field && strncmp(field, path, length) == 0 && field[length] == '.')
            return true;
    }
    return false;
}

/* Objects within are entered only on the way to a field, so the depth is bounded by its name. */
static void opensearch_read_source(struct json_pull *in, const struct opensearch_settings *settings,
                                   struct opensearch_hit *hit, char *path, size_t length)
{
    struct json_scope fields;
    if (json_pull_kind(in) != JSON_OBJECT || !json_pull_object(in, &fields))
        return;
    while (json_pull_next(in, &fields)) {
        size_t longer = length + fields.key_length;
        if (longer + 2 > OPENSEARCH_PATH_MAX)
            continue;
        memcpy(path + length, fields.key, fields.key_length);
        path[longer] = '\0';
        for (enum opensearch_part part = 0; part < OPENSEARCH_PARTS; part++) {
            const char *field = opensearch_field(settings, part);
            if (in->waits && field && strcmp(field, path) == 0)
                hit->parts[part] = opensearch_text(in);
        }
        if (in->waits && opensearch_leads_to(settings, path, longer)) {
            path[longer] = '.';
            opensearch_read_source(in, settings, hit, path, longer + 1);
        }
    }
}

static void opensearch_read_highlight(struct json_pull *in, struct opensearch_hit *hit)
{
    struct json_scope fields, list;
    if (json_pull_kind(in) != JSON_OBJECT || !json_pull_object(in, &fields))
        return;
    while (json_pull_next(in, &fields))
        if (json_pull_kind(in) == JSON_ARRAY && json_pull_array(in, &list))
            while (json_pull_next(in, &list))
                search_passages_add(&hit->passages, json_pull_text_if_any(in));
}

static void opensearch_read_hit(struct json_pull *in, const struct opensearch_settings *settings,
                                struct search_answer *answer)
{
    struct json_scope fields;
    struct opensearch_hit hit = {0};
    char path[OPENSEARCH_PATH_MAX];
    if (json_pull_kind(in) != JSON_OBJECT || !json_pull_object(in, &fields))
        return;
    while (json_pull_next(in, &fields))
        if (json_pull_at(in, "_index"))
            hit.index = json_pull_text_if_any(in);
        else if (json_pull_at(in, "_id"))
            hit.id = json_pull_text_if_any(in);
        else if (json_pull_at(in, "_source"))
            opensearch_read_source(in, settings, &hit, path, 0);
        else if (json_pull_at(in, "highlight"))
            opensearch_read_highlight(in, &hit);
    if (!hit.parts[OPENSEARCH_URL] && hit.index && hit.id)
        hit.parts[OPENSEARCH_URL] = arena_printf(&answer->arena, "%s/%s", hit.index, hit.id);
    const char *passages = search_passages_text(&hit.passages);
    search_answer_add(answer, &(struct search_result){.uri = hit.parts[OPENSEARCH_URL],
                                                      .title = hit.parts[OPENSEARCH_TITLE],
                                                      .snippet = passages ? passages : hit.parts[OPENSEARCH_CONTENT],
                                                      .published_date = hit.parts[OPENSEARCH_DATE],
                                                      .score = NAN});
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

struct opensearch_error {
    const char *type, *reason;
};

static void opensearch_read_cause(struct json_pull *in, struct opensearch_error *cause)
{
    if (json_pull_at(in, "type"))
        cause->type = json_pull_text_if_any(in);
    else if (json_pull_at(in, "reason"))
        cause->reason = json_pull_text_if_any(in);
}

/* The first root cause tells more than the error itself, which is often "all shards failed". */
static void opensearch_read_root_cause(struct json_pull *in, struct opensearch_error *root)
{
    struct json_scope list, fields;
    if (json_pull_kind(in) != JSON_ARRAY || !json_pull_array(in, &list))
        return;
    while (json_pull_next(in, &list))
        for (bool more = !root->type && json_pull_kind(in) == JSON_OBJECT && json_pull_object(in, &fields);
             more && json_pull_next(in, &fields);)
            opensearch_read_cause(in, root);
}

static struct opensearch_error opensearch_pull_error(struct json_pull *in)
{
    struct json_scope fields;
    struct opensearch_error outer = {0}, root = {0};
    if (json_pull_kind(in) != JSON_OBJECT || !json_pull_object(in, &fields))
        return (struct opensearch_error){.type = "error", .reason = json_pull_text_if_any(in)};
    while (json_pull_next(in, &fields)) {
        opensearch_read_cause(in, &outer);
        if (json_pull_at(in, "root_cause"))
            opensearch_read_root_cause(in, &root);
    }
    return root.type ? root : outer;
}

static const char *opensearch_error_text(const struct opensearch_error *error, struct arena *arena)
{
    if (!error->type && !error->reason)
        return NULL;
    /* A proxy may repeat the header with user and password; neither stands in it as they are. */
    char *text = arena_printf(arena, "%s: %s", error->type ? error->type : "error",
                              error->reason ? error->reason : "no reason is given");
    for (char *at = text; at && (at = strcasestr(at, "basic "));) {
        at += strlen("basic ");
        size_t length = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=");
        memset(at, '*', length);
        at += length;
    }
    return text;
}

void opensearch_read_error(const struct search_source *source, const struct search_reply *reply,
                           struct search_failure *failure)
{
    struct json_pull in;
    struct json_scope root;
    struct status ignored = {0};
    struct opensearch_error error = {0};
    if (reply->size <= OPENSEARCH_ERROR_MAX) {
        json_pull_init(&in, reply->body, reply->size, NULL, reply->arena, &ignored);
        for (bool more = json_pull_object(&in, &root); more && json_pull_next(&in, &root);)
            if (json_pull_at(&in, "error"))
                error = opensearch_pull_error(&in);
        if (!json_pull_end(&in))
            error = (struct opensearch_error){0};
    }
    search_failure_of_http(failure, reply->http_status, opensearch_error_text(&error, reply->arena));
}

/* ---- an answer --------------------------------------------------------------------------------------------------- */

/* A single search of an answer. */
struct opensearch_response {
    bool has_hits, timed_out;
    int64_t shards, failed_shards;
    int64_t http_status; /* of a search among several; 0: not said */
    struct opensearch_error error;
};

static void opensearch_read_shards(struct json_pull *in, struct opensearch_response *response)
{
    struct json_scope fields;
    if (json_pull_kind(in) != JSON_OBJECT || !json_pull_object(in, &fields))
        return;
    while (json_pull_next(in, &fields))
        if (json_pull_at(in, "total"))
            json_pull_whole(in, &response->shards);
        else if (json_pull_at(in, "failed"))
            json_pull_whole(in, &response->failed_shards);
}

static bool opensearch_read_hits(struct json_pull *in, const struct opensearch_settings *settings,
                                 struct search_answer *answer)
{
    struct json_scope fields, list;
    bool has_list = false;
    if (!json_pull_object(in, &fields))
        return false;
    while (json_pull_next(in, &fields))
        if (json_pull_at(in, "hits") && json_pull_array(in, &list)) {
            has_list = true;
            while (json_pull_next(in, &list))
                opensearch_read_hit(in, settings, answer);
        }
    return has_list;
}

static void opensearch_read_field(struct json_pull *in, const struct opensearch_settings *settings,
                                  struct search_answer *answer, struct opensearch_response *response)
{
    if (json_pull_at(in, "hits"))
        response->has_hits = opensearch_read_hits(in, settings, answer);
    else if (json_pull_at(in, "timed_out"))
        response->timed_out = json_pull_kind(in) == JSON_BOOLEAN && json_pull_boolean(in, false);
    else if (json_pull_at(in, "_shards"))
        opensearch_read_shards(in, response);
    else if (json_pull_at(in, "error"))
        response->error = opensearch_pull_error(in);
    else if (json_pull_at(in, "status"))
        json_pull_whole(in, &response->http_status);
}

/* How a search ended; true with a list of hits. */
static bool opensearch_conclude(const struct opensearch_response *response, struct search_answer *answer,
                                struct search_failure *failure)
{
    const char *error = opensearch_error_text(&response->error, &answer->arena);
    if (error || (response->failed_shards && response->failed_shards >= response->shards)) {
        bool is_status = response->http_status >= 300 && response->http_status < 600;
        search_failure_of_http(failure, is_status ? (int)response->http_status : 503,
                               error ? error : "all shards failed");
        search_answer_partial(answer, "one of two searches failed: %.200s", error ? error : "all shards failed");
        return false;
    }
    if (response->timed_out)
        search_answer_partial(answer, "its time was up before all was searched");
    if (response->failed_shards)
        search_answer_partial(answer, "%lld of %lld shards failed", (long long)response->failed_shards,
                              (long long)response->shards);
    return response->has_hits || search_failure_unread(failure, "gave an answer without 'hits'");
}

/* The answers of _msearch, each with a list of its own. True if any of them is good. */
static bool opensearch_read_responses(struct json_pull *in, const struct opensearch_settings *settings,
                                      struct search_answer *answer, struct search_failure *failure)
{
    struct json_scope list, fields;
    bool good = false;
    if (!json_pull_array(in, &list))
        return false;
    while (json_pull_next(in, &list)) {
        struct opensearch_response response = {0};
        if (list.index > 0)
            search_answer_next_list(answer);
        for (bool more = json_pull_object(in, &fields); more && json_pull_next(in, &fields);)
            opensearch_read_field(in, settings, answer, &response);
        good |= !in->broken && opensearch_conclude(&response, answer, failure);
    }
    return good;
}

bool opensearch_read_answer(const struct search_source *source, const struct search_reply *reply,
                            struct search_answer *answer, struct search_failure *failure)
{
    const struct opensearch_settings *settings = source->settings;
    struct json_pull in;
    struct json_scope root;
    struct status why = {0};
    struct opensearch_response response = {0};
    bool several = false, good = false;
    json_pull_init(&in, reply->body, reply->size, NULL, reply->arena, &why);
    for (bool more = json_pull_object(&in, &root); more && json_pull_next(&in, &root);)
        if (json_pull_at(&in, "responses")) {
            several = true;
            good = opensearch_read_responses(&in, settings, answer, failure);
        } else {
            opensearch_read_field(&in, settings, answer, &response);
        }
    if (!json_pull_end(&in))
        return search_failure_unread(failure, "gave an answer that cannot be read: %.300s", why.text);
    if (!several)
        good = opensearch_conclude(&response, answer, failure);
    if (good)
        *failure = (struct search_failure){.quota = false};
    else if (failure->status.code == OK)
        search_failure_unread(failure, "gave an answer without 'responses'");
    return good;
}
