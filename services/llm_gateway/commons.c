#include "commons.h"

#include "accounts/ledger.h"
#include "base/clock.h"
#include "base/log.h"
#include "edition.h"
#include "gateway_priv.h"
#include "limits/gate.h"
#include "recall/recall.h"
#include "route/deployment.h"
#include "route/route.h"
#include "telemetry/metrics.h"
#include "upstream/standing.h"

#include <semaphore.h>
#include <stdlib.h>

#define RETRIES_SAVED_MAX 100

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

static void show_gate(struct buffer *out, const struct commons *commons)
{
    static const struct metric inside = {
        .name = "renga_llm_in_flight", .help = "Calls that have a place.", .kind = METRIC_GAUGE};
    static const struct metric waiting = {.name = "renga_llm_waiting",
                                          .help = "Calls that wait for a place.",
                                          .kind = METRIC_GAUGE,
                                          .labels = {"priority"}};
    static const struct metric refused = {
        .name = "renga_llm_refused_total", .help = "Calls sent away, by the limit.", .labels = {"limit"}};
    struct gate_stats stats;
    gate_stats(commons->gate, &stats);
    edition_count(commons->edition, &stats);
    metrics_show(out, &inside, NULL, stats.inside);
    metrics_show(out, &waiting, (const char *[]){"interactive"}, stats.waiting[GATE_INTERACTIVE]);
    metrics_show_more(out, &waiting, (const char *[]){"normal"}, stats.waiting[GATE_NORMAL]);
    metrics_show_more(out, &waiting, (const char *[]){"batch"}, stats.waiting[GATE_BATCH]);
    metrics_show(out, &refused, (const char *[]){"rate"}, (double)stats.refused_rate);
    metrics_show_more(out, &refused, (const char *[]){"money"}, (double)stats.refused_money);
    metrics_show_more(out, &refused, (const char *[]){"queue"}, (double)stats.refused_queue);
    metrics_show_more(out, &refused, (const char *[]){"wait"}, (double)stats.refused_late);
}

static void show_recall(struct buffer *out, const struct commons *commons)
{
    static const struct metric asked = {.name = "renga_llm_cache_total",
                                        .help = "Questions to the answer cache, by what it had.",
                                        .labels = {"result"}};
    static const struct metric bytes = {
        .name = "renga_llm_cache_bytes", .help = "Kept in memory.", .kind = METRIC_GAUGE};
    struct recall_stats stats;
    recall_stats(commons->recall, &stats);
    metrics_show(out, &asked, (const char *[]){"hit"}, (double)stats.kept);
    metrics_show_more(out, &asked, (const char *[]){"coalesced"}, (double)stats.shared);
    metrics_show_more(out, &asked, (const char *[]){"miss"}, (double)stats.nothing);
    metrics_show_more(out, &asked, (const char *[]){"error"}, (double)stats.failures);
    metrics_show(out, &bytes, NULL, (double)stats.bytes);
}

/* One sample for each model of each deployment. */
static void show_standings(struct buffer *out, const struct commons *commons, const struct metric *metric,
                           double (*value)(const struct standing_view *view))
{
    bool first = true;
    int64_t now_ns = clock_now_ns();
    const struct routes *routes = commons->edition->routes;
    for (size_t i = 0; i < routes_deployments(routes); i++) {
        const struct deployment *deployment = routes_deployment(routes, i);
        for (const struct deployment_model *model = deployment->models; model; model = model->next) {
            struct standing_view view;
            standing_view(model->standing, now_ns, &view);
            (first ? metrics_show : metrics_show_more)(out, metric, (const char *[]){deployment->name, model->name},
                                                       value(&view));
            first = false;
        }
    }
}

static double circuit(const struct standing_view *view)
{
    return view->circuit;
}

static double outstanding(const struct standing_view *view)
{
    return view->outstanding;
}

static double opened(const struct standing_view *view)
{
    return (double)view->opened;
}

static double rests(const struct standing_view *view)
{
    return (double)view->rests_ms / 1e3;
}

#define BY_MODEL .labels = {"deployment", "model"}

