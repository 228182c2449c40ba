/* A descriptor set is a tree: files hold messages, enums and services, those hold fields, values and methods. Which
 * kind stands in which field of which other kind is one table, and one function walks the tree by it. */
#include "rpc/schema_priv.h"

#include "base/memory.h"
#include "base/text.h"
#include "rpc/wire.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_MAX    (64u << 20) /* bytes of names */
#define FULL_NAME_MAX 1024        /* bytes of a fully qualified name */
#define FILES_MAX     4096        /* of one set */
#define NESTING_MAX   32          /* messages within messages */
#define LIST_FIRST    64          /* items that a list has room for at first */

enum kind { KIND_FILE, KIND_MESSAGE, KIND_FIELD, KIND_ONEOF, KIND_ENUM, KIND_VALUE, KIND_SERVICE, KIND_METHOD };

/* Field numbers of descriptor.proto: https://protobuf.com/docs/descriptors */
enum { SET_FILE = 1 };
enum { ANY_NAME = 1 };
enum { FILE_PACKAGE = 2, FILE_DEPENDENCY = 3 };
enum { FIELD_EXTENDEE = 2, FIELD_NUMBER = 3 };
enum { METHOD_OPTIONS = 4, METHOD_CLIENT_STREAMING = 5, METHOD_SERVER_STREAMING = 6 };
enum { OPTIONS_IDEMPOTENCY = 34 };

static const struct {
    enum kind outer;
    uint32_t number;
    enum kind inner;
} places[] = {
    {KIND_FILE, 4, KIND_MESSAGE}, {KIND_FILE, 5, KIND_ENUM},      {KIND_FILE, 6, KIND_SERVICE},
    {KIND_FILE, 7, KIND_FIELD},   {KIND_MESSAGE, 2, KIND_FIELD},  {KIND_MESSAGE, 3, KIND_MESSAGE},
    {KIND_MESSAGE, 4, KIND_ENUM}, {KIND_MESSAGE, 6, KIND_FIELD},  {KIND_MESSAGE, 8, KIND_ONEOF},
    {KIND_ENUM, 2, KIND_VALUE},   {KIND_SERVICE, 2, KIND_METHOD},
};

/* One piece of the tree. */
struct piece {
    enum kind kind;
    const uint8_t *bytes;
    size_t size;
    const char *scope; /* the prefix of its name, "" at the top */
    unsigned depth;
};

struct load {
    struct rpc_schema *schema;
    bool symbols;
    struct status *st;
    struct rpc_file *file; /* that is being read */
};

/* ---- Small parts ------------------------------------------------------------------------------------------------ */

static bool schema_load_out_of_memory(struct load *load)
{
    return fail_memory(load->st, "the names of the descriptor set");
}

static void *schema_load_list_add(struct load *load, struct schema_list *list, size_t item_size)
{
    if (list->count == list->room) {
        size_t room = list->room == 0 ? LIST_FIRST : 2 * list->room;
        void *items = realloc(list->items, room * item_size);
        if (!items) {
            schema_load_out_of_memory(load);
            return NULL;
        }
        list->items = items;
        list->room = room;
    }
    void *item = (char *)list->items + list->count++ * item_size;
    memset(item, 0, item_size);
    return item;
}

static bool schema_load_malformed(struct load *load, const char *reason)
{
    const char *name = load->file && load->file->name ? load->file->name : "";
    return fail(load->st, INVALID_ARGUMENT, "the descriptor set is malformed in file '%s' (number %zu): %s", name,
                load->schema->file_count, reason);
}

/* The last occurrence of a field, which is the one that counts; `*found` tells whether there is one. */
static bool field_last(struct load *load, const struct piece *piece, uint32_t number, enum rpc_wire_type type,
                       struct rpc_wire_field *last, bool *found)
{
    struct rpc_wire wire = rpc_wire_over(piece->bytes, piece->size);
    struct rpc_wire_field field;
    *found = false;
    while (rpc_wire_next(&wire, &field)) {
        if (field.number == number && field.type == type) {
            *last = field;
            *found = true;
        }
    }
    return !wire.error || schema_load_malformed(load, wire.error);
}

static bool schema_load_number_read(struct load *load, const struct piece *piece, uint32_t number, uint64_t *value)
{
    struct rpc_wire_field field;
    bool found;
    *value = 0;
    if (!field_last(load, piece, number, RPC_WIRE_VARINT, &field, &found))
        return false;
    if (found)
        *value = field.value;
    return true;
}

/* A name below `scope`, or `scope` itself if the piece has no name (a file without package). */
static const char *name_read(struct load *load, const struct piece *piece, uint32_t number, const char *scope)
{
    struct rpc_wire_field field;
    bool found;
    if (!field_last(load, piece, number, RPC_WIRE_BYTES, &field, &found))
        return NULL;
    if (!found || field.size == 0)
        return scope;
    const char *text = (const char *)field.bytes;
    if (!text_is_clean(text, field.size) || field.size + strlen(scope) >= FULL_NAME_MAX) {
        schema_load_malformed(load, "a name in it is not text, or too long");
        return NULL;
    }
    char *name = scope[0] == '\0' ? arena_strndup(&load->schema->names, text, field.size)
                                  : arena_printf(&load->schema->names, "%s.%.*s", scope, (int)field.size, text);
    if (!name)
        schema_load_out_of_memory(load);
    return name;
}

