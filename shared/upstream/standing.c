#include "upstream/standing_priv.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct standing *standing_create(const struct standing_kind *kind, const char *name, const struct limits *limits)
{
    struct standing *standing = calloc(1, sizeof *standing);
    if (!standing)
        return NULL;
    int64_t now_ns = clock_now_ns();
    standing->kind = kind;
    standing->name = strdup(name);
    if (!standing->name) {
        free(standing);
        return NULL;
    }
    standing->holders = 1;
    standing->concurrency = limits->concurrency;
    standing_bucket_init(&standing->requests, limits->requests_per_minute, now_ns);
    standing_bucket_init(&standing->tokens, limits->tokens_per_minute, now_ns);
    pthread_mutex_init(&standing->lock, NULL);
    return standing;
}

void standing_destroy(struct standing **standing_pointer)
{
    struct standing *standing = *standing_pointer;
    if (!standing)
        return;
    *standing_pointer = NULL;
    if (atomic_fetch_sub_explicit(&standing->holders, 1, memory_order_acq_rel) > 1)
        return;
    assert(standing->outstanding == 0);
    pthread_mutex_destroy(&standing->lock);
    free(standing->name);
    free(standing);
}

struct standing *standing_hold(struct standing *standing)
{
    atomic_fetch_add_explicit(&standing->holders, 1, memory_order_relaxed);
    return standing;
}

void standing_limit(struct standing *standing, const struct limits *limits)
{
    int64_t now_ns = clock_now_ns();
    pthread_mutex_lock(&standing->lock);
    standing->concurrency = limits->concurrency;
    standing_bucket_limit(&standing->requests, limits->requests_per_minute, now_ns);
    standing_bucket_limit(&standing->tokens, limits->tokens_per_minute, now_ns);
    pthread_mutex_unlock(&standing->lock);
}

void standing_forgive(struct standing *standing)
{
    pthread_mutex_lock(&standing->lock);
    standing->forgives = true;
    pthread_mutex_unlock(&standing->lock);
}

uint32_t standing_left_out(const struct standing *standing)
{
    return atomic_load_explicit(&standing->left_out, memory_order_relaxed);
}

void standing_learn(struct standing *standing, uint32_t left_out)
{
    atomic_fetch_or_explicit(&standing->left_out, left_out, memory_order_relaxed);
}

unsigned standing_outstanding(const struct standing *standing)
{
    return atomic_load_explicit(&standing->outstanding, memory_order_relaxed);
}

/* ---- work under the lock ----------------------------------------------------------------------------------------- */

static unsigned standing_enter(struct standing *standing)
{
    pthread_mutex_lock(&standing->lock);
    return standing->breaker.circuit;
}

/* A log line may block: it is written when others can go on. */
static void standing_leave(struct standing *standing, unsigned from)
{
    unsigned to = standing->breaker.circuit;
    long long rest_ms = standing->breaker.rest_ms;
    pthread_mutex_unlock(&standing->lock);
    if (to == from)
        return;
    if (to == CIRCUIT_OPEN)
        log_warn(standing->kind->event, "%s '%s': %s -> open, left alone for %lld ms", standing->kind->noun,
                 standing->name, circuit_name(from), rest_ms);
    else
        log_info(standing->kind->event, "%s '%s': %s -> %s", standing->kind->noun, standing->name, circuit_name(from),
                 circuit_name(to));
}

