#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define PIECE ((size_t)16 << 10) /* bytes read at a time */

static enum status_code code_of(int error)
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
        return fail(st, code_of(errno), "cannot open '%s': %s", path, strerror(errno));

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
        return fail(st, code_of(error), "cannot read '%s': %s", path, strerror(error));
    if (out->failed)
        return fail(st, RESOURCE_EXHAUSTED, "'%s' is larger than %zu bytes", path, out->limit);
    return true;
}
