/* Numbers in an answer, and the words around them that change their meaning: a date, a bound, an order. */
#include "form/numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- decimals ---------------------------------------------------------------------------------------------------- */

static const int64_t decimal_most = 999999999999999; /* DECIMAL_DIGITS_MAX nines */

bool decimal_make(int64_t units, int power, struct decimal *number)
{
    for (; power > 0; power--) {
        if (llabs(units) > decimal_most / 10)
            return false;
        units *= 10;
    }
    while (power < 0 && units % 10 == 0) {
        units /= 10;
        power++;
    }
    *number = (struct decimal){.units = units, .scale = (unsigned)-power};
    return llabs(units) <= decimal_most && power >= -DECIMAL_DIGITS_MAX;
}

bool decimal_add(struct decimal one, struct decimal other, struct decimal *sum)
{
    while (one.scale < other.scale || other.scale < one.scale) {
        struct decimal *less = one.scale < other.scale ? &one : &other;
        if (llabs(less->units) > decimal_most / 10)
            return false;
        less->units *= 10;
        less->scale++;
    }
    return decimal_make(one.units + other.units, -(int)one.scale, sum);
}

void decimal_print(struct decimal number, char *text)
{
    char digits[DECIMAL_TEXT_MAX];
    int length = snprintf(digits, sizeof(digits), "%0*lld", (int)number.scale + 1, llabs((long long)number.units));
    int whole = length - (int)number.scale;
    snprintf(text, DECIMAL_TEXT_MAX, "%s%.*s%s%s", number.units < 0 ? "-" : "", whole, digits, number.scale ? "." : "",
             digits + whole);
}

/* ---- figures ----------------------------------------------------------------------------------------------------- */

/* Countries with a decimal comma and a point as group separator. */
static bool comma_is_decimal(const struct reading *in)
{
    return reading_country_is(in,
                              " DE AT FR ES IT PT BR NL BE PL CZ SK RU UA SE NO DK FI GR TR ID VN AR CL CO RO HU BG "
                              "HR SI RS LT LV EE ") == COUNTRY_LISTED;
}

/* Digits with their marks: 1,234.5. With a mark at any other place they are no number. */
static struct number figures_at(const struct reading *in, size_t i)
{
    struct number number = {.kind = NUMBER_FIGURES, .end = i};
    uint32_t group_mark = comma_is_decimal(in) ? '.' : ',', point = comma_is_decimal(in) ? ',' : '.';
    int64_t units = 0;
    int digits = 0, decimals = 0, in_group = 0;
    bool pointed = false, grouped = false, wrong = false;
    for (;; number.end++) {
        uint32_t code = code_at(in, number.end);
        if (code_is_digit(code) && digits > DECIMAL_DIGITS_MAX)
            break;
        if (code_is_digit(code)) {
            units = ++digits <= DECIMAL_DIGITS_MAX ? units * 10 + (int64_t)(code - '0') : units;
            decimals += pointed;
            in_group++;
            continue;
        }
        if ((code != group_mark && code != point) || !code_is_digit(code_at(in, number.end + 1)))
            break;
        wrong = wrong || pointed || (grouped ? in_group != 3 : code == group_mark && (in_group > 3 || in_group == 0));
        grouped = grouped || code == group_mark;
        pointed = code == point;
        in_group = 0;
    }
    wrong = wrong || (grouped && !pointed && in_group != 3) || digits > DECIMAL_DIGITS_MAX;
    /* 1.234 with a point that groups elsewhere: the person may mean either. */
    wrong = wrong || (comma_is_decimal(in) && grouped && !pointed && in_group == 3 && digits <= 6);
    if (wrong || !decimal_make(units, -decimals, &number.value))
        number.kind = NUMBER_BAD;
    return number;
}

/* "1.5k", "3 million", "2 dozen". */
static void figures_scale(const struct reading *in, struct number *number)
{
    static const char *const words[] = {"k", "thousand", "million", "billion", "hundred", "dozen", NULL};
    static const int powers[] = {3, 3, 6, 9, 2};
    size_t which, at = skip_spaces(in, number->end), end = words_at(in, at, words, &which);
    if (!end || (which == 0 && at != number->end)) /* only letters that touch the figures: "5k" */
        return;
    bool fits = which == 5
                    ? decimal_make(number->value.units * 12, -(int)number->value.scale, &number->value)
                    : decimal_make(number->value.units, powers[which] - (int)number->value.scale, &number->value);
    number->end = end;
    number->kind = fits ? number->kind : NUMBER_BAD;
}

static bool han_part(uint32_t code)
{
    static const uint32_t parts[] = {0x5341, 0x767E, 0x5343, 0x4E07, 0x5104, 0x5146};
    for (size_t i = 0; i < 6; i++) {
        if (parts[i] == code)
            return true;
    }
    return false;
}

/* The end of a sign, and whether it is a minus. */
static size_t sign_at(const struct reading *in, size_t i, bool *minus)
{
    static const char *const words[] = {"マイナス", "まいなす", "minus", "negative", NULL};
    size_t end = words_at(in, i, words, NULL);
    uint32_t before = i > 0 ? code_at(in, i - 1) : 0;
    bool mark = (code_at(in, i) == '-' || code_at(in, i) == '+') && !code_is_digit(before) && !code_is_latin(before);
    *minus = end != 0 || (mark && code_at(in, i) == '-');
    return end ? skip_spaces(in, end) : mark ? i + 1 : i;
}

struct number number_at(const struct reading *in, size_t i)
{
    bool minus;
    size_t at = sign_at(in, i, &minus);
    uint32_t code = code_at(in, at);
    if (at == i + 1 && !code_is_digit(code))
        return (struct number){.kind = NUMBER_NONE, .end = i};
    struct number number = {.kind = NUMBER_NONE, .end = at};
    if (code_is_digit(code)) {
        number = figures_at(in, at);
        if (han_part(code_at(in, number.end)))
            number = han_number_at(in, at);
        else if (number.kind == NUMBER_FIGURES)
            figures_scale(in, &number);
    } else if (code_is_latin(code)) {
        number = english_number_at(in, at);
    } else {
        number = han_number_at(in, at);
    }
    if (number.kind != NUMBER_NONE && minus)
        number.value.units = -number.value.units;
    return number;
}
