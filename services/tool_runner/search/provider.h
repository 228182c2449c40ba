/* A provider: the protocol of an external search engine. It writes an HTTP request and reads its answer;
 * sending, waiting, retries, limits, breaker and the record are the same for all providers and are done elsewhere.
 *
 *      search_question ---> write_request ---> HTTP ---> 2xx: read_answer ---> search_answer
 *                                                  '---> else: read_error ---> search_failure
 *
 * The functions only compute: they keep no state, never block, and may run in any thread, several at a time.
 * To add a provider, write a file <name>.c with its const entry, its declaration below and its row in providers.c. */
#ifndef RENGA_TOOL_RUNNER_PROVIDER_H
#define RENGA_TOOL_RUNNER_PROVIDER_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/status.h"
#include "config/fields.h"
#include "search/answer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_headers;
struct search_provider;

#define SEARCH_LIMIT_MAX   20          /* results that a search asks a source for */
#define SEARCH_QUERY_MAX   8192        /* bytes, as SearchRequest.query */
#define SEARCH_TARGET_MAX  (16u << 10) /* bytes of a request's path and query */
#define SEARCH_BODY_MAX    (1u << 20)  /* bytes of a request's body */
#define SEARCH_MESSAGE_MAX 256         /* bytes of a provider's own message that are kept in an error */

/* A source, as its provider sees it: an entry of the document (setup.h). Never changes. */
struct search_source {
    const char *name; /* of the entry: SearchHit.source */
    const struct search_provider *provider;
    const void *settings; /* of the provider's own keys, a struct of its `settings_size` */
};

/* The search itself. Texts are borrowed. */
struct search_question {
    const char *query;    /* well-formed UTF-8, not blank, at most SEARCH_QUERY_MAX bytes */
    const char *language; /* of the query: "ja" or "en" */
    int limit;            /* results wanted, 1 to SEARCH_LIMIT_MAX */
    const char *key;      /* the source's key, may be "" */
    const char *token;    /* a bearer token in its place, renewed outside; may be "" */
    const float *vector;  /* of the query; NULL unless wants_vector is true and the gateway gave a vector */
    size_t dimensions;    /* of the vector */
};

/* Filled by write_request; the caller begins it with "GET" alone. */
struct search_request {
    const char *method;
    struct buffer target;         /* behind the source's url: path and query: "/search?q=…"; may stay empty */
    struct buffer body;           /* may stay empty */
    struct http_headers *headers; /* http_headers_add, which copies; Content-Type and the key among them */
};

/* Adds a header with the value `scheme` ("Bearer ", or "") and a secret; no copy stays in memory. */
bool search_request_authorize(struct search_request *request, const char *name, const char *scheme, const char *secret,
                              struct status *st);

/* Appends NAME=VALUE, percent-encoded, with the '?' or '&' that belongs before it. */
void search_target_add(struct buffer *target, const char *name, const char *value);
void search_form_add(struct buffer *body, const char *name, const char *value);

/* Appends `length` bytes, all but A-Z a-z 0-9 - . _ ~ percent-encoded. */
void search_percent_encode(struct buffer *out, const char *text, size_t length);

/* An answer of HTTP. `header` gives the value of a header of it, or NULL. */
struct search_reply {
    int http_status;
    const char *body; /* at most the source's answer_max bytes, with a NUL behind */
    size_t size;
    const char *(*header)(const void *from, const char *name);
    const void *from;
    struct arena *arena; /* of texts that are read; until the function has returned */
};

/* Why there is no answer. Codes that are tried again after a backoff: UNAVAILABLE, DATA_LOSS, and RESOURCE_EXHAUSTED
 * without `quota`. With any code a stand-in is asked. The text ends a sentence that begins with the source's name,
 * like "refuses its key (HTTP 401): …". */
struct search_failure {
    struct status status; /* retry_after_ms: the provider's wish; from the usual headers before read_error runs */
    bool quota;           /* the account is used up: waiting does not help */
};

struct search_provider {
    const char *kind;         /* "tavily": in the document */
    const char *group;        /* "web" or "internal", unless the document says otherwise */
    const char *url;          /* unless a url is configured; NULL: the document must have a url */
    const char *key_variable; /* of the environment, read if no key is configured and the url is `url`; or NULL */
    bool needs_key;           /* without key and token a search ends in FAILED_PRECONDITION */
    bool is_paid;             /* a search costs money, unless the document says otherwise */
    bool scores_compare; /* its scores are 0 to 1 and compare between searches; else hits are scored by their rank */

    /* Keys of the document that only this provider has (config/fields.h); may be NULL. The struct that they are put
     * into starts zeroed; `check` may set defaults and refuse keys that do not fit together, with a text like "'index'
     * is missing". */
    const struct field *fields;
    size_t settings_size;
    bool (*check)(void *settings, struct status *st); /* may be NULL */

    /* Whether the question is to have a vector. NULL: never. */
    bool (*wants_vector)(const struct search_source *source);

    /* False with a status if this question cannot be asked here. */
    bool (*write_request)(const struct search_source *source, const struct search_question *question,
                          struct search_request *request, struct status *st);

    /* Of a 2xx. Gives its results to `answer`, best first; false with `failure` filled if it cannot be read
     * (DATA_LOSS), or is an error in the place of an answer. */
    bool (*read_answer)(const struct search_source *source, const struct search_reply *reply,
                        struct search_answer *answer, struct search_failure *failure);

    /* For any other status. `body` may be any bytes. NULL: search_failure_of_http without a message. */
    void (*read_error)(const struct search_source *source, const struct search_reply *reply,
                       struct search_failure *failure);
};

/* Fills `failure` with the meaning of an HTTP status for all providers, and with the provider's own message (may be
 * NULL or ""; not trusted: cut, and cleaned of control characters). retry_after_ms is kept.
 *
 *      400, 422 and other 4xx  INVALID_ARGUMENT        404, 410  NOT_FOUND      408  UNAVAILABLE
 *      401, 403, 3xx           FAILED_PRECONDITION     429       RESOURCE_EXHAUSTED
 *      402                     RESOURCE_EXHAUSTED, quota         5xx  UNAVAILABLE */
void search_failure_of_http(struct search_failure *failure, int http_status, const char *message);

/* An answer that cannot be read: DATA_LOSS. Always false. */
bool search_failure_unread(struct search_failure *failure, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The string at `path` ("detail.error", "error.code") of a body that may be no JSON; NULL if it is missing. It lives
 * in the reply's arena. For read_error. */
const char *search_error_text(const struct search_reply *reply, const char *path);

/* Bytes of the query that fit in so many characters and words (0: any number of words), cut between words if it
 * can be. */
size_t search_query_cut(const char *query, size_t characters, size_t words);

/* All of them, NULL at the end (providers.c). */
extern const struct search_provider *const search_providers[];
const struct search_provider *search_provider_of(const char *kind); /* NULL: unknown */

extern const struct search_provider search_tavily;
extern const struct search_provider search_azure_ai_search;
extern const struct search_provider search_brave;
extern const struct search_provider search_opensearch;
extern const struct search_provider search_searxng;

#endif
