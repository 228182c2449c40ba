#include "json/template.h"

#include "json/writer.h"

#include <string.h>
#include <strings.h>

#define NAME_MAX_BYTES 64
#define FENCE_LETTERS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
#define BLANKS         " \t\r\n"
#define OWN_TAGS_MAX   64

/* Fences of the suite's prompts: a template is a part of a conversation, and its values could end a fence of another
 * part. */
static const char *const fences[] = {
    "question", "subtask",  "plan",  "results", "answer",      "advice",       "tools",   "feedback",
    "findings", "form",     "known", "theme",   "draft",       "conversation", "field",   "facts",
    "progress", "playbook", "task",  "queries", "human_input", "failures",     "sources", "interview",
};

/* ---- fences ------------------------------------------------------------------------------------------------------ */

/* The name in "</name>" or "</ name >", and the length of the tag; 0 if there is no tag. */
static size_t closing_tag(const char *at, const char **name, size_t *length)
{
    if (at[0] != '<' || at[1] != '/')
        return 0;
    const char *begin = at + 2 + strspn(at + 2, BLANKS);
    *name = begin;
    *length = strspn(begin, FENCE_LETTERS);
    const char *end = begin + *length + strspn(begin + *length, BLANKS);
    return *length && *length <= NAME_MAX_BYTES && *end == '>' ? (size_t)(end + 1 - at) : 0;
}

static bool template_same(const char *name, size_t length, const char *other, size_t other_length)
{
    return length == other_length && strncasecmp(name, other, length) == 0;
}

/* The template's own, found once: a value may have any number of tags. */
struct own_tags {
    struct {
        const char *name;
        size_t length;
    } tags[OWN_TAGS_MAX];
    size_t count;
    bool all; /* too many for the list: every closing tag is taken for one of them */
};

static bool template_is_own(const struct own_tags *own, const char *name, size_t length)
{
    for (size_t i = 0; i < own->count; i++)
        if (template_same(name, length, own->tags[i].name, own->tags[i].length))
            return true;
    return own->all;
}

static void find_own(const char *text, struct own_tags *own)
{
    const char *name;
    size_t length;
    own->count = 0;
    own->all = false;
    for (const char *at = text; (at = strstr(at, "</")) && !own->all; at += 2) {
        if (!closing_tag(at, &name, &length) || template_is_own(own, name, length))
            continue;
        own->all = own->count == OWN_TAGS_MAX;
        if (own->all)
            return;
        own->tags[own->count].name = name;
        own->tags[own->count++].length = length;
    }
}

static bool is_delimiter(const char *name, size_t length, const struct own_tags *own)
{
    for (size_t i = 0; i < sizeof fences / sizeof fences[0]; i++)
        if (template_same(name, length, fences[i], strlen(fences[i])))
            return true;
    return template_is_own(own, name, length);
}

static void template_append_data(struct buffer *out, const char *value, const struct own_tags *own)
{
    const char *name;
    size_t length;
    for (const char *at; (at = strstr(value, "</")); value = at + 2) {
        buffer_append(out, value, (size_t)(at - value));
        bool closes = closing_tag(at, &name, &length) && is_delimiter(name, length, own);
        buffer_print(out, closes ? "<\\/" : "</");
    }
    buffer_print(out, value);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static bool append_value(const char *name, const struct own_tags *own, const cJSON *values, struct buffer *out,
                         struct status *st)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(values, name);
    struct json_writer writer;
    struct buffer json;
    if (!value)
        return fail(st, INVALID_ARGUMENT, "the prompt names {%s}, which is not among the inputs, or has no value",
                    name);
    if (cJSON_IsRaw(value)) {
        buffer_print(out, value->valuestring);
        return true;
    }
    if (cJSON_IsString(value)) {
        template_append_data(out, value->valuestring, own);
        return true;
    }
    buffer_init(&json, out->limit);
    json_writer_init(&writer, &json);
    json_write_tree(&writer, NULL, value);
    if (json.failed)
        buffer_reserve(out, out->limit + 1); /* too much for the one is too much for the other */
    template_append_data(out, buffer_text(&json), own);
    buffer_fini(&json);
    return true;
}

/* From behind a brace to behind its partner; NULL if the partner is missing. */
static const char *template_read_name(const char *at, char *name)
{
    size_t length = strcspn(at, "{}\n");
    if (at[length] != '}' || length == 0 || length > NAME_MAX_BYTES)
        return NULL;
    memcpy(name, at, length);
    name[length] = '\0';
    return at + length + 1;
}

static bool lone_brace(const char *at, struct status *st)
{
    return fail(st, INVALID_ARGUMENT, "a '%c' of the prompt stands alone, at \"%.24s\"; write it twice", *at, at);
}

bool template_names(const char *text, bool (*each)(const char *name, void *data), void *data, struct status *st)
{
    char name[NAME_MAX_BYTES + 1];
    for (const char *at = text; *(at += strcspn(at, "{}"));) {
        const char *behind = at[0] == at[1] ? at + 2 : *at == '{' ? template_read_name(at + 1, name) : NULL;
        if (!behind)
            return lone_brace(at, st);
        if (at[0] != at[1] && !each(name, data))
            return false;
        at = behind;
    }
    return true;
}

bool template_fill(const char *text, const cJSON *values, struct buffer *out, struct status *st)
{
    struct own_tags own;
    find_own(text, &own);
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
        const char *behind = *at == '{' ? template_read_name(at + 1, name) : NULL;
        if (!behind)
            return lone_brace(at, st);
        if (!append_value(name, &own, values, out, st))
            return false;
        at = behind;
    }
    return true;
}
