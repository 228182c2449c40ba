#include "words/places.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unicode/ucal.h>
#include <unicode/uldnames.h>
#include <unicode/uloc.h>
#include <unicode/ustring.h>

#include "words/names.h"
#include "words/places_priv.h"
#include "words/zones.h"

#define KINDS          3
#define NAMES_MAX      4096 /* of a kind */
#define CODES_MAX      1024
#define TABLE_BYTES    ((size_t)16 << 20)
#define NAME_BYTES     256
#define FOUND_MAX      64
#define SEARCH_BYTES   ((size_t)4 << 20)
#define SEARCH_TEXT    ((size_t)16384) /* bytes of a text that are searched */
#define TAG_ADJECTIVE  UINT32_C(0x10000)
#define ELEMENTS(list) (sizeof(list) / sizeof((list)[0]))

/* The names of a kind: first collected, then searched. */
struct place_table {
    struct name list[NAMES_MAX];
    size_t count;
    char codes[CODES_MAX][PLACE_CODE_MAX];
    size_t code_count;
    const struct names *names;
};

static struct {
    pthread_once_t once;
    struct arena arena;
    struct place_table *tables[KINDS];
    bool loaded;
} places = {.once = PTHREAD_ONCE_INIT};

/* ---- gathering --------------------------------------------------------------------------------------------------- */

static uint32_t place_code(struct place_table *table, const char *code)
{
    for (size_t i = table->code_count; i-- > 0;) {
        if (strcmp(table->codes[i], code) == 0)
            return (uint32_t)i;
    }
    if (table->code_count == CODES_MAX)
        return CODES_MAX;
    snprintf(table->codes[table->code_count], PLACE_CODE_MAX, "%s", code);
    return (uint32_t)table->code_count++;
}

static bool place_left_out(const char *name)
{
    for (size_t i = 0; places_left_out[i]; i++) {
        if (strcasecmp(places_left_out[i], name) == 0)
            return true;
    }
    return false;
}

static void place_add(struct place_table *table, uint32_t code, const char *name, size_t length)
{
    char *copy = arena_strndup(&places.arena, name, length);
    if (!copy || copy[0] == '\0' || code == CODES_MAX || table->count == NAMES_MAX || place_left_out(copy))
        return;
    table->list[table->count++] = (struct name){.text = copy, .tag = code};
}

static void place_add_words(struct place_table *table, const struct place_words *words, uint32_t flags)
{
    for (; words->code; words++) {
        uint32_t code = place_code(table, words->code);
        for (const char *at = words->names; code != CODES_MAX;) {
            size_t length = strcspn(at, "|");
            place_add(table, code | flags, at, length);
            if (at[length] == '\0')
                break;
            at += length + 1;
        }
    }
}

/* ICU's name in the language of `names`; not set if ICU only repeats the code. */
static void place_add_named(struct place_table *table, const char *code, bool country, const char *language)
{
    UErrorCode error = U_ZERO_ERROR;
    UChar name[NAME_BYTES];
    char utf8[NAME_BYTES * 3];
    int32_t length = 0;
    ULocaleDisplayNames *names = uldn_open(language, ULDN_STANDARD_NAMES, &error);
    if (U_SUCCESS(error) && country)
        uldn_regionDisplayName(names, code, name, NAME_BYTES, &error);
    else if (U_SUCCESS(error))
        uldn_localeDisplayName(names, code, name, NAME_BYTES, &error);
    uldn_close(names);
    u_strToUTF8(utf8, sizeof(utf8), &length, name, -1, &error);
    if (U_SUCCESS(error) && strcmp(utf8, code) != 0)
        place_add(table, place_code(table, code), utf8, (size_t)length);
}

static void places_gather_languages(struct place_table *table)
{
    for (const char *const *code = uloc_getISOLanguages(); *code; code++) {
        if (strlen(*code) != 2 && strcmp(*code, "fil") != 0 && strcmp(*code, "yue") != 0)
            continue;
        place_add_named(table, *code, false, "en");
        place_add_named(table, *code, false, "ja");
        place_add_named(table, *code, false, *code);
    }
    place_add_words(table, language_words, 0);
}