/* ---- The walk --------------------------------------------------------------------------------------------------- */

static bool extension_load(struct load *load, const struct piece *piece)
{
    uint64_t number;
    const char *message = name_read(load, piece, FIELD_EXTENDEE, "");
    if (!message || !schema_load_number_read(load, piece, FIELD_NUMBER, &number))
        return false;
    if (message[0] == '\0') {
        return true; /* an ordinary field */
    }
    struct rpc_extension *extension = schema_load_list_add(load, &load->schema->extensions, sizeof *extension);
    if (!extension)
        return false;
    extension->message = message[0] == '.' ? message + 1 : message;
    extension->number = (int)number;
    extension->file = load->file;
    return true;
}

static bool schema_load_service_load(struct load *load, const char *name)
{
    struct schema_service *service = schema_load_list_add(load, &load->schema->services, sizeof *service);
    if (!service)
        return false;
    service->name = name;
    service->first = load->schema->methods.count;
    return true;
}

/* The service it belongs to is the last one that was loaded. */
static bool method_load(struct load *load, const struct piece *piece, const char *full_name)
{
    struct rpc_schema *schema = load->schema;
    struct schema_service *service = (struct schema_service *)schema->services.items + schema->services.count - 1;
    struct rpc_wire_field options = {0};
    uint64_t client_streams, server_streams, idempotency = 0;
    bool found;
    if (!schema_load_number_read(load, piece, METHOD_CLIENT_STREAMING, &client_streams) ||
        !schema_load_number_read(load, piece, METHOD_SERVER_STREAMING, &server_streams) ||
        !field_last(load, piece, METHOD_OPTIONS, RPC_WIRE_BYTES, &options, &found))
        return false;
    struct piece inner = {.bytes = options.bytes, .size = options.size};
    if (found && !schema_load_number_read(load, &inner, OPTIONS_IDEMPOTENCY, &idempotency))
        return false;
    struct rpc_method *method = schema_load_list_add(load, &schema->methods, sizeof *method);
    if (!method)
        return false;
    method->service = service->name;
    method->name = full_name + strlen(service->name) + 1;
    method->path = arena_printf(&schema->names, "/%s/%s", service->name, method->name);
    method->id = (unsigned)(schema->methods.count - 1);
    method->index = (unsigned)service->count++;
    method->client_streams = client_streams != 0;
    method->server_streams = server_streams != 0;
    method->idempotent = idempotency != 0;
    return method->path || schema_load_out_of_memory(load);
}

static bool piece_load(struct load *load, const struct piece *piece);

/* Loads the definitions inside a piece, in the scope of `name`. */
static bool inner_load(struct load *load, const struct piece *piece, const char *name)
{
    struct rpc_wire wire = rpc_wire_over(piece->bytes, piece->size);
    struct rpc_wire_field field;
    while (rpc_wire_next(&wire, &field)) {
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            if (places[i].outer != piece->kind || places[i].number != field.number || field.type != RPC_WIRE_BYTES)
                continue;
            if (!load->symbols && places[i].inner != KIND_SERVICE && places[i].inner != KIND_METHOD)
                continue;
            struct piece inner = {places[i].inner, field.bytes, field.size, name, piece->depth + 1};
            if (!piece_load(load, &inner))
                return false;
        }
    }
    return !wire.error || schema_load_malformed(load, wire.error);
}

static bool piece_load(struct load *load, const struct piece *piece)
{
    if (piece->depth > NESTING_MAX)
        return schema_load_malformed(load, "its messages are nested too deeply");
    const char *name = name_read(load, piece, ANY_NAME, piece->scope);
    if (!name)
        return false;
    if (name == piece->scope)
        return schema_load_malformed(load, "something in it has no name");
    struct schema_symbol *symbol = schema_load_list_add(load, &load->schema->symbols, sizeof *symbol);
    if (!symbol)
        return false;
    symbol->name = name;
    symbol->file = load->file;
    switch (piece->kind) {
    case KIND_FIELD:
        return extension_load(load, piece);
    case KIND_METHOD:
        return method_load(load, piece, name);
    case KIND_SERVICE:
        return schema_load_service_load(load, name) && inner_load(load, piece, name);
    case KIND_ENUM:
        return inner_load(load, piece, piece->scope); /* values are siblings of their enum */
    default:
        return inner_load(load, piece, name);
    }
}

