#include "store/checksum.h"

#include "base/crc32c.h"

#include <string.h>

#define TAG_FIRST  0xfd /* of field 2047, fixed32: (2047 << 3 | 5) as a varint */
#define TAG_SECOND 0x7f
#define TAG_BYTES  2

/* No message of ours begins with a field of this number: so a tag with changed bits is not mistaken for an a message
 * without a checksum message. */
#define TAG_LEAST 0x78

static uint32_t checksum_of(struct store_bytes key, const uint8_t *value, size_t size, size_t at)
{
    size_t rest = at + STORE_CHECKSUM_BYTES;
    uint32_t sum = crc32c(crc32c(0, key.bytes, key.size), value, at);
    return crc32c(sum, value + rest, size - rest);
}

void store_checksum_write(struct store_bytes key, void *value, size_t size, size_t at)
{
    uint8_t *checksum = (uint8_t *)value + at;
    uint32_t sum = checksum_of(key, value, size, at);
    checksum[0] = TAG_FIRST;
    checksum[1] = TAG_SECOND;
    for (int i = 0; i < 4; i++)
        checksum[TAG_BYTES + i] = (uint8_t)(sum >> 8 * i);
}

enum store_checksum store_checksum_read(struct store_bytes key, struct store_bytes value, size_t at)
{
    const uint8_t *checksum = (const uint8_t *)value.bytes + at;
    if (value.size <= at || checksum[0] < TAG_LEAST)
        return STORE_CHECKSUM_ABSENT;
    if (value.size < at + STORE_CHECKSUM_BYTES || checksum[0] != TAG_FIRST || checksum[1] != TAG_SECOND)
        return STORE_CHECKSUM_MISMATCH;
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum |= (uint32_t)checksum[TAG_BYTES + i] << 8 * i;
    return sum == checksum_of(key, value.bytes, value.size, at) ? STORE_CHECKSUM_VALID : STORE_CHECKSUM_MISMATCH;
}
