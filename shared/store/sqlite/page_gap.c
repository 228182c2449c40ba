#include "store/sqlite/page_gap.h"

#define INTERIOR_INDEX 2
#define INTERIOR_TABLE 5
#define LEAF_INDEX     10
#define LEAF_TABLE     13
#define FRAGMENTS_MAX  60 /* bytes in fragments; a page with more is damaged */

/* The first byte of an overflow page or a page of the free list is the highest of a page number. */
#define PAGES_MAX    (UINT64_C(1) << 25)
#define LOCK_BYTE_AT (UINT64_C(1) << 30)

static size_t two_bytes(const unsigned char *bytes)
{
    return (size_t)bytes[0] << 8 | bytes[1];
}

static uint64_t four_bytes(const unsigned char *bytes)
{
    return (uint64_t)two_bytes(bytes) << 16 | two_bytes(bytes + 2);
}

bool page_gap_find(const unsigned char *page, size_t size, size_t *from, size_t *to)
{
    bool interior = page[0] == INTERIOR_INDEX || page[0] == INTERIOR_TABLE;
    if (!interior && page[0] != LEAF_INDEX && page[0] != LEAF_TABLE)
        return false;
    size_t pointers = interior ? 12 : 8, cells = two_bytes(page + 3), free_block = two_bytes(page + 1);
    size_t begin = pointers + 2 * cells, end = two_bytes(page + 5);
    end = end ? end : 65536;
    if (begin > end || end > size || page[7] > FRAGMENTS_MAX ||
        (free_block && (free_block < end || free_block >= size)))
        return false;
    for (size_t i = 0; i < cells; i++) {
        size_t cell = two_bytes(page + pointers + 2 * i);
        if (cell < end || cell >= size)
            return false;
    }
    while (begin < end && page[begin] == 0)
        begin++;
    *from = begin;
    *to = end;
    return begin < end;
}

static bool is_pointer_map(uint64_t number, size_t size, size_t usable)
{
    uint64_t each = usable / 5 + 1, map = (number - 2) / each * each + 2;
    return number == map + (map == LOCK_BYTE_AT / size + 1);
}

bool page_gap_applies(const unsigned char header[DATABASE_HEADER_BYTES], size_t size, uint64_t number)
{
    size_t told = two_bytes(header + 16), reserved = header[20];
    bool has_maps = four_bytes(header + 52) != 0;
    return size == (told == 1 ? 65536 : told) && reserved == 0 && number > 1 && number < PAGES_MAX &&
           four_bytes(header + 28) < PAGES_MAX && !(has_maps && is_pointer_map(number, size, size - reserved));
}
