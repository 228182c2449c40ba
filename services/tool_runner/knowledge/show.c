/* The method GetKnowledgeBase. */
#include "knowledge/knowledge_priv.h"

#include "base/clock.h"
#include "documents/document.h"

#include <stdlib.h>
#include <string.h>

#define SHOW_MS        10000
#define SHOW_ARENA_MAX ((size_t)1 << 20)

struct show {
    struct reading reading; /* first */
    struct knowledge *knowledge;
    struct rpc_call *call;
    Renga__V1__GetKnowledgeBaseResponse_Closure reply;
    struct arena arena;
    Renga__V1__Collection *collections[COLLECTIONS_MAX];
    size_t count;
};

static bool show_read_row(struct show *show, struct sql *sql, struct status *st)
{
    struct collection row;
    Renga__V1__Collection *collection = arena_alloc(&show->arena, sizeof *collection);
    if (!collection_read(sql, &row, st))
        return false;
    if (!collection)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for so many collections");
    renga__v1__collection__init(collection);
    collection->name = arena_strdup(&show->arena, row.name);
    collection->embedding_model = arena_strdup(&show->arena, row.model);
    collection->documents = row.documents;
    collection->paragraphs = row.paragraphs;
    collection->bytes = row.bytes;
    collection->updated_ms = row.updated_ms;
    collection->vectors = row.vectors;
    show->collections[show->count++] = collection;
    return !show->arena.exhausted || fail(st, RESOURCE_EXHAUSTED, "no memory for so many collections");
}

static bool read_collections(struct reading *reading, struct reading_state *state, struct status *st)
{
    struct show *show = (struct show *)reading;
    struct sql *sql = reading_collections(reading, &state->tables, st);
    enum sql_step step;
    if (!sql)
        return false;
    while ((step = sql_step(sql, st)) == SQL_ROW)
        if (!show_read_row(show, sql, st))
            break;
    sql_reset(sql);
    return step == SQL_DONE;
}

static void show_shown(struct reading *reading)
{
    struct show *show = (struct show *)reading;
    Renga__V1__DocumentFormat formats[DOCUMENT_FORMATS_MAX];
    Renga__V1__GetKnowledgeBaseResponse response = RENGA__V1__GET_KNOWLEDGE_BASE_RESPONSE__INIT;
    response.collections = show->collections;
    response.n_collections = show->count;
    response.n_formats = document_formats(formats);
    response.formats = formats;
    if (reading->status.code == OK)
        show->reply(&response, show->call);
    else
        rpc_fail(show->call, &reading->status);
    arena_fini(&show->arena);
    free(show);
}

static void show_caller_left(struct rpc_call *call, void *data)
{
    struct show *show = data;
    reading_cancel(show->knowledge->readers, &show->reading);
}

void knowledge_show(struct knowledge *knowledge, struct rpc_call *call,
                    Renga__V1__GetKnowledgeBaseResponse_Closure reply)
{
    struct status st = {0};
    int64_t deadline_ns = rpc_call_deadline_ns(call), longest_ns = clock_now_ns() + SHOW_MS * NS_PER_MS;
    struct show *show = calloc(1, sizeof *show);
    if (!show) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "no memory to show the knowledge base");
        return;
    }
    arena_init(&show->arena, NULL, 0, SHOW_ARENA_MAX);
    show->knowledge = knowledge;
    show->call = call;
    show->reply = reply;
    show->reading.read = read_collections;
    show->reading.ended = show_shown;
    show->reading.loop = rpc_call_loop(call);
    show->reading.deadline_ns = deadline_ns < longest_ns ? deadline_ns : longest_ns;
    if (reading_of(&show->reading, knowledge, rpc_call_principal(call), &st) &&
        reading_start(knowledge->readers, &show->reading, &st)) {
        rpc_call_on_cancel(call, show_caller_left, show);
        return;
    }
    free(show);
    rpc_fail(call, &st);
}
