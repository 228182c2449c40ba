/* A disk that can lose its power, put before the C library with LD_PRELOAD. Calls on files in one folder are carried
 * out and written into a journal, from which power.py makes what a disk would hold on which only synced bytes are safe.
 *
 *      POWER_FOLDER     the folder itself and the files in it; without it nothing is done
 *      POWER_JOURNAL    where the journal is; appended to
 *      POWER_SLOW_MS    a slow disk: each sync, and each write of a log (FILE-wal), takes so much longer
 *      POWER_PLANT      a fault for the drill to find:
 *                         late     a sync makes safe what the sync before it should have
 *                         split    the store has a transaction for every row (SQLite's step is wrapped)
 *
 * A record is its head and `size` bytes. Whoever writes shares one lock, so that the journal's order is the disk's. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FILES_MAX 4096 /* descriptors that are looked at */
#define JOURNAL   4000 /* the journal's own */

enum record {
    RECORD_NAME = 'N', /* a descriptor was opened: its path; `at` is 1 where the file was made */
    RECORD_WRITE = 'W',
    RECORD_ZEROS = 'Z', /* as WRITE, of zeros: `at` and a length of 8 bytes */
    RECORD_TRUNCATE = 'T',
    RECORD_UNLINK = 'U',     /* a path */
    RECORD_SYNC_BEGAN = 'b', /* `at` is the sync's number */
    RECORD_SYNC_ENDED = 'e', /* what was written before the sync of this number began is safe */
};

struct head {
    int64_t at;
    uint32_t size;
    uint16_t file; /* the descriptor */
    uint8_t record;
    uint8_t unused;
};

static struct {
    pthread_mutex_t lock;
    const char *folder, *plant;
    size_t folder_size;
    unsigned slow_us;
    int64_t syncs, last_sync[FILES_MAX];
    bool watched[FILES_MAX], is_log[FILES_MAX];
} power = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The journal is opened before main, and lies where no other descriptor comes. */
__attribute__((constructor)) static void begin(void)
{
    const char *folder = getenv("POWER_FOLDER"), *journal = getenv("POWER_JOURNAL");
    if (folder == NULL || journal == NULL)
        return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, journal, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || syscall(SYS_dup3, fd, JOURNAL, O_CLOEXEC) != JOURNAL)
        _exit(99);
    syscall(SYS_close, fd);
    power.folder = strdup(folder); /* Redis writes its title over the environment */
    power.folder_size = strlen(folder);
    const char *plant = getenv("POWER_PLANT"), *slow_ms = getenv("POWER_SLOW_MS");
    power.plant = strdup(plant != NULL ? plant : "");
    power.slow_us = slow_ms != NULL ? 1000u * (unsigned)atoi(slow_ms) : 0;
}

static bool is_watched(int fd)
{
    return power.folder != NULL && fd >= 0 && fd < FILES_MAX && power.watched[fd];
}

static void record(enum record what, int fd, int64_t at, const void *bytes, size_t size)
{
    struct head head = {.at = at, .size = (uint32_t)size, .file = (uint16_t)fd, .record = (uint8_t)what};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)(uintptr_t)bytes, size}};
    if (syscall(SYS_writev, JOURNAL, parts, 2) != (long)(sizeof head + size))
        _exit(98); /* a journal with a gap is worth nothing */
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* SQLite's shared memory is rebuilt after a crash: nothing of it needs the disk. */
static bool is_in_folder(const char *path)
{
    size_t size = strlen(path);
    return strncmp(path, power.folder, power.folder_size) == 0 &&
           (size == power.folder_size || strchr(path + power.folder_size + 1, '/') == NULL) &&
           !(size > 4 && strcmp(path + size - 4, "-shm") == 0);
}

/* The whole path of a file that is looked at; NULL of others. Redis goes into its folder and names files from there. */
static const char *ours(const char *path, char whole[PATH_MAX])
{
    char here[PATH_MAX];
    if (power.folder == NULL)
        return NULL;
    bool good = *path == '/' || getcwd(here, sizeof here) != NULL;
    int size = good ? snprintf(whole, PATH_MAX, "%s%s%s", *path == '/' ? "" : here, *path == '/' ? "" : "/", path) : -1;
    return size > 0 && size < PATH_MAX && is_in_folder(whole) ? whole : NULL;
}

static int open_watched(const char *path, int flags, mode_t mode)
{
    char whole[PATH_MAX];
    const char *name = ours(path, whole);
    if (name == NULL)
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    struct stat about;
    pthread_mutex_lock(&power.lock);
    bool made = (flags & O_CREAT) && stat(path, &about) != 0;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    int error = errno;
    if (fd >= 0 && fd < FILES_MAX) {
        power.watched[fd] = true;
        power.is_log[fd] = strlen(path) > 4 && strcmp(path + strlen(path) - 4, "-wal") == 0;
        record(RECORD_NAME, fd, made, name, strlen(name));
        if (flags & O_TRUNC)
            record(RECORD_TRUNCATE, fd, 0, NULL, 0);
    }
    pthread_mutex_unlock(&power.lock);
    errno = error;
    return fd;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                        \
        va_end(rest);                                                                                                  \
        return open_watched(path, flags, mode);                                                                        \
    }
OPEN(open)
OPEN(open64)

int close(int fd)
{
    if (power.folder != NULL && fd == JOURNAL)
        return 0;
    if (is_watched(fd))
        power.watched[fd] = false;
    return (int)syscall(SYS_close, fd);
}

