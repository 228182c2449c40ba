/* 三万五千, 二〇二六, 1万2千, ひとつ: numbers with Han characters, also mixed with figures. */
#include "form/numbers.h"

#include <string.h>

static int han_digit(uint32_t code)
{
    static const uint32_t digits[][2] = {{0x3007, 0}, {0x96F6, 0}, {0x4E00, 1}, {0x4E8C, 2}, {0x4E09, 3},
                                         {0x56DB, 4}, {0x4E94, 5}, {0x516D, 6}, {0x4E03, 7}, {0x516B, 8},
                                         {0x4E5D, 9}, {0x58F1, 1}, {0x5F10, 2}, {0x53C2, 3}};
    for (size_t i = 0; i < sizeof(digits) / sizeof(*digits); i++) {
        if (digits[i][0] == code)
            return (int)digits[i][1];
    }
    return -1;
}

/* 十百千 as powers of ten; 0 for another character. */
static int small_power(uint32_t code)
{
    return code == 0x5341 || code == 0x62FE ? 1 : code == 0x767E ? 2 : code == 0x5343 ? 3 : 0;
}

static int large_power(uint32_t code)
{
    return code == 0x4E07 || code == 0x842C ? 4 : code == 0x5104 ? 8 : code == 0x5146 ? 12 : 0;
}

/* Figures or Han digits in a row. */
static struct number han_digits(const struct reading *in, size_t i)
{
    struct number number = {.kind = NUMBER_NONE, .end = i};
    int64_t units = 0;
    int digits = 0, decimals = 0;
    bool point = false;
    for (;; number.end++) {
        uint32_t code = code_at(in, number.end);
        int digit = code_is_digit(code) ? (int)(code - '0') : han_digit(code);
        if (digit < 0 && code == '.' && !point && digits > 0 && code_is_digit(code_at(in, number.end + 1))) {
            point = true;
            continue;
        }
        if (digit < 0 && code == ',' && !point && digits > 0 && code_is_digit(code_at(in, number.end + 1)))
            continue;
        if (digit < 0)
            break;
        if (++digits > DECIMAL_DIGITS_MAX)
            return (struct number){.kind = NUMBER_BAD, .end = number.end + 1};
        units = units * 10 + digit;
        decimals += point;
    }
    if (digits > 0 && decimal_make(units, -decimals, &number.value))
        number.kind = NUMBER_HAN;
    return number;
}

/* Up to 9999: 二千三百, 5千; before a 万 or at the end. */
static struct number han_group(const struct reading *in, size_t i)
{
    struct number group = {.kind = NUMBER_NONE, .end = i};
    int last = 4;
    for (;;) {
        struct number digits = han_digits(in, group.end);
        struct decimal part = digits.value;
        int power = small_power(code_at(in, digits.end));
        if (digits.kind == NUMBER_BAD)
            return digits;
        if (power == 0 && digits.kind == NUMBER_NONE)
            return group;
        if (power >= last || (digits.kind == NUMBER_NONE && !decimal_make(1, 0, &part)) ||
            (power > 0 && !decimal_make(part.units, power - (int)part.scale, &part)) ||
            (group.kind != NUMBER_NONE && !decimal_add(group.value, part, &part)))
            return (struct number){.kind = NUMBER_BAD, .end = digits.end + 1};
        group = (struct number){.kind = NUMBER_HAN, .value = part, .end = digits.end + (power > 0)};
        if (power == 0)
            return group;
        last = power;
    }
}

struct number han_number_at(const struct reading *in, size_t i)
{
    struct number sum = {.kind = NUMBER_NONE, .end = i};
    int last = 16;
    for (;;) {
        struct number group = han_group(in, sum.end);
        int power = large_power(code_at(in, group.end));
        if (group.kind == NUMBER_BAD)
            return group;
        if (group.kind == NUMBER_NONE)
            return sum;
        if (power >= last || !decimal_make(group.value.units, power - (int)group.value.scale, &group.value) ||
            (sum.kind != NUMBER_NONE && !decimal_add(sum.value, group.value, &group.value)))
            return (struct number){.kind = NUMBER_BAD, .end = group.end + 1};
        sum = (struct number){.kind = NUMBER_HAN, .value = group.value, .end = group.end + (power > 0)};
        if (power == 0)
            return sum;
        last = power;
    }
}

size_t count_at(const struct reading *in, size_t i, unsigned digits, int *value)
{
    size_t end = i;
    struct number number = han_number_at(in, i);
    for (unsigned read = 0; code_is_digit(code_at(in, end)); read++, end++) {
        if (read == digits)
            return 0;
    }
    if (end > i) {
        *value = 0;
        for (size_t at = i; at < end; at++)
            *value = *value * 10 + (int)(code_at(in, at) - '0');
        return end;
    }
    int most = digits == 1 ? 9 : digits == 2 ? 99 : digits == 3 ? 999 : 9999;
    if (number.kind != NUMBER_HAN || number.value.scale != 0 || number.value.units > most)
        return 0;
    *value = (int)number.value.units;
    return number.end;
}
