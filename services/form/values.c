/* From a candidate to a value: limits, typed JSON, and bytes of the text. */
#include "form/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "form/choices.h"
#include "form/days.h"
#include "words/pattern.h"
#include "json/json.h"

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static size_t count_characters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

static enum form_problem value_check_text(const Renga__V1__FieldLimits *limits, const char *text)
{
    size_t count = count_characters(text);
    if (limits->min_length && count < (size_t)limits->min_length)
        return FORM_TOO_SHORT;
    if (limits->max_length && count > (size_t)limits->max_length)
        return FORM_TOO_LONG;
    if (limits->pattern[0] && pattern_matches(limits->pattern, text, strlen(text)) != PATTERN_MATCHES)
        return FORM_BAD_PATTERN;
    return FORM_FINE;
}

static enum form_problem value_check_number(const Renga__V1__FieldLimits *limits, const char *text)
{
    double number = strtod(text, NULL), bound;
    if (limits->whole && strchr(text, '.'))
        return FORM_NOT_WHOLE;
    if (limits->minimum[0] && form_limit_number(limits->minimum, &bound) && number < bound)
        return FORM_TOO_SMALL;
    if (limits->maximum[0] && form_limit_number(limits->maximum, &bound) && number > bound)
        return FORM_TOO_LARGE;
    return FORM_FINE;
}

static enum form_problem value_check_date(const struct reading *in, const char *text)
{
    struct day day = {.year = atoi(text), .month = atoi(text + 5), .day = atoi(text + 8)}, bound;
    if (day_limit(in, in->spec->limits->minimum, &bound) && day_number(day) < day_number(bound))
        return FORM_TOO_EARLY;
    if (day_limit(in, in->spec->limits->maximum, &bound) && day_number(day) > day_number(bound))
        return FORM_TOO_LATE;
    return FORM_FINE;
}

enum form_problem value_check(const struct reading *in, const char *text)
{
    const Renga__V1__FieldLimits *limits = in->spec->limits;
    if (strlen(text) > FORM_VALUE_MAX)
        return FORM_TOO_LONG;
    if (!limits)
        return FORM_FINE;
    switch (in->spec->type) {
    case FORM_TYPE(NUMBER):
        return value_check_number(limits, text);
    case FORM_TYPE(DATE):
        return value_check_date(in, text);
    case FORM_TYPE(TIME):
        if (limits->minimum[0] && strcmp(text, limits->minimum) < 0)
            return FORM_TOO_EARLY;
        if (limits->maximum[0] && strncmp(text, limits->maximum, 5) > 0)
            return FORM_TOO_LATE;
        return FORM_FINE;
    case FORM_TYPE(CHOICE):
    case FORM_TYPE(CHOICES):
    case FORM_TYPE(YES_NO):
        return FORM_FINE;
    default:
        return value_check_text(limits, text);
    }
}

/* ---- typed JSON -------------------------------------------------------------------------------------------------- */

static cJSON *json_text(struct arena *arena, const char *text)
{
    cJSON *item = arena_zalloc(arena, sizeof(*item));
    if (item) {
        item->type = cJSON_String;
        item->valuestring = arena_strdup(arena, text);
    }
    return item && item->valuestring ? item : NULL;
}

static cJSON *json_number(struct arena *arena, const char *text)
{
    cJSON *item = arena_zalloc(arena, sizeof(*item));
    if (item) {
        item->type = cJSON_Number;
        cJSON_SetNumberHelper(item, strtod(text, NULL));
    }
    return item;
}

/* A list of texts that was written by choices_text. */
static cJSON *json_list(struct arena *arena, const char *text)
{
    struct status st = {0};
    cJSON *tree = json_parse(text, strlen(text), NULL, &st), *list = arena_zalloc(arena, sizeof(*list)), *last = NULL;
    bool fits = tree && list;
    if (list)
        list->type = cJSON_Array;
    for (const cJSON *item = tree ? tree->child : NULL; item && fits; item = item->next) {
        cJSON *copy = cJSON_IsString(item) ? json_text(arena, item->valuestring) : NULL;
        fits = copy != NULL;
        if (!copy)
            break;
        if (last) {
            last->next = copy;
            copy->prev = last;
        } else {
            list->child = copy;
        }
        last = copy;
    }
    if (fits && list->child)
        list->child->prev = last;
    cJSON_Delete(tree);
    return fits ? list : NULL;
}

