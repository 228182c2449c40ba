/* Dates that are counted from today: 明日, 来週の金曜, 3日前, "next Friday", "in two weeks". A week begins on Monday:
 * next Friday is in the week after this week, on every day of the week. */
#include "form/days.h"

#include "form/numbers.h"

static const struct {
    const char *word;
    int days;
} days_away[] = {
    {"今日", 0},
    {"きょう", 0},
    {"本日", 0},
    {"明日", 1},
    {"あした", 1},
    {"あす", 1},
    {"明後日", 2},
    {"あさって", 2},
    {"しあさって", 3},
    {"昨日", -1},
    {"きのう", -1},
    {"一昨日", -2},
    {"おととい", -2},
    {"today", 0},
    {"tomorrow", 1},
    {"yesterday", -1},
    {"tonight", 0},
    {"day after tomorrow", 2},
    {"day before yesterday", -2},
    {"the day after tomorrow", 2},
    {"the day before yesterday", -2},
    {"this morning", 0},
    {"this afternoon", 0},
    {"this evening", 0},
    {"last night", -1},
    {"yesterday evening", -1},
    {"今朝", 0},
    {"今晩", 0},
    {"昨夜", -1},
    {"昨晩", -1},
};

static void date_away(const struct reading *in, int64_t days, struct date_found *found)
{
    found->day = day_of_number(day_number(day_today(in)) + days);
    found->problem = day_is_real(found->day) ? FORM_FINE : FORM_NO_SUCH_DATE;
}

/* 明日香 is a name, and あす may be the end of another word. */
static bool day_stands_alone(const struct reading *in, size_t first, size_t end)
{
    static const char *const behind[] = {"朝", "夜", "晩",   "昼",   "夕", "午",   "中",
                                         "付", "以", "現在", "時点", "締", "前後", NULL};
    static const char *const particles[] = {"は", "が", "の", "に", "で", "と", "も", NULL};
    uint32_t before = first > 0 ? code_at(in, first - 1) : 0;
    if (script_of(code_at(in, first)) == SCRIPT_HAN)
        return (before == 0 || script_of(before) != SCRIPT_HAN) &&
               (script_of(code_at(in, end)) != SCRIPT_HAN || words_at(in, end, behind, NULL));
    return before == 0 || script_of(before) != SCRIPT_HIRAGANA || words_at(in, first - 1, particles, NULL);
}

static size_t named_day(const struct reading *in, size_t i, struct date_found *found)
{
    size_t longest = 0;
    int days = 0;
    for (size_t word = 0; word < sizeof(days_away) / sizeof(*days_away); word++) {
        size_t end = word_at(in, i, days_away[word].word);
        days = end > longest ? days_away[word].days : days;
        longest = end > longest ? end : longest;
    }
    if (!longest || !day_stands_alone(in, i, longest))
        return 0;
    date_away(in, days, found);
    return longest;
}

/* ---- weekdays ---------------------------------------------------------------------------------------------------- */

size_t weekday_at(const struct reading *in, size_t i, int *weekday)
{
    static const char *const names[] = {
        "日曜日",   "月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日",  "日曜",      "月曜",     "火曜",
        "水曜",     "木曜",   "金曜",   "土曜",   "sunday", "monday", "tuesday", "wednesday", "thursday", "friday",
        "saturday", "sun",    "mon",    "tue",    "wed",    "thu",    "fri",     "sat",       NULL};
    size_t which, end = words_at(in, i, names, &which);
    if (end)
        *weekday = (int)(which % 7);
    if (!end && (end = words_at(in, i, (const char *const[]){"tues", "thurs", "thur", NULL}, &which)) != 0)
        *weekday = which == 0 ? 2 : 4;
    return end;
}

size_t weekday_behind(const struct reading *in, size_t i, int *weekday)
{
    static const char *const days[] = {"日", "月", "火", "水", "木", "金", "土", NULL};
    size_t which, at = skip_spaces(in, i), bracket = code_at(in, at) == '(' ? at + 1 : at;
    size_t end = weekday_at(in, bracket, weekday);
    if (!end && bracket > at && (end = words_at(in, bracket, days, &which)) != 0)
        *weekday = (int)which;
    if (!end || (bracket > at && code_at(in, end) != ')') ||
        (bracket == at && script_of(code_at(in, at)) != SCRIPT_HAN)) {
        *weekday = -1;
        return i;
    }
    return bracket > at ? end + 1 : end;
}

