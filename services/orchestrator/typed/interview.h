/* Private to typed/: calls of the form interview. A session is a thread of the agent "form_interview", a call of a
 * person is a run on it, and a reply is that run's output (agents/form_interview/graph.json names the fields). */
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

/* A call on its way; one member of `reply` is there. */
struct interview_call {
    struct interview *service;
    struct rpc_call *rpc;
    struct rpc_client_call call;
    struct rpc_principal principal;
    const char *session_id, *request_id, *action;
    char *input;         /* of the run */
    Renga__V1__Run *run; /* that has succeeded */
    int attempt;         /* at this request: one that failed, or had no waiting client, was no answer */
    Renga__V1__StartRunRequest start;
    Renga__V1__Retention retention;
    Renga__V1__InterviewReply_Closure reply;
    Renga__V1__InterviewEvent_Closure show;
    Renga__V1__ConfirmInterviewResponse_Closure confirmed;
    Renga__V1__GetSessionResponse_Closure got;
    struct status failure; /* of a start: told when its rows are gone */

    /* Work on a large request or session, in a worker thread. */
    struct job job;
    struct status status;
    const Renga__V1__StartInterviewRequest *started;
    char *state_json;
    int64_t updated_ms;
    Renga__V1__MainSessionState *session;
    Renga__V1__InterviewReply *answer; /* where the run is there */
    void (*made)(struct interview_call *call);
};

/* interview_run.c: reads the session: the part that later calls need, or `all` to show it. */
void interview_read_session(struct interview_call *call, bool all,
                            void (*came)(const Renga__V1__GetStateResponse *response, void *data));
/* Its state, to be deleted; NULL: the call has been ended. A thread of another agent, or one without a call that went
 * well, is no session. */
cJSON *interview_session_of(struct interview_call *call, const Renga__V1__GetStateResponse *response);
/* Makes call->session of a whole state, and call->answer where call->run is there, in a worker thread if they are
 * large; then calls `made`, or has ended the call. */
void interview_make_session(struct interview_call *call, const Renga__V1__GetStateResponse *response,
                            int64_t updated_ms, void (*made)(struct interview_call *call));
/* Runs call->input, and answers the call. Without an input `st` says why. */
void interview_start_run(struct interview_call *call, struct status *st);
struct arena *interview_arena(const struct interview_call *call);

/* interview_sessions.c */
void interview_list_sessions(Renga__V1__FormInterview_Service *self, const Renga__V1__ListSessionsRequest *request,
                             Renga__V1__ListSessionsResponse_Closure reply, void *data);
void interview_delete_session(Renga__V1__FormInterview_Service *self, const Renga__V1__DeleteSessionRequest *request,
                              Renga__V1__DeleteSessionResponse_Closure reply, void *data);

/* interview_input.c: requests checked, INVALID_ARGUMENT names the field; and the inputs of the run: JSON in the arena,
 * NULL with `st` filled. */
bool interview_check_start(const Renga__V1__StartInterviewRequest *request, struct arena *arena, struct status *st);
bool interview_check_answer(const Renga__V1__AnswerInterviewRequest *request, struct status *st);
bool interview_check_confirm(const Renga__V1__ConfirmInterviewRequest *request, struct status *st);
bool interview_check_session(const char *session_id, struct status *st);
bool interview_check_list(const Renga__V1__ListSessionsRequest *request, struct status *st);
char *interview_input_start(const Renga__V1__StartInterviewRequest *request, struct arena *arena, struct status *st);
char *interview_input_answer(const Renga__V1__AnswerInterviewRequest *request, struct arena *arena, struct status *st);
char *interview_input_confirm(const Renga__V1__ConfirmInterviewRequest *request, struct arena *arena,
                              struct status *st);

/* interview_state.c: the session as its thread's state has it; NULL with `st` filled if it is not one. */
Renga__V1__MainSessionState *interview_state(const cJSON *state, const char *session_id, int64_t updated_ms,
                                             struct arena *arena, struct status *st);
Renga__V1__SessionSummary *interview_summary(const cJSON *state, const Renga__V1__Thread *thread, struct arena *arena);
/* A run's output for the person, with the session as it is afterwards. */
Renga__V1__InterviewReply *interview_reply(const Renga__V1__Run *run, Renga__V1__MainSessionState *state,
                                           struct arena *arena, struct status *st);

#endif
