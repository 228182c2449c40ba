/* What a standing is made of. */
#ifndef RENGA_UPSTREAM_STANDING_PRIV_H
#define RENGA_UPSTREAM_STANDING_PRIV_H

#include "upstream/breaker.h"
#include "upstream/standing.h"

#include <pthread.h>

/* A bucket that holds a minute's worth and refills evenly. It starts full. A zero `per_minute` is no limit. */
struct standing_bucket {
    int64_t per_minute;
    int64_t level;    /* below zero where more was used than had been reserved */
    int64_t since_ns; /* up to when it has been refilled; the rest of a unit is not lost */
};
void standing_bucket_init(struct standing_bucket *bucket, int64_t per_minute, int64_t now_ns);

/* From now on it holds another minute's worth; what was taken is still missing. */
void standing_bucket_limit(struct standing_bucket *bucket, int64_t per_minute, int64_t now_ns);

/* After what time `amount` can be taken; 0: now. More than the bucket holds is let go when it is full. */
int64_t standing_bucket_wait_ms(struct standing_bucket *bucket, int64_t now_ns, int64_t amount);

/* What was taken of it: at most what the bucket holds. */
int64_t standing_bucket_take(struct standing_bucket *bucket, int64_t amount);

/* What was reserved comes back, and what was used is taken. */
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

/* Whether standing_take would be refused, without taking anything. */
enum standing_refusal standing_peek(struct standing *standing, int64_t now_ns, int64_t tokens, int64_t *wait_ms);

/* How long it still wants to be left alone; one that forgives would be asked all the same. */
int64_t standing_rests_ms(struct standing *standing, int64_t now_ns);

unsigned standing_outstanding(const struct standing *standing);

#endif
