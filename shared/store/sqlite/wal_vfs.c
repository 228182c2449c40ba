/* Holding bytes back is invisible to others: with synchronous = FULL a commit is published to other connections only
 * after the log's xSync, which first writes all held bytes. A failed write is reported there, and fails the
 * transaction. */
#include "store/sqlite/wal_vfs.h"

#include "store/sqlite/main_file.h"

#include "base/file.h"

#include <assert.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define HELD_MAX 0x1ffff /* bytes, the most that SQLite's own VFS takes at once; more are written before xSync */
#define LOG_VFS  "renga-log"
#define FILE_VFS "renga-file"

/* A file that grows costs its fsync the file system's own log as well, some times the price. So it grows ahead, where
 * the volume has room: other stores may share the volume, and its last room is for what they delete. */
#define AHEAD       (1 << 20) /* bytes */
#define AHEAD_STEP  (1 << 16)
#define AHEAD_SPARE (4 * AHEAD) /* must be left behind it */

/* The system's own file follows behind it. */
struct log_file {
    sqlite3_file base;
    sqlite3_int64 from; /* offset in the file of the held bytes */
    int held;
    char *bytes;
    sqlite3_int64 size; /* of the file, as far as is known here */
    const char *path;   /* SQLite keeps it until the file is closed */
};

static sqlite3_vfs *system_vfs;

static struct log_file *log_of(sqlite3_file *file)
{
    return (struct log_file *)(void *)file;
}

static sqlite3_file *system_file(sqlite3_file *file)
{
    return (sqlite3_file *)(void *)(log_of(file) + 1);
}

static bool may_run_ahead(const struct log_file *log)
{
    return file_volume_room(log->path) >= (uint64_t)AHEAD + AHEAD_SPARE;
}

/* Zeros are no frames of the log: a salt and a checksum are missing. It is harmless if they do not fit. */
static void run_ahead(sqlite3_file *file, sqlite3_int64 end)
{
    static const char zeros[AHEAD_STEP];
    struct log_file *log = log_of(file);
    for (log->size = end; log->size < end + AHEAD; log->size += AHEAD_STEP)
        if (system_file(file)->pMethods->xWrite(system_file(file), zeros, AHEAD_STEP, log->size) != SQLITE_OK)
            return;
}

/* The bytes behind the log's end were left by a longer log, or were written ahead. If the volume is full, they are room
 * for the file, into which the log is then copied. */
static void wal_vfs_give_back(sqlite3_file *file)
{
    struct log_file *log = log_of(file);
    if (system_file(file)->pMethods->xTruncate(system_file(file), log->from) == SQLITE_OK)
        log->size = log->from;
}

static int wal_vfs_flush(sqlite3_file *file)
{
    struct log_file *log = log_of(file);
    sqlite3_int64 end = log->from + log->held;
    int held = log->held;
    if (held == 0)
        return SQLITE_OK;
    if (log->from == 0) /* the log begins anew, and another connection may have cut it */
        system_file(file)->pMethods->xFileSize(system_file(file), &log->size);
    log->held = 0; /* a failed write is not retried: its transaction has failed */
    int result = system_file(file)->pMethods->xWrite(system_file(file), log->bytes, held, log->from);
    if (result == SQLITE_FULL)
        wal_vfs_give_back(file);
    if (result == SQLITE_OK && end > log->size) {
        log->size = end;
        if (may_run_ahead(log))
            run_ahead(file, end);
    }
    return result;
}

/* ---- callbacks of SQLite ----------------------------------------------------------------------------------------- */

static int wal_vfs_log_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
    struct log_file *log = log_of(file);
    if (at != log->from + log->held || log->held + size > HELD_MAX) {
        int result = wal_vfs_flush(file);
        if (result != SQLITE_OK)
            return result;
        log->from = at;
    }
    assert(size <= HELD_MAX); /* the largest page has 64 KiB */
    memcpy(log->bytes + log->held, bytes, (size_t)size);
    log->held += size;
    return SQLITE_OK;
}

static int wal_vfs_log_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 at)
{
    int result = wal_vfs_flush(file);
    return result != SQLITE_OK ? result : system_file(file)->pMethods->xRead(system_file(file), bytes, size, at);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int result = wal_vfs_flush(file);
    return result != SQLITE_OK ? result : system_file(file)->pMethods->xTruncate(system_file(file), size);
}

