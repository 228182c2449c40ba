/* The fields of a standing. */
#ifndef RENGA_UPSTREAM_STANDING_PRIV_H
#define RENGA_UPSTREAM_STANDING_PRIV_H

#include "upstream/breaker.h"
#include "upstream/standing.h"

#include <pthread.h>

/* A bucket that holds a minute's worth and refills evenly. It starts full. A zero `per_minute` is no limit. */
struct standing_bucket {
    int64_t per_minute;
    int64_t level;    /* negative if more was used than had been reserved */
    int64_t since_ns; /* the time of the last refill; the fraction of a unit is not lost */
};
void standing_bucket_init(struct standing_bucket *bucket, int64_t per_minute, int64_t now_ns);

/* From now on the bucket holds another minute's worth; amounts already taken are still missing. */
void standing_bucket_limit(struct standing_bucket *bucket, int64_t per_minute, int64_t now_ns);

/* The time until `amount` can be taken; 0: now. An amount above the bucket's size may go when the bucket is full. */
int64_t standing_bucket_wait_ms(struct standing_bucket *bucket, int64_t now_ns, int64_t amount);

/* Takes `amount`, at most the bucket's size. Returns the amount taken. */
int64_t standing_bucket_take(struct standing_bucket *bucket, int64_t amount);

/* Returns the reserved amount and takes the used amount. */
void standing_bucket_settle(struct standing_bucket *bucket, int64_t now_ns, int64_t reserved, int64_t used);

struct standing {
    const struct standing_kind *kind;
    char *name;
    _Atomic unsigned holders;
    _Atomic uint32_t left_out;    /* PARAMETER_BITs */
    _Atomic unsigned outstanding; /* written under the lock; read without it to compare loads */
    pthread_mutex_t lock;         /* for all that follows */
    int64_t concurrency;
    bool forgives; /* neither the breaker nor a rest counts */
    struct breaker breaker;
    int64_t rests_until_ns;
    struct standing_bucket requests, tokens;
};

/* Whether standing_take would be refused; takes nothing. */
enum standing_refusal standing_peek(struct standing *standing, int64_t now_ns, int64_t tokens, int64_t *wait_ms);

/* The remaining rest of the upstream; an upstream that forgives is asked all the same. */
int64_t standing_rests_ms(struct standing *standing, int64_t now_ns);

unsigned standing_outstanding(const struct standing *standing);

#endif
