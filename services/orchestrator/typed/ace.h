/* Private to typed/: the service AceGenerator. Each method is a run of an agent; its file has the request, the input
 * and the answer. */
#ifndef RENGA_ORCHESTRATOR_ACE_H
#define RENGA_ORCHESTRATOR_ACE_H

#include "agent_run.h"

#include "json/writer.h"

#include "renga/v1/ace.pb-c.h"

struct ace_service {
    Renga__V1__AceGenerator_Service base; /* first */
    ProtobufCService *orchestrator;       /* in this process */
};

/* ---- ace_check.c: requests; INVALID_ARGUMENT names the field ----------------------------------------------------- */

bool ace_check_query(const char *query, struct status *st);
/* A text of at most `most` bytes. */
bool ace_check_text(const char *field, const char *text, size_t most, struct status *st);
/* Tags of a reflection, or ids of bullets; `field` names the list. */
bool ace_check_ids(const char *field, char *const *ids, size_t count, struct status *st);
bool ace_check_reflection(const char *field, const Renga__V1__Reflection *reflection, struct status *st);
/* The field `trajectory` of a request. */
bool ace_check_trajectory(const Renga__V1__Trajectory *trajectory, struct status *st);

/* ---- ace_call.c: calls that are runs of an agent ----------------------------------------------------------------- */

#define ACE_TEXT_MAX     65536 /* bytes, as AceFeedback.ground_truth */
#define ACE_REMARK_MAX   8192  /* bytes, as AceFeedback.remark */
#define ACE_TOKEN_BUDGET 80000 /* if the request has none */
#define ACE_SAMPLES_MAX  1000

/* The input of a run as JSON, between ace_input_open and ace_input_close. */
struct ace_input {
    struct buffer text;
    struct json_writer out;
};
void ace_input_open(struct ace_input *input);
/* NULL: it is larger than a field of a state, or the arena is out of memory. */
char *ace_input_close(struct ace_input *input, struct arena *arena);

/* The memory of a call whose request was found `good`. NULL: the call has failed with `st`, or has no memory. */
void *ace_call_open(struct rpc_call *rpc, bool good, size_t size, struct status *st);
/* Makes the run of a call ready. */
void ace_run_init(struct agent_run *run, Renga__V1__AceGenerator_Service *self, struct rpc_call *rpc, const char *agent,
                  const char *query, const Renga__V1__AgentOptions *options);
/* The output of the run as JSON, for cJSON_Delete; NULL: the call has been ended. */
cJSON *ace_output(struct agent_run *run, const Renga__V1__Run *message);
/* A member as a message of the call's arena; an empty message without it. NULL with `st` filled. */
void *ace_output_message(struct agent_run *run, const cJSON *output, const char *key,
                         const ProtobufCMessageDescriptor *type, struct status *st);
/* The output of the agents ace_curator and ace_feedback; NULL with `st` filled. */
Renga__V1__Curation *ace_curation(struct agent_run *run, const cJSON *output, const char *bullets, struct status *st);
/* The outcome of the run; NULL with `st` filled. */
Renga__V1__AgentOutcome *ace_outcome(struct agent_run *run, const Renga__V1__Run *message, struct status *st);
/* Whether the answer was made; else the call has failed with `st`. */
bool ace_may_reply(struct agent_run *run, const struct status *st);
const char *ace_verdict_word(Renga__V1__AceVerdict verdict);

/* ---- the methods, a file each ------------------------------------------------------------------------------------ */

/* ace_reflect.c */
void ace_reflect(Renga__V1__AceGenerator_Service *self, const Renga__V1__AceReflectRequest *request,
                 Renga__V1__AceReflectResponse_Closure reply, void *data);
/* ace_curate.c */
void ace_curate(Renga__V1__AceGenerator_Service *self, const Renga__V1__CurateRequest *request,
                Renga__V1__CurateResponse_Closure reply, void *data);
/* ace_adapt.c */
void ace_adapt(Renga__V1__AceGenerator_Service *self, const Renga__V1__AdaptRequest *request,
               Renga__V1__AdaptEvent_Closure reply, void *data);
/* ace_feedback.c */
void ace_feedback(Renga__V1__AceGenerator_Service *self, const Renga__V1__FeedbackRequest *request,
                  Renga__V1__FeedbackResponse_Closure reply, void *data);
/* ace_generate.c */
void ace_generate(Renga__V1__AceGenerator_Service *self, const Renga__V1__GenerateRequest *request,
                  Renga__V1__GenerateResponse_Closure reply, void *data);

#endif
