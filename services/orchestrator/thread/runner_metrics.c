/* Series are looked up when the metrics are created: counting is a few stores. */
#include "runner_metrics.h"
#include "graph/node_kind.h"

#include "base/log.h"
#include "loop/loop.h"
#include "telemetry/metrics.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS               INT64_C(1000000)
#define KINDS_MAX        64
#define REASONS          (RENGA__V1__STOP_REASON__STOP_REASON_INTERRUPT_TIMEOUT + 1)
#define ENDED_SERIES_MAX 1024 /* some 340 agents; renga_orchestrator_runs_stopped_total counts the others' outcomes */
#define STATES           (RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED + 1)

/* From a no-op on to a model that thinks. */
static const int64_t bounds_ns[] = {MS / 10,   MS / 2,    MS,         2 * MS,    5 * MS,   10 * MS,
                                    20 * MS,   50 * MS,   100 * MS,   200 * MS,  500 * MS, 1000 * MS,
                                    2000 * MS, 5000 * MS, 10000 * MS, 60000 * MS};
#define DURATIONS                                                                                                      \
    .kind = METRIC_HISTOGRAM, .bounds = bounds_ns, .bound_count = sizeof bounds_ns / sizeof *bounds_ns, .scale = 1e-9

enum family { RUNS, ENDED, STEPS, AT_WORK, TASKS, TASK_TIME, STARTED, EXPIRED, PRUNED, CACHE, FAMILIES };
static const struct metric rows[FAMILIES] = {
    [RUNS] = {.name = "renga_orchestrator_runs_stopped_total",
              .help = "Times that a run stopped: it waits, or has ended.",
              .labels = {"state", "reason"}},
    [ENDED] = {.name = "renga_runs_ended_total",
               .help = "Runs that ended, by agent and outcome.",
               .labels = {"agent", "outcome"},
               .series_max = ENDED_SERIES_MAX},
    [STEPS] = {.name = "renga_orchestrator_step_seconds",
               .help = "Supersteps, those of sub-graphs too, from their beginning until they were reduced.",
               DURATIONS},
    [AT_WORK] = {.name = "renga_orchestrator_nodes_running", .help = "Nodes at work.", .kind = METRIC_GAUGE},
    [TASKS] = {.name = "renga_orchestrator_attempts_total",
               .help = "Attempts at nodes that ended, by what became of them.",
               .labels = {"kind", "code"}},
    [TASK_TIME] = {.name = "renga_orchestrator_attempt_seconds",
                   .help = "How long attempts at nodes took.",
                   .labels = {"kind"},
                   DURATIONS},
    [STARTED] = {.name = "renga_orchestrator_loop_attempts_total",
                 .help = "Attempts at nodes that began in each loop, those of runs of other loops too.",
                 .labels = {"loop"}},
    [EXPIRED] = {.name = "renga_orchestrator_threads_expired_total",
                 .help = "Threads that were erased because nothing had happened on them for their time to live."},
    [PRUNED] = {.name = "renga_orchestrator_records_pruned_total",
                .help = "Records of threads' histories that were taken away for their age or number."},
    [CACHE] = {.name = "renga_orchestrator_node_cache_total",
               .help = "Activations of nodes with a cache, by what the cache had.",
               .labels = {"result"}},
};
static const struct metric fanout_rows[FANOUT_ROWS] = {
    [FANOUT_SENT] = {.name = "renga_orchestrator_fanout_sent_total",
                     .help = "Attempts that were given to another loop than their run's."},
    [FANOUT_DISPATCHED] = {.name = "renga_orchestrator_fanout_away",
                           .help = "Attempts at work in another loop than their run's.",
                           .kind = METRIC_GAUGE},
    [FANOUT_TAKEN_OVER] = {.name = "renga_orchestrator_fanout_taken_over_total",
                           .help = "Attempts taken over from a loop that showed no life."},
    [FANOUT_LATE] = {.name = "renga_orchestrator_fanout_late_total",
                     .help = "Messages about attempts that were over already, dropped."},
    [FANOUT_UNSHOWN] = {.name = "renga_orchestrator_fanout_unshown_total",
                        .help = "Tokens and progress dropped because the run's loop did not keep up."},
    [FANOUT_WAITING] = {.name = "renga_orchestrator_fanout_waiting_bytes",
                        .help = "Messages between loops that wait to be taken.",
                        .kind = METRIC_GAUGE},
    [FANOUT_LINKS] = {.name = "renga_orchestrator_fanout_links",
                      .help = "Loops of other orchestrators that attempts can be given to, and taken from.",
                      .kind = METRIC_GAUGE},
    [FANOUT_REMOTE_SENT] = {.name = "renga_orchestrator_fanout_far_sent_total",
                            .help = "Attempts, of those sent, that were given to another orchestrator."},
    [FANOUT_REMOTE_BEGUN] = {.name = "renga_orchestrator_fanout_far_begun_total",
                             .help = "Attempts of other orchestrators' runs that began here."},
    [FANOUT_BROKEN] = {.name = "renga_orchestrator_fanout_broken_total",
                       .help = "Times that a loop of another orchestrator sent no heartbeat, or a datagram was lost."},
    [FANOUT_STRANGE] = {.name = "renga_orchestrator_fanout_strange_total",
                        .help = "Letters that no orchestrator of the store wrote to this one, dropped."},
};

