/* Lists of texts: as models write them, and as prompts show them. */
#ifndef RENGA_MODEL_TASK_TEXTS_H
#define RENGA_MODEL_TASK_TEXTS_H

#include "model_task/model_task.h"

/* What is left of a model's list, in its order: texts without blanks around them, blank ones and repetitions left out,
 * at most `max` of at most `each_max` bytes, cut at a character. `except` (may be NULL, `except_count` long) has what
 * else counts as a repetition. In the call's arena. */
struct texts {
    char **list;
    size_t count;
};
struct texts texts_read(struct model_task *task, const cJSON *array, size_t max, size_t each_max, char *const *except,
                        size_t except_count);

/* One text without blanks around it, cut; "" where there is none. */
char *text_read(struct model_task *task, const cJSON *text, size_t max);

/* Adds a list as lines "- text", each cut where they would be too much together; or 「なし」 and "none" where it is
 * empty. */
void texts_describe(const struct model_task *task, cJSON *values, const char *name, char *const *list, size_t count);
/* Adds a text, the same word where it is empty. */
void text_describe(const struct model_task *task, cJSON *values, const char *name, const char *text);

#endif
