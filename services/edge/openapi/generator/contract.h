/* The contract as the generator reads it: types, methods and comments of a FileDescriptorSet that protoc wrote with
 * --include_source_info. */
#ifndef RENGA_EDGE_OPENAPI_CONTRACT_H
#define RENGA_EDGE_OPENAPI_CONTRACT_H

#include "base/arena.h"
#include "base/status.h"

#include "google/protobuf/descriptor.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

typedef Google__Protobuf__FieldDescriptorProto FieldProto;

/* A message or an enum. Comments are as protoc gives them: lines, each with its blanks in front. */
struct contract_type {
    const char *full_name;  /* "google.rpc.BadRequest.FieldViolation" */
    const char *short_name; /* without the package: "BadRequest.FieldViolation" */
    const char *comment;
    const Google__Protobuf__DescriptorProto *message;   /* NULL for an enum */
    const Google__Protobuf__EnumDescriptorProto *enum_; /* NULL for a message */
    const char **comments;                              /* of its fields or values, in their order */
    const char **oneof_comments;
    bool in, out;           /* whether requests and responses hold it */
    const char *path_bound; /* the path template that takes fields of this request message; NULL without one */
};

struct contract_method {
    const char *service, *name; /* "renga.v1.Orchestrator", "GetRun" */
    const char *service_comment, *comment;
    struct contract_type *request, *response;
    bool server_streams;
};

struct contract {
    struct arena arena;
    Google__Protobuf__FileDescriptorSet *set;
    struct contract_type *types; /* by full name */
    size_t type_count;
    struct contract_method *methods;
    size_t method_count;
};

bool contract_load(struct contract *contract, const char *path, struct status *st);
void contract_fini(struct contract *contract);

/* By fully qualified name, with or without a leading dot. NULL if the set has no such type. */
struct contract_type *contract_find_type(const struct contract *contract, const char *name);
const struct contract_method *contract_find_method(const struct contract *contract, const char *service,
                                                   const char *name);

const FieldProto *contract_find_field(const struct contract_type *type, const char *name);
bool contract_field_is_map(const struct contract *contract, const FieldProto *field);
/* The value of the entries of a map field. */
const FieldProto *contract_map_value(const struct contract *contract, const FieldProto *field);
bool contract_field_repeats(const FieldProto *field);
/* Whether the field is text that holds a JSON value: requests may have the value itself. */
bool contract_field_is_json(const FieldProto *field);

#endif
