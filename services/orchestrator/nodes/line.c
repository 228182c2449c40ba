#include "line.h"

#include "base/text.h"

#include <string.h>

char *line_make(struct arena *arena, const char *text, size_t most)
{
    char *line = arena_strndup(arena, text, text_cut(text, strlen(text), most));
    for (char *c = line; c && *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    return line;
}
