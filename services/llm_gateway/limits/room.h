/* What a client's limits leave, as the headers that OpenAI's clients read:
 *
 *      x-ratelimit-limit-requests: 60     x-ratelimit-remaining-requests: 59     x-ratelimit-reset-requests: 1s
 *
 * and the same for tokens. The reset is the time until all of it is back. */
#ifndef RENGA_LLM_GATEWAY_ROOM_H
#define RENGA_LLM_GATEWAY_ROOM_H

#include "limits/gate.h"

#include <stddef.h>

#define ROOM_HEADERS   6
#define ROOM_VALUE_MAX 24

struct room_header {
    const char *name; /* one of room_names */
    char value[ROOM_VALUE_MAX];
};
extern const char *const room_names[ROOM_HEADERS];

/* Those of the limits that there are; gives how many. */
size_t room_headers(const struct gate_room *room, struct room_header headers[ROOM_HEADERS]);

/* "250ms", "8.5s", "6m0s", as OpenAI writes a time; gives its length. */
int room_write_duration(int64_t ms, char out[ROOM_VALUE_MAX]);

#endif
