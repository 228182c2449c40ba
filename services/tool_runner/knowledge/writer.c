/* The single writer of a collection. A list excludes writers within this process; a lock on one byte of a file
 * beside the knowledge base excludes other processes. The kernel releases the lock when the process ends in any way. */
#include "knowledge/knowledge_priv.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUSY_RETRY_MS 1000

bool writer_stopped(void *data)
{
    struct writer *writer = data;
    return atomic_load(&writer->stop);
}

/* ---- one at a time ----------------------------------------------------------------------------------------------- */

static off_t byte_of(const struct writer *writer)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *c = writer->tenant; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    hash *= 0x100000001b3u;
    for (const char *c = writer->collection; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    return (off_t)(hash >> 2);
}

static bool fail_busy(const struct writer *writer, struct status *st)
{
    st->retry_after_ms = BUSY_RETRY_MS;
    return fail(st, ABORTED, "another call is writing the collection '%s'; ask again when it is done",
                writer->collection);
}

static bool lock_file(struct writer *writer, struct status *st)
{
    char path[4096];
    const char *base = writer->knowledge->path;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte_of(writer), .l_len = 1};
    writer->lock_fd = -1;
    if (strncmp(base, SQL_MEMORY, strlen(SQL_MEMORY)) == 0)
        return true;
    snprintf(path, sizeof path, "%s.lock", base);
    writer->lock_fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (writer->lock_fd < 0) { /* callers hear of it without the path */
        int error = errno;
        log_error("knowledge.lock", "%s: %s", path, strerror(error));
        return fail(st, UNAVAILABLE, "the knowledge base cannot be locked: %s", strerror(error));
    }
    return fcntl(writer->lock_fd, F_OFD_SETLK, &lock) == 0 || fail_busy(writer, st);
}

static bool writer_may_begin(const struct writer *writer, struct status *st)
{
    const struct knowledge *knowledge = writer->knowledge;
    for (const struct writer *other = knowledge->writers; other; other = other->next)
        if (strcmp(other->tenant, writer->tenant) == 0 && strcmp(other->collection, writer->collection) == 0)
            return fail_busy(writer, st);
    if (knowledge->writer_count < WRITERS_MAX)
        return true;
    st->retry_after_ms = BUSY_RETRY_MS;
    return fail(st, RESOURCE_EXHAUSTED, "%u collections are being written already; ask again later",
                knowledge->writer_count);
}

static void writer_let_go(struct writer *writer)
{
    struct knowledge *knowledge = writer->knowledge;
    if (writer->lock_fd >= 0)
        close(writer->lock_fd);
    pthread_mutex_lock(&knowledge->lock);
    struct writer **link = &knowledge->writers;
    while (*link != writer)
        link = &(*link)->next;
    *link = writer->next;
    knowledge->writer_count--;
    pthread_mutex_unlock(&knowledge->lock);
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

static void *writer_main(void *data)
{
    struct writer *writer = data;
    struct tables tables;
    if (tables_open(&tables, writer->knowledge->path, &writer->status)) {
        struct status ignored = {0}; /* the work is done in any case */
        writer->run(writer, &tables);
        sql_shrink(tables.file, writer_stopped, writer, &ignored);
    }
    tables_close(&tables);
    loop_post(writer->loop, &writer->work);
    return NULL;
}

static void writer_over(struct work *work)
{
    struct writer *writer = (struct writer *)work;
    pthread_join(writer->thread, NULL);
    writer_let_go(writer);
    writer->ended(writer);
}

bool writer_init(struct writer *writer, struct knowledge *knowledge, const struct rpc_call *call,
                 const char *collection, struct status *st)
{
    const char *tenant = tenant_of(rpc_call_principal(call));
    writer->work.run = writer_over;
    writer->knowledge = knowledge;
    writer->loop = rpc_call_loop(call);
    writer->lock_fd = -1;
    if (!check_collection("collection", collection, st))
        return false;
    if (strlen(tenant) > TENANT_MAX)
        return fail(st, INVALID_ARGUMENT, "the caller's tenant has a name of more than %d bytes", TENANT_MAX);
    strcpy(writer->tenant, tenant);
    strcpy(writer->collection, collection);
    return true;
}

bool writer_start(struct writer *writer, struct status *st)
{
    struct knowledge *knowledge = writer->knowledge;
    pthread_mutex_lock(&knowledge->lock);
    bool enlisted = writer_may_begin(writer, st);
    if (enlisted) {
        writer->next = knowledge->writers;
        knowledge->writers = writer;
        knowledge->writer_count++;
    }
    pthread_mutex_unlock(&knowledge->lock);
    if (!enlisted)
        return false;
    if (lock_file(writer, st)) {
        int error = pthread_create(&writer->thread, NULL, writer_main, writer);
        if (error == 0)
            return true;
        fail(st, RESOURCE_EXHAUSTED, "no thread to write with: %s", strerror(error));
    }
    writer_let_go(writer);
    return false;
}
