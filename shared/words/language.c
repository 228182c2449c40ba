#include "words/words.h"

#define LOOKED_AT 4096 /* bytes of a text that are enough to detect its language */

struct language_counts {
    size_t japanese; /* characters */
    size_t words, function_words;
};

/* The closing quotation mark for the opening mark `code`, or 0. A straight apostrophe is not a quotation mark. */
static uint32_t language_closing(uint32_t code)
{
    switch (code) {
    case '"':
    case '`':
        return code;
    case 0x300C: /* 「 */
    case 0x300E: /* 『 */
        return code + 1;
    default:
        return 0;
    }
}

static void language_count_word(struct language_counts *counts, const char *word, size_t length)
{
    if (length == 0)
        return;
    counts->words++;
    counts->function_words += length > 1 && words_function_word(word, length); /* a single letter may be a name */
}

/* If a quotation is never closed, the whole text is counted again with its quotations. */
static struct language_counts language_count(const char *text, size_t length, bool with_quotes)
{
    struct language_counts counts = {0};
    struct fold fold;
    struct folded c;
    char word[TERM_CHARACTERS_MAX];
    size_t letters = 0;
    uint32_t until = 0;
    fold_begin(&fold, text, length);
    while (fold_next(&fold, &c)) {
        if (until != 0) {
            until = c.code == until ? 0 : until;
            continue;
        }
        enum script script = script_of(c.code);
        if ((script == SCRIPT_LETTER || c.code == '\'') && letters + 4 < sizeof(word)) {
            letters += utf8_write(word + letters, c.code);
            continue;
        }
        language_count_word(&counts, word, letters);
        letters = 0;
        counts.japanese += script >= SCRIPT_HAN;
        until = with_quotes ? 0 : language_closing(c.code);
    }
    language_count_word(&counts, word, letters);
    return until == 0 ? counts : language_count(text, length, true);
}

const char *words_language(const char *text, size_t length)
{
    length = length < LOOKED_AT ? length : LOOKED_AT;
    struct language_counts counts = language_count(text, length, false);
    if (counts.japanese == 0 && counts.words == 0)
        counts = language_count(text, length, true);
    if (counts.japanese == 0)
        return "en";
    return counts.function_words > 0 && 2 * counts.words >= counts.japanese ? "en" : "ja";
}
