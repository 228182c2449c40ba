/* Their part of the document, read once. */
#include "own_tools_priv.h"

#include "base/nearest.h"
#include "graph/agents.h"
#include "when.h"
#include "json/json.h"

#include <string.h>

#define NAME_MAX_BYTES 64 /* as ToolDefinition.name */
#define ARGUMENTS_MAX  64 /* that become fields */
#define PARAMETER      "own_tools"

static const char *const keys[] = {"description", "parameters", "into", "outcome", "result", "when", "refusal", NULL};

struct reader {
    const struct node *node;
    struct arena *arena;
    const char *tool;
    struct status *st;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct reader *in, const char *format, ...)
{
    struct status why;
    va_list arguments;
    va_start(arguments, format);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    fail_field(in->st, PARAMETER, "%s.%s", in->tool, why.text);
    return false;
}

static bool own_tools_no_memory(struct reader *in)
{
    fail(in->st, RESOURCE_EXHAUSTED, "no memory for the tools of a node");
    return false;
}

static const cJSON *own_tools_key(const cJSON *item, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(item, key);
}

/* ---- single keys ------------------------------------------------------------------------------------------------- */

static bool own_tools_read_prompt(struct reader *in, const cJSON *item, const char *key, bool required,
                                  const char **name)
{
    const cJSON *value = own_tools_key(item, key);
    const char *text = cJSON_GetStringValue(value);
    *name = NULL;
    if (!value && !required)
        return true;
    if (!text || !agent_prompt(in->node->graph->agent, text, "en"))
        return refuse(in, "%s: must be the name of a prompt that has an English text", key);
    *name = arena_strdup(in->arena, text);
    return *name || own_tools_no_memory(in);
}

static bool own_tools_read_field(struct reader *in, const cJSON *value, const char *key, const struct field **field)
{
    struct status why = {0};
    const char *name = cJSON_GetStringValue(value);
    *field = name ? graph_field_wanted(in->node->graph, name, &why) : NULL;
    if (*field)
        return true;
    refuse(in, "%s: %s", key, name ? why.text : "must be the name of a field");
    return false;
}

static bool own_tools_read_result(struct reader *in, const cJSON *item, struct own_tool *tool)
{
    const cJSON *value = own_tools_key(item, "result");
    bool given = false;
    if (!value)
        return true;
    if (!tool->outcome)
        return refuse(in, "result: is for tools with an \"outcome\", after which the node is visited again");
    if (!own_tools_read_field(in, value, "result", &tool->result))
        return false;
    for (size_t i = 0; i < in->node->input_count; i++)
        given |= in->node->inputs[i] == tool->result;
    return given || refuse(in, "result: '%s' is not among the node's \"inputs\"; add it there", tool->result->name);
}

static bool own_tools_read_outcome(struct reader *in, const cJSON *item, struct own_tool *tool)
{
    const cJSON *value = own_tools_key(item, "outcome");
    const char *name = cJSON_GetStringValue(value);
    const struct edge *edge = name && *name ? node_edge(in->node, name) : NULL;
    if (!value)
        return true;
    if (!edge)
        return refuse(in, "outcome: '%.64s' has no edge; add it to \"on\"", name ? name : "");
    tool->outcome = edge->outcome;
    return true;
}

