#include "check_priv.h"

#include "json/json.h"

#include "proto/contract_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TOOL_NAME_MAX 64

static const struct place HERE;

bool wrong(struct status *st, const struct place *place, const char *field, const char *format, ...)
{
    struct status reason = {0};
    char path[STATUS_FIELD_MAX];
    va_list arguments;
    va_start(arguments, format);
    status_set(&reason, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    if (place->sub_list)
        snprintf(path, sizeof path, "%s[%zu].%s[%zu].%s", place->list, place->index, place->sub_list, place->sub_index,
                 field);
    else if (place->list)
        snprintf(path, sizeof path, "%s[%zu]%s%s", place->list, place->index, *field ? "." : "", field);
    else
        snprintf(path, sizeof path, "%s", field);
    return fail_field(st, path, "%s", reason.text);
}

static bool is_json_object(struct status *st, const char *field, const char *json)
{
    struct status reason = {0};
    if (!json_check(json, strlen(json), NULL, &reason))
        return wrong(st, &HERE, field, "is not JSON: %s", reason.text);
    return json[strspn(json, " \t\r\n")] == '{' || wrong(st, &HERE, field, "must be a JSON object, {…}");
}

bool tool_name_is_valid(const char *name)
{
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    return length > 0 && length <= TOOL_NAME_MAX && name[length] == '\0';
}

/* The other kinds ignore the fields of a schema. */
static bool check_chat_format(const Renga__V1__ResponseFormat *format, struct status *st)
{
    if (!format || format->kind != RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA)
        return true;
    if (!format->name[0])
        return wrong(st, &HERE, "response_format.name", "must be 1 to 64 of A-Z, a-z, 0-9, '_' and '-'");
    if (!format->schema_json[0])
        return wrong(st, &HERE, "response_format.schema_json", "is empty; RESPONSE_FORMAT_KIND_JSON_SCHEMA needs one");
    return is_json_object(st, "response_format.schema_json", format->schema_json);
}

/* ---- tools ------------------------------------------------------------------------------------------------------- */

static bool check_tool_names(const Renga__V1__ChatRequest *request, struct status *st)
{
    for (size_t i = 0; i < request->n_tools; i++)
        for (size_t other = 0; other < i; other++)
            if (strcmp(request->tools[other]->name, request->tools[i]->name) == 0) {
                const struct place place = {.list = "tools", .index = i};
                return wrong(st, &place, "name", "is that of tools[%zu] too; names must differ", other);
            }
    return true;
}

static bool check_tool_choice(const Renga__V1__ChatRequest *request, struct status *st)
{
    const Renga__V1__ToolChoice *choice = request->tool_choice;
    if (!choice)
        return true;
    bool named = choice->mode == RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NAMED;
    if (choice->mode == RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_REQUIRED && !request->n_tools)
        return wrong(st, &HERE, "tool_choice.mode", "demands a tool call, but the request offers no tools");
    if (!named && choice->name[0])
        return wrong(st, &HERE, "tool_choice.name", "goes with TOOL_CHOICE_MODE_NAMED; leave it empty here");
    for (size_t i = 0; named && i < request->n_tools; i++)
        if (strcmp(request->tools[i]->name, choice->name) == 0)
            return true;
    return !named ||
           wrong(st, &HERE, "tool_choice.name", "is '%.64s'; it must be one of the request's tools", choice->name);
}

bool check_chat_request(const Renga__V1__ChatRequest *request, struct status *st)
{
    return contract_check(&request->base, st) && check_messages(request, st) && check_tool_names(request, st) &&
           check_tool_choice(request, st) && check_chat_format(request->response_format, st);
}