static void show_deployments(struct buffer *out, const struct commons *commons)
{
    static const struct metric circuits = {.name = "renga_llm_circuit",
                                           .help = "Circuit breaker: 0 closed, 1 open, 2 half open.",
                                           .kind = METRIC_GAUGE,
                                           BY_MODEL};
    static const struct metric under_way = {
        .name = "renga_llm_outstanding", .help = "Requests under way there.", .kind = METRIC_GAUGE, BY_MODEL};
    static const struct metric openings = {
        .name = "renga_llm_circuit_opened_total", .help = "Times its breaker has opened.", BY_MODEL};
    static const struct metric resting = {
        .name = "renga_llm_rests_seconds", .help = "How long it is still left alone.", .kind = METRIC_GAUGE, BY_MODEL};
    show_standings(out, commons, &circuits, circuit);
    show_standings(out, commons, &under_way, outstanding);
    show_standings(out, commons, &openings, opened);
    show_standings(out, commons, &resting, rests);
}

static void show_reloads(struct buffer *out, const struct commons *commons)
{
    static const struct metric reloads = {
        .name = "renga_llm_reloads_total", .help = "Times the routes were read again.", .labels = {"result"}};
    metrics_show(out, &reloads, (const char *[]){"loaded"}, (double)commons->reloaded);
    metrics_show_more(out, &reloads, (const char *[]){"refused"}, (double)commons->reload_refused);
}

static void collect(struct buffer *out, void *data)
{
    struct commons *commons = data;
    pthread_mutex_lock(&commons->lock);
    show_gate(out, commons);
    show_recall(out, commons);
    show_deployments(out, commons);
    show_reloads(out, commons);
    pthread_mutex_unlock(&commons->lock);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void remember_client(const char *name, int64_t micros, void *data)
{
    gate_remember(data, false, name, micros);
}

static void remember_tenant(const char *name, int64_t micros, void *data)
{
    gate_remember(data, true, name, micros);
}

/* Accounts that cannot be read start from nothing: calls come first. */
static void remember_money(const struct commons *commons)
{
    struct status st = {0};
    int64_t now_ms = clock_wall_ns() / NS_PER_MS;
    if (!ledger_spent(commons->ledger, now_ms, false, remember_client, commons->gate, &st) ||
        !ledger_spent(commons->ledger, now_ms, true, remember_tenant, commons->gate, &st))
        log_warn("llm_gateway.accounts", "what was spent today is not known: %s", st.text);
}

static bool open_gate(struct commons *commons, struct status *st)
{
    const struct config *config = commons->config;
    struct gate_options options = {
        .in_flight_max = (unsigned)config_integer(config, "llm_gateway.in_flight"),
        .queue_max = (unsigned)config_integer(config, "llm_gateway.queue"),
        .queue_wait_ms = config_duration_ms(config, "llm_gateway.queue_wait"),
        .clients = routes_clients(commons->edition->routes),
        .tenants = routes_tenants(commons->edition->routes),
    };
    commons->gate = gate_create(&options);
    return commons->gate || fail(st, RESOURCE_EXHAUSTED, "no memory for the gate");
}

static bool open_all(struct commons *commons, struct status *st)
{
    const struct config *config = commons->config;
    struct ledger_options ledger = {
        .path = config_string(config, "llm_gateway.ledger"),
        .keep_runs_days = config_integer(config, "llm_gateway.ledger_keep_runs"),
    };
    struct recall_options recall = {
        .bytes_max = (size_t)config_size(config, "llm_gateway.cache_size"),
        .redis = config_string(config, "llm_gateway.cache_redis"),
        .redis_timeout_ms = config_duration_ms(config, "llm_gateway.cache_redis_timeout"),
    };
    return (commons->edition = edition_create(config, NULL, st)) && open_gate(commons, st) &&
           (commons->ledger = ledger_create(&ledger, st)) && (commons->recall = recall_create(&recall, st));
}

static void destroy(struct commons **commons_pointer)
{
    struct commons *commons = *commons_pointer;
    *commons_pointer = NULL;
    recall_destroy(&commons->recall);
    ledger_destroy(&commons->ledger);
    gate_destroy(&commons->gate);
    edition_release(&commons->edition);
    pthread_mutex_destroy(&commons->lock);
    free(commons);
}

struct commons *commons_create(const struct config *config, struct metrics *metrics, struct status *st)
{
    struct commons *commons = calloc(1, sizeof *commons);
    if (!commons) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the gateway");
        return NULL;
    }
    commons->config = config;
    pthread_mutex_init(&commons->lock, NULL);
    if (!open_all(commons, st)) {
        destroy(&commons);
        return NULL;
    }
    retry_budget_init(&commons->budget, (double)config_integer(config, "llm_gateway.retry_share") / 100,
                      RETRIES_SAVED_MAX);
    remember_money(commons);
    edition_log(commons->edition);
    commons->metrics = metrics;
    metrics_collect(metrics, collect, NULL, commons);
    ledger_show(commons->ledger, metrics);
    return commons;
}

