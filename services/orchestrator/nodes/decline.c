#include "decline.h"

#include <string.h>

#define BLANKS " \t"
#define LINES  " \t\r\n"
#define MARKS  "*_`\"'"

/* Behind a stop, its marks and blanks; `at`: there is no stop. A stop of ASCII ends a word: not "NOT_FOUND-like". */
static const char *decline_behind_stop(const char *at)
{
    static const char *const stops[] = {".", ":", "-", "–", "—", "。", "："};
    const char *begin = at + strspn(at, BLANKS);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        size_t length = strlen(stops[i]);
        if (strncmp(begin, stops[i], length) != 0)
            continue;
        const char *end = begin + length + strspn(begin + length, MARKS);
        return length > 1 || !*end || strchr(LINES, *end) ? end : at;
    }
    return at;
}

const char *decline_behind(const char *content, const char *word, bool sources_have_word)
{
    const char *at = content + strspn(content, LINES MARKS "#");
    if (strncmp(at, word, strlen(word)) != 0)
        return NULL;
    at += strlen(word);
    at += strspn(at, MARKS);
    const char *behind = decline_behind_stop(at), *end = behind + strspn(behind, BLANKS);
    bool alone = !*end || *end == '\r' || *end == '\n';
    if (!alone && (behind == at || sources_have_word))
        return NULL;
    end += strspn(end, LINES);
    return *end ? end : content + strspn(content, LINES);
}
