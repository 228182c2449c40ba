/* Private to json_schema*.c: a schema as it is checked. */
#ifndef RENGA_BASE_JSON_SCHEMA_PRIVATE_H
#define RENGA_BASE_JSON_SCHEMA_PRIVATE_H

#include "base/json_schema.h"

/* Types of values, bits of a set. A number is whole or not: "integer" is one of them, "number" both. */
enum {
    SCHEMA_NULL = 1,
    SCHEMA_BOOLEAN = 2,
    SCHEMA_WHOLE = 4,
    SCHEMA_FRACTION = 8,
    SCHEMA_STRING = 16,
    SCHEMA_ARRAY = 32,
    SCHEMA_OBJECT = 64,
    SCHEMA_ANY = 127,
};

struct schema_node;

struct schema_property {
    const char *name;
    const struct schema_node *node; /* NULL: it is only required */
    bool required;
};

/* A schema. Places of rules that it does not have hold what every value passes. */
struct schema_node {
    unsigned types;                     /* $ref and anyOf taken into account */
    const cJSON *constant;              /* NULL: none */
    const cJSON *choices;               /* of enum, a list; NULL: none */
    struct schema_property *properties; /* sorted by name */
    size_t property_count, required_count;
    bool closed;                          /* no others are allowed */
    const struct schema_node *additional; /* what others must fit; NULL: anything */
    const struct schema_node *items;      /* NULL: anything */
    size_t items_min, items_max;          /* elements */
    size_t length_min, length_max;        /* characters */
    double min, max, above, below;
    struct schema_node **any_of;
    size_t any_count;
    struct schema_node *ref; /* NULL: none */

    /* While it is compiled. */
    const cJSON *source;
    const char *ref_text, *ref_path;
    struct schema_node *older, *same_bucket;
    unsigned chain; /* schemas that lead on from here, this one included; 0: not yet known */
    bool entered, has_type;
};

struct json_schema {
    const struct schema_node *root;
};

/* Where something stands, from the inside out. NULL: the whole. */
struct schema_place {
    const struct schema_place *up;
    const char *name; /* NULL: an element, by its index */
    size_t index;
};

/* All nodes of a document, to be found by where they stand. */
#define SCHEMA_BUCKETS 256
struct schema_nodes {
    struct schema_node *newest, *buckets[SCHEMA_BUCKETS];
    size_t count;
};
void schema_nodes_add(struct schema_nodes *nodes, struct schema_node *node);

/* Joins each $ref with the node it names, and follows what leads on without going deeper into the value ($ref, anyOf):
 * it must not lead in a circle, nor through more than JSON_SCHEMA_CHAIN_MAX schemas. */
bool schema_refs_resolve(struct schema_nodes *nodes, const cJSON *tree, struct status *st);

#define SCHEMA_PATH_MAX 160 /* bytes that are shown of a path */

/* "steps[2].title"; the text is the buffer's. */
const char *schema_place_text(const struct schema_place *place, struct buffer *out);

/* "a string", "an object, an array or null" */
void schema_types_print(unsigned types, struct buffer *out);
unsigned schema_type_of(const cJSON *value);

/* The set of a type by its name in a schema; 0: there is none. */
unsigned schema_type_named(const char *name);

/* NULL where there is none. */
const struct schema_property *schema_property_find(const struct schema_node *node, const char *name);

#endif
