/* Recognises a text that ends in the middle of a word: "Port 9090 is use" of a source that says "used". Some servers
 * report such an answer as complete. */
#include "cite_text.h"

#include "words/fold.h"

#include <string.h>

#define KEY_MAX     48  /* letters of the last word; a longer one is not looked at */
#define KANA_KEY    4   /* the last characters of a Japanese text */
#define TAIL_MAX    512 /* bytes of the sentence that are looked at */
#define WORDS_LEAST 3   /* fewer are a short answer, not a sentence */

struct cut_key {
    uint32_t codes[KEY_MAX];
    size_t length;
    const struct cut_within *within; /* a verb that the text ends in; NULL: the key is a word of letters */
};

static bool cut_is_letter(uint32_t code)
{
    return script_of(code) == SCRIPT_LETTER && code < 0x1100; /* Korean puts its particles behind words */
}

/* The characters within a verb, and those that may follow there: 削除さ|れる, 使用しま|す. A noun may end with the same
 * (高さ, お知らせ), but a source goes on with a particle. */
static const struct cut_within {
    const char *kana, *next;
} cut_within[] = {
    {"さ", "れせず"},   {"せ", "んるてたずらば"},
    {"っ", NULL},       {"ま", "すしせ"},
    {"ら", "れなずせ"}, {"れ", "るたてまなばず"},
    {"まし", "たてょ"}, {"し", "またてなよ"},
    {"き", "ま"},       {"ち", "ま"},
    {"び", "ま"},       {"み", "ま"},
    {"り", "ま"},       {"え", "ま"},
    {"け", "ま"},       {"げ", "ま"},
    {"べ", "ま"},       {"め", "ま"},
    {"を", NULL},
};

/* The row of the verb that `kana`, the end of a text, is within; NULL: a sentence may end there. */
static const struct cut_within *cut_within_verb(const uint32_t *kana, size_t count)
{
    for (size_t i = 0; i < sizeof cut_within / sizeof *cut_within; i++) {
        uint32_t codes[2] = {0};
        size_t length = strlen(cut_within[i].kana), letters = 0;
        for (size_t at = 0; at < length;)
            codes[letters++] = utf8_read(cut_within[i].kana, length, at, &at);
        if (letters <= count && memcmp(kana + count - letters, codes, letters * sizeof *codes) == 0)
            return &cut_within[i];
    }
    return NULL;
}

/* Whether the verb may go on with the character; of a row without any, with each. */
static bool cut_goes_on(const struct cut_within *within, uint32_t code)
{
    size_t length = within->next ? strlen(within->next) : 0;
    for (size_t at = 0; at < length;)
        if (utf8_read(within->next, length, at, &at) == code)
            return true;
    return !within->next && script_of(code) >= SCRIPT_HAN;
}

/* The end of the sentence that the sources have to have as a whole; length 0: it ends as it may. */
static struct cut_key cut_read_key(const char *sentence, size_t length)
{
    struct cut_key key = {.length = 0};
    uint32_t last[KANA_KEY] = {0};
    size_t from = length > TAIL_MAX ? length - TAIL_MAX : 0, words = 0;
    struct fold fold;
    struct folded c;
    bool within = false;
    while (from && ((unsigned char)sentence[from] & 0xC0) == 0x80)
        from--;
    fold_begin(&fold, sentence + from, length - from);
    while (fold_next(&fold, &c)) {
        bool letter = cut_is_letter(c.code);
        words += letter && !within;
        within = letter;
        if (letter && key.length < KEY_MAX)
            key.codes[key.length++] = c.code;
        else
            key.length = 0;
        memmove(last, last + 1, sizeof last - sizeof *last);
        last[KANA_KEY - 1] = c.code;
    }
    if (words < WORDS_LEAST)
        key.length = 0;
    key.within = last[0] ? cut_within_verb(last, KANA_KEY) : NULL;
    if (key.within) {
        memcpy(key.codes, last, sizeof last);
        key.length = KANA_KEY;
    }
    return key;
}

/* How a source has the key: as the beginning of something longer, or whole. */
struct cut_found {
    bool longer, whole;
};

static void cut_find_word(const struct passage *passage, const struct cut_key *key, struct cut_found *found)
{
    struct fold fold;
    struct folded c;
    size_t length = 0, same = 0;
    uint32_t first = 0, second = 0; /* behind the key */
    bool more = true;
    fold_begin(&fold, passage->text, passage->length);
    while (more && !found->whole) {
        more = fold_next(&fold, &c);
        if (more && cut_is_letter(c.code)) {
            same += same == length && same < key->length && key->codes[same] == c.code;
            first = length == key->length ? c.code : first;
            second = length == key->length + 1 ? c.code : second;
            length++;
            continue;
        }
        size_t more_letters = same == key->length ? length - same : 0;
        bool plural = (more_letters == 1 && first == 's') || (more_letters == 2 && first == 'e' && second == 's');
        found->whole |= same == key->length && (length == same || plural);
        found->longer |= more_letters > 0;
        length = same = 0;
    }
}

static void cut_find_kana(const struct passage *passage, const struct cut_key *key, struct cut_found *found)
{
    uint32_t last[KANA_KEY] = {0};
    struct fold fold;
    struct folded c;
    bool more = true;
    fold_begin(&fold, passage->text, passage->length);
    while (more && !found->whole) {
        more = fold_next(&fold, &c);
        if (memcmp(last, key->codes, sizeof last) == 0) {
            bool goes_on = more && cut_goes_on(key->within, c.code);
            found->longer |= goes_on;
            found->whole |= !goes_on;
        }
        memmove(last, last + 1, sizeof last - sizeof *last);
        last[KANA_KEY - 1] = more ? c.code : 0;
    }
}

bool cite_is_cut(const struct cite_sources *sources, const char *sentence, size_t length)
{
    struct cut_key key = cut_read_key(sentence, length);
    struct cut_found found = {0};
    for (size_t i = 0; key.length && i < sources->count && !found.whole; i++)
        (key.within ? cut_find_kana : cut_find_word)(&sources->passages[i], &key, &found);
    return found.longer && !found.whole;
}
