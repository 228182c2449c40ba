/* Private to api/check*.c: the rules for requests, as rows. */
#ifndef RENGA_ORCHESTRATOR_CHECK_PRIV_H
#define RENGA_ORCHESTRATOR_CHECK_PRIV_H

#include "check.h"

#include <stddef.h>
#include <stdint.h>

enum text_form {
    TEXT_ANY,
    TEXT_ID,     /* no control characters */
    TEXT_JSON,   /* one JSON value, or empty */
    TEXT_OBJECT, /* a JSON object, or empty */
};

/* A string, or each of a list of strings. */
struct text_rule {
    const char *field;                      /* NULL ends the rows */
    size_t offset, count_offset, count_max; /* the latter two of lists */
    size_t max;                             /* bytes */
    enum text_form form;
    bool required;
};

struct number_rule {
    const char *field;
    size_t offset;
    bool wide; /* int64 */
    int64_t min, max;
};

/* An enum, or each of a list of them. */
struct choice_rule {
    const char *field;
    const ProtobufCEnumDescriptor *values;
    size_t offset, count_offset, count_max;
    bool not_zero;
};

/* Labels are the only map of strings that requests have beside renamed_nodes. */
struct map_rule {
    const char *field;
    size_t offset, count_offset, count_max;
    size_t key_max, value_max;
};

struct request_rules {
    const ProtobufCMessageDescriptor *type; /* NULL ends the rows */
    const struct text_rule *texts;
    const struct number_rule *numbers;
    const struct choice_rule *choices;
    const struct map_rule *maps;
    bool (*more)(const ProtobufCMessage *request, struct status *st); /* rules that no row can state; may be NULL */
};

extern const struct request_rules request_rules[];

/* One text; `field` as it is to be named. */
bool check_text(const char *field, const char *text, size_t max, enum text_form form, struct status *st);

#endif
