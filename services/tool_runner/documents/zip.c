/* Zip archives (APPNOTE 6.3.9): the end mark names the list of files, the list names each file's place. */
#include "documents/zip.h"

#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define END_MARK     0x06054b50u
#define LIST_MARK    0x02014b50u
#define LOCAL_MARK   0x04034b50u
#define END_SIZE     22
#define LIST_SIZE    46
#define LOCAL_SIZE   30
#define COMMENT_MAX  65535
#define WIDE_EXTRA   0x0001 /* 64-bit sizes */
#define WIDE         0xffffffffu
#define STORED       0
#define DEFLATED     8
#define IS_ENCRYPTED 0x0001
#define SHOWN_MAX    100 /* bytes of a name in an error */

static uint16_t zip_read16(const char *at)
{
    const unsigned char *bytes = (const unsigned char *)at;
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static uint32_t zip_read32(const char *at)
{
    return zip_read16(at) | (uint32_t)zip_read16(at + 2) << 16;
}

static uint64_t zip_read64(const char *at)
{
    return zip_read32(at) | (uint64_t)zip_read32(at + 4) << 32;
}

static bool zip_damaged(struct status *st, const char *why)
{
    return fail(st, INVALID_ARGUMENT, "is a zip archive that is damaged: %s", why);
}

/* ---- the list of files ------------------------------------------------------------------------------------------- */

/* The last end mark with a comment that reaches the end of the archive. */
static const char *zip_find_end_mark(const char *bytes, size_t size)
{
    for (size_t back = END_SIZE; back <= size && back <= END_SIZE + COMMENT_MAX; back++) {
        const char *at = bytes + size - back;
        if (zip_read32(at) == END_MARK && zip_read16(at + 20) == back - END_SIZE)
            return at;
    }
    return NULL;
}

/* Values that have no room in the row stand in an extra field, in this order. */
static void zip_take_wide(struct zip_entry *entry, const char *extra, size_t length)
{
    uint64_t *const values[] = {&entry->size, &entry->packed, &entry->offset};
    while (length >= 4 && zip_read16(extra) != WIDE_EXTRA) {
        size_t field = 4 + (size_t)zip_read16(extra + 2);
        if (field > length)
            return;
        extra += field;
        length -= field;
    }
    if (length < 4)
        return;
    size_t left = zip_read16(extra + 2) < length - 4 ? zip_read16(extra + 2) : length - 4;
    const char *at = extra + 4;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (*values[i] != WIDE || left < 8)
            continue;
        *values[i] = zip_read64(at);
        at += 8;
        left -= 8;
    }
}

/* How many bytes the row has; 0: it does not fit. */
static size_t zip_read_row(struct zip_entry *entry, const char *at, size_t left)
{
    if (left < LIST_SIZE || zip_read32(at) != LIST_MARK)
        return 0;
    size_t name = zip_read16(at + 28), extra = zip_read16(at + 30),
           size = LIST_SIZE + name + extra + zip_read16(at + 32);
    if (size > left)
        return 0;
    *entry = (struct zip_entry){.name = {at + LIST_SIZE, name},
                                .flags = zip_read16(at + 8),
                                .method = zip_read16(at + 10),
                                .crc = zip_read32(at + 16),
                                .packed = zip_read32(at + 20),
                                .size = zip_read32(at + 24),
                                .offset = zip_read32(at + 42)};
    zip_take_wide(entry, at + LIST_SIZE + name, extra);
    return size;
}

static int zip_character_at(struct piece name, size_t i)
{
    char c = name.at[i];
    return c == '\\' ? '/' : c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : (unsigned char)c;
}

static int zip_compare_names(struct piece one, struct piece other)
{
    for (size_t i = 0; i < one.length && i < other.length; i++)
        if (zip_character_at(one, i) != zip_character_at(other, i))
            return zip_character_at(one, i) - zip_character_at(other, i);
    return one.length < other.length ? -1 : one.length > other.length;
}

static int zip_by_name(const void *one, const void *other)
{
    return zip_compare_names(((const struct zip_entry *)one)->name, ((const struct zip_entry *)other)->name);
}

