/* A zip archive in memory, as the formats of offices and books use it, and its files as streams. Private to documents/.
 *
 * Made for archives of strangers: opening is linear in the archive's size, and all unpacked bytes count against a
 * single bound. Libzip is not used: it reads the list of files anew for each end mark that an archive pretends to have
 * (0.2 s a mark). Read are stored and deflated files without a password, with 64-bit sizes in the list; not several
 * volumes. */
#ifndef RENGA_TOOL_RUNNER_ZIP_H
#define RENGA_TOOL_RUNNER_ZIP_H

#include "documents/reading.h"

#include <zlib.h>

#define ZIP_ENTRIES_MAX  10000
#define ZIP_UNPACKED_MAX ((uint64_t)128 << 20) /* bytes of all parts that are read, again and again included */

struct zip_entry {
    struct piece name; /* in the archive */
    uint64_t offset;   /* of its local header */
    uint64_t packed, size;
    uint32_t crc;
    uint16_t method, flags;
};

struct zip {
    const char *bytes;
    size_t size;
    struct zip_entry *entries; /* by name */
    size_t count;
    uint64_t left; /* of ZIP_UNPACKED_MAX */
    const struct document_means *means;
};

/* Reads the list of files into `arena`; `bytes` outlive the archive. INVALID_ARGUMENT if it is no archive. */
bool zip_open(struct zip *zip, const char *bytes, size_t size, struct arena *arena, const struct document_means *means,
              struct status *st);

/* NULL: the file is not in the archive. Names are compared without regard to the case of a to z; '\' equals '/'. */
const struct zip_entry *zip_find(const struct zip *zip, struct piece name);

/* The file is encrypted in a way that the archive itself does not tell: it cannot be opened from now on. */
void zip_mark_encrypted(struct zip *zip, const struct zip_entry *entry);

/* A file of the archive while it is unpacked. */
struct zip_part {
    struct zip *zip;
    const struct zip_entry *entry;
    z_stream stream;
    bool inflates; /* `stream` is in use */
    uint64_t got;
    uint32_t crc;
};

/* zip_part_close is called for it, also if it was not opened. */
bool zip_part_open(struct zip_part *part, struct zip *zip, const struct zip_entry *entry, struct status *st);
/* As many bytes as fit, fewer only at the end. False: the file is damaged, too large, or the reading is over. */
bool zip_part_read(struct zip_part *part, char *bytes, size_t room, size_t *got, struct status *st);
void zip_part_close(struct zip_part *part);

/* The whole file in the arena, a NUL behind it; at most `most` bytes. */
bool zip_read_all(struct zip *zip, const struct zip_entry *entry, struct arena *arena, size_t most, struct piece *text,
                  struct status *st);

#endif
