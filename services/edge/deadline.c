/* The deadline in a client's headers. */
#include "edge_priv.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define DEADLINE_MAX_MS (24LL * 3600 * 1000)
#define GRPC_DIGITS_MAX 8
#define DEADLINE_TEXT   "write a whole number and a unit, as 500ms, 30s, 2m or 1h, of at most 24 hours"

static bool deadline_fail(struct status *st, const char *header)
{
    return fail_field(st, header, "is no time; " DEADLINE_TEXT);
}

/* "30s", "500ms", "2m", "1h"; a number alone is seconds. */
static bool deadline_read_plain(const char *text, int64_t *ms, struct status *st)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"", 1000}, {"m", 60000}, {"h", 3600000}};
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > GRPC_DIGITS_MAX)
        return deadline_fail(st, "X-Request-Timeout");
    int64_t number = strtoll(text, NULL, 10);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(text + digits, units[i].unit) == 0 && number > 0 && number <= DEADLINE_MAX_MS / units[i].ms) {
            *ms = number * units[i].ms;
            return true;
        }
    return deadline_fail(st, "X-Request-Timeout");
}

/* As gRPC has it on the wire: at most eight digits and one of H, M, S, m, u, n. */
static bool deadline_read_grpc(const char *text, int64_t *ms, struct status *st)
{
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > GRPC_DIGITS_MAX || !text[digits] || text[digits + 1])
        return deadline_fail(st, "Grpc-Timeout");
    int64_t number = strtoll(text, NULL, 10);
    switch (text[digits]) {
    case 'H':
        *ms = number * 3600000;
        break;
    case 'M':
        *ms = number * 60000;
        break;
    case 'S':
        *ms = number * 1000;
        break;
    case 'm':
        *ms = number;
        break;
    case 'u':
        *ms = (number + 999) / 1000;
        break;
    case 'n':
        *ms = (number + 999999) / 1000000;
        break;
    default:
        return deadline_fail(st, "Grpc-Timeout");
    }
    if (*ms > DEADLINE_MAX_MS)
        *ms = DEADLINE_MAX_MS;
    return *ms > 0 || deadline_fail(st, "Grpc-Timeout");
}

bool edge_deadline_read(const struct http_request *request, int64_t *timeout_ms, struct status *st)
{
    const char *plain = http_request_header(request, "x-request-timeout");
    const char *grpc = http_request_header(request, "grpc-timeout");
    int64_t other = 0;
    *timeout_ms = 0;
    if (plain && !deadline_read_plain(plain, timeout_ms, st))
        return false;
    if (grpc && !deadline_read_grpc(grpc, &other, st))
        return false;
    if (plain && grpc && other != *timeout_ms)
        return fail_field(st, "X-Request-Timeout", "differs from Grpc-Timeout; send one of them");
    if (grpc)
        *timeout_ms = other;
    return true;
}
