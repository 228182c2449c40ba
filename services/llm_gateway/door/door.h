/* The HTTP door: OpenAI's own interface before the same gateway, for every client that speaks it.
 *
 *      request, checked and read ---> the instance's own functions, through the in-process stub ---> answer, written
 *
 * So limits, time, cancellation, retries and accounts are the gateway's, whichever way a caller came in; what is here
 * is two forms of the same words. One door a loop, all on one port. From inside its loop. */
#ifndef RENGA_LLM_GATEWAY_DOOR_H
#define RENGA_LLM_GATEWAY_DOOR_H

#include "base/status.h"

#include <stdint.h>

struct door;
struct service_context;

struct door_options {
    const char *listen;         /* "0.0.0.0:15201" */
    const struct door *first;   /* the door of the first loop, whose port is shared; NULL: this is it */
    int64_t reader_patience_ms; /* how long a client may take nothing */
    int64_t read_ms;            /* how long a client may be silent within a request */
    const char *hosts;          /* names, apart by commas, that clients may ask by; NULL: as http/server.h has it */
    unsigned connections;       /* of all loops together */
    unsigned connections_per_address; /* 0: no bound */
};

/* UNAVAILABLE where the address cannot be bound. */
struct door *door_create(const struct service_context *context, const struct door_options *options, struct status *st);

/* Takes no new calls and lets those under way end; cuts them at `limit_ms`. `drained` runs once, when none is left. */
void door_drain(struct door *door, int64_t limit_ms, void (*drained)(void *data), void *data);

/* After door_drain has come to its end. Accepts NULL. */
void door_destroy(struct door **door);

int door_port(const struct door *door);

#endif
