#include "schema.h"

#include "bounds.h"
#include "prose.h"

#include "json/json.h"

#include <stdio.h>
#include <string.h>

/* Messages of google.protobuf that have a form of their own in JSON. */
static const struct {
    const char *type, *schema;
} well_known[] = {
    {"google.protobuf.Any", "{\"type\":\"object\",\"required\":[\"@type\"],\"properties\":{\"@type\":{\"type\":"
                            "\"string\"}},\"additionalProperties\":true}"},
    {"google.protobuf.BoolValue", "{\"type\":\"boolean\"}"},
    {"google.protobuf.BytesValue", "{\"type\":\"string\",\"contentEncoding\":\"base64\"}"},
    {"google.protobuf.DoubleValue", "{\"type\":\"number\",\"format\":\"double\"}"},
    {"google.protobuf.Duration", "{\"type\":\"string\",\"pattern\":\"^-?[0-9]+(\\\\.[0-9]{1,9})?s$\"}"},
    {"google.protobuf.Empty", "{\"type\":\"object\"}"},
    {"google.protobuf.FieldMask", "{\"type\":\"string\"}"},
    {"google.protobuf.FloatValue", "{\"type\":\"number\",\"format\":\"float\"}"},
    {"google.protobuf.Int32Value", "{\"type\":\"integer\",\"format\":\"int32\"}"},
    {"google.protobuf.Int64Value", "{\"type\":\"string\",\"format\":\"int64\"}"},
    {"google.protobuf.ListValue", "{\"type\":\"array\",\"items\":{}}"},
    {"google.protobuf.StringValue", "{\"type\":\"string\"}"},
    {"google.protobuf.Struct", "{\"type\":\"object\",\"additionalProperties\":true}"},
    {"google.protobuf.Timestamp", "{\"type\":\"string\",\"format\":\"date-time\"}"},
    {"google.protobuf.UInt32Value", "{\"type\":\"integer\",\"format\":\"uint32\",\"minimum\":0}"},
    {"google.protobuf.UInt64Value", "{\"type\":\"string\",\"format\":\"uint64\"}"},
    {"google.protobuf.Value", "{}"},
};

#define TYPE(NAME) GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_##NAME

static const char *well_known_schema(const char *type)
{
    for (size_t i = 0; i < sizeof well_known / sizeof well_known[0]; i++)
        if (strcmp(well_known[i].type, type) == 0)
            return well_known[i].schema;
    return NULL;
}

/* ---- Types in use ----------------------------------------------------------------------------------------------- */

void schema_use_field(struct contract *contract, const FieldProto *field, enum schema_side side)
{
    if (field->type == TYPE(MESSAGE) || field->type == TYPE(ENUM))
        schema_use(contract, contract_find_type(contract, field->type_name), side);
}

void schema_use(struct contract *contract, struct contract_type *type, enum schema_side side)
{
    bool *used = side == SCHEMA_REQUEST ? &type->in : &type->out;
    if (*used || well_known_schema(type->full_name))
        return;
    *used = true;
    for (size_t i = 0; type->message && i < type->message->n_field; i++)
        schema_use_field(contract, type->message->field[i], side);
}

static const char *schema_name(struct contract *contract, const struct contract_type *type, enum schema_side side)
{
    bool input = side == SCHEMA_REQUEST && type->message && type->out;
    return arena_printf(&contract->arena, "%s%s", type->short_name, input ? "Input" : "");
}

cJSON *schema_reference(struct contract *contract, const struct contract_type *type, enum schema_side side)
{
    cJSON *schema = cJSON_CreateObject();
    cJSON_AddStringToObject(
        schema, "$ref", arena_printf(&contract->arena, "#/components/schemas/%s", schema_name(contract, type, side)));
    return schema;
}

/* ---- Fields ----------------------------------------------------------------------------------------------------- */

static cJSON *schema_typed(const char *type, const char *format)
{
    cJSON *schema = cJSON_CreateObject();
    cJSON_AddStringToObject(schema, "type", type);
    if (format)
        cJSON_AddStringToObject(schema, "format", format);
    return schema;
}

/* Text in responses, since a double does not hold all 64-bit numbers; text or a number in requests. */
static cJSON *wide_integer(const char *format, const char *pattern, enum schema_side side)
{
    cJSON *schema = cJSON_CreateObject();
    if (side == SCHEMA_REQUEST) {
        cJSON *types = cJSON_AddArrayToObject(schema, "type");
        cJSON_AddItemToArray(types, cJSON_CreateString("string"));
        cJSON_AddItemToArray(types, cJSON_CreateString("integer"));
    } else {
        cJSON_AddStringToObject(schema, "type", "string");
    }
    cJSON_AddStringToObject(schema, "format", format);
    cJSON_AddStringToObject(schema, "pattern", pattern);
    return schema;
}