static const struct metric owner_rows[OWNER_ROWS] = {
    [OWNER_HELD] = {.name = "renga_orchestrator_threads_owned",
                    .help = "Threads of a shared store that this orchestrator has.",
                    .kind = METRIC_GAUGE},
    [OWNER_TAKEN_OVER] = {.name = "renga_orchestrator_takeovers_total",
                          .help = "Threads taken over from an orchestrator that showed no life."},
    [OWNER_REFUSED] = {.name = "renga_orchestrator_threads_lost_total",
                       .help = "Threads whose writes the store refused, since another orchestrator has them."},
    [OWNER_PARKED] = {.name = "renga_orchestrator_runs_parked_total",
                      .help = "Runs that failed since their owners died too often while they were at work."},
    [OWNER_QUARANTINE] = {.name = "renga_orchestrator_threads_in_quarantine",
                          .help = "Threads that wait to be taken up alone, since owners died while they were at work.",
                          .kind = METRIC_GAUGE},
    [OWNER_FORWARDED] = {.name = "renga_orchestrator_forwarded_total",
                         .help = "Requests handed on to the orchestrator that has the thread."},
};

struct runner_metrics {
    struct metrics *metrics;
    struct metric_family *families[FAMILIES];
    uint32_t steps, at_work, expired, pruned, cache[2], fanout[FANOUT_ROWS], owner[OWNER_ROWS];
    _Atomic uint32_t started[LOOPS_MAX];                                                                /* 0: not met */
    _Atomic uint32_t runs[STATES][REASONS], tasks[KINDS_MAX][STATUS_CODES_COUNT], task_time[KINDS_MAX]; /* 0: not met */
};

/* "QUESTION" of "STOP_REASON_QUESTION" */
static const char *enum_word(const ProtobufCEnumDescriptor *values, int number, const char *prefix)
{
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(values, number);
    return value ? value->name + strlen(prefix) : "UNKNOWN";
}

/* A series is looked up when it is first met; two loops that meet it at once find the same series. A loop that reads
 * its number here must also see its cells, which another loop may have made: release and acquire. */
static uint32_t runner_metrics_series_of(struct runner_metrics *runner_metrics, enum family family,
                                         _Atomic uint32_t *place, const char *first, const char *second)
{
    uint32_t series = atomic_load_explicit(place, memory_order_acquire);
    if (series)
        return series - 1;
    series = metrics_series(runner_metrics->families[family], (const char *[]){first, second});
    atomic_store_explicit(place, series + 1, memory_order_release);
    return series;
}

struct runner_metrics *runner_metrics_create(struct metrics *metrics)
{
    struct runner_metrics *runner_metrics = calloc(1, sizeof *runner_metrics);
    if (!runner_metrics)
        fatal("orchestrator.memory", "no memory for metrics");
    runner_metrics->metrics = metrics;
    for (int i = 0; i < FAMILIES; i++)
        runner_metrics->families[i] = metrics_register(metrics, &rows[i]);
    runner_metrics->steps = metrics_series(runner_metrics->families[STEPS], NULL);
    runner_metrics->at_work = metrics_series(runner_metrics->families[AT_WORK], NULL);
    for (int i = 0; i < FANOUT_ROWS; i++)
        runner_metrics->fanout[i] = metrics_series(metrics_register(metrics, &fanout_rows[i]), NULL);
    for (int i = 0; i < OWNER_ROWS; i++)
        runner_metrics->owner[i] = metrics_series(metrics_register(metrics, &owner_rows[i]), NULL);
    runner_metrics->expired = metrics_series(runner_metrics->families[EXPIRED], NULL);
    runner_metrics->pruned = metrics_series(runner_metrics->families[PRUNED], NULL);
    for (int found = 0; found < 2; found++)
        runner_metrics->cache[found] =
            metrics_series(runner_metrics->families[CACHE], (const char *[]){found ? "hit" : "miss"});
    return runner_metrics;
}

void runner_metrics_destroy(struct runner_metrics **runner_metrics)
{
    free(*runner_metrics);
    *runner_metrics = NULL;
}

