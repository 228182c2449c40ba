/* Private to typed/: a question to the help desk on its way. What is shown comes from the run's events, what is
 * answered from its output (agents/helpdesk/graph.json names the fields). */
#ifndef RENGA_ORCHESTRATOR_HELPDESK_H
#define RENGA_ORCHESTRATOR_HELPDESK_H

#include "agent_run.h"

#include "renga/v1/helpdesk.pb-c.h"

#define HELPDESK_SUBTASKS_MAX 32 /* as AgentResult.subtasks */

/* What events tell of a subtask and its output does not. */
struct subtask_note {
    Renga__V1__Usage usage;
    int status_code;
    const char *message, *answer; /* NULL: none */
    int32_t tries;
    bool is_completed;
    Renga__V1__Citation **citations; /* of its answer */
    size_t citation_count;
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

/* helpdesk_progress.c: what an event of the run is to whoever asked. */
void helpdesk_progress(struct agent_run *run, const Renga__V1__RunEvent *event);

/* helpdesk_result.c: NULL with `st` filled where the output is not a help desk's. */
Renga__V1__AgentResult *helpdesk_result(struct helpdesk_call *call, const Renga__V1__Run *run, struct status *st);

/* helpdesk_partial.c: of a run that stopped before its answer, what its subtasks had found by then. False where the
 * arena is out. */
bool helpdesk_partial(struct helpdesk_call *call, Renga__V1__AgentResult *result);

#endif
