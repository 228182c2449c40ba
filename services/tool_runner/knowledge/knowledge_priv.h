/* Shared by the files of the knowledge base. Private to knowledge/.
 *
 *      IndexDocuments, DeleteDocuments --> a writer: its own thread and connection -----> the file
 *      Search, search_documents, ... ----> readers: a queue, a few threads ----read---------'
 *                                              '--> posted back to the call's loop */
#ifndef RENGA_TOOL_RUNNER_KNOWLEDGE_PRIV_H
#define RENGA_TOOL_RUNNER_KNOWLEDGE_PRIV_H

#include "knowledge/knowledge.h"
#include "knowledge/tables.h"
#include "loop/loop.h"
#include "rpc/rpc.h"

#include <protobuf-c/protobuf-c.h>
#include <pthread.h>
#include <stdatomic.h>

#define TENANT_MAX      128  /* bytes that a tenant's name may have here */
#define WRITERS_MAX     4    /* collections that are written at the same time in one process */
#define READERS         2    /* threads */
#define COLLECTIONS_MAX 1024 /* of a tenant, as the contract has it */

struct reader_pool;

struct spans;

struct knowledge {
    char *path; /* of the file; "memory:…" */
    const char *const *roots;
    size_t root_count;
    int64_t quota;           /* bytes of a tenant; 0: no limit */
    bool shares;             /* the collections of no tenant are everybody's to read */
    const char *pdf_program; /* as in documents/document.h */
    int64_t pdf_time_ms;
    const char *embedding_model; /* NULL: no vectors */
    ProtobufCService *gateway;   /* NULL: no vectors */
    struct spans *spans;         /* NULL: no traces */
    bool shows_content;          /* spans show queries and hits */
    struct reader_pool *readers;
    struct tables keeper; /* of a base in memory alone: SQLite drops it with its last connection */
    pthread_mutex_t lock;
    struct writer *writers; /* under the lock */
    unsigned writer_count;
};

/* ---- writers (writer.c) ------------------------------------------------------------------------------------------ */

/* Work on one collection in a thread of its own. First member of its owner, which gets a callback in the loop at the
 * end. */
struct writer {
    struct work work;
    struct knowledge *knowledge;
    struct loop *loop;
    struct writer *next; /* in the knowledge base's list */
    char tenant[TENANT_MAX + 1], collection[COLLECTION_NAME_MAX + 1];
    int lock_fd; /* of the lock among processes; -1: not locked */
    pthread_t thread;
    atomic_bool stop;                                          /* it is to end soon */
    void (*run)(struct writer *writer, struct tables *tables); /* in the thread, with a connection */
    void (*ended)(struct writer *writer);                      /* in the loop, after the thread */
    struct status status;
};

/* Sets knowledge, loop, tenant. INVALID_ARGUMENT names the field `collection`. */
bool writer_init(struct writer *writer, struct knowledge *knowledge, const struct rpc_call *call,
                 const char *collection, struct status *st);
/* ABORTED: the collection is being written. RESOURCE_EXHAUSTED: too many writers. */
bool writer_start(struct writer *writer, struct status *st);
bool writer_stopped(void *writer);

/* ---- readers (readers.c) ----------------------------------------------------------------------------------------- */

struct reading_state;

/* A read job. First member of its owner. */
struct reading {
    struct work work;
    struct loop *loop;
    struct reading *next, *previous;
    bool waits;          /* in the queue; under its lock */
    atomic_bool stop;    /* the caller has left */
    int64_t deadline_ns; /* on clock_now_ns */
    char tenant[TENANT_MAX + 1];
    const char *shared; /* it may read the collections of this tenant, too; NULL: no tenant */
    bool (*read)(struct reading *reading, struct reading_state *state, struct status *st); /* in a reader's thread */
    void (*ended)(struct reading *reading);                                                /* in the loop; once */
    struct status status;
};

struct reader_pool *reader_pool_create(const char *path, struct status *st);
void reader_pool_destroy(struct reader_pool **pool);

/* RESOURCE_EXHAUSTED: too many jobs wait; then `ended` does not run. */
bool reading_start(struct reader_pool *pool, struct reading *reading, struct status *st);
/* From the loop: one that waits ends now (deferred), one that is being read soon; both CANCELLED. */
void reading_cancel(struct reader_pool *pool, struct reading *reading);
/* Whether it is to end: asked while it is read. */
bool reading_is_over(void *reading);

/* The collections that a reading sees: begins the list; collection_read reads its rows. NULL: failed. */
struct sql *reading_collections(const struct reading *reading, struct tables *tables, struct status *st);
/* The one of a name that it sees; id 0: no collection. */
bool reading_collection(const struct reading *reading, struct tables *tables, const char *name,
                        struct collection *collection, struct status *st);
/* The tenant of the reading. False if the name of the tenant is too long. */
bool reading_of(struct reading *reading, const struct knowledge *knowledge, const struct rpc_principal *principal,
                struct status *st);

/* The state of a reader's thread. */
struct rank;
struct reading_state {
    struct tables tables;
    struct rank *rank;
};

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* INVALID_ARGUMENT with the field. */
bool check_collection(const char *field, const char *name, struct status *st);
const char *tenant_of(const struct rpc_principal *principal);

#endif
