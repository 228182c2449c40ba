/* Tasks that a conversation must not end without: conditions over a node's inputs, each with a text of the agent.
 *
 *     "remaining": [{"when": {"field": "country", "present": false}, "task": "ask_country"}],
 *     "remaining_prompt": "still_to_do"        // a prompt: "You still need to:\n{tasks}" */
#ifndef RENGA_ORCHESTRATOR_REMAINING_H
#define RENGA_ORCHESTRATOR_REMAINING_H

#include "graph/node_kind.h"

#include <cjson/cJSON.h>

#define REMAINING_MAX 64

struct remaining;

/* For `prepare` of a kind: rows of its table, JSON and a prompt. NULL with the parameter's name as the field. Without
 * the parameters there are no tasks. */
const struct remaining *remaining_prepare(const struct node *node, size_t tasks_row, size_t prompt_row,
                                          struct arena *arena, struct status *st);

/* The prompt with the tasks that have conditions true of `inputs`, a line each, in the task's arena. NULL if no task
 * remains, or with `st` filled. `pick_row` as prompt_values has it. */
char *remaining_text(const struct remaining *remaining, struct task *task, const cJSON *inputs, size_t pick_row,
                     const char *language, struct status *st);

#endif