/* Days from today to the weekday of a week, counted from Monday. */
static int weekday_of_week(const struct reading *in, int weeks, int weekday)
{
    int today = (in->today.weekday + 6) % 7, wanted = (weekday + 6) % 7;
    return weeks * 7 + wanted - today;
}

static size_t weekday_of(const struct reading *in, size_t i, struct date_found *found)
{
    static const char *const weeks[] = {"今週", "来週", "再来週", "さ来週",      "先週",      "先々週",
                                        "this", "next", "last",   "this coming", "this past", NULL};
    static const int counts[] = {0, 1, 2, 2, -1, -2, 0, 1, -1, 0, 0};
    size_t which, at = words_at(in, i, weeks, &which);
    int weekday;
    if (!at)
        return 0;
    size_t of = word_at(in, at, "の");
    at = skip_spaces(in, of ? of : at);
    size_t end = weekday_at(in, at, &weekday);
    size_t week = which >= 6 ? word_at(in, at, "week") : 0; /* "next week on Friday" */
    if (!end && week) {
        size_t on = word_at(in, skip_spaces(in, week), "on");
        size_t comma = code_at(in, week) == ',' ? week + 1 : week;
        end = weekday_at(in, skip_spaces(in, on ? on : comma), &weekday);
    }
    if (!end)
        return 0;
    int days = weekday_of_week(in, counts[which], weekday);
    if (which == 9 && days < 0)
        days += 7;
    if (which == 10 && days >= 0)
        days -= 7;
    date_away(in, days, found);
    return end;
}

/* "Friday of next week", "Monday next week", "a week on Friday" is left out. */
static size_t weekday_then_week(const struct reading *in, size_t i, struct date_found *found)
{
    static const char *const weeks[] = {"this week",    "next week",    "last week", "of this week",
                                        "of next week", "of last week", NULL};
    int weekday;
    size_t which, end = weekday_at(in, i, &weekday);
    size_t week = end ? words_at(in, skip_spaces(in, end), weeks, &which) : 0;
    if (!week)
        return 0;
    date_away(in, weekday_of_week(in, which % 3 == 1 ? 1 : which % 3 == 2 ? -1 : 0, weekday), found);
    return week;
}

/* A weekday alone: the next such day if the form asks for a future date, the last such day if it asks for a past date.
 * Otherwise the date is unclear. */
static size_t weekday_alone(const struct reading *in, size_t i, struct date_found *found)
{
    const Renga__V1__FieldLimits *limits = in->spec->limits;
    struct day bound;
    int weekday;
    static const char *const coming[] = {"次の", "今度の", "coming", "the coming", NULL};
    size_t next = words_at(in, i, coming, NULL);
    size_t at = next ? skip_spaces(in, next) : i, end = weekday_at(in, at, &weekday);
    bool short_name = end && end - at == 3 && code_is_latin(code_at(in, at)); /* "sat" and "sun" are words */
    bool part =
        i > 0 && !next && script_of(code_at(in, i - 1)) == SCRIPT_HAN && script_of(code_at(in, i)) == SCRIPT_HAN;
    if (!end || short_name || part)
        return 0;
    int64_t today = day_number(day_today(in));
    bool ahead = next || (limits && day_limit(in, limits->minimum, &bound) && day_number(bound) >= today);
    bool behind = limits && day_limit(in, limits->maximum, &bound) && day_number(bound) <= today;
    int days = (weekday - in->today.weekday + 7) % 7;
    found->problem = FORM_UNCLEAR_DATE;
    if (ahead != behind && days != 0)
        date_away(in, ahead ? days : days - 7, found);
    return end;
}

/* ---- so many days, weeks, months away ---------------------------------------------------------------------------- */

enum { UNIT_DAY, UNIT_WEEK, UNIT_MONTH, UNIT_YEAR };

static void date_units_away(const struct reading *in, int count, int unit, struct date_found *found)
{
    if (unit == UNIT_DAY || unit == UNIT_WEEK) {
        date_away(in, (int64_t)count * (unit == UNIT_WEEK ? 7 : 1), found);
        return;
    }
    found->day = day_add_months(day_today(in), unit == UNIT_YEAR ? 12 * count : count);
    found->problem = day_is_real(found->day) ? FORM_FINE : FORM_NO_SUCH_DATE;
}

