/* Private to json_condition*.c: a condition as it is evaluated. */
#ifndef RENGA_JSON_CONDITION_PRIVATE_H
#define RENGA_JSON_CONDITION_PRIVATE_H

#include "base/iso_time.h"
#include "json/condition.h"

#define CONDITION_PATHS_MAX (2 * JSON_CONDITION_TERMS_MAX)

enum condition_kind {
    CONDITION_ALL,
    CONDITION_ANY,
    CONDITION_NOT,
    CONDITION_MORE,
    CONDITION_LESS,
    CONDITION_AT_LEAST,
    CONDITION_AT_MOST,
    CONDITION_EQUALS,
    CONDITION_ONE_OF,
    CONDITION_PRESENT,
    CONDITION_EQUALS_FIELD,
    CONDITION_MORE_FIELD,
    CONDITION_LESS_FIELD,
    CONDITION_AT_LEAST_FIELD,
    CONDITION_AT_MOST_FIELD,
    CONDITION_CONTAINS,
};

/* A path, in steps: "a.b" has two. */
struct condition_path {
    const char *text;
    char *steps[JSON_CONDITION_STEPS_MAX];
    size_t step_count;
    size_t index; /* its place in the order of paths, and that of its value */
};

/* A value that a test compares with. */
struct condition_value {
    unsigned type; /* one of JSON_CONDITION_TEXT, NUMBER, BOOLEAN, NULL */
    const char *text;
    double number; /* of a boolean 0 or 1 */
};

struct condition_term {
    enum condition_kind kind;
    const struct condition_term *first; /* of all, any and not: the terms within */
    const struct condition_term *next;  /* beside it */
    const struct condition_path *path, *other;
    const struct condition_value *values; /* one, or more of one_of; of `present` a boolean */
    size_t value_count;
    bool is_time; /* of more, less, at_least, at_most */
    struct iso_time time;
    size_t index; /* of contains: the index of its result */
};

struct json_condition {
    const struct condition_term *root;
    const struct condition_path **paths; /* in the order of condition_path_compare */
    size_t path_count;
    const struct condition_term **contains; /* by the index of their path, then by value */
    size_t contains_count;
    const struct json_condition_use *uses;
    size_t use_count;
};

/* The order of two paths, step by step. */
int condition_path_compare(const char *one, const char *other);
int condition_value_compare(const struct condition_value *one, const struct condition_value *other);

/* False if the value is a list or an object, or its text is too long. The text is borrowed. */
bool condition_value_read(const cJSON *item, struct condition_value *value);

#endif