const cJSON *value_json(const struct reading *in, const char *text)
{
    cJSON *item;
    switch (in->spec->type) {
    case FORM_TYPE(NUMBER):
        return json_number(in->arena, text);
    case FORM_TYPE(CHOICES):
        return json_list(in->arena, text);
    case FORM_TYPE(YES_NO):
        item = arena_zalloc(in->arena, sizeof(*item));
        if (item)
            item->type = strcmp(text, "true") == 0 ? cJSON_True : cJSON_False;
        return item;
    default:
        return json_text(in->arena, text);
    }
}

/* ---- readers of types -------------------------------------------------------------------------------------------- */

struct value_type {
    void (*find)(const struct reading *in, struct candidates *out);
    enum form_problem none, unclear;
};

static const struct value_type value_types[] = {
    [FORM_TYPE(NUMBER)] = {numbers_find, FORM_NOT_A_NUMBER, FORM_NOT_A_NUMBER},
    [FORM_TYPE(DATE)] = {dates_find, FORM_NO_VALUE, FORM_UNCLEAR_DATE},
    [FORM_TYPE(TIME)] = {times_find, FORM_NO_VALUE, FORM_NO_VALUE},
    [FORM_TYPE(EMAIL)] = {emails_find, FORM_BAD_EMAIL, FORM_BAD_EMAIL},
    [FORM_TYPE(PHONE)] = {phones_find, FORM_BAD_PHONE, FORM_BAD_PHONE},
    [FORM_TYPE(URL)] = {urls_find, FORM_BAD_URL, FORM_BAD_URL},
    [FORM_TYPE(YES_NO)] = {NULL, FORM_NO_VALUE, FORM_NO_VALUE},
};

bool values_list(const struct reading *in, struct candidates *list)
{
    const struct value_type *type = &value_types[in->spec->type];
    list->count = 0;
    list->more = list->out_of_memory = false;
    if (type->find)
        type->find(in, list);
    return !list->out_of_memory;
}

bool value_read(const struct reading *in, struct candidate *read)
{
    struct candidates *list;
    switch (in->spec->type) {
    case FORM_TYPE(CHOICE):
        return choice_read(in, read);
    case FORM_TYPE(CHOICES):
        return choices_read(in, read);
    case FORM_TYPE(YES_NO):
        return yes_no_read(in, read);
    case FORM_TYPE(UNSPECIFIED):
    case FORM_TYPE(TEXT):
        return words_read(in, read);
    default:
        break;
    }
    list = arena_alloc(in->arena, sizeof(*list));
    if (!list || !values_list(in, list))
        return false;
    const struct value_type *type = &value_types[in->spec->type];
    *read = candidates_choose(in, list, type->none, type->unclear);
    return true;
}

bool value_give(const struct reading *in, const struct candidate *read, struct form_value *value)
{
    *value = (struct form_value){.problem = read->problem, .text = ""};
    size_t end = read->end <= in->in.count ? read->end : in->in.count;
    value->begin = in->in.at[read->first < end ? read->first : end].begin;
    value->end = end > read->first ? in->in.at[end - 1].end : value->begin;
    if (read->problem == FORM_FINE)
        value->problem = value_check(in, read->text);
    bool unreal = value->problem == FORM_NO_SUCH_DATE || value->problem == FORM_NO_SUCH_TIME;
    if (unreal) /* for the sentence that says so */
        value->text = reading_copy(in, read->first, end);
    if (value->problem != FORM_FINE)
        return value->text != NULL;
    value->text = read->text;
    value->json = value_json(in, read->text);
    return value->json != NULL;
}

bool form_read_value(const struct form *form, size_t field, const char *text, const struct form_context *context,
                     struct arena *arena, struct form_value *value)
{
    struct reading in;
    struct candidate read;
    return reading_open(&in, form, field, text, context, arena) && value_read(&in, &read) &&
           value_give(&in, &read, value);
}
