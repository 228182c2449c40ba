/* Finds the place of a person by the names of languages, countries, cities and time zones in the person's words, in
 * Japanese and English. The outcome is the next question; it never asks for a known value.
 *
 * A country with a single time zone needs no question. If the person cannot say it twice, the country is "ZZ" (unknown,
 * as CLDR has it), and the time zone `fallback`, marked as guessed. */
#include "service_call.h"

#include "form/form.h"
#include "words/words.h"

#include <string.h>

#define TRIES_MAX        2
#define UNKNOWN_COUNTRY  "ZZ"
#define FALLBACK_DEFAULT "Asia/Tokyo"

enum {
    LOCATE_SAID,
    LOCATE_LANGUAGE,
    LOCATE_COUNTRY,
    LOCATE_TIMEZONE,
    LOCATE_GUESSED,
    LOCATE_TRIES,
    LOCATE_CHOICES,
    LOCATE_FALLBACK
};

static const struct node_parameter parameters[] = {
    [LOCATE_SAID] = {"said", READS_STRING, REQUIRED, "What the person said, a string."},
    [LOCATE_LANGUAGE] = {"language", READS_STRING, REQUIRED,
                         "The language (BCP 47), a string; \"\" where it is not known yet."},
    [LOCATE_COUNTRY] = {"country", READS_STRING, REQUIRED, "The country (ISO 3166), a string, likewise."},
    [LOCATE_TIMEZONE] = {"timezone", READS_STRING, REQUIRED, "The time zone (IANA), a string, likewise."},
    [LOCATE_GUESSED] = {"guessed", WRITES_BOOLEAN, REQUIRED, "True when the time zone was guessed, a boolean."},
    [LOCATE_TRIES] = {"tries", READS_INTEGER, REQUIRED, "How often the same was asked, an integer."},
    [LOCATE_CHOICES] = {"choices", WRITES_STRINGS, OPTIONAL, "Gets the time zones to choose from, a string[]."},
    [LOCATE_FALLBACK] = {"fallback", PARAMETER_TEXT, OPTIONAL,
                         "The time zone where none is found, \"Asia/Tokyo\" where it is not said."},
    {.name = NULL},
};
enum { ASK_LANGUAGE, ASK_COUNTRY, ASK_TIMEZONE, ASK_NOTHING };
static const char *const outcomes[] = {"language", "country", "timezone", "known", NULL};

static bool locate_check(const struct node *node, struct status *st)
{
    char canonical[64];
    const char *fallback = node_argument(node, LOCATE_FALLBACK)->text;
    if (fallback && !form_is_timezone(fallback, canonical))
        return fail_field(st, "fallback", "is '%.64s'; it must be a time zone of IANA, such as \"Asia/Tokyo\"",
                          fallback);
    return true;
}

struct locating {
    struct service_call base; /* first: its inputs */
    const char *said;
    const char *language, *country, *timezone;
    struct form_place places[FORM_PLACES_MAX];
    bool guessed;
    int tries;
};

static const char *locate_keep_code(struct locating *locating, const char *code)
{
    const char *copy = arena_strdup(task_arena(locating->base.task), code);
    return copy ? copy : "";
}

/* ---- each of them ------------------------------------------------------------------------------------------------ */

/* The language that the person names; else the language in which the person writes. */
static bool find_language(struct locating *locating)
{
    if (*locating->language)
        return true;
    if (form_find_language(locating->said, locating->places))
        locating->language = locate_keep_code(locating, locating->places[0].code);
    else if (*locating->said)
        locating->language = locate_keep_code(locating, words_language(locating->said, strlen(locating->said)));
    return *locating->language != '\0';
}

static bool find_country(struct locating *locating)
{
    if (*locating->country)
        return true;
    if (form_find_country(locating->said, locating->places))
        locating->country = locate_keep_code(locating, locating->places[0].code);
    else if (*locating->said && locating->tries >= TRIES_MAX)
        locating->country = UNKNOWN_COUNTRY;
    return *locating->country != '\0';
}

static bool find_timezone(struct locating *locating)
{
    const char *fallback = node_argument(task_node(locating->base.task), LOCATE_FALLBACK)->text;
    bool known = strcmp(locating->country, UNKNOWN_COUNTRY) != 0;
    if (*locating->timezone)
        return true;
    if (form_find_timezone(locating->said, known ? locating->country : "", locating->places) ||
        (known && form_timezones(locating->country, locating->places) == 1)) {
        locating->timezone = locate_keep_code(locating, locating->places[0].code);
    } else if (!known || locating->tries >= TRIES_MAX || !form_timezones(locating->country, locating->places)) {
        locating->timezone = fallback ? fallback : FALLBACK_DEFAULT;
        locating->guessed = true;
    }
    return *locating->timezone != '\0';
}

/* An earlier question does not count any more once its value is known. */
static int locate_find_settings(struct locating *locating)
{
    bool had_language = *locating->language, had_country = *locating->country;
    if (!find_language(locating))
        return ASK_LANGUAGE;
    if (!had_language)
        locating->tries = 0;
    if (!find_country(locating))
        return ASK_COUNTRY;
    if (!had_country)
        locating->tries = 0;
    return find_timezone(locating) ? ASK_NOTHING : ASK_TIMEZONE;
}

/* ---- the node ---------------------------------------------------------------------------------------------------- */

static void locate_write_choices(struct locating *locating, int outcome, struct json_writer *out, const char *name)
{
    size_t count = outcome == ASK_TIMEZONE ? form_timezones(locating->country, locating->places) : 0;
    if (!name)
        return;
    json_write_array(out, name);
    for (size_t i = 0; i < count; i++)
        json_write_string(
            out, NULL, form_place_name(locating->places[i].code, locating->language, task_arena(locating->base.task)));
    json_write_end(out);
}

static void locate_start(struct task *task)
{
    struct locating *locating = task_data(task);
    struct status st = {0};
    struct update update;
    if (!service_call_inputs(&locating->base, task, &st)) {
        task_fail(task, &st);
        return;
    }
    const cJSON *tries = service_call_input(&locating->base, LOCATE_TRIES);
    locating->said = service_call_text(&locating->base, LOCATE_SAID);
    locating->language = service_call_text(&locating->base, LOCATE_LANGUAGE);
    locating->country = service_call_text(&locating->base, LOCATE_COUNTRY);
    locating->timezone = service_call_text(&locating->base, LOCATE_TIMEZONE);
    locating->tries = tries ? (int)tries->valuedouble : 0;
    service_call_close(&locating->base);
    int outcome = locate_find_settings(locating);
    update_begin(&update);
    json_write_string(&update.out, update_field(task, LOCATE_LANGUAGE), locating->language);
    json_write_string(&update.out, update_field(task, LOCATE_COUNTRY), locating->country);
    json_write_string(&update.out, update_field(task, LOCATE_TIMEZONE), locating->timezone);
    if (locating->guessed)
        json_write_bool(&update.out, update_field(task, LOCATE_GUESSED), true);
    json_write_int(&update.out, update_field(task, LOCATE_TRIES), outcome == ASK_NOTHING ? 0 : locating->tries + 1);
    locate_write_choices(locating, outcome, &update.out, update_field(task, LOCATE_CHOICES));
    update_finish(&update, task, outcomes[outcome]);
}

extern const struct node_kind locate_kind;
const struct node_kind locate_kind = {
    .name = "locate",
    .help = "Finds a person's language, country and time zone in what the person says.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = locate_check,
    .size = sizeof(struct locating),
    .start = locate_start,
};
