#include "words/slips.h"

#include "words/fold.h"

#include <string.h>

#define LATIN_LEAST    5 /* letters */
#define LATIN_OTHER    6 /* ... for a letter that is missing, added, or another one; of Katakana all count */
#define KANA_LEAST     4
#define ENDING_LEAST   4 /* letters before an ending that is taken off */
#define PROLONGED_SIGN 0x30FC

/* The letters that both begin with. */
static size_t slip_same(const struct slip_word *one, const struct slip_word *other)
{
    size_t same = 0;
    while (same < one->length && same < other->length && one->codes[same] == other->codes[same])
        same++;
    return same;
}

static bool slip_ends_alike(const struct slip_word *one, size_t from, const struct slip_word *other, size_t at)
{
    return one->length - from == other->length - at &&
           memcmp(one->codes + from, other->codes + at, (one->length - from) * sizeof *one->codes) == 0;
}

/* Whether the letter at `at`, which the other word lacks, is the one before it; a long vowel is easily forgotten. */
static bool slip_is_doubled(const struct slip_word *longer, size_t at)
{
    return (at && longer->codes[at] == longer->codes[at - 1]) ||
           (longer->katakana && longer->codes[at] == PROLONGED_SIGN);
}

static enum slip_kind slip_in_length(const struct slip_word *longer, const struct slip_word *shorter, size_t at)
{
    if (!at || !slip_ends_alike(longer, at + 1, shorter, at))
        return SLIP_NONE;
    return slip_is_doubled(longer, at) ? SLIP_USUAL : SLIP_OTHER;
}

static enum slip_kind slip_in_letters(const struct slip_word *written, const struct slip_word *word, size_t at)
{
    if (at + 1 >= written->length) /* the last letter makes another form of the word */
        return SLIP_NONE;
    if (written->codes[at] == word->codes[at + 1] && written->codes[at + 1] == word->codes[at] &&
        slip_ends_alike(written, at + 2, word, at + 2))
        return SLIP_USUAL;
    return at && slip_ends_alike(written, at + 1, word, at + 1) ? SLIP_OTHER : SLIP_NONE;
}

enum slip_kind slip_of(const struct slip_word *written, const struct slip_word *word)
{
    size_t at = slip_same(written, word);
    enum slip_kind kind = SLIP_NONE;
    if (written->katakana != word->katakana || word->length > SLIP_CODES_MAX)
        return SLIP_NONE;
    if (written->length == word->length + 1)
        kind = slip_in_length(written, word, at);
    else if (word->length == written->length + 1)
        kind = slip_in_length(word, written, at);
    else if (word->length == written->length && at < word->length)
        kind = slip_in_letters(written, word, at);
    if (kind == SLIP_OTHER && !written->katakana && written->length < LATIN_OTHER)
        return SLIP_NONE;
    return kind;
}

/* Whether the word, or the word before one of these endings, is listed. */
static bool slip_is_form(char *word, size_t length)
{
    static const char *const endings[] = {"s", "es", "d", "ed", "ing", "ly"};
    if (slip_is_word(word))
        return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (length < ending + ENDING_LEAST || strcmp(word + length - ending, endings[i]) != 0)
            continue;
        word[length - ending] = '\0';
        bool listed = slip_is_word(word);
        word[length - ending] = *endings[i];
        if (listed)
            return true;
    }
    return false;
}

bool slip_is_possible(const struct slip_word *written)
{
    char word[SLIP_CODES_MAX * 4 + 1];
    size_t length = 0;
    if (written->length > SLIP_CODES_MAX || written->length < (written->katakana ? KANA_LEAST : LATIN_LEAST))
        return false;
    for (size_t i = 0; i < written->length; i++)
        length += utf8_write(word + length, written->codes[i]);
    word[length] = '\0';
    return !slip_is_form(word, length);
}
