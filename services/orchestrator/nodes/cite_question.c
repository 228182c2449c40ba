/* Whether a sentence asks. A source may have the question of an answer, such as a list of questions and answers: the
 * question alone is no answer. */
#include "cite_text.h"

#include <string.h>

static bool question_ends_with(const char *text, size_t length, const char *end)
{
    size_t size = strlen(end);
    return length >= size && memcmp(text + length - size, end, size) == 0;
}

/* Without the one of these that the text ends with, or the same length. */
static size_t question_without(const char *text, size_t length, const char *const *ends, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (question_ends_with(text, length, ends[i]))
            return length - strlen(ends[i]);
    return length;
}

/* Before a mark such as [1] or [^12], or `length`. */
static size_t question_without_mark(const char *text, size_t length)
{
    size_t at = length;
    if (!length || text[length - 1] != ']')
        return length;
    for (at--; at && text[at - 1] >= '0' && text[at - 1] <= '9';)
        at--;
    at -= at && text[at - 1] == '^';
    return at && at < length - 1 && text[at - 1] == '[' ? at - 1 : length;
}

/* 静か, 確か, 緩やか and いくらか are no questions. */
static bool question_asks_with_ka(const char *text, size_t length)
{
    static const char *const words[] = {"静か", "確か",   "豊か", "細か", "愚か",  "やか",
                                        "らか", "わずか", "僅か", "遥か", "はるか"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (question_ends_with(text, length, words[i]))
            return false;
    return length > strlen("か") && question_ends_with(text, length, "か");
}

bool cite_is_question(const char *sentence, size_t length)
{
    static const char *const closing[] = {" ", "\t", "\"", "'", ")", "*", "_", "”", "’", "」", "』", "）", "】"};
    static const char *const stops[] = {"。", "．", ".", "｡"};
    for (size_t before = length + 1; length && before != length;) {
        before = length;
        length = question_without_mark(sentence, length);
        length = question_without(sentence, length, closing, sizeof closing / sizeof *closing);
        length = question_without(sentence, length, stops, sizeof stops / sizeof *stops);
    }
    return (length > 1 && sentence[length - 1] == '?') || (length > 3 && question_ends_with(sentence, length, "？")) ||
           question_asks_with_ka(sentence, length);
}
