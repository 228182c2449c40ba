#include "knowledge/indexing.h"

#include "base/clock.h"
#include "base/sha256.h"
#include "words/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_NS      (1500 * NS_PER_MS) /* a batch is not kept longer */
#define READERS_FORM  "9"                /* of readers and lengths: text that was read by another is read anew */
#define REMOVED_PIECE 256                /* documents of a transaction */

/* ---- progress ---------------------------------------------------------------------------------------------------- */

void indexing_skip(struct indexing *indexing, const char *path, const struct status *why)
{
    struct indexing_progress *progress = &indexing->progress;
    pthread_mutex_lock(&indexing->lock);
    progress->files_done++;
    if (progress->skipped_count < SKIPPED_MAX) {
        struct skipped *skipped = &progress->skipped[progress->skipped_count++];
        snprintf(skipped->path, sizeof skipped->path, "%s", path);
        skipped->why = *why;
    }
    pthread_mutex_unlock(&indexing->lock);
}

static void show_file(struct indexing *indexing, const char *path)
{
    pthread_mutex_lock(&indexing->lock);
    snprintf(indexing->progress.file, sizeof indexing->progress.file, "%s", path);
    pthread_mutex_unlock(&indexing->lock);
}

static bool files_found(void *data, size_t files)
{
    struct indexing *indexing = data;
    pthread_mutex_lock(&indexing->lock);
    indexing->progress.files_total = (int64_t)files;
    pthread_mutex_unlock(&indexing->lock);
    return !writer_stopped(&indexing->writer);
}