static bool read_when(struct reader *in, const cJSON *item, struct own_tool *tool)
{
    struct status why = {0};
    const cJSON *value = own_tools_key(item, "when");
    if (!value)
        return !own_tools_key(item, "refusal") || refuse(in, "refusal: is for tools with a condition, \"when\"");
    tool->when = when_compile(in->node, in->arena, value, &why);
    if (!tool->when)
        return why.code == RESOURCE_EXHAUSTED ? own_tools_no_memory(in) : refuse(in, "when: %s", why.text);
    return own_tools_read_prompt(in, item, "refusal", true, &tool->refusal);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static bool read_formats(struct reader *in, const cJSON *properties, struct own_tool *tool)
{
    const cJSON *property;
    struct own_format *formats = arena_alloc(in->arena, (size_t)cJSON_GetArraySize(properties) * sizeof *formats);
    tool->formats = formats;
    if (!formats)
        return own_tools_no_memory(in);
    cJSON_ArrayForEach(property, properties)
    {
        const char *name = cJSON_GetStringValue(own_tools_key(property, "format"));
        const struct own_format *format = name ? own_format_named(name) : NULL;
        if (!format)
            continue;
        formats[tool->format_count] = *format;
        formats[tool->format_count].argument = arena_strdup(in->arena, property->string);
        if (!formats[tool->format_count++].argument)
            return own_tools_no_memory(in);
    }
    return true;
}

static bool own_tools_read_parameters(struct reader *in, const cJSON *item, struct own_tool *tool)
{
    struct status why = {0};
    struct buffer text;
    struct json_writer out;
    const cJSON *schema = own_tools_key(item, "parameters");
    const char *type = cJSON_GetStringValue(own_tools_key(schema, "type"));
    if (!type || strcmp(type, "object") != 0)
        return refuse(in, "parameters: must be a JSON Schema of the \"type\": \"object\"");
    tool->schema = json_schema_compile(in->arena, schema, JSON_SCHEMA_PLAIN, &why);
    if (!tool->schema)
        return why.code == RESOURCE_EXHAUSTED ? own_tools_no_memory(in) : refuse(in, "parameters: %s", why.text);
    buffer_init(&text, UPDATE_BYTES_MAX);
    json_writer_init(&out, &text);
    json_write_tree(&out, NULL, schema);
    tool->parameters_json = arena_strdup(in->arena, buffer_text(&text));
    buffer_fini(&text);
    return (tool->parameters_json || own_tools_no_memory(in)) &&
           read_formats(in, own_tools_key(schema, "properties"), tool);
}

/* Compares with the type in the schema. Without a type in the schema, the call of the tool checks the value. */
static bool types_fit(const struct field *field, const char *type)
{
    static const char *const names[] = {
        [FIELD_STRING] = "string",   [FIELD_INTEGER] = "integer", [FIELD_NUMBER] = "number",
        [FIELD_BOOLEAN] = "boolean", [FIELD_OBJECT] = "object",
    };
    bool list = type && strcmp(type, "array") == 0;
    if (!type || field->type == FIELD_ANY || (list && field->list))
        return true;
    if (field->type == FIELD_NUMBER && strcmp(type, "integer") == 0)
        return true;
    return strcmp(names[field->type], type) == 0; /* of a list: a single item */
}

static bool read_into_one(struct reader *in, const cJSON *properties, const cJSON *item, struct own_field *into)
{
    const cJSON *property = own_tools_key(properties, item->string);
    const char *type = cJSON_GetStringValue(own_tools_key(property, "type"));
    if (!property)
        return refuse(in, "into: the parameters have no property '%.64s'", item->string);
    if (!own_tools_read_field(in, item, "into", &into->field))
        return false;
    if (into->field->reducer == REDUCE_SUM || into->field->reducer == REDUCE_MAX)
        return refuse(in, "into: '%s' adds up; a tool writes fields that replace, append or merge", into->field->name);
    if (!types_fit(into->field, type))
        return refuse(in, "into: '%.64s' is of the type %s, and '%s' is %s", item->string, type, into->field->name,
                      field_type_words(into->field->type, into->field->list));
    into->argument = arena_strdup(in->arena, item->string);
    return into->argument || own_tools_no_memory(in);
}

/* All arguments as a single object. */
static bool read_into_whole(struct reader *in, const cJSON *value, struct own_tool *tool)
{
    struct own_field *into = arena_alloc(in->arena, sizeof *into);
    tool->into = into;
    tool->into_count = 1;
    if (!into)
        return own_tools_no_memory(in);
    *into = (struct own_field){0};
    return own_tools_read_field(in, value, "into", &into->field) &&
           ((into->field->type == FIELD_OBJECT && !into->field->list) ||
            refuse(in, "into: '%s' is %s; all arguments together are an object", into->field->name,
                   field_type_words(into->field->type, into->field->list)));
}

static bool read_into(struct reader *in, const cJSON *item, struct own_tool *tool)
{
    const cJSON *value = own_tools_key(item, "into"), *one,
                *properties = own_tools_key(own_tools_key(item, "parameters"), "properties");
    if (cJSON_IsString(value))
        return read_into_whole(in, value, tool);
    int count = cJSON_GetArraySize(value);
    struct own_field *into = arena_alloc(in->arena, (size_t)count * sizeof *into);
    tool->into = into;
    if (!into)
        return own_tools_no_memory(in);
    if (value && (!cJSON_IsObject(value) || count > ARGUMENTS_MAX))
        return refuse(in, "into: must be an object of at most %d arguments, {\"ARGUMENT\": \"FIELD\"}", ARGUMENTS_MAX);
    cJSON_ArrayForEach(one, value)
    {
        if (!read_into_one(in, properties, one, &into[tool->into_count++]))
            return false;
    }
    return true;
}

/* ---- tools ------------------------------------------------------------------------------------------------------- */

static bool check_keys(struct reader *in, const cJSON *item)
{
    const cJSON *key;
    static const char known[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t length = strlen(item->string);
    if (length == 0 || length > NAME_MAX_BYTES || item->string[strspn(item->string, known)])
        return fail_field(in->st, PARAMETER,
                          "'%.64s' is no name for a tool; use letters, digits, '_' and '-', at most %d", item->string,
                          NAME_MAX_BYTES);
    if (!cJSON_IsObject(item))
        return fail_field(in->st, PARAMETER, "%s must be an object with \"description\" and \"parameters\"",
                          item->string);
    cJSON_ArrayForEach(key, item)
    {
        struct nearest nearest = nearest_to(key->string);
        bool found = false;
        for (const char *const *one = keys; *one && !found; one++) {
            found = strcmp(*one, key->string) == 0;
            nearest_try(&nearest, *one);
        }
        if (!found)
            return fail_field(in->st, PARAMETER, "%s has an unknown key '%.64s'; %s", item->string, key->string,
                              nearest_hint(&nearest).text);
    }
    return true;
}

static bool own_tools_read_tool(struct reader *in, const cJSON *item, struct own_tool *tool)
{
    in->tool = item->string;
    *tool = (struct own_tool){.name = arena_strdup(in->arena, item->string)};
    return (tool->name || own_tools_no_memory(in)) && check_keys(in, item) &&
           own_tools_read_prompt(in, item, "description", true, &tool->description) &&
           own_tools_read_parameters(in, item, tool) && read_into(in, item, tool) &&
           own_tools_read_outcome(in, item, tool) && own_tools_read_result(in, item, tool) && read_when(in, item, tool);
}

const struct own_tools *own_tools_prepare(const struct node *node, size_t row, struct arena *arena, struct status *st)
{
    struct reader in = {.node = node, .arena = arena, .st = st};
    const char *text = node_argument(node, row)->text;
    cJSON *given = text ? json_parse(text, strlen(text), NULL, st) : NULL;
    const cJSON *item;
    int count = cJSON_GetArraySize(given);
    struct own_tools *tools = arena_zalloc(arena, sizeof *tools + (size_t)count * sizeof(struct own_tool));
    bool good = tools;
    if (!tools)
        own_tools_no_memory(&in);
    else if (text && (!cJSON_IsObject(given) || count > OWN_TOOLS_MAX))
        good = fail_field(st, PARAMETER, "must be an object of at most %d tools, {\"NAME\": {…}}", OWN_TOOLS_MAX);
    cJSON_ArrayForEach(item, given) good = good && own_tools_read_tool(&in, item, &tools->list[tools->count++]);
    cJSON_Delete(given);
    return good ? tools : NULL;
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

size_t own_tools_count(const struct own_tools *tools)
{
    return tools->count;
}

bool own_tools_write(const struct own_tools *tools, const struct field *field)
{
    for (size_t i = 0; i < tools->count; i++)
        for (size_t j = 0; j < tools->list[i].into_count; j++)
            if (tools->list[i].into[j].field == field)
                return true;
    return false;
}

bool own_tools_end(const struct own_tools *tools, const char *outcome)
{
    for (size_t i = 0; i < tools->count; i++)
        if (tools->list[i].outcome && strcmp(tools->list[i].outcome, outcome) == 0)
            return true;
    return false;
}

const struct own_tool *own_tool_find(const struct own_tools *tools, const char *name)
{
    for (size_t i = 0; i < tools->count; i++)
        if (strcmp(tools->list[i].name, name) == 0)
            return &tools->list[i];
    return NULL;
}

const char *own_tool_outcome(const struct own_tool *tool)
{
    return tool->outcome;
}

const struct field *own_tool_result(const struct own_tool *tool)
{
    return tool->result;
}
