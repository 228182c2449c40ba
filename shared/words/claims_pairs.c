/* "450 in 2022 and 620 in 2023" does not support "620 in 2022": each number belongs to the year and to the name of its
 * own part. Parts end at commas, and at words like "and", "to", から. A number of the sentence is taken from another
 * part if its part of the quote has another year, or another name, and the part with the year or the name of the
 * sentence has another number with the same unit; or if its part of the quote has only the opposite of a word of the
 * sentence. "Respectively" joins parts across; such a quote is not compared. */
#include "words/claims_priv.h"

#include "words/figures.h"
#include "words/fold.h"

#include <string.h>
#include <strings.h>

#define PARTS_MAX    16
#define PART_FIGURES 8 /* of a part */
#define PART_NAMES   8
#define NAME_LEAST   3 /* letters of a Latin name */
#define KANA_LEAST   3

struct pair_part {
    struct claim text;
    struct figure figures[PART_FIGURES];
    size_t figure_count;
    struct claim names[PART_NAMES];
    size_t name_count;
};

struct pair_parts {
    struct pair_part parts[PARTS_MAX];
    size_t count;
};

static bool pairs_begin(struct claim text, size_t at, const char *word)
{
    size_t length = strlen(word);
    return text.length - at >= length && strncasecmp(text.text + at, word, length) == 0;
}

/* The length in bytes of the mark or word at `at` that ends a part, or 0. */
static size_t pairs_mark(struct claim text, size_t at)
{
    static const char *const marks[] = {"、",    "。",        "；",   "（",     "）",     " and ",   " while ",
                                        " but ", " whereas ", " to ", " from ", " than ", " after ", " before ",
                                        "から",  "に対し",    "一方", "(",      ")",      ";"};
    char c = text.text[at];
    bool inside = at && at + 1 < text.length && strchr("0123456789", text.text[at - 1]) &&
                  strchr("0123456789", text.text[at + 1]);
    if (c == ',' || c == '.')
        return inside ? 0 : 1;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (pairs_begin(text, at, marks[i]))
            return strlen(marks[i]);
    return 0;
}

static bool pairs_has_name(const struct pair_part *part, struct claim name)
{
    for (size_t i = 0; i < part->name_count; i++)
        if (part->names[i].length == name.length && memcmp(part->names[i].text, name.text, name.length) == 0)
            return true;
    return false;
}

/* Capitalised words and Katakana words. The first word of a text may be capitalised for its place. */
static void pairs_read_names(struct pair_part *part, bool first)
{
    struct claim text = part->text;
    enum script script = SCRIPT_NONE;
    size_t begin = 0, characters = 0, end;
    for (size_t at = 0; at <= text.length; at = end) {
        uint32_t code = at < text.length ? utf8_read(text.text, text.length, at, &end) : 0;
        enum script next = code >= 'A' && code <= 'Z' ? SCRIPT_LETTER
                           : code == 0x30FC           ? SCRIPT_KATAKANA
                           : code                     ? script_of(code)
                                                      : SCRIPT_NONE;
        end = at < text.length ? end : at + 1;
        if (next == script && characters) {
            characters++;
            continue;
        }
        if (characters) {
            struct claim name = (struct claim){text.text + begin, at - begin};
            bool latin = script == SCRIPT_LETTER && characters >= NAME_LEAST && !first && name.text[0] >= 'A' &&
                         name.text[0] <= 'Z';
            bool kana = script == SCRIPT_KATAKANA && characters >= KANA_LEAST;
            if ((latin || kana) && part->name_count < PART_NAMES)
                part->names[part->name_count++] = name;
        }
        first &= script != SCRIPT_LETTER;
        script = next;
        begin = at;
        characters = 1;
    }
}

static void pairs_add(struct pair_parts *parts, struct claim text, bool first)
{
    struct pair_part *part = &parts->parts[parts->count];
    if (!text.length || parts->count == PARTS_MAX)
        return;
    *part = (struct pair_part){.text = text};
    struct figure_letters letters;
    struct figure figure;
    size_t at = 0;
    figure_letters_read(part->text.text, part->text.length, &letters);
    while (part->figure_count < PART_FIGURES && figure_next(&letters, &at, &figure))
        part->figures[part->figure_count++] = figure;
    pairs_read_names(part, first);
    parts->count += part->figure_count != 0;
}

