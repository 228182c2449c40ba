/* Detects questions for a number by their question words: 何日, いくら, "how many" and "when". */
#include "words/quantity.h"

#include <string.h>

#include "words/fold.h"

static bool quantity_stands(const char *text, size_t length, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (memmem(text, length, words[i], strlen(words[i])) != NULL)
            return true;
    }
    return false;
}

/* True for 何 before a Han, Latin or Katakana character: 何日, 何 GB, 何パーセント. False for 何を and 何か, which do
 * not ask for a number. */
static bool quantity_counts(const char *text, size_t length)
{
    struct fold fold;
    struct folded c;
    bool after = false;
    fold_begin(&fold, text, length);
    while (fold_next(&fold, &c)) {
        int script = (int)script_of(c.code);
        if (after && (script == SCRIPT_HAN || script == SCRIPT_LETTER || script == SCRIPT_KATAKANA))
            return true;
        after = c.code == 0x4F55 || (after && script == SCRIPT_SPACE);
    }
    return false;
}

static bool quantity_is_letter(char c)
{
    return ((unsigned char)c | 0x20) >= 'a' && ((unsigned char)c | 0x20) <= 'z';
}

static size_t quantity_word_at(const char *text, size_t length, size_t at, char word[16])
{
    size_t count = 0;
    while (at + count < length && quantity_is_letter(text[at + count])) {
        if (count < 15)
            word[count] = (char)(text[at + count] | 0x20);
        count++;
    }
    word[count < 15 ? count : 15] = '\0';
    return count;
}

static bool quantity_asks_in_english(const char *text, size_t length)
{
    static const char *const how[] = {"many", "much",  "long", "often", "big",  "large", "far",    "fast",
                                      "soon", "early", "late", "old",   "high", "small", "quickly"};
    char word[16];
    bool after_how = false;
    for (size_t at = 0; at < length;) {
        size_t count = quantity_word_at(text, length, at, word);
        if (count > 0) {
            if (strcmp(word, "when") == 0)
                return true;
            for (size_t i = 0; after_how && i < sizeof(how) / sizeof(*how); i++) {
                if (strcmp(word, how[i]) == 0)
                    return true;
            }
            after_how = strcmp(word, "how") == 0;
        }
        at += count > 0 ? count : 1;
    }
    return false;
}

bool words_asks_number(const char *text, size_t length)
{
    static const char *const japanese[] = {"いくら",     "いくつ",     "いつ",       "どれくらい",
                                           "どれぐらい", "どのくらい", "どのぐらい", "どれほど"};
    return quantity_counts(text, length) ||
           quantity_stands(text, length, japanese, sizeof(japanese) / sizeof(*japanese)) ||
           quantity_asks_in_english(text, length);
}

/* Number words: small numbers, and words for frequency. */
static bool is_number_word(const char *word)
{
    static const char *const words[] = {"two",      "three",   "four",   "five",    "six",    "seven",
                                        "eight",    "nine",    "ten",    "eleven",  "twelve", "hundred",
                                        "thousand", "half",    "once",   "twice",   "every",  "daily",
                                        "weekly",   "monthly", "yearly", "nightly", "never",  "always"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

bool words_has_number(const char *text, size_t length)
{
    char word[16];
    for (size_t at = 0; at < length;) {
        size_t count = quantity_word_at(text, length, at, word);
        if ((text[at] >= '0' && text[at] <= '9') || (count > 0 && is_number_word(word)))
            return true;
        at += count > 0 ? count : 1;
    }
    static const char *const japanese[] = {"毎", "０", "１", "２", "３", "４", "５", "６", "７", "８", "９"};
    return quantity_stands(text, length, japanese, sizeof(japanese) / sizeof(*japanese));
}
