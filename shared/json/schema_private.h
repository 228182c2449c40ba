/* Private to json_schema*.c: a schema as it is checked. Its places are those of json_condition_compile.c, too. */
#ifndef RENGA_JSON_SCHEMA_PRIVATE_H
#define RENGA_JSON_SCHEMA_PRIVATE_H

#include "json/schema.h"

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

struct schema_choices;
struct schema_node;

struct schema_property {
    const char *name;
    const struct schema_node *node; /* NULL: it is only required */
    bool required;
};

/* How many schemas one value may have to be held against. */
struct schema_cost {
    unsigned own, same;    /* by this one alone; by all that it leads on to with $ref and anyOf */
    unsigned most, before; /* at this value or deeper within it; the same of the round before */
    unsigned below, round; /* of the values within it, in which round */
};

/* A schema. The members of absent rules hold values that every instance passes. */
struct schema_node {
    unsigned types;                     /* $ref and anyOf taken into account */
    const cJSON *constant;              /* NULL: no `const` */
    const cJSON *choices;               /* of enum, a list; NULL: any value */
    struct schema_choices *table;       /* the same, to be found by their hash */
    struct schema_property *properties; /* sorted by name */
    size_t property_count, required_count;
    bool closed;                          /* no others are allowed */
    const struct schema_node *additional; /* the schema of other properties; NULL: any value */
    const struct schema_node *items;      /* NULL: any element */
    size_t items_min, items_max;          /* elements */
    size_t length_min, length_max;        /* characters */
    double min, max, above, below;
    struct schema_node **any_of;
    size_t any_count;
    struct schema_node *ref;        /* NULL: no $ref */
    const struct schema_node *real; /* itself, or the end of a chain of mere $refs */
    bool tells;                     /* const or enum, also behind a $ref: it distinguishes alternatives */
    size_t telling;                 /* properties that do */

    /* While it is compiled. */
    const cJSON *source;
    const char *ref_text, *ref_path;
    struct schema_node *older, *same_bucket;
    unsigned chain; /* length of the longest chain of $ref and anyOf from this schema on, itself included; 0: not yet
                       known */
    bool entered, has_type;
    struct schema_cost cost; /* json_schema_cost.c */
};

struct json_schema {
    const struct schema_node *root;
    unsigned factor; /* steps for each part of a value, at most */
};

/* A place in a document, from the inside out. NULL: the root. */
struct schema_place {
    const struct schema_place *up;
    const char *name; /* NULL: an element, by its index */
    size_t index;
};

/* All nodes of a document, hashed by their place. */
#define SCHEMA_BUCKETS 256
struct schema_nodes {
    struct schema_node *newest, *buckets[SCHEMA_BUCKETS];
    size_t count;
};
void schema_nodes_add(struct schema_nodes *nodes, struct schema_node *node);

/* Joins each $ref with its node. Follows the references that do not descend into the value ($ref, anyOf): these must
 * not form a cycle or a chain of more than JSON_SCHEMA_CHAIN_MAX schemas. */
bool schema_refs_resolve(struct schema_nodes *nodes, const cJSON *tree, struct status *st);

/* After schema_refs_resolve: how many schemas one value may have to be held against, at most. INVALID_ARGUMENT if
 * these are more than JSON_SCHEMA_FACTOR_MAX. */
bool schema_cost_find(const struct schema_nodes *nodes, const struct schema_node *root, unsigned *factor,
                      struct status *st);

/* ---- json_schema_equal.c: values that are the same ---- */

/* Steps that a check may still take. */
struct schema_budget {
    size_t left;
    bool lost; /* it was not enough */
};
bool schema_spend(struct schema_budget *budget, size_t steps);
#define SCHEMA_BYTES_STEP 64 /* bytes of text to a step */

bool schema_equal(struct schema_budget *budget, const cJSON *wanted, const cJSON *value);

/* A list of values, in the arena; the list is borrowed. NULL if the arena is out. */
struct schema_choices *schema_choices_create(struct arena *arena, const cJSON *list);
/* In about the time that reading the value takes, but no longer than reading the largest of the list. */
bool schema_choices_have(struct schema_budget *budget, const struct schema_choices *choices, const cJSON *value);
/* Whether one of them is an object or an array. */
bool schema_choices_are_deep(const struct schema_choices *choices);

/* ---- json_schema_verdicts.c: which values fit which schemas, as far as it was found out ---- */

struct schema_verdict;
struct schema_verdicts {
    struct schema_verdict *table; /* NULL: not known yet */
    size_t room, count;
};
bool schema_verdict_find(const struct schema_verdicts *verdicts, const struct schema_node *node, const cJSON *value,
                         bool *fits);
/* If memory is out, or there are very many, it is forgotten. */
void schema_verdict_keep(struct schema_verdicts *verdicts, const struct schema_node *node, const cJSON *value,
                         bool fits);
void schema_verdicts_fini(struct schema_verdicts *verdicts);

#define SCHEMA_PATH_MAX 160 /* bytes that are shown of a path */

/* "steps[2].title"; the text is the buffer's. */
const char *schema_place_text(const struct schema_place *place, struct buffer *out);

/* INVALID_ARGUMENT with the place before the text: "steps[2].title: …". Always false. */
bool schema_refuse(struct status *st, const struct schema_place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "a string", "an object, an array or null" */
void schema_types_print(unsigned types, struct buffer *out);
unsigned schema_type_of(const cJSON *value);

/* The set of a type by its name in a schema; 0: unknown. */
unsigned schema_type_named(const char *name);

/* NULL if it is missing. */
const struct schema_property *schema_property_find(const struct schema_node *node, const char *name);

#endif
