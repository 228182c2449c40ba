#include "parameter.h"

#include "schema.h"

#include <string.h>

static size_t field_index(const struct contract_type *type, const char *name, size_t length)
{
    for (size_t i = 0; i < type->message->n_field; i++)
        if (strlen(type->message->field[i]->name) == length && memcmp(type->message->field[i]->name, name, length) == 0)
            return i;
    return SIZE_MAX;
}

/* The next variable of a template, without its braces; NULL if there is no other. */
static const char *next_variable(const char *path, size_t *length)
{
    const char *brace = strchr(path, '{');
    if (!brace)
        return NULL;
    *length = strcspn(brace + 1, "}");
    return brace + 1;
}

/* Its description stands beside its schema, where OpenAPI's tools look for it. */
static cJSON *parameter_create(struct contract *contract, const struct contract_type *type, size_t index,
                               const char *name, const char *in)
{
    cJSON *parameter = cJSON_CreateObject(), *schema = schema_of_field(contract, type, index, SCHEMA_REQUEST);
    cJSON_AddStringToObject(parameter, "name", name);
    cJSON_AddStringToObject(parameter, "in", in);
    cJSON_AddItemToObject(parameter, "description", cJSON_DetachItemFromObjectCaseSensitive(schema, "description"));
    cJSON_AddItemToObject(parameter, "schema", schema);
    schema_use_field(contract, type->message->field[index], SCHEMA_REQUEST);
    return parameter;
}

bool parameter_write_path(struct contract *contract, const char *path, const struct contract_type *request,
                          cJSON *parameters, struct status *st)
{
    size_t length;
    for (const char *at = path; (at = next_variable(at, &length)); at += length) {
        size_t index = field_index(request, at, length);
        if (index == SIZE_MAX)
            return fail(st, INVALID_ARGUMENT, "%s: %s has no field '%.*s'", path, request->full_name, (int)length, at);
        cJSON *parameter =
            parameter_create(contract, request, index, request->message->field[index]->json_name, "path");
        cJSON_AddBoolToObject(parameter, "required", true);
        cJSON_AddItemToArray(parameters, parameter);
    }
    return true;
}

static bool parameter_stands_in(struct contract *contract, const char *path, const FieldProto *field)
{
    return strstr(path, arena_printf(&contract->arena, "{%s}", field->name)) != NULL;
}

/* `prefix` is that of the names, "options." in a message within the request. */
static void query_write(struct contract *contract, const char *path, const struct contract_type *type,
                        const char *prefix, cJSON *parameters)
{
    for (size_t i = 0; i < type->message->n_field; i++) {
        const FieldProto *field = type->message->field[i];
        const char *name = arena_printf(&contract->arena, "%s%s", prefix, field->json_name);
        bool map = contract_field_is_map(contract, field);
        if (prefix[0] == '\0' && parameter_stands_in(contract, path, field))
            continue;
        if (field->type == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_MESSAGE && !map) {
            query_write(contract, path, contract_find_type(contract, field->type_name),
                        arena_printf(&contract->arena, "%s.", name), parameters);
            continue;
        }
        cJSON *parameter = parameter_create(contract, type, i, name, "query");
        if (map) /* labels[team]=north */
            cJSON_AddStringToObject(parameter, "style", "deepObject");
        if (prefix[0] == '\0' && schema_is_required(contract, type, i))
            cJSON_AddBoolToObject(parameter, "required", true);
        cJSON_AddItemToArray(parameters, parameter);
    }
}

void parameter_write_query(struct contract *contract, const char *path, const struct contract_type *request,
                           cJSON *parameters)
{
    query_write(contract, path, request, "", parameters);
}

const char *parameter_path(struct contract *contract, const char *path, const struct contract_type *request)
{
    const char *done = "", *at = path;
    size_t length;
    for (const char *name; (name = next_variable(at, &length)); at = name + length) {
        size_t index = field_index(request, name, length);
        const char *json = index == SIZE_MAX ? "" : request->message->field[index]->json_name;
        done = arena_printf(&contract->arena, "%s%.*s%s", done, (int)(name - at), at, json);
    }
    return arena_printf(&contract->arena, "%s%s", done, at);
}