static bool imports_load(struct load *load, struct rpc_file *file, const struct piece *piece)
{
    struct rpc_wire wire = rpc_wire_over(piece->bytes, piece->size);
    struct rpc_wire_field field;
    size_t count = 0;
    while (rpc_wire_next(&wire, &field))
        count += field.number == FILE_DEPENDENCY && field.type == RPC_WIRE_BYTES;
    if (count == 0)
        return true;
    const char **imports = arena_alloc(&load->schema->names, count * sizeof *imports);
    if (!imports)
        return schema_load_out_of_memory(load);
    file->imports = imports;
    wire = rpc_wire_over(piece->bytes, piece->size);
    while (rpc_wire_next(&wire, &field)) {
        if (field.number != FILE_DEPENDENCY || field.type != RPC_WIRE_BYTES)
            continue;
        imports[file->import_count] = arena_strndup(&load->schema->names, (const char *)field.bytes, field.size);
        if (!imports[file->import_count++])
            return schema_load_out_of_memory(load);
    }
    return true;
}

static bool file_load(struct load *load, const uint8_t *bytes, size_t size)
{
    struct piece piece = {.kind = KIND_FILE, .bytes = bytes, .size = size};
    struct rpc_file *file = &load->schema->files[load->schema->file_count++];
    load->file = file;
    file->bytes = bytes;
    file->size = size;
    file->name = name_read(load, &piece, ANY_NAME, "");
    const char *package = file->name ? name_read(load, &piece, FILE_PACKAGE, "") : NULL;
    return package && imports_load(load, file, &piece) && inner_load(load, &piece, package);
}

/* ---- Checks across files ---------------------------------------------------------------------------------------- */

static bool symbols_check(struct load *load)
{
    const struct schema_symbol *symbols = load->schema->symbols.items;
    for (size_t i = 1; i < load->schema->symbols.count; i++) {
        if (schema_symbol_compare(&symbols[i - 1], &symbols[i]) == 0) {
            return fail(load->st, INVALID_ARGUMENT, "the descriptor set defines '%s' twice, in '%s' and in '%s'",
                        symbols[i].name, symbols[i - 1].file->name, symbols[i].file->name);
        }
    }
    return true;
}

static bool files_check(struct load *load)
{
    const struct rpc_schema *schema = load->schema;
    for (size_t i = 0; i < schema->file_count; i++) {
        const struct rpc_file *file = &schema->files[i];
        if (rpc_schema_file(schema, file->name) != file)
            return fail(load->st, INVALID_ARGUMENT, "the descriptor set has file '%s' twice", file->name);
        for (size_t n = 0; n < file->import_count; n++) {
            if (!rpc_schema_file(schema, file->imports[n])) {
                return fail(load->st, INVALID_ARGUMENT,
                            "'%s' imports '%s', which the descriptor set lacks; build it with --include_imports",
                            file->name, file->imports[n]);
            }
        }
    }
    return true;
}

static bool schema_load_set_load(struct load *load, const void *set, size_t size)
{
    struct rpc_schema *schema = load->schema;
    struct rpc_wire wire = rpc_wire_over(set, size);
    struct rpc_wire_field field;
    size_t count = 0;
    while (rpc_wire_next(&wire, &field))
        count += field.number == SET_FILE && field.type == RPC_WIRE_BYTES;
    if (wire.error)
        return schema_load_malformed(load, wire.error);
    if (count > FILES_MAX)
        return fail(load->st, RESOURCE_EXHAUSTED, "the descriptor set has %zu files and may have %d", count, FILES_MAX);
    schema->files = arena_zalloc(&schema->names, count * sizeof *schema->files);
    if (!schema->files)
        return schema_load_out_of_memory(load);
    wire = rpc_wire_over(set, size);
    while (rpc_wire_next(&wire, &field)) {
        if (field.number == SET_FILE && field.type == RPC_WIRE_BYTES && !file_load(load, field.bytes, field.size))
            return false;
    }
    if (schema->symbols.count > 0)
        qsort(schema->symbols.items, schema->symbols.count, sizeof(struct schema_symbol), schema_symbol_compare);
    if (schema->extensions.count > 0)
        qsort(schema->extensions.items, schema->extensions.count, sizeof(struct rpc_extension),
              schema_extension_compare);
    return symbols_check(load) && files_check(load);
}

static struct rpc_schema *schema_load(const void *set, size_t size, bool symbols, struct status *st)
{
    struct rpc_schema *schema = calloc(1, sizeof *schema);
    struct load load = {.schema = schema, .symbols = symbols, .st = st};
    if (!schema) {
        schema_load_out_of_memory(&load);
        return NULL;
    }
    arena_init(&schema->names, NULL, 0, MEMORY_MAX);
    if (!schema_load_set_load(&load, set, size))
        rpc_schema_destroy(&schema);
    return schema;
}

struct rpc_schema *rpc_schema_load(const void *set, size_t size, struct status *st)
{
    return schema_load(set, size, true, st);
}

struct rpc_schema *rpc_schema_load_methods(const void *set, size_t size, struct status *st)
{
    return schema_load(set, size, false, st);
}
