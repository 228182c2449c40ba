/* One descent over value and schema. Alternatives of anyOf are tried in silence, each only until its first problem;
 * the error of a value that fits no alternative is found afterwards, by looking for the one it resembles. The result
 * for a value and a schema is remembered, since alternatives that lead back to themselves multiply. Steps are counted
 * against the bound of json_schema_cost.c. */
#include "schema_private.h"

#include "base/nearest.h"
#include "base/text.h"
#include "json/number.h"
#include "json/writer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX    (JSON_DEPTH_DEFAULT * (JSON_SCHEMA_CHAIN_MAX + 2)) /* calls of check_node within each other */
#define STEPS_FACTOR 16 /* steps for each part of a value and each schema it is held against, at most */
#define STEPS_LEAST  1000
#define VALUE_SHOWN  60  /* bytes of a value in a problem */
#define LIST_SHOWN   200 /* bytes of a list of values or names in a problem */

struct check {
    struct schema_budget budget;
    unsigned depth;
    bool silent; /* only whether it fits */
    struct schema_verdicts verdicts;
    size_t problem_count; /* reported so far */
    struct buffer *problems;
    struct status *st;
};

static bool schema_check_node(struct check *c, const struct schema_node *node, const cJSON *value,
                              const struct schema_place *place);

static bool schema_check_spend(struct check *c, size_t steps)
{
    return schema_spend(&c->budget, steps);
}

/* No further check can change the outcome. */
static bool schema_check_is_over(const struct check *c)
{
    return c->budget.lost || c->problem_count == JSON_SCHEMA_PROBLEMS_MAX;
}

__attribute__((format(printf, 3, 4))) static bool problem(struct check *c, const struct schema_place *place,
                                                          const char *format, ...)
{
    struct buffer path;
    struct status why;
    va_list arguments;
    if (c->silent || schema_check_is_over(c))
        return false;
    va_start(arguments, format);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    why.text[text_cut(why.text, strlen(why.text), JSON_SCHEMA_PROBLEM_MAX - SCHEMA_PATH_MAX)] = '\0';
    buffer_init(&path, SIZE_MAX);
    const char *where = schema_place_text(place, &path);
    if (c->problem_count++ == 0)
        fail(c->st, INVALID_ARGUMENT, "%s: %s", where, why.text);
    if (c->problems)
        buffer_printf(c->problems, "%s%s: %s", c->problem_count > 1 ? "\n" : "", where, why.text);
    buffer_fini(&path);
    return false;
}

/* As JSON, cut. */
static void schema_check_show(const cJSON *value, struct buffer *out)
{
    struct json_writer writer;
    size_t before = out->length;
    json_writer_init(&writer, out);
    json_write_tree(&writer, NULL, value);
    if (out->length - before > VALUE_SHOWN) {
        out->length = before + text_cut(out->data + before, out->length - before, VALUE_SHOWN);
        buffer_print(out, "…");
    }
}

/* The same for the checked value, which may be large. */
static void show_value(const cJSON *value, struct buffer *out)
{
    if (cJSON_IsObject(value) || cJSON_IsArray(value))
        schema_types_print(schema_type_of(value), out);
    else
        schema_check_show(value, out);
}

/* ---- constants ----------------------------------------------------------------------------------------------------
 */

/* False if the value is not one of the allowed ones. */
static bool check_listed(struct check *c, const struct schema_node *node, const cJSON *value,
                         const struct schema_place *place)
{
    const cJSON *only = node->constant;
    bool good = (!only || schema_equal(&c->budget, only, value)) &&
                (!node->table || schema_choices_have(&c->budget, node->table, value));
    if (good || c->silent)
        return good;
    struct buffer text;
    assert(only || node->choices);
    buffer_init(&text, SIZE_MAX);
    buffer_print(&text, node->choices && !only ? "must be one of " : "must be ");
    for (const cJSON *wanted = only ? only : node->choices->child; wanted; wanted = wanted->next) {
        schema_check_show(wanted, &text);
        buffer_print(&text, wanted->next && !only ? ", " : "");
        if (text.length > LIST_SHOWN && wanted->next) {
            buffer_print(&text, "…");
            break;
        }
    }
    buffer_print(&text, ", not ");
    show_value(value, &text);
    problem(c, place, "%s", buffer_text(&text));
    buffer_fini(&text);
    return false;
}

