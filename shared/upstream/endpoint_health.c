#include "upstream/endpoint_health_priv.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct endpoint_health *endpoint_health_create(const struct endpoint_kind *kind, const char *name,
                                               const struct limits *limits)
{
    struct endpoint_health *health = calloc(1, sizeof *health);
    if (!health)
        return NULL;
    int64_t now_ns = clock_now_ns();
    health->kind = kind;
    health->name = strdup(name);
    if (!health->name) {
        free(health);
        return NULL;
    }
    health->holders = 1;
    health->concurrency = limits->concurrency;
    endpoint_bucket_init(&health->requests, limits->requests_per_minute, now_ns);
    endpoint_bucket_init(&health->tokens, limits->tokens_per_minute, now_ns);
    pthread_mutex_init(&health->lock, NULL);
    return health;
}

void endpoint_health_destroy(struct endpoint_health **endpoint_health_pointer)
{
    struct endpoint_health *health = *endpoint_health_pointer;
    if (!health)
        return;
    *endpoint_health_pointer = NULL;
    if (atomic_fetch_sub_explicit(&health->holders, 1, memory_order_acq_rel) > 1)
        return;
    assert(health->outstanding == 0);
    pthread_mutex_destroy(&health->lock);
    free(health->name);
    free(health);
}

struct endpoint_health *endpoint_health_hold(struct endpoint_health *health)
{
    atomic_fetch_add_explicit(&health->holders, 1, memory_order_relaxed);
    return health;
}

void endpoint_health_limit(struct endpoint_health *health, const struct limits *limits)
{
    int64_t now_ns = clock_now_ns();
    pthread_mutex_lock(&health->lock);
    health->concurrency = limits->concurrency;
    endpoint_bucket_limit(&health->requests, limits->requests_per_minute, now_ns);
    endpoint_bucket_limit(&health->tokens, limits->tokens_per_minute, now_ns);
    pthread_mutex_unlock(&health->lock);
}

void endpoint_health_disable_breaker(struct endpoint_health *health)
{
    pthread_mutex_lock(&health->lock);
    health->breaker_disabled = true;
    pthread_mutex_unlock(&health->lock);
}

uint32_t endpoint_health_refused_parameters(const struct endpoint_health *health)
{
    return atomic_load_explicit(&health->refused_parameters, memory_order_relaxed);
}

void endpoint_health_refuse_parameters(struct endpoint_health *health, uint32_t refused_parameters)
{
    atomic_fetch_or_explicit(&health->refused_parameters, refused_parameters, memory_order_relaxed);
}

unsigned endpoint_health_outstanding(const struct endpoint_health *health)
{
    return atomic_load_explicit(&health->outstanding, memory_order_relaxed);
}

/* ---- work under the lock ----------------------------------------------------------------------------------------- */

static unsigned endpoint_enter(struct endpoint_health *health)
{
    pthread_mutex_lock(&health->lock);
    return health->breaker.circuit;
}

/* A log line may block: it is written when others can go on. */
static void endpoint_leave(struct endpoint_health *health, unsigned from)
{
    unsigned to = health->breaker.circuit;
    long long rest_ms = health->breaker.rest_ms;
    pthread_mutex_unlock(&health->lock);
    if (to == from)
        return;
    if (to == CIRCUIT_OPEN)
        log_warn(health->kind->event, "%s '%s': %s -> open, left alone for %lld ms", health->kind->noun, health->name,
                 circuit_name(from), rest_ms);
    else
        log_info(health->kind->event, "%s '%s': %s -> %s", health->kind->noun, health->name, circuit_name(from),
                 circuit_name(to));
}

