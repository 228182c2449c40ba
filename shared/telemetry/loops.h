/* How long visits hold the loops, and the work of the worker threads:
 *
 *      renga_loop_held_seconds     histogram; above 0.005 a callback worked too long, or the machine is short of
 * processors renga_jobs_waiting          long texts that wait for a worker renga_jobs_running          ... that are
 * being read renga_jobs_total            ... that were read renga_jobs_refused_total    ... for which the queue had no
 * room */
#ifndef RENGA_TELEMETRY_LOOPS_H
#define RENGA_TELEMETRY_LOOPS_H

struct loop;
struct metrics;

/* The loops may be running; but do not call it from inside a loop. */
void loop_metrics_add(struct metrics *metrics, struct loop *const *loops, unsigned loop_count);
/* Before the metrics are destroyed: afterwards no loop touches them. */
void loop_metrics_remove(struct loop *const *loops, unsigned loop_count);

#endif
