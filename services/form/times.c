/* Times of day in an answer: 15:30, 午後3時半, "3:30pm", "noon". */
#include "form/reading.h"

#include <stdio.h>
#include <string.h>

#include "form/numbers.h"

/* Which half of the day an hour is in. */
enum half { HALF_UNSAID, HALF_MORNING, HALF_AFTERNOON, HALF_NIGHT, HALF_NOON };

struct time_found {
    size_t end;
    int hour, minute, second;
    enum half half;
    bool padded; /* "03:30": by the clock of 24 hours */
};

static size_t half_before_at(const struct reading *in, size_t i, enum half *half)
{
    static const char *const words[] = {"午前",   "朝",     "早朝",   "am",     "a.m.",   "午後", "夕方",
                                        "昼過ぎ", "pm",     "p.m.",   "夜",     "晩",     "深夜", "夜中",
                                        "未明",   "お昼",   "昼",     "正午",   "夜の",   "朝の", "夕方の",
                                        "昼の",   "お昼の", "深夜の", "午後の", "午前の", NULL};
    static const enum half halves[] = {
        HALF_MORNING,   HALF_MORNING,   HALF_MORNING,   HALF_MORNING,   HALF_MORNING, HALF_AFTERNOON, HALF_AFTERNOON,
        HALF_AFTERNOON, HALF_AFTERNOON, HALF_AFTERNOON, HALF_NIGHT,     HALF_NIGHT,   HALF_NIGHT,     HALF_NIGHT,
        HALF_MORNING,   HALF_NOON,      HALF_NOON,      HALF_NOON,      HALF_NIGHT,   HALF_MORNING,   HALF_AFTERNOON,
        HALF_NOON,      HALF_NOON,      HALF_NIGHT,     HALF_AFTERNOON, HALF_MORNING};
    size_t which, end = words_at(in, i, words, &which);
    *half = end ? halves[which] : HALF_UNSAID;
    return end ? skip_spaces(in, end) : i;
}

static size_t half_behind_at(const struct reading *in, size_t i, enum half *half)
{
    static const char *const words[] = {"am",
                                        "a.m.",
                                        "a.m",
                                        "in the morning",
                                        "pm",
                                        "p.m.",
                                        "p.m",
                                        "in the afternoon",
                                        "in the evening",
                                        "at night",
                                        "this morning",
                                        "this afternoon",
                                        "this evening",
                                        "a",
                                        "p",
                                        NULL};
    static const enum half halves[] = {HALF_MORNING,   HALF_MORNING,   HALF_MORNING,   HALF_MORNING,   HALF_AFTERNOON,
                                       HALF_AFTERNOON, HALF_AFTERNOON, HALF_AFTERNOON, HALF_AFTERNOON, HALF_NIGHT,
                                       HALF_MORNING,   HALF_AFTERNOON, HALF_AFTERNOON, HALF_UNSAID,    HALF_UNSAID};
    size_t which, end = words_at(in, skip_spaces(in, i), words, &which);
    if (!end || halves[which] == HALF_UNSAID)
        return i;
    *half = halves[which];
    return end;
}

/* The hour of 24, or -1 if it is invalid: 午後15時 is 15, 午後0時 is noon, 夜1時 is 01:00. */
static int hour_of_day(int hour, enum half half)
{
    if (hour > 23)
        return -1;
    switch (half) {
    case HALF_MORNING:
        return hour == 12 ? 0 : hour > 12 ? -1 : hour;
    case HALF_AFTERNOON:
        return hour < 12 ? hour + 12 : hour;
    case HALF_NIGHT:
        return hour >= 5 && hour < 12 ? hour + 12 : hour == 12 ? 0 : hour > 12 || hour < 5 ? hour : -1;
    case HALF_NOON:
        return hour < 5 ? hour + 12 : hour;
    default:
        return hour;
    }
}

