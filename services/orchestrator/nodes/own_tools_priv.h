/* Private to own_tools*.c: the tools as their node's document has them. */
#ifndef RENGA_ORCHESTRATOR_OWN_TOOLS_PRIV_H
#define RENGA_ORCHESTRATOR_OWN_TOOLS_PRIV_H

#include "own_tools.h"

#include "json/condition.h"
#include "json/schema.h"

struct own_format {
    const char *argument, *name, *words; /* words: "a BCP 47 tag" */
    bool (*fits)(const char *text);
};

struct own_field {
    const char *argument; /* NULL: all of them, as an object */
    const struct field *field;
};

struct own_tool {
    const char *name, *description, *refusal; /* the last two: names of prompts */
    const char *parameters_json, *outcome;
    const struct json_schema *schema;
    const struct json_condition *when; /* NULL: at any time */
    const struct field *result;
    const struct own_field *into;
    size_t into_count;
    const struct own_format *formats;
    size_t format_count;
};

struct own_tools {
    size_t count;
    struct own_tool list[];
};

/* Of a name in a schema; NULL: it is not checked. */
const struct own_format *own_format_named(const char *name);

#endif
