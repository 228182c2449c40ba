/* The method DeleteDocuments: named documents in one transaction, or a whole collection piece by piece. */
#include "knowledge/knowledge_priv.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATHS_MAX    1024
#define NAME_BYTES   1024
#define PIECE        256  /* documents of a transaction */
#define POSTING_ROWS 5000 /* ... and rows of postings */

struct deletion {
    struct writer writer; /* first */
    struct rpc_call *call;
    const Renga__V1__DeleteDocumentsRequest *request;
    Renga__V1__DeleteDocumentsResponse_Closure reply;
    int64_t documents;
};

/* ---- in the thread ----------------------------------------------------------------------------------------------- */

static bool remove_path(struct deletion *deletion, struct tables *tables, struct collection *collection,
                        const char *path, struct status *st)
{
    struct kept kept;
    if (!kept_find(tables, collection->id, path, &kept, st))
        return false;
    deletion->documents += kept.id != 0;
    return !kept.id || kept_remove(tables, collection, &kept, st);
}

static bool delete_save(struct tables *tables, struct collection *collection, struct status *st)
{
    collection->updated_ms = clock_wall_ns() / NS_PER_MS;
    return collection_save(tables, collection, st) && sql_commit(tables->file, st);
}

static bool remove_named(struct deletion *deletion, struct tables *tables, struct collection *collection,
                         struct status *st)
{
    for (size_t i = 0; i < deletion->request->n_paths; i++)
        if (!remove_path(deletion, tables, collection, deletion->request->paths[i], st))
            return false;
    return delete_save(tables, collection, st);
}

/* Paths of the first documents there still are. */
static bool list_some(struct tables *tables, int64_t collection, char **paths, size_t *count, struct status *st)
{
    struct sql *sql = tables_sql(tables, DOCUMENT_LIST, st);
    enum sql_step step = SQL_FAILED;
    *count = 0;
    if (!sql)
        return false;
    sql_bind(sql, 1, collection);
    sql_bind_string(sql, 2, "");
    sql_bind(sql, 3, PIECE);
    while (*count < PIECE && (step = sql_step(sql, st)) == SQL_ROW)
        if (!(paths[(*count)++] = strdup(sql_text(sql, 0))))
            abort();
    sql_reset(sql);
    return step != SQL_FAILED;
}

static bool delete_remove_some(struct deletion *deletion, struct tables *tables, struct collection *collection,
                               bool *more, struct status *st)
{
    char *paths[PIECE];
    size_t count;
    bool removed = list_some(tables, collection->id, paths, &count, st);
    *more = count > 0;
    for (size_t i = 0; i < count; i++) {
        removed = removed && remove_path(deletion, tables, collection, paths[i], st);
        free(paths[i]);
    }
    return removed && delete_save(tables, collection, st);
}

static bool clear_postings(struct tables *tables, int64_t collection, bool *more, struct status *st)
{
    struct sql *sql = tables_sql(tables, POSTINGS_CLEAR, st);
    if (!sql)
        return false;
    sql_bind(sql, 1, collection);
    sql_bind(sql, 2, POSTING_ROWS);
    bool cleared = sql_finish(sql, st);
    *more = cleared && sql_changed(tables->file) > 0;
    return cleared && sql_commit(tables->file, st);
}

static bool delete_drop(struct tables *tables, int64_t collection, struct status *st)
{
    struct sql *sql = tables_sql(tables, COLLECTION_DELETE, st);
    if (!sql)
        return false;
    sql_bind(sql, 1, collection);
    return sql_finish(sql, st) && sql_commit(tables->file, st);
}

static bool remove_all(struct deletion *deletion, struct tables *tables, struct collection *collection,
                       struct status *st)
{
    bool more = true, good = true;
    while (good && more && !writer_stopped(&deletion->writer))
        good = sql_begin(tables->file, st) && delete_remove_some(deletion, tables, collection, &more, st);
    for (more = good; good && more && !writer_stopped(&deletion->writer);)
        good = sql_begin(tables->file, st) && clear_postings(tables, collection->id, &more, st);
    if (good && writer_stopped(&deletion->writer))
        return fail(st, CANCELLED, "the caller has left");
    return good && sql_begin(tables->file, st) && delete_drop(tables, collection->id, st);
}

static void delete_run(struct writer *writer, struct tables *tables)
{
    struct deletion *deletion = (struct deletion *)writer;
    struct collection collection;
    struct status *st = &writer->status;
    bool known = collection_find(tables, writer->tenant, writer->collection, &collection, st);
    if (!known && st->code == DATA_LOSS && deletion->request->n_paths == 0)
        *st = (struct status){0}; /* all of it goes */
    if (st->code != OK || !collection.id)
        return;
    if (deletion->request->n_paths == 0)
        remove_all(deletion, tables, &collection, st);
    else if (sql_begin(tables->file, st))
        remove_named(deletion, tables, &collection, st);
    sql_rollback(tables->file);
    if (st->code == OK && deletion->request->n_paths && sweep_is_due(&collection))
        sweep_postings(tables, &collection, writer_stopped, writer, st);
}

/* ---- in the loop ------------------------------------------------------------------------------------------------- */

static void delete_deleted(struct writer *writer)
{
    struct deletion *deletion = (struct deletion *)writer;
    Renga__V1__DeleteDocumentsResponse response = RENGA__V1__DELETE_DOCUMENTS_RESPONSE__INIT;
    response.documents = deletion->documents;
    if (writer->status.code == OK)
        deletion->reply(&response, deletion->call);
    else
        rpc_fail(deletion->call, &writer->status);
    free(deletion);
}

static void delete_caller_left(struct rpc_call *call, void *data)
{
    struct deletion *deletion = data;
    atomic_store(&deletion->writer.stop, true);
}

static bool delete_check(const Renga__V1__DeleteDocumentsRequest *request, struct status *st)
{
    if (request->n_paths > PATHS_MAX)
        return fail_field(st, "paths", "are %zu; at most %d are possible", request->n_paths, PATHS_MAX);
    for (size_t i = 0; i < request->n_paths; i++) {
        char field[32];
        snprintf(field, sizeof field, "paths[%zu]", i);
        if (!request->paths[i][0] || strlen(request->paths[i]) > NAME_BYTES)
            return fail_field(st, field, "has %zu bytes; 1 to %d are possible", strlen(request->paths[i]), NAME_BYTES);
    }
    return true;
}

void knowledge_delete(struct knowledge *knowledge, struct rpc_call *call,
                      const Renga__V1__DeleteDocumentsRequest *request,
                      Renga__V1__DeleteDocumentsResponse_Closure reply)
{
    struct status st = {0};
    struct deletion *deletion = calloc(1, sizeof *deletion);
    if (!deletion) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "no memory to delete documents");
        return;
    }
    deletion->call = call;
    deletion->request = request;
    deletion->reply = reply;
    deletion->writer.run = delete_run;
    deletion->writer.ended = delete_deleted;
    if (delete_check(request, &st) && writer_init(&deletion->writer, knowledge, call, request->collection, &st) &&
        writer_start(&deletion->writer, &st)) {
        rpc_call_on_cancel(call, delete_caller_left, deletion);
        return;
    }
    free(deletion);
    rpc_fail(call, &st);
}
