/* SHA-256, for keys, names and checks of content. It is computed by libcrypto's older functions, which need no
 * provider: the first use of the newer ones reads OpenSSL's configuration and takes a millisecond. */
#ifndef RENGA_BASE_SHA256_H
#define RENGA_BASE_SHA256_H

#include <openssl/sha.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE SHA256_DIGEST_LENGTH

struct sha256 {
    SHA256_CTX state;
};

void sha256_begin(struct sha256 *sha256);
void sha256_add(struct sha256 *sha256, const void *bytes, size_t size);
void sha256_end(struct sha256 *sha256, uint8_t hash[SHA256_SIZE]);

void sha256_of(const void *bytes, size_t size, uint8_t hash[SHA256_SIZE]);

/* The same in lower-case hexadecimal digits. */
void sha256_text_of(const void *bytes, size_t size, char text[2 * SHA256_SIZE + 1]);

#endif
