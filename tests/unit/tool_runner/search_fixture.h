/* What tests of search providers have in common: a request that is written, an answer that is read. */
#ifndef RENGA_SEARCH_FIXTURE_H
#define RENGA_SEARCH_FIXTURE_H

#include "http/client.h"
#include "search/provider.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct search_fixture {
    struct search_source source;
    struct search_question question;
    struct search_request request;
    struct search_answer answer;
    struct search_failure failure;
    const char *const *headers; /* of the answer: name, value, …, NULL */
    struct status st;
};

static inline void search_fixture_init(struct search_fixture *fixture, const struct search_provider *provider,
                                       const void *settings)
{
    memset(fixture, 0, sizeof *fixture);
    fixture->source = (struct search_source){.name = "here", .provider = provider, .settings = settings};
    fixture->question =
        (struct search_question){.query = "tide tables", .language = "en", .limit = 5, .key = "KEY-1", .token = ""};
    fixture->request.method = "GET";
    buffer_init(&fixture->request.target, SEARCH_TARGET_MAX);
    buffer_init(&fixture->request.body, SEARCH_BODY_MAX);
    fixture->request.headers = http_headers_create();
    search_answer_init(&fixture->answer);
}

static inline void search_fixture_fini(struct search_fixture *fixture)
{
    buffer_fini(&fixture->request.target);
    buffer_fini(&fixture->request.body);
    http_headers_destroy(&fixture->request.headers);
    search_answer_fini(&fixture->answer);
}

static inline bool search_fixture_write(struct search_fixture *fixture)
{
    return fixture->source.provider->write_request(&fixture->source, &fixture->question, &fixture->request,
                                                   &fixture->st);
}

static inline const char *search_fixture_header(const void *from, const char *name)
{
    const struct search_fixture *fixture = from;
    for (const char *const *header = fixture->headers; header && header[0]; header += 2)
        if (strcasecmp(header[0], name) == 0)
            return header[1];
    return NULL;
}

/* An answer of this status and body. True where there are results. */
static inline bool search_fixture_read_bytes(struct search_fixture *fixture, int http_status, const char *body,
                                             size_t size)
{
    const struct search_provider *provider = fixture->source.provider;
    struct search_reply reply = {.http_status = http_status,
                                 .body = body,
                                 .size = size,
                                 .header = search_fixture_header,
                                 .from = fixture,
                                 .arena = &fixture->answer.arena};
    if (http_status / 100 == 2)
        return provider->read_answer(&fixture->source, &reply, &fixture->answer, &fixture->failure);
    if (provider->read_error)
        provider->read_error(&fixture->source, &reply, &fixture->failure);
    else
        search_failure_of_http(&fixture->failure, http_status, NULL);
    return false;
}

static inline bool search_fixture_read(struct search_fixture *fixture, int http_status, const char *body)
{
    return search_fixture_read_bytes(fixture, http_status, body, strlen(body));
}

#endif
