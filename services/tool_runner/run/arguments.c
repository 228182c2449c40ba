/* Arguments as a model wrote them: an object that fits the tool's schema, or a text for the model to correct them. */
#include "base/buffer.h"
#include "base/text.h"
#include "tool_call.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_MAX    32
#define VALUES_MAX   20000
#define PROBLEMS_MAX ((size_t)4096)

static bool arguments_refuse(const struct tool *tool, struct buffer *problems, struct status *st)
{
    char line[STATUS_TEXT_MAX];
    size_t length = 0;
    for (const char *c = buffer_text(problems); *c && length < sizeof line - 2; c++) {
        line[length++] = *c == '\n' ? ';' : *c;
        if (*c == '\n')
            line[length++] = ' ';
    }
    line[text_cut(line, length, sizeof line - 1)] = '\0';
    return fail(st, INVALID_ARGUMENT, "the arguments of '%s' do not fit: %s", tool->name, length ? line : st->text);
}

static bool arguments_fits(const struct catalog_entry *entry, const cJSON *arguments, struct status *st)
{
    struct buffer problems;
    if (!cJSON_IsObject(arguments))
        return fail(st, INVALID_ARGUMENT, "the arguments of '%s' must be a JSON object, {…}", entry->tool->name);
    if (!entry->schema)
        return true;
    buffer_init(&problems, PROBLEMS_MAX);
    bool good = json_schema_check(entry->schema, arguments, &problems, st);
    if (!good)
        arguments_refuse(entry->tool, &problems, st);
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
    if (arguments_fits(entry, arguments, st))
        return arguments;
    cJSON_Delete(arguments);
    return NULL;
}
