/* The meaning of a failed request, as far as it is the same for all providers. */
#include "base/text.h"
#include "search/provider.h"
#include "json/pull.h"

#include <stdio.h>
#include <string.h>

#define ERROR_BODY_MAX ((size_t)64 << 10) /* bytes of an error's body that are read */

struct failure_meaning {
    enum status_code code;
    const char *text;
    bool quota;
};

static struct failure_meaning failure_meaning_of(int http_status)
{
    switch (http_status) {
    case 401:
    case 403:
        return (struct failure_meaning){FAILED_PRECONDITION, "does not let us in; look at its key in the document",
                                        false};
    case 402:
        return (struct failure_meaning){RESOURCE_EXHAUSTED, "says that the account is used up", true};
    case 404:
    case 410:
        return (struct failure_meaning){NOT_FOUND, "has no such address or index; look at its url in the document",
                                        false};
    case 408:
        return (struct failure_meaning){UNAVAILABLE, "was too slow for itself", false};
    case 429:
        return (struct failure_meaning){RESOURCE_EXHAUSTED, "gets too many requests", false};
    default:
        break;
    }
    if (http_status >= 500)
        return (struct failure_meaning){UNAVAILABLE, "fails", false};
    if (http_status < 400)
        return (struct failure_meaning){FAILED_PRECONDITION, "leads elsewhere; look at its url in the document", false};
    return (struct failure_meaning){INVALID_ARGUMENT, "does not accept the request", false};
}

void search_failure_of_http(struct search_failure *failure, int http_status, const char *message)
{
    struct failure_meaning meaning = failure_meaning_of(http_status);
    message = message ? message : "";
    int32_t hint_ms = failure->status.retry_after_ms;
    char said[SEARCH_MESSAGE_MAX + 1] = "";
    size_t length = strnlen(message, SEARCH_MESSAGE_MAX + 1);
    length = text_cut(message, text_clean_length(message, length), SEARCH_MESSAGE_MAX);
    memcpy(said, message, length);
    for (char *c = said; *c; c++)
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? ' ' : *c;
    *failure = (struct search_failure){.quota = meaning.quota};
    fail(&failure->status, meaning.code, "%s (HTTP %d)%s%s", meaning.text, http_status, said[0] ? ": " : "", said);
    failure->status.retry_after_ms = hint_ms;
}

bool search_failure_unread(struct search_failure *failure, const char *format, ...)
{
    va_list arguments;
    *failure = (struct search_failure){.quota = false};
    va_start(arguments, format);
    status_set(&failure->status, DATA_LOSS, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- the message in an error ------------------------------------------------------------------------------------- */

/* Follows the path; passes over all other values. */
static const char *failure_find_text(struct json_pull *in, const char *path)
{
    struct json_scope scope;
    char key[64];
    const char *dot = strchr(path, '.'), *found = NULL;
    size_t length = dot ? (size_t)(dot - path) : strlen(path);
    if (json_pull_kind(in) != JSON_OBJECT)
        return NULL;
    snprintf(key, sizeof key, "%.*s", (int)length, path);
    for (bool more = json_pull_object(in, &scope); more && json_pull_next(in, &scope);) {
        if (!json_pull_at(in, key))
            continue;
        found = dot ? failure_find_text(in, dot + 1) : json_pull_text_if_any(in);
    }
    return found;
}

const char *search_error_text(const struct search_reply *reply, const char *path)
{
    struct json_pull in;
    struct status ignored = {0};
    if (reply->size > ERROR_BODY_MAX)
        return NULL;
    json_pull_init(&in, reply->body, reply->size, NULL, reply->arena, &ignored);
    const char *found = failure_find_text(&in, path);
    return json_pull_end(&in) ? found : NULL;
}
