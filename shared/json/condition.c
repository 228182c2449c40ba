/* Evaluation: the values of all paths are found in one pass over the object, `contains` in one pass over each list. */
#include "condition_private.h"

#include <string.h>

struct evaluation {
    const struct json_condition *condition;
    const cJSON *values[CONDITION_PATHS_MAX]; /* by path; NULL: it is not there */
    bool contained[JSON_CONDITION_TERMS_MAX];
};

/* ---- values ------------------------------------------------------------------------------------------------------ */

static unsigned path_character(char c)
{
    return c == '\0' ? 0 : c == '.' ? 1 : (unsigned char)c + 2u;
}

int condition_path_compare(const char *one, const char *other)
{
    while (*one && *one == *other)
        one++, other++;
    unsigned left = path_character(*one), right = path_character(*other);
    return (left > right) - (left < right);
}

bool condition_value_read(const cJSON *item, struct condition_value *value)
{
    *value = (struct condition_value){.text = ""};
    if (cJSON_IsString(item)) {
        value->type = JSON_CONDITION_TEXT;
        value->text = item->valuestring;
        return strnlen(value->text, JSON_CONDITION_TEXT_MAX + 1) <= JSON_CONDITION_TEXT_MAX;
    }
    value->type = cJSON_IsNumber(item) ? JSON_CONDITION_NUMBER
                  : cJSON_IsBool(item) ? JSON_CONDITION_BOOLEAN
                  : cJSON_IsNull(item) ? JSON_CONDITION_NULL
                                       : 0;
    value->number = cJSON_IsNumber(item) ? item->valuedouble : cJSON_IsTrue(item);
    return value->type != 0;
}

int condition_value_compare(const struct condition_value *one, const struct condition_value *other)
{
    if (one->type != other->type)
        return one->type < other->type ? -1 : 1;
    if (one->number != other->number)
        return one->number < other->number ? -1 : 1;
    return strcmp(one->text, other->text);
}

/* ---- the values of paths ----------------------------------------------------------------------------------------- */

/* Of the paths from `from` to before `to`, which are the same before `step`: the first one with a step that is not
 * below. */
