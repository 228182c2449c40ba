#include "words/stop_words.h"

#include <stdlib.h>
#include <string.h>

#include "words/fold.h"
#include "words/words.h"

#define LONG_VOWEL 0x30FC /* counts as Hiragana next to Hiragana */

/* Sorted, for bsearch; a test checks the order. */
static const char *const function_words[] = {
    "a",       "about",  "above",   "after",   "again",  "all",     "also",    "am",     "an",     "and",    "any",
    "are",     "aren't", "as",      "at",      "be",     "because", "been",    "before", "being",  "below",  "between",
    "both",    "but",    "by",      "can",     "can't",  "cannot",  "could",   "did",    "didn't", "do",     "does",
    "doesn't", "doing",  "don't",   "down",    "during", "each",    "either",  "else",   "ever",   "every",  "few",
    "for",     "from",   "further", "give",    "had",    "happen",  "happens", "has",    "have",   "having", "he",
    "her",     "here",   "hers",    "him",     "his",    "how",     "i",       "i'm",    "if",     "in",     "into",
    "is",      "isn't",  "it",      "it's",    "its",    "just",    "let",     "long",   "many",   "may",    "me",
    "might",   "more",   "most",    "much",    "must",   "my",      "neither", "no",     "nor",    "not",    "of",
    "off",     "often",  "on",      "once",    "only",   "or",      "other",   "our",    "out",    "over",   "own",
    "please",  "same",   "shall",   "she",     "should", "so",      "some",    "such",   "tell",   "than",   "that",
    "that's",  "the",    "their",   "theirs",  "them",   "then",    "there",   "these",  "they",   "this",   "those",
    "through", "to",     "too",     "under",   "until",  "up",      "us",      "very",   "was",    "wasn't", "we",
    "were",    "what",   "what's",  "when",    "where",  "whether", "which",   "while",  "who",    "whom",   "whose",
    "why",     "will",   "with",    "without", "won't",  "would",   "you",     "your",   "yours",
};

static int compare_words(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

bool words_function_word(const char *word, size_t length)
{
    char key[10];
    if (length >= sizeof(key))
        return false;
    memcpy(key, word, length);
    key[length] = '\0';
    return bsearch(key, function_words, sizeof(function_words) / sizeof(*function_words), sizeof(*function_words),
                   compare_words) != NULL;
}

static bool particle(uint32_t code)
{
    switch (code) {
    case 0x304B: /* か */
    case 0x304C: /* が */
    case 0x3067: /* で */
    case 0x3068: /* と */
    case 0x306A: /* な */
    case 0x306B: /* に */
    case 0x306E: /* の */
    case 0x306F: /* は */
    case 0x3078: /* へ */
    case 0x3082: /* も */
    case 0x3084: /* や */
    case 0x3092: /* を */
        return true;
    default:
        return false;
    }
}

/* 何, 誰; 教え(て), 下さ(い), 場合, 知り(たい): common to questions about all topics. */
static bool asking(uint32_t first, uint32_t second)
{
    return first == 0x4F55 || first == 0x8AB0 || (first == 0x6559 && second == 0x3048) ||
           (first == 0x4E0B && second == 0x3055) || (first == 0x5834 && second == 0x5408) ||
           (first == 0x77E5 && second == 0x308A);
}

bool stop_pair(uint32_t first, uint32_t second)
{
    bool first_hiragana = script_of(first) == SCRIPT_HIRAGANA, second_hiragana = script_of(second) == SCRIPT_HIRAGANA;
    if ((first_hiragana || first == LONG_VOWEL) && (second_hiragana || second == LONG_VOWEL))
        return true;
    return (first_hiragana && particle(first)) || (second_hiragana && particle(second)) || asking(first, second);
}

bool stop_character(uint32_t code)
{
    return script_of(code) == SCRIPT_HIRAGANA || asking(code, 0);
}
