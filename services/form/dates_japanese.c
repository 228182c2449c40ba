/* 令和8年4月1日, 2026年4月1日(水), R8.4.1, 来年の4月1日, 来月3日, 今月末. */
#include "form/days.h"

#include "form/numbers.h"

static const struct {
    const char *name;
    int first; /* its first year */
    int most;  /* years that people count in it */
    bool letter;
} eras[] = {
    {"令和", 2019, 99, false}, {"平成", 1989, 40, false}, {"昭和", 1926, 64, false},
    {"大正", 1912, 15, false}, {"明治", 1868, 45, false}, {"㋿", 2019, 99, false},
    {"r", 2019, 99, true},     {"h", 1989, 40, true},     {"s", 1926, 64, true},
};

/* Reads a year: 令和8年, 西暦2026年, 2026年, R8. Returns its end, or 0. */
static size_t year_at(const struct reading *in, size_t i, int *year, bool *letter)
{
    *letter = false;
    for (size_t era = 0; era < sizeof(eras) / sizeof(*eras); era++) {
        size_t at = word_at(in, i, eras[era].name), end;
        int of_era = 1;
        if (!at)
            continue;
        end = word_at(in, skip_spaces(in, at), "元");
        if (!end)
            end = count_at(in, skip_spaces(in, at), 2, &of_era);
        if (!end || of_era < 1 || of_era > eras[era].most)
            return 0;
        *letter = eras[era].letter;
        *year = eras[era].first + of_era - 1;
        return end;
    }
    size_t at = word_at(in, i, "西暦");
    size_t end = count_at(in, at ? skip_spaces(in, at) : i, 4, year);
    return end && *year >= 1000 ? end : 0;
}

/* Reads a count with "月" or "日" behind it. Returns its end, or 0. */
static size_t unit_at(const struct reading *in, size_t i, const char *unit, int *value)
{
    size_t end = count_at(in, skip_spaces(in, i), 2, value);
    return end ? word_at(in, skip_spaces(in, end), unit) : 0;
}

/* The year that a word gives: 来年の4月1日. */
static size_t year_word_at(const struct reading *in, size_t i, int *year)
{
    static const char *const words[] = {"今年", "本年", "来年",   "再来年",   "さ来年",
                                        "去年", "昨年", "一昨年", "おととし", NULL};
    static const int years[] = {0, 0, 1, 2, 2, -1, -1, -2, -2};
    size_t which, end = words_at(in, i, words, &which);
    if (!end)
        return 0;
    *year = in->today.year + years[which];
    size_t of = word_at(in, end, "の");
    return of ? of : end;
}

/* 4月1日 behind a year, or 4月末; the month that is meant. */
static size_t month_and_day(const struct reading *in, size_t i, int *month, int *day)
{
    size_t end = unit_at(in, i, "月", month);
    if (!end)
        return 0;
    size_t last = words_at(in, end, (const char *const[]){"末日", "末", "の末日", NULL}, NULL);
    *day = last ? -1 : 0;
    return last ? last : unit_at(in, end, "日", day);
}

/* R8.4.1, 令和8/4/1. */
static size_t marked_at(const struct reading *in, size_t i, int *month, int *day)
{
    uint32_t mark = code_at(in, i);
    if (mark != '.' && mark != '/' && mark != '-')
        return 0;
    size_t end = count_at(in, i + 1, 2, month);
    end = end && code_at(in, end) == mark ? count_at(in, end + 1, 2, day) : 0;
    return end && !code_is_digit(code_at(in, end)) ? end : 0;
}

static size_t with_year(const struct reading *in, size_t i, struct date_found *found)
{
    int year, month, day, weekday = -1;
    bool letter;
    size_t end, at = year_word_at(in, i, &year);
    letter = false;
    if (!at && i > 0 && code_is_digit(code_at(in, i - 1)))
        return 0;
    if (!at) {
        at = year_at(in, i, &year, &letter);
        end = at ? marked_at(in, at, &month, &day) : 0;
        if (end && (letter || script_of(code_at(in, i)) == SCRIPT_HAN)) {
            date_settle(in, year, month, day, -1, found);
            return weekday_behind(in, end, &weekday);
        }
        at = at ? word_at(in, skip_spaces(in, at), "年") : 0;
    }
    end = at ? month_and_day(in, at, &month, &day) : 0;
    if (!end)
        return 0;
    if (day < 0 && month >= 1 && month <= 12)
        day = days_in_month(year, month);
    end = weekday_behind(in, end, &weekday);
    date_settle(in, year, month, day, weekday, found);
    return end;
}

static size_t without_year(const struct reading *in, size_t i, struct date_found *found)
{
    int month, day, weekday = -1;
    if (i > 0 && code_is_digit(code_at(in, i - 1)))
        return 0;
    size_t end = month_and_day(in, i, &month, &day);
    if (!end)
        return 0;
    end = weekday_behind(in, end, &weekday);
    if (day < 0) /* the end of February needs a year */
        day = month >= 1 && month <= 12 && month != 2 ? days_in_month(2001, month) : 0;
    if (day == 0)
        found->problem = FORM_UNCLEAR_DATE;
    else
        date_settle_yearless(in, month, day, weekday, found);
    return end;
}

/* 来月3日, 今月の15日, 来月末. */
static size_t of_a_month(const struct reading *in, size_t i, struct date_found *found)
{
    static const char *const words[] = {"今月", "来月", "再来月", "先月", "先々月", NULL};
    static const int months[] = {0, 1, 2, -1, -2};
    size_t which, end = words_at(in, i, words, &which);
    int day, weekday = -1;
    if (!end)
        return 0;
    struct day first = day_add_months((struct day){in->today.year, in->today.month, 1}, months[which]);
    size_t of = word_at(in, end, "の");
    of = of ? of : end;
    size_t last = words_at(in, of, (const char *const[]){"末日", "末", NULL}, NULL);
    size_t after = last ? last : unit_at(in, of, "日", &day);
    if (!after)
        return 0;
    day = last ? days_in_month(first.year, first.month) : day;
    after = weekday_behind(in, after, &weekday);
    date_settle(in, first.year, first.month, day, weekday, found);
    return after;
}

size_t date_in_japanese(const struct reading *in, size_t i, struct date_found *found)
{
    size_t end = with_year(in, i, found);
    if (!end)
        end = of_a_month(in, i, found);
    return end ? end : without_year(in, i, found);
}
