/* Private to typed/: calls of autonomous research. A theme becomes a run of the agent "autonomous_research". The run
 * may wait for a person, and the person's answer resumes it. agents/autonomous_research/graph.json names the fields. */
#ifndef RENGA_ORCHESTRATOR_AUTONOMOUS_RESEARCH_H
#define RENGA_ORCHESTRATOR_AUTONOMOUS_RESEARCH_H

#include "agent_run.h"

#include "loop/jobs.h"

#include "renga/v1/autonomous_research.pb-c.h"

#include <cjson/cJSON.h>

#define AUTONOMOUS_REMARK_MAX     4096 /* bytes of a person's words in the history */
#define AUTONOMOUS_REJECTIONS_MAX 3    /* of a run; the last rejection ends it */

struct autonomous_call {
    struct agent_run run;                                /* first */
    Renga__V1__AutonomousResearchEvent_Closure show;     /* of the streams; else NULL */
    Renga__V1__AutonomousResearchResponse_Closure reply; /* of the others */
    struct rpc_client_call get;

    /* Of Resume: the request, the thread of the run, and the number of refused ResumeRun calls. */
    const Renga__V1__ResumeResearchRequest *answer;
    const char *thread_id;
    unsigned attempts;

    /* The result: the run, its fields (read one by one if the output is too large for one message), and the message
     * that a worker thread makes from them. */
    const Renga__V1__Run *ended;
    char **parts;
    size_t part_count, part_bytes;
    Renga__V1__AutonomousResearchResult *result;
    struct job job;
    struct status status;
};

/* autonomous_research_input.c: false with INVALID_ARGUMENT, which names the field. */
bool autonomous_check(const Renga__V1__AutonomousResearchRequest *request, struct status *st);
bool autonomous_check_resume(const Renga__V1__ResumeResearchRequest *request, struct status *st);
/* The initial fields of the run, as JSON; NULL if the arena is out of memory. */
char *autonomous_input(const Renga__V1__AutonomousResearchRequest *request, struct arena *arena);

/* autonomous_research_decision.c: decisions as updates of the state; NULL if the arena is out of memory. */
Renga__V1__InterruptTimeout *autonomous_timeout(const Renga__V1__AutonomousResearchRequest *request,
                                                struct arena *arena);
struct autonomous_wait {
    const char *run_id, *node, *interrupt_id; /* of the wait that is answered */
    const char *by;                           /* the name of the key */
    unsigned rejections;                      /* before this answer */
    const cJSON *state;
};
Renga__V1__ResumeUpdate *autonomous_update(const Renga__V1__ResumeResearchRequest *request,
                                           const struct autonomous_wait *wait, struct arena *arena);
/* SHA-256 of the request without its options, in hex: distinguishes two requests with the same request_id. False if the
 * arena is out of memory. */
bool autonomous_digest(const Renga__V1__ResumeResearchRequest *request, char digest[65], struct arena *arena);

/* autonomous_research_resume.c: resumes the run of the request, waits for a repeated request's run, or ends the call
 * with an error. */
void autonomous_resume(struct autonomous_call *call);

/* autonomous_research_progress.c: sends an event of the run as an event of the stream. */
void autonomous_progress(struct agent_run *run, const Renga__V1__RunEvent *event);

/* autonomous_research_result.c: reads the result of a run that has stopped, and answers the call. */
void autonomous_read(struct autonomous_call *call, const Renga__V1__Run *run);
/* autonomous_research_state.c: makes the result from the parts of the state. May run in any thread. */
bool autonomous_make_result(struct autonomous_call *call, struct status *st);
/* Cuts the result to 4 MiB, and reports a cut in its outcome. */
void autonomous_cut(Renga__V1__AutonomousResearchResult *result, struct arena *arena);
/* autonomous_research.c: answers the call with its result. */
void autonomous_answer(struct autonomous_call *call);

#endif
