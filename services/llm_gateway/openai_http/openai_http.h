/* The OpenAI HTTP interface of this gateway, for all clients of that API.
 *
 *      request, checked and read ---> the instance's own RPCs, through the in-process stub ---> answer, written
 *
 * Limits, time, cancellation, retries and accounting are therefore the gateway's for all callers; this room only
 * translates between the two formats. One listener in each loop, all on one port. From inside its loop. */
#ifndef RENGA_LLM_GATEWAY_OPENAI_HTTP_H
#define RENGA_LLM_GATEWAY_OPENAI_HTTP_H

#include "base/status.h"

#include <stdint.h>

struct openai_http;
struct service_context;

struct openai_http_options {
    const char *listen;              /* "0.0.0.0:15201" */
    const struct openai_http *first; /* the listener of the first loop: they share its port; NULL: this is the first */
    int64_t reader_wait_ms;          /* how long a client may stop reading */
    int64_t read_ms;                 /* how long a client may be silent within a request */
    const char *hosts;    /* names, apart by commas, that clients may ask by; NULL: as http/server.h has it */
    unsigned connections; /* of all loops together */
    unsigned connections_per_address; /* 0: no bound */
};

/* UNAVAILABLE if the address cannot be bound. */
struct openai_http *openai_http_create(const struct service_context *context, const struct openai_http_options *options,
                                       struct status *st);

/* Accepts no new calls and lets current calls end; cancels them at `limit_ms`. `drained` runs once, when all have
 * ended. */
void openai_http_drain(struct openai_http *openai_http, int64_t limit_ms, void (*drained)(void *data), void *data);

/* After openai_http_drain has come to its end. Accepts NULL. */
void openai_http_destroy(struct openai_http **openai_http);

int openai_http_port(const struct openai_http *openai_http);

#endif