static void indexing_count(struct indexing *indexing, int64_t done, int64_t unchanged, int64_t removed,
                           int64_t paragraphs)
{
    pthread_mutex_lock(&indexing->lock);
    indexing->progress.files_done += done;
    indexing->progress.files_unchanged += unchanged;
    indexing->progress.files_removed += removed;
    indexing->progress.paragraphs += paragraphs;
    pthread_mutex_unlock(&indexing->lock);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static bool within_quota(struct indexing *indexing, struct status *st)
{
    int64_t quota = indexing->writer.knowledge->quota;
    struct sql *sql = quota ? tables_sql(indexing->tables, TENANT_BYTES, st) : NULL;
    if (!sql)
        return !quota;
    sql_bind_string(sql, 1, indexing->writer.tenant);
    bool read = sql_step(sql, st) == SQL_ROW;
    int64_t used = read ? sql_number(sql, 0) : 0;
    sql_reset(sql);
    if (!read || used <= quota)
        return read;
    return fail(st, RESOURCE_EXHAUSTED,
                "the tenant's documents would take %lld bytes and %lld are allowed; delete some, or ask the operator "
                "for more (tool_runner.tenant_quota)",
                (long long)used, (long long)quota);
}

static bool indexing_write_batch(struct indexing *indexing, struct status *st)
{
    struct collection *collection = &indexing->collection;
    collection->updated_ms = clock_wall_ns() / NS_PER_MS;
    return sql_begin_adding(indexing->tables->file, st) &&
           batch_write(&indexing->batch, indexing->tables, collection, st) &&
           collection_save(indexing->tables, collection, st) && within_quota(indexing, st) &&
           sql_commit(indexing->tables->file, st);
}

bool indexing_flush(struct indexing *indexing, struct status *st)
{
    struct collection before = indexing->collection;
    if (!indexing->batch.document_count && !indexing->batch.exhausted)
        return true;
    int64_t paragraphs = (int64_t)indexing->batch.next - indexing->collection.next;
    if (!indexing_write_batch(indexing, st)) {
        sql_rollback(indexing->tables->file);
        indexing->collection = before;
        return false;
    }
    indexing->collection.generation++;
    indexing_count(indexing, indexing->read, 0, 0, paragraphs);
    indexing->read = 0;
    batch_clear(&indexing->batch, (uint32_t)indexing->collection.next);
    return true;
}

/* ---- one document ------------------------------------------------------------------------------------------------ */

static void indexing_hash_of(Renga__V1__DocumentFormat format, const void *bytes, size_t size, uint8_t hash[HASH_SIZE])
{
    struct sha256 sha256;
    char form = (char)format, words = WORDS_VERSION; /* other terms than before: to be indexed again */
    sha256_begin(&sha256);
    sha256_add(&sha256, READERS_FORM, sizeof READERS_FORM);
    sha256_add(&sha256, &words, sizeof words);
    sha256_add(&sha256, &form, sizeof form);
    sha256_add(&sha256, bytes, size);
    sha256_end(&sha256, hash);
}

/* Takes `bytes`. A document that cannot be read is `st`'s reason for skipping it. */
static bool take_document(struct indexing *indexing, const char *path, Renga__V1__DocumentFormat format,
                          const uint8_t hash[HASH_SIZE], char *bytes, size_t size, struct status *st)
{
    struct document document;
    const struct knowledge *knowledge = indexing->writer.knowledge;
    const struct document_means means = {.is_over = writer_stopped,
                                         .data = &indexing->writer,
                                         .pdf_program = knowledge->pdf_program,
                                         .pdf_time_ms = knowledge->pdf_time_ms};
    bool read = document_read_file(&document, format, bytes, size, &means, st);
    if (!read)
        document_fini(&document);
    if (!read || !document.borrows) {
        free(bytes);
        bytes = NULL;
    }
    if (!read)
        return false;
    if (!indexing->batch.document_count)
        indexing->batch_since_ns = clock_now_ns();
    batch_add(&indexing->batch, path, hash, &document, bytes);
    indexing->read++;
    return true;
}

/* Takes `bytes`. False: the whole work has to end. */
static bool index_bytes(struct indexing *indexing, const char *path, Renga__V1__DocumentFormat format, char *bytes,
                        size_t size, bool *skipped, struct status *st)
{
    struct status why = {0};
    struct kept kept;
    uint8_t hash[HASH_SIZE];
    if (!kept_find(indexing->tables, indexing->collection.id, path, &kept, st)) {
        free(bytes);
        return false;
    }
    indexing_hash_of(format, bytes, size, hash);
    if (kept.id && !indexing->request->rebuild && memcmp(kept.hash, hash, HASH_SIZE) == 0) {
        free(bytes);
        indexing_count(indexing, 1, 1, 0, 0);
        return true;
    }
    *skipped = !take_document(indexing, path, format, hash, bytes, size, &why);
    if (*skipped)
        indexing_skip(indexing, path, &why);
    bool late = indexing->batch.document_count && clock_now_ns() - indexing->batch_since_ns > FLUSH_NS;
    return (!late && !batch_is_full(&indexing->batch)) || indexing_flush(indexing, st);
}

/* ---- documents that were sent along ------------------------------------------------------------------------------ */

static bool index_inline(struct indexing *indexing, struct status *st)
{
    const Renga__V1__InlineDocuments *documents = indexing->request->documents;
    files_found(indexing, documents->n_documents);
    for (size_t i = 0; i < documents->n_documents && !writer_stopped(&indexing->writer); i++) {
        const Renga__V1__InlineDocument *document = documents->documents[i];
        bool skipped;
        char *bytes = malloc(document->content.len + 1);
        if (!bytes)
            return fail(st, RESOURCE_EXHAUSTED, "no memory to read documents");
        memcpy(bytes, document->content.data, document->content.len);
        show_file(indexing, document->path);
        if (!index_bytes(indexing, document->path,
                         document->format ? document->format : document_format(document->path), bytes,
                         document->content.len, &skipped, st))
            return false;
    }
    return true;
}

/* ---- a folder ---------------------------------------------------------------------------------------------------- */

/* A file that is skipped is as good as gone: its name is taken out of the list. */
static bool index_file(struct indexing *indexing, char **path, struct status *st)
{
    struct status why = {0};
    char *bytes;
    size_t size;
    bool skipped = false;
    show_file(indexing, *path);
    if (!folder_read(&indexing->folder, *path, &bytes, &size, &why)) {
        indexing_skip(indexing, *path, &why);
        **path = '\0';
        return true;
    }
    if (!index_bytes(indexing, *path, document_format(*path), bytes, size, &skipped, st))
        return false;
    if (skipped)
        **path = '\0';
    return true;
}

static bool index_files(struct indexing *indexing, struct status *st)
{
    for (size_t i = 0; i < indexing->folder.count && !writer_stopped(&indexing->writer); i++)
        if (!index_file(indexing, &indexing->folder.paths[i], st))
            return false;
    return true;
}

/* ---- deleted files ----------------------------------------------------------------------------------------------- */

struct gone {
    char *paths[REMOVED_PIECE];
    size_t count;
    char after[FOLDER_PATH_MAX + 1]; /* the path that was looked at last */
    size_t at;                       /* in the folder's list */
    bool more;
};

static bool indexing_is_there(const struct folder *folder, struct gone *gone, const char *path)
{
    for (; gone->at < folder->count; gone->at++) {
        const char *listed = folder->paths[gone->at];
        int order = *listed ? strcmp(listed, path) : -1;
        if (order >= 0)
            return order == 0;
    }
    return false;
}

/* The next documents with deleted files; both lists are in the same order. */
static bool find_gone(struct indexing *indexing, struct gone *gone, struct status *st)
{
    struct sql *sql = tables_sql(indexing->tables, DOCUMENT_LIST, st);
    enum sql_step step = SQL_FAILED;
    char after[sizeof gone->after];
    if (!sql)
        return false;
    strcpy(after, gone->after);
    sql_bind(sql, 1, indexing->collection.id);
    sql_bind_string(sql, 2, after);
    sql_bind(sql, 3, -1);
    for (gone->count = 0; gone->count < REMOVED_PIECE && (step = sql_step(sql, st)) == SQL_ROW;) {
        const char *path = sql_text(sql, 0);
        snprintf(gone->after, sizeof gone->after, "%s", path);
        if (indexing_is_there(&indexing->folder, gone, path))
            continue;
        if (!(gone->paths[gone->count] = strdup(path)))
            break;
        gone->count++;
    }
    sql_reset(sql);
    gone->more = step == SQL_ROW;
    return step != SQL_FAILED;
}

static bool indexing_remove_some(struct indexing *indexing, const struct gone *gone, struct status *st)
{
    struct collection *collection = &indexing->collection;
    struct kept kept;
    if (!sql_begin(indexing->tables->file, st))
        return false;
    for (size_t i = 0; i < gone->count; i++)
        if (!kept_find(indexing->tables, collection->id, gone->paths[i], &kept, st) ||
            !kept_remove(indexing->tables, collection, &kept, st))
            return false;
    collection->updated_ms = clock_wall_ns() / NS_PER_MS;
    return collection_save(indexing->tables, collection, st) && sql_commit(indexing->tables->file, st);
}

static bool remove_gone(struct indexing *indexing, struct status *st)
{
    struct gone gone = {.more = true};
    bool removed = true;
    while (removed && gone.more && !writer_stopped(&indexing->writer)) {
        removed = find_gone(indexing, &gone, st) && (!gone.count || indexing_remove_some(indexing, &gone, st));
        sql_rollback(indexing->tables->file);
        if (removed)
            indexing_count(indexing, 0, 0, (int64_t)gone.count, 0);
        while (gone.count)
            free(gone.paths[--gone.count]);
    }
    return removed;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool open_collection(struct indexing *indexing, struct status *st)
{
    const struct writer *writer = &indexing->writer;
    bool made = sql_begin_adding(indexing->tables->file, st) &&
                collection_make(indexing->tables, writer->tenant, writer->collection, &indexing->collection, st) &&
                sql_commit(indexing->tables->file, st);
    sql_rollback(indexing->tables->file);
    if (made)
        batch_clear(&indexing->batch, (uint32_t)indexing->collection.next);
    return made;
}

static bool indexing_index_folder(struct indexing *indexing, struct status *st)
{
    const struct knowledge *knowledge = indexing->writer.knowledge;
    return folder_open(&indexing->folder, indexing->request->folder, knowledge->roots, knowledge->root_count, st) &&
           folder_list(&indexing->folder, files_found, indexing, st) && open_collection(indexing, st) &&
           index_files(indexing, st) && indexing_flush(indexing, st) && remove_gone(indexing, st);
}

static bool index_sent(struct indexing *indexing, struct status *st)
{
    return open_collection(indexing, st) && index_inline(indexing, st) && indexing_flush(indexing, st);
}

static bool indexing_index_all(struct indexing *indexing, struct status *st)
{
    bool in_folder = indexing->request->source_case == RENGA__V1__INDEX_DOCUMENTS_REQUEST__SOURCE_FOLDER;
    if (!(in_folder ? indexing_index_folder : index_sent)(indexing, st))
        return false;
    show_file(indexing, "");
    struct collection *collection = &indexing->collection;
    if (sweep_is_due(collection) &&
        !sweep_postings(indexing->tables, collection, writer_stopped, &indexing->writer, st))
        return false;
    return indexing_vectors(indexing, st);
}

void indexing_run(struct writer *writer, struct tables *tables)
{
    struct indexing *indexing = (struct indexing *)writer;
    struct status *st = &writer->status;
    indexing->tables = tables;
    indexing->folder.fd = -1;
    arena_init(&indexing->folder.arena, NULL, 0, 0);
    batch_init(&indexing->batch, 0);
    if (indexing_index_all(indexing, st) && writer_stopped(writer))
        fail(st, CANCELLED, "the caller has left; what was told as done stays");
    batch_fini(&indexing->batch);
    folder_close(&indexing->folder);
}
