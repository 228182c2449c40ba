/* Dates in figures: 2026-04-01, 2026/4/1, 4/1, 01.04.2026, 20260401. */
#include "form/days.h"

#include <string.h>

enum date_order { ORDER_UNKNOWN, ORDER_MONTH_DAY, ORDER_DAY_MONTH };

/* How people of the country write a day without its year. */
static enum date_order date_order(const struct reading *in)
{
    enum country_is month_first = reading_country_is(in, " JP CN KR KP TW HK MN HU LT US PH PR GU ");
    if (month_first == COUNTRY_UNKNOWN)
        return strcmp(in->context->language, "ja") == 0 ? ORDER_MONTH_DAY : ORDER_UNKNOWN;
    if (reading_country_is(in, " CA ") == COUNTRY_LISTED)
        return ORDER_UNKNOWN;
    return month_first == COUNTRY_LISTED ? ORDER_MONTH_DAY : ORDER_DAY_MONTH;
}

static size_t date_figures(const struct reading *in, size_t i, int *value)
{
    size_t end = i;
    for (*value = 0; code_is_digit(code_at(in, end)) && end - i < 8; end++)
        *value = *value * 10 + (int)(code_at(in, end) - '0');
    return end;
}

/* Decides which of two numbers is the month: by the country's order; if that is unknown, a number above 12 is the day.
 * False if the order stays ambiguous. */
static bool date_two(const struct reading *in, int one, int other, bool dots, int *month, int *day)
{
    enum date_order order = dots ? ORDER_DAY_MONTH : date_order(in);
    if (order == ORDER_UNKNOWN && one != other && one <= 12 && other <= 12)
        return false;
    if (order == ORDER_UNKNOWN)
        order = one > 12 ? ORDER_DAY_MONTH : ORDER_MONTH_DAY;
    *month = order == ORDER_MONTH_DAY ? one : other;
    *day = order == ORDER_MONTH_DAY ? other : one;
    return true;
}

/* 01/04/2026: in a country that writes the year first this order is foreign, so that it must be clear by itself. */
static bool date_year_last(const struct reading *in, int one, int other, bool dots, int *month, int *day)
{
    enum country_is year_first = reading_country_is(in, " JP CN KR KP TW MN HU LT ");
    bool foreign =
        year_first == COUNTRY_LISTED || (year_first == COUNTRY_UNKNOWN && strcmp(in->context->language, "ja") == 0);
    if (dots || !foreign)
        return date_two(in, one, other, dots, month, day);
    *month = one > 12 ? other : one;
    *day = one > 12 ? one : other;
    return one > 12 || other > 12 || one == other;
}

static void date_unclear(struct date_found *found)
{
    found->problem = FORM_UNCLEAR_DATE;
}

static size_t date_compact(const struct reading *in, size_t i, size_t end, int value, struct date_found *found)
{
    int year = value / 10000;
    if (end - i != 8 || year < 1900 || year > 2100)
        return 0;
    date_settle(in, year, value / 100 % 100, value % 100, -1, found);
    return end;
}

size_t date_in_figures(const struct reading *in, size_t i, struct date_found *found)
{
    int parts[3] = {0}, month, day, weekday = -1;
    size_t ends[3];
    uint32_t before = i > 0 ? code_at(in, i - 1) : 0;
    if (!code_is_digit(code_at(in, i)) || code_is_digit(before) || code_is_latin(before) || before == '.' ||
        before == '-' || before == '/' || before == '@')
        return 0;
    ends[0] = date_figures(in, i, &parts[0]);
    uint32_t mark = code_at(in, ends[0]);
    if (mark != '/' && mark != '-' && mark != '.')
        return code_is_digit(mark) || code_is_latin(mark) ? 0 : date_compact(in, i, ends[0], parts[0], found);
    ends[1] = date_figures(in, ends[0] + 1, &parts[1]);
    if (ends[1] == ends[0] + 1 || ends[0] - i > 4 || ends[1] - ends[0] > 3)
        return 0;
    bool three = code_at(in, ends[1]) == mark && code_is_digit(code_at(in, ends[1] + 1));
    ends[2] = three ? date_figures(in, ends[1] + 1, &parts[2]) : ends[1];
    if (code_is_digit(code_at(in, ends[2])) || code_is_latin(code_at(in, ends[2])) || code_at(in, ends[2]) == '/' ||
        (code_at(in, ends[2]) == mark && code_is_digit(code_at(in, ends[2] + 1))))
        return 0;
    size_t end = weekday_behind(in, ends[2], &weekday);
    if (!three) { /* 3.5 is a number, 4-1 a range */
        if (mark != '/' || ends[0] - i > 2)
            return 0;
        if (date_two(in, parts[0], parts[1], false, &month, &day))
            date_settle_yearless(in, month, day, weekday, found);
        else
            date_unclear(found);
        return end;
    }
    if (ends[0] - i == 4 && ends[2] - ends[1] <= 3)
        date_settle(in, parts[0], parts[1], parts[2], weekday, found);
    else if (ends[0] - i <= 2 && ends[2] - ends[1] == 5 &&
             date_year_last(in, parts[0], parts[1], mark == '.', &month, &day))
        date_settle(in, parts[2], month, day, weekday, found);
    else if (ends[0] - i <= 2 && (ends[2] - ends[1] == 5 || ends[2] - ends[1] == 3))
        date_unclear(found);
    else
        return 0;
    return end;
}
