#include "gateway_shared.h"

#include "admission/admission.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "cache/response_cache.h"
#include "instance/gateway_instance.h"
#include "pipeline/generation_use.h"
#include "routing/config_generation.h"
#include "routing/deployment.h"
#include "routing/route.h"
#include "telemetry/metrics.h"
#include "upstream/endpoint_health.h"
#include "usage/ledger.h"

#include <semaphore.h>
#include <stdlib.h>

#define RETRIES_SAVED_MAX 100

/* ---- metrics of the shared state --------------------------------------------------------------------------------- */

static void show_admission(struct buffer *out, const struct gateway_shared *shared)
{
    static const struct metric inside = {
        .name = "renga_llm_in_flight", .help = "Calls that were admitted and have not ended.", .kind = METRIC_GAUGE};
    static const struct metric waiting = {.name = "renga_llm_waiting",
                                          .help = "Calls that wait for a place.",
                                          .kind = METRIC_GAUGE,
                                          .labels = {"priority"}};
    static const struct metric refused = {
        .name = "renga_llm_refused_total", .help = "Calls rejected by admission, by the limit.", .labels = {"limit"}};
    struct admission_stats stats;
    admission_stats(shared->admission, &stats);
    config_generation_count(shared->generation, &stats);
    metrics_show(out, &inside, NULL, stats.inside);
    metrics_show(out, &waiting, (const char *[]){"interactive"}, stats.waiting[ADMISSION_INTERACTIVE]);
    metrics_show_more(out, &waiting, (const char *[]){"normal"}, stats.waiting[ADMISSION_NORMAL]);
    metrics_show_more(out, &waiting, (const char *[]){"batch"}, stats.waiting[ADMISSION_BATCH]);
    metrics_show(out, &refused, (const char *[]){"rate"}, (double)stats.refused_rate);
    metrics_show_more(out, &refused, (const char *[]){"money"}, (double)stats.refused_money);
    metrics_show_more(out, &refused, (const char *[]){"queue"}, (double)stats.refused_queue);
    metrics_show_more(out, &refused, (const char *[]){"wait"}, (double)stats.refused_late);
}

static void show_cache(struct buffer *out, const struct gateway_shared *shared)
{
    static const struct metric asked = {.name = "renga_llm_cache_total",
                                        .help = "Questions to the answer cache, by what it had.",
                                        .labels = {"result"}};
    static const struct metric bytes = {
        .name = "renga_llm_cache_bytes", .help = "Size of the response cache in memory.", .kind = METRIC_GAUGE};
    struct response_cache_stats stats;
    response_cache_stats(shared->cache, &stats);
    metrics_show(out, &asked, (const char *[]){"hit"}, (double)stats.kept);
    metrics_show_more(out, &asked, (const char *[]){"coalesced"}, (double)stats.shared);
    metrics_show_more(out, &asked, (const char *[]){"miss"}, (double)stats.nothing);
    metrics_show_more(out, &asked, (const char *[]){"error"}, (double)stats.failures);
    metrics_show(out, &bytes, NULL, (double)stats.bytes);
}

/* One sample for each model of each deployment. */
static void show_endpoint_health(struct buffer *out, const struct gateway_shared *shared, const struct metric *metric,
                                 double (*value)(const struct endpoint_health_view *view))
{
    bool first = true;
    int64_t now_ns = clock_now_ns();
    const struct routes *routes = shared->generation->routes;
    for (size_t i = 0; i < routes_deployments(routes); i++) {
        const struct deployment *deployment = routes_deployment(routes, i);
        for (const struct deployment_model *model = deployment->models; model; model = model->next) {
            struct endpoint_health_view view;
            endpoint_health_view(model->health, now_ns, &view);
            (first ? metrics_show : metrics_show_more)(out, metric, (const char *[]){deployment->name, model->name},
                                                       value(&view));
            first = false;
        }
    }
}

static double circuit(const struct endpoint_health_view *view)
{
    return view->circuit;
}

static double outstanding(const struct endpoint_health_view *view)
{
    return view->outstanding;
}

static double gateway_shared_opened(const struct endpoint_health_view *view)
{
    return (double)view->opened;
}

static double rests(const struct endpoint_health_view *view)
{
    return (double)view->rests_ms / 1e3;
}

#define BY_MODEL .labels = {"deployment", "model"}