/* 15:30, 15:30:20. */
static size_t clock_at(const struct reading *in, size_t i, struct time_found *found)
{
    if (i > 0 && (code_is_digit(code_at(in, i - 1)) || code_at(in, i - 1) == ':' || code_at(in, i - 1) == '-' ||
                  code_at(in, i - 1) == '/' || code_at(in, i - 1) == '.'))
        return 0;
    size_t end = code_is_digit(code_at(in, i)) ? count_at(in, i, 2, &found->hour) : 0;
    if (!end || code_at(in, end) != ':' || !code_is_digit(code_at(in, end + 1)))
        return 0;
    found->padded = end - i == 2 && code_at(in, i) == '0';
    size_t minute = count_at(in, end + 1, 2, &found->minute);
    if (minute != end + 3)
        return 0;
    end = minute;
    if (code_at(in, end) == ':' && code_is_digit(code_at(in, end + 1))) {
        end = count_at(in, end + 1, 2, &found->second);
        if (end != minute + 3)
            return 0;
    }
    return code_is_digit(code_at(in, end)) || code_at(in, end) == ':' ? 0 : end;
}

/* 3時, 3時半, 3時15分, 3時10分前 is left out. */
static size_t japanese_clock_at(const struct reading *in, size_t i, struct time_found *found)
{
    if (i > 0 && code_is_digit(code_at(in, i - 1)))
        return 0;
    size_t end = count_at(in, i, 2, &found->hour);
    end = end ? word_at(in, skip_spaces(in, end), "時") : 0;
    if (!end || word_at(in, end, "間") || word_at(in, end, "点") || word_at(in, end, "期"))
        return 0;
    size_t half = word_at(in, end, "半");
    size_t minute = half ? 0 : count_at(in, skip_spaces(in, end), 2, &found->minute);
    minute = minute ? word_at(in, skip_spaces(in, minute), "分") : 0;
    if (minute && word_at(in, minute, "前"))
        return 0;
    found->minute = half ? 30 : minute ? found->minute : 0;
    return half ? half : minute ? minute : end;
}

/* "3pm", "3 o'clock", "half past three", "quarter to four". */
static size_t english_clock_at(const struct reading *in, size_t i, struct time_found *found)
{
    static const char *const past[] = {"half past",  "quarter past", "a quarter past",
                                       "quarter to", "a quarter to", NULL};
    static const int minutes[] = {30, 15, 15, -15, -15};
    size_t which = 0, lead = words_at(in, i, past, &which), at = lead ? skip_spaces(in, lead) : i;
    enum half half = HALF_UNSAID;
    if (i > 0 && (code_is_digit(code_at(in, i - 1)) || code_at(in, i - 1) == ':' || code_at(in, i - 1) == '.'))
        return 0;
    struct number word;
    size_t end = code_is_digit(code_at(in, at)) ? count_at(in, at, 2, &found->hour) : 0;
    if (!end && code_is_latin(code_at(in, at))) {
        word = english_number_at(in, at);
        if (word.kind != NUMBER_WORDS || word.value.scale || word.value.units < 1 || word.value.units > 12)
            return 0;
        found->hour = (int)word.value.units;
        end = word.end;
    }
    size_t point = end && code_at(in, end) == '.' ? count_at(in, end + 1, 2, &found->minute) : 0; /* 3.30pm */
    point = point == end + 3 ? point : 0;
    size_t clock = end ? word_at(in, skip_spaces(in, end), "o'clock") : 0;
    size_t behind = end ? half_behind_at(in, point ? point : clock ? clock : end, &half) : 0;
    if (!end || (!lead && !clock && half == HALF_UNSAID))
        return 0;
    if (point && half == HALF_UNSAID)
        return 0;
    found->minute = lead ? (minutes[which] + 60) % 60 : point ? found->minute : 0;
    found->hour = lead && minutes[which] < 0 ? (found->hour == 1 ? 12 : found->hour - 1) : found->hour;
    return half != HALF_UNSAID ? behind : clock ? clock : end;
}

static size_t named_time_at(const struct reading *in, size_t i, struct time_found *found)
{
    size_t noon = words_at(in, i, (const char *const[]){"noon", "midday", "正午", NULL}, NULL);
    size_t midnight = words_at(in, i, (const char *const[]){"midnight", "零時", NULL}, NULL);
    if (noon && (word_at(in, skip_spaces(in, noon), "to") || word_at(in, noon, "過ぎ")))
        return 0;
    found->hour = noon ? 12 : 0;
    found->minute = 0;
    found->half = noon ? HALF_NOON : HALF_MORNING;
    return noon ? noon : midnight;
}

