/* Dates in an answer. */
#include "form/days.h"

#include <stdio.h>

/* Words around a date that turn it into another day or into no date. */
static const char *const date_bounds_after[] = {
    "以降",       "以前", "より前", "より後", "の前日", "の翌日", "前日", "翌日",     "頃",       "ごろ",
    "の週",       "の前", "の後",   "or",     "or so",  "〜",     "~",    "の次の日", "の前の日", "or later",
    "or earlier", "ish",  "-ish",   "間",     "の次",   "過ぎ",   "すぎ", NULL};
static const char *const date_bounds_before[] = {"before",
                                                 "after",
                                                 "since",
                                                 "around",
                                                 "about",
                                                 "between",
                                                 "the day after",
                                                 "the day before",
                                                 "week of",
                                                 "the week of",
                                                 "no later than",
                                                 "earlier than",
                                                 "later than",
                                                 "prior to",
                                                 "until",
                                                 "every",
                                                 "毎週",
                                                 "毎",
                                                 "week before",
                                                 "week after",
                                                 "a week after",
                                                 "circa",
                                                 NULL};

static size_t date_at(const struct reading *in, size_t i, struct date_found *found)
{
    *found = (struct date_found){.problem = FORM_UNCLEAR_DATE};
    size_t end = date_in_japanese(in, i, found);
    if (!end)
        end = date_in_figures(in, i, found);
    if (!end)
        end = date_in_english(in, i, found);
    return end ? end : date_from_today(in, i, found);
}

/* A day of the month, "the 15th", and a month without its day are dates that lack a part. */
static size_t date_part_at(const struct reading *in, size_t i)
{
    static const char *const months[] = {"january",   "february",   "april",      "june",     "july",      "august",
                                         "september", "october",    "november",   "december", "next week", "last week",
                                         "this week", "next month", "last month", "来週",     "先週",      "今週",
                                         "来月",      "先月",       "来年",       "去年",     "昨年",      "next year",
                                         "last year", NULL};
    return words_at(in, i, months, NULL);
}

void dates_find(const struct reading *in, struct candidates *out)
{
    for (size_t i = 0; i < in->in.count;) {
        struct date_found found;
        char text[32];
        size_t end = date_at(in, i, &found);
        if (!end) {
            size_t part = date_part_at(in, i);
            if (part)
                candidate_add(out, i, part, FORM_UNCLEAR_DATE, "");
            i = part ? part : i + 1;
            continue;
        }
        size_t behind = skip_spaces(in, end);
        bool bound =
            words_at(in, behind, date_bounds_after, NULL) || words_before(in, i, date_bounds_before) != SIZE_MAX;
        if (bound)
            found.problem = FORM_UNCLEAR_DATE;
        snprintf(text, sizeof(text), "%04d-%02d-%02d", found.day.year, found.day.month, found.day.day);
        candidate_add(out, i, end, found.problem, found.problem == FORM_FINE ? arena_strdup(in->arena, text) : "");
        i = end;
    }
}
