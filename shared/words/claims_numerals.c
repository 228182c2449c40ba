/* Numbers that are written in words: 三百 and "twenty-five". Each of them in a sentence must be in its quote or
 * heading, in words or in digits. A single Han character is a number only before a counter (三日, but not 三角); two
 * characters are always a number. The English word for 1 alone is not a number. */
#include "words/claims_priv.h"

#include "words/figures.h"
#include "words/fold.h"

#include <string.h>

#define NUMERALS_MAX 256 /* of a text; in a quote with more, later ones are ignored */
#define WORD_MAX     16
#define VALUE_MAX    UINT64_C(1000000000000000)

struct numerals {
    uint64_t values[NUMERALS_MAX];
    size_t count;
};

static void numerals_add(struct numerals *numerals, uint64_t value)
{
    if (numerals->count < NUMERALS_MAX)
        numerals->values[numerals->count++] = value;
}

static bool numerals_have(const struct numerals *numerals, uint64_t value)
{
    for (size_t i = 0; i < numerals->count; i++)
        if (numerals->values[i] == value)
            return true;
    return false;
}

/* A number that is being parsed: "two" "hundred" "thousand", 二 百 千. */
struct numeral {
    uint64_t total, part;
    size_t words;
};

static uint64_t numeral_value(const struct numeral *numeral)
{
    return numeral->total + numeral->part;
}

static void numeral_multiply(struct numeral *numeral, uint64_t by)
{
    uint64_t part = numeral->part ? numeral->part : 1;
    if (part > VALUE_MAX / by)
        return;
    numeral->total += part * by;
    numeral->part = 0;
}

/* ---- English ----------------------------------------------------------------------------------------------------- */

static const struct numeral_word {
    const char *word;
    uint64_t value;
} english[] = {
    {"zero", 0},        {"one", 1},           {"two", 2},
    {"three", 3},       {"four", 4},          {"five", 5},
    {"six", 6},         {"seven", 7},         {"eight", 8},
    {"nine", 9},        {"ten", 10},          {"eleven", 11},
    {"twelve", 12},     {"thirteen", 13},     {"fourteen", 14},
    {"fifteen", 15},    {"sixteen", 16},      {"seventeen", 17},
    {"eighteen", 18},   {"nineteen", 19},     {"twenty", 20},
    {"thirty", 30},     {"forty", 40},        {"fifty", 50},
    {"sixty", 60},      {"seventy", 70},      {"eighty", 80},
    {"ninety", 90},     {"hundred", 100},     {"dozen", 12},
    {"thousand", 1000}, {"million", 1000000}, {"billion", 1000000000},
    {"twice", 2},
};

static const struct numeral_word *numerals_find_word(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof english / sizeof *english; i++)
        if (*english[i].word == *word && strlen(english[i].word) == length &&
            memcmp(english[i].word, word, length) == 0)
            return &english[i];
    return NULL;
}

static void numerals_end(struct numerals *numerals, struct numeral *numeral)
{
    bool article = numeral->words == 1 && numeral_value(numeral) == 1;
    if (numeral->words && !article)
        numerals_add(numerals, numeral_value(numeral));
    *numeral = (struct numeral){.words = 0};
}

static void numerals_take_word(struct numerals *numerals, struct numeral *numeral, const char *word, size_t length)
{
    const struct numeral_word *found = numerals_find_word(word, length);
    if (!found) {
        numerals_end(numerals, numeral);
        return;
    }
    uint64_t value = found->value;
    if (value == 100 || strcmp(found->word, "dozen") == 0) {
        numeral->part = (numeral->part ? numeral->part : 1) * value;
    } else if (value >= 1000) {
        numeral_multiply(numeral, value);
    } else {
        bool goes_on = !numeral->words || numeral->part % 100 == 0 || (numeral->part % 10 == 0 && value < 10);
        if (!goes_on)
            numerals_end(numerals, numeral);
        numeral->part += value;
    }
    numeral->words++;
}

/* A hyphen or white space continues a number. "and" ends it, since it usually stands between two numbers. */
static void numerals_read_english(struct claim text, struct numerals *numerals)
{
    struct fold fold;
    struct folded c;
    struct numeral numeral = {.words = 0};
    char word[WORD_MAX];
    size_t length = 0;
    bool more, digits = false, behind = false; /* "million" behind digits is part of that number */
    fold_begin(&fold, text.text, text.length);
    do {
        more = fold_next(&fold, &c);
        if (more && script_of(c.code) == SCRIPT_LETTER) {
            behind = length ? behind : digits;
            word[length < WORD_MAX - 1 ? length++ : length] = c.code < 0x80 ? (char)c.code : '?';
            continue;
        }
        if (length && !(behind && numerals_find_word(word, length)))
            numerals_take_word(numerals, &numeral, word, length);
        digits =
            more && (script_of(c.code) == SCRIPT_DIGIT || (digits && !length && script_of(c.code) == SCRIPT_SPACE));
        length = 0;
        if (!more || (c.code != '-' && script_of(c.code) != SCRIPT_SPACE))
            numerals_end(numerals, &numeral);
    } while (more);
}

/* ---- Japanese ---------------------------------------------------------------------------------------------------- */

