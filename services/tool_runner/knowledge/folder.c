#include "knowledge/folder.h"

#include "base/text.h"
#include "documents/document.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMES_MAX  ((size_t)512 << 20) /* bytes of all paths */
#define TOLD_EACH  1000                /* files */
#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
#define FILE_SOME  4096

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* The kernel itself refuses paths out of the folder, also by a link that changes at this moment. */
static int open_within(int folder, const char *path, int flags, uint64_t resolve)
{
    struct open_how how = {.flags = (uint64_t)flags, .resolve = resolve | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, folder, path, &how, sizeof how);
    if (fd < 0 && errno == ENOSYS)
        return openat(folder, path, flags | O_NOFOLLOW); /* a kernel before 5.6: no links at all */
    return (int)fd;
}

static bool folder_is_below(const char *path, const char *root)
{
    size_t length = strlen(root);
    while (length > 1 && root[length - 1] == '/')
        length--;
    if (length == 1 && *root == '/')
        return *path == '/';
    return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool folder_is_allowed(const char *path, const char *const *roots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *root = realpath(roots[i], NULL);
        bool below = folder_is_below(path, root ? root : roots[i]);
        free(root);
        if (below)
            return true;
    }
    return false;
}

bool folder_open(struct folder *folder, const char *path, const char *const *roots, size_t root_count,
                 struct status *st)
{
    *folder = (struct folder){.fd = -1};
    arena_init(&folder->arena, NULL, 0, NAMES_MAX);
    char *real = realpath(path, NULL);
    bool allowed = folder_is_allowed(real ? real : path, roots, root_count);
    if (allowed && real)
        folder->fd = open_within(AT_FDCWD, real, O_DIRECTORY | O_RDONLY | O_CLOEXEC, RESOLVE_NO_SYMLINKS);
    free(real);
    if (!allowed)
        return fail(st, PERMISSION_DENIED,
                    "folder: '%s' is in none of the folders that may be indexed; the operator lists them in "
                    "tool_runner.roots",
                    path);
    return folder->fd >= 0 || fail(st, NOT_FOUND, "folder: '%s' is no folder that can be read on this machine", path);
}

void folder_close(struct folder *folder)
{
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
    free(folder->paths);
    folder->paths = NULL;
    arena_fini(&folder->arena);
}

/* ---- looking through --------------------------------------------------------------------------------------------- */

struct listing {
    struct folder *folder;
    struct pending {
        struct pending *next;
        const char *path; /* "": the folder itself */
    } * pending;
    bool (*found)(void *data, size_t files);
    void *data;
};

static bool add_path(struct folder *folder, char *path, struct status *st)
{
    if (folder->count == FOLDER_FILES_MAX)
        return fail(st, RESOURCE_EXHAUSTED, "folder: has more than %d files; index parts of it", FOLDER_FILES_MAX);
    if (folder->count == folder->room) {
        size_t room = folder->room ? 2 * folder->room : FILE_SOME;
        char **grown = realloc(folder->paths, room * sizeof *grown);
        if (!grown)
            return fail(st, RESOURCE_EXHAUSTED, "no memory for the names of %zu files", folder->count);
        folder->paths = grown;
        folder->room = room;
    }
    folder->paths[folder->count++] = path;
    return true;
}

