/* Which of many names stand in a text: labels, choices, countries, cities.
 *
 * Compared are normal forms (words.h) with Hiragana for Katakana and without blanks, hyphens, dots and apostrophes,
 * so that "E-mail", "e mail" and "ｅｍａｉｌ" are one name. A name is found as whole words only: not "art" in "start",
 * not 京都 in 東京都, not いか in すいか. The longest name at a place wins, and the reading goes on behind it.
 * A name of more than NAMES_LENGTH_MAX characters is found nowhere. Finding is linear in the text. */
#ifndef RENGA_WORDS_NAMES_H
#define RENGA_WORDS_NAMES_H

#include "words/characters.h"

#define NAMES_LENGTH_MAX 64 /* characters, without those left out */

struct names;

struct name {
    const char *text;
    uint32_t tag; /* the caller's */
};

/* All its memory is the arena's, the texts need not stay; it never changes and may be used by many threads. NULL if
 * the arena is out. */
const struct names *names_create(struct arena *arena, const struct name *list, size_t count);

/* [first, end) are characters of the text. Tags that share a name are found at the same place, in the list's order. */
struct name_found {
    uint32_t tag;
    size_t first, end;
};

/* At most `room`, in the text's order. SIZE_MAX if the arena is out. */
size_t names_find(const struct names *names, const struct characters *text, struct arena *arena,
                  struct name_found *found, size_t room);

/* Whether both are the same name. False also if the arena is out. */
bool names_equal(struct arena *arena, const char *one, const char *other);

#endif
