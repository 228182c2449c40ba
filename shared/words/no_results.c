#include "words/no_results.h"

#include <string.h>

#define LINE_MAX_BYTES ((size_t)10240) /* a query of 8,192 bytes, and the sentence around it */

bool words_say_no_results(const char *text, size_t length)
{
    static const char *const phrases[] = {
        "見つかりません",
        "該当するものはありません",
        "othing was found",
        "othing found",
        "o results",
        "o matches",
        "o match was",
        "o hits",
        "No document mentions",
        "o documents match",
        "該当なし",
    };
    while (length && (text[length - 1] == '\n' || text[length - 1] == ' '))
        length--;
    if (length > LINE_MAX_BYTES || memchr(text, '\n', length))
        return false;
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (memmem(text, length, phrases[i], strlen(phrases[i])))
            return true;
    return false;
}

bool words_say_no_source(const char *text, size_t length)
{
    static const char *const sentences[] = {
        "No source was found for this point",
        "No source at all was found for the theme",
        "この観点についての情報源は見つかりませんでした",
        "テーマについての情報源は一つも見つかりませんでした",
    };
    while (length && strchr(" .\n", text[length - 1]))
        length--;
    if (length >= 3 && memcmp(text + length - 3, "。", 3) == 0)
        length -= 3;
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (strlen(sentences[i]) == length && memcmp(sentences[i], text, length) == 0)
            return true;
    return false;
}
