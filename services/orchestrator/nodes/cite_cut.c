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
    bool kana;
};

static bool cut_is_letter(uint32_t code)
{
    return script_of(code) == SCRIPT_LETTER && code < 0x1100; /* Korean puts its particles behind words */
}

/* Verbs and sentences end with these: to stop there is no sign of a cut. */
static bool cut_may_end_with(uint32_t kana)
{
    static const uint32_t ends[] = {0x3044, 0x3046, 0x304B, 0x304F, 0x3050, 0x3059, 0x305F, 0x3060,
                                    0x3064, 0x306D, 0x306C, 0x3076, 0x3080, 0x3088, 0x308B, 0x3093};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i] == kana)
            return true;
    return false;
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
    if (last[0] && script_of(last[KANA_KEY - 1]) == SCRIPT_HIRAGANA && !cut_may_end_with(last[KANA_KEY - 1])) {
        memcpy(key.codes, last, sizeof last);
        key.length = KANA_KEY;
        key.kana = true;
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
    bool more = true;
    fold_begin(&fold, passage->text, passage->length);
    while (more && !found->whole) {
        more = fold_next(&fold, &c);
        if (more && cut_is_letter(c.code)) {
            same += same == length && same < key->length && key->codes[same] == c.code;
            length++;
            continue;
        }
        found->whole |= same == key->length && length == same;
        found->longer |= same == key->length && length > same;
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
            bool goes_on = more && script_of(c.code) == SCRIPT_HIRAGANA;
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
        (key.kana ? cut_find_kana : cut_find_word)(&sources->passages[i], &key, &found);
    return found.longer && !found.whole;
}