static int log_sync(sqlite3_file *file, int flags)
{
    int result = wal_vfs_flush(file);
    return result != SQLITE_OK ? result : system_file(file)->pMethods->xSync(system_file(file), flags);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size)
{
    int result = wal_vfs_flush(file);
    return result != SQLITE_OK ? result : system_file(file)->pMethods->xFileSize(system_file(file), size);
}

static int log_close(sqlite3_file *file)
{
    int result = wal_vfs_flush(file);
    int closed = system_file(file)->pMethods->xClose(system_file(file));
    free(log_of(file)->bytes);
    return result != SQLITE_OK ? result : closed;
}

static int log_lock(sqlite3_file *file, int level)
{
    return system_file(file)->pMethods->xLock(system_file(file), level);
}

static int log_unlock(sqlite3_file *file, int level)
{
    return system_file(file)->pMethods->xUnlock(system_file(file), level);
}

static int log_reserved(sqlite3_file *file, int *reserved)
{
    return system_file(file)->pMethods->xCheckReservedLock(system_file(file), reserved);
}

static int log_control(sqlite3_file *file, int what, void *data)
{
    return system_file(file)->pMethods->xFileControl(system_file(file), what, data);
}

static int log_sector(sqlite3_file *file)
{
    return system_file(file)->pMethods->xSectorSize(system_file(file));
}

static int log_device(sqlite3_file *file)
{
    return system_file(file)->pMethods->xDeviceCharacteristics(system_file(file));
}

/* Version 1: shared memory and mapping belong to the database's own file. */
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = wal_vfs_log_read,
    .xWrite = wal_vfs_log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_device,
};

/* ---- the VFS ----------------------------------------------------------------------------------------------------- */

static int open_log(const char *name, sqlite3_file *file, int flags, int *flags_out)
{
    struct log_file *log = log_of(file);
    *log = (struct log_file){.bytes = malloc(HELD_MAX), .path = name};
    if (log->bytes == NULL)
        return SQLITE_NOMEM;
    int result = system_vfs->xOpen(system_vfs, name, system_file(file), flags, flags_out);
    if (result != SQLITE_OK) {
        free(log->bytes);
        return result;
    }
    log->base.pMethods = &methods;
    return system_file(file)->pMethods->xFileSize(system_file(file), &log->size);
}

/* Other files are the system's own. */
static int file_vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out)
{
    if (flags & SQLITE_OPEN_MAIN_DB)
        return main_file_open(system_vfs, name, file, flags, flags_out);
    return system_vfs->xOpen(system_vfs, name, file, flags, flags_out);
}

static int log_vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out)
{
    if (flags & SQLITE_OPEN_WAL)
        return open_log(name, file, flags, flags_out);
    return file_vfs_open(vfs, name, file, flags, flags_out);
}

static bool registered;

static bool register_one(sqlite3_vfs *vfs, const char *name,
                         int (*open)(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out))
{
    size_t log_bytes = sizeof(struct log_file) + (size_t)system_vfs->szOsFile, bytes = main_file_bytes(system_vfs);
    *vfs = *system_vfs;
    vfs->zName = name;
    vfs->pNext = NULL;
    vfs->szOsFile = (int)(bytes > log_bytes ? bytes : log_bytes);
    vfs->xOpen = open;
    return sqlite3_vfs_register(vfs, 0) == SQLITE_OK;
}

static void register_all(void)
{
    static sqlite3_vfs log_vfs, file_vfs;
    system_vfs = sqlite3_vfs_find(NULL);
    registered = system_vfs != NULL && register_one(&log_vfs, LOG_VFS, log_vfs_open) &&
                 register_one(&file_vfs, FILE_VFS, file_vfs_open);
}

static const char *vfs_name(const char *name, struct status *st)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_all);
    if (registered)
        return name;
    fail(st, UNAVAILABLE, "SQLite does not take the store's way of writing");
    return NULL;
}

const char *sqlite_log_vfs(struct status *st)
{
    return vfs_name(LOG_VFS, st);
}

const char *sqlite_file_vfs(struct status *st)
{
    return vfs_name(FILE_VFS, st);
}
