#include "tool_offer.h"

#include "kept_answer.h"
#include "json/json.h"

#include <string.h>

static bool tool_offer_no_memory(struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "the tools take more memory than an attempt may have");
}

static char *tool_offer_print(struct arena *arena, const cJSON *tree)
{
    struct buffer text;
    struct json_writer out;
    buffer_init(&text, UPDATE_BYTES_MAX);
    json_writer_init(&out, &text);
    json_write_tree(&out, NULL, tree);
    char *copy = text.failed ? NULL : arena_strdup(arena, buffer_text(&text));
    buffer_fini(&text);
    return copy;
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static bool check_argument(const struct node *node, const cJSON *argument, struct status *st)
{
    struct status why = {0};
    const char *name = cJSON_GetStringValue(argument);
    const struct field *field = name ? graph_field_wanted(node->graph, name, &why) : NULL;
    if (!field)
        return fail_field(st, "arguments", "%s", name ? why.text : "must be {ARGUMENT: FIELD}");
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] == field)
            return true;
    return fail_field(st, "arguments", "'%s' is not among the node's \"inputs\"; add it there", field->name);
}

bool offer_check(const struct node *node, size_t arguments_row, struct status *st)
{
    const char *text = node_argument(node, arguments_row)->text;
    cJSON *arguments = text ? json_parse(text, strlen(text), NULL, st) : NULL, *argument;
    if (!text)
        return true;
    bool good = (cJSON_IsObject(arguments) && cJSON_GetArraySize(arguments) <= OFFER_ARGUMENTS_MAX) ||
                fail_field(st, "arguments", "must be an object of at most %d arguments", OFFER_ARGUMENTS_MAX);
    for (argument = good ? arguments->child : NULL; good && argument; argument = argument->next)
        good = check_argument(node, argument, st);
    cJSON_Delete(arguments);
    return good;
}

static bool tool_offer_is_empty(const cJSON *value)
{
    return !value || cJSON_IsNull(value) || (cJSON_IsString(value) && !*value->valuestring) ||
           ((cJSON_IsArray(value) || cJSON_IsObject(value)) && !value->child);
}

static bool add_argument(struct tool_offer *offer, const cJSON *inputs, const cJSON *argument)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(inputs, argument->valuestring);
    const char *name = arena_strdup(offer->arena, argument->string);
    const char *json = tool_offer_is_empty(value) ? NULL : tool_offer_print(offer->arena, value);
    offer->arguments[offer->argument_count].name = name;
    offer->arguments[offer->argument_count++].json = json;
    return name && (json || tool_offer_is_empty(value));
}

bool offer_prepare(struct tool_offer *offer, struct service_call *call, size_t names_row, size_t arguments_row,
                   struct status *st)
{
    const char *text = node_argument(task_node(call->task), arguments_row)->text;
    cJSON *arguments = text ? json_parse(text, strlen(text), NULL, st) : NULL, *argument;
    offer->arena = task_arena(call->task);
    bool good = names_read(call, names_row, &offer->names, &offer->name_count, st);
    for (argument = arguments ? arguments->child : NULL; good && argument; argument = argument->next)
        good = add_argument(offer, call->inputs, argument) || tool_offer_no_memory(st);
    cJSON_Delete(arguments);
    return good;
}

/* ---- the list of tools ------------------------------------------------------------------------------------------- */

static void list_came(const Renga__V1__ListToolsResponse *answer, void *data)
{
    struct tool_offer *offer = ((struct rpc_client_call *)data)->owner;
    struct service_call *call = offer->call;
    struct status st = {0};
    if (!answer || call->cancelled) {
        service_call_failed(call);
        return;
    }
    if (!answer->n_degradations) /* else the next list may have the tools of a server that is down */
        kept_answer_keep(task_services(call->task)->tools, &answer->base);
    const Renga__V1__ListToolsResponse *tools = service_call_keep(call, &answer->base);
    if (tools) {
        offer->listed(call, tools);
        return;
    }
    tool_offer_no_memory(&st);
    task_fail(call->task, &st);
}

void offer_list(struct tool_offer *offer, struct service_call *call,
                void (*listed)(struct service_call *call, const Renga__V1__ListToolsResponse *tools))
{
    struct status st = {0};
    const Renga__V1__ListToolsResponse *known =
        kept_answer_recall(task_services(call->task)->tools, task_arena(call->task));
    if (known) {
        listed(call, known);
        return;
    }
    offer->call = call;
    offer->listed = listed;
    if (!service_call_again(call, PEER_TOOL_RUNNER, &st)) {
        task_fail(call->task, &st);
        return;
    }
    call->call.owner = offer; /* until the next call */
    renga__v1__list_tools_request__init(&offer->request);
    renga__v1__tool_runner__list_tools(call->peer, &offer->request, list_came, &call->call);
}

/* ---- the offer --------------------------------------------------------------------------------------------------- */

