/* The sequence of words of a bullet, without harmless differences. Private to playbook_similar.c and playbook_words.c.
 *
 * A word is a run of letters, digits and symbols, or a single Japanese character. These differences are harmless:
 * white space, the width of letters, quotation with backticks, a capital letter at the beginning of a sentence,
 * "the", contractions ("don't"), a few verbs at the beginning of a sentence, and polite endings of a Japanese
 * sentence. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_WORDS_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_WORDS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct playbook_word {
    const char *text; /* not terminated */
    uint32_t length;
    bool japanese;
};

struct playbook_words {
    struct playbook_word *words;
    size_t count;
};

/* False if the arena is exhausted. */
bool playbook_words_read(struct arena *arena, const char *text, struct playbook_words *words);

bool playbook_word_is(const struct playbook_word *word, const char *text);
bool playbook_word_is_same(const struct playbook_word *one, const struct playbook_word *other);

#endif
