/* The tenant of a reading, and the collections that it sees: those of its tenant, and those of no tenant if they are
 * shared.
 */
#include "knowledge/knowledge_priv.h"

#include <string.h>

bool reading_of(struct reading *reading, const struct knowledge *knowledge, const struct rpc_principal *principal,
                struct status *st)
{
    const char *tenant = tenant_of(principal);
    if (strlen(tenant) > TENANT_MAX)
        return fail(st, INVALID_ARGUMENT, "the caller's tenant has a name of more than %d bytes", TENANT_MAX);
    strcpy(reading->tenant, tenant);
    reading->shared = knowledge->shares ? "" : NULL;
    return true;
}

struct sql *reading_collections(const struct reading *reading, struct tables *tables, struct status *st)
{
    struct sql *sql = tables_sql(tables, COLLECTION_LIST, st);
    if (!sql)
        return NULL;
    sql_bind_string(sql, 1, reading->tenant);
    sql_bind(sql, 2, COLLECTIONS_MAX);
    if (reading->shared)
        sql_bind_string(sql, 3, reading->shared);
    return sql;
}

bool reading_collection(const struct reading *reading, struct tables *tables, const char *name,
                        struct collection *collection, struct status *st)
{
    if (!collection_find(tables, reading->tenant, name, collection, st))
        return false;
    return collection->id || !reading->shared || collection_find(tables, reading->shared, name, collection, st);
}
