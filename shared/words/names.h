/* Finds the names from a list that occur in a text: labels, choices, countries, cities.
 *
 * Names are compared in their normal form (words.h), with Hiragana for Katakana and without blanks, hyphens, dots and
 * apostrophes. So "E-mail", "e mail" and "ｅｍａｉｌ" are the same name. A name is found as whole words only: not "art"
 * in "start", not 京都 in 東京都, not いか in すいか. The longest name at a position wins, and the search continues
 * after it. A name of more than NAMES_LENGTH_MAX characters is never found. The search is linear in the text. */
#ifndef RENGA_WORDS_NAMES_H
#define RENGA_WORDS_NAMES_H

#include "words/characters.h"

#define NAMES_LENGTH_MAX 64 /* characters, not counting the ignored ones */

struct names;

struct name {
    const char *text;
    uint32_t tag; /* the caller's */
};

/* Allocates from the arena; the texts may be freed afterwards. The result is immutable and may be shared by threads.
 * NULL if the arena is out of memory. */
const struct names *names_create(struct arena *arena, const struct name *list, size_t count);

/* [first, end) are characters of the text. Tags that share a name are found at the same place, in the list's order. */
struct name_found {
    uint32_t tag;
    size_t first, end;
};

/* Finds at most `room` names, in text order, and returns their number. SIZE_MAX if the arena is out of memory. */
size_t names_find(const struct names *names, const struct characters *text, struct arena *arena,
                  struct name_found *found, size_t room);

/* Whether both are the same name. Also false if the arena is out of memory. */
bool names_equal(struct arena *arena, const char *one, const char *other);

#endif
