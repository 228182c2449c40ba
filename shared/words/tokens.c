/* The estimate: text is split into runs of the same kind, like o200k_base does before it merges bytes. The kinds are a
 * word with its leading capitals, digits by threes, blanks, line ends, punctuation, kana, kanji and so on. The cost of
 * a run is the average cost of runs of its kind and length; kana are looked up (tokens_kana). The averages were
 * measured over 2.5 MB of public manuals, books, licences, messages and sources in twelve languages. The kind before a
 * run also matters: a blank and the word after it are usually one token. */
#include "words/tokens.h"

#include "base/text.h"
#include "words/tokens_kana.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum kind {
    NOTHING, /* before the beginning and after the end */
    /* scripts: rows of script_costs */
    KANJI,
    HANGUL,
    GREEK, /* and Cyrillic */
    SEMITIC,
    INDIC, /* and Thai */
    HIRAGANA,
    KATAKANA,
    /* letters of words */
    LOWER,
    UPPER,
    ACCENTED,
    DIGIT,
    BLANK,
    LINE_END,
    MARK,
    WIDE_MARK, /* of Japanese and Chinese */
    WIDE,      /* full-width letters, half-width katakana */
    SYMBOL,
    FAR, /* beyond 16 bits: emoji, rare kanji */
    BROKEN,
};

/* All costs are hundredths of a token. */
#define TOKEN 100

#define WORD_LENGTHS   16
#define WORD_BEYOND    40 /* for each letter more */
#define SCRIPT_LENGTHS 8

enum word_form { FORM_LOWER, FORM_CAPITAL, FORM_UPPER, FORM_ACCENTED, FORMS };
enum before { AFTER_BLANK, AFTER_MARK, AFTER_OTHER, BEFORES };

static const uint16_t word_costs[FORMS][BEFORES][WORD_LENGTHS] =
    {
        [FORM_LOWER] =
            {
                {0, 0, 1, 1, 3, 6, 6, 8, 12, 12, 21, 28, 28, 48, 48, 105},
                {59, 59, 59, 59, 67, 69, 73, 96, 106, 124, 162, 162, 162, 168, 211, 226},
                {75, 75, 102, 107, 115, 130, 130, 139, 151, 168, 176, 182, 182, 182, 229, 285},
            },
        [FORM_CAPITAL] =
            {
                {3, 3, 3, 3, 10, 17, 17, 33, 39, 42, 72, 87, 94, 106, 160, 222},
                {91, 91, 91, 91, 101, 102, 120, 120, 145, 145, 181, 192, 209, 302, 317, 332},
                {101, 101, 104, 104, 114, 123, 133, 152, 152, 175, 189, 189, 194, 260, 366, 381},
            },
        [FORM_UPPER] =
            {
                {0, 4, 20, 40, 47, 47, 47, 60, 95, 95, 110, 120, 140, 160, 180, 200},
                {62, 62, 72, 80, 101, 123, 127, 154, 154, 154, 170, 233, 250, 280, 300, 320},
                {100, 102, 135, 162, 177, 177, 177, 220, 220, 220, 230, 240, 250, 280, 310, 340},
            },
        [FORM_ACCENTED] =
            {
                {3, 10, 10, 10, 56, 56, 61, 89, 94, 120, 120, 148, 148, 172, 240, 255},
                {30, 60, 90, 111, 166, 170, 201, 201, 201, 279, 300, 320, 340, 360, 380, 400},
                {100, 140, 180, 180, 236, 265, 265, 265, 265, 274, 297, 347, 362, 377, 392, 407},
            },
};

static const struct {
    uint16_t after_blank[SCRIPT_LENGTHS], after_other[SCRIPT_LENGTHS];
    uint16_t beyond; /* for each character more */
} script_costs[] = {
    [KANJI] = {{20, 128, 192, 264, 325, 397, 454, 512}, {103, 178, 272, 345, 425, 475, 535, 580}, 68},
    [HANGUL] = {{2, 37, 117, 147, 207, 339, 342, 432}, {94, 179, 254, 342, 367, 403, 453, 503}, 60},
    [GREEK] = {{0, 1, 5, 32, 51, 51, 88, 99}, {92, 93, 138, 202, 229, 229, 295, 321}, 30},
    [SEMITIC] = {{3, 10, 14, 43, 88, 123, 123, 159}, {100, 132, 171, 210, 239, 279, 316, 358}, 30},
    [INDIC] = {{0, 7, 34, 89, 193, 237, 276, 302}, {48, 153, 222, 263, 304, 328, 371, 436}, 41},
};

/* The kind of each ASCII byte. */
static const uint8_t ascii[128] = {
    [0 ... 8] = MARK,      ['\t'] = BLANK,       ['\n'] = LINE_END,     [11 ... 12] = BLANK,   ['\r'] = LINE_END,
    [14 ... 31] = MARK,    [' '] = BLANK,        ['!' ... '/'] = MARK,  ['0' ... '9'] = DIGIT, [':' ... '@'] = MARK,
    ['A' ... 'Z'] = UPPER, ['[' ... '`'] = MARK, ['a' ... 'z'] = LOWER, ['{' ... 127] = MARK,
};

