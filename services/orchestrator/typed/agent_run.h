/* A call of an agent's typed service and the run that stands behind it: started, watched, read when it has stopped,
 * cancelled when the caller goes away. The Orchestrator is asked through its contract alone, like any client does.
 *
 *      StartRun, or ResumeRun ---> WatchRun: came, came, …  ---> stopped ---> GetRun ---> `stopped` answers the call
 *                                      '--- the caller leaves ---> CancelRun, unless keep_running ---> CANCELLED
 *
 * Every other end is the status of the step that failed; that of a run that failed has the node's code, and
 * google.rpc.ErrorInfo "RUN_FAILED" (or the reason that the document gives) with the run's id. The owner is allocated
 * in the call's arena. All from inside the call's loop. */
#ifndef RENGA_ORCHESTRATOR_AGENT_RUN_H
#define RENGA_ORCHESTRATOR_AGENT_RUN_H

#include "rpc/rpc.h"

#include "renga/v1/agent.pb-c.h"
#include "renga/v1/deep_research.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"

struct json_writer;

struct agent_run {
    /* Set by the owner. */
    struct rpc_call *call;
    ProtobufCService *orchestrator;
    const char *agent, *input_json;         /* alive as long as the call */
    const char *language;                   /* where the options name none */
    const Renga__V1__AgentOptions *options; /* may be NULL; checked */
    const char *on_thread, *on_checkpoint;  /* in place of options->thread_id; NULL: none */
    char *const *interrupt_before;          /* nodes, as StartRunRequest has them */
    size_t interrupt_count;
    Renga__V1__InterruptTimeout *interrupt_timeout; /* NULL: none */
    int64_t seen_event_id;                          /* `came` runs for later events alone */
    /* Each event of the run, from its first on, heartbeats too. */
    void (*came)(struct agent_run *run, const Renga__V1__RunEvent *event);
    /* The run has SUCCEEDED or is WAITING: answers the call. */
    void (*stopped)(struct agent_run *run, const Renga__V1__Run *message);
    /* ResumeRun was refused: ends the call, or tries again. NULL: agent_call_failed. */
    void (*refused)(struct agent_run *run, const struct rpc_client_call *call);

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
/* Goes on with a run in place of a new one; the request lives until this returns. */
void agent_run_resume(struct agent_run *run, const Renga__V1__ResumeRunRequest *request);
/* Waits for a run that is there. */
void agent_run_attach(struct agent_run *run, const char *run_id, const char *thread_id);

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
/* agent_sources.c: where to search, as fields of a request and of a run's input; each source once. */
bool agent_check_sources(const Renga__V1__DeepResearchSource *sources, size_t count, struct status *st);
void agent_write_sources(struct json_writer *out, const Renga__V1__DeepResearchSource *sources, size_t count);
void agent_write_texts(struct json_writer *out, const char *key, char *const *texts, size_t count);
/* `options` may be NULL. */
bool agent_options_check(const Renga__V1__AgentOptions *options, struct status *st);
/* Not longer than `most` bytes, without control characters. */
bool agent_check_name(const char *field, const char *name, size_t most, struct status *st);

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* For the outcome of a result; NULL where the arena is out. */
Renga__V1__AgentOutcome *agent_outcome(struct arena *arena, const Renga__V1__Run *run);

/* agent_size.c: a result is cut until it fits. Bytes by which a message of that size is above 4 MiB, the event around
 * it counted; 0: it fits. */
size_t agent_excess(const ProtobufCMessage *result);
/* Cuts all texts to the greatest length at which they have `over` bytes less, or to nothing; true where any was cut. */
bool agent_cut_texts(char *const *texts, size_t count, size_t over);
/* The last rows of a list go until they make up for `over` bytes; true where any went. */
bool agent_cut_rows(ProtobufCMessage *const *rows, size_t *count, size_t over);
void agent_note_cut(Renga__V1__AgentOutcome *outcome, const char *part, const char *reason, struct arena *arena);

#endif
