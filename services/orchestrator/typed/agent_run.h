/* A call of an agent's typed service and the run that stands behind it: started, watched, read when it has stopped,
 * cancelled when the caller goes away. The Orchestrator is asked through its contract alone, like any client does.
 *
 *      StartRun ---> WatchRun: came, came, …  ---> stopped ---> GetRun ---> `stopped` answers the call
 *                        '--- the caller leaves ---> CancelRun, unless keep_running ---> CANCELLED
 *
 * Every other end is the status of the step that failed; that of a run that failed has the node's code, and
 * google.rpc.ErrorInfo "RUN_FAILED" with the run's id. The owner is allocated in the call's arena. All from inside the
 * call's loop. */
#ifndef RENGA_ORCHESTRATOR_AGENT_RUN_H
#define RENGA_ORCHESTRATOR_AGENT_RUN_H

#include "rpc/rpc.h"

#include "renga/v1/agent.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"

struct agent_run {
    /* Set by the owner. */
    struct rpc_call *call;
    ProtobufCService *orchestrator;
    const char *agent, *input_json;         /* alive as long as the call */
    const char *language;                   /* where the options name none */
    const Renga__V1__AgentOptions *options; /* may be NULL; checked */
    /* Each event of the run, from its first on, heartbeats too. */
    void (*came)(struct agent_run *run, const Renga__V1__RunEvent *event);
    /* The run has SUCCEEDED or is WAITING: answers the call. */
    void (*stopped)(struct agent_run *run, const Renga__V1__Run *message);

    /* What there is when `came` runs first. */
    const char *run_id, *thread_id;
    int64_t last_event_id, last_event_ms;

    /* Private. */
    struct rpc_client_call start, watch, get, cancel;
    struct rpc_principal principal;
    struct timer patience;
    struct status end; /* that the call comes to, when CancelRun was answered */
    bool paused, told; /* told: `stopped` came in the stream */
};

void agent_run_begin(struct agent_run *run);

/* Options of any typed service; `options` may be NULL. INVALID_ARGUMENT names the field. */
bool agent_options_check(const Renga__V1__AgentOptions *options, struct status *st);

/* For AgentResult.outcome; NULL where the arena is out. */
Renga__V1__AgentOutcome *agent_outcome(struct arena *arena, const Renga__V1__Run *run);

#endif
