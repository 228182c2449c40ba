#include "dataset.h"

#include <string.h>

#define DATASET_SHOWN 64 /* bytes of a name in an error */

bool dataset_check(const char *field, const char *name, struct status *st)
{
    static const char known[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t length = strlen(name);
    if (!length)
        return fail_field(st, field, "is empty; name a data set, such as \"default\"");
    if (length > DATASET_NAME_MAX)
        return fail_field(st, field, "has %zu bytes; at most %d are allowed", length, DATASET_NAME_MAX);
    if (strspn(name, known) == length && *name != '.')
        return true;
    return fail_field(
        st, field, "is '%.*s'; a data set is named with A-Z, a-z, 0-9, '_', '-' and '.', and does not begin with '.'",
        DATASET_SHOWN, name);
}
