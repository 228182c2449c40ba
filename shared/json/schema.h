/* JSON Schema, as far as models are held to it: compiled once, checked often.
 *
 *      const struct json_schema *schema = json_schema_compile(&arena, tree, JSON_SCHEMA_PLAIN, st);
 *      ...
 *      if (!json_schema_check(schema, value, &problems, st))
 *          ...   // "subtasks[2]: must be a string, not a number"
 *
 * Supported: type (one or several), properties, required, additionalProperties (a boolean or a schema), items,
 * minItems, maxItems, enum, const, minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, anyOf,
 * $defs (also by its former name definitions) and $ref within the document, which may be recursive. Annotations are
 * accepted and ignored: $schema, $id, $comment, title, description, default, examples, format, deprecated, readOnly,
 * writeOnly. All other keywords are refused, because a rule that is not checked would mislead.
 *
 * Both trees must be made by json_parse (json.h): keys are unique in an object, and depth is bounded. */
#ifndef RENGA_JSON_SCHEMA_H
#define RENGA_JSON_SCHEMA_H

#include "base/arena.h"
#include "base/buffer.h"
#include "json/json.h"

#define JSON_SCHEMA_NODES_MAX      10000 /* schemas within the document */
#define JSON_SCHEMA_PROPERTIES_MAX 1024  /* of one object */
#define JSON_SCHEMA_CHAIN_MAX      64    /* schemas that $ref and anyOf lead through to check one value */
#define JSON_SCHEMA_FACTOR_MAX     1024  /* schemas that one value is held against, by $ref and anyOf here and above */
#define JSON_SCHEMA_PROBLEMS_MAX   8     /* shown of one value */
#define JSON_SCHEMA_PROBLEM_MAX    480   /* bytes of one of them */

struct json_schema;

enum json_schema_rules {
    JSON_SCHEMA_PLAIN,
    /* Also: the root is an object, and every object lists all its properties in required and allows no others.
     * Providers demand this before they constrain a model to a schema. */
    JSON_SCHEMA_STRICT,
};

/* All its memory is the arena's; the tree may go afterwards. It never changes and may be used by many threads. NULL
 * with INVALID_ARGUMENT that begins with a place in the schema, "properties.steps.items: ...", also if a check could
 * take too long; or RESOURCE_EXHAUSTED if the arena is out. */
const struct json_schema *json_schema_compile(struct arena *arena, const cJSON *tree, enum json_schema_rules rules,
                                              struct status *st);

/* Steps of a check for each part of a value, at most: a caller multiplies it with a value's size to know the longest
 * time. At least 1, at most JSON_SCHEMA_FACTOR_MAX. */
unsigned json_schema_factor(const struct json_schema *schema);

/* True if `value` fits. False with INVALID_ARGUMENT and the first problem as its text; `problems`, which may be NULL,
 * gets a line for each of the first few, without an LF after the last. The time is proportional to the value, at most
 * json_schema_factor times it. RESOURCE_EXHAUSTED: undecided, since the value is deeper than JSON_DEPTH_DEFAULT, or
 * memory is out. */
bool json_schema_check(const struct json_schema *schema, const cJSON *value, struct buffer *problems,
                       struct status *st);

#endif
