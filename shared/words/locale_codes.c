#include "words/locale_codes.h"

#include "words/zones.h"

#include <stdint.h>
#include <string.h>
#include <unicode/uloc.h>
#include <unicode/ustring.h>

#define TAG_MAX     64  /* bytes */
#define LOCALE_ROOM 160 /* bytes of a locale's name in ICU */

bool words_is_language_tag(const char *text)
{
    char locale[LOCALE_ROOM], again[LOCALE_ROOM];
    UErrorCode error = U_ZERO_ERROR;
    int32_t parsed = 0;
    size_t length = strnlen(text, TAG_MAX + 1);
    if (length < 2 || length > TAG_MAX)
        return false;
    uloc_forLanguageTag(text, locale, sizeof locale, &parsed, &error);
    if (U_FAILURE(error) || (size_t)parsed != length || !*uloc_getISO3Language(locale))
        return false;
    uloc_getLanguage(locale, again, sizeof again, &error);
    return U_SUCCESS(error) && *again;
}

static bool list_has(const char *const *list, const char *text)
{
    for (; *list; list++)
        if (strcmp(*list, text) == 0)
            return true;
    return false;
}

bool words_is_country_code(const char *text)
{
    return list_has(uloc_getISOCountries(), text);
}

bool words_is_time_zone(const char *text)
{
    char canonical[ZONE_NAME_MAX];
    return zone_canonical(text, canonical);
}
