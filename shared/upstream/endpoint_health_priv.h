/* The fields of endpoint health. */
#ifndef RENGA_UPSTREAM_ENDPOINT_HEALTH_PRIV_H
#define RENGA_UPSTREAM_ENDPOINT_HEALTH_PRIV_H

#include "upstream/breaker.h"
#include "upstream/endpoint_health.h"

#include <pthread.h>

/* A bucket that holds a minute's worth and refills evenly. It starts full. A zero `per_minute` is no limit. */
struct endpoint_bucket {
    int64_t per_minute;
    int64_t level;    /* negative if more was used than had been reserved */
    int64_t since_ns; /* the time of the last refill; the fraction of a unit is not lost */
};
void endpoint_bucket_init(struct endpoint_bucket *bucket, int64_t per_minute, int64_t now_ns);

/* From now on the bucket holds another minute's worth; amounts already taken are still missing. */
void endpoint_bucket_limit(struct endpoint_bucket *bucket, int64_t per_minute, int64_t now_ns);

/* The time until `amount` can be taken; 0: now. An amount above the bucket's size may go when the bucket is full. */
int64_t endpoint_bucket_wait_ms(struct endpoint_bucket *bucket, int64_t now_ns, int64_t amount);

/* Takes `amount`, at most the bucket's size. Returns the amount taken. */
int64_t endpoint_bucket_take(struct endpoint_bucket *bucket, int64_t amount);

/* Returns the reserved amount and takes the used amount. */
void endpoint_bucket_commit(struct endpoint_bucket *bucket, int64_t now_ns, int64_t reserved, int64_t used);

struct endpoint_health {
    const struct endpoint_kind *kind;
    char *name;
    _Atomic unsigned holders;
    _Atomic uint32_t refused_parameters; /* PARAMETER_BITs */
    _Atomic unsigned outstanding;        /* written under the lock; read without it to compare loads */
    pthread_mutex_t lock;                /* for all that follows */
    int64_t concurrency;
    bool breaker_disabled; /* neither the breaker nor a rest counts */
    struct breaker breaker;
    int64_t backoff_until_ns;
    struct endpoint_bucket requests, tokens;
};

/* Whether endpoint_health_acquire would be refused; takes nothing. */
enum endpoint_refusal endpoint_health_peek(struct endpoint_health *health, int64_t now_ns, int64_t tokens,
                                           int64_t *wait_ms);

/* The remaining rest of the upstream; an upstream that breaker_disabled is asked all the same. */
int64_t endpoint_health_backoff_ms(struct endpoint_health *health, int64_t now_ns);

unsigned endpoint_health_outstanding(const struct endpoint_health *health);

#endif
