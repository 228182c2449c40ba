/* json_check reads the whole text and discards it. */
#include "json_private.h"

void json_position(const char *text, size_t offset, size_t *line, size_t *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        } else if ((text[i] & 0xC0) != 0x80) {
            ++*column;
        }
    }
}

bool json_check(const char *text, size_t length, const struct json_limits *limits, struct status *st)
{
    struct json_pull in; /* large, so not cleared */
    json_pull_init(&in, text, length, limits, NULL, st);
    return json_pull_end(&in);
}
