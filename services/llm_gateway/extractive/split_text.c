/* Positions in a question: quotations, words of lists, Hiragana. */
#include "split_priv.h"

#include "base/text.h"
#include "words/words.h"

#include <string.h>

#define JOINTS_MAX 64 /* conjunctions of a text that are looked at as those of a pair */

struct text text_joined(struct arena *arena, struct text before, struct text middle, struct text behind)
{
    return split_concat(arena, (const struct text[]){before, middle, behind, {NULL, 0}});
}

struct text split_concat(struct arena *arena, const struct text *list)
{
    size_t length = 0;
    for (size_t i = 0; list[i].bytes; i++)
        length += list[i].length;
    char *all = arena_alloc(arena, length + 1), *at = all;
    if (!all)
        return list[0];
    for (size_t i = 0; list[i].bytes; at += list[i++].length)
        memcpy(at, list[i].bytes, list[i].length);
    return (struct text){all, length};
}

/* ---- unsplittable names ------------------------------------------------------------------------------------------ */

static const struct {
    const char *open, *close;
} quotes[] = {{"「", "」"}, {"『", "』"}, {"“", "”"}, {"（", "）"}, {"《", "》"}, {"〈", "〉"},
              {"【", "】"}, {"„", "“"},   {"«", "»"}, {"\"", "\""}, {"`", "`"},   {"(", ")"}};

#define QUOTES (sizeof quotes / sizeof quotes[0])

/* The end of the quotation at `at`, or `at`. A mark that is never closed is searched for once. */
static size_t skip_quoted(struct text text, size_t at, bool unclosed[QUOTES])
{
    for (size_t i = 0; i < QUOTES; i++) {
        if (quotes[i].open[0] != text.bytes[at] || unclosed[i])
            continue;
        size_t open = strlen(quotes[i].open), close = strlen(quotes[i].close);
        if (text.length - at <= open || memcmp(text.bytes + at, quotes[i].open, open) != 0)
            continue;
        const char *found = memmem(text.bytes + at + open, text.length - at - open, quotes[i].close, close);
        if (found)
            return (size_t)(found - text.bytes) + close;
        unclosed[i] = true;
    }
    return at;
}

static void mark_pairs(struct marked *marked)
{
    static const char *const joints[] = {"と", " and ", " & ", " or ", "&", NULL};
    size_t length, left, right, from = 0, at, looked = 0;
    while (looked++ < JOINTS_MAX &&
           (at = split_find(marked, from, marked->text.length, joints, &length)) < marked->text.length) {
        if (split_is_pair(marked->text, at, at + length, &left, &right))
            memset(marked->quoted + at - left, MARK_PAIR, left + length + right);
        from = at + 1;
    }
}

void mark_quoted(struct marked *marked, struct text text)
{
    bool unclosed[QUOTES] = {false};
    text.length = text_cut(text.bytes, text.length, EXTRACT_ASKED_MAX);
    marked->text = text;
    memset(marked->quoted, 0, sizeof marked->quoted);
    for (size_t at = 0; at < text.length;) {
        size_t behind = skip_quoted(text, at, unclosed);
        memset(marked->quoted + at, MARK_QUOTE, behind - at);
        at = behind > at ? behind : at + 1;
    }
    mark_pairs(marked);
}

/* ---- words of lists ---------------------------------------------------------------------------------------------- */

size_t split_match(struct text text, size_t at, const char *word)
{
    size_t length = strlen(word);
    return at + length <= text.length && memcmp(text.bytes + at, word, length) == 0 ? length : 0;
}

size_t split_match_any(struct text text, size_t at, const char *const *list)
{
    for (; at < text.length && *list; list++)
        if (**list == text.bytes[at] && split_match(text, at, *list))
            return strlen(*list);
    return 0;
}

bool split_is_any(struct text text, const char *const *list)
{
    for (; *list; list++)
        if (text_equal(text, text_of(*list)))
            return true;
    return false;
}

size_t split_match_before(struct text text, size_t end, const char *const *list)
{
    for (; *list; list++) {
        size_t length = strlen(*list);
        if (length <= end && memcmp(text.bytes + end - length, *list, length) == 0)
            return length;
    }
    return 0;
}

size_t split_find(const struct marked *marked, size_t from, size_t to, const char *const *list, size_t *length)
{
    struct text text = {marked->text.bytes, to};
    for (size_t at = from; at < to; at++)
        if (!marked->quoted[at] && (*length = split_match_any(text, at, list)))
            return at;
    return to;
}

bool split_has(struct text text, const char *const *list)
{
    for (; *list; list++)
        if (memmem(text.bytes, text.length, *list, strlen(*list)))
            return true;
    return false;
}

size_t split_shared_end(struct text one, struct text other)
{
    size_t size = 0;
    while (size < one.length && size < other.length &&
           one.bytes[one.length - size - 1] == other.bytes[other.length - size - 1])
        size++;
    while (size && ((unsigned char)one.bytes[one.length - size] & 0xC0U) == 0x80U) /* begins within a character */
        size--;
    return size;
}

/* ---- characters -------------------------------------------------------------------------------------------------- */

size_t split_back(struct text text, size_t at)
{
    do
        at -= at > 0;
    while (at > 0 && (text.bytes[at] & 0xC0) == 0x80);
    return at;
}

bool split_is_hiragana(struct text text, size_t at)
{
    size_t end;
    return at < text.length && script_of(utf8_read(text.bytes, text.length, at, &end)) == SCRIPT_HIRAGANA;
}

bool split_hiragana_before(struct text text, size_t at)
{
    return at > 0 && split_is_hiragana(text, split_back(text, at));
}

struct text split_part(struct text text, size_t begin, size_t end)
{
    return (struct text){text.bytes + begin, end > begin ? end - begin : 0};
}

struct text split_trim(struct text text, const char *const *marks)
{
    static const char *const blanks[] = {" ", "\t", "\n", "\r", "　", NULL};
    size_t length;
    while ((length = split_match_any(text, 0, blanks)) || (length = split_match_any(text, 0, marks)))
        text = split_part(text, length, text.length);
    while ((length = split_match_before(text, text.length, blanks)) ||
           (length = split_match_before(text, text.length, marks)))
        text.length -= length;
    return text;
}
