/* Private to the orchestrator: the options of the runner (runtime/runner.h). Set once, before runner_create, and
 * constant from then on: every loop reads them. */
#ifndef RENGA_ORCHESTRATOR_RUNNER_OPTIONS_H
#define RENGA_ORCHESTRATOR_RUNNER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct agents;
struct budget;
struct fanout;
struct loop;
struct node_services;
struct runner_metrics;
struct spans;
struct store;

/* The lines of nodes that are written (orchestrator.node_log), in the order of the option's choices. */
enum node_log { NODE_LOG_OFF, NODE_LOG_DEBUG, NODE_LOG_DOCUMENTS, NODE_LOG_INFO };

struct runner_options {
    struct loop *const *loops;
    unsigned loop_count;
    struct store *store;
    struct agents *agents;
    struct budget *answers;                /* of the process: large events take from it; NULL: no bound */
    const struct node_services *services;  /* handed to tasks; may be NULL */
    struct fanout *fanout;                 /* fanout/fanout.h; NULL: every attempt runs in the loop of its thread */
    struct spans *spans;                   /* of traces; NULL: no spans are recorded */
    enum node_log node_log;                /* node_log.h: which lines of nodes are logged */
    bool trace_content;                    /* spans show inputs, outputs and whole texts of errors */
    struct runner_metrics *runner_metrics; /* runner_metrics.h; may be NULL */
    const char *owner;                     /* this orchestrator's name in runs */
    bool shared;                           /* other orchestrators have the same store */
    const char *address;                   /* address at which those reach this process; NULL or "": they cannot */
    unsigned crashes_max;                  /* owners that may die over a run (crashes.h); 0: as many as will */
    int64_t lease_ms;                      /* how long a member may show no life */
    unsigned snapshot_every;               /* steps; 0: as the size of records and state asks for */

    /* How long threads are kept that have no wishes of their own; 0: for ever. */
    int64_t thread_ttl_ms, history_age_ms;
    int32_t checkpoints_max;
    int64_t sweep_every_ms; /* pause between two sweeps; 0: a single sweep at the start */
};

#endif
