/* A copy of a store's file while its process goes on: a reader of its own sees the rows as they are at one moment. The
 * copy has no free pages, and so no deleted content. It gets its name when it is complete and on disk. */
#include "store/sqlite/backup.h"

#include "store/sqlite/file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_KIB (4 << 10)

static bool sync_path(const char *path, int flags, struct status *st)
{
    int fd = open(path, flags | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    if (!synced)
        fail(st, UNAVAILABLE, "%s cannot be written: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return synced;
}

static bool sync_folder_of(const char *path, struct status *st)
{
    char *copy = strdup(path);
    if (copy == NULL)
        return fail_memory(st, "a backup");
    bool synced = sync_path(dirname(copy), O_RDONLY | O_DIRECTORY, st);
    free(copy);
    return synced;
}

static bool copy_rows(sqlite3 *from, const char *part, struct status *st)
{
    sqlite3_stmt *statement = NULL;
    bool copied = sqlite3_prepare_v2(from, "VACUUM INTO ?1", -1, &statement, NULL) == SQLITE_OK &&
                  sqlite3_bind_text(statement, 1, part, -1, SQLITE_STATIC) == SQLITE_OK &&
                  sqlite3_step(statement) == SQLITE_DONE;
    if (!copied)
        sqlite_failed(from, st);
    sqlite3_finalize(statement);
    return copied;
}

/* The kernel refuses if the name is taken. */
static bool give_name(const char *part, const char *copy, struct status *st)
{
    if (renameat2(AT_FDCWD, part, AT_FDCWD, copy, RENAME_NOREPLACE) != 0)
        return fail(st, errno == EEXIST ? ALREADY_EXISTS : UNAVAILABLE, "%s cannot be made: %s", copy, strerror(errno));
    return sync_folder_of(copy, st);
}

static bool copy_file(const struct sqlite_file *file, const char *part, const char *copy, struct status *st)
{
    sqlite3 *from = NULL;
    bool good = sqlite_file_connect(file, &from, CACHE_KIB, st) && sqlite_file_is_ours(file, from, st) &&
                copy_rows(from, part, st);
    sqlite3_close_v2(from);
    return good && sync_path(part, O_RDONLY, st) && give_name(part, copy, st);
}

static bool copy_beside(const struct sqlite_file *file, const char *copy, struct status *st)
{
    char *part;
    if (asprintf(&part, "%s.part", copy) < 0)
        return fail_memory(st, "a backup");
    int fd = open(part, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    bool made = fd >= 0 || fail(st, errno == EEXIST ? ALREADY_EXISTS : UNAVAILABLE, "%s cannot be made: %s", part,
                                strerror(errno));
    if (fd >= 0)
        close(fd);
    bool good = made && copy_file(file, part, copy, st);
    if (made && !good)
        unlink(part);
    free(part);
    return good;
}

bool sqlite_backup(const char *place, const char *copy, struct status *st)
{
    struct sqlite_file file = {.lock_fd = -1};
    if (access(copy, F_OK) == 0)
        return fail(st, ALREADY_EXISTS, "%s is there; give another name", copy);
    file.path = realpath(place, NULL);
    if (file.path == NULL)
        return fail(st, NOT_FOUND, "%s cannot be opened: %s", place, strerror(errno));
    bool good = copy_beside(&file, copy, st);
    free(file.path);
    return good;
}
