/* Compares a sentence with a nearly equal sentence of its source, word by word. Finds the words of the sentence that
 * stand in place of other words: "Torrance" in "The bridge was designed by Torrance", if the source says "by Marwick".
 *
 * Words are Latin and other letters between marks, numbers, and Katakana words; Han and Hiragana characters are
 * compared one by one. Both texts are borrowed. The work is linear in their lengths, plus at most ALIGNED_MIDDLE²
 * comparisons for the part between their equal ends. */
#ifndef RENGA_WORDS_ALIGNED_H
#define RENGA_WORDS_ALIGNED_H

#include "words/claims.h"
#include "words/fold.h"
#include "words/sentences.h"

#include <stdint.h>

#define ALIGNED_WORDS  512 /* of a text; of a longer one only the first are compared */
#define ALIGNED_MIDDLE 160 /* words between the equal ends; with more, the texts are not aligned */

/* `mark`: behind a comma, a bracket or another mark. `stop_word`: a function word or Hiragana. `name`: by its spelling.
 */
struct aligned_word {
    uint64_t hash;
    struct span span;
    enum script script;
    bool stop_word, name, mark;
};

struct aligned_text {
    struct claim text;
    struct aligned_word words[ALIGNED_WORDS];
    size_t count;
};

void aligned_read(struct claim text, struct aligned_text *out);

/* How a sentence differs from a sentence of its source. */
enum aligned_result {
    ALIGNED_APART, /* too different: no word can be compared */
    ALIGNED_SAME,  /* nearly the same, and no word stands in place of another */
    ALIGNED_OTHER, /* nearly the same, but `word` stands in place of another */
};

/* `known` is the text around the source, with its heading: a word may replace a pronoun if it stands there. `word` is a
 * span of the sentence. */
enum aligned_result aligned_compare(struct claim sentence, struct claim source, struct claim known,
                                    struct claim heading, struct span *word);

/* Whether `words` stand in the text, as equal words next to each other. */
bool aligned_stand(const struct aligned_text *text, const struct aligned_word *words, size_t count);

#endif
