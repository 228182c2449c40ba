/* Fields of a message in memory as protoc-c lays them out. Pure functions, for any thread. */
#ifndef RENGA_RPC_MESSAGE_FIELD_H
#define RENGA_RPC_MESSAGE_FIELD_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An entry that protoc-c makes of map<string, string>, the only kind of map in the contract. */
struct message_map_entry {
    ProtobufCMessage base;
    const char *key, *value;
};

/* Bytes of a single value in memory, by its ProtobufCType. */
extern const uint8_t message_value_sizes[];

static inline size_t message_field_size(const ProtobufCFieldDescriptor *field)
{
    return message_value_sizes[field->type];
}

/* The number of values of a repeated field. */
static inline size_t *message_field_count(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    return (size_t *)((uintptr_t)message + field->quantifier_offset);
}

/* The id of the member that is set, of the oneof that the field belongs to. */
static inline uint32_t *message_field_chosen(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    return (uint32_t *)((uintptr_t)message + field->quantifier_offset);
}

/* Whether the field is set: not its default, not empty, or the member of its oneof that is there. */
bool message_field_is_set(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);
/* Whether the field is a map<string, string>. */
bool message_field_is_map(const ProtobufCFieldDescriptor *field);
/* Whether the text of the field is JSON, by its name: "output_json". */
bool message_field_is_json(const ProtobufCFieldDescriptor *field);

#endif
