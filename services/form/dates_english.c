/* "April 1st, 2026", "1 April", "the 1st of April 2026", "Wed, Apr. 1". */
#include "form/days.h"

#include "form/numbers.h"

static size_t month_name_at(const struct reading *in, size_t i, int *month)
{
    static const char *const names[] = {"january", "february",  "march",   "april",    "may",      "june", "july",
                                        "august",  "september", "october", "november", "december", "jan",  "feb",
                                        "mar",     "apr",       "jun",     "jul",      "aug",      "sep",  "sept",
                                        "oct",     "nov",       "dec",     NULL};
    static const int months[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 6, 7, 8, 9, 9, 10, 11, 12};
    size_t which, end = words_at(in, i, names, &which);
    if (!end)
        return 0;
    *month = months[which];
    return which >= 12 && code_at(in, end) == '.' ? end + 1 : end;
}

/* 1, 1st, first, twenty-first. */
static size_t day_of_month_at(const struct reading *in, size_t i, int *day)
{
    static const char *const words[] = {"first",        "second",        "third",          "fourth",
                                        "fifth",        "sixth",         "seventh",        "eighth",
                                        "ninth",        "tenth",         "eleventh",       "twelfth",
                                        "thirteenth",   "fourteenth",    "fifteenth",      "sixteenth",
                                        "seventeenth",  "eighteenth",    "nineteenth",     "twentieth",
                                        "twenty-first", "twenty-second", "twenty-third",   "twenty-fourth",
                                        "twenty-fifth", "twenty-sixth",  "twenty-seventh", "twenty-eighth",
                                        "twenty-ninth", "thirtieth",     "thirty-first",   NULL};
    static const char *const endings[] = {"st", "nd", "rd", "th", NULL};
    size_t which, end = words_at(in, i, words, &which);
    if (end) {
        *day = (int)which + 1;
        return end;
    }
    if (!code_is_digit(code_at(in, i)) || (i > 0 && (code_is_digit(code_at(in, i - 1)) || code_at(in, i - 1) == '/')))
        return 0;
    end = count_at(in, i, 2, day);
    size_t ending = end ? words_at(in, end, endings, NULL) : 0;
    if (ending)
        return ending;
    return end && !code_is_latin(code_at(in, end)) && code_at(in, end) != ':' && code_at(in, end) != '/' &&
                   !(code_at(in, end) == '.' && code_is_digit(code_at(in, end + 1)))
               ? end
               : 0;
}

/* A year behind a day: ", 2026", " 2026", " of 2026", " next year". Returns its end, or 0 if there is no year. */
static size_t english_year_at(const struct reading *in, size_t i, int *year)
{
    static const char *const words[] = {"this year", "next year", "last year", NULL};
    static const int years[] = {0, 1, -1};
    size_t at = skip_spaces(in, i), which;
    if (code_at(in, at) == ',')
        at = skip_spaces(in, at + 1);
    size_t of = words_at(in, at, (const char *const[]){"of", "in", NULL}, NULL);
    at = of ? skip_spaces(in, of) : at;
    size_t end = words_at(in, at, words, &which);
    if (end) {
        *year = in->today.year + years[which];
        return end;
    }
    if (!code_is_digit(code_at(in, at)) || at == i)
        return 0;
    end = count_at(in, at, 4, year);
    return end && *year >= 1000 && code_at(in, end) != ':' ? end : 0;
}

static void english_settle(const struct reading *in, int year, int month, int day, int weekday,
                           struct date_found *found)
{
    if (year)
        date_settle(in, year, month, day, weekday, found);
    else
        date_settle_yearless(in, month, day, weekday, found);
}

/* "April 1st(, 2026)". */
static size_t month_first(const struct reading *in, size_t i, int weekday, struct date_found *found)
{
    int month, day, year = 0;
    size_t at = month_name_at(in, i, &month), year_end;
    if (!at)
        return 0;
    size_t the = word_at(in, skip_spaces(in, at), "the");
    size_t end = day_of_month_at(in, skip_spaces(in, the ? the : at), &day);
    if (!end) {
        /* A month without its day is part of no date that we know. */
        return 0;
    }
    year_end = english_year_at(in, end, &year);
    english_settle(in, year, month, day, weekday, found);
    return year_end ? year_end : end;
}

/* "1 April( 2026)", "the 1st of April". */
static size_t day_first(const struct reading *in, size_t i, int weekday, struct date_found *found)
{
    int month, day, year = 0;
    size_t end = day_of_month_at(in, i, &day), year_end;
    if (!end)
        return 0;
    size_t of = word_at(in, skip_spaces(in, end), "of");
    size_t at = skip_spaces(in, of ? of : end);
    at = code_at(in, at) == '-' ? at + 1 : at;
    end = month_name_at(in, at, &month);
    if (!end)
        return 0;
    size_t year_at = code_at(in, end) == '-' ? end : SIZE_MAX;
    year_end = year_at == SIZE_MAX ? english_year_at(in, end, &year) : count_at(in, year_at + 1, 4, &year);
    if (year_end && year < 1000)
        year_end = year = 0;
    english_settle(in, year, month, day, weekday, found);
    return year_end ? year_end : end;
}

size_t date_in_english(const struct reading *in, size_t i, struct date_found *found)
{
    int weekday = -1;
    uint32_t code = code_at(in, i);
    if (!code_is_digit(code) && !code_is_latin(code))
        return 0;
    size_t at = weekday_at(in, i, &weekday);
    if (at) {
        at = code_at(in, at) == '.' ? at + 1 : at;
        at = skip_spaces(in, at);
        at = code_at(in, at) == ',' ? skip_spaces(in, at + 1) : at;
        size_t the = words_at(in, at, (const char *const[]){"the", "on", NULL}, NULL);
        at = the ? skip_spaces(in, the) : at;
    } else {
        at = i;
    }
    size_t end = month_first(in, at, weekday, found);
    return end ? end : day_first(in, at, weekday, found);
}