/* ---- by type ----------------------------------------------------------------------------------------------------- */

static bool schema_check_number(struct check *c, const struct schema_node *node, double value,
                                const struct schema_place *place)
{
    static const char *const texts[] = {"at least", "at most", "more than", "less than"};
    const double bounds[] = {node->min, node->max, node->above, node->below};
    const bool good[] = {value >= node->min, value <= node->max, value > node->above, value < node->below};
    for (int i = 0; i < 4; i++) {
        char bound[JSON_NUMBER_SIZE + 1], shown[JSON_NUMBER_SIZE + 1];
        if (good[i])
            continue;
        if (c->silent)
            return false;
        bound[json_format_double(bounds[i], bound)] = '\0';
        shown[json_format_double(value, shown)] = '\0';
        return problem(c, place, "must be %s %s, not %s", texts[i], bound, shown);
    }
    return true;
}

static bool check_string(struct check *c, const struct schema_node *node, const char *text,
                         const struct schema_place *place)
{
    if (node->length_min == 0 && node->length_max == SIZE_MAX)
        return true;
    size_t size = strlen(text), count = 0;
    if (!schema_check_spend(c, size / SCHEMA_BYTES_STEP))
        return false;
    for (size_t i = 0; i < size; i++)
        count += (text[i] & 0xC0) != 0x80;
    if (count < node->length_min)
        return problem(c, place, "must have at least %zu characters, not %zu", node->length_min, count);
    return count <= node->length_max ||
           problem(c, place, "must have at most %zu characters, not %zu", node->length_max, count);
}

static bool check_array(struct check *c, const struct schema_node *node, const cJSON *value,
                        const struct schema_place *place)
{
    struct schema_place at = {.up = place};
    bool good = true;
    for (const cJSON *item = value->child; item; item = item->next, at.index++) {
        if (!schema_check_spend(c, 1))
            return false;
        if (node->items && !schema_check_node(c, node->items, item, &at))
            good = false;
        if ((!good && c->silent) || schema_check_is_over(c))
            return false;
    }
    if (at.index < node->items_min)
        return problem(c, place, "must have at least %zu elements, not %zu", node->items_min, at.index);
    if (at.index > node->items_max)
        return problem(c, place, "must have at most %zu elements, not %zu", node->items_max, at.index);
    return good;
}

static bool refuse_other(struct check *c, const struct schema_node *node, const char *name,
                         const struct schema_place *place)
{
    struct nearest nearest;
    struct buffer names;
    char wanted[VALUE_SHOWN + 1];
    if (c->silent)
        return false;
    size_t size = text_cut(name, strlen(name), VALUE_SHOWN);
    memcpy(wanted, name, size);
    wanted[size] = '\0';
    nearest = nearest_to(wanted);
    buffer_init(&names, SIZE_MAX);
    for (size_t i = 0; i < node->property_count; i++) {
        nearest_try(&nearest, node->properties[i].name);
        if (names.length < LIST_SHOWN)
            buffer_printf(&names, "%s'%.64s'", i ? ", " : "", node->properties[i].name);
    }
    if (nearest.name)
        problem(c, place, "is no property that is allowed here; did you mean '%.64s'?", nearest.name);
    else if (names.length)
        problem(c, place, "is no property that is allowed here; %s%s", buffer_text(&names),
                node->property_count == 1 ? " is" : " are");
    else
        problem(c, place, "is not allowed: the object must be empty");
    buffer_fini(&names);
    return false;
}

static bool check_member(struct check *c, const struct schema_node *node, const struct schema_property *property,
                         const cJSON *member, const struct schema_place *place)
{
    const struct schema_place at = {.up = place, .name = member->string};
    if (property && property->node)
        return schema_check_node(c, property->node, member, &at);
    if (property)
        return true;
    if (node->closed)
        return refuse_other(c, node, member->string, &at);
    return !node->additional || schema_check_node(c, node->additional, member, &at);
}

