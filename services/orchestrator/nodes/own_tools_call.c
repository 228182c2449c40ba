/* Calls of a node's own tools: checked, then written. */
#include "own_tools_priv.h"

#include "prompt.h"
#include "words/locale_codes.h"
#include "json/json.h"

#include <string.h>

#define PROBLEMS_MAX  ((size_t)2048) /* bytes that a model is told */
#define UNCONST(text) ((char *)(uintptr_t)(text))

static const struct own_format formats[] = {
    {.name = "language", .words = "a BCP 47 tag of a known language, such as \"ja\"", .fits = words_is_language_tag},
    {.name = "country", .words = "an ISO 3166-1 alpha-2 code, such as \"JP\"", .fits = words_is_country_code},
    {.name = "time-zone", .words = "the name of an IANA time zone, such as \"Asia/Tokyo\"", .fits = words_is_time_zone},
};

const struct own_format *own_format_named(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

static bool own_call_no_memory(struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "the tools take more memory than an attempt may have");
}

bool own_tools_define(const struct own_tools *tools, struct task *task, const cJSON *inputs, const char *language,
                      Renga__V1__ToolDefinition **list, struct status *st)
{
    for (size_t i = 0; i < tools->count; i++) {
        const struct own_tool *tool = &tools->list[i];
        char *description = prompt_fill(task, tool->description, inputs, language, st);
        list[i] = description ? arena_alloc(task_arena(task), sizeof *list[i]) : NULL;
        if (!list[i])
            return description ? own_call_no_memory(st) : false;
        renga__v1__tool_definition__init(list[i]);
        list[i]->name = UNCONST(tool->name);
        list[i]->description = description;
        list[i]->parameters_json = UNCONST(tool->parameters_json);
    }
    return true;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static const char *schema_problems(struct arena *arena, const struct own_tool *tool, const cJSON *arguments)
{
    struct buffer problems;
    struct status why = {0};
    const char *text = NULL;
    buffer_init(&problems, PROBLEMS_MAX);
    if (!json_schema_check(tool->schema, arguments, &problems, &why))
        text = arena_printf(arena, "INVALID_ARGUMENT: the arguments do not fit: %s",
                            problems.length ? buffer_text(&problems) : why.text);
    buffer_fini(&problems);
    return text;
}

static const char *format_problem(struct arena *arena, const struct own_tool *tool, const cJSON *arguments)
{
    for (size_t i = 0; i < tool->format_count; i++) {
        const struct own_format *format = &tool->formats[i];
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(arguments, format->argument));
        if (text && !format->fits(text))
            return arena_printf(arena, "INVALID_ARGUMENT: %s is '%.64s'; it must be %s", format->argument, text,
                                format->words);
    }
    return NULL;
}

static const cJSON *argument_of(const cJSON *arguments, const struct own_field *into)
{
    return into->argument ? cJSON_GetObjectItemCaseSensitive(arguments, into->argument) : arguments;
}

static const char *field_problem(struct arena *arena, const struct own_tool *tool, const cJSON *arguments)
{
    for (size_t i = 0; i < tool->into_count; i++) {
        const struct own_field *into = &tool->into[i];
        const cJSON *value = argument_of(arguments, into);
        struct status why = {0};
        bool one = into->field->list && !cJSON_IsArray(value);
        if (value && !(one ? field_item_fits : field_fits)(into->field, value, &why))
            return arena_printf(arena, "INVALID_ARGUMENT: %s %s", into->argument ? into->argument : "the call",
                                why.text);
    }
    return NULL;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void own_call_put_member(cJSON *object, const char *name, cJSON *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, name);
    cJSON_AddItemToObject(object, name, value);
}

static void own_call_append_item(cJSON *list, const cJSON *value)
{
    const cJSON *item;
    if (!cJSON_IsArray(value)) {
        cJSON_AddItemToArray(list, cJSON_Duplicate(value, true));
        return;
    }
    cJSON_ArrayForEach(item, value) cJSON_AddItemToArray(list, cJSON_Duplicate(item, true));
}

/* The result of the field's reducer, on the object's value. */
static void own_call_write_field(cJSON *object, const struct field *field, const cJSON *value)
{
    cJSON *old = cJSON_GetObjectItemCaseSensitive(object, field->name);
    bool adds = field->reducer == REDUCE_APPEND || field->reducer == REDUCE_MESSAGES;
    const cJSON *member;
    if (field->reducer == REDUCE_MERGE && cJSON_IsObject(old)) {
        cJSON_ArrayForEach(member, value) own_call_put_member(old, member->string, cJSON_Duplicate(member, true));
    } else if (field->list && adds && cJSON_IsArray(old)) {
        own_call_append_item(old, value);
    } else if (field->list) {
        cJSON *list = cJSON_CreateArray();
        own_call_append_item(list, value);
        own_call_put_member(object, field->name, list);
    } else {
        own_call_put_member(object, field->name, cJSON_Duplicate(value, true));
    }
}

static const char *own_call_refuse(struct own_calls *calls, const struct own_tool *tool, struct status *st)
{
    const char *text = NULL;
    cJSON *values = cJSON_Duplicate(calls->inputs, true);
    if (prompt_values(values, task_node(calls->task), calls->pick_row, calls->language, st))
        text = prompt_fill(calls->task, tool->refusal, values, calls->language, st);
    cJSON_Delete(values);
    return text ? arena_printf(task_arena(calls->task), "FAILED_PRECONDITION: %s", text) : NULL;
}

static const char *own_call_judge(struct own_calls *calls, const struct own_tool *tool, const cJSON *arguments,
                                  struct status *st)
{
    struct arena *arena = task_arena(calls->task);
    if (tool->when && !json_condition_holds(tool->when, calls->inputs))
        return own_call_refuse(calls, tool, st);
    const char *problem = schema_problems(arena, tool, arguments);
    if (!problem)
        problem = format_problem(arena, tool, arguments);
    return problem ? problem : field_problem(arena, tool, arguments);
}

bool own_tool_call(struct own_calls *calls, const struct own_tool *tool, const char *arguments_json,
                   const char **refused, struct status *st)
{
    struct status why = {0};
    struct arena *arena = task_arena(calls->task);
    const char *text = *arguments_json ? arguments_json : "{}";
    cJSON *arguments = json_parse(text, strlen(text), NULL, &why);
    *refused = arguments ? own_call_judge(calls, tool, arguments, st)
                         : arena_printf(arena, "INVALID_ARGUMENT: the arguments are no JSON: %s", why.text);
    bool taken = arguments && !*refused && st->code == OK;
    for (size_t i = 0; taken && i < tool->into_count; i++) {
        const cJSON *value = argument_of(arguments, &tool->into[i]);
        if (!value)
            continue;
        own_call_write_field(calls->inputs, tool->into[i].field, value);
        own_call_write_field(calls->update, tool->into[i].field, value);
    }
    cJSON_Delete(arguments);
    return st->code == OK && (!arena->exhausted || own_call_no_memory(st));
}
