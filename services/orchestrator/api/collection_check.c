#include "collection_check.h"

#include "graph/graph.h"

#include "base/arena.h"
#include "base/nearest.h"
#include "json/json.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <stdio.h>
#include <string.h>

#define ASK_MS    3000
#define NAMES_MAX 100 /* that are checked */

/* ---- the input --------------------------------------------------------------------------------------------------- */

static bool is_input(const struct graph *graph, const struct field *field)
{
    for (size_t i = 0; i < graph->input_count; i++)
        if (graph->input[i] == field)
            return true;
    return false;
}

/* Without sources, and with the field's own initial ones, the knowledge base is searched. */
static bool asks_knowledge_base(const struct graph *graph, const cJSON *input)
{
    const cJSON *source,
        *sources = graph->sources ? cJSON_GetObjectItemCaseSensitive(input, graph->sources->name) : NULL;
    if (cJSON_GetArraySize(sources) == 0)
        return true;
    cJSON_ArrayForEach(source, sources)
    {
        const char *name = cJSON_IsString(source) ? source->valuestring : "";
        if (strcmp(name, "internal") == 0 || strcmp(name, "documents") == 0)
            return true;
    }
    return false;
}

static size_t copy_names(const cJSON *list, struct arena *arena, char *const **names)
{
    size_t count = 0;
    char **copies = cJSON_IsArray(list) ? arena_alloc(arena, NAMES_MAX * sizeof *copies) : NULL;
    const cJSON *item, *items = copies ? list : NULL;
    cJSON_ArrayForEach(item, items)
    {
        char *copy = count < NAMES_MAX && cJSON_IsString(item) ? arena_strdup(arena, item->valuestring) : NULL;
        if (copy)
            copies[count++] = copy;
    }
    *names = copies;
    return count;
}

size_t collection_names_of_input(const struct graph *graph, const char *input_json, struct arena *arena,
                                 char *const **names)
{
    struct status ignored = {0};
    const struct field *field = graph->collections;
    if (!field || !is_input(graph, field) || !strstr(input_json, field->name))
        return 0;
    cJSON *input = json_parse(input_json, strlen(input_json), NULL, &ignored);
    size_t count = asks_knowledge_base(graph, input)
                       ? copy_names(cJSON_GetObjectItemCaseSensitive(input, field->name), arena, names)
                       : 0;
    cJSON_Delete(input);
    return count;
}

/* ---- tools that have collections of their own -------------------------------------------------------------------- */

static bool has_collections(const Renga__V1__Tool *tool)
{
    struct status ignored = {0};
    const char *text = tool->definition ? tool->definition->parameters_json : "";
    cJSON *schema = tool->server[0] ? json_parse(text, strlen(text), NULL, &ignored) : NULL;
    bool has = cJSON_HasObjectItem(cJSON_GetObjectItemCaseSensitive(schema, "properties"), "collections");
    cJSON_Delete(schema);
    return has;
}

static void collections_tools_listed(const Renga__V1__ListToolsResponse *response, void *data)
{
    struct collection_check *check = ((struct rpc_client_call *)data)->owner;
    bool elsewhere = false;
    for (size_t i = 0; response && i < response->n_tools; i++)
        elsewhere |= has_collections(response->tools[i]);
    if (elsewhere)
        status_clear(&check->unknown);
    check->checked(check, &check->unknown);
}

static void collection_check_prepare(struct collection_check *check)
{
    rpc_client_call_init(&check->asking, rpc_call_loop(check->call), check->call);
    check->asking.principal = check->principal;
    check->asking.owner = check;
    check->asking.timeout_ms = ASK_MS;
}

static void collections_list_tools(struct collection_check *check)
{
    Renga__V1__ListToolsRequest request = RENGA__V1__LIST_TOOLS_REQUEST__INIT;
    collection_check_prepare(check);
    renga__v1__tool_runner__list_tools(check->tool_runner, &request, collections_tools_listed, &check->asking);
}

/* ---- the knowledge base ------------------------------------------------------------------------------------------ */

/* The index of the first name that no collection has; the count of names: there is none. */
static size_t unknown_collection(const struct collection_check *check, const Renga__V1__GetKnowledgeBaseResponse *known)
{
    for (size_t i = 0; i < check->count; i++) {
        size_t at = 0;
        while (at < known->n_collections && strcmp(check->names[i], known->collections[at]->name) != 0)
            at++;
        if (at == known->n_collections)
            return i;
    }
    return check->count;
}

static void refuse_collection(struct collection_check *check, size_t index,
                              const Renga__V1__GetKnowledgeBaseResponse *known)
{
    char field[STATUS_FIELD_MAX];
    struct nearest nearest = nearest_to(check->names[index]);
    for (size_t i = 0; i < known->n_collections; i++)
        nearest_try(&nearest, known->collections[i]->name);
    snprintf(field, sizeof field, "%s[%zu]", check->field, index);
    fail_field(&check->unknown, field, "there is no collection '%.64s'; %s", check->names[index],
               known->n_collections ? nearest_hint(&nearest).text : "no documents have been indexed");
    check->unknown.code = NOT_FOUND;
}

static void collections_listed(const Renga__V1__GetKnowledgeBaseResponse *response, void *data)
{
    struct collection_check *check = ((struct rpc_client_call *)data)->owner;
    size_t unknown = response ? unknown_collection(check, response) : check->count;
    if (unknown == check->count || rpc_call_cancelled(check->call)) {
        check->checked(check, &check->unknown);
        return;
    }
    refuse_collection(check, unknown, response);
    collections_list_tools(check);
}

void collection_check_begin(struct collection_check *check)
{
    Renga__V1__GetKnowledgeBaseRequest request = RENGA__V1__GET_KNOWLEDGE_BASE_REQUEST__INIT;
    collection_check_prepare(check);
    renga__v1__tool_runner__get_knowledge_base(check->tool_runner, &request, collections_listed, &check->asking);
}