void runner_metrics_run(struct runner_metrics *runner_metrics, const struct loop *loop, Renga__V1__RunState state,
                        Renga__V1__StopReason reason)
{
    if (!runner_metrics || (unsigned)state >= STATES || (unsigned)reason >= REASONS)
        return;
    const char *is = enum_word(&renga__v1__run_state__descriptor, (int)state, "RUN_STATE_");
    const char *why = enum_word(&renga__v1__stop_reason__descriptor, (int)reason, "STOP_REASON_");
    uint32_t series = runner_metrics_series_of(runner_metrics, RUNS, &runner_metrics->runs[state][reason], is, why);
    metrics_add(runner_metrics->metrics, loop_index(loop), series, 1);
}

void runner_metrics_ended(struct runner_metrics *runner_metrics, const struct loop *loop, const char *agent,
                          Renga__V1__RunState state)
{
    if (!runner_metrics || (unsigned)state >= STATES)
        return;
    const char *outcome = enum_word(&renga__v1__run_state__descriptor, (int)state, "RUN_STATE_");
    uint32_t series =
        metrics_series(runner_metrics->families[ENDED], (const char *[]){agent ? agent : "other", outcome});
    metrics_add(runner_metrics->metrics, loop_index(loop), series, 1);
}

void runner_metrics_step(struct runner_metrics *runner_metrics, const struct loop *loop, int64_t duration_ns)
{
    if (runner_metrics)
        metrics_observe(runner_metrics->metrics, loop_index(loop), &rows[STEPS], runner_metrics->steps, duration_ns);
}

void runner_metrics_cache(struct runner_metrics *runner_metrics, const struct loop *loop, bool found)
{
    if (runner_metrics)
        metrics_add(runner_metrics->metrics, loop_index(loop), runner_metrics->cache[found], 1);
}

void runner_metrics_expired(struct runner_metrics *runner_metrics, const struct loop *loop)
{
    if (runner_metrics)
        metrics_add(runner_metrics->metrics, loop_index(loop), runner_metrics->expired, 1);
}

void runner_metrics_pruned(struct runner_metrics *runner_metrics, const struct loop *loop, size_t records)
{
    if (runner_metrics)
        metrics_add(runner_metrics->metrics, loop_index(loop), runner_metrics->pruned, (int64_t)records);
}

void runner_metrics_task_began(struct runner_metrics *runner_metrics, const struct loop *loop)
{
    if (runner_metrics)
        metrics_add(runner_metrics->metrics, loop_index(loop), runner_metrics->at_work, 1);
}

void runner_metrics_started(struct runner_metrics *runner_metrics, const struct loop *loop)
{
    char number[16] = "";
    if (!runner_metrics)
        return;
    unsigned index = loop_index(loop);
    if (!atomic_load_explicit(&runner_metrics->started[index], memory_order_relaxed))
        snprintf(number, sizeof number, "%u", index);
    metrics_add(runner_metrics->metrics, index,
                runner_metrics_series_of(runner_metrics, STARTED, &runner_metrics->started[index], number, NULL), 1);
}

void runner_metrics_fanout(struct runner_metrics *runner_metrics, const struct loop *loop, enum fanout_metric what,
                           int64_t n)
{
    if (runner_metrics)
        metrics_add(runner_metrics->metrics, loop_index(loop), runner_metrics->fanout[what], n);
}

void runner_metrics_owner(struct runner_metrics *runner_metrics, const struct loop *loop, enum owner_metric what,
                          int64_t n)
{
    if (runner_metrics)
        metrics_add(runner_metrics->metrics, loop_index(loop), runner_metrics->owner[what], n);
}

void runner_metrics_task_ended(struct runner_metrics *runner_metrics, const struct loop *loop,
                               const struct node_kind *kind, enum status_code code, int64_t duration_ns)
{
    size_t k = 0;
    if (!runner_metrics)
        return;
    while (k < KINDS_MAX - 1 && node_kinds[k] && node_kinds[k] != kind)
        k++;
    unsigned index = loop_index(loop);
    code = code < STATUS_CODES_COUNT ? code : UNKNOWN;
    uint32_t ended = runner_metrics_series_of(runner_metrics, TASKS, &runner_metrics->tasks[k][code], kind->name,
                                              status_code_name((int)code));
    uint32_t took =
        runner_metrics_series_of(runner_metrics, TASK_TIME, &runner_metrics->task_time[k], kind->name, NULL);
    metrics_add(runner_metrics->metrics, index, runner_metrics->at_work, -1);
    metrics_add(runner_metrics->metrics, index, ended, 1);
    metrics_observe(runner_metrics->metrics, index, &rows[TASK_TIME], took, duration_ns);
}
