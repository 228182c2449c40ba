/* Private to services/form: days of the Gregorian calendar, and the readers that find them in a person's words. */
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
/* The same day `months` later; the last day of the month if the month is shorter. */
struct day day_add_months(struct day day, int months);

/* Chooses the year of a day that was given without a year: the nearest year to today within the field's bounds.
 * `weekday` is -1 if the person gave no weekday. FORM_UNCLEAR_DATE: two years are equally near. */
enum form_problem day_choose_year(const struct reading *in, int month, int day, int weekday, struct day *chosen);

/* The day of a date limit; false if the limit is not a date. */
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

/* Fills the result with a real day, or with FORM_NO_SUCH_DATE. A weekday that does not match the day makes the date
 * unclear. */
void date_settle(const struct reading *in, int year, int month, int day, int weekday, struct date_found *found);
/* The same without a year. */
void date_settle_yearless(const struct reading *in, int month, int day, int weekday, struct date_found *found);

#endif
