/* Limits, as they are configured: of a client, a tenant, or a deployment. 0 always means: no limit. */
#ifndef RENGA_UPSTREAM_LIMITS_H
#define RENGA_UPSTREAM_LIMITS_H

#include <stddef.h>
#include <stdint.h>

struct limits {
    int64_t concurrency;         /* requests under way */
    int64_t requests_per_minute; /* a bucket that holds a minute's worth and refills evenly; tokens likewise */
    int64_t tokens_per_minute;   /* input and output together */
    int64_t micros_per_day;      /* micro-USD in a day of UTC */
    unsigned weight;             /* share of the turns in the queue beside others, at least 1; not of deployments */
};

/* Limits by name, and the limits of all names without their own row. */
struct limits_row {
    const char *name;
    struct limits limits;
};
struct limits_table {
    struct limits fallback;
    const struct limits_row *rows; /* by name */
    size_t count;
};

#endif
