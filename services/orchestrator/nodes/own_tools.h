/* Tools that a node's document defines itself: a model calls them as any other, and the checked arguments become fields
 * of the state. No tool-runner hears of them.
 *
 *     "own_tools": {
 *       "set_country": {
 *         "description": "set_country",       a prompt of the agent: when to call it
 *         "parameters": {"type": "object"},   JSON Schema; "format" may be language, country, time-zone
 *         "into": {"country": "country"},     argument to field; or a field that gets all arguments
 *         "when": {"field": "language", "present": true},
 *         "refusal": "language_first",        the prompt that the model reads when the condition does not hold
 *         "outcome": "asked",                 the visit of the node ends with it
 *         "result": "verdict"                 the field with the result, when the node is visited again
 *       }
 *     }
 *
 * A call that breaks a rule has no effect, and its result tells the model why. */
#ifndef RENGA_ORCHESTRATOR_OWN_TOOLS_H
#define RENGA_ORCHESTRATOR_OWN_TOOLS_H

#include "service_call.h"

#include "renga/v1/chat.pb-c.h"

#define OWN_TOOLS_MAX 32

struct own_tool;
struct own_tools;

/* For `prepare` of a kind: `row` is a JSON parameter of the node. NULL with the parameter's name as the field. Without
 * the parameter a list without tools. */
const struct own_tools *own_tools_prepare(const struct node *node, size_t row, struct arena *arena, struct status *st);

size_t own_tools_count(const struct own_tools *tools);
bool own_tools_write(const struct own_tools *tools, const struct field *field); /* whether any tool writes it */
bool own_tools_end(const struct own_tools *tools, const char *outcome);         /* whether any tool has this outcome */
const struct own_tool *own_tool_find(const struct own_tools *tools, const char *name);
const char *own_tool_outcome(const struct own_tool *tool);        /* NULL: the node's visit goes on */
const struct field *own_tool_result(const struct own_tool *tool); /* NULL: the result is known at once */

/* As they are offered to a model, with prompts filled from `inputs`; `list` has room for all. */
bool own_tools_define(const struct own_tools *tools, struct task *task, const cJSON *inputs, const char *language,
                      Renga__V1__ToolDefinition **list, struct status *st);

/* The calls of a turn, in sequence: each sees the writes of those before it. */
struct own_calls {
    struct task *task;
    size_t pick_row; /* of the kind's table, as prompt_values has it */
    const char *language;
    cJSON *inputs; /* of the node; calls change them */
    cJSON *update; /* an object: the node's write */
};

/* `*refused` is the reason of a refusal, as the model is to read it; NULL if the call was taken. Texts are the
 * task's. False if memory is out. */
bool own_tool_call(struct own_calls *calls, const struct own_tool *tool, const char *arguments_json,
                   const char **refused, struct status *st);

#endif
