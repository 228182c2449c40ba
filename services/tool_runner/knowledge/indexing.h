/* The work of one IndexDocuments call, in a writer's thread: scans the folder, reads changed files, writes them
 * batch by batch, removes deleted ones, makes vectors. The call's loop may read its progress at any time. */
#ifndef RENGA_TOOL_RUNNER_INDEXING_H
#define RENGA_TOOL_RUNNER_INDEXING_H

#include "knowledge/batch.h"
#include "knowledge/folder.h"
#include "knowledge/knowledge_priv.h"

#define SKIPPED_MAX 64 /* that are told in one message */

struct skipped {
    char path[FOLDER_PATH_MAX + 1];
    struct status why;
};

struct indexing_progress {
    int64_t files_total, files_done, files_unchanged, files_removed, paragraphs;
    char file[FOLDER_PATH_MAX + 1];
    size_t skipped_count;
    struct skipped skipped[SKIPPED_MAX];
    int64_t input_tokens, model_calls, cost_micros; /* of vectors */
    bool estimated;
};

struct indexing {
    struct writer writer; /* first */
    struct rpc_call *call;
    const Renga__V1__IndexDocumentsRequest *request;

    pthread_mutex_t lock;
    struct indexing_progress progress; /* under the lock */

    /* The thread's own. */
    struct tables *tables;
    struct collection collection;
    struct batch batch;
    struct folder folder;
    int64_t batch_since_ns;
    int64_t read; /* files in the batch */
};

void indexing_run(struct writer *writer, struct tables *tables);

/* ---- shared by its parts ----------------------------------------------------------------------------------------- */

/* Path and reason of a file that is left out. */
void indexing_skip(struct indexing *indexing, const char *path, const struct status *why);
/* Writes the batch; false with the reason. */
bool indexing_flush(struct indexing *indexing, struct status *st);
/* Makes vectors for documents without them (indexing_vectors.c). A failing gateway is reported as skipped "vectors". */
bool indexing_vectors(struct indexing *indexing, struct status *st);

#endif
