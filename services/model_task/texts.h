/* Lists of texts: as models write them, and as prompts show them. */
#ifndef RENGA_MODEL_TASK_TEXTS_H
#define RENGA_MODEL_TASK_TEXTS_H

#include "model_task/model_task.h"

/* The usable texts of a model's list, in its order, in the call's arena: trimmed, without blank ones and repetitions,
 * at most `max` of at most `each_max` bytes, cut at a character. `except` (may be NULL, `except_count` long) holds
 * further texts to leave out. */
struct texts {
    char **list;
    size_t count;
};
struct texts texts_read(struct model_task *task, const cJSON *array, size_t max, size_t each_max, char *const *except,
                        size_t except_count);

/* One text, trimmed and cut; "" if there is no text. */
char *text_read(struct model_task *task, const cJSON *text, size_t max);

/* Adds a list as lines "- text", each cut to keep the total within bounds; 「なし」 or "none" for an empty list. */
void texts_describe(const struct model_task *task, cJSON *values, const char *name, char *const *list, size_t count);
/* Adds a text, or the same word for an empty one. */
void text_describe(const struct model_task *task, cJSON *values, const char *name, const char *text);

#endif