static size_t find_step(const struct evaluation *eval, size_t from, size_t to, size_t step, const char *name)
{
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const struct condition_path *path = eval->condition->paths[middle];
        if (path->step_count <= step || strcmp(path->steps[step], name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void condition_find_values(struct evaluation *eval, size_t from, size_t to, size_t step, const cJSON *object)
{
    const struct condition_path *const *paths = eval->condition->paths;
    const cJSON *member;
    if (from == to)
        return;
    cJSON_ArrayForEach(member, object)
    {
        size_t first = find_step(eval, from, to, step, member->string), end = first;
        while (end < to && strcmp(paths[end]->steps[step], member->string) == 0)
            end++;
        if (first < end && paths[first]->step_count == step + 1)
            eval->values[first++] = member;
        if (cJSON_IsObject(member))
            condition_find_values(eval, first, end, step + 1, member);
    }
}

/* ---- contains ---------------------------------------------------------------------------------------------------- */

/* Marks the tests from `from` to before `to`, of one list, that wait for this item. */
static void mark_item(struct evaluation *eval, size_t from, size_t to, const cJSON *item)
{
    const struct condition_term *const *tests = eval->condition->contains;
    struct condition_value value;
    size_t end = to;
    if (!condition_value_read(item, &value))
        return;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (condition_value_compare(tests[middle]->values, &value) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < end && condition_value_compare(tests[from]->values, &value) == 0; from++) {
        if (eval->contained[tests[from]->index])
            return; /* by an earlier item that was the same */
        eval->contained[tests[from]->index] = true;
    }
}

static void find_contained(struct evaluation *eval)
{
    const struct condition_term *const *tests = eval->condition->contains;
    size_t count = eval->condition->contains_count, end;
    const cJSON *item;
    for (size_t from = 0; from < count; from = end) {
        const cJSON *list = eval->values[tests[from]->path->index];
        for (end = from; end < count && tests[end]->path == tests[from]->path;)
            end++;
        if (!cJSON_IsArray(list))
            continue;
        cJSON_ArrayForEach(item, list) mark_item(eval, from, end, item);
    }
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static bool is_present(const cJSON *value)
{
    if (!value || cJSON_IsNull(value))
        return false;
    if (cJSON_IsString(value))
        return *value->valuestring != '\0';
    return (!cJSON_IsArray(value) && !cJSON_IsObject(value)) || value->child;
}

static bool order_holds(enum condition_kind kind, int order)
{
    switch (kind) {
    case CONDITION_MORE:
    case CONDITION_MORE_FIELD:
        return order > 0;
    case CONDITION_LESS:
    case CONDITION_LESS_FIELD:
        return order < 0;
    case CONDITION_AT_LEAST:
    case CONDITION_AT_LEAST_FIELD:
        return order >= 0;
    default:
        return order <= 0;
    }
}

static bool ordered_holds(const struct condition_term *term, const cJSON *value)
{
    struct iso_time time;
    double wanted = term->values->number;
    if (!value)
        return false;
    if (!term->is_time)
        return cJSON_IsNumber(value) &&
               order_holds(term->kind, (value->valuedouble > wanted) - (value->valuedouble < wanted));
    return cJSON_IsString(value) && iso_time_parse(value->valuestring, &time) && time.kind == term->time.kind &&
           order_holds(term->kind, iso_time_compare(&time, &term->time));
}

/* Numbers, or dates and times of one kind. */
static bool fields_ordered(enum condition_kind kind, const cJSON *one, const cJSON *other)
{
    struct iso_time left, right;
    if (!one || !other)
        return false;
    if (cJSON_IsNumber(one) && cJSON_IsNumber(other))
        return order_holds(kind, (one->valuedouble > other->valuedouble) - (one->valuedouble < other->valuedouble));
    return cJSON_IsString(one) && cJSON_IsString(other) && iso_time_parse(one->valuestring, &left) &&
           iso_time_parse(other->valuestring, &right) && left.kind == right.kind &&
           order_holds(kind, iso_time_compare(&left, &right));
}

static bool equals_one(const struct condition_term *term, const cJSON *item)
{
    struct condition_value value;
    if (!item || !condition_value_read(item, &value))
        return false;
    for (size_t i = 0; i < term->value_count; i++)
        if (condition_value_compare(&term->values[i], &value) == 0)
            return true;
    return false;
}

static bool fields_equal(const cJSON *one, const cJSON *other)
{
    struct condition_value left, right;
    return one && other && condition_value_read(one, &left) && condition_value_read(other, &right) &&
           condition_value_compare(&left, &right) == 0;
}

static bool term_holds(const struct evaluation *eval, const struct condition_term *term)
{
    bool all = term->kind == CONDITION_ALL;
    const cJSON *value = term->path ? eval->values[term->path->index] : NULL;
    switch (term->kind) {
    case CONDITION_ALL:
    case CONDITION_ANY:
        for (const struct condition_term *part = term->first; part; part = part->next)
            if (term_holds(eval, part) != all)
                return !all;
        return all;
    case CONDITION_NOT:
        return !term_holds(eval, term->first);
    case CONDITION_MORE:
    case CONDITION_LESS:
    case CONDITION_AT_LEAST:
    case CONDITION_AT_MOST:
        return ordered_holds(term, value);
    case CONDITION_EQUALS:
    case CONDITION_ONE_OF:
        return equals_one(term, value);
    case CONDITION_PRESENT:
        return is_present(value) == (term->values->number != 0);
    case CONDITION_EQUALS_FIELD:
        return fields_equal(value, eval->values[term->other->index]);
    case CONDITION_MORE_FIELD:
    case CONDITION_LESS_FIELD:
    case CONDITION_AT_LEAST_FIELD:
    case CONDITION_AT_MOST_FIELD:
        return fields_ordered(term->kind, value, eval->values[term->other->index]);
    case CONDITION_CONTAINS:
        return eval->contained[term->index];
    }
    return false;
}

bool json_condition_holds(const struct json_condition *condition, const cJSON *object)
{
    struct evaluation eval = {.condition = condition};
    if (cJSON_IsObject(object)) {
        condition_find_values(&eval, 0, condition->path_count, 0, object);
        /* Members with a whole name that is a path. */
        const struct condition_path *const *paths = eval.condition->paths;
        const cJSON *member;
        cJSON_ArrayForEach(member, object)
        {
            size_t from = 0, to = strchr(member->string, '.') ? eval.condition->path_count : 0;
            while (from < to) {
                size_t middle = from + (to - from) / 2;
                int order = condition_path_compare(paths[middle]->text, member->string);
                if (order == 0)
                    eval.values[middle] = member;
                from = order < 0 ? middle + 1 : from;
                to = order < 0 ? to : middle;
            }
        }
    }
    find_contained(&eval);
    return term_holds(&eval, condition->root);
}

const struct json_condition_use *json_condition_uses(const struct json_condition *condition, size_t *count)
{
    *count = condition->use_count;
    return condition->uses;
}
