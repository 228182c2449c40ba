/* Files that are read whole (configuration, prompts, secrets), and the room of their volume. */
#ifndef RENGA_BASE_FILE_H
#define RENGA_BASE_FILE_H

#include "base/buffer.h"
#include "base/status.h"

#include <stdint.h>
#include <sys/stat.h>

/* Appends the content of `path` to `out`, at most up to the buffer's limit. The error names the path. */
bool file_read(const char *path, struct buffer *out, struct status *st);

/* Identifies a version of a file: its place, kind, size and times. All zero is a file that is missing. */
struct file_stamp {
    dev_t device;
    ino_t inode;
    mode_t mode;
    off_t size;
    struct timespec modified, changed;
};

/* Follows symbolic links. */
void file_stamp_take(const char *path, struct file_stamp *stamp);
bool file_stamps_equal(const struct file_stamp *a, const struct file_stamp *b);

/* Whether the stamp is old enough to be trusted. A file that was written a moment ago may change again and keep its
 * stamp, because clocks of file systems are coarse: read it again until this is true. */
bool file_stamp_is_settled(const struct file_stamp *stamp);

/* Bytes that the volume of `path` has left; UINT64_MAX if it cannot be asked. */
uint64_t file_volume_room(const char *path);

#endif
