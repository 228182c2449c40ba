/* Vectors for documents without them: requested through the call's loop, written one document at a time. */
#include "knowledge/indexing.h"

#include "knowledge/embedding.h"
#include "knowledge/vectors.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_MAX   64                 /* of one request */
#define BYTES_MAX   ((size_t)64 << 10) /* ... together */
#define EMBED_MS    60000
#define PIECE_LIMIT ((size_t)512 << 20) /* bytes of a document's vectors */

/* The document that is being given vectors. */
struct bare {
    int64_t id, first, count;
    struct buffer piece;
    struct vector vector;
    int64_t done;
};

struct asking {
    struct embedding embedding; /* first; its work is posted to the loop */
    struct indexing *indexing;
    struct bare *bare;
    sem_t answered;
    struct status status;
};

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static void count_usage(struct indexing *indexing, const Renga__V1__Usage *usage)
{
    if (!usage)
        return;
    pthread_mutex_lock(&indexing->lock);
    indexing->progress.input_tokens += usage->input_tokens;
    indexing->progress.model_calls += usage->model_calls;
    indexing->progress.cost_micros += usage->cost_micros;
    indexing->progress.estimated |= usage->estimated != 0;
    pthread_mutex_unlock(&indexing->lock);
}

static bool keep_vectors(struct asking *asking, const Renga__V1__EmbedResponse *response, struct status *st)
{
    struct bare *bare = asking->bare;
    for (size_t i = 0; i < response->n_embeddings; i++) {
        const Renga__V1__Embedding *embedding = response->embeddings[i];
        if (!vector_init(&bare->vector, embedding->values, embedding->n_values))
            return fail(st, DATA_LOSS, "the embedding model gave a vector of %zu numbers that points nowhere",
                        embedding->n_values);
        vector_append(&bare->piece, &bare->vector);
    }
    bare->done += (int64_t)response->n_embeddings;
    return !bare->piece.failed || fail(st, RESOURCE_EXHAUSTED, "no memory for the vectors of a document");
}

static void indexing_vectors_received(struct embedding *embedding, const Renga__V1__EmbedResponse *response)
{
    struct asking *asking = (struct asking *)embedding;
    if (response) {
        count_usage(asking->indexing, response->usage);
        keep_vectors(asking, response, &asking->status);
    } else {
        asking->status = embedding->call.status;
    }
    sem_post(&asking->answered);
}

static void indexing_vectors_begin(struct work *work)
{
    struct embedding *embedding = (struct embedding *)work;
    struct asking *asking = (struct asking *)embedding;
    rpc_client_call_init(&embedding->call, asking->indexing->writer.loop, asking->indexing->call);
    embedding->call.timeout_ms = EMBED_MS;
    embedding_begin(embedding);
}

