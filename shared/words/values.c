#include "words/values.h"

#include <stdio.h>
#include <string.h>

#define VALUE_MOST UINT64_C(1000000000000000)
#define ERA_MOST   64     /* years; Showa was the longest */
#define FIRST_YEAR 0x5143 /* 元 of 元年 */
#define YEAR       0x5E74 /* 年 */

/* ---- characters -------------------------------------------------------------------------------------------------- */

static bool value_is_digit(uint32_t code)
{
    return code >= '0' && code <= '9';
}

/* 0 to 9, or -1. */
static int value_of_han_digit(uint32_t code)
{
    static const uint32_t digits[] = {0x3007, 0x4E00, 0x4E8C, 0x4E09, 0x56DB, 0x4E94, 0x516D, 0x4E03, 0x516B, 0x4E5D};
    for (int i = 0; i < 10; i++)
        if (digits[i] == code)
            return i;
    return code == 0x96F6 ? 0 : -1; /* 零 */
}

/* 十, 百, 千, 万, 億, 兆, or 0. */
static uint64_t value_of_unit(uint32_t code)
{
    switch (code) {
    case 0x5341:
        return 10;
    case 0x767E:
        return 100;
    case 0x5343:
        return 1000;
    case 0x4E07:
    case 0x842C: /* 萬 */
        return 10000;
    case 0x5104:
        return 100000000;
    case 0x5146:
        return UINT64_C(1000000000000);
    default:
        return 0;
    }
}

static bool value_is_han(uint32_t code)
{
    return code >= 0x3007 && code <= 0x9FFF && (value_of_han_digit(code) >= 0 || value_of_unit(code));
}

static bool value_one_of(uint32_t code, const char *characters)
{
    for (size_t at = 0, length = strlen(characters), end; at < length; at = end)
        if (utf8_read(characters, length, at, &end) == code)
            return true;
    return false;
}

unsigned value_era(uint32_t first, uint32_t second)
{
    static const struct {
        uint32_t codes[2];
        unsigned base;
    } eras[] = {
        {{0x4EE4, 0x548C}, 2018}, /* Reiwa */
        {{0x5E73, 0x6210}, 1988}, /* Heisei */
        {{0x662D, 0x548C}, 1925}, /* Showa */
        {{0x5927, 0x6B63}, 1911}, /* Taisho */
        {{0x660E, 0x6CBB}, 1867}, /* Meiji */
        {{0x6176, 0x5FDC}, 1864}, /* Keio */
        {{0x6587, 0x4E45}, 1860}, /* Bunkyu */
        {{0x5B89, 0x653F}, 1853}, /* Ansei */
        {{0x5609, 0x6C38}, 1847}, /* Kaei */
        {{0x5929, 0x4FDD}, 1829}, /* Tenpo */
        {{0x6587, 0x653F}, 1817}, /* Bunsei */
        {{0x6587, 0x5316}, 1803}, /* Bunka */
        {{0x5BDB, 0x653F}, 1788}, /* Kansei */
        {{0x5929, 0x660E}, 1780}, /* Tenmei */
        {{0x5143, 0x7984}, 1687}, /* Genroku */
        {{0x4EAB, 0x4FDD}, 1715}, /* Kyoho */
        {{0x5BDB, 0x6C38}, 1623}, /* Kan'ei */
        {{0x6176, 0x9577}, 1595}, /* Keicho */
        {{0x5929, 0x6B63}, 1572}, /* Tensho */
    };
    for (size_t i = 0; i < sizeof eras / sizeof *eras; i++)
        if (eras[i].codes[0] == first && eras[i].codes[1] == second)
            return eras[i].base;
    return 0;
}

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

struct numeral {
    const struct folded *letters;
    unsigned count, at;
    uint64_t total, section; /* 万 and more; less than 万 */
    uint64_t last_big, last_small;
    unsigned han;
};

