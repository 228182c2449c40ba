/* Private to the orchestrator: the times and counts for which a thread is kept. Pure: any thread. */
#ifndef RENGA_ORCHESTRATOR_RETENTION_LIMITS_H
#define RENGA_ORCHESTRATOR_RETENTION_LIMITS_H

#include "renga/v1/orchestrator.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct runner;

/* The limits of a thread: its own settings if it has any, else the server's. -1: no limit. */
struct retention_limits {
    int64_t ttl_ms, max_checkpoints, max_age_ms;
};
struct retention_limits retention_limits_of(const struct runner *runner, const Renga__V1__Retention *own);
/* Whether the time of a thread that is not busy is over, as a server with these options sees it. */
bool retention_is_over(const struct runner *runner, const Renga__V1__Retention *own, int64_t updated_ms);

#endif
