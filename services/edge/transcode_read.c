/* A JSON body as a message, read while it is checked: no tree is built. */
#include "transcode.h"

#include "base/nearest.h"
#include "rpc/message_field.h"
#include "json/pull.h"

#include <string.h>

#define DEPTH_MAX     64
#define FIELDS_MAX    128 /* of a message: more than any of the contract has */
#define VALUES_MAX    ((size_t)256 << 10)
#define UNKNOWN_SHOWN 64

static void transcode_read_message(struct json_pull *in, ProtobufCMessage *message);

static void read_out_of_memory(struct json_pull *in)
{
    json_pull_wrong(in, NULL, "is larger than the memory for it");
    json_pull_skip(in);
}

/* The text of a number or of a string; NULL for another kind, which is wrong. */
static const char *read_scalar_text(struct json_pull *in, const char *wanted)
{
    enum json_kind kind = json_pull_kind(in);
    const char *first = in->at;
    if (kind == JSON_STRING)
        return json_pull_text(in);
    if (kind == JSON_NUMBER || kind == JSON_BOOLEAN) {
        json_pull_skip(in);
        return in->broken ? NULL : arena_strndup(in->arena, first, (size_t)(in->at - first));
    }
    if (kind != JSON_NOTHING)
        json_pull_wrong(in, NULL, "must be %s", wanted);
    json_pull_skip(in);
    return NULL;
}

/* Numbers stand bare or in quotes; true and false bare; enums, bytes and strings in quotes, and enums also bare. */
static bool read_kind_fits(const ProtobufCFieldDescriptor *field, enum json_kind kind)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_BOOL:
        return kind == JSON_BOOLEAN;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
        return kind == JSON_STRING;
    default:
        return kind == JSON_STRING || kind == JSON_NUMBER;
    }
}

static const char *read_wanted(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_BOOL:
        return "true or false";
    case PROTOBUF_C_TYPE_STRING:
        return "a string";
    case PROTOBUF_C_TYPE_BYTES:
        return "a string in base64";
    case PROTOBUF_C_TYPE_ENUM:
        return "the name of an enum's value";
    default:
        return "a number";
    }
}

/* A field x_json takes any value, and has it as text. */
static void read_json_text(struct json_pull *in, char **at)
{
    const char *first = (json_pull_kind(in), in->at);
    json_pull_skip(in);
    char *text = in->broken ? NULL : arena_strndup(in->arena, first, (size_t)(in->at - first));
    if (text)
        *at = text;
    else if (!in->broken)
        json_pull_wrong(in, NULL, "is larger than the memory for it");
}

static void transcode_read_value(struct json_pull *in, const ProtobufCFieldDescriptor *field, void *at)
{
    enum json_kind kind = json_pull_kind(in);
    char why[TRANSCODE_WHY_MAX];
    if (message_field_is_json(field) && kind != JSON_STRING) {
        read_json_text(in, at);
        return;
    }
    const char *wanted = read_wanted(field);
    if (kind != JSON_NOTHING && !read_kind_fits(field, kind)) {
        json_pull_wrong(in, NULL, "must be %s", wanted);
        json_pull_skip(in);
        return;
    }
    if (field->type == PROTOBUF_C_TYPE_STRING) {
        const char *text = json_pull_text(in); /* in the arena already */
        memcpy(at, &text, sizeof text);
        return;
    }
    const char *text = read_scalar_text(in, wanted);
    if (text && !in->broken && !transcode_scalar(field, text, at, in->arena, why))
        json_pull_wrong(in, NULL, "%s", why);
}

static void read_submessage(struct json_pull *in, const ProtobufCMessageDescriptor *type, ProtobufCMessage **at)
{
    ProtobufCMessage *message = arena_alloc(in->arena, type->sizeof_message);
    if (!message) {
        read_out_of_memory(in);
        return;
    }
    protobuf_c_message_init(type, message);
    *at = message;
    transcode_read_message(in, message);
}