static void show_deployments(struct buffer *out, const struct gateway_shared *shared)
{
    static const struct metric circuits = {.name = "renga_llm_circuit",
                                           .help = "Circuit breaker: 0 closed, 1 open, 2 half open.",
                                           .kind = METRIC_GAUGE,
                                           BY_MODEL};
    static const struct metric under_way = {
        .name = "renga_llm_outstanding", .help = "Requests in flight to the endpoint.", .kind = METRIC_GAUGE, BY_MODEL};
    static const struct metric openings = {
        .name = "renga_llm_circuit_opened_total", .help = "Times its breaker has opened.", BY_MODEL};
    static const struct metric resting = {.name = "renga_llm_rests_seconds",
                                          .help = "Remaining backoff of the endpoint.",
                                          .kind = METRIC_GAUGE,
                                          BY_MODEL};
    show_endpoint_health(out, shared, &circuits, circuit);
    show_endpoint_health(out, shared, &under_way, outstanding);
    show_endpoint_health(out, shared, &openings, gateway_shared_opened);
    show_endpoint_health(out, shared, &resting, rests);
}

static void gateway_shared_collect(struct buffer *out, void *data)
{
    struct gateway_shared *shared = data;
    pthread_mutex_lock(&shared->lock);
    show_admission(out, shared);
    show_cache(out, shared);
    show_deployments(out, shared);
    static const struct metric reloads = {
        .name = "renga_llm_reloads_total", .help = "Times the routes were read again.", .labels = {"result"}};
    metrics_show(out, &reloads, (const char *[]){"loaded"}, (double)shared->reloaded);
    metrics_show_more(out, &reloads, (const char *[]){"refused"}, (double)shared->reload_refused);
    pthread_mutex_unlock(&shared->lock);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void remember_client(const char *name, int64_t micros, void *data)
{
    admission_load_spend(data, false, name, micros);
}

static void remember_tenant(const char *name, int64_t micros, void *data)
{
    admission_load_spend(data, true, name, micros);
}

/* If the ledger cannot be read, spend starts at 0: calls have precedence. */
static void remember_money(const struct gateway_shared *shared)
{
    struct status st = {0};
    int64_t now_ms = clock_wall_ns() / NS_PER_MS;
    if (!ledger_spent(shared->ledger, now_ms, false, remember_client, shared->admission, &st) ||
        !ledger_spent(shared->ledger, now_ms, true, remember_tenant, shared->admission, &st))
        log_warn("llm_gateway.accounts", "what was spent today is not known: %s", st.text);
}

static bool gateway_shared_open_admission(struct gateway_shared *shared, struct status *st)
{
    const struct config *config = shared->config;
    struct admission_options options = {
        .in_flight_max = (unsigned)config_integer(config, "llm_gateway.in_flight"),
        .queue_max = (unsigned)config_integer(config, "llm_gateway.queue"),
        .queue_wait_ms = config_duration_ms(config, "llm_gateway.queue_wait"),
        .clients = routes_clients(shared->generation->routes),
        .tenants = routes_tenants(shared->generation->routes),
    };
    shared->admission = admission_create(&options);
    return shared->admission || fail(st, RESOURCE_EXHAUSTED, "no memory for admission");
}

static bool gateway_shared_open_all(struct gateway_shared *shared, struct status *st)
{
    const struct config *config = shared->config;
    struct ledger_options ledger = {
        .path = config_string(config, "llm_gateway.ledger"),
        .keep_runs_days = config_integer(config, "llm_gateway.ledger_keep_runs"),
    };
    struct response_cache_options cache = {
        .bytes_max = (size_t)config_size(config, "llm_gateway.cache_size"),
        .redis = config_string(config, "llm_gateway.cache_redis"),
        .redis_timeout_ms = config_duration_ms(config, "llm_gateway.cache_redis_timeout"),
    };
    return (shared->generation = config_generation_create(config, NULL, st)) &&
           gateway_shared_open_admission(shared, st) && (shared->ledger = ledger_create(&ledger, st)) &&
           (shared->cache = response_cache_create(&cache, st));
}

static void gateway_shared_destroy(struct gateway_shared **gateway_shared_pointer)
{
    struct gateway_shared *shared = *gateway_shared_pointer;
    *gateway_shared_pointer = NULL;
    response_cache_destroy(&shared->cache);
    ledger_destroy(&shared->ledger);
    admission_destroy(&shared->admission);
    config_generation_release(&shared->generation);
    pthread_mutex_destroy(&shared->lock);
    free(shared);
}

struct gateway_shared *gateway_shared_create(const struct config *config, struct metrics *metrics, struct status *st)
{
    struct gateway_shared *shared = xcalloc(1, sizeof *shared);
    shared->config = config;
    pthread_mutex_init(&shared->lock, NULL);
    if (!gateway_shared_open_all(shared, st)) {
        gateway_shared_destroy(&shared);
        return NULL;
    }
    retry_budget_init(&shared->budget, (double)config_integer(config, "llm_gateway.retry_share") / 100,
                      RETRIES_SAVED_MAX);
    if (config_string(shared->config, "llm_gateway.ledger")) /* one in memory is empty */
        remember_money(shared);
    config_generation_log(shared->generation);
    shared->metrics = metrics;
    metrics_collect(metrics, gateway_shared_collect, NULL, shared);
    ledger_show(shared->ledger, metrics);
    return shared;
}

struct gateway_shared *gateway_shared_join(struct gateway_shared *shared, struct gateway *gateway)
{
    shared->members[shared->member_count++] = gateway;
    gateway->use = generation_use_create(shared->generation);
    response_cache_open(shared->cache, gateway->loop);
    return shared;
}

void gateway_shared_leave(struct gateway_shared **gateway_shared_pointer, struct gateway *gateway)
{
    struct gateway_shared *shared = *gateway_shared_pointer;
    *gateway_shared_pointer = NULL;
    response_cache_close(shared->cache, gateway->loop);
    generation_use_end(&gateway->use);
    if (--shared->member_count)
        return;
    metrics_uncollect(shared->metrics, shared);
    gateway_shared_destroy(&shared);
}

/* ---- another generation ------------------------------------------------------------------------------------------ */

/* Of one loop: its new calls begin with the new generation. */
struct exchange {
    struct work work;
    struct gateway *gateway;
    struct config_generation *generation;
    sem_t *done;
};

static void exchanged(struct work *work)
{
    struct exchange *exchange = (struct exchange *)(void *)work;
    struct generation_use *old = exchange->gateway->use;
    exchange->gateway->use = generation_use_create(exchange->generation);
    generation_use_end(&old);
    sem_post(exchange->done);
}

static void put_in_force(struct gateway_shared *shared, struct config_generation *generation)
{
    struct config_generation *old = shared->generation;
    admission_limit(shared->admission, (unsigned)config_integer(shared->config, "llm_gateway.in_flight"),
                    routes_clients(generation->routes), routes_tenants(generation->routes));
    config_generation_enforce(generation);
    remember_money(shared);
    pthread_mutex_lock(&shared->lock);
    shared->generation = generation;
    shared->reloaded++;
    pthread_mutex_unlock(&shared->lock);
    /* Returns when all loops have switched. */
    struct exchange exchanges[LOOPS_MAX];
    sem_t done;
    sem_init(&done, 0, 0);
    for (unsigned i = 0; i < shared->member_count; i++) {
        exchanges[i] = (struct exchange){{.run = exchanged}, shared->members[i], generation, &done};
        loop_post(shared->members[i]->loop, &exchanges[i].work);
    }
    for (unsigned i = 0; i < shared->member_count; i++)
        while (sem_wait(&done) != 0)
            ;
    sem_destroy(&done);
    config_generation_release(&old);
}

void gateway_shared_reload(struct gateway_shared *shared)
{
    struct status st = {0};
    const char *path = config_string(shared->config, "llm_gateway.routes");
    if (!path || !*path) {
        log_info("llm_gateway.reload", "nothing to read again: llm_gateway.routes names no document");
        return;
    }
    struct config_generation *generation = config_generation_create(shared->config, shared->generation, &st);
    if (generation) {
        put_in_force(shared, generation);
        log_info("llm_gateway.reloaded", "%s is in force; calls under way end on what they began with", path);
        config_generation_log(generation);
        return;
    }
    pthread_mutex_lock(&shared->lock);
    shared->reload_refused++;
    pthread_mutex_unlock(&shared->lock);
    log_error("llm_gateway.reload", "%s; the routes stay as they were", st.text);
}
