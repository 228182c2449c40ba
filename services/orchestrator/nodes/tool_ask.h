/* A tool that is a person: the model calls it as any other, the run waits for the answer, and the answer is the tool's
 * result. It belongs to the node that offers it; the tool-runner does not know it. */
#ifndef RENGA_ORCHESTRATOR_TOOL_ASK_H
#define RENGA_ORCHESTRATOR_TOOL_ASK_H

#include "base/arena.h"
#include "base/status.h"

#include "renga/v1/chat.pb-c.h"
#include "renga/v1/node.pb-c.h"

#include <stdbool.h>

#define TOOL_ASK_NAME "ask_person"
#define TOOL_ASKS_MAX 8 /* questions of a turn; more are answered with a failure */

/* Its definition for a model: `when` describes the questions that the model may ask. */
Renga__V1__ToolDefinition *tool_ask_definition(struct arena *arena, const char *when);

bool tool_ask_is(const Renga__V1__ToolCall *call);

/* The questions of a turn. Texts are the arena's. */
struct tool_asks {
    Renga__V1__NodeInterrupt *questions[TOOL_ASKS_MAX];
    size_t count;
    bool open; /* a question has no answer yet */
    size_t met;
};

/* The turn behind the call `index` of a turn: the person's answer, or the reason why no person was asked. While the
 * answer is still to come, `*turn` is NULL, and the question stands in `asks`. False: no memory. */
bool tool_ask(struct tool_asks *asks, const Renga__V1__ToolCall *call, size_t index,
              const Renga__V1__RunNodeRequest *told, struct arena *arena, Renga__V1__ChatMessage **turn,
              struct status *st);

#endif
