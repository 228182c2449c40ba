/* A folder of files for indexing: their list and their bytes. Never leaves the folder: symbolic links are followed
 * only to files within it, also if they change meanwhile. Names that begin with a dot are skipped. */
#ifndef RENGA_TOOL_RUNNER_FOLDER_H
#define RENGA_TOOL_RUNNER_FOLDER_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

#define FOLDER_FILES_MAX 1000000
#define FOLDER_PATH_MAX  1024 /* bytes of a path within the folder */

struct folder {
    int fd;
    struct arena arena;
    char **paths; /* of files, within the folder, by strcmp */
    size_t count, room;
    size_t unnamed; /* files with names that are too long or not UTF-8 */
};

/* `roots` are the folders that may be read, with all below them. NOT_FOUND, PERMISSION_DENIED. */
bool folder_open(struct folder *folder, const char *path, const char *const *roots, size_t root_count,
                 struct status *st);
void folder_close(struct folder *folder);

/* Looks it through; `found` is told now and then how many files there are, and ends it with false (CANCELLED). */
bool folder_list(struct folder *folder, bool (*found)(void *data, size_t files), void *data, struct status *st);

/* The bytes of a file; the caller frees them. RESOURCE_EXHAUSTED if there are more than DOCUMENT_MAX; the text is
 * the reason for skipping. */
bool folder_read(struct folder *folder, const char *path, char **bytes, size_t *size, struct status *st);

#endif
