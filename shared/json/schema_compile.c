/* Compiles a document to nodes: every schema in place; json_schema_refs.c then joins them. */
#include "schema_private.h"

#include "base/nearest.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64                 /* schemas within each other */
#define COUNT_MAX 9007199254740992.0 /* 2^53 */

struct compiler {
    struct arena *arena;
    enum json_schema_rules rules;
    struct status *st;
    struct schema_nodes nodes;
    unsigned depth;
};

static struct schema_node *compile_node(struct compiler *c, const cJSON *source, const struct schema_place *place);

static bool schema_compile_no_memory(struct compiler *c)
{
    return fail(c->st, RESOURCE_EXHAUSTED, "no memory for a JSON schema of %zu parts", c->nodes.count);
}

static size_t schema_compile_count_of(const cJSON *list)
{
    size_t count = 0;
    for (const cJSON *item = list->child; item; item = item->next)
        count++;
    return count;
}

/* A copy in the arena: the document may go. */
static cJSON *copy_tree(struct compiler *c, const cJSON *from)
{
    cJSON *copy = arena_zalloc(c->arena, sizeof *copy);
    if (!copy)
        return NULL;
    copy->type = from->type & 0xFF;
    copy->valuedouble = from->valuedouble;
    if (from->string && !(copy->string = arena_strdup(c->arena, from->string)))
        return NULL;
    if (from->valuestring && !(copy->valuestring = arena_strdup(c->arena, from->valuestring)))
        return NULL;
    cJSON **end = &copy->child;
    for (const cJSON *child = from->child; child; child = child->next, end = &(*end)->next)
        if (!(*end = copy_tree(c, child)))
            return NULL;
    return copy;
}

/* ---- keywords ---------------------------------------------------------------------------------------------------- */

static bool take_type(struct compiler *c, struct schema_node *node, const cJSON *value, const struct schema_place *at)
{
    const cJSON *only = cJSON_IsArray(value) ? value->child : value;
    unsigned set = 0;
    for (const cJSON *type = only; type; type = type == value ? NULL : type->next) {
        unsigned named = cJSON_IsString(type) ? schema_type_named(type->valuestring) : 0;
        if (!named)
            return schema_refuse(c->st, at,
                                 "%s%.40s%s is no type; object, array, string, number, integer, boolean and null are",
                                 cJSON_IsString(type) ? "'" : "this", cJSON_IsString(type) ? type->valuestring : "",
                                 cJSON_IsString(type) ? "'" : "");
        set |= named;
    }
    if (!set)
        return schema_refuse(c->st, at, "is an empty list, which no value fits");
    node->types = set;
    node->has_type = true;
    return true;
}

static bool take_enum(struct compiler *c, struct schema_node *node, const cJSON *value, const struct schema_place *at)
{
    if (!cJSON_IsArray(value) || !value->child)
        return schema_refuse(c->st, at, "must be a list of at least one value");
    node->choices = copy_tree(c, value);
    node->table = node->choices ? schema_choices_create(c->arena, node->choices) : NULL;
    return node->table || schema_compile_no_memory(c);
}

static bool take_const(struct compiler *c, struct schema_node *node, const cJSON *value, const struct schema_place *at)
{
    node->constant = copy_tree(c, value);
    return node->constant || schema_compile_no_memory(c);
}

/* With `required`, once both are known: see finish_properties. */
static bool take_properties(struct compiler *c, struct schema_node *node, const cJSON *value,
                            const struct schema_place *at)
{
    if (!cJSON_IsObject(value))
        return schema_refuse(c->st, at, "must be an object with a schema for each property");
    size_t count = schema_compile_count_of(value);
    if (count > JSON_SCHEMA_PROPERTIES_MAX)
        return schema_refuse(c->st, at, "has %zu properties; at most %d are allowed", count,
                             JSON_SCHEMA_PROPERTIES_MAX);
    node->properties = arena_alloc(c->arena, count * sizeof *node->properties);
    if (!node->properties)
        return schema_compile_no_memory(c);
    for (const cJSON *item = value->child; item; item = item->next) {
        const struct schema_place place = {.up = at, .name = item->string};
        struct schema_property *property = &node->properties[node->property_count++];
        *property = (struct schema_property){.name = arena_strdup(c->arena, item->string)};
        property->node = compile_node(c, item, &place);
        if (!property->name)
            return schema_compile_no_memory(c);
        if (!property->node)
            return false;
    }
    return true;
}

