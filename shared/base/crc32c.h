/* CRC-32C (Castagnoli, RFC 3720 appendix B.4): finds damage, not malice. Any thread. */
#ifndef RENGA_BASE_CRC32C_H
#define RENGA_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* `crc` is 0 for the first piece, then the result of the piece before. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t size);

#endif