static bool check_missing(struct check *c, const struct schema_node *node, const uint64_t *seen,
                          const struct schema_place *place)
{
    for (size_t i = 0; i < node->property_count; i++) {
        const struct schema_place at = {.up = place, .name = node->properties[i].name};
        if (node->properties[i].required && !(seen[i / 64] >> (i % 64) & 1))
            problem(c, &at, "is missing");
    }
    return false;
}

struct seen {
    uint64_t bits[JSON_SCHEMA_PROPERTIES_MAX / 64]; /* of the properties by their index */
    size_t required;                                /* how many of them are required */
};

/* The members that are objects or arrays, or the others. */
static bool check_members(struct check *c, const struct schema_node *node, const cJSON *value, bool deep,
                          struct seen *seen, const struct schema_place *place)
{
    bool good = true;
    for (const cJSON *member = value->child; member; member = member->next) {
        if (!schema_check_spend(c, 1))
            return false;
        if (c->silent && deep != (member->child != NULL))
            continue;
        if (!schema_check_spend(c, strlen(member->string) / SCHEMA_BYTES_STEP))
            return false;
        const struct schema_property *property = schema_property_find(node, member->string);
        if (property) {
            size_t index = (size_t)(property - node->properties);
            seen->bits[index / 64] |= UINT64_C(1) << (index % 64);
            seen->required += property->required; /* a name is unique in an object */
        }
        if (!check_member(c, node, property, member, place))
            good = false;
        if ((!good && c->silent) || schema_check_is_over(c))
            return false;
    }
    return good;
}

/* Among alternatives, cheap distinguishing checks (a kind, a type) come first, in any position. Otherwise a deep value
 * would be walked once for each alternative, at every level. */
static bool schema_check_object(struct check *c, const struct schema_node *node, const cJSON *value,
                                const struct schema_place *place)
{
    struct seen seen;
    memset(seen.bits, 0, (node->property_count + 63) / 64 * sizeof seen.bits[0]);
    seen.required = 0;
    bool good = check_members(c, node, value, false, &seen, place);
    if (c->silent)
        good = good && check_members(c, node, value, true, &seen, place);
    if (schema_check_is_over(c) || (!good && c->silent))
        return false;
    if (seen.required == node->required_count)
        return good;
    return !c->silent && check_missing(c, node, seen.bits, place);
}

/* ---- alternatives ------------------------------------------------------------------------------------------------ */

/* True if the members that distinguish the schema's objects are present and right. */
static bool has_constants(struct check *c, const struct schema_node *node, const cJSON *value)
{
    size_t wanted = node->telling;
    if (!wanted || !cJSON_IsObject(value))
        return true;
    for (const cJSON *member = value->child; member && schema_check_spend(c, 1); member = member->next) {
        const struct schema_property *property = schema_property_find(node, member->string);
        if (!property || !property->node || !property->node->tells)
            continue;
        if (!schema_check_node(c, property->node, member, NULL))
            return false;
        wanted--;
    }
    return wanted == 0;
}

/* True if it has the right type and the right constants, even with other errors. */
static bool resembles(struct check *c, const struct schema_node *node, const cJSON *value)
{
    if (!schema_check_spend(c, 1) || !(node->types & schema_type_of(value)) || !check_listed(c, node, value, NULL) ||
        (node->ref && !resembles(c, node->ref, value)) || !has_constants(c, node, value))
        return false;
    for (size_t i = 0; i < node->any_count; i++)
        if (resembles(c, node->any_of[i], value))
            return true;
    return node->any_count == 0;
}

/* The problems of the one intended alternative, if it can be identified. */
static bool explain(struct check *c, const struct schema_node *node, const cJSON *value,
                    const struct schema_place *place)
{
    const struct schema_node *meant = NULL;
    size_t alike = 0;
    c->silent = true;
    for (size_t i = 0; i < node->any_count; i++) {
        if (!resembles(c, node->any_of[i], value))
            continue;
        meant = node->any_of[i];
        alike++;
    }
    c->silent = false;
    if (c->budget.lost)
        return false;
    if (alike == 1)
        return schema_check_node(c, meant, value, place);
    if (alike)
        return problem(c, place, "fits none of the %zu alternatives", node->any_count);
    return problem(c, place, "resembles none of the %zu alternatives: they differ in type, or by a constant",
                   node->any_count);
}