/* The language that most people of a country speak, "" if ICU does not know. */
static void country_language(const char *country, char language[8])
{
    UErrorCode error = U_ZERO_ERROR;
    char unknown[16], likely[64];
    language[0] = '\0';
    snprintf(unknown, sizeof(unknown), "und_%s", country);
    uloc_addLikelySubtags(unknown, likely, sizeof(likely), &error);
    if (U_SUCCESS(error))
        uloc_getLanguage(likely, language, 8, &error);
    if (U_FAILURE(error))
        language[0] = '\0';
}

static void places_gather_countries(struct place_table *table)
{
    char language[8];
    for (const char *const *code = uloc_getISOCountries(); *code; code++) {
        place_add_named(table, *code, true, "en");
        place_add_named(table, *code, true, "ja");
        country_language(*code, language);
        if (language[0] && strcmp(language, "en") != 0 && strcmp(language, "ja") != 0)
            place_add_named(table, *code, true, language);
    }
    place_add_words(table, country_words, 0);
    place_add_words(table, country_adjectives, TAG_ADJECTIVE);
}

static void place_add_zone(struct place_table *table, const char *zone)
{
    char city[NAME_BYTES];
    const char *last = strrchr(zone, '/');
    uint32_t code = place_code(table, zone);
    place_add(table, code, zone, strlen(zone));
    if (last && strncmp(zone, "Etc/", 4) != 0)
        place_add(table, code, last + 1, strlen(last + 1));
    if (zone_city(zone, "ja", city, sizeof(city)))
        place_add(table, code, city, strlen(city));
}

static void places_gather_zones(struct place_table *table)
{
    UErrorCode error = U_ZERO_ERROR;
    char canonical[ZONE_NAME_MAX];
    const char *zone;
    UEnumeration *all = ucal_openTimeZoneIDEnumeration(UCAL_ZONE_TYPE_CANONICAL_LOCATION, NULL, NULL, &error);
    while (U_SUCCESS(error) && (zone = uenum_next(all, NULL, &error)) != NULL) {
        if (zone_canonical(zone, canonical))
            place_add_zone(table, canonical);
    }
    uenum_close(all);
    place_add(table, place_code(table, "Etc/UTC"), "UTC", 3);
    place_add_words(table, zone_words, 0);
}

static void places_gather(void)
{
    static void (*const gather[KINDS])(struct place_table *) = {places_gather_languages, places_gather_countries,
                                                                places_gather_zones};
    arena_init(&places.arena, NULL, 0, TABLE_BYTES);
    for (size_t i = 0; i < KINDS; i++) {
        struct place_table *table = arena_zalloc(&places.arena, sizeof(*table));
        if (!table)
            return;
        gather[i](table);
        table->names = names_create(&places.arena, table->list, table->count);
        if (!table->names)
            return;
        places.tables[i] = table;
    }
    places.loaded = true;
}

