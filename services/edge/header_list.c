#include "header_list.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define RANGE_MAX 64 /* bytes of a kind of media types, with its star */

/* Goes over the parameters behind a word, up to its comma. */
static bool list_quality_is_zero(const char *at)
{
    for (at += strcspn(at, ";,"); *at == ';'; at += strcspn(at, ";,")) {
        at += 1 + strspn(at + 1, " \t");
        if (strncasecmp(at, "q=0", 3) != 0)
            continue;
        at += 3;
        at += *at == '.' ? 1 + strspn(at + 1, "0") : 0;
        return !*at || strchr(",; \t", *at);
    }
    return false;
}

enum header_list_mention header_list_find(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at && *at; at += strcspn(at, ",")) {
        at += strspn(at, ", \t");
        if (strncasecmp(at, word, length) == 0 && (!at[length] || strchr(",; \t", at[length])))
            return list_quality_is_zero(at) ? HEADER_LIST_REFUSED : HEADER_LIST_ACCEPTED;
    }
    return HEADER_LIST_ABSENT;
}

bool header_list_accepts(const char *accept, const char *type)
{
    char kind[RANGE_MAX];
    const char *const ranges[] = {type, kind, "*/*"};
    if (!accept || !*accept)
        return true;
    snprintf(kind, sizeof kind, "%.*s/*", (int)strcspn(type, "/"), type);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        enum header_list_mention mention = header_list_find(accept, ranges[i]);
        if (mention != HEADER_LIST_ABSENT)
            return mention == HEADER_LIST_ACCEPTED;
    }
    return false;
}

const char *header_list_cookie(const char *cookies, const char *name, size_t *length)
{
    const char *value = NULL;
    size_t name_length = strlen(name), size;
    for (const char *at = cookies; at && *at; at += size) {
        at += strspn(at, "; ");
        size = strcspn(at, ";");
        if (size <= name_length || strncmp(at, name, name_length) != 0 || at[name_length] != '=')
            continue;
        if (value)
            return NULL;
        *length = size - name_length - 1;
        value = at + name_length + 1;
    }
    return value;
}
