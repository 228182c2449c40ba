#include "field_check.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

/* ---- texts ------------------------------------------------------------------------------------------------------- */

bool text_fits(struct status *st, const char *field, const char *text, size_t max)
{
    size_t length = strlen(text);
    return length <= max || fail_field(st, field, "has %zu bytes; at most %zu are allowed", length, max);
}

bool text_is_given(struct status *st, const char *field, const char *text, size_t max)
{
    if (!text_fits(st, field, text, max))
        return false;
    return !text_is_blank(text) || fail_field(st, field, "is %s; say something", *text ? "blank" : "empty");
}

/* ---- numbers and lists ------------------------------------------------------------------------------------------- */

bool count_fits(struct status *st, const char *field, size_t count, size_t max)
{
    return count <= max || fail_field(st, field, "has %zu elements; at most %zu are allowed", count, max);
}

bool number_fits(struct status *st, const char *field, int32_t number, int32_t max)
{
    return (number >= 0 && number <= max) ||
           fail_field(st, field, "is %d; it must be 0 (the default) or within 1 and %d", number, max);
}

const char *path_of(const char *list, size_t index, const char *field)
{
    static _Thread_local char path[STATUS_FIELD_MAX];
    snprintf(path, sizeof path, "%s[%zu]%s%s", list, index, *field ? "." : "", field);
    return path;
}
