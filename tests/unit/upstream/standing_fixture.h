/* An upstream's standing on a stopped clock, and a caller who takes places in it. */
#ifndef RENGA_STANDING_FIXTURE_H
#define RENGA_STANDING_FIXTURE_H

#include "upstream/standing_priv.h"

#include "base/clock.h"
#include "base/log.h"

#include "unit.h"

static const struct standing_kind standing_kind = {"test.circuit", "upstream"};

static inline struct standing *create(int64_t concurrency, int64_t requests, int64_t tokens)
{
    struct limits limits = {.concurrency = concurrency, .requests_per_minute = requests, .tokens_per_minute = tokens};
    struct standing *standing = standing_create(&standing_kind, "east", &limits);
    assert_non_null(standing);
    return standing;
}

static inline void pass_ms(int64_t ms)
{
    clock_step(ms * NS_PER_MS);
}

static struct standing_place place;
static int64_t wait_ms;

static inline enum standing_refusal take(struct standing *standing, int64_t tokens)
{
    return standing_take(standing, clock_now_ns(), tokens, &place, &wait_ms);
}

static inline void give_back(struct standing *standing, enum standing_verdict verdict, int64_t tokens)
{
    struct standing_report report = {.verdict = verdict, .place = place, .tokens = tokens};
    standing_give_back(standing, clock_now_ns(), &report);
}

static inline void give_back_limited(struct standing *standing, int64_t rest_ms)
{
    struct standing_report report = {.verdict = STANDING_LIMITED, .rest_ms = rest_ms, .place = place};
    standing_give_back(standing, clock_now_ns(), &report);
}

static inline void ask(struct standing *standing, enum standing_verdict verdict)
{
    assert_int_equal(take(standing, 0), STANDING_FREE);
    give_back(standing, verdict, 0);
}

static inline struct standing_view view_of(struct standing *standing)
{
    struct standing_view view;
    standing_view(standing, clock_now_ns(), &view);
    return view;
}

#endif
