/* Any message as JSON and back, by its descriptor: set fields by name, enums by name, a map of strings as an object,
 * and a field x_json as the value x. Reading the written JSON gives the same message again. */
#ifndef RENGA_RPC_MESSAGE_JSON_H
#define RENGA_RPC_MESSAGE_JSON_H

#include "base/arena.h"
#include "base/status.h"
#include "json/json.h"
#include "json/writer.h"

#include <protobuf-c/protobuf-c.h>

void message_write_json(struct json_writer *out, const char *key, const ProtobufCMessage *message);
/* A single value of a field of at most 31 bits, of a bool or of an enum, by its name. False: `out` is as it was, for
 * the field has another type. */
bool message_write_json_number(struct json_writer *out, const char *key, const ProtobufCFieldDescriptor *field,
                               const void *value);

/* The message of an object, in the arena. Keys that the message does not have are skipped, and null counts as absent.
 * If a value has a wrong type, NULL with INVALID_ARGUMENT, which names the field and its type; if the arena is
 * exhausted, NULL with RESOURCE_EXHAUSTED. */
ProtobufCMessage *message_read_json(const ProtobufCMessageDescriptor *type, const cJSON *object, struct arena *arena,
                                    struct status *st);

/* For messages that a person writes into a file: whether the object has only keys of the message, with values of their
 * types. INVALID_ARGUMENT names the place in the file and the right form. Recurses as deep as messages do. */
bool message_check_json(const struct json_document *document, const ProtobufCMessageDescriptor *type,
                        const cJSON *object, struct status *st);

#endif
