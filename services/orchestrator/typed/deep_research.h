/* Private to typed/: a call of deep research. The stream's events come from the run's progress, the response comes from
 * its state. agents/deep_research/graph.json names the fields. */
#ifndef RENGA_ORCHESTRATOR_DEEP_RESEARCH_H
#define RENGA_ORCHESTRATOR_DEEP_RESEARCH_H

#include "agent_run.h"

#include "renga/v1/deep_research.pb-c.h"

#define DEEP_RESEARCH_NOTES_MAX 9 /* as DeepResearchResult.notes */

struct deep_research_call {
    struct agent_run run;                          /* first */
    Renga__V1__DeepResearchEvent_Closure show;     /* of ResearchStream; else NULL */
    Renga__V1__DeepResearchResponse_Closure reply; /* of the others */
    const char *question;
    const char *asked_run; /* of FollowUp: the id of the earlier run; else NULL */
    int32_t cycle;         /* of the last plan that was sent */
    size_t notes_shown;

    /* For a run whose output is too large for one message: the state of reading it field by field. */
    struct rpc_client_call get;
    const Renga__V1__Run *ended;
    Renga__V1__DeepResearchResult *result;
    size_t field;
};

/* deep_research_input.c: false with INVALID_ARGUMENT, which names the field. */
bool deep_research_check(const Renga__V1__DeepResearchRequest *request, struct status *st);
bool deep_research_check_follow_up(const Renga__V1__DeepResearchFollowUpRequest *request, struct status *st);
/* The initial fields of the run, as JSON; NULL if the arena is out of memory. */
char *deep_research_input(const Renga__V1__DeepResearchRequest *request, struct arena *arena);
char *deep_research_follow_up_input(const char *question, struct arena *arena);

/* deep_research_progress.c: sends an event of the run as an event of the stream. */
void deep_research_progress(struct agent_run *run, const Renga__V1__RunEvent *event);
/* Completes a note of the state, which may lack the run id and the number. */
void deep_research_complete_note(const struct deep_research_call *call, Renga__V1__Note *note, size_t place);

/* deep_research_result.c: reads the result of a run that has ended, and answers the call with it or with an error. */
void deep_research_read(struct deep_research_call *call, const Renga__V1__Run *run);
/* deep_research.c: answers the call. */
void deep_research_answer(struct deep_research_call *call, Renga__V1__DeepResearchResult *result);

/* deep_research_size.c: cuts the result to 4 MiB, and reports a cut in its outcome. */
void deep_research_cut(Renga__V1__DeepResearchResult *result, struct arena *arena);

#endif
