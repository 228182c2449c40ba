#include "room.h"

#include <inttypes.h>
#include <stdio.h>

#define SECOND_MS 1000
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS   (60 * MINUTE_MS)

enum { LIMIT_REQUESTS, LEFT_REQUESTS, RESET_REQUESTS, LIMIT_TOKENS, LEFT_TOKENS, RESET_TOKENS };
const char *const room_names[ROOM_HEADERS] = {
    [LIMIT_REQUESTS] = "x-ratelimit-limit-requests",    [LIMIT_TOKENS] = "x-ratelimit-limit-tokens",
    [LEFT_REQUESTS] = "x-ratelimit-remaining-requests", [LEFT_TOKENS] = "x-ratelimit-remaining-tokens",
    [RESET_REQUESTS] = "x-ratelimit-reset-requests",    [RESET_TOKENS] = "x-ratelimit-reset-tokens",
};

int room_write_duration(int64_t ms, char out[ROOM_VALUE_MAX])
{
    int64_t hours = ms / HOUR_MS, minutes = ms % HOUR_MS / MINUTE_MS;
    double seconds = (double)(ms % MINUTE_MS) / SECOND_MS;
    if (ms > 0 && ms < SECOND_MS)
        return snprintf(out, ROOM_VALUE_MAX, "%" PRId64 "ms", ms);
    if (hours > 0)
        return snprintf(out, ROOM_VALUE_MAX, "%" PRId64 "h%" PRId64 "m%gs", hours, minutes, seconds);
    if (minutes > 0)
        return snprintf(out, ROOM_VALUE_MAX, "%" PRId64 "m%gs", minutes, seconds);
    return snprintf(out, ROOM_VALUE_MAX, "%gs", seconds);
}

/* Three headers of a limit: itself, what is left, when all is back. */
static size_t write_limit(int64_t limit, int64_t left, int64_t reset_ms, int first, struct room_header *headers)
{
    if (limit < 0)
        return 0;
    for (int i = 0; i < 3; i++)
        headers[i].name = room_names[first + i];
    snprintf(headers[0].value, sizeof headers[0].value, "%" PRId64, limit);
    snprintf(headers[1].value, sizeof headers[1].value, "%" PRId64, left);
    room_write_duration(reset_ms, headers[2].value);
    return 3;
}

size_t room_headers(const struct gate_room *room, struct room_header headers[ROOM_HEADERS])
{
    size_t count =
        write_limit(room->requests_limit, room->requests_left, room->requests_reset_ms, LIMIT_REQUESTS, headers);
    return count +
           write_limit(room->tokens_limit, room->tokens_left, room->tokens_reset_ms, LIMIT_TOKENS, headers + count);
}
