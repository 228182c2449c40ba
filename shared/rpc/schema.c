#include "rpc/schema_priv.h"

#include <stdlib.h>
#include <string.h>

int schema_symbol_compare(const void *a, const void *b)
{
    return strcmp(((const struct schema_symbol *)a)->name, ((const struct schema_symbol *)b)->name);
}

int schema_extension_compare(const void *a, const void *b)
{
    const struct rpc_extension *x = a, *y = b;
    int order = strcmp(x->message, y->message);
    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

void rpc_schema_destroy(struct rpc_schema **schema)
{
    if (!*schema)
        return;
    free((*schema)->services.items);
    free((*schema)->methods.items);
    free((*schema)->symbols.items);
    free((*schema)->extensions.items);
    arena_fini(&(*schema)->names);
    free(*schema);
    *schema = NULL;
}

size_t rpc_schema_method_count(const struct rpc_schema *schema)
{
    return schema->methods.count;
}

const struct rpc_method *rpc_schema_method(const struct rpc_schema *schema, size_t id)
{
    return id < schema->methods.count ? (const struct rpc_method *)schema->methods.items + id : NULL;
}

const struct rpc_method *rpc_schema_service(const struct rpc_schema *schema, const char *service, size_t *count)
{
    static const struct rpc_method none;
    const struct schema_service *services = schema->services.items;
    for (size_t i = 0; i < schema->services.count; i++) {
        if (strcmp(services[i].name, service) == 0) {
            *count = services[i].count;
            return *count == 0 ? &none : rpc_schema_method(schema, services[i].first);
        }
    }
    *count = 0;
    return NULL;
}

size_t rpc_schema_file_count(const struct rpc_schema *schema)
{
    return schema->file_count;
}

const struct rpc_file *rpc_schema_file(const struct rpc_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->file_count; i++) {
        if (strcmp(schema->files[i].name, name) == 0)
            return &schema->files[i];
    }
    return NULL;
}

const struct rpc_file *rpc_schema_symbol(const struct rpc_schema *schema, const char *symbol)
{
    struct schema_symbol wanted = {.name = symbol};
    const struct schema_symbol *found = NULL;
    if (schema->symbols.count > 0)
        found = bsearch(&wanted, schema->symbols.items, schema->symbols.count, sizeof wanted, schema_symbol_compare);
    return found ? found->file : NULL;
}

const struct rpc_file *rpc_schema_extension(const struct rpc_schema *schema, const char *message, int number)
{
    struct rpc_extension wanted = {.message = message, .number = number};
    const struct rpc_extension *found = NULL;
    if (schema->extensions.count > 0)
        found = bsearch(&wanted, schema->extensions.items, schema->extensions.count, sizeof wanted,
                        schema_extension_compare);
    return found ? found->file : NULL;
}

const struct rpc_extension *rpc_schema_extensions(const struct rpc_schema *schema, size_t *count)
{
    *count = schema->extensions.count;
    return schema->extensions.items;
}
