#include "words/languages.h"

#include "words/fold.h"
#include "words/languages_priv.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 24 /* bytes; longer words are no function words */
#define ASKS     2  /* weight of a word that asks; of others 1 */
#define ENOUGH   2  /* weight of words that tell a language without a letter of its own */

/* The signs of each language in a text. */
struct language_signs {
    size_t han, kana, hangul, chinese, words;
    size_t weights[LANGUAGES];
    bool letters[LANGUAGES]; /* that the others do not use */
};

static const char *const tags[LANGUAGES] = {
    [LANGUAGE_EN] = "en", [LANGUAGE_JA] = "ja", [LANGUAGE_ZH] = "zh", [LANGUAGE_KO] = "ko",
    [LANGUAGE_DE] = "de", [LANGUAGE_FR] = "fr", [LANGUAGE_ES] = "es",
};

/* In the normal form, if they are small letters. */
static const char *const own_letters[LANGUAGES] = {
    [LANGUAGE_DE] = "äöü",
    [LANGUAGE_FR] = "çèêàùâîôûëïœ",
    [LANGUAGE_ES] = "ñáíóú",
};

/* ---- words ------------------------------------------------------------------------------------------------------- */

static size_t word_weight(const char *words, const char *word, size_t length)
{
    char key[WORD_MAX + 3];
    memcpy(key + 1, word, length);
    key[length + 1] = ' ';
    for (int asks = 0; asks < 2; asks++) {
        key[0] = asks ? '?' : ' ';
        key[length + 2] = '\0';
        if (strstr(words, key))
            return asks ? ASKS : 1;
    }
    return 0;
}

static bool has_letter_of(const char *letters, const char *word, size_t length)
{
    for (size_t at = 0, end; at < length; at = end) {
        utf8_read(word, length, at, &end);
        if (end - at > 1 && memmem(letters, strlen(letters), word + at, end - at))
            return true;
    }
    return false;
}

static void languages_count_word(struct language_signs *signs, const char *word, size_t length)
{
    signs->words += length > 0;
    for (int i = 0; i < LANGUAGES && length > 0 && length <= WORD_MAX; i++) {
        size_t weight = languages_words[i] ? word_weight(languages_words[i], word, length) : 0;
        bool own = !weight && own_letters[i] && has_letter_of(own_letters[i], word, length);
        signs->weights[i] += own ? 1 : weight;
        signs->letters[i] |= own;
    }
}

/* ---- characters -------------------------------------------------------------------------------------------------- */

static int compare_characters(const void *one, const void *other)
{
    return memcmp(one, other, 3);
}

static bool is_chinese(uint32_t code)
{
    char text[4];
    return utf8_write(text, code) == 3 &&
           bsearch(text, languages_chinese, languages_chinese_count, 3, compare_characters) != NULL;
}

static bool is_hangul(uint32_t code)
{
    return (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0x1100 && code <= 0x11FF) ||
           (code >= 0x3131 && code <= 0x318E);
}

/* The mark that closes a quotation, or 0. An apostrophe is no quotation mark. */
static uint32_t languages_closing(uint32_t code)
{
    static const uint32_t marks[][2] = {{'"', '"'},       {'`', '`'},       {0x300C, 0x300D}, {0x300E, 0x300F},
                                        {0x300A, 0x300B}, {0x201C, 0x201D}, {0xAB, 0xBB},     {0x201E, 0x201C}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i][0] == code)
            return marks[i][1];
    return 0;
}

/* False: a quotation never ends. */
static bool count_signs(struct language_signs *signs, const char *text, size_t length, bool with_quotes)
{
    struct fold fold;
    struct folded c;
    char word[WORD_MAX + 4];
    size_t letters = 0;
    uint32_t until = 0;
    fold_begin(&fold, text, length);
    while (fold_next(&fold, &c)) {
        if (until) {
            until = c.code == until ? 0 : until;
            continue;
        }
        uint32_t code = c.code;
        enum script script = script_of(code);
        signs->hangul += is_hangul(code);
        signs->kana += script == SCRIPT_HIRAGANA || script == SCRIPT_KATAKANA;
        if (script == SCRIPT_HAN) {
            signs->han++;
            signs->chinese += is_chinese(code);
        }
        if (code == 0xBF || code == 0xA1) /* ¿ ¡ */
            signs->weights[LANGUAGE_ES] += ENOUGH + 1;
        if (script_of(c.code) == SCRIPT_LETTER && !is_hangul(c.code)) {
            if (letters <= WORD_MAX)
                letters += utf8_write(word + letters, c.code);
            continue;
        }
        languages_count_word(signs, word, letters);
        letters = 0;
        until = with_quotes ? 0 : languages_closing(c.code);
    }
    languages_count_word(signs, word, letters);
    return !until;
}

/* ---- the language ------------------------------------------------------------------------------------------------ */

static enum language of_letters(const struct language_signs *signs)
{
    enum language best = LANGUAGE_EN;
    for (int i = 0; i < LANGUAGES; i++)
        if (signs->weights[i] > signs->weights[best] && (signs->weights[i] >= ENOUGH || signs->letters[i]))
            best = (enum language)i;
    return best;
}

enum language language_of(const char *text, size_t length)
{
    struct language_signs signs = {0};
    length = length < LANGUAGE_LOOKED_MAX ? length : LANGUAGE_LOOKED_MAX;
    bool ended = count_signs(&signs, text, length, false);
    if (!ended || !(signs.han + signs.kana + signs.hangul + signs.words)) {
        signs = (struct language_signs){0};
        count_signs(&signs, text, length, true);
    }
    size_t characters = signs.han + signs.kana + signs.hangul;
    if (!characters || (signs.weights[of_letters(&signs)] && 2 * signs.words >= characters))
        return of_letters(&signs);
    if (2 * signs.hangul > characters)
        return LANGUAGE_KO;
    return signs.chinese && 8 * signs.kana <= signs.han ? LANGUAGE_ZH : LANGUAGE_JA;
}

const char *language_tag(enum language language)
{
    return tags[language];
}

enum language language_tagged(const char *tag)
{
    for (int i = 0; i < LANGUAGES; i++)
        if (strncmp(tag, tags[i], 2) == 0 && (!tag[2] || tag[2] == '-'))
            return (enum language)i;
    return LANGUAGE_EN;
}
