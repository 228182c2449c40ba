/* Private to typed/: a call of the help desk. The stream's events come from the run's events, the response comes from
 * its output. agents/helpdesk/graph.json names the fields. */
#ifndef RENGA_ORCHESTRATOR_HELPDESK_H
#define RENGA_ORCHESTRATOR_HELPDESK_H

#include "agent_run.h"

#include "renga/v1/helpdesk.pb-c.h"

#define HELPDESK_SUBTASKS_MAX 32 /* as AgentResult.subtasks */

/* The data of a subtask that is in the run's events but not in its output. */
struct subtask_note {
    Renga__V1__Usage usage;
    int status_code;
    const char *message, *answer; /* NULL: not set */
    int32_t tries;
    bool is_completed;
    Renga__V1__Citation **citations; /* of its answer */
    size_t citation_count;
    bool found; /* by a try; the answer of the last such try stands */
    const char *found_answer;
    Renga__V1__Citation **found_citations;
    size_t found_citation_count;
    char *tool_names[128];
    size_t tool_count;
};

struct helpdesk_call {
    struct agent_run run; /* first */
    const Renga__V1__AskRequest *request;
    Renga__V1__AskEvent_Closure show;     /* of AskStream; else NULL */
    Renga__V1__AskResponse_Closure reply; /* of Ask */
    bool planned;
    struct subtask_note subtasks[HELPDESK_SUBTASKS_MAX];
};

/* helpdesk_progress.c: sends an event of the run as an event of the stream. */
void helpdesk_progress(struct agent_run *run, const Renga__V1__RunEvent *event);

/* helpdesk_result.c: makes the result. NULL with `st` filled if the output is not that of a help desk. */
Renga__V1__AgentResult *helpdesk_result(struct helpdesk_call *call, const Renga__V1__Run *run, struct status *st);

/* helpdesk_missing.c: fills `found`, `not_found` and the degradations of parts that the review did not take. Before the
 * output of tools is cut. False: the arena is out of memory. */
bool helpdesk_tell(const struct helpdesk_call *call, Renga__V1__AgentResult *result);

/* helpdesk_partial.c: for a run that stopped before its answer, makes the result from the subtasks that were answered.
 * False if the arena is out of memory. */
bool helpdesk_partial(struct helpdesk_call *call, Renga__V1__AgentResult *result);

#endif
