/* A reviewer's judgement of a value, checked against the person's words. */
#ifndef RENGA_ORCHESTRATOR_FORM_VERDICT_H
#define RENGA_ORCHESTRATOR_FORM_VERDICT_H

#include "form_fill.h"

#include "renga/v1/reviewer.pb-c.h"

#define TALK_MAX ((size_t)65536) /* bytes, as ReviewAnswerRequest.conversation_summary */

/* Applies the verdict to the field's entry: the field is done with its value, or is asked again for the missing parts.
 * `item` is the item of the queue. `verdict` is changed to the verdict that was applied. `understood` becomes a line
 * for the person if the value was taken, else it stays. False if memory is out. */
bool form_apply_verdict(struct form_fill *fill, size_t field, const cJSON *item, Renga__V1__ReviewResult *verdict,
                        const char **understood);

/* Asks the field again, and tells the person why. */
void form_refuse(struct form_fill *fill, size_t field, const char *why);

#endif
