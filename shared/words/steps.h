/* Instructions in steps, and questions for them: "How do I restore a backup?" is answered by a numbered list rather
 * than by a sentence about backups. Texts are borrowed for the call; offsets are bytes. */
#ifndef RENGA_WORDS_STEPS_H
#define RENGA_WORDS_STEPS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a question asks for a method: "How do I …?", "What are the steps …?", …するには, …の手順は. */
bool words_asks_method(const char *question, size_t length);

/* Whether two lines of the text are numbered one after the other: "1." and "2.", （1） and （2）, ① and ②. */
bool words_has_steps(const char *text, size_t length);

/* The number that the line at `at` begins with, behind white space, and the offset behind its mark. 0: it has none. */
unsigned steps_number(const char *text, size_t length, size_t at, size_t *behind);

#endif
