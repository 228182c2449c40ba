/* The health of an endpoint on a stopped clock, and a caller who takes places in it. */
#ifndef RENGA_ENDPOINT_HEALTH_FIXTURE_H
#define RENGA_ENDPOINT_HEALTH_FIXTURE_H

#include "upstream/endpoint_health_priv.h"

#include "base/clock.h"
#include "base/log.h"

#include "unit.h"

static const struct endpoint_kind endpoint_kind = {"test.circuit", "upstream"};

static inline struct endpoint_health *create(int64_t concurrency, int64_t requests, int64_t tokens)
{
    struct limits limits = {.concurrency = concurrency, .requests_per_minute = requests, .tokens_per_minute = tokens};
    struct endpoint_health *health = endpoint_health_create(&endpoint_kind, "east", &limits);
    assert_non_null(health);
    return health;
}

static inline void pass_ms(int64_t ms)
{
    clock_step(ms * NS_PER_MS);
}

static struct endpoint_slot place;
static int64_t wait_ms;

static inline enum endpoint_refusal take(struct endpoint_health *health, int64_t tokens)
{
    return endpoint_health_acquire(health, clock_now_ns(), tokens, &place, &wait_ms);
}

static inline void give_back(struct endpoint_health *health, enum endpoint_verdict verdict, int64_t tokens)
{
    struct endpoint_report report = {.verdict = verdict, .place = place, .tokens = tokens};
    endpoint_health_release(health, clock_now_ns(), &report);
}

static inline void give_back_limited(struct endpoint_health *health, int64_t rest_ms)
{
    struct endpoint_report report = {.verdict = ENDPOINT_THROTTLED, .rest_ms = rest_ms, .place = place};
    endpoint_health_release(health, clock_now_ns(), &report);
}

static inline void ask(struct endpoint_health *health, enum endpoint_verdict verdict)
{
    assert_int_equal(take(health, 0), ENDPOINT_AVAILABLE);
    give_back(health, verdict, 0);
}

static inline struct endpoint_health_view view_of(struct endpoint_health *health)
{
    struct endpoint_health_view view;
    endpoint_health_view(health, clock_now_ns(), &view);
    return view;
}

#endif
