#include "commons.h"

#include "accounts/ledger.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/client.h"
#include "limits/gate.h"
#include "provider/provider.h"
#include "recall/recall.h"
#include "route/deployment.h"
#include "route/route.h"
#include "route/standing.h"
#include "telemetry/metrics.h"

#include <stdlib.h>

#define RETRIES_SAVED_MAX 100

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

/* Those who wait for a place of a model's have one of the process. */
static void add_waiting(struct gate *places, struct gate_stats *sum)
{
    struct gate_stats stats;
    gate_stats(places, &stats);
    for (int i = 0; i < GATE_PRIORITIES; i++) {
        sum->waiting[i] += stats.waiting[i];
        sum->inside -= stats.waiting[i] < sum->inside ? stats.waiting[i] : sum->inside;
    }
    sum->refused_queue += stats.refused_queue;
    sum->refused_late += stats.refused_late;
}

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
    for (size_t i = 0; i < routes_count(commons->routes); i++)
        for (int behind = 0; behind < 2; behind++) {
            struct gate *gate = behind ? commons->turns[i] : commons->places[i];
            if (gate)
                add_waiting(gate, &stats);
        }
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
    for (size_t i = 0; i < routes_deployments(commons->routes); i++) {
        const struct deployment *deployment = routes_deployment(commons->routes, i);
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

static void collect(struct buffer *out, void *data)
{
    const struct commons *commons = data;
    show_gate(out, commons);
    show_recall(out, commons);
    show_deployments(out, commons);
}

/* ---- what is said at start --------------------------------------------------------------------------------------- */

static void log_deployment(const struct deployment *deployment)
{
    if (deployment->unset)
        log_warn("llm_gateway.unset",
                 "'%s' cannot be asked: neither a key nor another upstream is set for the provider %s",
                 deployment->name, deployment->provider->name);
    else
        log_info("llm_gateway.upstream", "'%s' is %s, %s a key", deployment->name,
                 http_url_origin(deployment->chat_url), deployment->key ? "with" : "without");
}

static void log_routes(const struct routes *routes)
{
    log_info("llm_gateway.routes", "%zu models through %zu deployments", routes_count(routes),
             routes_deployments(routes));
    for (size_t i = 0; i < routes_deployments(routes); i++)
        log_deployment(routes_deployment(routes, i));
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool counts(const struct limits *limits)
{
    return limits->tokens_per_minute || limits->micros_per_day;
}

static bool table_counts(const struct limits_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (counts(&table->rows[i].limits))
            return true;
    return counts(&table->fallback);
}

static bool counts_tokens(const struct routes *routes)
{
    for (size_t i = 0; i < routes_deployments(routes); i++)
        if (counts(&routes_deployment(routes, i)->limits))
            return true;
    return table_counts(routes_clients(routes)) || table_counts(routes_tenants(routes));
}

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

static bool open_gate(struct commons *commons, const struct config *config, struct status *st)
{
    struct gate_options options = {
        .in_flight_max = (unsigned)config_integer(config, "llm_gateway.in_flight"),
        .queue_max = (unsigned)config_integer(config, "llm_gateway.queue"),
        .queue_wait_ms = config_duration_ms(config, "llm_gateway.queue_wait"),
        .clients = routes_clients(commons->routes),
        .tenants = routes_tenants(commons->routes),
    };
    commons->gate = gate_create(&options);
    return commons->gate || fail(st, RESOURCE_EXHAUSTED, "no memory for the gate");
}

static struct gate *open_behind(const struct commons *commons, const struct config *config, const struct route *route,
                                unsigned places)
{
    const struct gate_options options = {
        .in_flight_max = places,
        .queue_max = (unsigned)config_integer(config, "llm_gateway.queue"),
        .queue_wait_ms = config_duration_ms(config, "llm_gateway.queue_wait"),
        .clients = routes_clients(commons->routes),
        .tenants = routes_tenants(commons->routes),
        .model = route->name,
    };
    return places ? gate_create(&options) : NULL;
}

/* Behind each a model whose deployments bound what is under way there, or what comes in a minute: the queues of these
 * are fair to clients as well. */
static bool open_places(struct commons *commons, const struct config *config, struct status *st)
{
    size_t count = routes_count(commons->routes);
    commons->places = calloc(count + 1, sizeof(struct gate *));
    commons->turns = calloc(count + 1, sizeof(struct gate *));
    if (!commons->places || !commons->turns)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the places of %zu models", count);
    for (size_t i = 0; i < count; i++) {
        const struct route *route = routes_at(commons->routes, i);
        commons->places[i] = open_behind(commons, config, route, route_places(route));
        commons->turns[i] = open_behind(commons, config, route, route_has_rate(route));
    }
    return true;
}

static void close_places(struct commons *commons)
{
    for (size_t i = 0; commons->places && commons->turns && i < routes_count(commons->routes); i++) {
        gate_destroy(&commons->places[i]);
        gate_destroy(&commons->turns[i]);
    }
    free(commons->places);
    free(commons->turns);
}

static bool open_all(struct commons *commons, const struct config *config, struct status *st)
{
    struct ledger_options ledger = {
        .path = config_string(config, "llm_gateway.ledger"),
        .keep_runs_days = config_integer(config, "llm_gateway.ledger_keep_runs"),
    };
    struct recall_options recall = {
        .bytes_max = (size_t)config_size(config, "llm_gateway.cache_size"),
        .redis = config_string(config, "llm_gateway.cache_redis"),
        .redis_timeout_ms = config_duration_ms(config, "llm_gateway.cache_redis_timeout"),
    };
    return (commons->routes = routes_create(config, st)) && open_gate(commons, config, st) &&
           open_places(commons, config, st) && (commons->ledger = ledger_create(&ledger, st)) &&
           (commons->recall = recall_create(&recall, st));
}

static void destroy(struct commons **commons_pointer)
{
    struct commons *commons = *commons_pointer;
    *commons_pointer = NULL;
    recall_destroy(&commons->recall);
    ledger_destroy(&commons->ledger);
    gate_destroy(&commons->gate);
    close_places(commons);
    routes_destroy(&commons->routes);
    free(commons);
}

struct commons *commons_create(const struct config *config, struct metrics *metrics, struct status *st)
{
    struct commons *commons = calloc(1, sizeof *commons);
    if (!commons) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the gateway");
        return NULL;
    }
    if (!open_all(commons, config, st)) {
        destroy(&commons);
        return NULL;
    }
    retry_budget_init(&commons->budget, (double)config_integer(config, "llm_gateway.retry_share") / 100,
                      RETRIES_SAVED_MAX);
    commons->counts_tokens = counts_tokens(commons->routes);
    remember_money(commons);
    log_routes(commons->routes);
    commons->metrics = metrics;
    metrics_collect(metrics, collect, NULL, commons);
    ledger_show(commons->ledger, metrics);
    return commons;
}

struct commons *commons_join(struct commons *commons, struct loop *loop)
{
    commons->members++;
    recall_open(commons->recall, loop);
    return commons;
}

void commons_leave(struct commons **commons_pointer, struct loop *loop)
{
    struct commons *commons = *commons_pointer;
    *commons_pointer = NULL;
    recall_close(commons->recall, loop);
    if (--commons->members)
        return;
    metrics_uncollect(commons->metrics, commons);
    destroy(&commons);
}
