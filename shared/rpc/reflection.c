/* The answer is composed twice: once without output, for its size, and once into the arena. */
#include "rpc/reflection.h"

#include "base/text.h"
#include "rpc/wire.h"
#include "rpc/wire_writer.h"

#include <string.h>

/* Field numbers of grpc/reflection/v1/reflection.proto. */
enum {
    REQUEST_FILE_BY_FILENAME = 3,
    REQUEST_FILE_CONTAINING_SYMBOL = 4,
    REQUEST_FILE_CONTAINING_EXTENSION = 5,
    REQUEST_ALL_EXTENSION_NUMBERS = 6,
    REQUEST_LIST_SERVICES = 7,
};
enum { EXTENSION_TYPE = 1, EXTENSION_NUMBER = 2 };
enum { HOST = 1 };
enum {
    RESPONSE_ORIGINAL_REQUEST = 2,
    RESPONSE_FILES = 4,
    RESPONSE_EXTENSION_NUMBERS = 5,
    RESPONSE_SERVICES = 6,
    RESPONSE_ERROR = 7,
};
enum { FILES_BYTES = 1 };
enum { NUMBERS_TYPE = 1, NUMBERS_NUMBER = 2 };
enum { SERVICES_SERVICE = 1, SERVICE_NAME = 1 };
enum { ERROR_CODE = 1, ERROR_MESSAGE = 2 };

#define SYMBOL_MAX 1024 /* bytes of a name that is asked for */

struct question {
    uint32_t kind;         /* REQUEST_*; 0: an unknown one */
    char name[SYMBOL_MAX]; /* of a file, a symbol or a message */
    int number;            /* of an extension */
    struct rpc_wire_field host;
    const void *request;
    size_t size;
};

struct answer {
    const struct rpc_schema *schema;
    const char *const *services;
    size_t service_count;
    const struct rpc_file **files; /* that are sent, the one that was asked for first */
    size_t file_count;
    struct status error; /* OK: no error */
};

/* ---- The question ----------------------------------------------------------------------------------------------- */

static bool name_take(const struct rpc_wire_field *field, struct question *question, struct status *st)
{
    const char *text = (const char *)field->bytes;
    if (field->size >= sizeof question->name || !text_is_clean(text, field->size))
        return fail(st, INVALID_ARGUMENT, "the name that is asked for is not UTF-8, or longer than %d bytes",
                    SYMBOL_MAX - 1);
    memcpy(question->name, text, field->size);
    question->name[field->size] = '\0';
    return true;
}

static bool extension_take(const struct rpc_wire_field *extension, struct question *question, struct status *st)
{
    struct rpc_wire wire = rpc_wire_over(extension->bytes, extension->size);
    struct rpc_wire_field field;
    question->name[0] = '\0';
    question->number = 0;
    while (rpc_wire_next(&wire, &field)) {
        if (field.number == EXTENSION_TYPE && field.type == RPC_WIRE_BYTES && !name_take(&field, question, st))
            return false;
        if (field.number == EXTENSION_NUMBER && field.type == RPC_WIRE_VARINT)
            question->number = (int)field.value;
    }
    return !wire.error || fail(st, INVALID_ARGUMENT, "file_containing_extension is malformed: %s", wire.error);
}

static bool question_read(struct question *question, struct status *st)
{
    struct rpc_wire wire = rpc_wire_over(question->request, question->size);
    struct rpc_wire_field field;
    while (rpc_wire_next(&wire, &field)) {
        if (field.type != RPC_WIRE_BYTES)
            continue;
        switch (field.number) {
        case HOST:
            if (text_is_clean((const char *)field.bytes, field.size))
                question->host = field;
            break;
        case REQUEST_FILE_BY_FILENAME:
        case REQUEST_FILE_CONTAINING_SYMBOL:
        case REQUEST_ALL_EXTENSION_NUMBERS:
        case REQUEST_LIST_SERVICES:
            question->kind = field.number;
            if (!name_take(&field, question, st))
                return false;
            break;
        case REQUEST_FILE_CONTAINING_EXTENSION:
            question->kind = field.number;
            if (!extension_take(&field, question, st))
                return false;
            break;
        default:
            break;
        }
    }
    return !wire.error || fail(st, INVALID_ARGUMENT, "the request is no valid ServerReflectionRequest: %s", wire.error);
}

/* ---- The answer ------------------------------------------------------------------------------------------------- */

static bool file_is_in(const struct answer *answer, const struct rpc_file *file)
{
    for (size_t i = 0; i < answer->file_count; i++) {
        if (answer->files[i] == file)
            return true;
    }
    return false;
}

/* The file and its imports, recursively. */
static bool files_collect(struct answer *answer, const struct rpc_file *file, struct arena *arena)
{
    answer->files = arena_alloc(arena, rpc_schema_file_count(answer->schema) * sizeof(const struct rpc_file *));
    if (!answer->files)
        return false;
    answer->files[answer->file_count++] = file;
    for (size_t next = 0; next < answer->file_count; next++) {
        for (size_t i = 0; i < answer->files[next]->import_count; i++) {
            const struct rpc_file *import = rpc_schema_file(answer->schema, answer->files[next]->imports[i]);
            if (!file_is_in(answer, import))
                answer->files[answer->file_count++] = import;
        }
    }
    return true;
}

