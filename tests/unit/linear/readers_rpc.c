/* shared/rpc: protobuf on the wire and as JSON, details of errors, descriptor sets, and metadata. */
#include "readers.h"

#include "rpc/auth.h"
#include "rpc/call.h"
#include "rpc/clone.h"
#include "rpc/details.h"
#include "rpc/forwarded.h"
#include "rpc/inflate.h"
#include "rpc/message_json.h"
#include "rpc/schema.h"
#include "rpc/wire.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <grpc/grpc.h>
#include <grpc/impl/codegen/compression_types.h>
#include <stdlib.h>
#include <zlib.h>

#define MESSAGE_MAX ((size_t)4 << 20)

static void rpc_unpack_message(struct input *in)
{
    struct arena other;
    arena_init(&other, NULL, 0, INPUT_MEMORY_MAX);
    ProtobufCMessage *message =
        rpc_unpack(&renga__v1__chat_request__descriptor, (const uint8_t *)in->text, in->length, &in->arena, &in->st);
    if (message)
        rpc_clone(message, &other);
    arena_fini(&other);
}

static void read_details(struct input *in)
{
    rpc_details_decode(in->text, in->length, &in->st);
}

static void load_schema(struct input *in)
{
    struct rpc_schema *schema = rpc_schema_load(in->text, in->length, &in->st);
    rpc_schema_destroy(&schema);
}

static void read_message_json(struct input *in)
{
    struct json_writer writer;
    json_writer_init(&writer, &in->out);
    ProtobufCMessage *message =
        input_json(in) ? message_read_json(&renga__v1__chat_request__descriptor, in->tree, &in->arena, &in->st) : NULL;
    if (message)
        message_write_json(&writer, NULL, message);
}

/* ---- as gRPC hands it over --------------------------------------------------------------------------------------- */

static void rpc_take_in(grpc_byte_buffer *buffer, struct input *in)
{
    struct rpc_incoming incoming = {0};
    rpc_incoming_take(&incoming, &buffer, MESSAGE_MAX, &in->st);
    rpc_incoming_fini(&incoming);
}

/* A message that came in many slices. */
static void join_slices(struct input *in)
{
    size_t slice = 64, count = in->length / slice + 1;
    grpc_slice *slices = malloc(count * sizeof *slices);
    grpc_init();
    for (size_t i = 0; i < count; i++)
        slices[i] = grpc_slice_from_copied_buffer(in->text + i * slice, i + 1 < count ? slice : in->length % slice);
    rpc_take_in(grpc_raw_byte_buffer_create(slices, count), in);
    for (size_t i = 0; i < count; i++)
        grpc_slice_unref(slices[i]);
    free(slices);
    grpc_shutdown();
}

static void inflate_message(struct input *in)
{
    uLongf size = compressBound(in->length);
    Bytef *packed = malloc(size);
    compress(packed, &size, (const Bytef *)in->text, in->length);
    grpc_init();
    grpc_slice slice = grpc_slice_from_copied_buffer((const char *)packed, size);
    rpc_take_in(grpc_raw_compressed_byte_buffer_create(&slice, 1, GRPC_COMPRESS_DEFLATE), in);
    grpc_slice_unref(slice);
    grpc_shutdown();
    free(packed);
}

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

static void check_key(struct input *in)
{
    static const char *const methods[] = {"*"};
    static struct rpc_auth *auth;
    const struct rpc_auth_key key = {.principal = {.name = "a", .tenant = "b"},
                                     .sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                                     .methods = methods,
                                     .method_count = 1};
    if (!auth)
        auth = rpc_auth_create(&key, 1, &in->st);
    rpc_auth_check(auth, in->text, in->length, "renga.v1.Planner/Plan", &in->st);
    rpc_auth_find(auth, in->text, in->text);
}

static void read_forwarded(struct input *in)
{
    struct rpc_principal caller = {0};
    char *value = arena_strndup(&in->arena, in->text, in->length);
    value[in->length / 2] = '\0';
    forwarded_read(value, in->length, &in->arena, &caller, &in->st);
    rpc_metadata_is_sendable("a", in->text, in->length);
}

/* Fields of ChatRequest: 1 is its model, 2 a turn, 14 its origin. A sub-message that comes again is merged with the
 * earlier one: its lists are joined. */
static const struct generator messages[] = {
    {"one text many times", 0, .unit = "\x0A\x02xy"},
    {"turns on the wire", 0, .unit = "\x12\x04\x12\x02xy"},
    {"a sub-message many times", 0, .unit = "\x72\x05\x2A\x03\x0A\x01x"},
    {"unknown fields", 0, .unit = "\xF8\x3F\x02"},
    {.name = NULL},
};

static const struct generator messages_as_json[] = {
    {"turns as JSON", 0, .begin = "{\"messages\":[{}", .unit = ",{\"content\":\"a\"}", .end = "]}"},
    {"turns with calls", 0, .begin = "{\"messages\":[{}",
     .unit = ",{\"tool_calls\":[{\"id\":\"a\",\"arguments\":{\"a\":[1,2]}}]}", .end = "]}"},
    {.name = NULL},
};

static const struct generator keys[] = {
    {"a long key", 0, .begin = "Bearer ", .unit = "a"},
    {"blanks before a key", 0, .begin = "Bearer", .unit = " "},
    {.name = NULL},
};

const struct reader readers_rpc[] = {
    {"message on the wire", rpc_unpack_message, .sets = HOSTILE_BYTES | HOSTILE_EXPRESSION, .own = messages},
    {"message in slices", join_slices, .sets = HOSTILE_BYTES},
    {"message that is compressed", inflate_message, .sets = HOSTILE_BYTES | HOSTILE_STREAM},
    {"details of an error", read_details, .sets = HOSTILE_BYTES | HOSTILE_EXPRESSION, .own = messages},
    {"descriptor set", load_schema, .sets = HOSTILE_BYTES | HOSTILE_EXPRESSION, .own = messages},
    {"message as JSON", read_message_json, .sets = HOSTILE_JSON, .own = messages_as_json},
    {"key of a caller", check_key, .sets = HOSTILE_FIELD | HOSTILE_BYTES, .own = keys},
    {"caller that is forwarded", read_forwarded, .sets = HOSTILE_FIELD | HOSTILE_BYTES},
    {.name = NULL},
};
