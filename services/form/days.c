#include "form/days.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define YEAR_MIN 1000
#define YEAR_MAX 9999
/* Two years are equally near if the nearer day is at least this many days away: half a year is 182. */
#define NEAR_DAYS 150

int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

bool day_is_real(struct day day)
{
    return day.year >= YEAR_MIN && day.year <= YEAR_MAX && day.month >= 1 && day.month <= 12 && day.day >= 1 &&
           day.day <= days_in_month(day.year, day.month);
}

/* Years begin in March, so that the leap day is the last. */
int64_t day_number(struct day day)
{
    int64_t year = day.month <= 2 ? day.year - 1 : day.year, era = year / 400, of_era = year - era * 400;
    int64_t month = (day.month + 9) % 12, of_year = (153 * month + 2) / 5 + day.day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct day day_of_number(int64_t number)
{
    number += 719468;
    int64_t era = number / 146097, of_era = number - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
    struct day day = {.year = (int)(year + era * 400),
                      .month = (int)(month < 10 ? month + 3 : month - 9),
                      .day = (int)(of_year - (153 * month + 2) / 5 + 1)};
    day.year += day.month <= 2;
    return day;
}

int day_weekday(struct day day)
{
    return (int)((day_number(day) + 4) % 7 + 7) % 7;
}

struct day day_add_months(struct day day, int months)
{
    int month = day.year * 12 + day.month - 1 + months;
    struct day moved = {.year = month / 12, .month = month % 12 + 1, .day = day.day};
    int most = days_in_month(moved.year, moved.month);
    moved.day = moved.day > most ? most : moved.day;
    return moved;
}

struct day day_today(const struct reading *in)
{
    return (struct day){.year = in->today.year, .month = in->today.month, .day = in->today.day};
}

bool day_limit(const struct reading *in, const char *limit, struct day *day)
{
    bool is_today;
    if (!limit[0] || !form_limit_date(limit, &is_today))
        return false;
    *day = day_today(in);
    if (!is_today) {
        day->year = atoi(limit);
        day->month = atoi(limit + 5);
        day->day = atoi(limit + 8);
    }
    return true;
}

/* ---- a year that is not said ------------------------------------------------------------------------------------- */

static bool day_within(const struct reading *in, struct day day)
{
    const Renga__V1__FieldLimits *limits = in->spec->limits;
    struct day bound;
    if (!limits)
        return true;
    if (day_limit(in, limits->minimum, &bound) && day_number(day) < day_number(bound))
        return false;
    return !day_limit(in, limits->maximum, &bound) || day_number(day) <= day_number(bound);
}

/* A person's day of birth is not near today, so that its year must be said. */
static bool day_is_of_birth(const struct reading *in)
{
    static const char *const words[] = {"誕生", "生年月日", "生まれ", "birth", "born", "dob"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcasestr(in->spec->label, words[i]) || strcasestr(in->spec->field_id, words[i]))
            return true;
    }
    return false;
}

enum form_problem day_choose_year(const struct reading *in, int month, int day, int weekday, struct day *chosen)
{
    int64_t today = day_number(day_today(in)), nearest = INT64_MAX, second = INT64_MAX;
    bool real = false;
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(2000, month))
        return FORM_NO_SUCH_DATE;
    if (day_is_of_birth(in))
        return FORM_UNCLEAR_DATE;
    for (int within = 1; within >= 0 && !real; within--) {
        for (int year = in->today.year - 8; year <= in->today.year + 8; year++) {
            struct day tried = {.year = year, .month = month, .day = day};
            if (!day_is_real(tried) || (within && !day_within(in, tried)) ||
                (weekday >= 0 && day_weekday(tried) != weekday))
                continue;
            int64_t away = llabs(day_number(tried) - today);
            real = true;
            second = away < nearest ? nearest : away < second ? away : second;
            *chosen = away < nearest ? tried : *chosen;
            nearest = away < nearest ? away : nearest;
        }
    }
    /* A weekday moves by 1 or 2 days a year: 17 years always contain a match, but it may be distant. */
    bool distant = weekday >= 0 && nearest > 400;
    if (!real || distant)
        return FORM_UNCLEAR_DATE;
    return nearest >= NEAR_DAYS && second < 366 - NEAR_DAYS ? FORM_UNCLEAR_DATE : FORM_FINE;
}

void date_settle(const struct reading *in, int year, int month, int day, int weekday, struct date_found *found)
{
    (void)in;
    found->day = (struct day){.year = year, .month = month, .day = day};
    found->problem = day_is_real(found->day) ? FORM_FINE : FORM_NO_SUCH_DATE;
    if (found->problem == FORM_FINE && weekday >= 0 && day_weekday(found->day) != weekday)
        found->problem = FORM_UNCLEAR_DATE;
}

void date_settle_yearless(const struct reading *in, int month, int day, int weekday, struct date_found *found)
{
    found->problem = day_choose_year(in, month, day, weekday, &found->day);
}