static bool take_required(struct compiler *c, struct schema_node *node, const cJSON *value,
                          const struct schema_place *at)
{
    return cJSON_IsArray(value) || schema_refuse(c->st, at, "must be a list of names");
}

static bool take_additional(struct compiler *c, struct schema_node *node, const cJSON *value,
                            const struct schema_place *at)
{
    node->closed = cJSON_IsFalse(value);
    if (cJSON_IsBool(value))
        return true;
    node->additional = compile_node(c, value, at);
    return node->additional != NULL;
}

static bool schema_compile_take_items(struct compiler *c, struct schema_node *node, const cJSON *value,
                                      const struct schema_place *at)
{
    if (cJSON_IsArray(value))
        return schema_refuse(c->st, at, "must be one schema for all elements; a list of them is not supported");
    node->items = compile_node(c, value, at);
    return node->items != NULL;
}

static bool take_any_of(struct compiler *c, struct schema_node *node, const cJSON *value, const struct schema_place *at)
{
    size_t count = cJSON_IsArray(value) ? schema_compile_count_of(value) : 0;
    if (!count)
        return schema_refuse(c->st, at, "must be a list of at least one schema");
    node->any_of = arena_alloc(c->arena, count * sizeof(*node->any_of));
    if (!node->any_of)
        return schema_compile_no_memory(c);
    for (const cJSON *item = value->child; item; item = item->next) {
        const struct schema_place element = {.up = at, .index = node->any_count};
        struct schema_node *alternative = compile_node(c, item, &element);
        if (!alternative)
            return false;
        node->any_of[node->any_count++] = alternative;
    }
    return true;
}

static bool take_ref(struct compiler *c, struct schema_node *node, const cJSON *value, const struct schema_place *at)
{
    struct buffer path;
    if (!cJSON_IsString(value) || value->valuestring[0] != '#')
        return schema_refuse(c->st, at, "must lead to a place within this document, as \"#/$defs/name\" does");
    buffer_init(&path, SIZE_MAX);
    node->ref_path = arena_strdup(c->arena, schema_place_text(at, &path));
    buffer_fini(&path);
    node->ref_text = value->valuestring; /* read before the document goes */
    return node->ref_path || schema_compile_no_memory(c);
}

static bool take_definitions(struct compiler *c, struct schema_node *node, const cJSON *value,
                             const struct schema_place *at)
{
    if (!cJSON_IsObject(value))
        return schema_refuse(c->st, at, "must be an object with a schema for each name");
    for (const cJSON *item = value->child; item; item = item->next) {
        const struct schema_place place = {.up = at, .name = item->string};
        if (!compile_node(c, item, &place))
            return false;
    }
    return true;
}

static bool take_bound(struct compiler *c, struct schema_node *node, const cJSON *value, const struct schema_place *at)
{
    double *bound = strcmp(at->name, "minimum") == 0            ? &node->min
                    : strcmp(at->name, "maximum") == 0          ? &node->max
                    : strcmp(at->name, "exclusiveMinimum") == 0 ? &node->above
                                                                : &node->below;
    *bound = value->valuedouble;
    return cJSON_IsNumber(value) || schema_refuse(c->st, at, "must be a number");
}

static bool take_count(struct compiler *c, struct schema_node *node, const cJSON *value, const struct schema_place *at)
{
    size_t *bound = strcmp(at->name, "minItems") == 0    ? &node->items_min
                    : strcmp(at->name, "maxItems") == 0  ? &node->items_max
                    : strcmp(at->name, "minLength") == 0 ? &node->length_min
                                                         : &node->length_max;
    double count = value->valuedouble;
    if (!cJSON_IsNumber(value) || !(count >= 0 && count <= COUNT_MAX) || floor(count) != count)
        return schema_refuse(c->st, at, "must be a whole number, 0 or more");
    *bound = (size_t)count;
    return true;
}

typedef bool take_keyword(struct compiler *c, struct schema_node *node, const cJSON *value,
                          const struct schema_place *at);