/* Digits with commas between groups of three, and perhaps decimals, which only 万 and more may follow: 1.5万. */
static bool numeral_digits(struct numeral *numeral, uint64_t *value, unsigned *decimals)
{
    unsigned group = 0, count = 0;
    bool comma = false, point = false;
    *value = *decimals = 0;
    for (; numeral->at < numeral->count; numeral->at++) {
        uint32_t code = numeral->letters[numeral->at].code;
        if (value_is_digit(code)) {
            *value = *value * 10 + (code - '0');
            *decimals += point;
            group++;
            if (++count > 15)
                return false;
        } else if (code == ',' && !point && (comma ? group == 3 : group <= 3)) {
            comma = true;
            group = 0;
        } else if (code == '.' && !point && (!comma || group == 3)) {
            point = true;
        } else {
            break;
        }
    }
    return !comma || group == 3 || point;
}

/* 一九九八 and 二〇: digits in a row without units. */
static bool numeral_row(struct numeral *numeral, uint64_t *value)
{
    unsigned count = 0;
    bool zero = false;
    *value = 0;
    for (int digit; numeral->at < numeral->count &&
                    (digit = value_of_han_digit(numeral->letters[numeral->at].code)) >= 0 && count < 15;
         numeral->at++, count++) {
        *value = *value * 10 + (uint64_t)digit;
        zero |= digit == 0;
    }
    numeral->han += count;
    return count == 1 ? *value > 0 : zero || count >= 3;
}

/* Takes the units behind a value: 千万 in 3千万. `value` is 0 without digits before the unit. */
static bool numeral_units(struct numeral *numeral, uint64_t value, unsigned decimals, bool has_digits)
{
    uint64_t unit, scale = 1;
    bool first = true;
    for (; decimals > 0; decimals--)
        scale *= 10;
    for (; numeral->at < numeral->count && (unit = value_of_unit(numeral->letters[numeral->at].code));
         numeral->at++, numeral->han++, first = false) {
        if (unit < 10000) {
            if (unit >= numeral->last_small || (first && scale > unit))
                return false;
            numeral->section += first && has_digits ? value * unit / scale : unit;
            numeral->last_small = unit;
            scale = 1;
        } else {
            uint64_t section = first && has_digits ? numeral->section * scale + value : numeral->section;
            if (unit >= numeral->last_big || section == 0 || section > VALUE_MOST / unit || scale > unit)
                return false;
            numeral->total += section * unit / scale;
            numeral->last_big = unit;
            numeral->section = 0;
            numeral->last_small = 10000;
            scale = 1;
        }
    }
    if (first && has_digits) {
        if (scale != 1 || value >= numeral->last_small)
            return false;
        numeral->section += value;
        numeral->last_small = 1;
    }
    return true;
}

/* The value of all letters, or false if they are no number. */
static bool numeral_parse(struct numeral *numeral, uint64_t *result)
{
    numeral->last_big = UINT64_MAX;
    numeral->last_small = UINT64_MAX;
    while (numeral->at < numeral->count) {
        uint64_t value = 0;
        unsigned decimals = 0;
        unsigned begin = numeral->at;
        uint32_t code = numeral->letters[begin].code;
        bool digits = value_is_digit(code), row = value_of_han_digit(code) >= 0;
        if (digits && !numeral_digits(numeral, &value, &decimals))
            return false;
        if (row && !numeral_row(numeral, &value))
            return false;
        if (!numeral_units(numeral, value, decimals, digits || row) || numeral->at == begin)
            return false; /* also "2024,1", whose comma belongs to no number */
    }
    *result = numeral->total + numeral->section;
    return *result < VALUE_MOST;
}

/* ---- the reader -------------------------------------------------------------------------------------------------- */

void values_begin(struct value_reader *reader, const char *text, size_t length)
{
    fold_begin(&reader->fold, text, length);
    reader->raw_at = reader->raw_count = reader->unchanged = 0;
    reader->digits_at = reader->digits_count = 0;
    reader->overlong = false;
    reader->before[0] = reader->before[1] = 0;
}

static void values_fill(struct value_reader *reader)
{
    unsigned left = reader->raw_count - reader->raw_at;
    memmove(reader->raw, reader->raw + reader->raw_at, left * sizeof(*reader->raw));
    reader->raw_at = 0;
    reader->raw_count = left;
    while (reader->raw_count < VALUE_LETTERS_MAX && fold_next(&reader->fold, &reader->raw[reader->raw_count]))
        reader->raw_count++;
}