static void transcode_read_list(struct json_pull *in, ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    struct json_scope list;
    for (bool more = json_pull_array(in, &list); more && json_pull_next(in, &list);) {
        if (json_pull_kind(in) == JSON_NULL) {
            json_pull_wrong(in, NULL, "must not be null");
            continue;
        }
        if (in->wrong)
            continue; /* the message is dropped */
        void *at = transcode_append(message, field, in->arena);
        if (!at)
            read_out_of_memory(in);
        else if (field->type == PROTOBUF_C_TYPE_MESSAGE)
            read_submessage(in, field->descriptor, at);
        else
            transcode_read_value(in, field, at);
    }
}

static void transcode_read_map(struct json_pull *in, ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    struct json_scope map;
    for (bool more = json_pull_object(in, &map); more && json_pull_next(in, &map);) {
        const char *key = arena_strndup(in->arena, map.key, map.key_length);
        if (json_pull_kind(in) != JSON_STRING) {
            json_pull_wrong(in, NULL, "must be a string");
            continue;
        }
        const char *value = json_pull_text(in);
        if (!in->broken && (!key || !transcode_map_add(message, field, key, value, in->arena)))
            json_pull_wrong(in, NULL, "is larger than the memory for it");
    }
}

static void transcode_read_field(struct json_pull *in, ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    if (json_pull_null(in))
        return;
    if (message_field_is_map(field))
        transcode_read_map(in, message, field);
    else if (field->label == PROTOBUF_C_LABEL_REPEATED)
        transcode_read_list(in, message, field);
    else if (!transcode_choose(message, field))
        json_pull_wrong(in, NULL, "stands beside another field of which only one may be given");
    else if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        read_submessage(in, field->descriptor, (ProtobufCMessage **)((char *)message + field->offset));
    else
        transcode_read_value(in, field, (char *)message + field->offset);
}

static void read_unknown(struct json_pull *in, const ProtobufCMessageDescriptor *type, const struct json_scope *fields)
{
    if (in->wrong) { /* the first one is told */
        json_pull_skip(in);
        return;
    }
    if (!type->n_fields) {
        json_pull_wrong(in, NULL, "is no field of %s, which has none", type->short_name);
        json_pull_skip(in);
        return;
    }
    char wanted[UNKNOWN_SHOWN], names[FIELDS_MAX][TRANSCODE_NAME_MAX];
    size_t length = fields->key_length < sizeof wanted ? fields->key_length : 0;
    memcpy(wanted, fields->key, length);
    wanted[length] = '\0';
    struct nearest nearest = nearest_to(wanted);
    for (unsigned i = 0; i < type->n_fields && i < FIELDS_MAX; i++) {
        transcode_json_name(type->fields[i].name, names[i]);
        nearest_try(&nearest, names[i]);
    }
    json_pull_wrong(in, NULL, "is no field of %s; %.200s", type->short_name, nearest_hint(&nearest).text);
    json_pull_skip(in);
}

static void transcode_read_message(struct json_pull *in, ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    bool seen[FIELDS_MAX] = {false};
    struct json_scope fields;
    for (bool more = json_pull_object(in, &fields); more && json_pull_next(in, &fields);) {
        const ProtobufCFieldDescriptor *field =
            fields.key_length ? transcode_field(type, fields.key, fields.key_length) : NULL;
        size_t index = field ? (size_t)(field - type->fields) : FIELDS_MAX;
        if (!field || index >= FIELDS_MAX) {
            read_unknown(in, type, &fields);
        } else if (seen[index]) {
            json_pull_wrong(in, NULL, "stands twice, once under each of its names");
        } else {
            seen[index] = true;
            transcode_read_field(in, message, field);
        }
    }
}

bool transcode_read_body(ProtobufCMessage *message, const char *json, size_t length, struct arena *arena,
                         struct status *st)
{
    static const struct json_limits limits = {.depth = DEPTH_MAX, .values = VALUES_MAX};
    struct json_pull in;
    json_pull_init(&in, json, length, &limits, arena, st);
    if (json_pull_kind(&in) == JSON_OBJECT || in.broken)
        transcode_read_message(&in, message);
    else
        json_pull_wrong(&in, NULL, "must be a JSON object with the fields of %s", message->descriptor->short_name);
    if (!json_pull_end(&in))
        return false;
    return !arena->exhausted || fail(st, RESOURCE_EXHAUSTED, "no memory for the request's fields");
}
