#include "template.h"

#include "base/json_writer.h"

#include <string.h>

#define NAME_MAX_BYTES 64

static bool append_value(const char *name, const cJSON *values, struct buffer *out, struct status *st)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(values, name);
    if (!value)
        return fail(st, INVALID_ARGUMENT,
                    "the prompt names {%s}, which is not among the node's inputs, or has no value", name);
    if (cJSON_IsString(value)) {
        buffer_print(out, value->valuestring);
        return true;
    }
    struct json_writer writer;
    json_writer_init(&writer, out);
    json_write_tree(&writer, NULL, value);
    return true;
}

/* From behind a brace to behind its partner; NULL where that is not there. */
static const char *read_name(const char *at, char *name)
{
    size_t length = strcspn(at, "{}\n");
    if (at[length] != '}' || length == 0 || length > NAME_MAX_BYTES)
        return NULL;
    memcpy(name, at, length);
    name[length] = '\0';
    return at + length + 1;
}

bool template_fill(const char *text, const cJSON *values, struct buffer *out, struct status *st)
{
    for (const char *at = text; *at;) {
        char name[NAME_MAX_BYTES + 1];
        size_t plain = strcspn(at, "{}");
        buffer_append(out, at, plain);
        at += plain;
        if (!*at)
            break;
        if (at[0] == at[1]) {
            buffer_put(out, *at);
            at += 2;
            continue;
        }
        const char *behind = *at == '{' ? read_name(at + 1, name) : NULL;
        if (!behind)
            return fail(st, INVALID_ARGUMENT, "a '%c' of the prompt stands alone, at \"%.24s\"; write it twice", *at,
                        at);
        if (!append_value(name, values, out, st))
            return false;
        at = behind;
    }
    return true;
}
