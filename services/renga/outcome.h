/* The gaps of a result, for people: its degradations, each once, and the reason that it is partial. */
#ifndef RENGA_OUTCOME_H
#define RENGA_OUTCOME_H

#include "orchestrator_client.h"

#include "renga/v1/agent.pb-c.h"

/* The gateway had no model to ask: the words are those of documents. `outcome` may be NULL. */
bool outcome_has_no_model(const Renga__V1__AgentOutcome *outcome);

/* `outcome` may be NULL. */
bool outcome_has_notes(const Renga__V1__AgentOutcome *outcome);
/* A line each, in the language of the tag: "ja" or "en". `width` 0: lines are not broken. */
void outcome_show(FILE *out, const struct orchestrator_client *client, size_t width, const char *language,
                  const Renga__V1__AgentOutcome *outcome);
/* "PART: REASON" in a colour; `part` may be "". */
void outcome_line(FILE *out, const struct orchestrator_client *client, size_t width, const char *sequence,
                  const char *part, const char *reason);

#endif
