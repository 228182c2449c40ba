/* Lists of texts: as models write them, and as prompts show them. */
#ifndef RENGA_THINKING_TEXTS_H
#define RENGA_THINKING_TEXTS_H

#include "thinking/thought.h"

/* What is left of a model's list, in its order: texts without blanks around them, blank ones and repetitions left out,
 * at most `max` of at most `each_max` bytes, cut at a character. `except` (may be NULL, `except_count` long) has what
 * else counts as a repetition. In the call's arena. */
struct texts {
    char **list;
    size_t count;
};
struct texts texts_read(struct thought *thought, const cJSON *array, size_t max, size_t each_max, char *const *except,
                        size_t except_count);

/* One text without blanks around it, cut; "" where there is none. */
char *text_read(struct thought *thought, const cJSON *text, size_t max);

/* Adds a list as lines "- text", each cut where they would be too much together; or 「なし」 and "none" where it is
 * empty. */
void texts_describe(const struct thought *thought, cJSON *values, const char *name, char *const *list, size_t count);
/* Adds a text, the same word where it is empty. */
void text_describe(const struct thought *thought, cJSON *values, const char *name, const char *text);

#endif
