#include "shape.h"

#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

#define NAME_ENDS ".["

/* ---- the document ------------------------------------------------------------------------------------------------ */

static bool shape_names_input(const struct node *node, const char *path, const char *parameter, struct status *st)
{
    size_t length = strcspn(path, NAME_ENDS);
    struct nearest nearest;
    char name[SHAPE_PATH_MAX + 1];
    memcpy(name, path, length);
    name[length] = '\0';
    nearest = nearest_to(name);
    for (size_t i = 0; i < node->input_count; i++) {
        if (strcmp(node->inputs[i]->name, name) == 0)
            return true;
        nearest_try(&nearest, node->inputs[i]->name);
    }
    return fail_field(st, parameter, "'%.64s' begins with no input of the node; %s", path, nearest_hint(&nearest).text);
}

/* The end of the step behind a name: ".NAME", "[]" or "[N]". NULL: no step. */
static const char *shape_step_end(const char *at)
{
    size_t digits;
    if (*at == '.') {
        size_t length = strcspn(at + 1, NAME_ENDS);
        return length ? at + 1 + length : NULL;
    }
    digits = strspn(at + 1, "0123456789");
    return at[digits + 1] == ']' && (!digits || strtoul(at + 1, NULL, 10) <= SHAPE_INDEX_MAX) ? at + digits + 2 : NULL;
}

static bool shape_check_path(const struct node *node, const char *path, const char *parameter, struct status *st)
{
    if (!*path || strlen(path) > SHAPE_PATH_MAX)
        return fail_field(st, parameter, "a path has %zu bytes; it must have 1 to %d", strlen(path), SHAPE_PATH_MAX);
    if (!shape_names_input(node, path, parameter, st))
        return false;
    for (const char *at = path + strcspn(path, NAME_ENDS), *end; *at; at = end) {
        end = shape_step_end(at);
        if (!end)
            return fail_field(
                st, parameter,
                "'%.64s' must go on with \".NAME\", \"[]\" or a place from \"[0]\" to \"[%d]\" at '%.64s'", path,
                SHAPE_INDEX_MAX, at);
    }
    return true;
}

static bool shape_check_deep(const struct node *node, const char *parameter, const cJSON *shape, int depth,
                             struct status *st)
{
    const cJSON *member;
    if (cJSON_IsString(shape))
        return shape_check_path(node, shape->valuestring, parameter, st);
    if (cJSON_IsNumber(shape) || cJSON_IsBool(shape))
        return true;
    if ((!cJSON_IsObject(shape) && !cJSON_IsArray(shape)) || depth == SHAPE_DEPTH_MAX)
        return fail_field(st, parameter,
                          "must be a path, a number, true, false, or an object or a list of them, %d deep at most",
                          SHAPE_DEPTH_MAX);
    cJSON_ArrayForEach(member, shape)
    {
        if (!shape_check_deep(node, parameter, member, depth + 1, st))
            return false;
    }
    return true;
}

bool shape_check(const struct node *node, const char *parameter, const cJSON *shape, struct status *st)
{
    return shape_check_deep(node, parameter, shape, 0, st);
}

/* ---- the values -------------------------------------------------------------------------------------------------- */

static const cJSON *shape_member(const cJSON *object, const char *name, size_t length)
{
    const cJSON *member;
    if (!cJSON_IsObject(object))
        return NULL;
    cJSON_ArrayForEach(member, object)
    {
        if (strlen(member->string) == length && memcmp(member->string, name, length) == 0)
            return member;
    }
    return NULL;
}

/* Walks along the path up to its end or to the next "[]". */
static const cJSON *shape_walk(const cJSON *value, const char **path)
{
    const char *at = *path;
    while (value && *at && strncmp(at, "[]", 2) != 0) {
        if (*at == '[') {
            value = cJSON_IsArray(value) ? cJSON_GetArrayItem(value, (int)strtoul(at + 1, NULL, 10)) : NULL;
        } else {
            at += *at == '.';
            value = shape_member(value, at, strcspn(at, NAME_ENDS));
        }
        at += *at == '[' ? strcspn(at, "]") + 1 : strcspn(at, NAME_ENDS);
    }
    *path = at;
    return cJSON_IsNull(value) ? NULL : value;
}

/* Each "[]" goes a level deeper; a path has at most SHAPE_PATH_MAX of them. */
static void shape_gather(cJSON *list, const cJSON *value, const char *path)
{
    const cJSON *item, *found = shape_walk(value, &path);
    if (found && !*path) {
        cJSON_AddItemToArray(list, cJSON_Duplicate(found, true));
        return;
    }
    if (!cJSON_IsArray(found))
        return;
    cJSON_ArrayForEach(item, found) shape_gather(list, item, path + strlen("[]"));
}

static cJSON *shape_follow(const cJSON *inputs, const char *path)
{
    if (strstr(path, "[]")) {
        cJSON *list = cJSON_CreateArray();
        shape_gather(list, inputs, path);
        return list;
    }
    const cJSON *found = shape_walk(inputs, &path);
    return found ? cJSON_Duplicate(found, true) : NULL;
}

cJSON *shape_make(const cJSON *inputs, const cJSON *shape)
{
    const cJSON *member;
    if (cJSON_IsString(shape))
        return shape_follow(inputs, shape->valuestring);
    if (!cJSON_IsObject(shape) && !cJSON_IsArray(shape))
        return cJSON_Duplicate(shape, false);
    cJSON *made = cJSON_IsArray(shape) ? cJSON_CreateArray() : cJSON_CreateObject();
    cJSON_ArrayForEach(member, shape)
    {
        cJSON *value = shape_make(inputs, member);
        if (value && cJSON_IsArray(shape))
            cJSON_AddItemToArray(made, value);
        else if (value)
            cJSON_AddItemToObject(made, member->string, value);
    }
    return made;
}
