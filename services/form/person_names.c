/* TEXT, of a person's name: languages and countries are no name: "English, Japan", 日本語. But "Jordan" may be a name,
 * and so may every word that is not known to be a place alone. */
#include "form/values.h"

#include <ctype.h>
#include <string.h>

#include "words/places.h"

#define PLACES_MAX   8
#define LISTED_MAX   120 /* bytes of a text that may be a list of places */
#define PLACE_NAME   64  /* bytes of a country's English name, or it is longer than any that counts here */
#define CODE_LETTERS 3   /* "Al" and "Ty" are codes of places, and names */

/* Countries, and words for a country's people, that are given names or family names as well. */
static const char *const also_names[] = {
    "jordan",  "chad",    "georgia", "israel",   "india",   "kenya",  "cuba", "china", "malta", "cyprus",
    "ireland", "holland", "france",  "dominica", "jamaica", "jersey", "togo", "mali",  "guam",  "niue",
    "tonga",   "samoa",   "sudan",   "brazil",   "german",  "thai",   "lao",  "irish", "roman", "dane",
    "finn",    "norman",  "malay",   "persian",  "panama",  "peru",   NULL};

static bool lists_word(const char *const *words, const char *text, size_t length)
{
    for (; *words; words++)
        if (strlen(*words) == length && strncasecmp(*words, text, length) == 0)
            return true;
    return false;
}

static bool label_has(const char *label, const char *const *words)
{
    for (; *words; words++)
        if (strcasestr(label, *words))
            return true;
    return false;
}

static bool asks_for_person(const char *label)
{
    static const char *const names[] = {"name", "名前", "氏名", "姓名", "名字", "苗字", "フリガナ", "ふりがな", NULL};
    static const char *const of_things[] = {
        "company",  "product", "project",      "country", "nation", "language", "place",  "city",    "town",
        "region",   "team",    "brand",        "file",    "event",  "course",   "school", "hotel",   "ship",
        "domain",   "host",    "user",         "account", "organi", "depart",   "item",   "service", "bank",
        "street",   "group",   "destination",  "title",   "国",     "言語",     "会社",   "商品",    "製品",
        "店",       "地名",    "都市",         "学校",    "団体",   "組織",     "チーム", "部署",    "ファイル",
        "イベント", "行き先",  "プロジェクト", NULL};
    return label_has(label, names) && !label_has(label, of_things);
}

static bool asks_for_family_name(const char *label)
{
    static const char *const words[] = {"surname", "last name", "family name", "名字", "苗字", NULL};
    return label_has(label, words) || strcmp(label, "姓") == 0;
}

/* ---- one place --------------------------------------------------------------------------------------------------- */

struct word {
    const char *text;
    size_t length;
};

static bool ends_with(struct word word, const char *end)
{
    size_t length = strlen(end);
    return word.length > length && memcmp(word.text + word.length - length, end, length) == 0;
}

/* 日本語, 韓国; but マリ, 西 and カナダ (金田) may be names. */
static bool is_han_place_alone(enum place_kind kind, struct word word)
{
    bool is_japan = word.length == strlen("日本") && memcmp(word.text, "日本", word.length) == 0;
    return kind == PLACE_LANGUAGE ? ends_with(word, "語") : is_japan || ends_with(word, "国");
}

/* "Japan", "New Zealand"; "Japanese" unless a family name is asked for, as English and French are. */
static bool is_latin_place_alone(enum place_kind kind, struct word word, const struct place *place, const char *label)
{
    char name[PLACE_NAME] = "";
    if (kind == PLACE_LANGUAGE || word.length <= CODE_LETTERS || lists_word(also_names, word.text, word.length))
        return false;
    if (place->adjective)
        return !asks_for_family_name(label);
    bool known = place_name(place->code, "en", name, sizeof name);
    return memchr(word.text, ' ', word.length) ||
           (known && strlen(name) == word.length && strncasecmp(name, word.text, word.length) == 0);
}

/* Whether nobody is called so. */
static bool is_place_alone(enum place_kind kind, struct word word, const struct place *place, const char *label)
{
    return (unsigned char)word.text[0] < 0x80 ? is_latin_place_alone(kind, word, place, label)
                                              : is_han_place_alone(kind, word);
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

struct listing {
    const char *text, *label;
    struct place found[2][PLACES_MAX]; /* languages, countries */
    size_t counts[2];
    size_t places, alone; /* of the list; those that are no names */
    bool joined;          /* by more than blanks */
};

static size_t joint_at(const char *text)
{
    static const char *const joints[] = {",", "/", "&", ";", "、", "，", "・", "／", "と", "and ", NULL};
    for (size_t i = 0; joints[i]; i++)
        if (strncasecmp(text, joints[i], strlen(joints[i])) == 0)
            return strlen(joints[i]);
    return 0;
}

/* Behind blanks and words that join places. */
static size_t skip_joints(struct listing *list, size_t at)
{
    size_t joint;
    do {
        while (isspace((unsigned char)list->text[at]))
            at++;
        joint = list->places ? joint_at(list->text + at) : 0;
        list->joined |= joint > 0;
        at += joint;
    } while (joint);
    return at;
}

/* The end of the longest place that begins there; `at` if there is none. It is alone if it is so as either kind. */
static size_t take_place(struct listing *list, size_t at)
{
    size_t end = at;
    for (size_t kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < list->counts[kind]; i++)
            if (list->found[kind][i].begin == at && list->found[kind][i].end > end)
                end = list->found[kind][i].end;
    bool alone = false;
    for (size_t kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < list->counts[kind]; i++) {
            const struct place *place = &list->found[kind][i];
            if (place->begin == at && place->end == end)
                alone |= is_place_alone(kind == 0 ? PLACE_LANGUAGE : PLACE_COUNTRY,
                                        (struct word){list->text + at, end - at}, place, list->label);
        }
    list->places += end > at;
    list->alone += alone;
    return end;
}

bool text_is_no_name(const char *label, const char *text)
{
    struct listing list = {.text = text, .label = label};
    size_t length = strlen(text), at = 0, end;
    if (length > LISTED_MAX || !asks_for_person(label))
        return false;
    list.counts[0] = places_find(PLACE_LANGUAGE, text, length, list.found[0], PLACES_MAX);
    list.counts[1] = places_find(PLACE_COUNTRY, text, length, list.found[1], PLACES_MAX);
    for (at = skip_joints(&list, at); at < length; at = skip_joints(&list, end)) {
        end = take_place(&list, at);
        if (end == at)
            return false;
    }
    return list.joined ? list.alone > 0 : list.places > 0 && list.alone == list.places;
}
