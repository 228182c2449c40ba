/* Conditions over the fields of an object, as documents write them: compiled once, evaluated often.
 *
 *     {"field": "amount", "more": 500}                   more, less, at_least, at_most: numbers, dates or times
 *     {"field": "kind", "equals": "loan"}                a text, a number, true, false or null
 *     {"field": "kind", "one_of": ["loan", "gift"]}      {"field": "a", "equals_field": "b"}
 *     {"field": "a", "more_field": "b"}                  less_field, at_least_field, at_most_field: of two fields
 *     {"field": "name", "present": true}                 {"field": "colours", "contains": "red"}, of a list
 *     {"all": [C, …]}   {"any": [C, …]}   {"not": C}
 *
 * A field may be a path into objects, "person.age"; a member with that whole name comes before the path. A value is
 * present if it is there and is not null, "", [] or {}. Each other test of a value that is not there, or is of
 * another type, is false. Dates and times are those of iso_time.h; two of different kinds have no order. A text of
 * more than JSON_CONDITION_TEXT_MAX bytes equals no other, and neither do lists and objects. */
#ifndef RENGA_JSON_CONDITION_H
#define RENGA_JSON_CONDITION_H

#include "base/arena.h"
#include "json/json.h"

#define JSON_CONDITION_DEPTH_MAX  8 /* conditions within each other */
#define JSON_CONDITION_TERMS_MAX  256
#define JSON_CONDITION_VALUES_MAX 1024               /* that all its tests compare with */
#define JSON_CONDITION_PATH_MAX   256                /* bytes of a field's path */
#define JSON_CONDITION_STEPS_MAX  8                  /* names in a path */
#define JSON_CONDITION_TEXT_MAX   ((size_t)64 << 10) /* bytes */

struct json_condition;

/* All its memory is the arena's; `tree`, made by json_parse, may go afterwards. It never changes and may be used by
 * many threads. NULL with INVALID_ARGUMENT that begins with the place, "any[2].more: must be a number, …", or with
 * RESOURCE_EXHAUSTED if the arena is out. */
const struct json_condition *json_condition_compile(struct arena *arena, const cJSON *tree, struct status *st);

/* Whether it holds of `object`, made by json_parse; NULL and values of other types have no members. It takes a time in
 * proportion to the object, and no memory. */
bool json_condition_holds(const struct json_condition *condition, const cJSON *object);

/* ---- the fields that it names, for checks by their owner -----------------------------------------------------------
 */

/* Types of values, bits of a set. */
enum {
    JSON_CONDITION_TEXT = 1,
    JSON_CONDITION_NUMBER = 2,
    JSON_CONDITION_BOOLEAN = 4,
    JSON_CONDITION_NULL = 8,
    JSON_CONDITION_LIST = 16,
    JSON_CONDITION_OBJECT = 32,
    JSON_CONDITION_ANY = 63,
};

/* One test of a field. */
struct json_condition_use {
    const char *path;
    size_t name_length;       /* bytes of the path's first name */
    const char *test;         /* "more" */
    unsigned types;           /* with a value of another type the test is always false */
    const char *const *texts; /* that `equals` and `one_of` compare with */
    size_t text_count;
};

/* In the order of the document; a test with two fields is two uses. The list is the condition's. */
const struct json_condition_use *json_condition_uses(const struct json_condition *condition, size_t *count);

#endif
