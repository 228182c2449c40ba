/* Private to typed/: calls of autonomous research. A theme is a run of the agent "autonomous_research", which a person
 * may be asked about; an answer of that person resumes the run (agents/autonomous_research/graph.json names the
 * fields).
 */
#ifndef RENGA_ORCHESTRATOR_AUTONOMOUS_RESEARCH_H
#define RENGA_ORCHESTRATOR_AUTONOMOUS_RESEARCH_H

#include "agent_run.h"

#include "loop/jobs.h"

#include "renga/v1/autonomous_research.pb-c.h"

#include <cjson/cJSON.h>

#define AUTONOMOUS_REMARK_MAX     4096 /* bytes of a person's words in the history */
#define AUTONOMOUS_REJECTIONS_MAX 3    /* of a run; the last one ends it */

struct autonomous_call {
    struct agent_run run;                                /* first */
    Renga__V1__AutonomousResearchEvent_Closure show;     /* of the streams; else NULL */
    Renga__V1__AutonomousResearchResponse_Closure reply; /* of the others */
    struct rpc_client_call get;

    /* Of Resume: the run that is resumed as it stands, and how often ResumeRun was refused. */
    const Renga__V1__ResumeResearchRequest *answer;
    const char *thread_id;
    unsigned attempts;

    /* The result: the run, its fields that are read one by one if its output is too large, and what is made of them in
     * a worker thread. */
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
/* The fields with which the run begins, as JSON; NULL where memory is out. */
char *autonomous_input(const Renga__V1__AutonomousResearchRequest *request, struct arena *arena);

/* autonomous_research_decision.c: decisions as changes of the state; NULL where memory is out. */
Renga__V1__InterruptTimeout *autonomous_timeout(const Renga__V1__AutonomousResearchRequest *request,
                                                struct arena *arena);
struct autonomous_wait {
    const char *run_id, *node, *interrupt_id; /* what is answered */
    const char *by;                           /* the name of the key */
    unsigned rejections;                      /* before this answer */
    const cJSON *state;
};
Renga__V1__ResumeUpdate *autonomous_update(const Renga__V1__ResumeResearchRequest *request,
                                           const struct autonomous_wait *wait, struct arena *arena);
/* What tells two requests with one request_id apart. */
bool autonomous_digest(const Renga__V1__ResumeResearchRequest *request, char digest[65], struct arena *arena);

/* autonomous_research_resume.c: ends the call, or goes on with its run. */
void autonomous_resume(struct autonomous_call *call);

/* autonomous_research_progress.c: an event of the run as an event of the stream. */
void autonomous_progress(struct agent_run *run, const Renga__V1__RunEvent *event);

/* autonomous_research_result.c: reads the result of a run that has stopped, and answers the call. */
void autonomous_read(struct autonomous_call *call, const Renga__V1__Run *run);
/* autonomous_research_state.c: the result that the parts of the state make; in any thread. */
bool autonomous_make_result(struct autonomous_call *call, struct status *st);
/* Cuts it to 4 MiB, and notes in its outcome that it did. */
void autonomous_cut(Renga__V1__AutonomousResearchResult *result, struct arena *arena);
/* autonomous_research.c: answers the call with its result. */
void autonomous_answer(struct autonomous_call *call);

#endif
