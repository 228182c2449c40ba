#include "tool_runner_priv.h"

#include "daemon/service.h"
#include "knowledge/knowledge.h"
#include "list/catalog.h"
#include "mcp/mcp.h"
#include "playbook/playbook_cache.h"
#include "run/places.h"
#include "run/records.h"
#include "run/turns.h"
#include "search/sources.h"
#include "store/store.h"
#include "telemetry/metrics.h"
#include "tools/page_hosts.h"

#include <stdlib.h>

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

static void show_places(struct buffer *out, const struct tool_commons *commons)
{
    static const struct metric taken = {
        .name = "renga_tool_in_flight", .help = "Tools that are running.", .kind = METRIC_GAUGE};
    static const struct metric waiting = {
        .name = "renga_tool_waiting", .help = "Calls that wait for a place.", .kind = METRIC_GAUGE};
    static const struct metric refused = {.name = "renga_tool_refused_total",
                                          .help = "Calls sent away, since as many waited as may."};
    struct places_stats stats;
    places_stats(commons->places, &stats);
    metrics_show(out, &taken, NULL, stats.taken);
    metrics_show(out, &waiting, NULL, stats.waiting);
    metrics_show(out, &refused, NULL, (double)stats.refused);
}

static void show_records(struct buffer *out, const struct tool_commons *commons)
{
    static const struct metric bytes = {.name = "renga_tool_record_bytes",
                                        .help = "Results in the record, as the last sweep found them.",
                                        .kind = METRIC_GAUGE};
    static const struct metric transactions = {.name = "renga_tool_record_transactions_total",
                                               .help = "Transactions of the record, each with one fsync."};
    static const struct metric failures = {.name = "renga_tool_record_failures_total",
                                           .help = "Transactions of the record that the disk refused."};
    struct store_stats stats;
    uint64_t size;
    if (!records_stats(commons->records, &stats, &size))
        return;
    metrics_show(out, &bytes, NULL, (double)size);
    metrics_show(out, &transactions, NULL, (double)stats.transactions);
    metrics_show(out, &failures, NULL, (double)stats.failures);
}

static void collect(struct buffer *out, void *data)
{
    const struct tool_commons *commons = data;
    show_places(out, commons);
    show_records(out, commons);
    playbooks_show(out, commons->playbooks);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool open_all(struct tool_commons *commons, const struct service_context *context, struct status *st)
{
    const struct config *config = context->config;
    struct mcp_options mcp = {
        .path = config_string(config, "tool_runner.mcp"),
        .metrics = context->metrics,
    };
    struct places_options places = {
        .in_flight_max = (unsigned)config_integer(config, "tool_runner.in_flight"),
        .tenant_max = (unsigned)config_integer(config, "tool_runner.tenant_in_flight"),
        .queue_max = (unsigned)config_integer(config, "tool_runner.queue"),
    };
    struct records_options records = {
        .url = config_string(config, "tool_runner.record"),
        .keep_ms = config_duration_ms(config, "tool_runner.record_keep"),
        .bytes_max = (uint64_t)config_size(config, "tool_runner.record_max"),
    };
    struct playbooks_options playbooks = {
        .bytes_max = (size_t)config_size(config, "tool_runner.playbook_cache"),
        .revisions = config_integer(config, "tool_runner.playbook_revisions"),
        .history_max = config_size(config, "tool_runner.playbook_history"),
        .tenant_max = config_integer(config, "tool_runner.playbooks"),
    };
    commons->metrics = context->metrics;
    commons->knowledge = knowledge_create(context, st);
    if (!commons->knowledge)
        return false;
    commons->queue_wait_ms = config_duration_ms(config, "tool_runner.queue_wait");
    commons->list_wait_ms = config_duration_ms(config, "tool_runner.list_wait");
    commons->mcp = mcp_create(&mcp, st);
    if (!commons->mcp)
        return false;
    commons->page_hosts = page_hosts_create(config, st);
    if (!commons->page_hosts)
        return false;
    commons->page_file_max = (size_t)config_size(config, "tool_runner.page_file_max");
    commons->pdf_program = config_string(config, "tool_runner.pdf_program");
    commons->pdf_time_ms = config_duration_ms(config, "tool_runner.pdf_time");
    commons->sources = search_sources_create(config_string(config, "tool_runner.search"), context->metrics, st);
    if (!commons->sources)
        return false;
    commons->catalog = catalog_create(commons);
    commons->places = places_create(&places);
    commons->turns = turns_create();
    commons->records = records_create(&records);
    commons->playbooks = playbooks_create(&playbooks);
    return true;
}

static void destroy(struct tool_commons **commons_pointer)
{
    struct tool_commons *commons = *commons_pointer;
    *commons_pointer = NULL;
    knowledge_destroy(&commons->knowledge);
    records_destroy(&commons->records);
    playbooks_destroy(&commons->playbooks);
    turns_destroy(&commons->turns);
    places_destroy(&commons->places);
    catalog_destroy(&commons->catalog);
    search_sources_destroy(&commons->sources);
    page_hosts_destroy(&commons->page_hosts);
    mcp_destroy(&commons->mcp);
    free(commons);
}

struct tool_commons *tool_commons_create(const struct service_context *context, struct status *st)
{
    struct tool_commons *commons = calloc(1, sizeof *commons);
    if (!commons) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the tool-runner");
        return NULL;
    }
    if (!open_all(commons, context, st)) {
        destroy(&commons);
        return NULL;
    }
    if (commons->metrics)
        metrics_collect(commons->metrics, collect, NULL, commons);
    return commons;
}

void tool_commons_join(struct tool_commons *commons, struct tool_runner *runner)
{
    if (commons->members++ == 0)
        records_resume(commons->records, runner->loop);
    mcp_join(commons->mcp, runner);
}

void tool_commons_leave(struct tool_commons **commons_pointer, struct tool_runner *runner)
{
    struct tool_commons *commons = *commons_pointer;
    *commons_pointer = NULL;
    mcp_leave(commons->mcp, runner);
    records_leave(commons->records, runner->loop);
    if (--commons->members)
        return;
    if (commons->metrics)
        metrics_uncollect(commons->metrics, commons);
    loop_leave(runner->loop); /* the record may have to wait for a loop */
    destroy(&commons);
    loop_enter(runner->loop);
}