struct scan {
    const uint8_t *at, *end;
    enum kind kind; /* of the character at `at` */
    unsigned width; /* its bytes */
};

static enum kind token_kind_of_two(uint32_t point)
{
    if (point >= 0xC0 && point < 0x250)
        return ACCENTED;
    if (point >= 0x370 && point < 0x530)
        return GREEK;
    return point >= 0x590 ? SEMITIC : SYMBOL;
}

static enum kind token_kind_of_three(uint32_t point)
{
    if ((point >= 0x4E00 && point <= 0x9FFF) || (point >= 0x3400 && point < 0x4DC0) || point == 0x3005)
        return KANJI;
    if (point >= 0x3041 && point < 0x30A0)
        return HIRAGANA;
    if (point >= 0x30A0 && point < 0x3100)
        return KATAKANA;
    if ((point >= 0x3000 && point < 0x3040) || (point >= 0xFF00 && point <= 0xFF20))
        return WIDE_MARK;
    if (point >= 0xAC00 && point < 0xD7A4)
        return HANGUL;
    if (point >= 0xFF21 && point < 0xFFF0)
        return WIDE;
    if (point >= 0x2000 && point < 0x2070)
        return MARK;
    if (point < 0x900)
        return SEMITIC;
    if (point < 0x1000)
        return INDIC;
    return point >= 0x1E00 && point < 0x1F00 ? ACCENTED : SYMBOL;
}

static bool token_continues(const uint8_t *at)
{
    return (*at & 0xC0) == 0x80;
}

/* The kind and the width of a character outside ASCII. A byte that is not valid UTF-8 is a separate character. Overlong
 * forms are not rejected. */
static enum kind token_scan_far(const uint8_t *at, size_t left, unsigned *width)
{
    uint8_t first = *at;
    *width = 1;
    if (first < 0xC2 || first > 0xF4 || left < 2 || !token_continues(at + 1))
        return BROKEN;
    if (first < 0xE0) {
        *width = 2;
        return token_kind_of_two((first & 0x1Fu) << 6 | (at[1] & 0x3Fu));
    }
    if (left < 3 || !token_continues(at + 2))
        return BROKEN;
    if (first < 0xF0) {
        *width = 3;
        return token_kind_of_three((first & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu));
    }
    if (left < 4 || !token_continues(at + 3))
        return BROKEN;
    *width = 4;
    return FAR;
}

static inline void token_scan_look(struct scan *scan)
{
    if (scan->at == scan->end) {
        scan->kind = NOTHING;
        return;
    }
    scan->width = 1;
    scan->kind = *scan->at < 128 ? (enum kind)ascii[*scan->at]
                                 : token_scan_far(scan->at, (size_t)(scan->end - scan->at), &scan->width);
}

static inline void token_scan_step(struct scan *scan)
{
    scan->at += scan->width;
    token_scan_look(scan);
}

/* Skips a run of characters of the same kind; returns its length. */
static inline size_t token_scan_run(struct scan *scan)
{
    enum kind kind = scan->kind;
    size_t length = 0;
    do {
        token_scan_step(scan);
        length++;
    } while (scan->kind == kind);
    return length;
}

/* Skips a run, but does not count a character that repeats the character before it: lines of dashes are few tokens. */
static size_t token_scan_changes(struct scan *scan)
{
    enum kind kind = scan->kind;
    size_t changes = 1;
    for (;;) {
        const uint8_t *last = scan->at;
        unsigned width = scan->width;
        token_scan_step(scan);
        if (scan->kind != kind)
            return changes;
        changes += scan->width != width || memcmp(last, scan->at, width) != 0;
    }
}

/* ---- the cost of a run ------------------------------------------------------------------------------------------ */

static inline bool token_is_letter(enum kind kind)
{
    return kind == LOWER || kind == UPPER || kind == ACCENTED;
}

/* Fast path: most bytes of a typical text are lower-case ASCII letters. */
static inline size_t token_scan_lower(struct scan *scan)
{
    const uint8_t *from = scan->at;
    while (scan->at < scan->end && (uint8_t)(*scan->at - 'a') < 26)
        scan->at++;
    token_scan_look(scan);
    return (size_t)(scan->at - from);
}

