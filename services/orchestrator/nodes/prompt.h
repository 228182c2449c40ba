/* The agent's prompts, filled with the values of a node: its inputs, the values that `pick` takes out of them, and
 * {language}. */
#ifndef RENGA_ORCHESTRATOR_PROMPT_H
#define RENGA_ORCHESTRATOR_PROMPT_H

#include "service_call.h"

#define PROMPT_MAX ((size_t)1 << 20) /* bytes, as ChatMessage.content */

/* The row of a kind's table. In this example, a prompt may name {results}: two members of each object in the list
 * `subtask_results`, the second under another name:
 *     "pick": {"results": {"of": "subtask_results", "keys": {"subtask": "subtask", "answer": "subtask_answer"}}} */
#define PICK_ROW                                                                                                       \
    {                                                                                                                  \
        "pick", PARAMETER_JSON, OPTIONAL,                                                                              \
            "More names for the prompt: NAME: {\"of\": FIELD, \"keys\": {NEW: OLD}} is that list of objects with "     \
            "these "                                                                                                   \
            "members alone."                                                                                           \
    }
bool pick_check(const struct node *node, size_t row, struct status *st);

/* Adds the values that the row picks, and "language", to the node's inputs. For calls that fill prompts of their
 * own. */
bool prompt_values(cJSON *inputs, const struct node *node, size_t pick_row, const char *language, struct status *st);

/* The text of the prompt before it is filled: with "template_of" the one that the value of that input chooses, whose
 * name it gives. NULL if the agent has no such prompt. */
const char *prompt_form(const struct node *node, const char **name, const cJSON *values, const char *language);

/* In the task's arena; NULL with `st` filled. */
char *prompt_fill(struct task *task, const char *name, const cJSON *values, const char *language, struct status *st);

/* The same for people, of a node without calls: with the pick of this row; lists of strings are lines. */
char *prompt_say(struct task *task, const char *name, size_t pick_row, struct status *st);

#endif
