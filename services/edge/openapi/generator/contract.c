#include "contract.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

#define CONTRACT_BYTES_MAX   (16u << 20)
#define CONTRACT_MEMORY_MAX  (64u << 20)
#define CONTRACT_TYPES_MAX   4096
#define CONTRACT_METHODS_MAX 1024
#define CONTRACT_DEPTH_MAX   16 /* numbers in the path of a source location */
#define JSON_SUFFIX          "_json"

typedef Google__Protobuf__FileDescriptorProto FileProto;
typedef Google__Protobuf__DescriptorProto MessageProto;
typedef Google__Protobuf__EnumDescriptorProto EnumProto;
typedef Google__Protobuf__ServiceDescriptorProto ServiceProto;

/* Field numbers of descriptor.proto, of which the paths of source locations are made. */
enum { FILE_MESSAGE = 4, FILE_ENUM = 5, FILE_SERVICE = 6 };
enum { MESSAGE_FIELD = 2, MESSAGE_NESTED = 3, MESSAGE_ENUM = 4, MESSAGE_ONEOF = 8 };
enum { ENUM_VALUE = 2, SERVICE_METHOD = 2 };

/* A part of a file: where it stands in the source, and the scope of its name. */
struct place {
    const FileProto *file;
    const char *scope;
    int32_t path[CONTRACT_DEPTH_MAX];
    size_t depth;
};

static struct place place_within(const struct place *place, int32_t number, size_t index)
{
    struct place inner = *place;
    inner.path[inner.depth++] = number;
    inner.path[inner.depth++] = (int32_t)index;
    return inner;
}

static const char *place_comment(const struct place *place)
{
    const Google__Protobuf__SourceCodeInfo *info = place->file->source_code_info;
    for (size_t i = 0; info && i < info->n_location; i++) {
        const Google__Protobuf__SourceCodeInfo__Location *location = info->location[i];
        if (location->n_path == place->depth &&
            memcmp(location->path, place->path, place->depth * sizeof place->path[0]) == 0)
            return location->leading_comments ? location->leading_comments : "";
    }
    return "";
}

/* ---- Loading ---------------------------------------------------------------------------------------------------- */

static struct contract_type *type_add(struct contract *contract, const struct place *place, const char *name)
{
    struct contract_type *type = &contract->types[contract->type_count++];
    type->full_name = arena_printf(&contract->arena, "%s.%s", place->scope, name);
    type->short_name = type->full_name + strlen(place->file->package) + 1;
    type->comment = place_comment(place);
    return type;
}

static const char **comments_of(struct contract *contract, const struct place *place, int32_t number, size_t count)
{
    const char **comments = arena_alloc(&contract->arena, (count + 1) * sizeof *comments);
    for (size_t i = 0; i < count; i++) {
        struct place inner = place_within(place, number, i);
        comments[i] = place_comment(&inner);
    }
    return comments;
}

static void enum_load(struct contract *contract, const struct place *place, const EnumProto *proto)
{
    struct contract_type *type = type_add(contract, place, proto->name);
    type->enum_ = proto;
    type->comments = comments_of(contract, place, ENUM_VALUE, proto->n_value);
}

static bool message_load(struct contract *contract, const struct place *place, const MessageProto *proto,
                         struct status *st)
{
    if (place->depth + 4 > CONTRACT_DEPTH_MAX || contract->type_count + proto->n_enum_type + 1 > CONTRACT_TYPES_MAX)
        return fail(st, RESOURCE_EXHAUSTED, "message %s is one of too many, or nested too deeply", proto->name);
    struct contract_type *type = type_add(contract, place, proto->name);
    type->message = proto;
    type->comments = comments_of(contract, place, MESSAGE_FIELD, proto->n_field);
    type->oneof_comments = comments_of(contract, place, MESSAGE_ONEOF, proto->n_oneof_decl);
    for (size_t i = 0; i < proto->n_enum_type; i++) {
        struct place inner = place_within(place, MESSAGE_ENUM, i);
        inner.scope = type->full_name;
        enum_load(contract, &inner, proto->enum_type[i]);
    }
    for (size_t i = 0; i < proto->n_nested_type; i++) {
        struct place inner = place_within(place, MESSAGE_NESTED, i);
        inner.scope = type->full_name;
        if (!message_load(contract, &inner, proto->nested_type[i], st))
            return false;
    }
    return true;
}

static bool types_load(struct contract *contract, const FileProto *file, struct status *st)
{
    const struct place place = {.file = file, .scope = file->package};
    if (contract->type_count + file->n_enum_type > CONTRACT_TYPES_MAX)
        return fail(st, RESOURCE_EXHAUSTED, "the contract has more than %d types", CONTRACT_TYPES_MAX);
    for (size_t i = 0; i < file->n_enum_type; i++) {
        struct place inner = place_within(&place, FILE_ENUM, i);
        enum_load(contract, &inner, file->enum_type[i]);
    }
    for (size_t i = 0; i < file->n_message_type; i++) {
        struct place inner = place_within(&place, FILE_MESSAGE, i);
        if (!message_load(contract, &inner, file->message_type[i], st))
            return false;
    }
    return true;
}

