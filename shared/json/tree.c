/* Builds a cJSON tree while the text is checked. Strings are copied in one piece; cJSON copies byte by byte. */
#include "json_private.h"

#include <stdlib.h>

static cJSON *tree_read_value(struct json_pull *in);

static void *tree_no_memory(struct json_pull *in)
{
    in->broken = true;
    fail(in->st, RESOURCE_EXHAUSTED, "no memory for a tree of %zu bytes of JSON", (size_t)(in->end - in->start));
    return NULL;
}

/* NULL: out of memory. */
static char *tree_copy_text(const char *text, size_t length, bool decoded)
{
    char *copy = cJSON_malloc(length + 1);
    if (copy == NULL)
        return NULL;
    if (!decoded && memchr(text, '\\', length) != NULL)
        length = json_decode(text, length, copy);
    else
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* Of one that was just read, quotes included. */
static cJSON *tree_string_of(const char *first, const char *behind)
{
    cJSON *string = cJSON_CreateNull();
    if (string == NULL)
        return NULL;
    string->type = cJSON_String;
    string->valuestring = tree_copy_text(first + 1, (size_t)(behind - first) - 2, false);
    if (string->valuestring != NULL)
        return string;
    cJSON_Delete(string);
    return NULL;
}

static cJSON *boolean_of(bool value)
{
    cJSON *boolean = cJSON_CreateBool(value);
    if (boolean != NULL)
        boolean->valueint = value; /* as the parser has it, though not cJSON_CreateBool */
    return boolean;
}

static cJSON *scalar_of(enum json_kind kind, const char *first, const char *behind)
{
    switch (kind) {
    case JSON_STRING:
        return tree_string_of(first, behind);
    case JSON_NUMBER:
        return cJSON_CreateNumber(json_value_of(first, (size_t)(behind - first)));
    case JSON_BOOLEAN:
        return boolean_of(*first == 't');
    default:
        return cJSON_CreateNull();
    }
}

/* The next field or element, with its key; NULL at the end or after an error. */
static cJSON *tree_read_item(struct json_pull *in, const struct json_scope *inside)
{
    char *key = inside->array ? NULL : tree_copy_text(inside->key, inside->key_length, true);
    if (key == NULL && !inside->array)
        return tree_no_memory(in);
    cJSON *item = tree_read_value(in);
    if (item != NULL)
        item->string = key;
    else
        cJSON_free(key);
    return item;
}

static cJSON *tree_read_inside(struct json_pull *in, bool array)
{
    struct json_scope inside;
    cJSON *whole = array ? cJSON_CreateArray() : cJSON_CreateObject(), *item;
    if (whole == NULL)
        return tree_no_memory(in);
    if (!(array ? json_pull_array(in, &inside) : json_pull_object(in, &inside))) {
        cJSON_Delete(whole);
        return NULL;
    }
    while (json_pull_next(in, &inside) && (item = tree_read_item(in, &inside)) != NULL) {
        cJSON *last = whole->child != NULL ? whole->child->prev : NULL;
        if (last == NULL) {
            whole->child = item;
        } else {
            last->next = item;
            item->prev = last;
        }
        whole->child->prev = item; /* as cJSON has it: the first one knows the last */
    }
    return whole;
}

static cJSON *tree_read_value(struct json_pull *in)
{
    enum json_kind kind = json_pull_kind(in);
    const char *first = in->at;
    if (kind == JSON_OBJECT || kind == JSON_ARRAY)
        return tree_read_inside(in, kind == JSON_ARRAY);
    json_pull_skip(in);
    if (in->broken)
        return NULL;
    cJSON *scalar = scalar_of(kind, first, in->at);
    return scalar != NULL ? scalar : tree_no_memory(in);
}

cJSON *json_parse_named(const char *name, const char *shown, const char *text, size_t length,
                        const struct json_limits *limits, struct status *st)
{
    struct json_pull in; /* large, so not cleared */
    json_pull_init_named(&in, name, shown, text, length, limits, st);
    cJSON *root = in.broken ? NULL : tree_read_value(&in);
    if (json_pull_end(&in))
        return root;
    cJSON_Delete(root);
    return NULL;
}

cJSON *json_parse(const char *text, size_t length, const struct json_limits *limits, struct status *st)
{
    return json_parse_named(NULL, text, text, length, limits, st);
}