/* The letters from raw_at on that may belong to one numeral. */
static unsigned values_extent(const struct value_reader *reader)
{
    unsigned end = reader->raw_at;
    for (; end < reader->raw_count; end++) {
        uint32_t code = reader->raw[end].code;
        bool joins = (code == ',' || code == '.') && end > reader->raw_at && end + 1 < reader->raw_count &&
                     value_is_digit(reader->raw[end - 1].code) && value_is_digit(reader->raw[end + 1].code);
        if (!value_is_digit(code) && !value_is_han(code) && !joins)
            break;
    }
    return end - reader->raw_at;
}

/* Whether a numeral of one Han character counts something. 十分, 一番 and 一度 are mostly words. */
static bool values_is_counted(uint32_t numeral, uint32_t after)
{
    if (value_of_unit(numeral) >= 10000 || value_of_han_digit(numeral) == 0)
        return false;
    if ((numeral == 0x5341 && after == 0x5206) || (numeral == 0x4E00 && value_one_of(after, "番度")))
        return false;
    return value_one_of(after, "年月日時分秒人回個つ歳才円名台枚件割倍度番位冊匹頭本杯階章条点歩泊週ヶヵケカか箇");
}

static void values_give_digits(struct value_reader *reader, uint64_t value, unsigned count)
{
    const struct folded *first = &reader->raw[reader->raw_at], *last = first + count - 1;
    reader->numeral = (struct folded){.begin = first->begin, .end = last->end};
    reader->digits_count =
        (unsigned)snprintf(reader->digits, sizeof(reader->digits), "%llu", (unsigned long long)value);
    reader->digits_at = 0;
    reader->raw_at += count;
}

/* Replaces the numeral at raw_at, or marks its letters as unchanged. */
static void values_read_numeral(struct value_reader *reader)
{
    uint64_t value;
    values_fill(reader);
    unsigned count = values_extent(reader), era = value_era(reader->before[1], reader->before[0]);
    uint32_t first = reader->raw[0].code;
    uint32_t after = count < reader->raw_count ? reader->raw[count].code : 0;
    if (first == FIRST_YEAR) {
        bool year = era && reader->raw_count > 1 && reader->raw[1].code == YEAR;
        if (year)
            values_give_digits(reader, era + 1, 1);
        reader->unchanged = year ? 0 : 1;
        return;
    }
    struct numeral numeral = {.letters = reader->raw, .count = count};
    reader->overlong = count == VALUE_LETTERS_MAX;
    bool whole = !reader->overlong && !value_one_of(reader->before[0], "数何幾") &&
                 script_of(reader->before[0]) != SCRIPT_LETTER && reader->before[0] != '-' &&
                 reader->before[0] != '.' && reader->before[0] != '_';
    bool parsed = whole && numeral_parse(&numeral, &value);
    bool dated = parsed && era && after == YEAR && value > 0 && value <= ERA_MOST;
    bool single = count == 1 && numeral.han == 1;
    if (!dated && (!parsed || numeral.han == 0 || (single && !values_is_counted(first, after)))) {
        reader->unchanged = count;
        return;
    }
    values_give_digits(reader, dated ? value + era : value, count);
}

static bool values_starts(uint32_t code)
{
    return value_is_digit(code) || value_is_han(code) || code == FIRST_YEAR;
}

static bool values_goes_on(uint32_t code)
{
    return value_is_digit(code) || value_is_han(code) || code == ',' || code == '.';
}

static void values_remember(struct value_reader *reader, uint32_t code)
{
    reader->before[1] = reader->before[0];
    reader->before[0] = code;
}

bool values_next(struct value_reader *reader, struct folded *folded)
{
    if (reader->digits_at == reader->digits_count) {
        if (reader->raw_at == reader->raw_count) {
            reader->raw_at = reader->raw_count = 0;
            if (!fold_next(&reader->fold, &reader->raw[0]))
                return false;
            reader->raw_count = 1;
        }
        reader->overlong &= values_goes_on(reader->raw[reader->raw_at].code);
        if (reader->unchanged == 0 && !reader->overlong && values_starts(reader->raw[reader->raw_at].code))
            values_read_numeral(reader);
    }
    if (reader->digits_at < reader->digits_count) {
        *folded = reader->numeral;
        folded->code = (uint32_t)reader->digits[reader->digits_at++];
    } else {
        *folded = reader->raw[reader->raw_at++];
        reader->unchanged -= reader->unchanged > 0;
    }
    values_remember(reader, folded->code);
    return true;
}
