/* From a document to terms. */
#include "condition_private.h"
#include "schema_private.h"

#include "base/memory.h"
#include "base/nearest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct compiler {
    struct arena *arena;
    struct status *st;
    struct json_condition *condition;
    struct condition_path *paths[CONDITION_PATHS_MAX];
    struct json_condition_use uses[CONDITION_PATHS_MAX];
    size_t depth, term_count, value_count;
};

enum operand { OPERAND_ORDERED, OPERAND_VALUE, OPERAND_VALUES, OPERAND_BOOLEAN, OPERAND_FIELD };

static const struct condition_test {
    const char *name;
    enum condition_kind kind;
    enum operand operand;
} tests[] = {
    {"more", CONDITION_MORE, OPERAND_ORDERED},
    {"less", CONDITION_LESS, OPERAND_ORDERED},
    {"at_least", CONDITION_AT_LEAST, OPERAND_ORDERED},
    {"at_most", CONDITION_AT_MOST, OPERAND_ORDERED},
    {"equals", CONDITION_EQUALS, OPERAND_VALUE},
    {"one_of", CONDITION_ONE_OF, OPERAND_VALUES},
    {"present", CONDITION_PRESENT, OPERAND_BOOLEAN},
    {"equals_field", CONDITION_EQUALS_FIELD, OPERAND_FIELD},
    {"more_field", CONDITION_MORE_FIELD, OPERAND_FIELD},
    {"less_field", CONDITION_LESS_FIELD, OPERAND_FIELD},
    {"at_least_field", CONDITION_AT_LEAST_FIELD, OPERAND_FIELD},
    {"at_most_field", CONDITION_AT_MOST_FIELD, OPERAND_FIELD},
    {"contains", CONDITION_CONTAINS, OPERAND_VALUE},
};
#define TEST_COUNT (sizeof tests / sizeof *tests)

static struct condition_term *compile_term(struct compiler *c, const cJSON *tree, const struct schema_place *at);

