#include "base/file.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PIECE      ((size_t)16 << 10) /* bytes read at a time */
#define SETTLED_NS (2 * NS_PER_SEC)   /* a file this old does not change again within one reading of the clock */

static enum status_code file_code_of(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return NOT_FOUND;
    case EACCES:
    case EPERM:
        return PERMISSION_DENIED;
    default:
        return INVALID_ARGUMENT;
    }
}

bool file_read(const char *path, struct buffer *out, struct status *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(st, file_code_of(errno), "cannot open '%s': %s", path, strerror(errno));

    char piece[PIECE];
    ssize_t got;
    while ((got = read(fd, piece, sizeof piece)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        buffer_append(out, piece, (size_t)got);
        if (out->failed)
            break;
    }
    int error = errno;
    explicit_bzero(piece, sizeof piece);
    close(fd);
    if (got < 0)
        return fail(st, file_code_of(error), "cannot read '%s': %s", path, strerror(error));
    if (out->failed)
        return fail(st, RESOURCE_EXHAUSTED, "'%s' is larger than %zu bytes", path, out->limit);
    return true;
}

void file_stamp_take(const char *path, struct file_stamp *stamp)
{
    struct stat found;
    memset(stamp, 0, sizeof *stamp);
    if (stat(path, &found) != 0)
        return;
    stamp->device = found.st_dev;
    stamp->inode = found.st_ino;
    stamp->mode = found.st_mode;
    stamp->size = found.st_size;
    stamp->modified = found.st_mtim;
    stamp->changed = found.st_ctim;
}

static bool times_equal(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool file_stamps_equal(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->mode == b->mode && a->size == b->size &&
           times_equal(&a->modified, &b->modified) && times_equal(&a->changed, &b->changed);
}

bool file_stamp_is_settled(const struct file_stamp *stamp)
{
    int64_t changed = stamp->changed.tv_sec * NS_PER_SEC + stamp->changed.tv_nsec;
    return clock_wall_ns() - changed >= SETTLED_NS;
}

uint64_t file_volume_room(const char *path)
{
    struct statvfs volume;
    return statvfs(path, &volume) == 0 ? (uint64_t)volume.f_bavail * volume.f_frsize : UINT64_MAX;
}
