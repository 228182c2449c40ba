/* Private to places*.c: words for places beside ICU's own names. Names are separated by '|'. */
#ifndef RENGA_WORDS_PLACES_PRIV_H
#define RENGA_WORDS_PLACES_PRIV_H

struct place_words {
    const char *code, *names;
};

/* Each ends with an empty row. */
extern const struct place_words language_words[], country_words[], country_adjectives[], zone_words[];

/* ICU names that usually have a different meaning: "polish", "Ido". */
extern const char *const places_left_out[];

#endif
