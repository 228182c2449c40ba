/* With the processor's own instruction if it has one (x86 with SSE 4.2: eight bytes at once), else by a table of one
 * byte a step. */
#include "base/crc32c.h"

#include <pthread.h>
#include <string.h>

#define POLYNOMIAL UINT32_C(0x82f63b78) /* reversed */

static uint32_t table[256];

static void crc32c_make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        table[i] = crc;
    }
}

static uint32_t by_table(uint32_t crc, const uint8_t *at, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, crc32c_make_table);
    for (; size > 0; size--)
        crc = crc >> 8 ^ table[(crc ^ *at++) & 0xff];
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *at, size_t size)
{
    uint64_t wide = crc, word;
    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; size > 0; size--)
        crc = __builtin_ia32_crc32qi(crc, *at++);
    return crc;
}

static uint32_t crc32c_update(uint32_t crc, const uint8_t *at, size_t size)
{
    return __builtin_cpu_supports("sse4.2") ? by_instruction(crc, at, size) : by_table(crc, at, size);
}
#else
static uint32_t crc32c_update(uint32_t crc, const uint8_t *at, size_t size)
{
    return by_table(crc, at, size);
}
#endif

uint32_t crc32c(uint32_t crc, const void *bytes, size_t size)
{
    return size > 0 ? ~crc32c_update(~crc, bytes, size) : crc;
}