/* Archives with other data in front of them, for example a program, count from their own beginning. */
static bool zip_place_list(const struct zip *zip, const char *end_mark, const char **list, uint64_t *before,
                           struct status *st)
{
    uint64_t length = zip_read32(end_mark + 12), offset = zip_read32(end_mark + 16),
             at = (uint64_t)(end_mark - zip->bytes);
    if (zip_read16(end_mark + 4) || zip_read16(end_mark + 6))
        return fail(st, INVALID_ARGUMENT, "is one volume of several of a zip archive");
    if (length > at || offset > at - length)
        return zip_damaged(st, "its list of files is not there");
    *before = at - length - offset;
    *list = end_mark - length;
    return true;
}

bool zip_open(struct zip *zip, const char *bytes, size_t size, struct arena *arena, const struct document_means *means,
              struct status *st)
{
    const char *end_mark = zip_find_end_mark(bytes, size), *at = bytes;
    uint64_t before = 0;
    *zip = (struct zip){.bytes = bytes, .size = size, .left = ZIP_UNPACKED_MAX, .means = means};
    if (!end_mark)
        return zip_damaged(st, "its end is missing");
    size_t count = zip_read16(end_mark + 10);
    if (count > ZIP_ENTRIES_MAX)
        return fail(st, RESOURCE_EXHAUSTED, "is a zip archive of %s%zu files; at most %d are read",
                    count == UINT16_MAX ? "at least " : "", count, ZIP_ENTRIES_MAX);
    if (!zip_place_list(zip, end_mark, &at, &before, st))
        return false;
    zip->entries = arena_alloc(arena, (count + 1) * sizeof *zip->entries);
    if (!zip->entries)
        return fail(st, RESOURCE_EXHAUSTED, "there is no memory for a list of %zu files", count);
    for (; zip->count < count; zip->count++) {
        size_t row = zip_read_row(&zip->entries[zip->count], at, (size_t)(end_mark - at));
        if (!row)
            return zip_damaged(st, "its list of files is cut");
        zip->entries[zip->count].offset += before;
        at += row;
    }
    qsort(zip->entries, zip->count, sizeof *zip->entries, zip_by_name);
    return true;
}

const struct zip_entry *zip_find(const struct zip *zip, struct piece name)
{
    const struct zip_entry wanted = {.name = name};
    return zip->count ? bsearch(&wanted, zip->entries, zip->count, sizeof wanted, zip_by_name) : NULL;
}

void zip_mark_encrypted(struct zip *zip, const struct zip_entry *entry)
{
    zip->entries[entry - zip->entries].flags |= IS_ENCRYPTED;
}

/* ---- a file ------------------------------------------------------------------------------------------------------ */

/* The name for a text of errors. */
static struct piece zip_shown_name(const struct zip_entry *entry)
{
    struct piece name = entry->name;
    if (!text_is_clean(name.at, name.length))
        return (struct piece){"?", 1};
    return (struct piece){name.at, text_cut(name.at, name.length, SHOWN_MAX)};
}

static bool zip_part_damaged(const struct zip_part *part, struct status *st, const char *why)
{
    struct piece name = zip_shown_name(part->entry);
    return fail(st, INVALID_ARGUMENT, "is a zip archive that is damaged: %s in '%.*s'", why, (int)name.length, name.at);
}

static bool zip_check_method(const struct zip_part *part, struct status *st)
{
    const struct zip_entry *entry = part->entry;
    struct piece name = zip_shown_name(entry);
    if (entry->flags & IS_ENCRYPTED)
        return fail(st, INVALID_ARGUMENT, "is encrypted ('%.*s'); save it without a password or protection",
                    (int)name.length, name.at);
    return entry->method == STORED || entry->method == DEFLATED ||
           fail(st, INVALID_ARGUMENT, "is packed by method %u ('%.*s'); 0 and 8 are read", entry->method,
                (int)name.length, name.at);
}