static const struct {
    const char *name;
    take_keyword *take; /* NULL: it only describes */
} keywords[] = {
    {"type", take_type},
    {"properties", take_properties},
    {"required", take_required},
    {"additionalProperties", take_additional},
    {"items", schema_compile_take_items},
    {"enum", take_enum},
    {"const", take_const},
    {"anyOf", take_any_of},
    {"$ref", take_ref},
    {"$defs", take_definitions},
    {"definitions", take_definitions},
    {"minimum", take_bound},
    {"maximum", take_bound},
    {"exclusiveMinimum", take_bound},
    {"exclusiveMaximum", take_bound},
    {"minItems", take_count},
    {"maxItems", take_count},
    {"minLength", take_count},
    {"maxLength", take_count},
    {"title", NULL},
    {"description", NULL},
    {"default", NULL},
    {"examples", NULL},
    {"format", NULL},
    {"deprecated", NULL},
    {"readOnly", NULL},
    {"writeOnly", NULL},
    {"$schema", NULL},
    {"$id", NULL},
    {"$comment", NULL},
};

/* Frequent keywords that are not supported, and their replacement. */
static const struct {
    const char *name, *instead;
} unknown[] = {
    {"oneOf", "use anyOf"},
    {"allOf", "write all its rules into one schema"},
    {"not", "say what is allowed"},
    {"if", "use anyOf"},
    {"pattern", "say it in description, or list the values in enum"},
    {"patternProperties", "use additionalProperties"},
    {"prefixItems", "use an object with a property for each"},
    {"uniqueItems", "say it in description"},
    {"multipleOf", "use type integer, or say it in description"},
    {"nullable", "write \"type\": [\"string\", \"null\"]"},
};

static bool refuse_keyword(struct compiler *c, const struct schema_place *place, const char *name)
{
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        if (strcmp(unknown[i].name, name) == 0)
            return schema_refuse(c->st, place, "the keyword '%s' is not supported; %s", name, unknown[i].instead);
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        nearest_try(&nearest, keywords[i].name);
    if (nearest.name)
        return schema_refuse(c->st, place, "there is no keyword '%.40s'; did you mean '%s'?", name, nearest.name);
    return schema_refuse(
        c->st, place,
        "there is no keyword '%.40s'; type, properties, required, additionalProperties, items, enum, const, "
        "anyOf, $defs, $ref and bounds of numbers, texts and arrays are known",
        name);
}

static bool schema_compile_take(struct compiler *c, struct schema_node *node, const cJSON *item,
                                const struct schema_place *place)
{
    const struct schema_place at = {.up = place, .name = item->string};
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (strcmp(keywords[i].name, item->string) == 0)
            return !keywords[i].take || keywords[i].take(c, node, item, &at);
    return refuse_keyword(c, place, item->string);
}

/* ---- checks across the keywords of a schema ------------------------------------------------------------------------
 */

static int schema_compile_by_name(const void *left, const void *right)
{
    const struct schema_property *a = left, *b = right;
    return strcmp(a->name, b->name);
}

static bool require(struct compiler *c, struct schema_node *node, const cJSON *name, const struct schema_place *at)
{
    if (!cJSON_IsString(name))
        return schema_refuse(c->st, at, "must be a list of names");
    struct schema_property *known = (struct schema_property *)(uintptr_t)schema_property_find(node, name->valuestring);
    if (!known && node->closed)
        return schema_refuse(c->st, at, "'%.64s' is none of the properties, and additionalProperties allows no others",
                             name->valuestring);
    if (known && known->required)
        return schema_refuse(c->st, at, "'%.64s' stands there twice", name->valuestring);
    if (known) {
        known->required = true;
        node->required_count++;
        return true;
    }
    return true;
}

static bool append_required(struct compiler *c, struct schema_node *node, const cJSON *required,
                            const struct schema_place *at)
{
    size_t listed = node->property_count, count = listed;
    struct schema_property *all = arena_alloc(c->arena, (listed + schema_compile_count_of(required)) * sizeof *all);
    if (!all)
        return schema_compile_no_memory(c);
    if (listed)
        memcpy(all, node->properties, listed * sizeof *all);
    for (const cJSON *name = required->child; name; name = name->next) {
        if (schema_property_find(node, name->valuestring))
            continue;
        all[count] = (struct schema_property){.name = arena_strdup(c->arena, name->valuestring), .required = true};
        if (!all[count++].name)
            return schema_compile_no_memory(c);
    }
    qsort(all, count, sizeof *all, schema_compile_by_name);
    for (size_t i = 1; i < count; i++)
        if (strcmp(all[i - 1].name, all[i].name) == 0)
            return schema_refuse(c->st, at, "'%.64s' stands there twice", all[i].name);
    if (count > JSON_SCHEMA_PROPERTIES_MAX)
        return schema_refuse(c->st, at, "has more than %d names", JSON_SCHEMA_PROPERTIES_MAX);
    node->required_count += count - listed;
    node->properties = all;
    node->property_count = count;
    return true;
}

