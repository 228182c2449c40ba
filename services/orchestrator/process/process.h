/* Private to services/orchestrator: the parts that all instances of it in a process share: agents, the store, the
 * runner, the fan-out. */
#ifndef RENGA_ORCHESTRATOR_PROCESS_H
#define RENGA_ORCHESTRATOR_PROCESS_H

#include "base/status.h"
#include "config/config.h"
#include "fanout/mailbox.h"
#include "loop/loop.h"
#include "nodes/node_services.h"
#include "rpc/rpc.h"
#include "rpc/tls.h"

#include <pthread.h>
#include <stdbool.h>

struct addresses;
struct agents;
struct budget;
struct fanout;
struct metrics;
struct runner;
struct service_context;
struct store;
struct runner_metrics;

struct orchestrator {
    struct node_services services;
    struct addresses *orchestrators; /* orchestrators that share the store */
    struct agents *agents;
    struct shipped_file *shipped; /* those of orchestrator.shipped_only; NULL: all */

    /* From orchestrator_open on: a command line that never calls the orchestrator never opens its store. */
    struct store *store;
    struct fanout *fanout; /* NULL: switched off, or there is no other loop */
    struct runner *runner;
    int64_t lease_ms;

    struct rpc_tls node_tls, orchestrators_tls;
    struct mail_tls mail_server, mail_client; /* of the fan-out between orchestrators */
    const struct config *config;
    struct metrics *metrics;
    struct budget *answers;                /* of the process */
    struct spans *spans;                   /* NULL: no traces */
    struct runner_metrics *runner_metrics; /* of the runner */
    pthread_mutex_t lock;                  /* of the opening */
    char owner[129];

    struct loop *loops[LOOPS_MAX]; /* that have joined */
    unsigned membership;
};

/* Agents are loaded; faulty documents are logged. No loop has joined yet. */
struct orchestrator *orchestrator_create(const struct service_context *context, struct status *st);

/* From inside each loop, at its instance's beginning and end. With the last one that leaves it is gone. */
struct orchestrator *orchestrator_join(struct orchestrator *orchestrator, struct loop *loop);
void orchestrator_leave(struct orchestrator **orchestrator);

/* Opens the store and makes the runner, once; when all loops have joined. Any loop. */
bool orchestrator_open(struct orchestrator *orchestrator, struct status *st);

/* From inside each loop, when it serves: from now on the others may give it attempts. */
bool orchestrator_share(struct orchestrator *orchestrator, struct loop *loop, struct status *st);

/* Documents are read again. Any thread that may wait. */
void orchestrator_reload(struct orchestrator *orchestrator);

extern const struct option orchestrator_options[];

#endif
