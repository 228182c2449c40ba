#include "pull.h"

#include <string.h>

static void skip_space(struct pull *in)
{
    while (*in->at == ' ' || *in->at == '\n' || *in->at == '\t' || *in->at == '\r')
        in->at++;
}

char pull_kind(struct pull *in)
{
    skip_space(in);
    return *in->at;
}

bool pull_enter(struct pull *in, char bracket)
{
    if (pull_kind(in) != bracket)
        return false;
    in->at++;
    return true;
}

bool pull_next(struct pull *in)
{
    char next = pull_kind(in);
    if (next == ',' || next == ']' || next == '}')
        in->at++;
    return next != ']' && next != '}';
}

struct pull_text pull_string(struct pull *in)
{
    struct pull_text text = {.bytes = in->at + 1};
    const char *at = text.bytes;
    while (*(at += strcspn(at, "\"\\")) == '\\') {
        text.escaped = true;
        at += 2;
    }
    text.size = (size_t)(at - text.bytes);
    in->at = at + 1;
    return text;
}

struct pull_text pull_key(struct pull *in)
{
    skip_space(in);
    struct pull_text key = pull_string(in);
    skip_space(in);
    in->at++; /* the colon */
    return key;
}

bool pull_is(const struct pull_text *key, const char *name)
{
    return key->size == strlen(name) && memcmp(key->bytes, name, key->size) == 0;
}

static void skip_nested(struct pull *in)
{
    size_t depth = 0;
    do {
        in->at += strcspn(in->at, "\"[]{}");
        if (*in->at == '"') {
            pull_string(in);
            continue;
        }
        depth += *in->at == '[' || *in->at == '{' ? 1 : (size_t)-1;
        in->at++;
    } while (depth > 0);
}

void pull_skip(struct pull *in)
{
    switch (pull_kind(in)) {
    case '"':
        pull_string(in);
        return;
    case '{':
    case '[':
        skip_nested(in);
        return;
    default:
        in->at += strcspn(in->at, ",]} \n\t\r");
    }
}

cJSON *pull_tree(struct pull *in)
{
    skip_space(in);
    const char *begin = in->at;
    pull_skip(in);
    return cJSON_ParseWithLength(begin, (size_t)(in->at - begin));
}
