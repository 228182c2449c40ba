/* "five hundred and twenty", "twenty-five", "two and a half", "1.5 million". */
#include "form/numbers.h"

#include <string.h>

static const struct {
    const char *word;
    int value;
} small[] = {
    {"zero", 0},      {"one", 1},       {"two", 2},       {"three", 3},    {"four", 4},     {"five", 5},
    {"six", 6},       {"seven", 7},     {"eight", 8},     {"nine", 9},     {"ten", 10},     {"eleven", 11},
    {"twelve", 12},   {"thirteen", 13}, {"fourteen", 14}, {"fifteen", 15}, {"sixteen", 16}, {"seventeen", 17},
    {"eighteen", 18}, {"nineteen", 19}, {"twenty", 20},   {"thirty", 30},  {"forty", 40},   {"fourty", 40},
    {"fifty", 50},    {"sixty", 60},    {"seventy", 70},  {"eighty", 80},  {"ninety", 90},
};

/* The end of a small number's word, or 0. */
static size_t small_at(const struct reading *in, size_t i, int *value)
{
    for (size_t word = 0; word < sizeof(small) / sizeof(*small); word++) {
        size_t end = word_at(in, i, small[word].word);
        if (end) {
            *value = small[word].value;
            return end;
        }
    }
    return 0;
}

static size_t number_joint(const struct reading *in, size_t i)
{
    size_t end = code_at(in, i) == '-' ? i + 1 : skip_spaces(in, i);
    return end == i ? 0 : end;
}

/* 1 to 99: "twenty-five", "seven". */
static size_t below_hundred(const struct reading *in, size_t i, int *value)
{
    int ones;
    size_t end = small_at(in, i, value);
    if (!end || *value < 20)
        return end;
    size_t next = number_joint(in, end), after = next ? small_at(in, next, &ones) : 0;
    if (!after || ones == 0 || ones > 9)
        return end;
    *value += ones;
    return after;
}

/* Skips "and" between the parts of a number. Returns the beginning of the next part. */
static size_t next_part(const struct reading *in, size_t i)
{
    size_t at = skip_spaces(in, i), end = word_at(in, at, "and");
    return end ? skip_spaces(in, end) : at;
}

/* 1 to 999: "five hundred and twenty", "a hundred". */
static size_t below_thousand(const struct reading *in, size_t i, int *value)
{
    int rest;
    size_t end = below_hundred(in, i, value), hundred = skip_spaces(in, end);
    if (!end && (hundred = word_at(in, i, "a")) != 0) {
        *value = 1;
        hundred = skip_spaces(in, hundred);
    }
    hundred = hundred ? word_at(in, hundred, "hundred") : 0;
    if (!hundred || *value > 99)
        return end;
    *value *= 100;
    size_t after = below_hundred(in, next_part(in, hundred), &rest);
    if (!after)
        return hundred;
    *value += rest;
    return after;
}

static int64_t scale_at(const struct reading *in, size_t i, size_t *end)
{
    static const struct {
        const char *word;
        int64_t scale;
    } scales[] = {{"thousand", 1000}, {"million", 1000000}, {"billion", 1000000000}, {"trillion", 1000000000000}};
    for (size_t scale = 0; scale < 4; scale++) {
        *end = word_at(in, i, scales[scale].word);
        if (*end)
            return scales[scale].scale;
    }
    return 0;
}

static size_t half_at(const struct reading *in, size_t i)
{
    size_t at = skip_spaces(in, i);
    return word_at(in, at, "and a half");
}

/* Two adjacent numbers, "nineteen eighty-five", are not a certain number. */
static bool number_goes_on(const struct reading *in, size_t i)
{
    int value;
    size_t at = next_part(in, i);
    return small_at(in, at, &value) || word_at(in, at, "hundred") || word_at(in, at, "dozen") ||
           word_at(in, at, "point") || word_at(in, at, "and a quarter") || word_at(in, at, "half");
}

struct number english_number_at(const struct reading *in, size_t i)
{
    struct number number = {.kind = NUMBER_NONE, .end = i};
    int64_t sum = 0, last = INT64_MAX;
    for (size_t at = i;;) {
        int part = 1;
        size_t after, end = below_thousand(in, at, &part);
        if (!end && number.kind == NUMBER_NONE && word_at(in, at, "a"))
            end = word_at(in, at, "a");
        else if (!end)
            break;
        int64_t scale = scale_at(in, skip_spaces(in, end), &after);
        if (scale == 0 && end == word_at(in, at, "a")) /* an article */
            break;
        if (scale >= last)
            return (struct number){.kind = NUMBER_BAD, .end = end};
        sum += part * (scale ? scale : 1);
        number = (struct number){.kind = NUMBER_WORDS, .end = scale ? after : end};
        if (scale == 0)
            break;
        last = scale;
        at = next_part(in, after);
    }
    if (number.kind == NUMBER_NONE)
        return number;
    size_t half = last == INT64_MAX && sum < 1000 ? half_at(in, number.end) : 0;
    bool fits = half ? decimal_make(sum * 10 + 5, -1, &number.value) : decimal_make(sum, 0, &number.value);
    number.end = half ? half : number.end;
    number.kind = fits && !number_goes_on(in, number.end) ? NUMBER_WORDS : NUMBER_BAD;
    return number;
}
