/* Checks codes of languages, countries and time zones with ICU. The functions may be called from any thread. */
#ifndef RENGA_WORDS_LOCALE_CODES_H
#define RENGA_WORDS_LOCALE_CODES_H

#include <stdbool.h>

/* A well-formed BCP 47 tag with a language of ISO 639: "ja", "pt-BR". At most 64 bytes. */
bool words_is_language_tag(const char *text);

/* An ISO 3166-1 alpha-2 code in capital letters: "JP". */
bool words_is_country_code(const char *text);

/* The name of a zone in the IANA time zone database: "Asia/Tokyo". Offsets like "GMT+9" are refused. */
bool words_is_time_zone(const char *text);

#endif
