/* A log grows until all its content is in the file at a moment without writers; only then it begins anew. So:
 *
 *      the log is long ---> a thread of its own copies it in two rounds, so that little is left; commits go on
 *                      ---> the writer copies that little between two transactions and begins the log anew
 *
 * If the volume has less room than twice the log, the writer copies it at once and cuts it. The content of the log has
 * to find room in the file as well, and on a full volume not even a deletion would succeed.
 *
 * A log that begins anew is written over, and its fsyncs are cheaper than those of a growing log. It is copied and cut
 * to 0 bytes only to forget text, and for the log of an earlier process. */
#include "store/sqlite/checkpoint.h"

#include "base/file.h"
#include "base/log.h"
#include "base/thread.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOG_LONG       16384  /* pages of 2 KiB: the thread begins */
#define LOG_TOO_LONG   131072 /* pages: the thread does not keep up, the writer does it all itself */
#define ROUNDS         2      /* the second copies the commits made during the first */
#define CACHE_KIB      64     /* copying needs no cache */
#define FORGET_MS      200    /* delay in which further requests to forget may join; also the delay before a retry */
#define FORGET_BUSY_MS 20     /* longest wait for a reader while the log is cut: the writer waits so long */

struct checkpoint {
    struct sqlite3 *connection;
    char *path; /* of the file */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked;
    bool running, wanted, forgets, closing;
    atomic_bool copied; /* the writer's turn */
};

static bool checkpoint_copy(struct sqlite3 *connection, int mode)
{
    int result = sqlite3_wal_checkpoint_v2(connection, NULL, mode, NULL, NULL);
    if (result == SQLITE_OK || result == SQLITE_BUSY) /* busy: a long scan; another time */
        return true;
    log_warn("store.checkpoint", "the log stays long: %s (SQLite %d)", sqlite3_errmsg(connection),
             sqlite3_extended_errcode(connection));
    return false;
}

static void copy_most(struct checkpoint *checkpoint)
{
    for (int round = 0; round < ROUNDS; round++)
        if (!checkpoint_copy(checkpoint->connection, SQLITE_CHECKPOINT_PASSIVE))
            return;
    atomic_store(&checkpoint->copied, true);
}

static void rest_locked(struct checkpoint *checkpoint)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += FORGET_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (!checkpoint->closing &&
           pthread_cond_clockwait(&checkpoint->asked, &checkpoint->lock, CLOCK_MONOTONIC, &until) == 0)
        ;
}

static bool checkpoint_wait_for_work(struct checkpoint *checkpoint)
{
    pthread_mutex_lock(&checkpoint->lock);
    while (!checkpoint->wanted && !checkpoint->forgets && !checkpoint->closing)
        pthread_cond_wait(&checkpoint->asked, &checkpoint->lock);
    if (checkpoint->forgets && !checkpoint->wanted)
        rest_locked(checkpoint);
    bool closing = checkpoint->closing;
    pthread_mutex_unlock(&checkpoint->lock);
    return !closing;
}