/* A field x_json is text in responses; requests may also have the value itself. */
static cJSON *string_value(const FieldProto *field, enum schema_side side)
{
    bool json = contract_field_is_json(field);
    cJSON *schema = json && side == SCHEMA_REQUEST ? cJSON_CreateObject() : schema_typed("string", NULL);
    if (json && side == SCHEMA_RESPONSE)
        cJSON_AddStringToObject(schema, "contentMediaType", "application/json");
    return schema;
}

static cJSON *message_value(struct contract *contract, const FieldProto *field, enum schema_side side)
{
    const char *known = well_known_schema(field->type_name + 1);
    return known ? json_parse(known, strlen(known), NULL, &(struct status){0})
                 : schema_reference(contract, contract_find_type(contract, field->type_name), side);
}

/* The schema of one value of the field. */
static cJSON *value_schema(struct contract *contract, const FieldProto *field, enum schema_side side)
{
    cJSON *schema;
    switch (field->type) {
    case TYPE(DOUBLE):
        return schema_typed("number", "double");
    case TYPE(FLOAT):
        return schema_typed("number", "float");
    case TYPE(INT64):
    case TYPE(SINT64):
    case TYPE(SFIXED64):
        return wide_integer("int64", "^-?[0-9]+$", side);
    case TYPE(UINT64):
    case TYPE(FIXED64):
        return wide_integer("uint64", "^[0-9]+$", side);
    case TYPE(UINT32):
    case TYPE(FIXED32):
        schema = schema_typed("integer", "uint32");
        cJSON_AddNumberToObject(schema, "minimum", 0);
        return schema;
    case TYPE(BOOL):
        return schema_typed("boolean", NULL);
    case TYPE(STRING):
        return string_value(field, side);
    case TYPE(BYTES):
        schema = schema_typed("string", NULL);
        cJSON_AddStringToObject(schema, "contentEncoding", "base64");
        return schema;
    case TYPE(ENUM):
        return schema_reference(contract, contract_find_type(contract, field->type_name), side);
    case TYPE(MESSAGE):
        return message_value(contract, field, side);
    default:
        return schema_typed("integer", "int32");
    }
}

/* What the oneof says beyond "Presence of FIELD.": mostly what its absence means. */
static const char *oneof_comment(struct contract *contract, const struct contract_type *type, const FieldProto *field)
{
    if (!field->has_oneof_index)
        return "";
    const char *text = prose_markdown(&contract->arena, type->oneof_comments[field->oneof_index]);
    bool alone = strncmp(type->message->oneof_decl[field->oneof_index]->name, "maybe_", strlen("maybe_")) == 0;
    const char *presence = arena_printf(&contract->arena, "Presence of %s.", field->name);
    return alone && strcmp(text, presence) != 0 ? text : "";
}

static const char *field_description(struct contract *contract, const struct contract_type *type, size_t index)
{
    const char *oneof = oneof_comment(contract, type, type->message->field[index]);
    const char *text = prose_markdown(&contract->arena, type->comments[index]);
    return oneof[0] == '\0' ? text : arena_printf(&contract->arena, "%s %s", text, oneof);
}

cJSON *schema_of_field(struct contract *contract, const struct contract_type *type, size_t index, enum schema_side side)
{
    const FieldProto *field = type->message->field[index];
    cJSON *schema;
    if (contract_field_is_map(contract, field)) {
        schema = schema_typed("object", NULL);
        const FieldProto *value = contract_map_value(contract, field);
        cJSON_AddItemToObject(schema, "additionalProperties", value_schema(contract, value, side));
    } else if (contract_field_repeats(field)) {
        schema = schema_typed("array", NULL);
        cJSON_AddItemToObject(schema, "items", value_schema(contract, field, side));
    } else {
        schema = value_schema(contract, field, side);
    }
    if (side == SCHEMA_REQUEST)
        bounds_write(field, schema);
    cJSON_AddStringToObject(schema, "description", field_description(contract, type, index));
    if (field->options && field->options->deprecated)
        cJSON_AddBoolToObject(schema, "deprecated", true);
    return schema;
}

bool schema_is_required(struct contract *contract, const struct contract_type *type, size_t index)
{
    static const char word[] = "Required.";
    const char *text = prose_markdown(&contract->arena, type->comments[index]);
    if (bounds_require(type->message->field[index]))
        return true;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if (at == text || at[-1] == ' ')
            return true;
    return false;
}

