/* A call of an agent's typed service and the run that stands behind it: started, watched, read when it has stopped,
 * cancelled when the caller goes away. The Orchestrator is asked through its contract alone, like any client does.
 *
 *      StartRun ---> WatchRun: came, came, …  ---> stopped ---> GetRun ---> `stopped` answers the call
 *                        '--- the caller leaves ---> CancelRun, unless keep_running ---> CANCELLED
 *
 * Every other end is the status of the step that failed; that of a run that failed has the node's code, and
 * google.rpc.ErrorInfo "RUN_FAILED" (or the reason that the document gives) with the run's id. The owner is allocated
 * in the call's arena. All from inside the call's loop. */
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
    const char *on_thread, *on_checkpoint;  /* in place of options->thread_id; NULL: none */
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

/* A call of the Orchestrator by the owner; `owner` of it is the run. It is made on behalf of the caller and ends with
 * the caller's call. If it fails, agent_call_failed ends the caller's call. */
void agent_call_prepare(struct agent_run *run, struct rpc_client_call *call);
void agent_call_failed(struct agent_run *run, const struct rpc_client_call *call);

/* Whether an event is new to the caller: ids only grow, and options.after_event_id is the last one it has seen. */
bool agent_event_is_new(const struct agent_run *run, int64_t event_id);
Renga__V1__AgentAccepted agent_accepted(const struct agent_run *run);

/* ---- requests of any typed service; INVALID_ARGUMENT names the field --------------------------------------------- */

bool agent_check_question(const char *question, struct status *st);
bool agent_check_collections(char *const *names, size_t count, struct status *st);
/* `options` may be NULL. */
bool agent_options_check(const Renga__V1__AgentOptions *options, struct status *st);
/* Not longer than `most` bytes, without control characters. */
bool agent_check_name(const char *field, const char *name, size_t most, struct status *st);

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* For the outcome of a result; NULL where the arena is out. */
Renga__V1__AgentOutcome *agent_outcome(struct arena *arena, const Renga__V1__Run *run);

#endif