static bool answer_find(struct answer *answer, const struct question *question, struct arena *arena)
{
    const struct rpc_file *file = NULL;
    switch (question->kind) {
    case REQUEST_FILE_BY_FILENAME:
        file = rpc_schema_file(answer->schema, question->name);
        if (!file)
            fail(&answer->error, NOT_FOUND, "no file '%s'; list the services to see what there is", question->name);
        break;
    case REQUEST_FILE_CONTAINING_SYMBOL:
    case REQUEST_ALL_EXTENSION_NUMBERS:
        file = rpc_schema_symbol(answer->schema, question->name);
        if (!file)
            fail(&answer->error, NOT_FOUND, "no symbol '%s'; give its full name, as package.Name", question->name);
        break;
    case REQUEST_FILE_CONTAINING_EXTENSION:
        file = rpc_schema_extension(answer->schema, question->name, question->number);
        if (!file)
            fail(&answer->error, NOT_FOUND, "no extension %d of '%s'", question->number, question->name);
        break;
    case REQUEST_LIST_SERVICES:
        return true;
    default:
        fail(&answer->error, INVALID_ARGUMENT, "the request asks nothing that reflection knows; set one of its fields");
    }
    return !file || question->kind == REQUEST_ALL_EXTENSION_NUMBERS || files_collect(answer, file, arena);
}

static void put_files(struct rpc_wire_writer *writer, const struct answer *answer)
{
    size_t end = writer->used;
    for (size_t i = answer->file_count; i-- > 0;)
        rpc_wire_put_bytes(writer, FILES_BYTES, answer->files[i]->bytes, answer->files[i]->size);
    rpc_wire_put_header(writer, RESPONSE_FILES, writer->used - end);
}

static void put_services(struct rpc_wire_writer *writer, const struct answer *answer)
{
    size_t end = writer->used;
    for (size_t i = answer->service_count; i-- > 0;) {
        size_t service_end = writer->used;
        rpc_wire_put_text(writer, SERVICE_NAME, answer->services[i]);
        rpc_wire_put_header(writer, SERVICES_SERVICE, writer->used - service_end);
    }
    rpc_wire_put_header(writer, RESPONSE_SERVICES, writer->used - end);
}

static void put_extension_numbers(struct rpc_wire_writer *writer, const struct answer *answer, const char *message)
{
    size_t count, end = writer->used;
    const struct rpc_extension *extensions = rpc_schema_extensions(answer->schema, &count);
    while (count-- > 0) {
        if (strcmp(extensions[count].message, message) == 0)
            rpc_wire_put_number(writer, (uint64_t)extensions[count].number);
    }
    rpc_wire_put_header(writer, NUMBERS_NUMBER, writer->used - end);
    rpc_wire_put_text(writer, NUMBERS_TYPE, message);
    rpc_wire_put_header(writer, RESPONSE_EXTENSION_NUMBERS, writer->used - end);
}

static void put_response(struct rpc_wire_writer *writer, const struct answer *answer, const struct question *question)
{
    if (answer->error.code != OK) {
        size_t end = writer->used;
        rpc_wire_put_text(writer, ERROR_MESSAGE, answer->error.text);
        rpc_wire_put_varint(writer, ERROR_CODE, answer->error.code);
        rpc_wire_put_header(writer, RESPONSE_ERROR, writer->used - end);
    } else if (question->kind == REQUEST_LIST_SERVICES)
        put_services(writer, answer);
    else if (question->kind == REQUEST_ALL_EXTENSION_NUMBERS)
        put_extension_numbers(writer, answer, question->name);
    else
        put_files(writer, answer);
    rpc_wire_put_bytes(writer, RESPONSE_ORIGINAL_REQUEST, question->request, question->size);
    if (question->host.size > 0)
        rpc_wire_put_bytes(writer, HOST, question->host.bytes, question->host.size);
}

bool rpc_reflection_answer(const struct rpc_schema *schema, const char *const *services, size_t service_count,
                           const void *request, size_t size, struct arena *arena, const void **response,
                           size_t *response_size, struct status *st)
{
    struct question question = {.request = request, .size = size};
    struct answer answer = {.schema = schema, .services = services, .service_count = service_count};
    struct rpc_wire_writer measure = {0}, writer = {0};
    if (!question_read(&question, st))
        return false;
    if (answer_find(&answer, &question, arena)) {
        put_response(&measure, &answer, &question);
        writer.buffer = arena_alloc(arena, measure.used);
        writer.size = measure.used;
    }
    if (!writer.buffer)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for an answer of %zu bytes", measure.used);
    put_response(&writer, &answer, &question);
    *response = writer.buffer;
    *response_size = writer.used;
    return true;
}