static bool tool_offer_is_wanted(const struct tool_offer *offer, const char *name)
{
    for (size_t i = 0; i < offer->name_count; i++)
        if (strcmp(offer->names[i], name) == 0)
            return true;
    return !offer->name_count;
}

static void unrequire(cJSON *schema, const char *name)
{
    cJSON *required = cJSON_GetObjectItemCaseSensitive(schema, "required");
    for (int i = cJSON_GetArraySize(required) - 1; i >= 0; i--) {
        const char *one = cJSON_GetStringValue(cJSON_GetArrayItem(required, i));
        if (one && strcmp(one, name) == 0)
            cJSON_DeleteItemFromArray(required, i);
    }
}

/* Returns the bits of the arguments that the schema had. */
static uint8_t hide_arguments(const struct tool_offer *offer, cJSON *schema)
{
    uint8_t takes = 0;
    cJSON *properties = cJSON_GetObjectItemCaseSensitive(schema, "properties");
    for (size_t i = 0; i < offer->argument_count; i++) {
        if (!cJSON_GetObjectItemCaseSensitive(properties, offer->arguments[i].name))
            continue;
        takes |= (uint8_t)(1U << i);
        cJSON_DeleteItemFromObjectCaseSensitive(properties, offer->arguments[i].name);
        unrequire(schema, offer->arguments[i].name);
    }
    return takes;
}

/* A tool without the argument cannot be limited to its value, and would search in unwanted places. */
static bool heeds_arguments(const struct tool_offer *offer, uint8_t takes, const Renga__V1__Tool *tool)
{
    for (size_t i = 0; i < offer->argument_count; i++)
        if (offer->arguments[i].json && !(takes & 1U << i))
            return tool->self_contained;
    return true;
}

static bool offer_one(struct tool_offer *offer, const Renga__V1__Tool *tool)
{
    Renga__V1__ToolDefinition *definition = tool->definition;
    struct status ignored = {0};
    cJSON *schema = offer->argument_count
                        ? json_parse(definition->parameters_json, strlen(definition->parameters_json), NULL, &ignored)
                        : NULL;
    uint8_t takes = hide_arguments(offer, schema);
    Renga__V1__ToolDefinition *shown = definition;
    if (takes) {
        shown = arena_copy(offer->arena, definition, sizeof *shown);
        if (shown)
            shown->parameters_json = tool_offer_print(offer->arena, schema);
    }
    cJSON_Delete(schema);
    if (!heeds_arguments(offer, takes, tool))
        return true;
    offer->takes[offer->count] = takes;
    offer->tools[offer->count++] = shown;
    return shown && shown->parameters_json;
}

bool offer_tools(struct tool_offer *offer, const Renga__V1__ListToolsResponse *tools, struct status *st)
{
    for (size_t i = 0; i < tools->n_tools && offer->count < OFFER_TOOLS_MAX; i++) {
        Renga__V1__ToolDefinition *definition = tools->tools[i]->definition;
        if (definition && tool_offer_is_wanted(offer, definition->name) && !offer_one(offer, tools->tools[i]))
            return tool_offer_no_memory(st);
    }
    return true;
}

void offer_drop(struct tool_offer *offer, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < offer->count; i++) {
        if (strcmp(offer->tools[i]->name, name) == 0)
            continue;
        offer->tools[kept] = offer->tools[i];
        offer->takes[kept++] = offer->takes[i];
    }
    offer->count = kept;
}

/* ---- the model's calls ------------------------------------------------------------------------------------------- */

static void put_arguments(const struct tool_offer *offer, uint8_t takes, cJSON *arguments)
{
    for (size_t i = 0; i < offer->argument_count; i++) {
        if (!(takes & 1U << i))
            continue;
        cJSON_DeleteItemFromObjectCaseSensitive(arguments, offer->arguments[i].name);
        if (offer->arguments[i].json)
            cJSON_AddItemToObject(arguments, offer->arguments[i].name, cJSON_Parse(offer->arguments[i].json));
    }
}

static bool complete(struct tool_offer *offer, uint8_t takes, Renga__V1__ToolCall *call)
{
    struct status ignored = {0};
    const char *text = call->arguments_json[0] ? call->arguments_json : "{}";
    cJSON *arguments = json_parse(text, strlen(text), NULL, &ignored);
    if (cJSON_IsObject(arguments)) {
        put_arguments(offer, takes, arguments);
        call->arguments_json = tool_offer_print(offer->arena, arguments);
    }
    cJSON_Delete(arguments);
    return call->arguments_json;
}

bool offer_complete(struct tool_offer *offer, Renga__V1__ChatMessage *turn, struct status *st)
{
    for (size_t i = 0; i < turn->n_tool_calls; i++)
        for (size_t tool = 0; tool < offer->count; tool++)
            if (offer->takes[tool] && strcmp(offer->tools[tool]->name, turn->tool_calls[i]->name) == 0 &&
                !complete(offer, offer->takes[tool], turn->tool_calls[i]))
                return tool_offer_no_memory(st);
    return true;
}