/* ---- the half of the day if the answer does not say it ----------------------------------------------------------- */

static bool time_within(const struct reading *in, int hour, int minute)
{
    const Renga__V1__FieldLimits *limits = in->spec->limits;
    char text[32];
    snprintf(text, sizeof(text), "%02d:%02d", hour, minute);
    return !limits || ((!limits->minimum[0] || strcmp(text, limits->minimum) >= 0) &&
                       (!limits->maximum[0] || strcmp(text, limits->maximum) <= 0));
}

/* Countries with the 12-hour clock in speech. */
static bool by_twelve(const struct reading *in)
{
    enum country_is twelve = reading_country_is(in, " US CA AU NZ PH IN PK BD EG SA CO MY ");
    return twelve == COUNTRY_UNKNOWN ? strcmp(in->context->language, "ja") != 0 : twelve == COUNTRY_LISTED;
}

/* The hour if the answer does not say its half, or -1 if it may be either: the field's bounds decide. In countries of
 * the 24-hour clock, hours from 7 on count as said. */
static int hour_by_bounds(const struct reading *in, const struct time_found *found)
{
    const Renga__V1__FieldLimits *limits = in->spec->limits;
    int hour = found->hour;
    if (hour > 12 || hour == 0 || found->padded)
        return hour;
    int early = hour % 12, late = hour % 12 + 12;
    bool bounded = limits && (limits->minimum[0] || limits->maximum[0]);
    bool early_fits = time_within(in, early, found->minute), late_fits = time_within(in, late, found->minute);
    if (bounded && early_fits != late_fits)
        return early_fits ? early : late;
    if (!by_twelve(in) && hour >= 7)
        return hour;
    return -1;
}

static size_t times_time_at(const struct reading *in, size_t i, struct time_found *found)
{
    *found = (struct time_found){.half = HALF_UNSAID};
    enum half said;
    size_t end = named_time_at(in, i, found);
    if (end)
        return end;
    size_t at = half_before_at(in, i, &said);
    end = clock_at(in, at, found);
    end = end ? half_behind_at(in, end, &said) : 0;
    if (!end)
        end = japanese_clock_at(in, at, found);
    if (!end && at == i) {
        end = english_clock_at(in, i, found);
        if (end) {
            enum half half = HALF_UNSAID;
            for (size_t back = i; back < end && half == HALF_UNSAID; back++)
                half_behind_at(in, back + 1, &half);
            if (half == HALF_UNSAID)
                end = half_behind_at(in, end, &half);
            said = half;
        }
    }
    found->half = said;
    return end;
}

void times_find(const struct reading *in, struct candidates *out)
{
    static const char *const bounds_after[] = {"以降",   "以前",   "頃",   "ごろ", "過ぎ", "すぎ",  "か",
                                               "〜",     "~",      "or",   "ish",  "-ish", "or so", "の間",
                                               "より前", "より後", "まえ", "前",   NULL};
    static const char *const bounds_before[] = {"before", "after", "around", "about", "between", "until",
                                                "past",   "to",    "since",  "by",    NULL};
    for (size_t i = 0; i < in->in.count;) {
        struct time_found found;
        char text[32] = "";
        size_t end = times_time_at(in, i, &found);
        if (!end) {
            i++;
            continue;
        }
        int hour = hour_of_day(found.hour, found.half);
        enum form_problem problem = hour < 0 || found.minute > 59 || found.second > 59 ? FORM_NO_SUCH_TIME : FORM_FINE;
        if (problem == FORM_FINE && found.half == HALF_UNSAID)
            hour = hour_by_bounds(in, &found);
        if (problem == FORM_FINE && (hour < 0 || words_at(in, skip_spaces(in, end), bounds_after, NULL) ||
                                     words_before(in, i, bounds_before) != SIZE_MAX))
            problem = FORM_NO_VALUE;
        if (problem == FORM_FINE && found.second)
            snprintf(text, sizeof(text), "%02d:%02d:%02d", hour, found.minute, found.second);
        else if (problem == FORM_FINE)
            snprintf(text, sizeof(text), "%02d:%02d", hour, found.minute);
        candidate_add(out, i, end, problem, arena_strdup(in->arena, text));
        i = end;
    }
}
