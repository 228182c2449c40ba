#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include "base/trace.h"

void sha256_begin(struct sha256 *sha256)
{
    SHA256_Init(&sha256->state);
}

void sha256_add(struct sha256 *sha256, const void *bytes, size_t size)
{
    SHA256_Update(&sha256->state, bytes, size);
}

void sha256_end(struct sha256 *sha256, uint8_t hash[SHA256_SIZE])
{
    SHA256_Final(hash, &sha256->state);
}

void sha256_of(const void *bytes, size_t size, uint8_t hash[SHA256_SIZE])
{
    struct sha256 sha256;
    sha256_begin(&sha256);
    sha256_add(&sha256, bytes, size);
    sha256_end(&sha256, hash);
}

void sha256_text_of(const void *bytes, size_t size, char text[2 * SHA256_SIZE + 1])
{
    uint8_t hash[SHA256_SIZE];
    sha256_of(bytes, size, hash);
    trace_hex(hash, sizeof hash, text);
}
