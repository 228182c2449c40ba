#include "request_name.h"

#include <string.h>

bool request_check_name(const char *field, const char *text, size_t max, bool required, struct status *st)
{
    size_t length = strlen(text);
    if (required && !length)
        return fail_field(st, field, "is empty; it is required");
    if (length > max)
        return fail_field(st, field, "has %zu bytes; at most %zu are allowed", length, max);
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return fail_field(st, field, "has the control character 0x%02x at byte %zu; names have none",
                              (unsigned)(unsigned char)*c, (size_t)(c - text));
    return true;
}