/* A word is capitals and the small letters after them: "HTTPServer" is one word, "httpServer" is two. */
static int64_t token_cost_word(struct scan *scan, enum kind before)
{
    size_t capitals = scan->kind == UPPER ? token_scan_run(scan) : 0, length = capitals;
    bool accented = false;
    while (scan->kind == LOWER || scan->kind == ACCENTED) {
        accented |= scan->kind == ACCENTED;
        length += scan->kind == LOWER ? token_scan_lower(scan) : token_scan_run(scan);
    }
    assert(length);
    enum word_form form = accented                             ? FORM_ACCENTED
                          : capitals == 0                      ? FORM_LOWER
                          : capitals == 1 && length > capitals ? FORM_CAPITAL
                                                               : FORM_UPPER;
    const uint16_t *costs = word_costs[form][before == BLANK ? AFTER_BLANK : before == MARK ? AFTER_MARK : AFTER_OTHER];
    if (length <= WORD_LENGTHS)
        return costs[length - 1];
    return costs[WORD_LENGTHS - 1] + (int64_t)(length - WORD_LENGTHS) * WORD_BEYOND;
}

static int64_t token_cost_script(struct scan *scan, enum kind before)
{
    enum kind kind = scan->kind;
    size_t length = token_scan_run(scan);
    const uint16_t *costs = before == BLANK ? script_costs[kind].after_blank : script_costs[kind].after_other;
    if (length <= SCRIPT_LENGTHS)
        return costs[length - 1];
    return costs[SCRIPT_LENGTHS - 1] + (int64_t)(length - SCRIPT_LENGTHS) * script_costs[kind].beyond;
}

/* Kana tokens are looked up, without an average. A blank and a single kana after it are often one token. */
static int64_t token_cost_kana(struct scan *scan, enum kind before)
{
    enum kind kind = scan->kind;
    const uint8_t *from = scan->at;
    int64_t tokens = 0;
    for (; scan->kind == kind; token_scan_look(scan), tokens++)
        scan->at += kana_token(scan->at, (size_t)(scan->end - scan->at));
    return before == BLANK && scan->at - from == 3 ? 10 : tokens * TOKEN;
}

/* The last of several blanks joins the run after it; the others are one token. */
static int64_t token_cost_blanks(struct scan *scan)
{
    return token_scan_run(scan) > 1 && scan->kind != LINE_END && scan->kind != NOTHING ? 2 * TOKEN : TOKEN;
}

static int64_t token_cost_line_ends(struct scan *scan, enum kind before)
{
    size_t length = token_scan_run(scan);
    bool joined = before == MARK || before == WIDE_MARK || before == BLANK;
    return (joined ? 0 : TOKEN) + (length > 2 ? 20 : 0);
}

static int64_t token_cost_marks(struct scan *scan, enum kind before)
{
    size_t changes = token_scan_changes(scan);
    if (changes == 1)
        return before == BLANK ? 1 : TOKEN;
    int64_t first = before == BLANK ? 18 : TOKEN + 5;
    return first + (int64_t)(changes - 2) * (token_is_letter(scan->kind) ? 55 : 50);
}

/* The cost of a run that is neither blanks nor letters. */
static int64_t token_cost_other(struct scan *scan, enum kind before)
{
    switch (scan->kind) {
    case HIRAGANA:
    case KATAKANA:
        return token_cost_kana(scan, before);
    case DIGIT:
        return ((int64_t)token_scan_run(scan) + 2) / 3 * TOKEN;
    case LINE_END:
        return token_cost_line_ends(scan, before);
    case MARK:
        return token_cost_marks(scan, before);
    case WIDE_MARK:
        return TOKEN + ((int64_t)token_scan_changes(scan) - 1) * 20;
    case SYMBOL:
        return (int64_t)token_scan_changes(scan) * TOKEN;
    case WIDE:
        return (int64_t)token_scan_run(scan) * 130;
    case FAR:
        return (int64_t)token_scan_run(scan) * 140;
    case BROKEN:
        return (int64_t)token_scan_run(scan) * TOKEN;
    default:
        return token_cost_script(scan, before);
    }
}

void token_count_add(struct token_count *count, const char *text, size_t size)
{
    struct scan scan = {.at = (const uint8_t *)text, .end = (const uint8_t *)text + size};
    enum kind before = (enum kind)count->before;
    int64_t cost = 0;
    token_scan_look(&scan);
    while (scan.kind != NOTHING) {
        enum kind kind = scan.kind;
        cost += kind == BLANK           ? token_cost_blanks(&scan)
                : token_is_letter(kind) ? token_cost_word(&scan, before)
                                        : token_cost_other(&scan, before);
        before = kind;
    }
    count->hundredths += cost;
    count->before = (int)before;
}

int64_t token_count_whole(const struct token_count *count)
{
    if (count->hundredths > 0 && count->hundredths < TOKEN)
        return 1;
    return (count->hundredths + TOKEN / 2) / TOKEN;
}

int64_t tokens_of_text(const char *text, size_t size)
{
    struct token_count count = {0};
    token_count_add(&count, text, size);
    return token_count_whole(&count);
}

size_t tokens_fit(const char *text, size_t size, int64_t tokens)
{
    size_t fits = 0, over = size + 1;
    while (over - fits > 1) {
        size_t middle = fits + (over - fits) / 2;
        if (tokens_of_text(text, text_cut(text, size, middle)) <= tokens)
            fits = middle;
        else
            over = middle;
    }
    return text_cut(text, size, fits);
}
