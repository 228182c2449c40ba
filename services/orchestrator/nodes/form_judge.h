/* A reviewer's judgement of a value, held to what the person said. */
#ifndef RENGA_ORCHESTRATOR_FORM_JUDGE_H
#define RENGA_ORCHESTRATOR_FORM_JUDGE_H

#include "form_desk.h"

#include "renga/v1/reviewer.pb-c.h"

#define TALK_MAX ((size_t)65536) /* bytes, as ReviewAnswerRequest.conversation_summary */

/* Applies it to the field's entry: done with its value, or asked again with what is missing. `item` is that of the
 * queue. `verdict` is changed to what was applied. `understood` is a line for the person where the value was taken,
 * else as it was. False where memory is out. */
bool form_judge(struct desk *desk, size_t field, const cJSON *item, Renga__V1__ReviewResult *verdict,
                const char **understood);

/* The field is asked again, and the person is told why. */
void form_refuse(struct desk *desk, size_t field, const char *why);

#endif
