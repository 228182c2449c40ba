#include "thinking/language.h"

#include <stddef.h>
#include <strings.h>

#define LOOK_MAX 4096 /* bytes: a question shows its language early */

/* Kana, or the ideographs of the basic plane: U+3041 to U+30FF, U+3400 to U+9FFF. */
static bool is_japanese(const unsigned char *at)
{
    unsigned c = (at[0] & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
    return (c >= 0x3041 && c <= 0x30ff) || (c >= 0x3400 && c <= 0x9fff);
}

const char *language_of(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    for (size_t seen = 0; *at && seen < LOOK_MAX; seen++, at++)
        if ((*at & 0xf0) == 0xe0 && at[1] && at[2] && is_japanese(at))
            return "ja";
    return "en";
}

bool language_is_japanese(const char *tag)
{
    return strncasecmp(tag, "ja", 2) == 0 && (tag[2] == '\0' || tag[2] == '-');
}