static unsigned char folder_type_of(int fd, const struct dirent *entry)
{
    struct stat stat;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (fstatat(fd, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    return S_ISDIR(stat.st_mode) ? DT_DIR : S_ISLNK(stat.st_mode) ? DT_LNK : S_ISREG(stat.st_mode) ? DT_REG : DT_FIFO;
}

static bool take_entry(struct listing *listing, int fd, const char *above, const struct dirent *entry,
                       struct status *st)
{
    struct folder *folder = listing->folder;
    unsigned char type = folder_type_of(fd, entry);
    size_t length = strlen(above) + 1 + strlen(entry->d_name);
    if (entry->d_name[0] == '.' || (type != DT_DIR && type != DT_REG && type != DT_LNK))
        return true;
    if (length > FOLDER_PATH_MAX || !text_is_clean(entry->d_name, strlen(entry->d_name))) {
        folder->unnamed++;
        return true;
    }
    char *path = arena_printf(&folder->arena, "%s%s%s", above, *above ? "/" : "", entry->d_name);
    struct pending *pending = type == DT_DIR ? arena_alloc(&folder->arena, sizeof *pending) : NULL;
    if (!path || (type == DT_DIR && !pending))
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the names of %zu files", folder->count);
    if (type != DT_DIR)
        return add_path(folder, path, st);
    *pending = (struct pending){listing->pending, path};
    listing->pending = pending;
    return true;
}

/* A folder that cannot be read, or is gone by now, has no files. */
static bool take_folder(struct listing *listing, const char *path, struct status *st)
{
    int fd = open_within(listing->folder->fd, *path ? path : ".", O_DIRECTORY | O_RDONLY | O_CLOEXEC,
                         RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    bool taken = true;
    if (!entries && fd >= 0)
        close(fd);
    while (entries && taken && (entry = readdir(entries))) {
        taken = take_entry(listing, fd, path, entry, st);
        if (taken && listing->folder->count % TOLD_EACH == 0 && !listing->found(listing->data, listing->folder->count))
            taken = fail(st, CANCELLED, "the caller has left");
    }
    if (entries)
        closedir(entries);
    return taken;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool folder_list(struct folder *folder, bool (*found)(void *data, size_t files), void *data, struct status *st)
{
    struct pending top = {.path = ""};
    struct listing listing = {.folder = folder, .pending = &top, .found = found, .data = data};
    while (listing.pending) {
        const struct pending *pending = listing.pending;
        listing.pending = pending->next;
        if (!take_folder(&listing, pending->path, st))
            return false;
    }
    if (folder->count)
        qsort(folder->paths, folder->count, sizeof *folder->paths, by_path);
    found(data, folder->count);
    return true;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool read_all(int fd, size_t expected, char **bytes, size_t *size, struct status *st)
{
    size_t room = expected + 1;
    *bytes = malloc(room);
    *size = 0;
    while (*bytes) {
        ssize_t got = read(fd, *bytes + *size, room - *size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail(st, UNAVAILABLE, "cannot be read: %s", strerror(errno));
        *size += (size_t)got;
        if (got == 0)
            return true;
        if (*size > DOCUMENT_MAX)
            return fail(st, RESOURCE_EXHAUSTED, "has more than %zu MiB; divide it", DOCUMENT_MAX >> 20);
        if (*size < room)
            continue;
        char *grown = realloc(*bytes, room *= 2); /* it grows while it is read */
        if (!grown)
            break;
        *bytes = grown;
    }
    return fail(st, RESOURCE_EXHAUSTED, "there is no memory to read it");
}

static const char *why_unopened(void)
{
    switch (errno) {
    case EXDEV:
    case ELOOP:
        return "is a symbolic link that leads out of the folder, or nowhere";
    case ENOENT:
        return "is gone, or a symbolic link to nothing";
    case EACCES:
    case EPERM:
        return "may not be read";
    default:
        return strerror(errno);
    }
}

bool folder_read(struct folder *folder, const char *path, char **bytes, size_t *size, struct status *st)
{
    struct stat stat;
    int fd = open_within(folder->fd, path, READ_FLAGS, RESOLVE_BENEATH);
    *bytes = NULL;
    if (fd < 0)
        return fail(st, errno == EACCES || errno == EXDEV ? PERMISSION_DENIED : NOT_FOUND, "%s", why_unopened());
    bool file = fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode);
    bool small = file && stat.st_size <= (off_t)DOCUMENT_MAX;
    bool done = file && small && read_all(fd, (size_t)stat.st_size, bytes, size, st);
    close(fd);
    if (!file)
        return fail(st, INVALID_ARGUMENT, "is no file");
    if (!small)
        return fail(st, RESOURCE_EXHAUSTED, "has more than %zu MiB; divide it", DOCUMENT_MAX >> 20);
    if (!done) {
        free(*bytes);
        *bytes = NULL;
    }
    return done;
}