static bool finish_strict(struct compiler *c, const struct schema_node *node, const struct schema_place *place)
{
    bool is_object = (node->has_type && node->types & SCHEMA_OBJECT) || node->property_count;
    if (!place && (node->types != SCHEMA_OBJECT || node->any_count))
        return schema_refuse(c->st, place, "a strict schema begins with \"type\": \"object\" and has no anyOf there");
    if (is_object && !node->closed)
        return schema_refuse(c->st, place, "a strict schema has \"additionalProperties\": false in every object");
    for (size_t i = 0; i < node->property_count; i++)
        if (!node->properties[i].required)
            return schema_refuse(
                c->st, place,
                "a strict schema requires every property, and '%.64s' is not in required; one that may be "
                "left out can be allowed to be null: \"type\": [\"string\", \"null\"]",
                node->properties[i].name);
    return true;
}

static bool schema_compile_finish(struct compiler *c, struct schema_node *node, const cJSON *source,
                                  const struct schema_place *place)
{
    const struct schema_place at = {.up = place, .name = "required"};
    const cJSON *required = cJSON_GetObjectItemCaseSensitive(source, "required");
    if (node->property_count)
        qsort(node->properties, node->property_count, sizeof *node->properties, schema_compile_by_name);
    for (const cJSON *name = required ? required->child : NULL; name; name = name->next)
        if (!require(c, node, name, &at))
            return false;
    if (required && !append_required(c, node, required, &at))
        return false;
    if (node->items_min > node->items_max || node->length_min > node->length_max || node->min > node->max)
        return schema_refuse(c->st, place, "the least is more than the most");
    return c->rules != JSON_SCHEMA_STRICT || finish_strict(c, node, place);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static struct schema_node *schema_compile_add_node(struct compiler *c, const cJSON *source)
{
    struct schema_node *node = arena_zalloc(c->arena, sizeof *node);
    if (!node) {
        schema_compile_no_memory(c);
        return NULL;
    }
    node->types = SCHEMA_ANY;
    node->real = node;
    node->items_max = node->length_max = SIZE_MAX;
    node->min = node->above = -HUGE_VAL;
    node->max = node->below = HUGE_VAL;
    node->source = source;
    schema_nodes_add(&c->nodes, node);
    return node;
}

static struct schema_node *compile_node(struct compiler *c, const cJSON *source, const struct schema_place *place)
{
    if (!cJSON_IsObject(source)) {
        schema_refuse(c->st, place, "must be a schema, which is an object");
        return NULL;
    }
    if (c->nodes.count == JSON_SCHEMA_NODES_MAX || c->depth == DEPTH_MAX) {
        schema_refuse(c->st, place, "at most %d schemas are allowed, and %d within each other", JSON_SCHEMA_NODES_MAX,
                      DEPTH_MAX);
        return NULL;
    }
    struct schema_node *node = schema_compile_add_node(c, source);
    bool good = node != NULL;
    c->depth++;
    for (const cJSON *item = source->child; good && item; item = item->next)
        good = schema_compile_take(c, node, item, place);
    c->depth--;
    return good && schema_compile_finish(c, node, source, place) ? node : NULL;
}

const struct json_schema *json_schema_compile(struct arena *arena, const cJSON *tree, enum json_schema_rules rules,
                                              struct status *st)
{
    struct compiler c = {.arena = arena, .rules = rules, .st = st};
    const struct schema_node *root = compile_node(&c, tree, NULL);
    if (!root || !schema_refs_resolve(&c.nodes, tree, st))
        return NULL;
    struct json_schema *schema = arena_alloc(arena, sizeof *schema);
    if (!schema) {
        schema_compile_no_memory(&c);
        return NULL;
    }
    schema->root = root->real;
    return schema_cost_find(&c.nodes, schema->root, &schema->factor, st) ? schema : NULL;
}
