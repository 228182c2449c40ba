/* The contract as data: the FileDescriptorSet that is built in, indexed by service and by symbol.
 * protobuf-c's own descriptors do not say which methods stream or may be repeated; this does, and reflection serves
 * the files from it as they are. */
#ifndef RENGA_RPC_SCHEMA_H
#define RENGA_RPC_SCHEMA_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct rpc_schema;

struct rpc_method {
    const char *service; /* "renga.v1.Planner" */
    const char *name;    /* "Plan" */
    const char *path;    /* "/renga.v1.Planner/Plan" */
    unsigned id;         /* dense over the schema, from 0 */
    unsigned index;      /* within its service */
    bool client_streams, server_streams;
    bool idempotent; /* idempotency_level is IDEMPOTENT or NO_SIDE_EFFECTS: may be sent again */
};

/* A file of the set, serialised. */
struct rpc_file {
    const char *name;
    const void *bytes;
    size_t size;
    const char *const *imports;
    size_t import_count;
};

/* A field that one message declares for another one (proto2). */
struct rpc_extension {
    const char *message; /* that is extended, fully qualified */
    int number;
    const struct rpc_file *file;
};

/* `set` is a serialised google.protobuf.FileDescriptorSet and borrowed for as long as the schema lives. */
struct rpc_schema *rpc_schema_load(const void *set, size_t size, struct status *st);

/* Services and methods alone, in a tenth of the time: for a process that offers no reflection. */
struct rpc_schema *rpc_schema_load_methods(const void *set, size_t size, struct status *st);

void rpc_schema_destroy(struct rpc_schema **schema);

size_t rpc_schema_method_count(const struct rpc_schema *schema);
const struct rpc_method *rpc_schema_method(const struct rpc_schema *schema, size_t id);

/* The methods of a service in the order of the proto file; NULL for an unknown service. */
const struct rpc_method *rpc_schema_service(const struct rpc_schema *schema, const char *service, size_t *count);

/* Three searches for a file: by name; by a fully qualified symbol in it (service, method, message, field, enum, value,
 * oneof); by its declaration of extension `number` of `message`. NULL if there is no such file. */
const struct rpc_file *rpc_schema_file(const struct rpc_schema *schema, const char *name);
const struct rpc_file *rpc_schema_symbol(const struct rpc_schema *schema, const char *symbol);
const struct rpc_file *rpc_schema_extension(const struct rpc_schema *schema, const char *message, int number);

size_t rpc_schema_file_count(const struct rpc_schema *schema);

/* All extensions, by message and number. */
const struct rpc_extension *rpc_schema_extensions(const struct rpc_schema *schema, size_t *count);

#endif
