/* Names of fields, and the fields of a message in memory as protoc-c lays them out. */
#include "transcode.h"

#include "rpc/message_field.h"

#include <ctype.h>
#include <string.h>

#define LIST_FIRST 4 /* values that a repeated field has room for at first */

void transcode_json_name(const char *name, char json[TRANSCODE_NAME_MAX])
{
    size_t used = 0;
    for (bool upper = false; *name && used + 1 < TRANSCODE_NAME_MAX; name++) {
        if (*name != '_')
            json[used++] = upper ? (char)toupper((unsigned char)*name) : *name;
        upper = *name == '_';
    }
    json[used] = '\0';
}

void transcode_json_path(const char *path, char *json, size_t room)
{
    size_t used = 0;
    for (bool upper = false; *path && used + 1 < room; path++) {
        bool joins = *path == '_' && used && isalnum((unsigned char)path[1]);
        if (!joins)
            json[used++] = upper ? (char)toupper((unsigned char)*path) : *path;
        upper = joins;
    }
    json[used] = '\0';
}

bool transcode_name_is(const ProtobufCFieldDescriptor *field, const char *key, size_t length)
{
    char json[TRANSCODE_NAME_MAX];
    if (strlen(field->name) == length && memcmp(field->name, key, length) == 0)
        return true;
    transcode_json_name(field->name, json);
    return strlen(json) == length && memcmp(json, key, length) == 0;
}

const ProtobufCFieldDescriptor *transcode_field(const ProtobufCMessageDescriptor *type, const char *key, size_t length)
{
    for (unsigned i = 0; i < type->n_fields; i++)
        if (type->fields[i].name[0] == key[0] && transcode_name_is(&type->fields[i], key, length))
            return &type->fields[i];
    return NULL;
}

bool transcode_choose(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    uint32_t *chosen = message_field_chosen(message, field);
    if (!(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF))
        return true;
    if (*chosen && *chosen != field->id)
        return false;
    *chosen = field->id;
    return true;
}

/* The array doubles: it is full when its count is a power of two. */
void *transcode_append(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, struct arena *arena)
{
    size_t *count = message_field_count(message, field), size = message_field_size(field);
    char **values = (char **)((char *)message + field->offset);
    bool full = *count == 0 || (*count >= LIST_FIRST && (*count & (*count - 1)) == 0);
    if (full) {
        char *more = arena_alloc(arena, (*count ? 2 * *count : LIST_FIRST) * size);
        if (!more)
            return NULL;
        if (*count)
            memcpy(more, *values, *count * size);
        *values = more;
    }
    void *at = *values + *count * size;
    memset(at, 0, size);
    ++*count;
    return at;
}

ProtobufCMessage *transcode_submessage(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                                       struct arena *arena)
{
    const ProtobufCMessageDescriptor *type = field->descriptor;
    ProtobufCMessage **at = (ProtobufCMessage **)((char *)message + field->offset);
    bool is_there = message_field_is_set(message, field);
    if (is_there && *at)
        return *at;
    *at = arena_alloc(arena, type->sizeof_message);
    if (*at)
        protobuf_c_message_init(type, *at);
    return *at;
}

bool transcode_map_add(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, const char *key,
                       const char *value, struct arena *arena)
{
    const ProtobufCMessageDescriptor *type = field->descriptor;
    struct message_map_entry **at = transcode_append(message, field, arena), *entry = arena_alloc(arena, sizeof *entry);
    if (!at || !entry)
        return false;
    protobuf_c_message_init(type, entry);
    entry->key = arena_strdup(arena, key);
    entry->value = arena_strdup(arena, value);
    *at = entry;
    return entry->key && entry->value;
}

bool transcode_map_has(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, const char *key)
{
    size_t count = *message_field_count(message, field);
    const struct message_map_entry *const *entries =
        *(const struct message_map_entry *const *const *)((const char *)message + field->offset);
    for (size_t i = 0; i < count; i++)
        if (strcmp(entries[i]->key, key) == 0)
            return true;
    return false;
}
