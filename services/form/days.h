/* Private to services/form: days of the Gregorian calendar, and how a person's words become one. */
#ifndef RENGA_FORM_DAYS_H
#define RENGA_FORM_DAYS_H

#include "form/reading.h"

struct day {
    int year, month, day;
};

bool day_is_real(struct day day);
int days_in_month(int year, int month);
/* Days since 1970-01-01. */
int64_t day_number(struct day day);
struct day day_of_number(int64_t number);
/* 0 on Sunday. */
int day_weekday(struct day day);
/* The same day so many months on; the last of the month where it has no such day. */
struct day day_add_months(struct day day, int months);

/* A year in which the person says the day, where no year is said: the nearest to today within the field's bounds.
 * `weekday` is -1 where the person has said none. FORM_UNCLEAR_DATE: two years are as near. */
enum form_problem day_choose_year(const struct reading *in, int month, int day, int weekday, struct day *chosen);

/* The day that a date limit stands for; false where there is none. */
bool day_limit(const struct reading *in, const char *limit, struct day *day);

struct day day_today(const struct reading *in);

/* A date that begins at `i`: its end, or 0. */
struct date_found {
    size_t end;
    enum form_problem problem;
    struct day day;
};
size_t date_in_figures(const struct reading *in, size_t i, struct date_found *found);
size_t date_in_japanese(const struct reading *in, size_t i, struct date_found *found);
size_t date_in_english(const struct reading *in, size_t i, struct date_found *found);
size_t date_from_today(const struct reading *in, size_t i, struct date_found *found);

/* A weekday's name that begins at `i`: its end, or 0. `in_brackets`: 4月1日(水). */
size_t weekday_at(const struct reading *in, size_t i, int *weekday);
size_t weekday_behind(const struct reading *in, size_t i, int *weekday);

/* Fills the result: a real day, or the problem that there is no such day. A weekday that is said and is another one
 * makes it unclear. */
void date_settle(const struct reading *in, int year, int month, int day, int weekday, struct date_found *found);
/* The same without a year. */
void date_settle_yearless(const struct reading *in, int month, int day, int weekday, struct date_found *found);

#endif
