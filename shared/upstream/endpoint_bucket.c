#include "upstream/endpoint_health_priv.h"

#include "base/clock.h"

#define MINUTE_NS (60 * NS_PER_SEC)
#define DEBT_MAX  1 /* minutes' worth: a request far above its estimate delays others by at most this */

/* Products of a rate and a time do not fit in 64 bits. */
__extension__ typedef __int128 wide;

static int64_t bucket_clamp(wide value, int64_t least, int64_t most)
{
    if (value < least)
        return least;
    return value > most ? most : (int64_t)value;
}

void endpoint_bucket_init(struct endpoint_bucket *bucket, int64_t per_minute, int64_t now_ns)
{
    *bucket = (struct endpoint_bucket){.per_minute = per_minute, .level = per_minute, .since_ns = now_ns};
}

static void bucket_refill(struct endpoint_bucket *bucket, int64_t now_ns)
{
    int64_t passed_ns = now_ns - bucket->since_ns;
    if (passed_ns <= 0) /* another thread has read a later time, and has refilled first */
        return;
    wide gained = (wide)passed_ns * bucket->per_minute / MINUTE_NS;
    if (bucket->level + gained >= bucket->per_minute) {
        bucket->level = bucket->per_minute;
        bucket->since_ns = now_ns;
        return;
    }
    bucket->level += (int64_t)gained;
    bucket->since_ns += (int64_t)(gained * MINUTE_NS / bucket->per_minute);
}

static void bucket_add(struct endpoint_bucket *bucket, wide amount)
{
    wide least = -(wide)bucket->per_minute * DEBT_MAX;
    bucket->level = bucket_clamp(bucket->level + amount, (int64_t)least, bucket->per_minute);
}

void endpoint_bucket_limit(struct endpoint_bucket *bucket, int64_t per_minute, int64_t now_ns)
{
    struct endpoint_bucket old = *bucket;
    endpoint_bucket_init(bucket, per_minute, now_ns);
    if (!old.per_minute || !per_minute)
        return;
    bucket_refill(&old, now_ns);
    bucket_add(bucket, (wide)old.level - old.per_minute);
}

int64_t endpoint_bucket_wait_ms(struct endpoint_bucket *bucket, int64_t now_ns, int64_t amount)
{
    if (bucket->per_minute == 0)
        return 0;
    bucket_refill(bucket, now_ns);
    int64_t missing = (amount < bucket->per_minute ? amount : bucket->per_minute) - bucket->level;
    if (missing <= 0)
        return 0;
    wide wait_ns = ((wide)missing * MINUTE_NS + bucket->per_minute - 1) / bucket->per_minute;
    wait_ns -= now_ns - bucket->since_ns;
    return bucket_clamp((wait_ns + NS_PER_MS - 1) / NS_PER_MS, 1, INT64_MAX / NS_PER_MS);
}

int64_t endpoint_bucket_take(struct endpoint_bucket *bucket, int64_t amount)
{
    if (bucket->per_minute == 0)
        return 0;
    int64_t taken = bucket_clamp(amount, 0, bucket->per_minute);
    bucket_add(bucket, -(wide)taken);
    return taken;
}

void endpoint_bucket_commit(struct endpoint_bucket *bucket, int64_t now_ns, int64_t reserved, int64_t used)
{
    if (bucket->per_minute == 0)
        return;
    bucket_refill(bucket, now_ns);
    bucket_add(bucket, (wide)reserved - used);
}