static int64_t standing_until_ms(int64_t then_ns, int64_t now_ns)
{
    return then_ns > now_ns ? (then_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS : 0;
}

static enum standing_refusal standing_refuses(struct standing *standing, int64_t now_ns, int64_t tokens,
                                              int64_t *wait_ms)
{
    if (!standing->forgives && !breaker_allows(&standing->breaker, now_ns, wait_ms))
        return STANDING_BROKEN;
    if (!standing->forgives && (*wait_ms = standing_until_ms(standing->rests_until_ns, now_ns)))
        return STANDING_RESTS;
    if (standing->concurrency && standing->outstanding >= standing->concurrency)
        return STANDING_BUSY;
    int64_t requests_ms = standing_bucket_wait_ms(&standing->requests, now_ns, 1);
    int64_t tokens_ms = standing_bucket_wait_ms(&standing->tokens, now_ns, tokens);
    *wait_ms = requests_ms > tokens_ms ? requests_ms : tokens_ms;
    return *wait_ms ? STANDING_RATE : STANDING_FREE;
}

enum standing_refusal standing_peek(struct standing *standing, int64_t now_ns, int64_t tokens, int64_t *wait_ms)
{
    pthread_mutex_lock(&standing->lock);
    enum standing_refusal refused = standing_refuses(standing, now_ns, tokens, wait_ms);
    pthread_mutex_unlock(&standing->lock);
    return refused;
}

int64_t standing_rests_ms(struct standing *standing, int64_t now_ns)
{
    pthread_mutex_lock(&standing->lock);
    int64_t rests_ms = standing_until_ms(standing->rests_until_ns, now_ns);
    pthread_mutex_unlock(&standing->lock);
    return rests_ms;
}

enum standing_refusal standing_take(struct standing *standing, int64_t now_ns, int64_t tokens,
                                    struct standing_place *place, int64_t *wait_ms)
{
    unsigned before = standing_enter(standing);
    enum standing_refusal refused = standing_refuses(standing, now_ns, tokens, wait_ms);
    if (refused == STANDING_FREE) {
        standing->outstanding++;
        standing_bucket_take(&standing->requests, 1);
        place->reserved = standing_bucket_take(&standing->tokens, tokens);
        place->period = standing->forgives ? 0 : breaker_take(&standing->breaker, now_ns);
    }
    standing_leave(standing, before);
    return refused;
}

static void standing_rest(struct standing *standing, int64_t now_ns, int64_t rest_ms)
{
    int64_t until_ns = now_ns + (rest_ms < STANDING_REST_MAX_MS ? rest_ms : STANDING_REST_MAX_MS) * NS_PER_MS;
    if (until_ns > standing->rests_until_ns)
        standing->rests_until_ns = until_ns;
}

void standing_give_back(struct standing *standing, int64_t now_ns, const struct standing_report *report)
{
    static const enum breaker_verdict verdicts[] = {
        [STANDING_GOOD] = BREAKER_GOOD,
        [STANDING_BAD] = BREAKER_BAD,
        [STANDING_LIMITED] = BREAKER_NEITHER,
        [STANDING_UNKNOWN] = BREAKER_NEITHER,
    };
    unsigned before = standing_enter(standing);
    assert(standing->outstanding > 0);
    standing->outstanding--;
    standing_bucket_settle(&standing->tokens, now_ns, report->place.reserved, report->tokens);
    if (report->verdict == STANDING_LIMITED)
        standing_rest(standing, now_ns, report->rest_ms > 0 ? report->rest_ms : STANDING_REST_MS);
    if (!standing->forgives)
        breaker_judge(&standing->breaker, now_ns, report->place.period, verdicts[report->verdict]);
    standing_leave(standing, before);
}

void standing_hear(struct standing *standing, int64_t now_ns, int64_t requests, int64_t tokens, int64_t reset_ms)
{
    if ((requests != 0 && tokens != 0) || reset_ms <= 0)
        return;
    pthread_mutex_lock(&standing->lock);
    standing_rest(standing, now_ns, reset_ms < STANDING_HEARD_MAX_MS ? reset_ms : STANDING_HEARD_MAX_MS);
    pthread_mutex_unlock(&standing->lock);
}

void standing_view(struct standing *standing, int64_t now_ns, struct standing_view *view)
{
    pthread_mutex_lock(&standing->lock);
    const struct breaker *breaker = &standing->breaker;
    int64_t open_ms = breaker->circuit == CIRCUIT_OPEN ? standing_until_ms(breaker->open_until_ns, now_ns) : 0;
    int64_t asked_ms = standing_until_ms(standing->rests_until_ns, now_ns);
    *view = (struct standing_view){
        .circuit = breaker->circuit,
        .outstanding = standing->outstanding,
        .rests_ms = open_ms > asked_ms ? open_ms : asked_ms,
        .opened = breaker->opened,
    };
    pthread_mutex_unlock(&standing->lock);
}

/* ---- the verdict on a failure ------------------------------------------------------------------------------------ */

void standing_judge(struct standing_report *report, enum status_code code, bool quota, int64_t hint_ms)
{
    report->rest_ms = 0;
    switch (code) {
    case UNAVAILABLE:
    case DATA_LOSS:
    case FAILED_PRECONDITION: /* our key, our address: a person has to mend it */
        report->verdict = STANDING_BAD;
        return;
    case RESOURCE_EXHAUSTED:
        report->verdict = STANDING_LIMITED;
        report->rest_ms = quota ? STANDING_QUOTA_REST_MS : hint_ms;
        return;
    case CANCELLED:
    case DEADLINE_EXCEEDED: /* the caller's own */
    case INTERNAL:
        report->verdict = STANDING_UNKNOWN;
        return;
    default:
        report->verdict = STANDING_GOOD;
    }
}