int unlink(const char *path)
{
    char whole[PATH_MAX];
    const char *name = ours(path, whole);
    pthread_mutex_lock(&power.lock);
    int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    int error = errno;
    if (result == 0 && name != NULL)
        record(RECORD_UNLINK, 0, 0, name, strlen(name));
    pthread_mutex_unlock(&power.lock);
    errno = error;
    return result;
}

/* Nobody here has needed it yet; a journal that does not know of it would lie. */
int rename(const char *from, const char *to)
{
    char whole[PATH_MAX];
    if (ours(from, whole) != NULL || ours(to, whole) != NULL)
        _exit(97);
    return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static bool is_zeros(const char *bytes, size_t size)
{
    return size > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

static void record_write(int fd, int64_t at, const void *bytes, size_t size)
{
    int64_t length = (int64_t)size;
    if (is_zeros(bytes, size))
        record(RECORD_ZEROS, fd, at, &length, sizeof length);
    else
        record(RECORD_WRITE, fd, at, bytes, size);
}

static ssize_t write_at(int fd, const void *bytes, size_t size, off_t at)
{
    if (!is_watched(fd))
        return syscall(SYS_pwrite64, fd, bytes, size, at);
    if (power.is_log[fd] && !is_zeros(bytes, size))
        usleep(power.slow_us);
    pthread_mutex_lock(&power.lock);
    ssize_t written = syscall(SYS_pwrite64, fd, bytes, size, at);
    int error = errno;
    if (written > 0)
        record_write(fd, at, bytes, (size_t)written);
    pthread_mutex_unlock(&power.lock);
    errno = error;
    return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    return write_at(fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at)
{
    return write_at(fd, bytes, size, at);
}

/* Of a file that is written at its end, such as Redis' log. */
ssize_t write(int fd, const void *bytes, size_t size)
{
    if (!is_watched(fd))
        return syscall(SYS_write, fd, bytes, size);
    pthread_mutex_lock(&power.lock);
    ssize_t written = syscall(SYS_write, fd, bytes, size);
    int error = errno;
    if (written > 0)
        record_write(fd, syscall(SYS_lseek, fd, 0, SEEK_CUR) - written, bytes, (size_t)written);
    pthread_mutex_unlock(&power.lock);
    errno = error;
    return written;
}

static int truncate_watched(int fd, off_t size)
{
    if (!is_watched(fd))
        return (int)syscall(SYS_ftruncate, fd, size);
    pthread_mutex_lock(&power.lock);
    int result = (int)syscall(SYS_ftruncate, fd, size);
    int error = errno;
    if (result == 0)
        record(RECORD_TRUNCATE, fd, size, NULL, 0);
    pthread_mutex_unlock(&power.lock);
    errno = error;
    return result;
}

int ftruncate(int fd, off_t size)
{
    return truncate_watched(fd, size);
}

int ftruncate64(int fd, off_t size)
{
    return truncate_watched(fd, size);
}

static int truncate_path(const char *path, off_t size)
{
    char whole[PATH_MAX];
    if (ours(path, whole) == NULL)
        return (int)syscall(SYS_truncate, path, size);
    int fd = open_watched(path, O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int result = truncate_watched(fd, size), error = errno;
    close(fd);
    errno = error;
    return result;
}

int truncate(const char *path, off_t size)
{
    return truncate_path(path, size);
}

int truncate64(const char *path, off_t size)
{
    return truncate_path(path, size);
}

/* ---- syncs ------------------------------------------------------------------------------------------------------- */

static int sync_watched(int fd, long call)
{
    if (!is_watched(fd))
        return (int)syscall(call, fd);
    pthread_mutex_lock(&power.lock);
    int64_t number = ++power.syncs;
    record(RECORD_SYNC_BEGAN, fd, number, NULL, 0);
    pthread_mutex_unlock(&power.lock);
    usleep(power.slow_us);
    int result = (int)syscall(call, fd);
    int error = errno;
    pthread_mutex_lock(&power.lock);
    int64_t safe = strcmp(power.plant, "late") == 0 ? power.last_sync[fd] : number;
    power.last_sync[fd] = number;
    if (result == 0)
        record(RECORD_SYNC_ENDED, fd, safe, NULL, 0);
    pthread_mutex_unlock(&power.lock);
    errno = error;
    return result;
}

int fsync(int fd)
{
    return sync_watched(fd, SYS_fsync);
}

int fdatasync(int fd)
{
    return sync_watched(fd, SYS_fdatasync);
}

/* ---- a transaction for every row --------------------------------------------------------------------------------- */

int sqlite3_step(sqlite3_stmt *statement)
{
    static int (*step)(sqlite3_stmt *);
    static const char *(*text_of)(sqlite3_stmt *);
    static sqlite3 *(*connection_of)(sqlite3_stmt *);
    static int (*run)(sqlite3 *, const char *, void *, void *, void *);
    if (step == NULL) {
        *(void **)&text_of = dlsym(RTLD_NEXT, "sqlite3_sql");
        *(void **)&connection_of = dlsym(RTLD_NEXT, "sqlite3_db_handle");
        *(void **)&run = dlsym(RTLD_NEXT, "sqlite3_exec");
        *(void **)&step = dlsym(RTLD_NEXT, "sqlite3_step");
    }
    const char *text = text_of(statement);
    bool puts = text && (strncmp(text, "REPLACE INTO kv", 15) == 0 || strncmp(text, "INSERT INTO kv", 14) == 0);
    bool splits = power.folder != NULL && strcmp(power.plant, "split") == 0 && puts;
    int result = step(statement);
    if (splits)
        run(connection_of(statement), "COMMIT; BEGIN IMMEDIATE", NULL, NULL, NULL);
    return result;
}
