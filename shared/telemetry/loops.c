#include "telemetry/loops.h"

#include "base/clock.h"
#include "loop/jobs.h"
#include "telemetry/metrics.h"

#include <stdlib.h>

static const int64_t bounds_ns[] = {100000,         1 * NS_PER_MS,  2 * NS_PER_MS,   5 * NS_PER_MS,   10 * NS_PER_MS,
                                    25 * NS_PER_MS, 50 * NS_PER_MS, 100 * NS_PER_MS, 250 * NS_PER_MS, NS_PER_SEC};
static const struct metric held = {.name = "renga_loop_held_seconds",
                                   .help = "How long one visit kept everybody else out of a loop.",
                                   .kind = METRIC_HISTOGRAM,
                                   .bounds = bounds_ns,
                                   .bound_count = sizeof bounds_ns / sizeof bounds_ns[0],
                                   .scale = 1e-9};
static const struct metric waiting = {
    .name = "renga_jobs_waiting", .help = "Long texts that wait for a worker thread.", .kind = METRIC_GAUGE};
static const struct metric running = {
    .name = "renga_jobs_running", .help = "Long texts that worker threads are reading.", .kind = METRIC_GAUGE};
static const struct metric run = {
    .name = "renga_jobs_total", .help = "Long texts that worker threads have read.", .kind = METRIC_COUNTER};
static const struct metric refused = {.name = "renga_jobs_refused_total",
                                      .help = "Long texts that were refused, since too many waited.",
                                      .kind = METRIC_COUNTER};

struct holding {
    struct metrics *metrics;
    uint32_t series;
};

static void loop_held(const struct loop *loop, int64_t held_ns, void *data)
{
    const struct holding *holding = data;
    metrics_observe(holding->metrics, loop_index(loop), &held, holding->series, held_ns);
}

static void jobs_collect(struct buffer *out, void *data)
{
    struct jobs_count count;
    (void)data;
    jobs_count(&count);
    metrics_show(out, &waiting, NULL, count.waiting);
    metrics_show(out, &running, NULL, count.running);
    metrics_show(out, &run, NULL, (double)count.run);
    metrics_show(out, &refused, NULL, (double)count.refused);
}

static void loops_listen(struct loop *const *loops, unsigned loop_count, struct holding *holding)
{
    for (unsigned i = 0; i < loop_count; i++) {
        loop_enter(loops[i]);
        loop_on_held(loops[i], holding ? loop_held : NULL, holding);
        loop_leave(loops[i]);
    }
}

void loop_metrics_add(struct metrics *metrics, struct loop *const *loops, unsigned loop_count)
{
    struct holding *holding = malloc(sizeof *holding);
    if (!holding)
        return;
    *holding = (struct holding){.metrics = metrics, .series = metrics_series(metrics_register(metrics, &held), NULL)};
    metrics_collect(metrics, jobs_collect, free, holding);
    loops_listen(loops, loop_count, holding);
}

void loop_metrics_remove(struct loop *const *loops, unsigned loop_count)
{
    loops_listen(loops, loop_count, NULL);
}