static bool contract_service_load(struct contract *contract, const struct place *place, const ServiceProto *proto,
                                  struct status *st)
{
    const char *service = arena_printf(&contract->arena, "%s.%s", place->file->package, proto->name);
    if (contract->method_count + proto->n_method > CONTRACT_METHODS_MAX)
        return fail(st, RESOURCE_EXHAUSTED, "the contract has more than %d methods", CONTRACT_METHODS_MAX);
    for (size_t i = 0; i < proto->n_method; i++) {
        const Google__Protobuf__MethodDescriptorProto *method = proto->method[i];
        struct place inner = place_within(place, SERVICE_METHOD, i);
        contract->methods[contract->method_count++] = (struct contract_method){
            .service = service,
            .name = method->name,
            .service_comment = place_comment(place),
            .comment = place_comment(&inner),
            .request = contract_find_type(contract, method->input_type),
            .response = contract_find_type(contract, method->output_type),
            .server_streams = method->server_streaming,
        };
    }
    return true;
}

static int type_compare(const void *a, const void *b)
{
    const struct contract_type *left = a, *right = b;
    return strcmp(left->full_name, right->full_name);
}

static bool contract_set_load(struct contract *contract, struct status *st)
{
    for (size_t i = 0; i < contract->set->n_file; i++)
        if (!types_load(contract, contract->set->file[i], st))
            return false;
    qsort(contract->types, contract->type_count, sizeof contract->types[0], type_compare);
    for (size_t i = 0; i < contract->set->n_file; i++) {
        const struct place place = {.file = contract->set->file[i]};
        for (size_t n = 0; n < place.file->n_service; n++) {
            struct place inner = place_within(&place, FILE_SERVICE, n);
            if (!contract_service_load(contract, &inner, place.file->service[n], st))
                return false;
        }
    }
    return true;
}

bool contract_load(struct contract *contract, const char *path, struct status *st)
{
    struct buffer bytes;
    *contract = (struct contract){0};
    arena_init(&contract->arena, NULL, 0, CONTRACT_MEMORY_MAX);
    contract->types = calloc(CONTRACT_TYPES_MAX, sizeof contract->types[0]);
    contract->methods = calloc(CONTRACT_METHODS_MAX, sizeof contract->methods[0]);
    buffer_init(&bytes, CONTRACT_BYTES_MAX);
    bool done = file_read(path, &bytes, st);
    if (done) {
        contract->set =
            google__protobuf__file_descriptor_set__unpack(NULL, bytes.length, (const uint8_t *)buffer_text(&bytes));
        done = contract->set ? contract_set_load(contract, st)
                             : fail(st, INVALID_ARGUMENT, "%s is no descriptor set", path);
    }
    buffer_fini(&bytes);
    return done;
}

void contract_fini(struct contract *contract)
{
    if (contract->set)
        google__protobuf__file_descriptor_set__free_unpacked(contract->set, NULL);
    free(contract->types);
    free(contract->methods);
    arena_fini(&contract->arena);
}

/* ---- Asking ----------------------------------------------------------------------------------------------------- */

struct contract_type *contract_find_type(const struct contract *contract, const char *name)
{
    const struct contract_type key = {.full_name = name[0] == '.' ? name + 1 : name};
    return bsearch(&key, contract->types, contract->type_count, sizeof contract->types[0], type_compare);
}

const struct contract_method *contract_find_method(const struct contract *contract, const char *service,
                                                   const char *name)
{
    for (size_t i = 0; i < contract->method_count; i++) {
        const struct contract_method *method = &contract->methods[i];
        if (strcmp(method->service, service) == 0 && strcmp(method->name, name) == 0)
            return method;
    }
    return NULL;
}

const FieldProto *contract_find_field(const struct contract_type *type, const char *name)
{
    for (size_t i = 0; i < type->message->n_field; i++)
        if (strcmp(type->message->field[i]->name, name) == 0)
            return type->message->field[i];
    return NULL;
}

static const struct contract_type *entry_type(const struct contract *contract, const FieldProto *field)
{
    if (field->type != GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_MESSAGE)
        return NULL;
    const struct contract_type *type = contract_find_type(contract, field->type_name);
    return type && type->message && type->message->options && type->message->options->map_entry ? type : NULL;
}

bool contract_field_is_map(const struct contract *contract, const FieldProto *field)
{
    return entry_type(contract, field) != NULL;
}

const FieldProto *contract_map_value(const struct contract *contract, const FieldProto *field)
{
    return contract_find_field(entry_type(contract, field), "value");
}

bool contract_field_repeats(const FieldProto *field)
{
    return field->label == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__LABEL__LABEL_REPEATED;
}

bool contract_field_is_json(const FieldProto *field)
{
    size_t length = strlen(field->name), suffix = strlen(JSON_SUFFIX);
    return field->type == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_STRING && length > suffix &&
           strcmp(field->name + length - suffix, JSON_SUFFIX) == 0;
}
