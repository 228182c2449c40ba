#include "store/seal.h"

#include "base/crc32c.h"

#include <string.h>

#define TAG_FIRST  0xfd /* of field 2047, fixed32: (2047 << 3 | 5) as a varint */
#define TAG_SECOND 0x7f
#define TAG_BYTES  2

/* No message of ours begins with a field of this number: so a tag with changed bits is not mistaken for an unsealed
 * message. */
#define TAG_LEAST 0x78

static uint32_t seal_sum(struct store_bytes key, const uint8_t *value, size_t size, size_t at)
{
    size_t rest = at + STORE_SEAL_BYTES;
    uint32_t sum = crc32c(crc32c(0, key.bytes, key.size), value, at);
    return crc32c(sum, value + rest, size - rest);
}

void store_seal_write(struct store_bytes key, void *value, size_t size, size_t at)
{
    uint8_t *seal = (uint8_t *)value + at;
    uint32_t sum = seal_sum(key, value, size, at);
    seal[0] = TAG_FIRST;
    seal[1] = TAG_SECOND;
    for (int i = 0; i < 4; i++)
        seal[TAG_BYTES + i] = (uint8_t)(sum >> 8 * i);
}

enum store_seal store_seal_read(struct store_bytes key, struct store_bytes value, size_t at)
{
    const uint8_t *seal = (const uint8_t *)value.bytes + at;
    if (value.size <= at || seal[0] < TAG_LEAST)
        return STORE_SEAL_ABSENT;
    if (value.size < at + STORE_SEAL_BYTES || seal[0] != TAG_FIRST || seal[1] != TAG_SECOND)
        return STORE_SEAL_BROKEN;
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum |= (uint32_t)seal[TAG_BYTES + i] << 8 * i;
    return sum == seal_sum(key, value.bytes, value.size, at) ? STORE_SEAL_WHOLE : STORE_SEAL_BROKEN;
}