/* Waits. The call above hands on that its caller has left. */
static bool indexing_vectors_ask(struct indexing *indexing, struct bare *bare, const char *const *texts, size_t count,
                                 struct status *st)
{
    struct asking *asking = calloc(1, sizeof *asking);
    if (!asking)
        return fail(st, RESOURCE_EXHAUSTED, "no memory to ask for vectors");
    asking->indexing = indexing;
    asking->bare = bare;
    asking->embedding.work.run = indexing_vectors_begin;
    asking->embedding.knowledge = indexing->writer.knowledge;
    asking->embedding.inputs = texts;
    asking->embedding.count = count;
    asking->embedding.priority = RENGA__V1__PRIORITY__PRIORITY_BATCH;
    asking->embedding.received = indexing_vectors_received;
    sem_init(&asking->answered, 0, 0);
    loop_post(indexing->writer.loop, &asking->embedding.work);
    while (sem_wait(&asking->answered) != 0)
        continue;
    sem_destroy(&asking->answered);
    bool good = asking->status.code == OK;
    if (!good)
        *st = asking->status;
    free(asking);
    return good;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* Headings and text of the next paragraphs, as one text each. */
static size_t indexing_vectors_read_texts(struct indexing *indexing, const struct bare *bare, struct arena *arena,
                                          const char **texts, struct status *st)
{
    struct sql *sql = tables_sql(indexing->tables, PARAGRAPH_RANGE, st);
    size_t count = 0, bytes = 0;
    if (!sql)
        return 0;
    sql_bind(sql, 1, paragraph_id(indexing->collection.id, bare->first + bare->done));
    sql_bind(sql, 2, paragraph_id(indexing->collection.id, bare->first + bare->count));
    while (count < TEXTS_MAX && bytes < BYTES_MAX && sql_step(sql, st) == SQL_ROW) {
        const char *headings = sql_text(sql, 0);
        if (!sql_number(sql, 2)) {
            count = 0;
            fail(st, DATA_LOSS, "collection '%s': a paragraph is damaged", indexing->collection.name);
            break;
        }
        const char *text = arena_printf(arena, "%s%s%s", headings, *headings ? "\n" : "", sql_text(sql, 1));
        if (!text)
            break;
        texts[count++] = text;
        bytes += strlen(text);
    }
    sql_reset(sql);
    return count;
}

static bool ask_some(struct indexing *indexing, struct bare *bare, struct status *st)
{
    struct arena arena;
    const char *texts[TEXTS_MAX];
    arena_init(&arena, NULL, 0, 4 * BYTES_MAX);
    size_t count = indexing_vectors_read_texts(indexing, bare, &arena, texts, st);
    bool asked =
        count ? indexing_vectors_ask(indexing, bare, texts, count, st)
              : st->code == OK && fail(st, DATA_LOSS, "collection '%s': a document has fewer paragraphs than it says",
                                       indexing->collection.name);
    arena_fini(&arena);
    return asked;
}

/* ---- a document -------------------------------------------------------------------------------------------------- */

static bool find_bare(struct indexing *indexing, int64_t after, struct bare *bare, struct status *st)
{
    struct sql *sql = tables_sql(indexing->tables, DOCUMENT_BARE, st);
    bare->id = 0;
    if (!sql)
        return false;
    sql_bind(sql, 1, indexing->collection.id);
    sql_bind(sql, 2, after);
    enum sql_step step = sql_step(sql, st);
    if (step == SQL_ROW) {
        bare->id = sql_number(sql, 0);
        bare->first = sql_number(sql, 1);
        bare->count = sql_number(sql, 2);
        if (bare->first < 0 || bare->count > indexing->collection.next ||
            bare->first > indexing->collection.next - bare->count)
            bare->first = indexing->collection.next; /* damaged: there it has no paragraphs, which is told */
        bare->done = 0;
        buffer_clear(&bare->piece);
    }
    sql_reset(sql);
    return step != SQL_FAILED;
}

static bool put_vectors(struct indexing *indexing, const struct bare *bare, struct status *st)
{
    struct sql *put = tables_sql(indexing->tables, VECTORS_PUT, st);
    struct sql *mark = tables_sql(indexing->tables, VECTORS_MARK, st);
    if (!put || !mark)
        return false;
    sql_bind(put, 1, bare->id);
    sql_bind(put, 2, indexing->collection.id);
    sql_bind(put, 3, bare->first);
    sql_bind_bytes(put, 4, bare->piece.data, bare->piece.length);
    sql_bind(mark, 1, bare->id);
    sql_bind(mark, 2, 1);
    sql_bind(mark, 3, (int64_t)bare->piece.length);
    return sql_finish(put, st) && sql_finish(mark, st);
}

static bool write_vectors(struct indexing *indexing, const struct bare *bare, struct status *st)
{
    struct collection *collection = &indexing->collection;
    collection->vectors += bare->count;
    collection->bytes += (int64_t)bare->piece.length;
    bool written = sql_begin_adding(indexing->tables->file, st) && put_vectors(indexing, bare, st) &&
                   collection_save(indexing->tables, collection, st) && sql_commit(indexing->tables->file, st);
    sql_rollback(indexing->tables->file);
    return written;
}

/* Those of another model are of no use. */
static bool forget_others(struct indexing *indexing, struct status *st)
{
    struct collection *collection = &indexing->collection;
    const char *model = indexing->writer.knowledge->embedding_model;
    if (strcmp(collection->model, model) == 0)
        return true;
    snprintf(collection->model, sizeof collection->model, "%s", model);
    collection->vectors = 0;
    bool forgotten = sql_begin(indexing->tables->file, st) &&
                     tables_run(indexing->tables, VECTORS_CLEAR, collection->id, st) &&
                     tables_run(indexing->tables, VECTORS_UNMARK, collection->id, st) &&
                     collection_save(indexing->tables, collection, st) && sql_commit(indexing->tables->file, st);
    sql_rollback(indexing->tables->file);
    return forgotten;
}

static bool embed_document(struct indexing *indexing, struct bare *bare, struct status *why, struct status *st)
{
    while (bare->done < bare->count && !writer_stopped(&indexing->writer))
        if (!ask_some(indexing, bare, why))
            return false;
    return writer_stopped(&indexing->writer) || write_vectors(indexing, bare, st);
}

bool indexing_vectors(struct indexing *indexing, struct status *st)
{
    struct status why = {0};
    struct bare *bare;
    if (!indexing->writer.knowledge->embedding_model)
        return true;
    if (!(bare = calloc(1, sizeof *bare)))
        return fail(st, RESOURCE_EXHAUSTED, "no memory for vectors");
    buffer_init(&bare->piece, PIECE_LIMIT);
    bool good = forget_others(indexing, st);
    while (good && why.code == OK && !writer_stopped(&indexing->writer)) {
        good = find_bare(indexing, bare->id, bare, st);
        if (!good || !bare->id)
            break;
        good = embed_document(indexing, bare, &why, st) || why.code != OK;
    }
    if (good && why.code != OK) {
        /* Paragraphs without vectors are still found by their words. */
        indexing_skip(indexing, "vectors", &why);
        pthread_mutex_lock(&indexing->lock);
        indexing->progress.files_done--; /* it is no file */
        pthread_mutex_unlock(&indexing->lock);
    }
    buffer_fini(&bare->piece);
    free(bare);
    return good;
}