static void *checkpoint_run(void *data)
{
    struct checkpoint *checkpoint = data;
    thread_name("store copies");
    while (checkpoint_wait_for_work(checkpoint)) {
        pthread_mutex_lock(&checkpoint->lock);
        bool forgets = checkpoint->forgets;
        checkpoint->forgets = false; /* a request from now on is for the next round */
        pthread_mutex_unlock(&checkpoint->lock);
        copy_most(checkpoint);
        if (forgets) {
            /* Copies the whole log into the file, syncs the file, and truncates the log to 0 bytes. If a reader still
             * uses the log, a later attempt does this. */
            sqlite3_busy_timeout(checkpoint->connection, FORGET_BUSY_MS);
            int result =
                sqlite3_wal_checkpoint_v2(checkpoint->connection, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
            if (result != SQLITE_OK) {
                if (result != SQLITE_BUSY)
                    log_warn("store.forget", "what was deleted stays in the log for now: %s (SQLite %d)",
                             sqlite3_errmsg(checkpoint->connection), sqlite3_extended_errcode(checkpoint->connection));
                pthread_mutex_lock(&checkpoint->lock);
                checkpoint->forgets = true;
                pthread_mutex_unlock(&checkpoint->lock);
            }
        }
        pthread_mutex_lock(&checkpoint->lock);
        checkpoint->wanted = false;
        pthread_mutex_unlock(&checkpoint->lock);
    }
    return NULL;
}

uint64_t checkpoint_room(const struct checkpoint *checkpoint)
{
    return file_volume_room(checkpoint->path);
}

uint64_t checkpoint_maintain(struct checkpoint *checkpoint, struct sqlite3 *writer, int log_pages, bool refused)
{
    uint64_t room = checkpoint_room(checkpoint);
    if (refused || (uint64_t)log_pages * SQLITE_PAGE_BYTES * 2 > room) {
        atomic_store(&checkpoint->copied, false);
        /* Writes the whole log into the file and truncates it, without waiting for a reader in the log. */
        sqlite3_busy_timeout(writer, FORGET_BUSY_MS);
        checkpoint_copy(writer, SQLITE_CHECKPOINT_TRUNCATE);
        sqlite3_busy_timeout(writer, SQLITE_BUSY_MS);
        return checkpoint_room(checkpoint);
    }
    if (atomic_exchange(&checkpoint->copied, false) || log_pages > LOG_TOO_LONG) {
        checkpoint_copy(writer, SQLITE_CHECKPOINT_RESTART);
    } else if (log_pages >= LOG_LONG) {
        pthread_mutex_lock(&checkpoint->lock);
        checkpoint->wanted = true;
        pthread_cond_signal(&checkpoint->asked);
        pthread_mutex_unlock(&checkpoint->lock);
    }
    return room;
}

void checkpoint_forget(struct checkpoint *checkpoint)
{
    pthread_mutex_lock(&checkpoint->lock);
    checkpoint->forgets = true;
    pthread_cond_signal(&checkpoint->asked);
    pthread_mutex_unlock(&checkpoint->lock);
}

struct checkpoint *checkpoint_create(const struct sqlite_file *file, struct status *st)
{
    struct checkpoint *checkpoint = calloc(1, sizeof *checkpoint);
    if (checkpoint == NULL) {
        fail(st, RESOURCE_EXHAUSTED, "no memory to open a store");
        return NULL;
    }
    checkpoint->forgets = file->log_was_left; /* that process may have been about to forget */
    checkpoint->path = strdup(file->path);
    pthread_mutex_init(&checkpoint->lock, NULL);
    pthread_cond_init(&checkpoint->asked, NULL);
    int error = 0;
    bool connected = checkpoint->path != NULL && sqlite_file_connect(file, &checkpoint->connection, CACHE_KIB, st);
    if (connected)
        error = pthread_create(&checkpoint->thread, NULL, checkpoint_run, checkpoint);
    checkpoint->running = connected && error == 0;
    if (error != 0)
        fail(st, RESOURCE_EXHAUSTED, "no thread for the store's checkpoints: errno %d", error);
    if (!checkpoint->running)
        checkpoint_destroy(&checkpoint);
    return checkpoint;
}

void checkpoint_destroy(struct checkpoint **checkpoint_pointer)
{
    struct checkpoint *checkpoint = *checkpoint_pointer;
    if (checkpoint == NULL)
        return;
    *checkpoint_pointer = NULL;
    pthread_mutex_lock(&checkpoint->lock);
    checkpoint->closing = true;
    pthread_cond_signal(&checkpoint->asked);
    pthread_mutex_unlock(&checkpoint->lock);
    if (checkpoint->running)
        pthread_join(checkpoint->thread, NULL);
    sqlite3_close_v2(checkpoint->connection);
    pthread_mutex_destroy(&checkpoint->lock);
    pthread_cond_destroy(&checkpoint->asked);
    free(checkpoint->path);
    free(checkpoint);
}
