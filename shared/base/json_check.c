/* Checking is reading that passes over everything; what passes, cJSON may build a tree of. */
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

bool json_check_named(const char *name, const char *shown, const char *text, size_t length,
                      const struct json_limits *limits, struct status *st)
{
    struct json_pull in; /* large, so not cleared */
    json_pull_init_named(&in, name, shown, text, length, limits, st);
    return json_pull_end(&in);
}

bool json_check(const char *text, size_t length, const struct json_limits *limits, struct status *st)
{
    return json_check_named(NULL, text, text, length, limits, st);
}

cJSON *json_parse(const char *text, size_t length, const struct json_limits *limits, struct status *st)
{
    if (!json_check(text, length, limits, st))
        return NULL;
    cJSON *root = cJSON_ParseWithLength(text, length);
    if (root == NULL)
        fail(st, RESOURCE_EXHAUSTED, "no memory for a tree of %zu bytes of JSON", length);
    return root;
}
