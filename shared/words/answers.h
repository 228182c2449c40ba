/* Whether an answer is right, held against a known truth. Both are compared in their normal form (words.h). The work is
 * linear in the lengths of both; a regular expression has its own bound (pattern.h). */
#ifndef RENGA_WORDS_ANSWERS_H
#define RENGA_WORDS_ANSWERS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum answer_match {
    ANSWER_CONTAINS, /* the truth stands in the answer as whole words */
    ANSWER_EXACT,    /* the answer is the truth, except for punctuation at the ends of both */
    ANSWER_NUMBER,   /* the last number of both is the same: "1,234.50" and "1234.5" and "1.2345e3" */
    ANSWER_PATTERN,  /* the truth is a regular expression that matches the whole answer, in any case of letters */
};
#define ANSWER_PATTERN_MAX ((size_t)500) /* bytes of a truth that is a regular expression */

/* "contains", "exact", "number", "pattern", in the order of the enum; NULL at the end. */
extern const char *const answer_match_words[];

/* Whether a truth can be compared in this way. INVALID_ARGUMENT: it is blank, has no number, or is no regular
 * expression; the text continues "the ground truth …". */
bool answer_truth_check(enum answer_match match, const char *truth, struct status *st);

/* False also if there is no memory, and for a truth that fails answer_truth_check. */
bool answer_is_right(enum answer_match match, const char *answer, const char *truth);

#endif
