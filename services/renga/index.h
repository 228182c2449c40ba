/* A folder of documents on its way into the knowledge base: for `renga index`, and for --docs of `ask` and
 * `research`. */
#ifndef RENGA_INDEX_H
#define RENGA_INDEX_H

#include "orchestrator_client.h"

#include <limits.h>

#define COLLECTION_MAX 64 /* bytes, as the contract has it */

enum index_show {
    INDEX_SHOW_LINES, /* a line a second, and a last line at the end */
    INDEX_SHOW_BAR,   /* on a terminal, and a line at the end */
    INDEX_SHOW_BRIEF, /* on a terminal, before another task: a bar that disappears */
    INDEX_SHOW_JSON,
    INDEX_SHOW_SKIPPED, /* in a pipe of `ask`: only files that were left out, on standard error */
};

/* Rows of options, for index_bring_documents. */
#define INDEX_DOCUMENTS_OPTIONS                                                                                        \
    {.name = "docs",                                                                                                   \
     .type = OPTION_STRING,                                                                                            \
     .unit = "FOLDER",                                                                                                 \
     .help = "Bring this folder's documents into the knowledge base first, what has changed of it, and search in it "  \
             "alone. Unset: everything that was indexed is searched."},                                                \
    {                                                                                                                  \
        .name = "collection", .type = OPTION_STRING, .unit = "NAME",                                                   \
        .help = "Search in this collection alone; with --docs: the name that the folder's collection gets."            \
    }

struct index {
    struct command_call call; /* first */
    ProtobufCService *tool_runner;
    char folder[PATH_MAX];
    char collection[COLLECTION_MAX + 1];
    bool rebuild, ended;
    bool optional; /* other sources are searched, too: an empty knowledge base is no reason to say so */
    bool empty;    /* out, of index_bring_documents: there are no documents to search */
    enum index_show show;
    int64_t began_ns, shown_ns, skipped, files;
};

/* Finds the folder, and the name of its collection if `collection` is NULL. The name comes from the folder; with
 * `distinct` from its whole path, so that no two folders share a collection. `here`: the tool-runner is in this
 * process; a remote tool-runner may have folders that are not here. */
bool index_prepare(struct index *index, const char *path, const char *collection, bool distinct, bool here,
                   struct status *st);

/* Waits until it is done, and before that for another command that writes the same collection; a failure was said on
 * standard error in the name of `command`. */
bool index_run(struct index *index, struct daemon_process *process, int64_t timeout_ms, const char *command);

/* Brings the folder of --docs up to date, if there is one, and gives an exit code. `collection` is the collection to
 * search: the folder's, else that of --collection; NULL: all. `live`: on a terminal. */
int index_bring_documents(struct index *index, struct orchestrator_client *client, bool live, const char **collection);

#endif
