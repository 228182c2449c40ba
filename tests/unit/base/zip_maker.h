/* Zip archives for tests of their readers: files are stored or deflated one by one, then the list is written. */
#ifndef RENGA_UNIT_ZIP_MAKER_H
#define RENGA_UNIT_ZIP_MAKER_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct zip_maker {
    struct buffer out, list;
    size_t count;
};

static inline void zip_maker_put(struct buffer *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        buffer_put(out, (char)(value & 0xff));
}

static inline void zip_maker_init(struct zip_maker *maker)
{
    *maker = (struct zip_maker){0};
    buffer_init(&maker->out, (size_t)1 << 30);
    buffer_init(&maker->list, (size_t)1 << 30);
}

static inline void zip_maker_fini(struct zip_maker *maker)
{
    buffer_fini(&maker->out);
    buffer_fini(&maker->list);
}

static inline size_t zip_maker_deflate(const char *text, size_t size, char **packed)
{
    z_stream stream = {0};
    size_t room = size + size / 100 + 1024;
    *packed = malloc(room);
    deflateInit2(&stream, 1, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)size;
    stream.next_out = (Bytef *)*packed;
    stream.avail_out = (uInt)room;
    deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    return stream.total_out;
}

/* `promised` is the size that the list tells. */
static inline void zip_maker_add_lying(struct zip_maker *maker, const char *name, const char *text, size_t size,
                                       bool deflates, size_t promised)
{
    char *packed = NULL;
    size_t offset = maker->out.length, packed_size = deflates ? zip_maker_deflate(text, size, &packed) : size;
    uint32_t crc = (uint32_t)crc32(0, (const Bytef *)text, (uInt)size);
    zip_maker_put(&maker->out, 0x04034b50, 4);
    zip_maker_put(&maker->out, 20, 4);
    zip_maker_put(&maker->out, deflates ? 8 : 0, 2);
    zip_maker_put(&maker->out, 0, 4);
    zip_maker_put(&maker->out, crc, 4);
    zip_maker_put(&maker->out, packed_size, 4);
    zip_maker_put(&maker->out, promised, 4);
    zip_maker_put(&maker->out, strlen(name), 4);
    buffer_print(&maker->out, name);
    buffer_append(&maker->out, deflates ? packed : text, packed_size);
    zip_maker_put(&maker->list, 0x02014b50, 4);
    zip_maker_put(&maker->list, 20, 2);
    zip_maker_put(&maker->list, 20, 4);
    zip_maker_put(&maker->list, deflates ? 8 : 0, 2);
    zip_maker_put(&maker->list, 0, 4);
    zip_maker_put(&maker->list, crc, 4);
    zip_maker_put(&maker->list, packed_size, 4);
    zip_maker_put(&maker->list, promised, 4);
    zip_maker_put(&maker->list, strlen(name), 2);
    zip_maker_put(&maker->list, 0, 8);
    zip_maker_put(&maker->list, 0, 4);
    zip_maker_put(&maker->list, offset, 4);
    buffer_print(&maker->list, name);
    maker->count++;
    free(packed);
}

static inline void zip_maker_add(struct zip_maker *maker, const char *name, const char *text)
{
    zip_maker_add_lying(maker, name, text, strlen(text), true, strlen(text));
}

/* The archive; valid until zip_maker_fini. */
static inline const char *zip_maker_end(struct zip_maker *maker, size_t *size)
{
    size_t offset = maker->out.length;
    buffer_append(&maker->out, maker->list.data, maker->list.length);
    zip_maker_put(&maker->out, 0x06054b50, 4);
    zip_maker_put(&maker->out, 0, 4);
    zip_maker_put(&maker->out, maker->count, 2);
    zip_maker_put(&maker->out, maker->count, 2);
    zip_maker_put(&maker->out, maker->list.length, 4);
    zip_maker_put(&maker->out, offset, 4);
    zip_maker_put(&maker->out, 0, 2);
    *size = maker->out.length;
    return maker->out.data;
}

#endif
