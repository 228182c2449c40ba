/* The method IndexDocuments: the request, and the progress that is told about ten times a second. */
#include "knowledge/indexing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TELL_MS          100
#define DOCUMENTS_MAX    256
#define INLINE_BYTES_MAX ((size_t)3 << 20)

struct index_call {
    struct indexing indexing; /* first */
    struct timer timer;
    Renga__V1__IndexDocumentsProgress_Closure reply;
    struct indexing_progress shown;
};

/* ---- progress ---------------------------------------------------------------------------------------------------- */

static void index_tell(struct index_call *index, bool done)
{
    Renga__V1__IndexDocumentsProgress message = RENGA__V1__INDEX_DOCUMENTS_PROGRESS__INIT;
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    Renga__V1__Degradation degradations[SKIPPED_MAX], *list[SKIPPED_MAX];
    /* Each skipped file is reported once. */
    pthread_mutex_lock(&index->indexing.lock);
    index->shown = index->indexing.progress;
    index->indexing.progress.skipped_count = 0;
    pthread_mutex_unlock(&index->indexing.lock);
    const struct indexing_progress *shown = &index->shown;
    for (size_t i = 0; i < shown->skipped_count; i++) {
        Renga__V1__Degradation *degradation = list[i] = &degradations[i];
        renga__v1__degradation__init(degradation);
        degradation->part = (char *)(uintptr_t)shown->skipped[i].path;
        degradation->kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_SKIPPED;
        degradation->reason = (char *)(uintptr_t)shown->skipped[i].why.text;
        degradation->status_code = (int32_t)shown->skipped[i].why.code;
    }
    usage.input_tokens = shown->input_tokens;
    usage.model_calls = shown->model_calls;
    usage.cost_micros = shown->cost_micros;
    usage.estimated = shown->estimated;
    message.files_total = shown->files_total;
    message.files_done = shown->files_done;
    message.files_unchanged = shown->files_unchanged;
    message.files_removed = shown->files_removed;
    message.paragraphs = shown->paragraphs;
    message.file = (char *)(uintptr_t)shown->file;
    message.skipped = list;
    message.n_skipped = shown->skipped_count;
    message.usage = &usage;
    message.done = done;
    index->reply(&message, index->indexing.call);
}

static void time_to_tell(struct timer *timer)
{
    struct index_call *index = CONTAINER_OF(timer, struct index_call, timer);
    struct rpc_call *call = index->indexing.call;
    if (!rpc_call_cancelled(call) && rpc_call_writable(call))
        index_tell(index, false);
    loop_arm_after(index->indexing.writer.loop, timer, TELL_MS);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void index_free(struct index_call *index)
{
    pthread_mutex_destroy(&index->indexing.lock);
    free(index);
}

static void indexed(struct writer *writer)
{
    struct index_call *index = (struct index_call *)writer;
    struct rpc_call *call = index->indexing.call;
    loop_disarm(writer->loop, &index->timer);
    if (writer->status.code == OK) {
        index_tell(index, true);
        index->reply(NULL, call);
    } else {
        rpc_fail(call, &writer->status);
    }
    index_free(index);
}

static void index_caller_left(struct rpc_call *call, void *data)
{
    struct index_call *index = data;
    atomic_store(&index->indexing.writer.stop, true);
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

static bool check_document(const Renga__V1__InlineDocument *document, size_t place, size_t *bytes, struct status *st)
{
    char field[64];
    size_t length = strlen(document->path);
    snprintf(field, sizeof field, "documents.documents[%zu].path", place);
    if (length == 0 || length > FOLDER_PATH_MAX)
        return fail_field(st, field, "has %zu bytes; 1 to %d are possible", length, FOLDER_PATH_MAX);
    snprintf(field, sizeof field, "documents.documents[%zu].content", place);
    if (document->content.len == 0)
        return fail_field(st, field, "is empty; leave the document out, or have it deleted");
    snprintf(field, sizeof field, "documents.documents[%zu].format", place);
    if (document->format && !document_is_format(document->format))
        return fail_field(st, field,
                          "is %d, which is no format; leave it out, so that the name of the document tells it",
                          (int)document->format);
    *bytes += document->content.len;
    return true;
}

static bool check_documents(const Renga__V1__InlineDocuments *documents, struct status *st)
{
    size_t bytes = 0;
    if (documents->n_documents == 0 || documents->n_documents > DOCUMENTS_MAX)
        return fail_field(st, "documents", "are %zu; 1 to %d are possible", documents->n_documents, DOCUMENTS_MAX);
    for (size_t i = 0; i < documents->n_documents; i++)
        if (!check_document(documents->documents[i], i, &bytes, st))
            return false;
    return bytes <= INLINE_BYTES_MAX ||
           fail_field(st, "documents", "have %zu bytes together; at most %zu are possible", bytes, INLINE_BYTES_MAX);
}

static bool index_check(const Renga__V1__IndexDocumentsRequest *request, struct status *st)
{
    switch (request->source_case) {
    case RENGA__V1__INDEX_DOCUMENTS_REQUEST__SOURCE_FOLDER:
        if (request->folder[0] != '/')
            return fail_field(st, "folder", "is '%.200s'; a path begins with '/'", request->folder);
        return strlen(request->folder) < 4096 || fail_field(st, "folder", "has more than 4,096 bytes");
    case RENGA__V1__INDEX_DOCUMENTS_REQUEST__SOURCE_DOCUMENTS:
        return check_documents(request->documents, st);
    default:
        return fail_field(st, "folder", "is not set, nor are documents; set one of them");
    }
}

void knowledge_index(struct knowledge *knowledge, struct rpc_call *call,
                     const Renga__V1__IndexDocumentsRequest *request, Renga__V1__IndexDocumentsProgress_Closure reply)
{
    struct status st = {0};
    struct index_call *index = calloc(1, sizeof *index);
    if (!index) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "no memory to index documents");
        return;
    }
    struct indexing *indexing = &index->indexing;
    pthread_mutex_init(&indexing->lock, NULL);
    indexing->call = call;
    indexing->request = request;
    indexing->writer.run = indexing_run;
    indexing->writer.ended = indexed;
    index->reply = reply;
    index->timer.expired = time_to_tell;
    if (index_check(request, &st) && writer_init(&indexing->writer, knowledge, call, request->collection, &st) &&
        writer_start(&indexing->writer, &st)) {
        rpc_call_on_cancel(call, index_caller_left, index);
        loop_arm_after(indexing->writer.loop, &index->timer, TELL_MS);
        return;
    }
    index_free(index);
    rpc_fail(call, &st);
}
