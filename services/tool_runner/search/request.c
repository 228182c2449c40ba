/* Functions with which providers write requests. */
#include "base/text.h"
#include "http/client.h"
#include "search/provider.h"

#include <stdio.h>
#include <string.h>

#define SECRET_MAX 8192 /* bytes of a scheme and a key or token */

bool search_request_authorize(struct search_request *request, const char *name, const char *scheme, const char *secret,
                              struct status *st)
{
    char value[SECRET_MAX + 1];
    int length = snprintf(value, sizeof value, "%s%s", scheme, secret);
    bool fits = length >= 0 && (size_t)length < sizeof value;
    bool added = fits && http_headers_add(request->headers, name, value, st);
    explicit_bzero(value, sizeof value);
    return fits ? added : fail(st, FAILED_PRECONDITION, "has a key of %d bytes; at most %d fit", length, SECRET_MAX);
}

void search_percent_encode(struct buffer *out, const char *text, size_t length)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool plain =
            (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr("-._~", c));
        char encoded[3] = {'%', digits[c >> 4], digits[c & 15]};
        buffer_append(out, plain ? &text[i] : encoded, plain ? 1 : sizeof encoded);
    }
}

static void request_write_pair(struct buffer *out, const char *name, const char *value)
{
    search_percent_encode(out, name, strlen(name));
    buffer_put(out, '=');
    search_percent_encode(out, value, strlen(value));
}

void search_target_add(struct buffer *target, const char *name, const char *value)
{
    buffer_put(target, strchr(buffer_text(target), '?') ? '&' : '?');
    request_write_pair(target, name, value);
}

void search_form_add(struct buffer *body, const char *name, const char *value)
{
    if (body->length)
        buffer_put(body, '&');
    request_write_pair(body, name, value);
}

size_t search_query_cut(const char *query, size_t characters, size_t words)
{
    size_t length = strlen(query), at = 0, seen = 0, words_seen = 0, between = 0;
    bool in_word = false;
    while (at < length) {
        size_t size = text_character(query + at, length - at);
        bool blank = query[at] == ' ' || query[at] == '\t' || query[at] == '\n';
        between = blank && in_word ? at : between;
        words_seen += !blank && !in_word;
        in_word = !blank;
        if (seen == characters || (words && words_seen > words))
            return between ? between : at;
        seen++;
        at += size ? size : 1;
    }
    return length;
}
