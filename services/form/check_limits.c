/* Bounds of values: which types have which, and that they do not contradict each other. */
#include "form/form_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/iso_time.h"
#include "words/pattern.h"

#define LIMIT_BYTES_MAX 32

bool form_limit_number(const char *text, double *number)
{
    char *end;
    size_t length = strspn(text, "0123456789.-");
    if (length == 0 || text[length] != '\0')
        return false;
    *number = strtod(text, &end);
    return *end == '\0' && isfinite(*number);
}

bool form_limit_date(const char *text, bool *is_today)
{
    struct iso_time time;
    *is_today = strcmp(text, "today") == 0;
    return *is_today || (iso_time_parse(text, &time) && time.kind == ISO_DATE);
}

bool form_limit_time(const char *text)
{
    struct iso_time time;
    return strlen(text) == 5 && iso_time_parse(text, &time) && time.kind == ISO_TIME;
}

static bool limit_is_of(const Renga__V1__FormField *field, const char *limit)
{
    double number;
    bool is_today;
    switch (field->type) {
    case FORM_TYPE(NUMBER):
        return form_limit_number(limit, &number);
    case FORM_TYPE(DATE):
        return form_limit_date(limit, &is_today);
    default:
        return form_limit_time(limit);
    }
}

/* Whether the smallest is above the largest. A bound "today" moves, so that it contradicts no date. */
static bool limits_cross(const Renga__V1__FormField *field)
{
    const char *low = field->limits->minimum, *high = field->limits->maximum;
    double least, most;
    if (!low[0] || !high[0])
        return false;
    if (field->type == FORM_TYPE(NUMBER))
        return form_limit_number(low, &least) && form_limit_number(high, &most) && least > most;
    return strcmp(low, "today") != 0 && strcmp(high, "today") != 0 && strcmp(low, high) > 0;
}

static bool limits_check_range(const char *path, const Renga__V1__FormField *field, struct status *st)
{
    const Renga__V1__FieldLimits *limits = field->limits;
    char name[STATUS_FIELD_MAX];
    bool ranged = field->type == FORM_TYPE(NUMBER) || field->type == FORM_TYPE(DATE) || field->type == FORM_TYPE(TIME);
    for (int most = 0; most < 2; most++) {
        const char *limit = most ? limits->maximum : limits->minimum;
        form_path(name, "%s.%s", path, most ? "maximum" : "minimum");
        if (limit[0] && !ranged)
            return fail_field(st, name, "must be empty: only numbers, dates and times have one");
        if (strlen(limit) > LIMIT_BYTES_MAX)
            return fail_field(st, name, "must be at most %d bytes, not %zu", LIMIT_BYTES_MAX, strlen(limit));
        if (limit[0] && !limit_is_of(field, limit))
            return fail_field(st, name, "must be %s, not '%s'",
                              field->type == FORM_TYPE(NUMBER) ? "a number such as \"1.5\""
                              : field->type == FORM_TYPE(DATE) ? "a day such as \"2026-04-01\", or \"today\""
                                                               : "a time such as \"09:30\"",
                              limit);
    }
    if (limits_cross(field))
        return fail_field(st, name, "'%s' is below the minimum '%s'", limits->maximum, limits->minimum);
    form_path(name, "%s.whole", path);
    return !limits->whole || field->type == FORM_TYPE(NUMBER) ||
           fail_field(st, name, "must be false: only numbers can be whole");
}

/* A minimum and a maximum; 0 means no bound. */
static bool limits_check_pair(const char *path, const char *names[2], int32_t least, int32_t most, bool allowed,
                              const char *allowed_for, struct status *st)
{
    char name[STATUS_FIELD_MAX];
    form_path(name, "%s.%s", path, least != 0 && (!allowed || least < 0) ? names[0] : names[1]);
    if (!allowed && (least != 0 || most != 0))
        return fail_field(st, name, "must be 0: only %s have it", allowed_for);
    if (least < 0 || most < 0)
        return fail_field(st, name, "must not be negative, as %d is", (int)(least < 0 ? least : most));
    return most == 0 || least <= most ||
           fail_field(st, name, "%d is below %s, which is %d", (int)most, names[0], (int)least);
}

static bool limits_check_pattern(const char *path, const Renga__V1__FormField *field, bool textual, struct status *st)
{
    const Renga__V1__FieldLimits *limits = field->limits;
    char name[STATUS_FIELD_MAX];
    struct status wrong = {0};
    if (strlen(limits->pattern_help) > 256) {
        form_path(name, "%s.pattern_help", path);
        return fail_field(st, name, "must be at most 256 bytes, not %zu", strlen(limits->pattern_help));
    }
    form_path(name, "%s.pattern", path);
    if (limits->pattern[0] && !textual)
        return fail_field(st, name, "must be empty: only texts and addresses have one");
    return !limits->pattern[0] || pattern_check(limits->pattern, &wrong) || fail_field(st, name, "%s", wrong.text);
}

bool form_check_limits(const Renga__V1__FormField *field, size_t i, struct status *st)
{
    static const char *lengths[2] = {"min_length", "max_length"}, *counts[2] = {"min_choices", "max_choices"};
    const Renga__V1__FieldLimits *limits = field->limits;
    char path[STATUS_FIELD_MAX], name[STATUS_FIELD_MAX];
    if (!limits)
        return true;
    bool textual = field->type <= FORM_TYPE(TEXT) || field->type == FORM_TYPE(EMAIL) ||
                   field->type == FORM_TYPE(PHONE) || field->type == FORM_TYPE(URL);
    bool several = field->type == FORM_TYPE(CHOICES);
    form_path(path, "form.fields[%zu].limits", i);
    if (!limits_check_range(path, field, st) || !limits_check_pattern(path, field, textual, st) ||
        !limits_check_pair(path, lengths, limits->min_length, limits->max_length, textual, "texts and addresses", st) ||
        !limits_check_pair(path, counts, limits->min_choices, limits->max_choices, several,
                           "fields of the type CHOICES", st))
        return false;
    form_path(name, "%s.min_choices", path);
    return !several || (size_t)limits->min_choices <= field->n_choices ||
           fail_field(st, name, "is %d, but there are %zu choices", (int)limits->min_choices, field->n_choices);
}
