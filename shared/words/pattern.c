#include "words/pattern.h"

#include <stdlib.h>
#include <string.h>
#include <unicode/uregex.h>
#include <unicode/ustring.h>

#define STEPS_MAX 4            /* in units of 10,000 steps: some milliseconds */
#define STACK_MAX (256 * 1024) /* bytes for backtracking */

static UChar *pattern_units(const char *text, size_t length, int32_t *units)
{
    UErrorCode error = U_ZERO_ERROR;
    UChar *made = malloc((length + 1) * sizeof(*made));
    if (!made)
        return NULL;
    u_strFromUTF8(made, (int32_t)length + 1, units, text, (int32_t)length, &error);
    if (U_SUCCESS(error))
        return made;
    free(made);
    return NULL;
}

static URegularExpression *pattern_open(const char *pattern, UParseError *place, UErrorCode *error)
{
    size_t length = strlen(pattern);
    int32_t units = 0;
    *error = U_MEMORY_ALLOCATION_ERROR;
    UChar *made = length <= PATTERN_BYTES_MAX ? pattern_units(pattern, length, &units) : NULL;
    if (!made)
        return NULL;
    *error = U_ZERO_ERROR;
    URegularExpression *opened = uregex_open(made, units, 0, place, error);
    if (U_SUCCESS(*error)) {
        uregex_setTimeLimit(opened, STEPS_MAX, error);
        uregex_setStackLimit(opened, STACK_MAX, error);
    }
    free(made);
    return opened;
}

bool pattern_check(const char *pattern, struct status *st)
{
    UErrorCode error;
    UParseError place = {.line = 0, .offset = 0};
    if (strlen(pattern) > PATTERN_BYTES_MAX)
        return fail(st, INVALID_ARGUMENT, "must be at most %d bytes, not %zu", PATTERN_BYTES_MAX, strlen(pattern));
    URegularExpression *opened = pattern_open(pattern, &place, &error);
    uregex_close(opened);
    if (error == U_MEMORY_ALLOCATION_ERROR)
        return fail(st, RESOURCE_EXHAUSTED, "out of memory for a regular expression");
    return U_SUCCESS(error) || fail(st, INVALID_ARGUMENT,
                                    "must be a regular expression of ICU's syntax; '%s' is wrong at character %d (%s)",
                                    pattern, place.offset + 1, u_errorName(error));
}

/* Bytes of the text before the unit. */
static size_t pattern_offset(const UChar *units, int32_t unit)
{
    int32_t bytes = 0;
    UErrorCode error = U_ZERO_ERROR;
    u_strToUTF8(NULL, 0, &bytes, units, unit, &error);
    return (size_t)bytes;
}

/* With `whole`, the match must cover the text, and `begin` and `end` are not set. */
static enum pattern_verdict pattern_run(const char *pattern, const char *text, size_t length, bool whole, size_t *begin,
                                        size_t *end)
{
    UErrorCode error;
    UParseError place;
    int32_t units = 0;
    enum pattern_verdict verdict = PATTERN_GAVE_UP;
    UChar *made = length <= PATTERN_TEXT_MAX ? pattern_units(text, length, &units) : NULL;
    URegularExpression *opened = made ? pattern_open(pattern, &place, &error) : NULL;
    if (opened && U_SUCCESS(error)) {
        uregex_setText(opened, made, units, &error);
        bool matches = whole ? uregex_matches(opened, 0, &error) : uregex_find(opened, 0, &error);
        int32_t first = matches && !whole ? uregex_start(opened, 0, &error) : 0;
        int32_t last = matches && !whole ? uregex_end(opened, 0, &error) : 0;
        if (U_SUCCESS(error))
            verdict = matches && (whole || last > first) ? PATTERN_MATCHES : PATTERN_MATCHES_NOT;
        if (verdict == PATTERN_MATCHES && !whole) {
            *begin = pattern_offset(made, first);
            *end = pattern_offset(made, last);
        }
    }
    uregex_close(opened);
    free(made);
    return verdict;
}

enum pattern_verdict pattern_matches(const char *pattern, const char *text, size_t length)
{
    return pattern_run(pattern, text, length, true, NULL, NULL);
}

enum pattern_verdict pattern_find(const char *pattern, const char *text, size_t length, size_t from, size_t *begin,
                                  size_t *end)
{
    enum pattern_verdict verdict = pattern_run(pattern, text + from, length - from, false, begin, end);
    if (verdict == PATTERN_MATCHES) {
        *begin += from;
        *end += from;
    }
    return verdict;
}