static bool condition_no_memory(struct compiler *c)
{
    return fail_memory(c->st, "a condition");
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

static bool split_path(struct compiler *c, struct condition_path *path, const struct schema_place *at)
{
    char *rest = arena_strdup(c->arena, path->text);
    if (!rest)
        return condition_no_memory(c);
    while (rest && path->step_count < JSON_CONDITION_STEPS_MAX) {
        char *step = strsep(&rest, ".");
        if (!*step)
            return schema_refuse(c->st, at, "'%s' has an empty name between its dots", path->text);
        path->steps[path->step_count++] = step;
    }
    return !rest || schema_refuse(c->st, at, "'%s' has more than %d names", path->text, JSON_CONDITION_STEPS_MAX);
}

static const struct condition_path *take_path(struct compiler *c, const cJSON *item, const struct schema_place *at)
{
    struct json_condition *condition = c->condition;
    const char *text = cJSON_GetStringValue(item);
    if (!text || !*text || strnlen(text, JSON_CONDITION_PATH_MAX + 1) > JSON_CONDITION_PATH_MAX) {
        schema_refuse(c->st, at, "must be the name of a field, of 1 to %d bytes", JSON_CONDITION_PATH_MAX);
        return NULL;
    }
    for (size_t i = 0; i < condition->path_count; i++) {
        assert(c->paths[i]);
        if (strcmp(c->paths[i]->text, text) == 0)
            return c->paths[i];
    }
    struct condition_path *path = arena_zalloc(c->arena, sizeof *path);
    if (!path || !(path->text = arena_strdup(c->arena, text))) {
        condition_no_memory(c);
        return NULL;
    }
    if (!split_path(c, path, at))
        return NULL;
    return c->paths[condition->path_count++] = path;
}

/* ---- operands of a test ------------------------------------------------------------------------------------------ */

static bool condition_take_value(struct compiler *c, const cJSON *item, struct condition_value *value,
                                 const struct schema_place *at)
{
    if (++c->value_count > JSON_CONDITION_VALUES_MAX)
        return schema_refuse(c->st, at, "the condition compares with more than %d values", JSON_CONDITION_VALUES_MAX);
    if (!condition_value_read(item, value))
        return schema_refuse(c->st, at, "must be a text of at most %zu bytes, a number, true, false or null",
                             JSON_CONDITION_TEXT_MAX);
    value->text = arena_strdup(c->arena, value->text);
    return value->text || condition_no_memory(c);
}

static bool take_values(struct compiler *c, const cJSON *list, struct condition_term *term,
                        const struct schema_place *at)
{
    int count = cJSON_GetArraySize(list);
    const cJSON *item;
    if (!cJSON_IsArray(list) || count == 0 || count > JSON_CONDITION_VALUES_MAX)
        return schema_refuse(c->st, at, "must be a list of 1 to %d values", JSON_CONDITION_VALUES_MAX);
    struct condition_value *values = arena_alloc(c->arena, (size_t)count * sizeof *values);
    term->values = values;
    if (!values)
        return condition_no_memory(c);
    cJSON_ArrayForEach(item, list)
    {
        struct schema_place place = {.up = at, .index = term->value_count};
        if (!condition_take_value(c, item, &values[term->value_count++], &place))
            return false;
    }
    return true;
}

static bool take_operand(struct compiler *c, const struct condition_test *test, const cJSON *item,
                         struct condition_term *term, const struct schema_place *at)
{
    struct condition_value *value = arena_zalloc(c->arena, sizeof *value);
    term->values = value;
    term->value_count = 1;
    if (!value)
        return condition_no_memory(c);
    switch (test->operand) {
    case OPERAND_ORDERED:
        term->is_time = cJSON_IsString(item) && iso_time_parse(item->valuestring, &term->time);
        if (!term->is_time && !cJSON_IsNumber(item))
            return schema_refuse(c->st, at,
                                 "must be a number, a date (\"2026-01-31\"), a time (\"09:30\") or both with a T");
        return condition_take_value(c, item, value, at);
    case OPERAND_VALUE:
        return condition_take_value(c, item, value, at);
    case OPERAND_VALUES:
        term->value_count = 0;
        return take_values(c, item, term, at);
    case OPERAND_BOOLEAN:
        return (cJSON_IsBool(item) || schema_refuse(c->st, at, "must be true or false")) &&
               condition_take_value(c, item, value, at);
    case OPERAND_FIELD:
        term->other = take_path(c, item, at);
        return term->other;
    }
    return false;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static unsigned condition_term_types(const struct condition_term *term)
{
    const unsigned single = JSON_CONDITION_TEXT | JSON_CONDITION_NUMBER | JSON_CONDITION_BOOLEAN | JSON_CONDITION_NULL;
    unsigned types = 0;
    if (term->kind == CONDITION_PRESENT)
        return JSON_CONDITION_ANY;
    if (term->kind == CONDITION_CONTAINS)
        return JSON_CONDITION_LIST;
    if (term->kind == CONDITION_EQUALS_FIELD)
        return single;
    if (term->other)
        return JSON_CONDITION_TEXT | JSON_CONDITION_NUMBER;
    for (size_t i = 0; i < term->value_count; i++)
        types |= term->values[i].type;
    return types;
}

static bool add_use(struct compiler *c, const struct condition_term *term, const char *test, const char *path)
{
    struct json_condition_use *use = &c->uses[c->condition->use_count++];
    const char **texts = arena_alloc(c->arena, term->value_count * sizeof *texts);
    *use = (struct json_condition_use){.path = path,
                                       .name_length = strcspn(path, "."),
                                       .test = test,
                                       .types = condition_term_types(term),
                                       .texts = texts};
    if (!texts)
        return condition_no_memory(c);
    if (term->kind == CONDITION_EQUALS || term->kind == CONDITION_ONE_OF)
        for (size_t i = 0; i < term->value_count; i++)
            if (term->values[i].type == JSON_CONDITION_TEXT)
                texts[use->text_count++] = term->values[i].text;
    return true;
}

static const struct condition_test *find_test(const char *name)
{
    for (size_t i = 0; i < TEST_COUNT; i++)
        if (strcmp(tests[i].name, name) == 0)
            return &tests[i];
    return NULL;
}

static bool refuse_test(struct compiler *c, const char *name, const struct schema_place *at)
{
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < TEST_COUNT; i++)
        nearest_try(&nearest, tests[i].name);
    return schema_refuse(c->st, at, "there is no test '%.64s'; %s", name, nearest_hint(&nearest).text);
}

static bool compile_test(struct compiler *c, const cJSON *tree, struct condition_term *term,
                         const struct schema_place *at)
{
    const cJSON *field = cJSON_GetObjectItemCaseSensitive(tree, "field"), *item;
    const struct condition_test *test = NULL;
    struct schema_place field_place = {.up = at, .name = "field"};
    term->path = take_path(c, field, &field_place);
    if (!term->path)
        return false;
    cJSON_ArrayForEach(item, tree)
    {
        struct schema_place place = {.up = at, .name = item->string};
        if (item == field)
            continue;
        if (test)
            return schema_refuse(c->st, at, "has both '%s' and '%.64s'; give one test, or join two with \"all\"",
                                 test->name, item->string);
        test = find_test(item->string);
        if (!test)
            return refuse_test(c, item->string, at);
        term->kind = test->kind;
        if (!take_operand(c, test, item, term, &place))
            return false;
    }
    if (!test)
        return schema_refuse(c->st, at, "has a field, but no test; add one, for example \"equals\": \"yes\"");
    if (term->kind == CONDITION_CONTAINS)
        term->index = c->condition->contains_count++;
    return add_use(c, term, test->name, term->path->text) &&
           (!term->other || add_use(c, term, test->name, term->other->text));
}

/* ---- terms of terms ---------------------------------------------------------------------------------------------- */

static bool compile_list(struct compiler *c, const cJSON *list, struct condition_term *term,
                         const struct schema_place *at)
{
    const struct condition_term **end = &term->first;
    struct schema_place place = {.up = at};
    const cJSON *item;
    if (!cJSON_IsArray(list) || !list->child)
        return schema_refuse(c->st, at, "must be a list of conditions, at least one");
    cJSON_ArrayForEach(item, list)
    {
        struct condition_term *part = compile_term(c, item, &place);
        if (!part)
            return false;
        *end = part;
        end = &part->next;
        place.index++;
    }
    return true;
}

static bool compile_joint(struct compiler *c, const cJSON *only, struct condition_term *term,
                          const struct schema_place *at)
{
    struct schema_place place = {.up = at, .name = only->string};
    if (strcmp(only->string, "not") == 0) {
        term->kind = CONDITION_NOT;
        term->first = compile_term(c, only, &place);
        return term->first;
    }
    term->kind = strcmp(only->string, "all") == 0 ? CONDITION_ALL : CONDITION_ANY;
    return compile_list(c, only, term, &place);
}

static bool is_joint(const cJSON *tree)
{
    const char *name = tree->child && !tree->child->next ? tree->child->string : "";
    return strcmp(name, "all") == 0 || strcmp(name, "any") == 0 || strcmp(name, "not") == 0;
}

static struct condition_term *compile_term(struct compiler *c, const cJSON *tree, const struct schema_place *at)
{
    struct condition_term *term = arena_zalloc(c->arena, sizeof *term);
    bool good = false;
    c->depth++;
    if (!term)
        condition_no_memory(c);
    else if (c->depth > JSON_CONDITION_DEPTH_MAX)
        schema_refuse(c->st, at, "conditions stand deeper than %d within each other", JSON_CONDITION_DEPTH_MAX);
    else if (++c->term_count > JSON_CONDITION_TERMS_MAX)
        schema_refuse(c->st, at, "the condition has more than %d parts", JSON_CONDITION_TERMS_MAX);
    else if (cJSON_IsObject(tree) && is_joint(tree))
        good = compile_joint(c, tree->child, term, at);
    else if (cJSON_IsObject(tree) && cJSON_GetObjectItemCaseSensitive(tree, "field"))
        good = compile_test(c, tree, term, at);
    else
        schema_refuse(c->st, at,
                      "must be {\"field\": NAME, TEST: VALUE}, {\"all\": […]}, {\"any\": […]} or {\"not\": {…}}");
    c->depth--;
    return good ? term : NULL;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static int path_order(const void *one, const void *other)
{
    const struct condition_path *const *a = one, *const *b = other;
    return condition_path_compare((*a)->text, (*b)->text);
}

static bool sort_paths(struct compiler *c)
{
    struct json_condition *condition = c->condition;
    size_t count = condition->path_count;
    qsort(c->paths, count, sizeof *c->paths, path_order);
    for (size_t i = 0; i < count; i++)
        c->paths[i]->index = i;
    condition->paths = arena_copy(c->arena, c->paths, count * sizeof *c->paths);
    return condition->paths || condition_no_memory(c);
}

static int contains_order(const void *one, const void *other)
{
    const struct condition_term *const *a = one, *const *b = other;
    if ((*a)->path != (*b)->path)
        return (*a)->path->index < (*b)->path->index ? -1 : 1;
    return condition_value_compare((*a)->values, (*b)->values);
}

static void gather_contains(struct json_condition *condition, const struct condition_term *term)
{
    if (term->kind == CONDITION_CONTAINS)
        condition->contains[term->index] = term;
    for (const struct condition_term *part = term->first; part; part = part->next)
        gather_contains(condition, part);
}

static bool sort_contains(struct compiler *c)
{
    struct json_condition *condition = c->condition;
    condition->contains = arena_alloc(c->arena, condition->contains_count * sizeof(*condition->contains));
    if (!condition->contains)
        return condition_no_memory(c);
    gather_contains(condition, condition->root);
    if (condition->contains_count)
        qsort(condition->contains, condition->contains_count, sizeof(*condition->contains), contains_order);
    return true;
}

const struct json_condition *json_condition_compile(struct arena *arena, const cJSON *tree, struct status *st)
{
    struct compiler c = {.arena = arena, .st = st, .condition = arena_zalloc(arena, sizeof *c.condition)};
    if (!c.condition) {
        condition_no_memory(&c);
        return NULL;
    }
    c.condition->root = compile_term(&c, tree, NULL);
    if (!c.condition->root || !sort_paths(&c) || !sort_contains(&c))
        return NULL;
    c.condition->uses = arena_copy(arena, c.uses, c.condition->use_count * sizeof *c.uses);
    return c.condition->uses || condition_no_memory(&c) ? c.condition : NULL;
}