bool zip_part_open(struct zip_part *part, struct zip *zip, const struct zip_entry *entry, struct status *st)
{
    *part = (struct zip_part){.zip = zip, .entry = entry};
    if (!zip_check_method(part, st))
        return false;
    if (entry->offset > zip->size || zip->size - entry->offset < LOCAL_SIZE ||
        zip_read32(zip->bytes + entry->offset) != LOCAL_MARK)
        return zip_part_damaged(part, st, "no file is at the place");
    const char *local = zip->bytes + entry->offset;
    uint64_t begin = entry->offset + LOCAL_SIZE + zip_read16(local + 26) + zip_read16(local + 28);
    if (begin > zip->size || entry->packed > zip->size - begin)
        return zip_part_damaged(part, st, "bytes are missing");
    part->stream.next_in = (Bytef *)(uintptr_t)(zip->bytes + begin);
    part->stream.avail_in = (uInt)entry->packed;
    if (entry->method == DEFLATED && inflateInit2(&part->stream, -MAX_WBITS) != Z_OK)
        return fail(st, RESOURCE_EXHAUSTED, "there is no memory to unpack it");
    part->inflates = entry->method == DEFLATED;
    return true;
}

void zip_part_close(struct zip_part *part)
{
    if (part->inflates)
        inflateEnd(&part->stream);
    part->inflates = false;
}

static bool zip_copy_stored(struct zip_part *part, char *bytes, size_t room, size_t *got)
{
    *got = part->stream.avail_in < room ? part->stream.avail_in : room;
    assert(part->stream.next_in);
    memcpy(bytes, part->stream.next_in, *got);
    part->stream.next_in += *got;
    part->stream.avail_in -= (uInt)*got;
    return *got < room;
}

/* True at the end of the file. */
static bool zip_inflate_some(struct zip_part *part, char *bytes, size_t room, size_t *got, bool *damaged)
{
    part->stream.next_out = (Bytef *)bytes;
    part->stream.avail_out = (uInt)room;
    int result = inflate(&part->stream, Z_NO_FLUSH);
    *got = room - part->stream.avail_out;
    *damaged = result != Z_OK && result != Z_STREAM_END && !(result == Z_BUF_ERROR && *got == room);
    /* All that was packed is used up, and the end has not come. */
    *damaged = *damaged || (result == Z_OK && *got < room);
    return result == Z_STREAM_END;
}

bool zip_part_read(struct zip_part *part, char *bytes, size_t room, size_t *got, struct status *st)
{
    struct zip *zip = part->zip;
    bool damaged = false;
    *got = 0;
    if (!document_goes_on(zip->means, st))
        return false;
    bool ended =
        part->inflates ? zip_inflate_some(part, bytes, room, got, &damaged) : zip_copy_stored(part, bytes, room, got);
    if (damaged)
        return zip_part_damaged(part, st, "bytes are wrong");
    if (*got > zip->left)
        return fail(st, RESOURCE_EXHAUSTED, "unpacks to more than %d MiB", (int)(ZIP_UNPACKED_MAX >> 20));
    zip->left -= *got;
    part->got += *got;
    part->crc = (uint32_t)crc32(part->crc, (const Bytef *)bytes, (uInt)*got);
    if (part->got > part->entry->size || (ended && part->got != part->entry->size))
        return zip_part_damaged(part, st, "there are more or fewer bytes than promised");
    return !ended || part->crc == part->entry->crc || zip_part_damaged(part, st, "bytes are wrong (CRC-32)");
}

bool zip_read_all(struct zip *zip, const struct zip_entry *entry, struct arena *arena, size_t most, struct piece *text,
                  struct status *st)
{
    struct zip_part part;
    struct piece name = zip_shown_name(entry);
    size_t got = 0;
    if (entry->size > most)
        return fail(st, RESOURCE_EXHAUSTED, "has a part of %llu bytes ('%.*s'); at most %zu are read",
                    (unsigned long long)entry->size, (int)name.length, name.at, most);
    char *bytes = arena_alloc(arena, (size_t)entry->size + 1);
    if (!bytes)
        return fail(st, RESOURCE_EXHAUSTED, "there is no memory for its parts");
    bool read = zip_part_open(&part, zip, entry, st) && zip_part_read(&part, bytes, (size_t)entry->size + 1, &got, st);
    zip_part_close(&part);
    bytes[got] = '\0';
    *text = (struct piece){bytes, got};
    return read;
}
