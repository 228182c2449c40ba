/* Languages, countries and time zones in a text, by ICU's names in Japanese, in English and in their own language, by
 * common other words and by codes. Any thread; the tables are made once, at the first call or by places_load. */
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

/* Makes the tables: some tens of milliseconds that a server spends before its first call. False if memory is out. */
bool places_load(void);

/* In the text's order, at most `room`. A country's own code, "JP" or "jp", counts if it is the whole text. */
size_t places_find(enum place_kind kind, const char *text, size_t length, struct place *places, size_t room);

/* A known code in its canonical form: "JA" becomes "ja", "en-us" becomes "en-US", "jp" becomes "JP". */
bool place_language(const char *code, char *out, size_t room);
bool place_country(const char *code, char out[3]);

/* The name in a language; a zone's is its city. False if there is no name or no room. */
bool place_name(const char *code, const char *language, char *out, size_t room);

#endif
