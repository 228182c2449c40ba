/* Private to typed/: a call of AceGenerator.Adapt. */
#ifndef RENGA_ORCHESTRATOR_ACE_ADAPT_H
#define RENGA_ORCHESTRATOR_ACE_ADAPT_H

#include "ace.h"

#include "words/answers.h"

struct adapt_call {
    struct agent_run run; /* first */
    Renga__V1__AdaptEvent_Closure show;
    Renga__V1__Usage usage; /* of the sample at work */
};

/* ace_adapt_check.c: INVALID_ARGUMENT names the field. */
bool ace_adapt_check(const Renga__V1__AdaptRequest *request, struct status *st);
/* How an answer is compared; the enum of the contract has been checked. */
enum answer_match ace_answer_match(Renga__V1__AnswerMatch match);

/* ace_adapt_progress.c: sends an event of the run as an event of the stream. */
void ace_adapt_came(struct agent_run *run, const Renga__V1__RunEvent *event);

#endif
