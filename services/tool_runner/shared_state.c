#include "shared_state.h"

#include "base/memory.h"
#include "daemon/service.h"
#include "instance/tool_runner_instance.h"
#include "knowledge/knowledge.h"
#include "list/catalog.h"
#include "mcp/mcp.h"
#include "playbook/playbook_cache.h"
#include "record/key_lock.h"
#include "record/records.h"
#include "run/run_slots.h"
#include "search/sources.h"
#include "store/store.h"
#include "telemetry/metrics.h"
#include "tools/page_hosts.h"

#include <stdlib.h>

/* ---- metrics of the shared state --------------------------------------------------------------------------------- */

static void show_run_slots(struct buffer *out, const struct tool_shared *shared)
{
    static const struct metric taken = {
        .name = "renga_tool_in_flight", .help = "Tools that are running.", .kind = METRIC_GAUGE};
    static const struct metric waiting = {
        .name = "renga_tool_waiting", .help = "Calls that wait for a slot.", .kind = METRIC_GAUGE};
    static const struct metric refused = {.name = "renga_tool_refused_total",
                                          .help = "Calls sent away, since as many waited as may."};
    struct run_slots_stats stats;
    run_slots_stats(shared->run_slots, &stats);
    metrics_show(out, &taken, NULL, stats.taken);
    metrics_show(out, &waiting, NULL, stats.waiting);
    metrics_show(out, &refused, NULL, (double)stats.refused);
}

static void show_records(struct buffer *out, const struct tool_shared *shared)
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
    if (!records_stats(shared->records, &stats, &size))
        return;
    metrics_show(out, &bytes, NULL, (double)size);
    metrics_show(out, &transactions, NULL, (double)stats.transactions);
    metrics_show(out, &failures, NULL, (double)stats.failures);
}

static void shared_state_collect(struct buffer *out, void *data)
{
    const struct tool_shared *shared = data;
    show_run_slots(out, shared);
    show_records(out, shared);
    playbooks_show(out, shared->playbooks);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool shared_state_open_all(struct tool_shared *shared, const struct service_context *context, struct status *st)
{
    const struct config *config = context->config;
    struct mcp_options mcp = {
        .path = config_string(config, "tool_runner.mcp"),
        .metrics = context->metrics,
    };
    struct run_slots_options run_slots = {
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
    shared->metrics = context->metrics;
    shared->knowledge = knowledge_create(context, st);
    if (!shared->knowledge)
        return false;
    shared->queue_wait_ms = config_duration_ms(config, "tool_runner.queue_wait");
    shared->list_wait_ms = config_duration_ms(config, "tool_runner.list_wait");
    shared->mcp = mcp_create(&mcp, st);
    if (!shared->mcp)
        return false;
    shared->page_hosts = page_hosts_create(config, st);
    if (!shared->page_hosts)
        return false;
    shared->page_file_max = (size_t)config_size(config, "tool_runner.page_file_max");
    shared->pdf_program = config_string(config, "tool_runner.pdf_program");
    shared->pdf_time_ms = config_duration_ms(config, "tool_runner.pdf_time");
    shared->sources = search_sources_create(config_string(config, "tool_runner.search"), context->metrics, st);
    if (!shared->sources)
        return false;
    shared->catalog = catalog_create(shared);
    shared->run_slots = run_slots_create(&run_slots);
    shared->key_locks = key_locks_create();
    shared->records = records_create(&records);
    shared->playbooks = playbooks_create(&playbooks);
    return true;
}

static void shared_state_destroy(struct tool_shared **shared_pointer)
{
    struct tool_shared *shared = *shared_pointer;
    *shared_pointer = NULL;
    knowledge_destroy(&shared->knowledge);
    records_destroy(&shared->records);
    playbooks_destroy(&shared->playbooks);
    key_locks_destroy(&shared->key_locks);
    run_slots_destroy(&shared->run_slots);
    catalog_destroy(&shared->catalog);
    search_sources_destroy(&shared->sources);
    page_hosts_destroy(&shared->page_hosts);
    mcp_destroy(&shared->mcp);
    free(shared);
}

struct tool_shared *tool_shared_create(const struct service_context *context, struct status *st)
{
    struct tool_shared *shared = xcalloc(1, sizeof *shared);
    if (!shared_state_open_all(shared, context, st)) {
        shared_state_destroy(&shared);
        return NULL;
    }
    if (shared->metrics)
        metrics_collect(shared->metrics, shared_state_collect, NULL, shared);
    return shared;
}

void tool_shared_join(struct tool_shared *shared, struct tool_runner *runner)
{
    if (shared->members++ == 0)
        records_resume(shared->records, runner->loop);
    mcp_join(shared->mcp, runner);
}

void tool_shared_leave(struct tool_shared **shared_pointer, struct tool_runner *runner)
{
    struct tool_shared *shared = *shared_pointer;
    *shared_pointer = NULL;
    mcp_leave(shared->mcp, runner);
    records_leave(shared->records, runner->loop);
    if (--shared->members)
        return;
    if (shared->metrics)
        metrics_uncollect(shared->metrics, shared);
    loop_leave(runner->loop); /* the record may have to wait for a loop */
    shared_state_destroy(&shared);
    loop_enter(runner->loop);
}
