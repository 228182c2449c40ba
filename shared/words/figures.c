#include "words/figures.h"

#include "words/figures_priv.h"
#include "words/fold.h"
#include "words/values.h"
#include "words/words.h"

#include <string.h>

#define DIGITS_MOST 18 /* digits of a value; of a longer number, the rest counts by a hash */
#define WORD_MAX    ((size_t)32)
#define UNIT_WORD   4 /* letters of an unknown unit: "ship" and "ships" are the same */

static uint32_t letter_at(const struct figure_letters *letters, size_t at)
{
    return at < letters->count ? letters->codes[at] : 0;
}

static bool figures_is_digit(uint32_t code)
{
    return code >= '0' && code <= '9';
}

static bool is_latin(uint32_t code)
{
    return code >= 'a' && code <= 'z';
}

static bool figures_is_space(uint32_t code)
{
    return code && script_of(code) == SCRIPT_SPACE;
}

void figure_letters_read(const char *text, size_t length, struct figure_letters *letters)
{
    struct fold fold;
    struct folded c;
    letters->count = 0;
    fold_begin(&fold, text, length);
    while (letters->count < FIGURE_LETTERS_MAX && fold_next(&fold, &c))
        letters->codes[letters->count++] = c.code;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void figure_trim(struct figure *figure)
{
    while (figure->digits && figure->digits % 10 == 0) {
        figure->digits /= 10;
        figure->exponent++;
    }
    figure->exponent = figure->digits ? figure->exponent : 0;
}

struct figure figure_of(uint64_t value)
{
    struct figure figure = {.digits = value};
    figure_trim(&figure);
    return figure;
}

bool figure_same_value(const struct figure *one, const struct figure *other)
{
    return one->digits == other->digits && one->exponent == other->exponent && one->negative == other->negative;
}

bool figure_same_unit(const struct figure *one, const struct figure *other)
{
    size_t a = strlen(one->unit), b = strlen(other->unit), least = a < b ? a : b;
    if (*one->unit == '=' || *other->unit == '=')
        return !least || strcmp(one->unit, other->unit) == 0;
    return !least || memcmp(one->unit, other->unit, least) == 0;
}

/* Adds a part to the value: 1億 and 700万. Parts that do not fit are left out. */
static void figure_add(struct figure *figure, struct figure part)
{
    while (part.exponent > figure->exponent && part.digits && part.digits < UINT64_MAX / 10) {
        part.digits *= 10;
        part.exponent--;
    }
    while (figure->exponent > part.exponent && figure->digits && figure->digits < UINT64_MAX / 10) {
        figure->digits *= 10;
        figure->exponent--;
    }
    if (!figure->digits)
        figure->exponent = part.exponent;
    if (part.digits && figure->exponent == part.exponent && part.digits < UINT64_MAX - figure->digits)
        figure->digits += part.digits;
}

/* ---- digits ------------------------------------------------------------------------------------------------------ */

/* Reads "1,234.5" without its multiplier; returns the letter after it. */
static size_t figure_digits(const struct figure_letters *letters, size_t at, struct figure *part)
{
    bool point = false;
    int count = 0;
    *part = (struct figure){.digits = 0};
    for (;; at++) {
        uint32_t code = letter_at(letters, at);
        bool before_digit = figures_is_digit(letter_at(letters, at + 1));
        if (code == '.' && before_digit && !point) {
            point = true;
            continue;
        }
        if (code == ',' && before_digit && !point)
            continue;
        if (!figures_is_digit(code))
            return at;
        if (count < DIGITS_MOST) {
            part->digits = part->digits * 10 + (code - '0');
            part->exponent -= point;
            count += part->digits != 0;
        } else { /* mixed, so that a difference in any digit counts */
            part->digits = (part->digits ^ (code + 1)) * UINT64_C(1099511628211);
        }
    }
}

static int japanese_multiplier(uint32_t code)
{
    static const struct {
        uint32_t code;
        int exponent;
    } multipliers[] = {{0x5341, 1}, {0x767E, 2}, {0x5343, 3}, {0x4E07, 4}, {0x5104, 8}, {0x5146, 12}};
    for (size_t i = 0; i < sizeof multipliers / sizeof *multipliers; i++)
        if (multipliers[i].code == code)
            return multipliers[i].exponent;
    return 0;
}

/* Reads 3億2000万. A smaller part follows only directly. */
static size_t figure_parts(const struct figure_letters *letters, size_t at, struct figure *figure)
{
    int last = 100;
    for (;;) {
        struct figure part;
        size_t end = figure_digits(letters, at, &part);
        int exponent = 0, more;
        for (; (more = japanese_multiplier(letter_at(letters, end))); end++) /* 3千万 */
            exponent += more;
        if (exponent >= last)
            return at;
        part.exponent += exponent;
        figure_add(figure, part);
        last = exponent;
        at = end;
        if (!exponent || !figures_is_digit(letter_at(letters, at)))
            return at;
    }
}

/* "2.1 million", "3-million": the exponent of the word, or 0. */
static int english_multiplier(const struct figure_letters *letters, size_t at, size_t *end)
{
    static const struct {
        const char *word;
        int exponent;
    } words[] = {{"hundred", 2}, {"thousand", 3}, {"million", 6}, {"billion", 9}, {"trillion", 12}, {"bn", 9}};
    at += figures_is_space(letter_at(letters, at)) || letter_at(letters, at) == '-';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (figure_word_at(letters, at, words[i].word, end))
            return words[i].exponent;
    return 0;
}

/* ---- eras -------------------------------------------------------------------------------------------------------- */

static unsigned era_before(const struct figure_letters *letters, size_t at)
{
    return at >= 2 ? value_era(letters->codes[at - 2], letters->codes[at - 1]) : 0;
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

bool figure_word_at(const struct figure_letters *letters, size_t at, const char *word, size_t *end)
{
    uint32_t last = 0;
    for (size_t i = 0; word[i]; at++) {
        if (word[i] == ' ') { /* any blanks, or a hyphen */
            if (!figures_is_space(letter_at(letters, at)) && letter_at(letters, at) != '-')
                return false;
            i++;
            continue;
        }
        size_t next;
        last = utf8_read(word, strlen(word), i, &next);
        if (letter_at(letters, at) != last)
            return false;
        i = next;
    }
    *end = at;
    return !is_latin(last) || !is_latin(letter_at(letters, at));
}

/* An unknown unit: the first letters of the next word, or one Japanese character. */
static void unit_read_word(const struct figure_letters *letters, size_t at, struct figure *figure)
{
    char word[WORD_MAX];
    size_t length = 0;
    uint32_t code = letter_at(letters, at);
    enum script script = script_of(code);
    if (code && (script == SCRIPT_HAN || script == SCRIPT_HIRAGANA || script == SCRIPT_KATAKANA)) {
        figure->unit[utf8_write(figure->unit, code)] = '\0';
        return;
    }
    for (; is_latin(letter_at(letters, at)) && length < WORD_MAX; at++)
        word[length++] = (char)letters->codes[at];
    if (!length || words_function_word(word, length))
        return;
    length = length < UNIT_WORD ? length : UNIT_WORD;
    memcpy(figure->unit, word, length);
    figure->unit[length] = '\0';
}

static void figure_take_unit(const struct figure_letters *letters, struct figure *figure)
{
    size_t at = figure->end, begin = figure->begin;
    uint32_t before = begin ? letters->codes[begin - 1] : 0;
    while (figures_is_space(letter_at(letters, at)) ||
           (letter_at(letters, at) == '-' && is_latin(letter_at(letters, at + 1))))
        at++;
    const struct figure_unit *unit = figure_unit_at(letters, at);
    if (unit) {
        memcpy(figure->unit, unit->name, strlen(unit->name) + 1);
        figure->exponent += figure->digits ? unit->exponent : 0;
    } else if (before == '$' || before == 0x20AC || before == 0xA3 || before == 0xA5) { /* euro, pound, yen */
        const char *name = before == '$' ? "=$" : before == 0x20AC ? "=eur" : before == 0xA3 ? "=gbp" : "=yen";
        memcpy(figure->unit, name, strlen(name) + 1);
    } else {
        unit_read_word(letters, at, figure);
    }
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* The offset after a note: [1], [^1]; 0: there is none. */
static size_t note_end(const struct figure_letters *letters, size_t at)
{
    size_t end = at + 1 + (letter_at(letters, at + 1) == '^');
    size_t begin = end;
    while (figures_is_digit(letter_at(letters, end)))
        end++;
    return letter_at(letters, at) == '[' && end > begin && letter_at(letters, end) == ']' ? end + 1 : 0;
}

/* True for "-5", false for "3-5" and "- 5". */
static bool is_negative(const struct figure_letters *letters, size_t at)
{
    return at && letters->codes[at - 1] == '-' && (at == 1 || figures_is_space(letters->codes[at - 2]));
}

static bool is_year(const struct figure *figure)
{
    bool four = figure->end - figure->begin == 4;
    struct figure whole = *figure;
    while (whole.exponent > 0 && whole.digits < 10000) {
        whole.digits *= 10;
        whole.exponent--;
    }
    bool range = whole.exponent == 0 && whole.digits >= 1500 && whole.digits < 2200;
    return range && four && (!*figure->unit || strcmp(figure->unit, "=year") == 0);
}

bool figure_next(const struct figure_letters *letters, size_t *at, struct figure *figure)
{
    for (; *at < letters->count; ++*at) {
        size_t note = note_end(letters, *at);
        unsigned era = era_before(letters, *at);
        bool first = era && letters->codes[*at] == 0x5143 && letter_at(letters, *at + 1) == 0x5E74; /* 令和元年 */
        if (note)
            *at = note - 1;
        if (note || (!figures_is_digit(letters->codes[*at]) && !first))
            continue;
        if (*at && is_latin(letters->codes[*at - 1])) { /* CO2 is a word */
            while (figures_is_digit(letter_at(letters, *at + 1)))
                ++*at;
            continue;
        }
        *figure = (struct figure){.begin = *at, .negative = is_negative(letters, *at)};
        size_t end = first ? *at + 1 : figure_parts(letters, *at, figure);
        if (first)
            figure->digits = 1;
        size_t scaled = end;
        int exponent = english_multiplier(letters, end, &scaled);
        figure->exponent += exponent;
        figure->end = *at = exponent ? scaled : end;
        figure_take_unit(letters, figure);
        if (era && strcmp(figure->unit, "=year") == 0)
            figure_add(figure, (struct figure){.digits = era});
        figure_trim(figure);
        figure->year = (era && strcmp(figure->unit, "=year") == 0) || is_year(figure);
        return true;
    }
    return false;
}

void figures_read(const char *text, size_t length, struct figures *figures)
{
    struct figure_letters letters;
    size_t at = 0;
    figures->count = 0;
    figure_letters_read(text, length, &letters);
    while (figures->count < FIGURES_MAX && figure_next(&letters, &at, &figures->list[figures->count]))
        figures->count++;
}
