#include "words/answers.h"

#include "words/pattern.h"
#include "words/words.h"

#include <stdlib.h>
#include <string.h>

#define NORMAL_MAX   ((size_t)32 << 20) /* bytes; NFKC makes at most 18 characters of one */
#define EXPONENT_MAX 1000000            /* of a number; a larger exponent is cut to this */

const char *const answer_match_words[] = {"contains", "exact", "number", "pattern", NULL};

static bool answer_normal(struct buffer *out, const char *text)
{
    buffer_init(out, NORMAL_MAX);
    words_normalize(out, text, strlen(text));
    return !out->failed;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* The bytes of a punctuation mark that stands at `text`; 0: there is none. */
static size_t answer_mark(const char *text, size_t length)
{
    static const char ascii[] = ".,!?;:'\"`*_()[]{}<>";
    static const char *const wide[] = {"。", "、", "「", "」", "『", "』", "“", "”", "…", "《", "》", "【", "】", "・"};
    if (length && memchr(ascii, text[0], sizeof ascii - 1))
        return 1;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (length >= strlen(wide[i]) && memcmp(text, wide[i], strlen(wide[i])) == 0)
            return strlen(wide[i]);
    return 0;
}

static bool answer_skips(const char *text, size_t length, size_t *size)
{
    *size = length && text[0] == ' ' ? 1 : answer_mark(text, length);
    return *size > 0;
}

/* Without the marks and blanks at both ends. A text of marks alone stays. */
static void answer_bare(const struct buffer *normal, const char **text, size_t *length)
{
    const char *begin = normal->data, *end = begin + normal->length;
    size_t size;
    while (begin < end && answer_skips(begin, (size_t)(end - begin), &size))
        begin += size;
    while (end > begin &&
           (answer_skips(end - 1, 1, &size) || (end - begin >= 3 && answer_skips(end - 3, 3, &size) && size == 3)))
        end -= size;
    *text = begin < end ? begin : normal->data;
    *length = begin < end ? (size_t)(end - begin) : normal->length;
}

static bool answer_equals(const struct buffer *answer, const struct buffer *truth)
{
    const char *one, *other;
    size_t one_length, other_length;
    answer_bare(answer, &one, &one_length);
    answer_bare(truth, &other, &other_length);
    return one_length && one_length == other_length && memcmp(one, other, one_length) == 0;
}

/* ---- whole words ------------------------------------------------------------------------------------------------- */

static bool answer_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum script answer_script_before(const char *text, size_t at)
{
    size_t begin = at - 1, end;
    while (begin > 0 && ((unsigned char)text[begin] & 0xC0) == 0x80)
        begin--;
    return script_of(utf8_read(text, at, begin, &end));
}

/* Whether a word may begin or end at `at`, as characters_part. */
static bool answer_parts(const char *text, size_t length, size_t at)
{
    size_t end;
    if (at == 0 || at == length)
        return true;
    enum script before = answer_script_before(text, at), after = script_of(utf8_read(text, length, at, &end));
    bool joined = after == SCRIPT_LETTER || after == SCRIPT_DIGIT || after == SCRIPT_KATAKANA || after == SCRIPT_HAN;
    return before != after || !joined;
}

/* Whether the match is a part of a number: "3" in "3.14", in "1,003" and in "-3". */
static bool answer_is_within_number(const char *text, size_t length, size_t begin, size_t end)
{
    bool point_before = begin >= 2 && strchr(".,", text[begin - 1]) && answer_is_digit(text[begin - 2]);
    bool minus_before = begin >= 1 && text[begin - 1] == '-' && (begin == 1 || text[begin - 2] == ' ');
    bool point_behind = end + 1 < length && strchr(".,", text[end]) && answer_is_digit(text[end + 1]);
    return (answer_is_digit(text[begin]) && (point_before || minus_before)) ||
           (answer_is_digit(text[end - 1]) && point_behind);
}

/* Knuth, Morris, Pratt: how much of the truth's beginning is also the end of its first i + 1 bytes. */
static size_t *answer_borders(const struct buffer *truth)
{
    size_t *borders = calloc(truth->length, sizeof *borders);
    for (size_t i = 1, k = 0; borders && i < truth->length; i++) {
        while (k && truth->data[i] != truth->data[k])
            k = borders[k - 1];
        k += truth->data[i] == truth->data[k];
        borders[i] = k;
    }
    return borders;
}

static bool answer_contains(const struct buffer *answer, const struct buffer *truth)
{
    const char *text = answer->data;
    bool found = false;
    size_t *borders = truth->length && truth->length <= answer->length ? answer_borders(truth) : NULL;
    for (size_t i = 0, k = 0; borders && !found && i < answer->length; i++) {
        while (k && text[i] != truth->data[k])
            k = borders[k - 1];
        k += text[i] == truth->data[k];
        if (k < truth->length)
            continue;
        size_t end = i + 1, begin = end - truth->length;
        found = answer_parts(text, answer->length, begin) && answer_parts(text, answer->length, end) &&
                !answer_is_within_number(text, answer->length, begin, end);
        k = borders[k - 1];
    }
    free(borders);
    return found;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* The value is 0.DIGITS times ten to the power. The digits are bytes of the text between which commas and a point may
 * stand. */
struct answer_number {
    const char *begin, *end; /* from the first digit that is not 0 to behind the last one */
    int64_t power;
    bool found, negative;
};

static const char *answer_digits(const char *at, const char *end)
{
    while (at < end && answer_is_digit(*at))
        at++;
    return at;
}

/* Behind the whole part: digits, or groups of three behind commas. */
static const char *answer_whole_part(const char *at, const char *end)
{
    const char *first = answer_digits(at, end), *group = first;
    if (first - at > 3 || first == at)
        return first;
    while (group < end && *group == ',' && answer_digits(group + 1, end) - (group + 1) == 3)
        group += 4;
    return group;
}

static const char *answer_exponent(const char *at, const char *end, int64_t *power)
{
    const char *digits = at + 1;
    bool negative = digits < end && *digits == '-';
    int64_t value = 0;
    digits += digits < end && (*digits == '-' || *digits == '+');
    const char *behind = answer_digits(digits, end);
    if (at == end || *at != 'e' || behind == digits)
        return at;
    for (const char *c = digits; c < behind; c++)
        value = value < EXPONENT_MAX ? value * 10 + (*c - '0') : EXPONENT_MAX;
    *power += negative ? -value : value;
    return behind;
}

static bool answer_has_sign(const char *begin, const char *at)
{
    bool signed_ = at > begin && at[-1] == '-';
    char before = signed_ && at - 1 > begin ? at[-2] : ' ';
    return signed_ && !answer_is_digit(before) && !(before >= 'a' && before <= 'z') && before != ')';
}

/* Reads the number at a digit, or at a point before one. Returns the end of it. */
static const char *answer_read_number(const char *text, const char *at, const char *end, struct answer_number *number)
{
    const char *whole = answer_whole_part(at, end), *behind = whole;
    const char *first = NULL, *last = NULL;
    int64_t power = 0;
    if (behind + 1 < end && *behind == '.' && answer_is_digit(behind[1]))
        behind = answer_digits(behind + 1, end);
    for (const char *c = at; c < behind; c++) {
        if (!answer_is_digit(*c))
            continue;
        if (*c != '0') {
            first = first ? first : c;
            last = c;
        }
        power += first && c < whole ? 1 : 0;
        power -= !first && c > whole ? 1 : 0;
    }
    *number = (struct answer_number){.begin = first, .end = last ? last + 1 : NULL, .power = first ? power : 0};
    number->found = true;
    number->negative = first && answer_has_sign(text, at);
    behind = answer_exponent(behind, end, &power);
    number->power = first ? power : 0;
    return behind;
}

static struct answer_number answer_last_number(const struct buffer *normal)
{
    struct answer_number number = {0};
    const char *text = normal->data, *end = text + normal->length;
    for (const char *at = text; at < end;) {
        bool point = *at == '.' && at + 1 < end && answer_is_digit(at[1]) && (at == text || !answer_is_digit(at[-1]));
        at = point || answer_is_digit(*at) ? answer_read_number(text, at, end, &number) : at + 1;
    }
    return number;
}

static bool answer_same_number(const struct answer_number *one, const struct answer_number *other)
{
    const char *a = one->begin, *b = other->begin;
    if (!one->found || !other->found || one->negative != other->negative || one->power != other->power)
        return false;
    for (;;) {
        while (a < one->end && !answer_is_digit(*a))
            a++;
        while (b < other->end && !answer_is_digit(*b))
            b++;
        if (a == one->end || b == other->end)
            return a == one->end && b == other->end;
        if (*a++ != *b++)
            return false;
    }
}

/* ---- the whole match --------------------------------------------------------------------------------------------- */

static bool answer_fits_pattern(const struct buffer *answer, const char *truth)
{
    char pattern[PATTERN_BYTES_MAX + 1];
    size_t size = strlen(truth);
    if (size > ANSWER_PATTERN_MAX)
        return false;
    memcpy(pattern, "(?i)", 4);
    memcpy(pattern + 4, truth, size + 1);
    return pattern_matches(pattern, answer->data, answer->length) == PATTERN_MATCHES;
}

static bool answer_compare(enum answer_match match, const struct buffer *answer, const struct buffer *truth,
                           const char *given)
{
    const struct answer_number one = match == ANSWER_NUMBER ? answer_last_number(answer) : (struct answer_number){0};
    const struct answer_number other = match == ANSWER_NUMBER ? answer_last_number(truth) : (struct answer_number){0};
    switch (match) {
    case ANSWER_EXACT:
        return answer_equals(answer, truth);
    case ANSWER_CONTAINS:
        return answer_contains(answer, truth);
    case ANSWER_NUMBER:
        return answer_same_number(&one, &other);
    case ANSWER_PATTERN:
        return answer_fits_pattern(answer, given);
    }
    return false;
}

bool answer_is_right(enum answer_match match, const char *answer, const char *truth)
{
    struct buffer one, other;
    bool good = answer_normal(&one, answer);
    good = answer_normal(&other, truth) && good; /* both are freed */
    bool right = good && one.length && other.length && answer_compare(match, &one, &other, truth);
    buffer_fini(&one);
    buffer_fini(&other);
    return right;
}

bool answer_truth_check(enum answer_match match, const char *truth, struct status *st)
{
    struct status why = {0};
    struct buffer normal;
    bool good = answer_normal(&normal, truth) && normal.length, number = false;
    if (good && match == ANSWER_NUMBER)
        number = answer_last_number(&normal).found;
    buffer_fini(&normal);
    if (!good)
        return fail(st, INVALID_ARGUMENT, "is blank; give a right answer");
    if (match == ANSWER_NUMBER && !number)
        return fail(st, INVALID_ARGUMENT, "'%.64s' has no number; an answer is compared by its last number", truth);
    if (match != ANSWER_PATTERN)
        return true;
    if (strlen(truth) > ANSWER_PATTERN_MAX)
        return fail(st, INVALID_ARGUMENT, "has %zu bytes; a regular expression has at most %zu", strlen(truth),
                    ANSWER_PATTERN_MAX);
    return pattern_check(truth, &why) || fail(st, why.code, "%s", why.text);
}