static size_t japanese_away(const struct reading *in, size_t i, struct date_found *found)
{
    static const char *const unit_words[] = {"日", "週間", "週", "ヶ月", "か月", "カ月", "ヵ月", "箇月", "年", NULL};
    static const int units[] = {UNIT_DAY,   UNIT_WEEK,  UNIT_WEEK,  UNIT_MONTH, UNIT_MONTH,
                                UNIT_MONTH, UNIT_MONTH, UNIT_MONTH, UNIT_YEAR};
    static const char *const ways[] = {"前", "後", "まえ", "あと", NULL};
    int count;
    size_t unit, way;
    if (i > 0 &&
        (code_is_digit(code_at(in, i - 1)) || script_of(code_at(in, i - 1)) == SCRIPT_HAN || code_at(in, i - 1) == '/'))
        return 0;
    size_t end = count_at(in, i, 3, &count);
    end = end ? words_at(in, skip_spaces(in, end), unit_words, &unit) : 0;
    end = end ? words_at(in, end, ways, &way) : 0;
    if (!end)
        return 0;
    date_units_away(in, way % 2 == 0 ? -count : count, units[unit], found);
    /* "Three years ago" does not name a day. */
    if (units[unit] == UNIT_YEAR || (units[unit] == UNIT_MONTH && count > 2))
        found->problem = FORM_UNCLEAR_DATE;
    return end;
}

/* A count of units: "two weeks", "a week", "3 days". */
static size_t english_units_at(const struct reading *in, size_t i, int *count, int *unit)
{
    static const char *const words[] = {"day",    "days", "week",  "weeks",     "month",
                                        "months", "year", "years", "fortnight", NULL};
    size_t which, at = words_at(in, i, (const char *const[]){"a", "an", NULL}, NULL);
    struct number number;
    *count = 1;
    if (!at) {
        number = code_is_digit(code_at(in, i)) ? number_at(in, i) : english_number_at(in, i);
        if (number.kind != NUMBER_FIGURES && number.kind != NUMBER_WORDS)
            return 0;
        if (number.value.scale != 0 || number.value.units > 999 || number.value.units < 0)
            return 0;
        *count = (int)number.value.units;
        at = number.end;
    }
    size_t end = words_at(in, skip_spaces(in, at), words, &which);
    *unit = which == 8 ? UNIT_WEEK : (int)which / 2;
    *count *= end && which == 8 ? 2 : 1;
    return end;
}

static size_t english_away(const struct reading *in, size_t i, struct date_found *found)
{
    static const char *const ways[] = {"ago", "from now", "from today", "later", "before today", NULL};
    int count, unit;
    size_t way, starts = word_at(in, i, "in");
    size_t at = starts ? skip_spaces(in, starts) : i;
    if (!code_is_latin(code_at(in, at)) && !code_is_digit(code_at(in, at)))
        return 0;
    if (!starts && i > 0 &&
        (code_is_digit(code_at(in, i - 1)) || code_at(in, i - 1) == '-' || code_at(in, i - 1) == '/'))
        return 0;
    size_t end = english_units_at(in, at, &count, &unit);
    size_t behind = end ? words_at(in, skip_spaces(in, end), ways, &way) : 0;
    if (!end || (!starts && !behind) || (starts && behind && way == 0))
        return 0;
    if (behind && way == 3) /* later than which day? */
        return 0;
    date_units_away(in, behind && (way == 0 || way == 4) ? -count : count, unit, found);
    if (unit == UNIT_YEAR || (unit == UNIT_MONTH && count > 2))
        found->problem = FORM_UNCLEAR_DATE;
    return behind ? behind : end;
}

size_t date_from_today(const struct reading *in, size_t i, struct date_found *found)
{
    size_t end = named_day(in, i, found);
    if (!end)
        end = weekday_of(in, i, found);
    if (!end)
        end = weekday_then_week(in, i, found);
    if (!end)
        end = japanese_away(in, i, found);
    if (!end)
        end = english_away(in, i, found);
    return end ? end : weekday_alone(in, i, found);
}
