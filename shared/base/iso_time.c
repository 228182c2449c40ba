#include "iso_time.h"

#include <assert.h>

#define DAY_SECONDS     INT64_C(86400)
#define FRACTION_DIGITS 9
#define OFFSET_HOURS    23 /* of a zone, at most */

/* Takes `digits` digits; false if they are not there. */
static bool iso_take_number(const char **at, int digits, int least, int most, int *number)
{
    *number = 0;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        *number = *number * 10 + (**at - '0');
    }
    return *number >= least && *number <= most;
}

static bool take_char(const char **at, char c)
{
    if (**at != c)
        return false;
    (*at)++;
    return true;
}

/* Days from 1970-01-01 in the Gregorian calendar. */
static int64_t days_of(int year, int month, int day)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int full = month > 2 ? year : year - 1; /* the last year with a leap day that has passed */
    int leaps = full < 0 ? -1 : full / 4 - full / 100 + full / 400;
    return (int64_t)year * 365 + leaps + before[month - 1] + day - 1 - 719527;
}

static int month_days(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

static bool take_date(const char **at, struct iso_time *time)
{
    int year, month, day;
    if (!iso_take_number(at, 4, 0, 9999, &year) || !take_char(at, '-') || !iso_take_number(at, 2, 1, 12, &month) ||
        !take_char(at, '-') || !iso_take_number(at, 2, 1, month_days(year, month), &day))
        return false;
    time->seconds += days_of(year, month, day) * DAY_SECONDS;
    return true;
}

static bool take_fraction(const char **at, struct iso_time *time)
{
    int digits = 0;
    if (!take_char(at, '.'))
        return true;
    for (; **at >= '0' && **at <= '9' && digits < FRACTION_DIGITS; (*at)++, digits++)
        time->nanoseconds = time->nanoseconds * 10 + (**at - '0');
    for (int i = digits; i < FRACTION_DIGITS; i++)
        time->nanoseconds *= 10;
    return digits > 0;
}

static bool take_clock(const char **at, struct iso_time *time)
{
    int hour, minute, second = 0;
    if (!iso_take_number(at, 2, 0, 23, &hour) || !take_char(at, ':') || !iso_take_number(at, 2, 0, 59, &minute))
        return false;
    if (take_char(at, ':') && (!iso_take_number(at, 2, 0, 59, &second) || !take_fraction(at, time)))
        return false;
    time->seconds += hour * 3600 + minute * 60 + second;
    return true;
}

static bool take_zone(const char **at, struct iso_time *time)
{
    int hour, minute, sign = **at == '-' ? -1 : 1;
    time->kind = ISO_INSTANT;
    if (take_char(at, 'Z'))
        return true;
    if (!take_char(at, '+') && !take_char(at, '-'))
        return false;
    if (!iso_take_number(at, 2, 0, OFFSET_HOURS, &hour) || !take_char(at, ':') ||
        !iso_take_number(at, 2, 0, 59, &minute))
        return false;
    time->seconds -= sign * (hour * 3600 + minute * 60);
    return true;
}

bool iso_time_parse(const char *text, struct iso_time *time)
{
    const char *at = text;
    *time = (struct iso_time){.kind = ISO_DATE};
    if (take_date(&at, time)) {
        if (!*at)
            return true;
        time->kind = ISO_LOCAL;
        return take_char(&at, 'T') && take_clock(&at, time) && (!*at || (take_zone(&at, time) && !*at));
    }
    at = text;
    *time = (struct iso_time){.kind = ISO_TIME};
    return take_clock(&at, time) && !*at;
}

int iso_time_compare(const struct iso_time *one, const struct iso_time *other)
{
    assert(one->kind == other->kind);
    if (one->seconds != other->seconds)
        return one->seconds < other->seconds ? -1 : 1;
    return (one->nanoseconds > other->nanoseconds) - (one->nanoseconds < other->nanoseconds);
}