static bool check_any_of(struct check *c, const struct schema_node *node, const cJSON *value,
                         const struct schema_place *place)
{
    bool was_silent = c->silent, fits = false;
    c->silent = true;
    for (size_t i = 0; i < node->any_count && !fits && !c->budget.lost; i++)
        fits = schema_check_node(c, node->any_of[i], value, place);
    c->silent = was_silent;
    return fits || (!was_silent && !c->budget.lost && explain(c, node, value, place));
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool wrong_type(struct check *c, const struct schema_node *node, const cJSON *value,
                       const struct schema_place *place)
{
    struct buffer wanted, got;
    if (c->silent)
        return false;
    buffer_init(&wanted, SIZE_MAX);
    buffer_init(&got, SIZE_MAX);
    schema_types_print(node->types, &wanted);
    if (cJSON_IsBool(value) || (cJSON_IsNumber(value) && node->types & SCHEMA_WHOLE)) /* 2.5 is no integer */
        show_value(value, &got);
    else
        schema_types_print(cJSON_IsNumber(value) ? SCHEMA_WHOLE | SCHEMA_FRACTION : schema_type_of(value), &got);
    if (wanted.length)
        problem(c, place, "must be %s, not %s", buffer_text(&wanted), buffer_text(&got));
    else
        problem(c, place, "nothing fits here: the rules of the schema exclude each other");
    buffer_fini(&wanted);
    buffer_fini(&got);
    return false;
}

static bool check_by_type(struct check *c, const struct schema_node *node, const cJSON *value,
                          const struct schema_place *place)
{
    switch (value->type & 0xFF) {
    case cJSON_Number:
        return schema_check_number(c, node, value->valuedouble, place);
    case cJSON_String:
        return check_string(c, node, value->valuestring, place);
    case cJSON_Array:
        return check_array(c, node, value, place);
    case cJSON_Object:
        return schema_check_object(c, node, value, place);
    default:
        return true;
    }
}

static bool schema_check_rules(struct check *c, const struct schema_node *node, const cJSON *value,
                               const struct schema_place *place)
{
    c->depth++;
    bool good = check_listed(c, node, value, place) && (!node->ref || schema_check_node(c, node->ref, value, place));
    good = good && check_by_type(c, node, value, place);
    good = good && (!node->any_count || check_any_of(c, node, value, place));
    c->depth--;
    return good;
}

static bool schema_check_node(struct check *c, const struct schema_node *node, const cJSON *value,
                              const struct schema_place *place)
{
    bool good;
    node = node->real;
    if (c->depth == DEPTH_MAX)
        c->budget.lost = true;
    if (!schema_check_spend(c, 1))
        return false;
    if (!(node->types & schema_type_of(value)))
        return wrong_type(c, node, value, place);
    bool remembers = c->silent && value->child;
    if (remembers && schema_verdict_find(&c->verdicts, node, value, &good))
        return good;
    good = schema_check_rules(c, node, value, place);
    if (remembers && !c->budget.lost)
        schema_verdict_keep(&c->verdicts, node, value, good);
    return good;
}

static size_t parts_of(const cJSON *value)
{
    size_t text = (value->string ? strlen(value->string) : 0) + (value->valuestring ? strlen(value->valuestring) : 0);
    size_t parts = 1 + text / SCHEMA_BYTES_STEP;
    for (const cJSON *part = value->child; part; part = part->next)
        parts += parts_of(part);
    return parts;
}

unsigned json_schema_factor(const struct json_schema *schema)
{
    return schema->factor;
}

bool json_schema_check(const struct json_schema *schema, const cJSON *value, struct buffer *problems, struct status *st)
{
    struct check c = {.problems = problems, .st = st};
    c.budget.left = STEPS_LEAST + STEPS_FACTOR * schema->factor * parts_of(value);
    bool good = schema_check_node(&c, schema->root, value, NULL);
    schema_verdicts_fini(&c.verdicts);
    if (!good && c.problem_count == 0)
        fail(st, RESOURCE_EXHAUSTED,
             "the value cannot be checked: it is deeper than %d objects and arrays, or takes too much memory",
             JSON_DEPTH_DEFAULT);
    return good;
}
