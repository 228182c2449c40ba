/* The limits of a thread: its own, else those of the server. */
#include "retention_limits.h"
#include "memory.h"
#include "runner_options.h"
#include "shard.h"

static struct retention_limits retention_limits_own_or(const Renga__V1__Retention *own,
                                                       const struct retention_limits *fallback)
{
    return (struct retention_limits){
        .ttl_ms = own && own->ttl_ms ? own->ttl_ms : fallback->ttl_ms,
        .max_checkpoints = own && own->max_checkpoints ? own->max_checkpoints : fallback->max_checkpoints,
        .max_age_ms = own && own->max_age_ms ? own->max_age_ms : fallback->max_age_ms,
    };
}

struct retention_limits retention_limits_of(const struct runner *runner, const Renga__V1__Retention *own)
{
    const struct runner_options *options = &runner->options;
    struct retention_limits server = {.ttl_ms = options->thread_ttl_ms ? options->thread_ttl_ms : -1,
                                      .max_checkpoints = options->checkpoints_max ? options->checkpoints_max : -1,
                                      .max_age_ms = options->history_age_ms ? options->history_age_ms : -1};
    return retention_limits_own_or(own, &server);
}

bool retention_is_over(const struct runner *runner, const Renga__V1__Retention *own, int64_t updated_ms)
{
    struct retention_limits limits = retention_limits_of(runner, own);
    return limits.ttl_ms > 0 && wall_ms() - updated_ms >= limits.ttl_ms;
}
