/* Finds languages, countries and time zones in a text: by ICU's names in Japanese, in English and in their own
 * language, by other common words, and by codes. The functions may be called from any thread. The tables are made once,
 * at the first call or by places_load. */
#ifndef RENGA_WORDS_PLACES_H
#define RENGA_WORDS_PLACES_H

#include "words/characters.h"

enum place_kind {
    PLACE_LANGUAGE, /* "ja": ISO 639 */
    PLACE_COUNTRY,  /* "JP": ISO 3166 */
    PLACE_ZONE,     /* "Asia/Tokyo": IANA, canonical */
};

#define PLACE_CODE_MAX 64 /* bytes, the NUL included */

/* [begin, end) are bytes of the text. */
struct place {
    char code[PLACE_CODE_MAX];
    size_t begin, end;
    bool adjective; /* "Japanese" of a country */
};

/* Makes the tables, which takes some tens of milliseconds: a server calls this before its first request. False if out
 * of memory. */
bool places_load(void);

/* Finds at most `room` places, in text order, and returns their number. A country code like "JP" or "jp" counts if it
 * is the whole text. */
size_t places_find(enum place_kind kind, const char *text, size_t length, struct place *places, size_t room);

/* A known code in its canonical form: "JA" becomes "ja", "en-us" becomes "en-US", "jp" becomes "JP". */
bool place_language(const char *code, char *out, size_t room);
bool place_country(const char *code, char out[3]);

/* The name of a code in a language; for a zone, the name of its city. False if there is no name or no room. */
bool place_name(const char *code, const char *language, char *out, size_t room);

#endif
