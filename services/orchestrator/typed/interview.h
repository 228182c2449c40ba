/* Private to typed/: calls of the form interview. A session is a thread of the agent "form_interview". A call of a
 * person is a run on that thread, and the reply is the output of the run. agents/form_interview/graph.json names the
 * fields. */
#ifndef RENGA_ORCHESTRATOR_INTERVIEW_H
#define RENGA_ORCHESTRATOR_INTERVIEW_H

#include "agent_run.h"

#include "loop/jobs.h"

#include "renga/v1/interview.pb-c.h"

#include <cjson/cJSON.h>

#define INTERVIEW_AGENT     "form_interview"
#define INTERVIEW_INPUT_MAX ((size_t)3 << 20) /* bytes, as StartRunRequest.input_json */

struct interview {
    Renga__V1__FormInterview_Service base; /* first */
    ProtobufCService *orchestrator;        /* in this process */
};

/* A call in progress. Exactly one of `reply`, `show`, `confirmed` and `got` is set. */
struct interview_call {
    struct interview *service;
    struct rpc_call *rpc;
    struct rpc_client_call call;
    struct rpc_principal principal;
    const char *session_id, *request_id, *action;
    char *input;         /* of the run */
    Renga__V1__Run *run; /* that has succeeded */
    int attempt;         /* of this request: incremented if its last run failed or was cancelled */
    Renga__V1__StartRunRequest start;
    Renga__V1__Retention retention;
    Renga__V1__InterviewReply_Closure reply;
    Renga__V1__InterviewEvent_Closure show;
    Renga__V1__ConfirmInterviewResponse_Closure confirmed;
    Renga__V1__GetSessionResponse_Closure got;
    struct status failure; /* of a start: reported after its thread was deleted */

    /* The job for a large request or session, which runs in a worker thread. */
    struct job job;
    struct status status;
    const Renga__V1__StartInterviewRequest *started;
    char *state_json;
    int64_t updated_ms;
    Renga__V1__MainSessionState *session;
    Renga__V1__InterviewReply *answer; /* if `run` is set */
    void (*made)(struct interview_call *call);
};

/* interview_run.c: reads the part of the session that later calls need; with `all`, the whole session. */
void interview_read_session(struct interview_call *call, bool all,
                            void (*came)(const Renga__V1__GetStateResponse *response, void *data));
/* The state of the session, which the caller deletes. NULL: the call has been ended. A thread is not a session if it
 * belongs to another agent or has no successful call. */
cJSON *interview_session_of(struct interview_call *call, const Renga__V1__GetStateResponse *response);
/* Makes call->session from a whole state, and call->answer if call->run is set; large states are processed in a worker
 * thread. Then calls `made` in the call's loop, or ends the call with an error. */
void interview_make_session(struct interview_call *call, const Renga__V1__GetStateResponse *response,
                            int64_t updated_ms, void (*made)(struct interview_call *call));
/* Runs call->input, and answers the call. If there is no input, the call fails with `st`. */
void interview_start_run(struct interview_call *call, struct status *st);
struct arena *interview_arena(const struct interview_call *call);

/* interview_sessions.c */
void interview_list_sessions(Renga__V1__FormInterview_Service *self, const Renga__V1__ListSessionsRequest *request,
                             Renga__V1__ListSessionsResponse_Closure reply, void *data);
void interview_delete_session(Renga__V1__FormInterview_Service *self, const Renga__V1__DeleteSessionRequest *request,
                              Renga__V1__DeleteSessionResponse_Closure reply, void *data);

/* interview_input.c: checks requests; INVALID_ARGUMENT names the field. Makes the inputs of the run: JSON in the arena,
 * or NULL with `st` filled. */
bool interview_check_start(const Renga__V1__StartInterviewRequest *request, struct arena *arena, struct status *st);
bool interview_check_answer(const Renga__V1__AnswerInterviewRequest *request, struct status *st);
bool interview_check_confirm(const Renga__V1__ConfirmInterviewRequest *request, struct status *st);
bool interview_check_session(const char *session_id, struct status *st);
bool interview_check_list(const Renga__V1__ListSessionsRequest *request, struct status *st);
char *interview_input_start(const Renga__V1__StartInterviewRequest *request, struct arena *arena, struct status *st);
char *interview_input_answer(const Renga__V1__AnswerInterviewRequest *request, struct arena *arena, struct status *st);
char *interview_input_confirm(const Renga__V1__ConfirmInterviewRequest *request, struct arena *arena,
                              struct status *st);

/* interview_state.c: makes the session from the state of its thread; NULL with `st` filled if the state is not that of
 * a session. */
Renga__V1__MainSessionState *interview_state(const cJSON *state, const char *session_id, int64_t updated_ms,
                                             struct arena *arena, struct status *st);
Renga__V1__SessionSummary *interview_summary(const cJSON *state, const Renga__V1__Thread *thread, struct arena *arena);
/* Makes the reply from the output of a run, with the session after that run. */
Renga__V1__InterviewReply *interview_reply(const Renga__V1__Run *run, Renga__V1__MainSessionState *state,
                                           struct arena *arena, struct status *st);

#endif
