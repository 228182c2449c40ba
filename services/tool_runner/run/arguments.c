/* Arguments as a model wrote them: an object that fits the tool's schema, or what to do better. */
#include "base/buffer.h"
#include "tool_call.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_MAX    32
#define VALUES_MAX   20000
#define PROBLEMS_MAX ((size_t)4096)

static bool refuse(const struct tool *tool, struct buffer *problems, struct status *st)
{
    const char *text = buffer_text(problems);
    for (char *c = problems->data; c && *c; c++)
        if (*c == '\n')
            *c = ';';
    return fail(st, INVALID_ARGUMENT, "the arguments of '%s' do not fit: %s", tool->name, text[0] ? text : st->text);
}

static bool fits(const struct catalog_entry *entry, const cJSON *arguments, struct status *st)
{
    struct buffer problems;
    if (!cJSON_IsObject(arguments))
        return fail(st, INVALID_ARGUMENT, "the arguments of '%s' must be a JSON object, {…}", entry->tool->name);
    if (!entry->schema)
        return true;
    buffer_init(&problems, PROBLEMS_MAX);
    bool good = json_schema_check(entry->schema, arguments, &problems, st);
    if (!good)
        refuse(entry->tool, &problems, st);
    buffer_fini(&problems);
    return good;
}

cJSON *tool_call_read_arguments(const struct catalog_entry *entry, const char *arguments_json, struct status *st)
{
    static const struct json_limits limits = {.depth = DEPTH_MAX, .values = VALUES_MAX};
    struct status reason = {0};
    const char *text = arguments_json[0] ? arguments_json : "{}";
    cJSON *arguments = json_parse(text, strlen(text), &limits, &reason);
    if (!arguments) {
        fail(st, INVALID_ARGUMENT, "the arguments of '%s' are no JSON: %s; write one JSON object", entry->tool->name,
             reason.text);
        return NULL;
    }
    if (fits(entry, arguments, st))
        return arguments;
    cJSON_Delete(arguments);
    return NULL;
}