struct commons *commons_join(struct commons *commons, struct gateway *gateway)
{
    commons->members[commons->member_count++] = gateway;
    gateway->use = edition_use_create(commons->edition);
    recall_open(commons->recall, gateway->loop);
    return commons;
}

void commons_leave(struct commons **commons_pointer, struct gateway *gateway)
{
    struct commons *commons = *commons_pointer;
    *commons_pointer = NULL;
    recall_close(commons->recall, gateway->loop);
    edition_use_end(&gateway->use);
    if (--commons->member_count)
        return;
    metrics_uncollect(commons->metrics, commons);
    destroy(&commons);
}

/* ---- another edition --------------------------------------------------------------------------------------------- */

/* Of one loop: from now on its calls begin with the new one. */
struct exchange {
    struct work work;
    struct gateway *gateway;
    struct edition *edition;
    sem_t *done;
};

static void exchanged(struct work *work)
{
    struct exchange *exchange = (struct exchange *)(void *)work;
    struct edition_use *old = exchange->gateway->use;
    exchange->gateway->use = edition_use_create(exchange->edition);
    edition_use_end(&old);
    sem_post(exchange->done);
}

/* Back when all loops have. */
static void exchange_in_loops(struct commons *commons, struct edition *edition)
{
    struct exchange exchanges[LOOPS_MAX];
    sem_t done;
    sem_init(&done, 0, 0);
    for (unsigned i = 0; i < commons->member_count; i++) {
        exchanges[i] = (struct exchange){{.run = exchanged}, commons->members[i], edition, &done};
        loop_post(commons->members[i]->loop, &exchanges[i].work);
    }
    for (unsigned i = 0; i < commons->member_count; i++)
        while (sem_wait(&done) != 0)
            ;
    sem_destroy(&done);
}

static void put_in_force(struct commons *commons, struct edition *edition)
{
    struct edition *old = commons->edition;
    gate_limit(commons->gate, (unsigned)config_integer(commons->config, "llm_gateway.in_flight"),
               routes_clients(edition->routes), routes_tenants(edition->routes));
    edition_enforce(edition);
    remember_money(commons);
    pthread_mutex_lock(&commons->lock);
    commons->edition = edition;
    commons->reloaded++;
    pthread_mutex_unlock(&commons->lock);
    exchange_in_loops(commons, edition);
    edition_release(&old);
}

void commons_reload(struct commons *commons)
{
    struct status st = {0};
    const char *path = config_string(commons->config, "llm_gateway.routes");
    if (!path || !*path) {
        log_info("llm_gateway.reload", "nothing to read again: llm_gateway.routes names no document");
        return;
    }
    struct edition *edition = edition_create(commons->config, commons->edition, &st);
    if (edition) {
        put_in_force(commons, edition);
        log_info("llm_gateway.reloaded", "%s is in force; calls under way end on what they began with", path);
        edition_log(edition);
        return;
    }
    pthread_mutex_lock(&commons->lock);
    commons->reload_refused++;
    pthread_mutex_unlock(&commons->lock);
    log_error("llm_gateway.reload", "%s; the routes stay as they were", st.text);
}
