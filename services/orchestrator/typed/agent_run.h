/* A call of an agent's typed service and its run. The run is started, watched, and cancelled when the caller
 * disconnects. This code calls the Orchestrator through its public contract only, like any client.
 *
 *      (GetKnowledgeBase, if the request names collections)
 *      StartRun, or ResumeRun ---> WatchRun: came, came, …  ---> SUCCEEDED ---------------> `stopped` answers the call
 *                                      |'--- WAITING, FAILED, CANCELLED ---> GetRun ---> `stopped` or `failed`
 *                                      |'--- CANCELLED, since another caller left ---> ResumeRun ---> WatchRun
 *                                      '--- the caller leaves ---> CancelRun, unless keep_running ---> CANCELLED
 *
 * In all other cases the call fails with the status of the step that failed. If the run itself failed, the status has
 * the code of the failed node, and google.rpc.ErrorInfo "RUN_FAILED" (or the reason from the graph document) with the
 * run's id. The owner is allocated in the arena of the call. The functions are called, and the callbacks run, inside
 * the call's loop. */
#ifndef RENGA_ORCHESTRATOR_AGENT_RUN_H
#define RENGA_ORCHESTRATOR_AGENT_RUN_H

#include "api/collection_check.h"
#include "rpc/rpc.h"

#include "renga/v1/agent.pb-c.h"
#include "renga/v1/deep_research.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"

struct json_writer;
struct service_context;

struct agent_run {
    /* Set by the owner. */
    struct rpc_call *call;
    ProtobufCService *orchestrator;
    const char *agent, *input_json;         /* valid until the call ends */
    const char *language;                   /* used if the options have no language */
    const Renga__V1__AgentOptions *options; /* may be NULL; checked */
    ProtobufCService *tool_runner;          /* for the check of the collections; NULL: they are not checked */
    char *const *collections;               /* of the knowledge base, that the request names */
    size_t collection_count;
    const char *on_thread, *on_checkpoint; /* in place of options->thread_id; NULL: not set */
    char *const *interrupt_before;         /* nodes, as in StartRunRequest */
    size_t interrupt_count;
    Renga__V1__InterruptTimeout *interrupt_timeout; /* NULL: no timeout */
    int64_t seen_event_id;                          /* `came` runs for later events only */
    bool reads_whole_run;                           /* GetRun in any case */
    /* Runs for each event of the run, the first event and heartbeats included. */
    void (*came)(struct agent_run *run, const Renga__V1__RunEvent *event);
    /* The run has SUCCEEDED or is WAITING: answers the call. Of a run that has SUCCEEDED it gets the ids and the fields
     * of RunStopped, unless `reads_whole_run`. */
    void (*stopped)(struct agent_run *run, const Renga__V1__Run *message);
    /* The run FAILED or was CANCELLED: answers the call, or returns false. NULL: the call fails as the run did. */
    bool (*failed)(struct agent_run *run, const Renga__V1__Run *message);
    /* StartRun was refused: answers the call, or returns false. NULL: agent_call_failed. */
    bool (*not_started)(struct agent_run *run, const struct rpc_client_call *call);
    /* ResumeRun was refused: ends the call, or tries again. NULL: agent_call_failed. */
    void (*refused)(struct agent_run *run, const struct rpc_client_call *call);

    /* Set before the first `came`. */
    const char *run_id, *thread_id;
    int64_t last_event_id, last_event_ms;

    /* Private. */
    struct rpc_client_call start, watch, get, cancel;
    struct collection_check check;
    struct rpc_principal principal;
    struct timer patience;
    struct status end;                    /* the status of the call after CancelRun was answered */
    bool paused, told;                    /* told: `stopped` came in the stream */
    int64_t taken_up_at;                  /* the last event of a stop behind which ResumeRun was tried; 0: it was not */
    const Renga__V1__RunStopped *success; /* the event of a run that has SUCCEEDED, with its output */
};

void agent_run_begin(struct agent_run *run);
/* agent_collections.c, private: checks the collections; then agent_run_start begins the run, or the call fails. */
void agent_collections_check(struct agent_run *run);
void agent_run_start(struct agent_run *run);
/* Resumes a run instead of starting a new run. The request must stay valid until this function returns. */
void agent_run_resume(struct agent_run *run, const Renga__V1__ResumeRunRequest *request);
/* Waits for an existing run. */
void agent_run_attach(struct agent_run *run, const char *run_id, const char *thread_id);

/* Prepares the owner's own call to the Orchestrator; the `owner` of that call is the run. The call is made on behalf of
 * the caller and ends with the caller's call. If it fails, agent_call_failed ends the caller's call. */
void agent_call_prepare(struct agent_run *run, struct rpc_client_call *call);
void agent_call_failed(struct agent_run *run, const struct rpc_client_call *call);

/* Whether an event is new to the caller. Event ids only grow; options.after_event_id is the last id that the caller has
 * received. */
bool agent_event_is_new(const struct agent_run *run, int64_t event_id);
Renga__V1__AgentAccepted agent_accepted(const struct agent_run *run);

/* ---- requests of any typed service; INVALID_ARGUMENT names the field --------------------------------------------- */

/* agent_collections.c: the tool-runner that a service asks for its collections; NULL: its address is not known. */
ProtobufCService *agent_tool_runner(const struct service_context *context);
/* The collections of a request that may name sources: they count if INTERNAL is one of these. */
void agent_run_look_in(struct agent_run *run, char *const *collections, size_t collection_count,
                       const Renga__V1__DeepResearchSource *sources, size_t source_count);
/* agent_sources.c: the sources to search in a run's input; each source once. */
void agent_write_sources(struct json_writer *out, const Renga__V1__DeepResearchSource *sources, size_t count);
/* The bounds of the contract, and the language of the request's options, which may be NULL. */
bool agent_request_check(const ProtobufCMessage *request, const Renga__V1__AgentOptions *options, struct status *st);

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* Makes the outcome of a result. NULL if the arena is out of memory. */
Renga__V1__AgentOutcome *agent_outcome(struct arena *arena, const Renga__V1__Run *run);

/* agent_size.c: cuts a result until it fits into a message. Returns the number of bytes by which the message, with the
 * event around it, is above 4 MiB; 0: it fits. */
size_t agent_excess(const ProtobufCMessage *result);
/* Cuts all texts to the same length: the greatest length that saves `over` bytes, or 0 if that is not enough. True if a
 * text was cut. */
bool agent_cut_texts(char *const *texts, size_t count, size_t over);
/* Removes the last rows of a list until `over` bytes are saved. True if a row was removed. */
bool agent_cut_rows(ProtobufCMessage *const *rows, size_t *count, size_t over);
void agent_note_cut(Renga__V1__AgentOutcome *outcome, const char *part, const char *reason, struct arena *arena);

#endif