/* The value of a digit, or in *by the multiplier (十, 百, 千, …). False if the character is not part of a number. */
static bool numerals_read_han(uint32_t code, uint64_t *value, uint64_t *by)
{
    static const struct {
        uint32_t code;
        uint64_t value, by;
    } characters[] = {
        {0x3007, 0, 0},
        {0x96F6, 0, 0},
        {0x4E00, 1, 0},
        {0x4E8C, 2, 0},
        {0x4E09, 3, 0},
        {0x56DB, 4, 0},
        {0x4E94, 5, 0},
        {0x516D, 6, 0},
        {0x4E03, 7, 0},
        {0x516B, 8, 0},
        {0x4E5D, 9, 0},
        {0x5341, 0, 10},
        {0x767E, 0, 100},
        {0x5343, 0, 1000},
        {0x4E07, 0, 10000},
        {0x5104, 0, 100000000},
        {0x5146, 0, 1000000000000},
    };
    for (size_t i = 0; code >= 0x3007 && i < sizeof characters / sizeof *characters; i++)
        if (characters[i].code == code) {
            *value = characters[i].value;
            *by = characters[i].by;
            return true;
        }
    return false;
}

struct han_numeral {
    uint64_t total, part, digits;
    size_t characters;
    bool multiplies;
};

static void numerals_take_han(struct han_numeral *numeral, uint64_t value, uint64_t by)
{
    numeral->characters++;
    if (!by) {
        numeral->digits = numeral->digits < VALUE_MAX / 10 ? numeral->digits * 10 + value : numeral->digits;
        return;
    }
    numeral->multiplies = true;
    if (by < 10000) {
        numeral->part += (numeral->digits ? numeral->digits : 1) * by;
    } else {
        uint64_t part = numeral->part + numeral->digits;
        numeral->total += (part && part < VALUE_MAX / by ? part : 1) * by;
        numeral->part = 0;
    }
    numeral->digits = 0;
}

/* 十分 is not a number, nor is 一 in 一つ, 一時, 一番, 一種. */
static bool numerals_is_word(uint32_t digit, uint32_t code)
{
    if (digit == 0x5341)
        return code == 0x5206;
    return digit == 0x4E00 && (code == 0x3064 || code == 0x6642 || code == 0x756A || code == 0x7A2E);
}

/* Whether the character is a counter, which makes the single digit before it a number. */
static bool numerals_is_counted(uint32_t digit, uint32_t code)
{
    static const uint32_t counters[] = {
        0x65E5, 0x5E74, 0x6708, 0x6642, 0x5206, 0x79D2, 0x4EBA, 0x4EF6, 0x56DE, 0x500B, 0x5186, 0x672C,
        0x679A, 0x53F0, 0x6B73, 0x500D, 0x5272, 0x9031, 0x540D, 0x756A, 0x6761, 0x9805, 0x7AE0, 0x3064,
        0x30F6, 0x304B, 0x30AB, 0x7A2E, 0x6BB5, 0x5339, 0x518A, 0x6841, 0x554F, 0x793E, 0x8ED2, 0x56FD,
    };
    for (size_t i = 0; i < sizeof counters / sizeof *counters && !numerals_is_word(digit, code); i++)
        if (counters[i] == code)
            return true;
    return false;
}

static void numerals_end_han(struct numerals *numerals, struct han_numeral *numeral, uint32_t last, uint32_t next,
                             bool behind_digits)
{
    bool counts = numeral->characters > 1 || (numeral->characters == 1 && numerals_is_counted(last, next));
    if (counts && !behind_digits)
        numerals_add(numerals, numeral->total + numeral->part + numeral->digits);
    *numeral = (struct han_numeral){.characters = 0};
}

/* 3万 is a number in digits: claims.c compares its digits and its unit. */
static void numerals_read_japanese(struct claim text, struct numerals *numerals)
{
    struct fold fold;
    struct folded c;
    struct han_numeral numeral = {.characters = 0};
    uint32_t last = 0;
    bool more, behind_digits = false;
    fold_begin(&fold, text.text, text.length);
    do {
        uint64_t value, by;
        more = fold_next(&fold, &c);
        c.code = more ? c.code : 0;
        if (numerals_read_han(c.code, &value, &by)) {
            behind_digits = numeral.characters ? behind_digits : last >= '0' && last <= '9';
            numerals_take_han(&numeral, value, by);
        } else if (numeral.characters) {
            numerals_end_han(numerals, &numeral, last, c.code, behind_digits);
        }
        last = c.code;
    } while (more);
}

/* ---- the comparison ---------------------------------------------------------------------------------------------- */

static void numerals_read(struct claim text, struct numerals *numerals)
{
    numerals_read_english(text, numerals);
    numerals_read_japanese(text, numerals);
}

bool claims_numerals_have(struct claim quote, struct claim heading, const struct figure *figure)
{
    struct numerals quoted = {.count = 0};
    uint64_t value = figure->digits;
    if (figure->exponent < 0 || figure->negative)
        return false;
    for (int i = 0; i < figure->exponent; i++) {
        if (value > VALUE_MAX)
            return false;
        value *= 10;
    }
    numerals_read(quote, &quoted);
    numerals_read(heading, &quoted);
    return numerals_have(&quoted, value);
}

static bool numerals_in_digits(const struct figures *figures, uint64_t value)
{
    struct figure wanted = figure_of(value);
    for (size_t i = 0; i < figures->count; i++)
        if (figure_same_value(&wanted, &figures->list[i]))
            return true;
    return false;
}

bool claims_numerals_agree(struct claim sentence, struct claim quote, struct claim heading)
{
    struct numerals said = {.count = 0}, quoted = {.count = 0};
    struct figures digits, above;
    numerals_read(sentence, &said);
    if (!said.count)
        return true;
    numerals_read(quote, &quoted);
    numerals_read(heading, &quoted);
    figures_read(quote.text, quote.length, &digits);
    figures_read(heading.text, heading.length, &above);
    for (size_t i = 0; i < said.count; i++)
        if (!numerals_have(&quoted, said.values[i]) && !numerals_in_digits(&digits, said.values[i]) &&
            !numerals_in_digits(&above, said.values[i]))
            return false;
    return said.count < NUMERALS_MAX;
}
