/* Dates and times as ISO 8601 writes them in its extended form, to be ordered:
 *
 *     2026-01-31     09:30, 09:30:15.5     2026-01-31T09:30     2026-01-31T09:30:15Z, 2026-01-31T09:30+09:00
 *
 * Years are 0000 to 9999, and the day must be in the calendar. A leap second is refused. */
#ifndef RENGA_BASE_ISO_TIME_H
#define RENGA_BASE_ISO_TIME_H

#include <stdbool.h>
#include <stdint.h>

enum iso_time_kind { ISO_DATE, ISO_TIME, ISO_LOCAL, ISO_INSTANT }; /* local: a date with a time, in an unknown zone */

struct iso_time {
    enum iso_time_kind kind;
    int64_t seconds; /* since 1970-01-01, of an instant in UTC; of a time since midnight */
    int32_t nanoseconds;
};

/* False if the text has another form. */
bool iso_time_parse(const char *text, struct iso_time *time);

/* Below 0, 0 or above 0. Both are of the same kind. */
int iso_time_compare(const struct iso_time *one, const struct iso_time *other);

#endif
