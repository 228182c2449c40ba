/* libFuzzer on JSON Schema: a schema and a value, with a byte 0 between them. For all of them, compiling and checking
 * end with an answer and its reason, the same one each time; and a compiled schema is checked to the end. */
#include "json/schema.h"

#include <string.h>

#include "fuzz.h"

#define MEMORY_MAX ((size_t)16 << 20)

static void check(const struct json_schema *schema, const cJSON *value)
{
    struct status st = {0}, again = {0};
    struct buffer problems;
    buffer_init(&problems, SIZE_MAX);
    bool fits = json_schema_check(schema, value, &problems, &st);
    must(json_schema_check(schema, value, NULL, &again) == fits);
    must(again.code == st.code && strcmp(again.text, st.text) == 0);
    must(st.code == (fits ? OK : INVALID_ARGUMENT));
    must((st.code == INVALID_ARGUMENT) == (problems.length > 0));
    must(problems.length <= JSON_SCHEMA_PROBLEMS_MAX * (JSON_SCHEMA_PROBLEM_MAX + 1));
    buffer_fini(&problems);
}

static const struct json_schema *compile(struct arena *arena, const char *text, size_t size,
                                         enum json_schema_rules rules)
{
    struct status st = {0};
    cJSON *tree = json_parse(text, size, NULL, &st);
    if (!tree)
        return NULL;
    const struct json_schema *schema = json_schema_compile(arena, tree, rules, &st);
    cJSON_Delete(tree); /* nothing of it is needed any more */
    must(schema ? st.code == OK : st.code == INVALID_ARGUMENT || st.code == RESOURCE_EXHAUSTED);
    must(schema || st.text[0] != '\0');
    return schema;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct status st = {0};
    struct arena plain, strict;
    const char *text = (const char *)data, *between = size ? memchr(text, '\0', size) : NULL;
    if (!between)
        return 0;
    size_t schema_size = (size_t)(between - text), value_size = size - schema_size - 1;
    arena_init(&plain, NULL, 0, MEMORY_MAX);
    arena_init(&strict, NULL, 0, MEMORY_MAX);
    const struct json_schema *schema = compile(&plain, text, schema_size, JSON_SCHEMA_PLAIN);
    must(!compile(&strict, text, schema_size, JSON_SCHEMA_STRICT) || schema);
    cJSON *value = schema ? json_parse(between + 1, value_size, NULL, &st) : NULL;
    if (value)
        check(schema, value);
    cJSON_Delete(value);
    arena_fini(&plain);
    arena_fini(&strict);
    return 0;
}
