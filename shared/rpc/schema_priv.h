/* The structures of a schema, shared by the loader and the reader. */
#ifndef RENGA_RPC_SCHEMA_PRIV_H
#define RENGA_RPC_SCHEMA_PRIV_H

#include "base/arena.h"
#include "rpc/schema.h"

struct schema_list {
    void *items;
    size_t count, room;
};

struct schema_symbol {
    const char *name;
    const struct rpc_file *file;
};

struct schema_service {
    const char *name;
    size_t first, count; /* of its methods */
};

struct rpc_schema {
    struct arena names; /* and files */
    struct rpc_file *files;
    size_t file_count;
    struct schema_list services, methods, symbols, extensions;
};

/* Orders of the lists that are searched, for qsort and bsearch. */
int schema_symbol_compare(const void *a, const void *b);
int schema_extension_compare(const void *a, const void *b);

#endif