bool places_load(void)
{
    pthread_once(&places.once, places_gather);
    return places.loaded;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

/* Whether the whole text is a code: "ja", "JP.". A code that is also an English word counts as a word. */
static bool place_whole(enum place_kind kind, const char *text, size_t length, struct place *found)
{
    static const char *const words[] = {"no", "so", "is", "it", "to", "as", "or", "my", "he", "am",
                                        "be", "in", "hi", "me", "do", "by", "at", "us", "ok"};
    size_t begin = 0, end = length;
    char code[16];
    while (begin < end && isspace((unsigned char)text[begin]))
        begin++;
    while (end > begin && (isspace((unsigned char)text[end - 1]) || text[end - 1] == '.'))
        end--;
    if (kind == PLACE_ZONE || end - begin < 2 || end - begin >= sizeof(code))
        return false;
    snprintf(code, sizeof(code), "%.*s", (int)(end - begin), text + begin);
    for (size_t i = 0; i < ELEMENTS(words); i++) {
        if (strcasecmp(code, words[i]) == 0 && (kind == PLACE_LANGUAGE || islower((unsigned char)code[0])))
            return false;
    }
    found->begin = begin;
    found->end = end;
    found->adjective = false;
    return kind == PLACE_LANGUAGE ? place_language(code, found->code, sizeof(found->code))
                                  : place_country(code, found->code);
}

/* "us" in lower case is a word; US, U.S. and UK are countries. */
static bool place_is_word(const char *text, const struct place *place)
{
    return place->end - place->begin == 2 && islower((unsigned char)text[place->begin]);
}

static size_t places_search(enum place_kind kind, const char *text, size_t length, struct arena *arena,
                            struct place *found, size_t room)
{
    const struct place_table *table = places.tables[kind];
    struct characters characters;
    struct name_found names[FOUND_MAX];
    size_t count = 0;
    if (!characters_read(arena, text, length, &characters))
        return 0;
    size_t total = names_find(table->names, &characters, arena, names, FOUND_MAX);
    for (size_t i = 0; total != SIZE_MAX && i < total && count < room; i++) {
        struct place place = {.begin = characters.at[names[i].first].begin,
                              .end = characters.at[names[i].end - 1].end,
                              .adjective = (names[i].tag & TAG_ADJECTIVE) != 0};
        const char *code = table->codes[names[i].tag & ~TAG_ADJECTIVE];
        bool again = count > 0 && found[count - 1].begin == place.begin && strcmp(found[count - 1].code, code) == 0;
        snprintf(place.code, sizeof(place.code), "%s", code);
        if (!again && !place_is_word(text, &place))
            found[count++] = place;
    }
    return count;
}

size_t places_find(enum place_kind kind, const char *text, size_t length, struct place *found, size_t room)
{
    struct arena arena;
    if (room == 0 || !places_load())
        return 0;
    length = length < SEARCH_TEXT ? length : SEARCH_TEXT;
    if (place_whole(kind, text, length, &found[0]))
        return 1;
    arena_init(&arena, NULL, 0, SEARCH_BYTES);
    size_t count = places_search(kind, text, length, &arena, found, room);
    arena_fini(&arena);
    return count;
}

/* ---- codes ------------------------------------------------------------------------------------------------------- */

static bool places_lists_code(const char *const *list, const char *code)
{
    for (; *list; list++) {
        if (strcmp(*list, code) == 0)
            return true;
    }
    return false;
}

bool place_country(const char *code, char out[3])
{
    if (strlen(code) != 2)
        return false;
    snprintf(out, 3, "%c%c", toupper((unsigned char)code[0]), toupper((unsigned char)code[1]));
    return places_lists_code(uloc_getISOCountries(), out);
}

bool place_language(const char *code, char *out, size_t room)
{
    UErrorCode error = U_ZERO_ERROR;
    char locale[64], language[16];
    int32_t parsed = 0;
    uloc_forLanguageTag(code, locale, sizeof(locale), &parsed, &error);
    if (U_FAILURE(error) || error == U_STRING_NOT_TERMINATED_WARNING || (size_t)parsed != strlen(code))
        return false;
    uloc_getLanguage(locale, language, sizeof(language), &error);
    if (U_FAILURE(error) || !places_lists_code(uloc_getISOLanguages(), language))
        return false;
    uloc_toLanguageTag(locale, out, (int32_t)room, true, &error);
    return U_SUCCESS(error) && error != U_STRING_NOT_TERMINATED_WARNING;
}

bool place_name(const char *code, const char *language, char *out, size_t room)
{
    UErrorCode error = U_ZERO_ERROR;
    UChar name[NAME_BYTES];
    char country[3], tag[64];
    if (strchr(code, '/'))
        return zone_city(code, language, out, room);
    bool is_country = isupper((unsigned char)code[0]) && place_country(code, country);
    if (!is_country && !place_language(code, tag, sizeof(tag)))
        return false;
    ULocaleDisplayNames *names = uldn_open(language, ULDN_STANDARD_NAMES, &error);
    if (U_SUCCESS(error) && is_country)
        uldn_regionDisplayName(names, country, name, NAME_BYTES, &error);
    else if (U_SUCCESS(error))
        uldn_localeDisplayName(names, tag, name, NAME_BYTES, &error);
    uldn_close(names);
    u_strToUTF8(out, (int32_t)room, NULL, name, -1, &error);
    return U_SUCCESS(error) && error != U_STRING_NOT_TERMINATED_WARNING;
}