/* Whether responses always have the field: it has no presence of its own. */
static bool always_printed(const struct contract *contract, const FieldProto *field)
{
    bool message = field->type == TYPE(MESSAGE) && !contract_field_repeats(field);
    return !message && !field->has_oneof_index;
}

/* ---- Messages and enums ----------------------------------------------------------------------------------------- */

/* Whether the path of its route takes the field, which the body then leaves out. */
static bool bound_by_path(struct contract *contract, const struct contract_type *type, const FieldProto *field)
{
    return type->path_bound && strstr(type->path_bound, arena_printf(&contract->arena, "{%s}", field->name)) != NULL;
}

static void oneofs_write(struct contract *contract, const struct contract_type *type, cJSON *schema)
{
    cJSON *list = NULL;
    for (size_t i = 0; i < type->message->n_oneof_decl; i++) {
        cJSON *members = cJSON_CreateArray();
        for (size_t n = 0; n < type->message->n_field; n++) {
            const FieldProto *field = type->message->field[n];
            if (field->has_oneof_index && field->oneof_index == (int32_t)i)
                cJSON_AddItemToArray(members, cJSON_CreateString(field->json_name));
        }
        if (cJSON_GetArraySize(members) < 2) {
            cJSON_Delete(members);
            continue;
        }
        list = list ? list : cJSON_AddArrayToObject(schema, "x-oneof");
        cJSON *oneof = cJSON_CreateObject();
        cJSON_AddStringToObject(oneof, "name", type->message->oneof_decl[i]->name);
        cJSON_AddStringToObject(oneof, "description", prose_markdown(&contract->arena, type->oneof_comments[i]));
        cJSON_AddItemToObject(oneof, "members", members);
        cJSON_AddItemToArray(list, oneof);
    }
}

static cJSON *message_schema(struct contract *contract, const struct contract_type *type, enum schema_side side)
{
    cJSON *schema = schema_typed("object", NULL), *required = cJSON_CreateArray(), *properties = cJSON_CreateObject();
    cJSON_AddStringToObject(schema, "description", prose_markdown(&contract->arena, type->comment));
    for (size_t i = 0; i < type->message->n_field; i++) {
        const FieldProto *field = type->message->field[i];
        const char *name = field->json_name;
        if (side == SCHEMA_REQUEST && bound_by_path(contract, type, field))
            continue;
        if (side == SCHEMA_REQUEST ? schema_is_required(contract, type, i) : always_printed(contract, field))
            cJSON_AddItemToArray(required, cJSON_CreateString(name));
        cJSON_AddItemToObject(properties, name, schema_of_field(contract, type, i, side));
    }
    cJSON_AddItemToObject(schema, "properties", properties);
    if (required->child)
        cJSON_AddItemToObject(schema, "required", required);
    else
        cJSON_Delete(required);
    if (side == SCHEMA_REQUEST)
        cJSON_AddBoolToObject(schema, "additionalProperties", false);
    oneofs_write(contract, type, schema);
    return schema;
}

/* Code generators make a union of the values. The text says that a client must expect others. */
static cJSON *enum_schema(struct contract *contract, const struct contract_type *type)
{
    cJSON *schema = schema_typed("string", NULL), *values = cJSON_CreateArray();
    const char *description = prose_markdown(&contract->arena, type->comment);
    for (size_t i = 0; i < type->enum_->n_value; i++) {
        const char *name = type->enum_->value[i]->name;
        const char *text = prose_markdown(&contract->arena, type->comments[i]);
        cJSON_AddItemToArray(values, cJSON_CreateString(name));
        description = arena_printf(&contract->arena, "%s%s- `%s`: %s", description, i == 0 ? "\n\n" : "\n", name, text);
    }
    cJSON_AddStringToObject(schema, "description",
                            arena_printf(&contract->arena, "%s\n\nA later server may send other values.", description));
    cJSON_AddItemToObject(schema, "enum", values);
    return schema;
}

void schema_write_all(struct contract *contract, cJSON *schemas)
{
    for (size_t i = 0; i < contract->type_count; i++) {
        const struct contract_type *type = &contract->types[i];
        if (type->enum_ && (type->in || type->out))
            cJSON_AddItemToObject(schemas, type->short_name, enum_schema(contract, type));
        if (type->message && type->message->options && type->message->options->map_entry)
            continue;
        for (enum schema_side side = SCHEMA_REQUEST; type->message && side <= SCHEMA_RESPONSE; side++)
            if (side == SCHEMA_REQUEST ? type->in : type->out)
                cJSON_AddItemToObject(schemas, schema_name(contract, type, side), message_schema(contract, type, side));
    }
}
