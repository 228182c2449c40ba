/* JSON, query parameters and path variables as messages of the contract, and messages as JSON: ProtoJSON
 * (https://protobuf.dev/programming-guides/json/), by the descriptors that protoc-c generates.
 *
 * Read: lowerCamelCase and the contract's own names; numbers also as strings; enums by name or number; base64 in both
 * alphabets; null is an absent field. Refused with the field's path: unknown fields, a field twice, two members of a
 * oneof, values of another type or out of range. Beyond ProtoJSON, a field `x_json` also takes a JSON value that is no
 * string, as the text of that value.
 * Written: lowerCamelCase, defaults included (absent messages and oneof members are left out), 64-bit integers as
 * strings. */
#ifndef RENGA_EDGE_TRANSCODE_H
#define RENGA_EDGE_TRANSCODE_H

#include "base/arena.h"
#include "base/status.h"
#include "json/writer.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

#define TRANSCODE_NAME_MAX       128 /* bytes of a field's name, the NUL included */
#define TRANSCODE_PARAMETERS_MAX 256 /* of a query */
#define TRANSCODE_WHY_MAX        384
#define TRANSCODE_UNDECODABLE    "is not UTF-8, or has a '%%' without two hexadecimal digits" /* a format */

/* "run_id" as "runId". */
void transcode_json_name(const char *name, char json[TRANSCODE_NAME_MAX]);
/* Whether a key of `length` bytes is the field's name, in either form. */
bool transcode_name_is(const ProtobufCFieldDescriptor *field, const char *key, size_t length);
const ProtobufCFieldDescriptor *transcode_field(const ProtobufCMessageDescriptor *type, const char *key, size_t length);
/* "options.request_id" as "options.requestId": a path in an error of a service as clients of the edge know it. */
void transcode_json_path(const char *path, char *json, size_t room);

/* Fills `message`, which is of the arena and initialised, from a JSON object. INVALID_ARGUMENT names the field; or
 * RESOURCE_EXHAUSTED when the arena is out. */
bool transcode_read_body(ProtobufCMessage *message, const char *json, size_t length, struct arena *arena,
                         struct status *st);

/* Fills it from the query of a target, "a.b=1&states=X&states=Y&labels.team=a". `skips` names parameters that are not
 * the message's, NULL-terminated; may be NULL. */
bool transcode_read_query(ProtobufCMessage *message, const char *query, const char *const *skips, struct arena *arena,
                          struct status *st);

/* Sets a field that stands in the path or in a header. If the message has another value there already, INVALID_ARGUMENT
 * says that `where` ("the path") has a different one. */
bool transcode_set(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, const char *text,
                   const char *where, struct arena *arena, struct status *st);

/* A parameter of a query by its name, decoded into the arena; NULL if it is missing or cannot be decoded. */
const char *transcode_parameter(const char *query, const char *name, struct arena *arena);

/* The names and values of a query's parameters, one after the other, decoded into the arena. A name that cannot be
 * decoded is "", such a value NULL. NULL at the end. */
const char *transcode_next(const char **query, const char **value, struct arena *arena);

/* The value of a sub-message field, made if it is absent; NULL: the arena is out. */
ProtobufCMessage *transcode_submessage(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                                       struct arena *arena);

void transcode_write(struct json_writer *out, const char *key, const ProtobufCMessage *message);
/* The same without the braces, within an object that the caller writes. */
void transcode_write_fields(struct json_writer *out, const ProtobufCMessage *message);

/* ---- shared by the files of the transcoder ----------------------------------------------------------------------- */

/* Room for one more value of a repeated field; NULL: the arena is out. */
void *transcode_append(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, struct arena *arena);
/* Makes the field the one that is set of its oneof. False: another one is. */
bool transcode_choose(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);
/* A scalar from its text, as it stands in a string or as a number. False: `why` states the accepted form. */
bool transcode_scalar(const ProtobufCFieldDescriptor *field, const char *text, void *at, struct arena *arena,
                      char why[TRANSCODE_WHY_MAX]);
/* Adds an entry to a map. */
bool transcode_map_add(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, const char *key,
                       const char *value, struct arena *arena);
/* Whether the map has the key. */
bool transcode_map_has(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, const char *key);

#endif
