#include "when.h"

#include "base/nearest.h"

#include <string.h>

static const struct field *input_named(const struct node *node, const char *name, size_t length)
{
    for (size_t i = 0; i < node->input_count; i++)
        if (strlen(node->inputs[i]->name) == length && memcmp(node->inputs[i]->name, name, length) == 0)
            return node->inputs[i];
    return NULL;
}

static bool when_refuse_name(const struct node *node, const struct json_condition_use *use, struct status *st)
{
    char name[JSON_CONDITION_PATH_MAX + 1];
    memcpy(name, use->path, use->name_length);
    name[use->name_length] = '\0';
    if (graph_field(node->graph, name))
        return fail(st, INVALID_ARGUMENT, "'%s' is not among the node's \"inputs\"; add it there", name);
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < node->input_count; i++)
        nearest_try(&nearest, node->inputs[i]->name);
    return fail(st, INVALID_ARGUMENT, "there is no field '%.64s'; %s", name, nearest_hint(&nearest).text);
}

static unsigned when_field_types(const struct field *field)
{
    static const unsigned types[] = {
        [FIELD_STRING] = JSON_CONDITION_TEXT,   [FIELD_INTEGER] = JSON_CONDITION_NUMBER,
        [FIELD_NUMBER] = JSON_CONDITION_NUMBER, [FIELD_BOOLEAN] = JSON_CONDITION_BOOLEAN,
        [FIELD_OBJECT] = JSON_CONDITION_OBJECT, [FIELD_ANY] = JSON_CONDITION_ANY,
    };
    return field->list ? JSON_CONDITION_LIST : types[field->type];
}

static bool when_check_texts(const struct field *field, const struct json_condition_use *use, struct status *st)
{
    for (size_t i = 0; i < use->text_count; i++)
        if (!field_allows(field, use->texts[i]))
            return fail(st, INVALID_ARGUMENT, "'%s' is never '%.64s', which is none of its \"values\"", field->name,
                        use->texts[i]);
    return true;
}

static bool when_check_use(const struct node *node, const struct json_condition_use *use, struct status *st)
{
    const struct field *field = input_named(node, use->path, strlen(use->path));
    bool whole = field != NULL;
    if (!field)
        field = input_named(node, use->path, use->name_length);
    if (!field)
        return when_refuse_name(node, use, st);
    if (!whole && use->path[use->name_length] && !(when_field_types(field) & JSON_CONDITION_OBJECT))
        return fail(st, INVALID_ARGUMENT, "'%s' leads into '%s', which is %s; only objects have members", use->path,
                    field->name, field_type_words(field->type, field->list));
    if (!use->path[use->name_length])
        whole = true;
    if (whole && !(when_field_types(field) & use->types))
        return fail(st, INVALID_ARGUMENT, "\"%s\" never holds of '%s', which is %s", use->test, field->name,
                    field_type_words(field->type, field->list));
    return !whole || when_check_texts(field, use, st);
}

const struct json_condition *when_compile(const struct node *node, struct arena *arena, const cJSON *tree,
                                          struct status *st)
{
    size_t count = 0;
    const struct json_condition *condition = json_condition_compile(arena, tree, st);
    const struct json_condition_use *uses = condition ? json_condition_uses(condition, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        if (!when_check_use(node, &uses[i], st))
            return NULL;
    return condition;
}
