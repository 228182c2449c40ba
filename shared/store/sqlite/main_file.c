/* The file that the system has opened gets other methods: those of the system, but for these. */
#include "store/sqlite/main_file.h"

#include "store/sqlite/page_gap.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES_MIN 512
#define PAGE_BYTES_MAX 65536

/* Locks in the shared memory of a log, as wal.c numbers them. A checkpoint has the first for its whole time. Who begins
 * the log anew has those of all readers of the log. */
#define LOCK_CHECKPOINT   1
#define LOCK_LOG_READERS  4
#define LOG_READERS_COUNT 4

/* Behind the system's own file. */
struct main_file {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *system;
    unsigned char *page;
    bool checkpoints;            /* has LOCK_CHECKPOINT for itself */
    bool keeps_checkpoints_away; /* shares it, while it begins the log anew */
};

static size_t system_bytes(const sqlite3_vfs *system)
{
    return ((size_t)system->szOsFile + 7) / 8 * 8;
}

/* Each file knows its own, as `methods` is its first member. */
static struct main_file *main_of(sqlite3_file *file)
{
    return (struct main_file *)(void *)(uintptr_t)file->pMethods;
}

static int main_file_close(sqlite3_file *file)
{
    struct main_file *own = main_of(file);
    free(own->page);
    return own->system->xClose(file);
}

/* A page without the rows that SQLite has moved to other pages. The log is copied page by page in their order, so the
 * header on disk is never older than the page. */
static int main_file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
    struct main_file *own = main_of(file);
    unsigned char header[DATABASE_HEADER_BYTES];
    size_t from, to;
    if (at > 0 && size >= PAGE_BYTES_MIN && size <= PAGE_BYTES_MAX && at % size == 0 &&
        page_gap_find(bytes, (size_t)size, &from, &to) &&
        own->system->xRead(file, header, (int)sizeof header, 0) == SQLITE_OK &&
        page_gap_applies(header, (size_t)size, (uint64_t)(at / size) + 1)) {
        memcpy(own->page, bytes, (size_t)size);
        memset(own->page + from, 0, to - from);
        bytes = own->page;
    }
    return own->system->xWrite(file, bytes, size, at);
}

/* SQLITE_BUSY lets SQLite write on at the end of the log. */
static int lock_to_begin_anew(sqlite3_file *file, int at, int count, int flags)
{
    struct main_file *own = main_of(file);
    int result = own->system->xShmLock(file, LOCK_CHECKPOINT, 1, SQLITE_SHM_LOCK | SQLITE_SHM_SHARED);
    if (result != SQLITE_OK)
        return result;
    result = own->system->xShmLock(file, at, count, flags);
    own->keeps_checkpoints_away = result == SQLITE_OK;
    if (result != SQLITE_OK)
        own->system->xShmLock(file, LOCK_CHECKPOINT, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
    return result;
}

static int main_file_lock_shared_memory(sqlite3_file *file, int at, int count, int flags)
{
    struct main_file *own = main_of(file);
    bool locks = flags & SQLITE_SHM_LOCK, alone = flags & SQLITE_SHM_EXCLUSIVE;
    bool begins_anew = alone && at == LOCK_LOG_READERS && count == LOG_READERS_COUNT;
    if (begins_anew && locks && !own->checkpoints)
        return lock_to_begin_anew(file, at, count, flags);
    int result = own->system->xShmLock(file, at, count, flags);
    if (alone && at == LOCK_CHECKPOINT && result == SQLITE_OK)
        own->checkpoints = locks;
    if (begins_anew && !locks && own->keeps_checkpoints_away) {
        own->keeps_checkpoints_away = false;
        own->system->xShmLock(file, LOCK_CHECKPOINT, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
    }
    return result;
}

size_t main_file_bytes(const sqlite3_vfs *system)
{
    return system_bytes(system) + sizeof(struct main_file);
}

int main_file_open(sqlite3_vfs *system, const char *name, sqlite3_file *file, int flags, int *flags_out)
{
    struct main_file *own = (struct main_file *)(void *)((char *)file + system_bytes(system));
    unsigned char *page = malloc(PAGE_BYTES_MAX);
    int result = page ? system->xOpen(system, name, file, flags, flags_out) : SQLITE_NOMEM;
    if (result != SQLITE_OK) {
        free(page);
        return result;
    }
    *own = (struct main_file){.methods = *file->pMethods, .system = file->pMethods, .page = page};
    own->methods.xClose = main_file_close;
    own->methods.xWrite = main_file_write;
    if (own->methods.iVersion >= 2)
        own->methods.xShmLock = main_file_lock_shared_memory;
    file->pMethods = &own->methods;
    return SQLITE_OK;
}
