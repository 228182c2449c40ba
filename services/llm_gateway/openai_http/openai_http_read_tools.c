/* Tools, which of them may be called, and the form of the answer. */
#include "openai_http_priv.h"

#include <string.h>

static const char *const function_type[] = {"function"};

/* The object `function` of {"type":"function","function":{…}}; NULL after a failure. */
static const cJSON *function_of(struct openai_http_reader *reader, const cJSON *item)
{
    if (!cJSON_IsObject(item)) {
        json_reader_fail(&reader->in, item, "must be an object");
        return NULL;
    }
    json_string(&reader->in, item, "type");
    if (reader->in.failed ||
        openai_http_read_enum(reader, cJSON_GetObjectItemCaseSensitive(item, "type"), function_type, 1) < 0)
        return NULL;
    return json_object(&reader->in, item, "function");
}

static void read_tool(struct openai_http_reader *reader, const cJSON *item, Renga__V1__ToolDefinition *tool)
{
    const cJSON *function = function_of(reader, item);
    renga__v1__tool_definition__init(tool);
    if (!function)
        return;
    tool->name = UNCONST(json_string(&reader->in, function, "name"));
    tool->description = UNCONST(json_string_or(&reader->in, function, "description", ""));
    tool->strict = json_boolean_or(&reader->in, function, "strict", false);
    const cJSON *parameters = json_object_or_null(&reader->in, function, "parameters");
    if (parameters)
        tool->parameters_json = openai_http_read_raw(reader, parameters);
}

/* Before any name is looked up among them. */
static bool tools_fit(struct openai_http_reader *reader, const cJSON *list)
{
    int count = cJSON_GetArraySize(list);
    return count <= OPENAI_HTTP_TOOLS_MAX ||
           json_reader_fail(&reader->in, list, "has %d tools; at most %d are allowed", count, OPENAI_HTTP_TOOLS_MAX);
}

void openai_http_read_tools(struct openai_http_reader *reader)
{
    Renga__V1__ChatRequest *request = &reader->question->request;
    const cJSON *list = json_array_or_null(&reader->in, reader->in.root, "tools");
    if (!list || !list->child)
        return;
    size_t count = (size_t)cJSON_GetArraySize(list);
    if (!tools_fit(reader, list))
        return;
    Renga__V1__ToolDefinition *tools = arena_alloc(reader->arena, count * sizeof *tools);
    request->tools = arena_alloc(reader->arena, count * sizeof(*request->tools));
    if (!tools || !request->tools)
        return;
    for (const cJSON *item = list->child; item && !reader->in.failed; item = item->next) {
        read_tool(reader, item, &tools[request->n_tools]);
        request->tools[request->n_tools] = &tools[request->n_tools];
        request->n_tools++;
    }
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */

static const char *const modes[] = {
    [RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_AUTO] = "auto",
    [RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NONE] = "none",
    [RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_REQUIRED] = "required",
};

static void read_mode(struct openai_http_reader *reader, const cJSON *word)
{
    int mode = openai_http_read_enum(reader, word, modes, sizeof modes / sizeof modes[0]);
    if (mode >= 0)
        reader->question->tool_choice.mode = (Renga__V1__ToolChoiceMode)mode;
}

static size_t find_tool(const Renga__V1__ChatRequest *request, size_t from, const char *name)
{
    for (size_t i = from; i < request->n_tools; i++)
        if (strcmp(request->tools[i]->name, name) == 0)
            return i;
    return request->n_tools;
}

/* Tools that may not be called are not shown to the model at all: those that may move to the front. */
static void read_allowed(struct openai_http_reader *reader, const cJSON *choice)
{
    Renga__V1__ChatRequest *request = &reader->question->request;
    const cJSON *allowed = json_object(&reader->in, choice, "allowed_tools");
    const cJSON *list = json_array(&reader->in, allowed, "tools");
    json_string(&reader->in, allowed, "mode");
    if (reader->in.failed || !tools_fit(reader, list))
        return;
    read_mode(reader, cJSON_GetObjectItemCaseSensitive(allowed, "mode"));
    size_t kept = 0;
    for (const cJSON *item = list->child; item && !reader->in.failed; item = item->next) {
        const char *name = json_string(&reader->in, function_of(reader, item), "name");
        size_t place = find_tool(request, 0, name);
        if (place == request->n_tools) {
            json_reader_fail(&reader->in, item, "must be one of the request's tools");
        } else if (place >= kept) {
            Renga__V1__ToolDefinition *tool = request->tools[place];
            memmove(&request->tools[kept + 1], &request->tools[kept], (place - kept) * sizeof(*request->tools));
            request->tools[kept++] = tool;
        }
    }
    request->n_tools = kept;
}

void openai_http_read_tool_choice(struct openai_http_reader *reader)
{
    static const char *const types[] = {"function", "allowed_tools"};
    struct openai_http_chat_request *question = reader->question;
    const cJSON *choice = cJSON_GetObjectItemCaseSensitive(reader->in.root, "tool_choice");
    if (reader->in.failed || !openai_http_is_given(choice))
        return;
    question->request.tool_choice = &question->tool_choice;
    if (!cJSON_IsObject(choice)) {
        read_mode(reader, choice);
        return;
    }
    json_string(&reader->in, choice, "type");
    int type = reader->in.failed
                   ? -1
                   : openai_http_read_enum(reader, cJSON_GetObjectItemCaseSensitive(choice, "type"), types, 2);
    if (type == 0) {
        const cJSON *function = json_object(&reader->in, choice, "function");
        question->tool_choice.mode = RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NAMED;
        question->tool_choice.name = UNCONST(json_string(&reader->in, function, "name"));
    } else if (type == 1) {
        read_allowed(reader, choice);
    }
}

/* ---- the form ---------------------------------------------------------------------------------------------------- */

void openai_http_read_format(struct openai_http_reader *reader)
{
    static const char *const kinds[] = {
        [RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_TEXT] = "text",
        [RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_OBJECT] = "json_object",
        [RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA] = "json_schema",
    };
    Renga__V1__ResponseFormat *format = &reader->question->response_format;
    const cJSON *given = json_object_or_null(&reader->in, reader->in.root, "response_format");
    if (!given)
        return;
    json_string(&reader->in, given, "type");
    int kind = reader->in.failed ? -1
                                 : openai_http_read_enum(reader, cJSON_GetObjectItemCaseSensitive(given, "type"), kinds,
                                                         sizeof kinds / sizeof kinds[0]);
    if (kind < 0)
        return;
    reader->question->request.response_format = format;
    format->kind = (Renga__V1__ResponseFormatKind)kind;
    if (format->kind != RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA)
        return;
    const cJSON *schema = json_object(&reader->in, given, "json_schema");
    format->name = UNCONST(json_string(&reader->in, schema, "name"));
    format->description = UNCONST(json_string_or(&reader->in, schema, "description", ""));
    format->strict = json_boolean_or(&reader->in, schema, "strict", false);
    const cJSON *tree = json_object(&reader->in, schema, "schema");
    if (tree)
        format->schema_json = openai_http_read_raw(reader, tree);
}
