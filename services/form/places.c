/* The person's place and language. */
#include "form/form.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "words/places.h"
#include "words/zones.h"

static bool has_before(const char *text, size_t end, const char *word)
{
    size_t length = strlen(word);
    while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == ','))
        end--;
    bool ends = end >= length && strncasecmp(text + end - length, word, length) == 0;
    return ends && (end == length || !isalpha((unsigned char)text[end - length - 1]));
}

static bool any_before(const char *text, size_t end, const char *const *words)
{
    for (size_t i = 0; words[i]; i++) {
        if (has_before(text, end, words[i]))
            return true;
    }
    return false;
}

static bool any_behind(const char *text, size_t begin, const char *const *words)
{
    for (size_t i = 0; words[i]; i++) {
        if (strncmp(text + begin, words[i], strlen(words[i])) == 0)
            return true;
    }
    return false;
}

/* The weight of a place: 0 if the person does not mean it, higher if the person says that they are there. */
static int place_weight(enum place_kind kind, const char *text, const struct place *place)
{
    static const char *const denials[] = {"not", "not in",    "isn't",    "don't speak", "can't speak",
                                          "no",  "not speak", "never in", NULL};
    static const char *const origins[] = {"from", "born in", "left", "moved from", "originally from", "of", NULL};
    static const char *const here[] = {"live in", "living in", "based in", "to",   "now in",
                                       "in",      "reside in", "i'm",      "i am", NULL};
    static const char *const people[] = {"i'm", "i am", "i'm a", "i'm an", "i am a", "i am an", NULL};
    static const char *const denied_behind[] = {"じゃな",         "ではな", "ではあり", "じゃあり",
                                                "以外",           "は話せ", "は苦手",   "は分かりません",
                                                "はわかりません", "は無理", NULL};
    static const char *const origin_behind[] = {"出身", "生まれ", "から", "育ち", NULL};
    static const char *const here_behind[] = {"に住", "在住", "にい", "です", "で暮", "に居", "におり", NULL};
    if (any_before(text, place->begin, denials) || any_behind(text, place->end, denied_behind))
        return 0;
    bool kana = (unsigned char)text[place->begin] >= 0x80;
    if (place->adjective && !kana && !any_before(text, place->begin, people))
        return 0;
    if (place->adjective)
        return 1;
    if (kind != PLACE_LANGUAGE &&
        (any_before(text, place->begin, origins) || any_behind(text, place->end, origin_behind)))
        return 2;
    return any_before(text, place->begin, here) || any_behind(text, place->end, here_behind) ? 4 : 3;
}

/* By weight, then in the text's order; each code once. */
static size_t places_rank(enum place_kind kind, const char *text, const struct place *found, size_t count,
                          struct form_place places[FORM_PLACES_MAX])
{
    size_t ranked = 0;
    for (int weight = 4; weight > 0; weight--) {
        for (size_t i = 0; i < count && ranked < FORM_PLACES_MAX; i++) {
            bool again = place_weight(kind, text, &found[i]) != weight;
            for (size_t r = 0; r < ranked && !again; r++)
                again = strcmp(places[r].code, found[i].code) == 0;
            if (again)
                continue;
            snprintf(places[ranked].code, sizeof(places[ranked].code), "%s", found[i].code);
            places[ranked].begin = found[i].begin;
            places[ranked++].end = found[i].end;
        }
    }
    return ranked;
}

static size_t places_of(enum place_kind kind, const char *text, struct form_place places[FORM_PLACES_MAX])
{
    struct place found[FORM_PLACES_MAX];
    size_t count = places_find(kind, text, strlen(text), found, FORM_PLACES_MAX);
    return places_rank(kind, text, found, count, places);
}

size_t form_find_language(const char *text, struct form_place places[FORM_PLACES_MAX])
{
    return places_of(PLACE_LANGUAGE, text, places);
}

size_t form_find_country(const char *text, struct form_place places[FORM_PLACES_MAX])
{
    return places_of(PLACE_COUNTRY, text, places);
}

#define ZONES_MAX 64 /* of a country */

size_t form_find_timezone(const char *text, const char *country, struct form_place places[FORM_PLACES_MAX])
{
    char zones[ZONES_MAX][ZONE_NAME_MAX];
    size_t count = places_of(PLACE_ZONE, text, places), kept = 0;
    if (!country[0])
        return count;
    size_t known = zones_of_country(country, zones, ZONES_MAX);
    for (size_t i = 0; i < count; i++) {
        bool within = false;
        for (size_t zone = 0; zone < known; zone++)
            within = within || strcmp(zones[zone], places[i].code) == 0;
        if (within)
            places[kept++] = places[i];
    }
    return kept;
}

size_t form_timezones(const char *country, struct form_place places[FORM_PLACES_MAX])
{
    char zones[FORM_PLACES_MAX][ZONE_NAME_MAX];
    size_t count = zones_of_country(country, zones, FORM_PLACES_MAX);
    for (size_t i = 0; i < count; i++) {
        places[i] = (struct form_place){.begin = 0};
        memcpy(places[i].code, zones[i], ZONE_NAME_MAX);
    }
    return count;
}

const char *form_place_name(const char *code, const char *language, struct arena *arena)
{
    char name[256];
    return arena_strdup(arena, place_name(code, language[0] ? language : "en", name, sizeof(name)) ? name : code);
}

bool form_is_language(const char *code, char out[36])
{
    return place_language(code, out, 36);
}

bool form_is_country(const char *code, char out[3])
{
    return place_country(code, out);
}

bool form_is_timezone(const char *code, char out[64])
{
    return zone_canonical(code, out);
}