static int64_t endpoint_health_until_ms(int64_t then_ns, int64_t now_ns)
{
    return then_ns > now_ns ? (then_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS : 0;
}

static enum endpoint_refusal endpoint_refuses(struct endpoint_health *health, int64_t now_ns, int64_t tokens,
                                              int64_t *wait_ms)
{
    if (!health->breaker_disabled && !breaker_allows(&health->breaker, now_ns, wait_ms))
        return ENDPOINT_CIRCUIT_OPEN;
    if (!health->breaker_disabled && (*wait_ms = endpoint_health_until_ms(health->backoff_until_ns, now_ns)))
        return ENDPOINT_BACKING_OFF;
    if (health->concurrency && health->outstanding >= health->concurrency)
        return ENDPOINT_SATURATED;
    int64_t requests_ms = endpoint_bucket_wait_ms(&health->requests, now_ns, 1);
    int64_t tokens_ms = endpoint_bucket_wait_ms(&health->tokens, now_ns, tokens);
    *wait_ms = requests_ms > tokens_ms ? requests_ms : tokens_ms;
    return *wait_ms ? ENDPOINT_RATE_LIMITED : ENDPOINT_AVAILABLE;
}

enum endpoint_refusal endpoint_health_peek(struct endpoint_health *health, int64_t now_ns, int64_t tokens,
                                           int64_t *wait_ms)
{
    pthread_mutex_lock(&health->lock);
    enum endpoint_refusal refused = endpoint_refuses(health, now_ns, tokens, wait_ms);
    pthread_mutex_unlock(&health->lock);
    return refused;
}

int64_t endpoint_health_backoff_ms(struct endpoint_health *health, int64_t now_ns)
{
    pthread_mutex_lock(&health->lock);
    int64_t rests_ms = endpoint_health_until_ms(health->backoff_until_ns, now_ns);
    pthread_mutex_unlock(&health->lock);
    return rests_ms;
}

enum endpoint_refusal endpoint_health_acquire(struct endpoint_health *health, int64_t now_ns, int64_t tokens,
                                              struct endpoint_slot *place, int64_t *wait_ms)
{
    unsigned before = endpoint_enter(health);
    enum endpoint_refusal refused = endpoint_refuses(health, now_ns, tokens, wait_ms);
    if (refused == ENDPOINT_AVAILABLE) {
        health->outstanding++;
        endpoint_bucket_take(&health->requests, 1);
        place->reserved = endpoint_bucket_take(&health->tokens, tokens);
        place->period = health->breaker_disabled ? 0 : breaker_take(&health->breaker, now_ns);
    }
    endpoint_leave(health, before);
    return refused;
}

static void endpoint_back_off(struct endpoint_health *health, int64_t now_ns, int64_t rest_ms)
{
    int64_t until_ns = now_ns + (rest_ms < ENDPOINT_BACKOFF_MAX_MS ? rest_ms : ENDPOINT_BACKOFF_MAX_MS) * NS_PER_MS;
    if (until_ns > health->backoff_until_ns)
        health->backoff_until_ns = until_ns;
}

void endpoint_health_release(struct endpoint_health *health, int64_t now_ns, const struct endpoint_report *report)
{
    static const enum breaker_verdict verdicts[] = {
        [ENDPOINT_SUCCEEDED] = BREAKER_GOOD,
        [ENDPOINT_FAILED] = BREAKER_BAD,
        [ENDPOINT_THROTTLED] = BREAKER_NEITHER,
        [ENDPOINT_UNKNOWN] = BREAKER_NEITHER,
    };
    unsigned before = endpoint_enter(health);
    assert(health->outstanding > 0);
    health->outstanding--;
    endpoint_bucket_commit(&health->tokens, now_ns, report->place.reserved, report->tokens);
    if (report->verdict == ENDPOINT_THROTTLED)
        endpoint_back_off(health, now_ns, report->rest_ms > 0 ? report->rest_ms : ENDPOINT_BACKOFF_MS);
    if (!health->breaker_disabled)
        breaker_judge(&health->breaker, now_ns, report->place.period, verdicts[report->verdict]);
    endpoint_leave(health, before);
}

void endpoint_health_update_limits(struct endpoint_health *health, int64_t now_ns, int64_t requests, int64_t tokens,
                                   int64_t reset_ms)
{
    if ((requests != 0 && tokens != 0) || reset_ms <= 0)
        return;
    pthread_mutex_lock(&health->lock);
    endpoint_back_off(health, now_ns, reset_ms < ENDPOINT_LIMIT_RESET_MAX_MS ? reset_ms : ENDPOINT_LIMIT_RESET_MAX_MS);
    pthread_mutex_unlock(&health->lock);
}

void endpoint_health_view(struct endpoint_health *health, int64_t now_ns, struct endpoint_health_view *view)
{
    pthread_mutex_lock(&health->lock);
    const struct breaker *breaker = &health->breaker;
    int64_t open_ms = breaker->circuit == CIRCUIT_OPEN ? endpoint_health_until_ms(breaker->open_until_ns, now_ns) : 0;
    int64_t asked_ms = endpoint_health_until_ms(health->backoff_until_ns, now_ns);
    *view = (struct endpoint_health_view){
        .circuit = breaker->circuit,
        .outstanding = health->outstanding,
        .rests_ms = open_ms > asked_ms ? open_ms : asked_ms,
        .opened = breaker->opened,
    };
    pthread_mutex_unlock(&health->lock);
}

/* ---- the verdict on a failure ------------------------------------------------------------------------------------ */

void endpoint_report_of(struct endpoint_report *report, enum status_code code, bool quota, int64_t hint_ms)
{
    report->rest_ms = 0;
    switch (code) {
    case UNAVAILABLE:
    case DATA_LOSS:
    case FAILED_PRECONDITION: /* our key, our address: a person has to mend it */
        report->verdict = ENDPOINT_FAILED;
        return;
    case RESOURCE_EXHAUSTED:
        report->verdict = ENDPOINT_THROTTLED;
        report->rest_ms = quota ? ENDPOINT_QUOTA_BACKOFF_MS : hint_ms;
        return;
    case CANCELLED:
    case DEADLINE_EXCEEDED: /* the caller's own */
    case INTERNAL:
        report->verdict = ENDPOINT_UNKNOWN;
        return;
    default:
        report->verdict = ENDPOINT_SUCCEEDED;
    }
}
