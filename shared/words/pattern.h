/* Untrusted regular expressions in ICU's syntax, with bounds on the cost of a match. Texts are UTF-8. */
#ifndef RENGA_WORDS_PATTERN_H
#define RENGA_WORDS_PATTERN_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_BYTES_MAX 512
#define PATTERN_TEXT_MAX  ((size_t)16384) /* bytes of a text to match; a longer text never matches */

/* Fails with INVALID_ARGUMENT and the position of the error in the expression. */
bool pattern_check(const char *pattern, struct status *st);

enum pattern_verdict {
    PATTERN_MATCHES,
    PATTERN_MATCHES_NOT,
    PATTERN_GAVE_UP, /* the bound of time or memory was reached, or the expression is wrong */
};

/* Matches the whole text against the expression. */
enum pattern_verdict pattern_matches(const char *pattern, const char *text, size_t length);

/* Finds the first match in text[from…] that is not empty; [*begin, *end) are bytes of the text. */
enum pattern_verdict pattern_find(const char *pattern, const char *text, size_t length, size_t from, size_t *begin,
                                  size_t *end);

#endif
