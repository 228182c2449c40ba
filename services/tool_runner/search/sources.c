#include "search/sources.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "http/cassette.h"
#include "telemetry/metrics.h"

#include <stdlib.h>
#include <string.h>

#define TOKEN_MINUTE_NS   (60 * NS_PER_SEC)
#define RETRY_RATIO       0.2 /* retries a first request */
#define RETRIES_AHEAD_MAX 20

static const struct endpoint_kind source_kind = {.event = "tool_runner.circuit", .noun = "search source"};

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static void sources_show(struct buffer *out, void *data)
{
    static const struct metric under_way = {.name = "renga_search_outstanding",
                                            .help = "Requests under way at a search source.",
                                            .kind = METRIC_GAUGE,
                                            .labels = {"source"}};
    static const struct metric circuit = {.name = "renga_search_circuit",
                                          .help = "Breaker of a search source: 0 closed, 1 open, 2 half-open.",
                                          .kind = METRIC_GAUGE,
                                          .labels = {"source"}};
    const struct search_sources *sources = data;
    int64_t now_ns = clock_now_ns();
    struct endpoint_health_view views[SEARCH_SOURCES_MAX];
    for (size_t i = 0; i < sources->count; i++) {
        const char *const labels[] = {sources->sites[i]->setup->source.name};
        endpoint_health_view(sources->sites[i]->health, now_ns, &views[i]);
        (i ? metrics_show_more : metrics_show)(out, &under_way, labels, views[i].outstanding);
    }
    for (size_t i = 0; i < sources->count; i++) {
        const char *const labels[] = {sources->sites[i]->setup->source.name};
        (i ? metrics_show_more : metrics_show)(out, &circuit, labels, views[i].circuit);
    }
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* A key that the answer repeats does not get into the file. */
static void sources_redact(const char *body, size_t size, struct buffer *out, const void *data)
{
    const char *key = data, *at = body, *end = body + size, *found;
    size_t length = strlen(key);
    while (length && (found = memmem(at, (size_t)(end - at), key, length))) {
        buffer_append(out, at, (size_t)(found - at));
        buffer_print(out, "(key)");
        at = found + length;
    }
    buffer_append(out, at, (size_t)(end - at));
}

static bool site_open_cassette(struct search_site *site, struct status *st)
{
    const struct search_setup *setup = site->setup;
    const struct cassette_options options = {
        .mode = setup->replay ? CASSETTE_REPLAY : CASSETTE_RECORD, .redact = sources_redact, .redact_data = setup->key};
    if (setup->replay || setup->record)
        site->cassette = cassette_open(setup->replay ? setup->replay : setup->record, &options, st);
    return site->cassette || !(setup->replay || setup->record);
}

static struct search_site *site_create(const struct search_setup *setup, struct status *st)
{
    const struct limits limits = {.concurrency = setup->concurrency, .requests_per_minute = setup->requests_per_minute};
    struct search_site *site = calloc(1, sizeof *site);
    if (site)
        site->slots = source_slots_create(setup->concurrency);
    if (!site || !site->slots || !(site->health = endpoint_health_create(&source_kind, setup->source.name, &limits))) {
        if (site)
            source_slots_destroy(&site->slots);
        free(site);
        fail(st, RESOURCE_EXHAUSTED, "no memory for the search source '%s'", setup->source.name);
        return NULL;
    }
    site->setup = setup;
    pthread_mutex_init(&site->lock, NULL);
    retry_budget_init(&site->budget, RETRY_RATIO, RETRIES_AHEAD_MAX);
    return site;
}

static void site_destroy(struct search_site *site)
{
    cassette_close(&site->cassette);
    endpoint_health_destroy(&site->health);
    source_slots_destroy(&site->slots);
    pthread_mutex_destroy(&site->lock);
    explicit_bzero(site->token, sizeof site->token);
    free(site);
}

static void site_warn(const struct search_setup *setup)
{
    if (setup->source.provider->needs_key && !setup->key[0] && !setup->token_file)
        log_warn("tool_runner.search", "%s: the search source '%s' has no key; searches there will fail", setup->place,
                 setup->source.name);
}

struct search_sources *search_sources_create(const char *path, struct metrics *metrics, struct status *st)
{
    struct search_sources *sources = xcalloc(1, sizeof *sources);
    bool good = search_setups_read(path, &sources->setups, st);
    for (size_t i = 0; good && i < sources->setups.count; i++) {
        struct search_site *site = site_create(sources->setups.list[i], st);
        if (site)
            sources->sites[sources->count++] = site;
        good = site && site_open_cassette(site, st);
        site_warn(sources->setups.list[i]);
    }
    if (!good) {
        search_sources_destroy(&sources);
        return NULL;
    }
    sources->metrics = metrics;
    if (metrics)
        metrics_collect(metrics, sources_show, NULL, sources);
    return sources;
}

void search_sources_destroy(struct search_sources **sources_pointer)
{
    struct search_sources *sources = *sources_pointer;
    *sources_pointer = NULL;
    if (!sources)
        return;
    if (sources->metrics)
        metrics_uncollect(sources->metrics, sources);
    for (size_t i = 0; i < sources->count; i++)
        site_destroy(sources->sites[i]);
    search_setups_fini(&sources->setups);
    free(sources);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

struct search_site *search_sources_find(const struct search_sources *sources, const char *name)
{
    for (size_t i = 0; i < sources->count; i++)
        if (strcmp(sources->sites[i]->setup->source.name, name) == 0)
            return sources->sites[i];
    return NULL;
}

size_t search_sources_in(const struct search_sources *sources, const char *group)
{
    size_t count = 0;
    for (size_t i = 0; i < sources->count; i++)
        count += strcmp(sources->sites[i]->setup->group, group) == 0;
    return count;
}

static bool site_read_token(struct search_site *site, int64_t now_ns, struct status *st)
{
    struct buffer text;
    struct status why = {0};
    buffer_init(&text, SEARCH_TOKEN_MAX);
    bool good = file_read(site->setup->token_file, &text, &why);
    size_t length = good ? strcspn(buffer_text(&text), "\r\n") : 0;
    if (length) {
        memcpy(site->token, buffer_text(&text), length);
        site->token[length] = '\0';
        site->token_read_ns = now_ns;
    }
    if (text.data)
        explicit_bzero(text.data, text.length);
    buffer_fini(&text);
    return length || fail(st, FAILED_PRECONDITION, "has no token in its 'token_file' (%s)%s%.200s", site->setup->place,
                          good ? ", which is empty" : ": ", why.text);
}

bool search_site_token(struct search_site *site, char *token, struct status *st)
{
    int64_t now_ns = clock_now_ns();
    bool good = true;
    *token = '\0';
    if (!site->setup->token_file)
        return true;
    pthread_mutex_lock(&site->lock);
    if (!site->token_read_ns || now_ns - site->token_read_ns > TOKEN_MINUTE_NS)
        good = site_read_token(site, now_ns, st);
    if (good)
        strcpy(token, site->token);
    pthread_mutex_unlock(&site->lock);
    return good;
}