static void pairs_read(struct claim text, struct pair_parts *parts)
{
    size_t begin = 0, mark;
    bool first = true;
    parts->count = 0;
    for (size_t at = 0; at < text.length; at += mark ? mark : 1) {
        mark = pairs_mark(text, at);
        if (!mark)
            continue;
        bool stop = text.text[at] == '.' || pairs_begin(text, at, "。");
        pairs_add(parts, (struct claim){text.text + begin, at - begin}, first);
        first = stop;
        begin = at + mark;
    }
    pairs_add(parts, (struct claim){text.text + begin, text.length - begin}, first);
}

static bool pairs_are_joined_across(struct claim quote)
{
    return memmem(quote.text, quote.length, "respectively", 12) || memmem(quote.text, quote.length, "それぞれ", 12) ||
           memmem(quote.text, quote.length, "順に", 6);
}

static const struct figure *pairs_year(const struct pair_part *part)
{
    for (size_t i = 0; i < part->figure_count; i++)
        if (part->figures[i].year)
            return &part->figures[i];
    return NULL;
}

static bool pairs_has_figure(const struct pair_part *part, const struct figure *figure)
{
    for (size_t i = 0; i < part->figure_count; i++)
        if (figure_same_value(&part->figures[i], figure) && figure_same_unit(&part->figures[i], figure))
            return true;
    return false;
}

/* Whether the part has a number of the same kind with another value. */
static bool pairs_has_another(const struct pair_part *part, const struct figure *figure)
{
    for (size_t i = 0; i < part->figure_count; i++)
        if (!part->figures[i].year && figure_same_unit(&part->figures[i], figure) &&
            !figure_same_value(&part->figures[i], figure))
            return true;
    return false;
}

/* `mine` is the part of the quote with the number, `other` another part with a number of the same kind. */
static bool pairs_is_taken(const struct pair_part *said, const struct pair_part *mine, const struct pair_part *other)
{
    const struct figure *year = pairs_year(said), *my_year = pairs_year(mine);
    if (year && my_year && !pairs_has_figure(mine, year) && pairs_has_figure(other, year))
        return true;
    for (size_t i = 0; i < said->name_count; i++) {
        struct claim name = said->names[i];
        if (pairs_has_name(mine, name) || !pairs_has_name(other, name))
            continue;
        for (size_t k = 0; k < mine->name_count; k++)
            if (!pairs_has_name(said, mine->names[k]) && !pairs_has_name(other, mine->names[k]))
                return true;
    }
    return false;
}

static bool pairs_agree_in(const struct pair_part *said, const struct figure *figure, const struct pair_parts *quoted)
{
    const struct pair_part *mine = NULL;
    for (size_t i = 0; i < quoted->count; i++) {
        if (!pairs_has_figure(&quoted->parts[i], figure))
            continue;
        if (mine)
            return true; /* in several parts */
        mine = &quoted->parts[i];
    }
    if (mine && !claims_opposites_agree(said->text, mine->text))
        return false; /* a profit in one part, a loss in another */
    for (size_t i = 0; mine && i < quoted->count; i++)
        if (&quoted->parts[i] != mine && pairs_has_another(&quoted->parts[i], figure) &&
            pairs_is_taken(said, mine, &quoted->parts[i]))
            return false;
    return true;
}

bool claims_pairs_agree(struct claim sentence, struct claim quote)
{
    struct pair_parts said, quoted;
    pairs_read(quote, &quoted);
    if (quoted.count < 2 || pairs_are_joined_across(quote))
        return true;
    pairs_read(sentence, &said);
    for (size_t i = 0; i < said.count; i++)
        for (size_t k = 0; k < said.parts[i].figure_count; k++)
            if (!said.parts[i].figures[k].year && !pairs_agree_in(&said.parts[i], &said.parts[i].figures[k], &quoted))
                return false;
    return true;
}
