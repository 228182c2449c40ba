/* Base64 (RFC 4648): written with the standard alphabet and padding, read in both alphabets, padded or not. */
#ifndef RENGA_EDGE_BASE64_H
#define RENGA_EDGE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BASE64_SIZE(bytes) (((bytes) + 2) / 3 * 4)

/* `text` has room for BASE64_SIZE(size) bytes, and is not terminated. */
void base64_encode(const uint8_t *bytes, size_t size, char *text);

/* `bytes` has room for length / 4 * 3 + 3. False: it is not base64. */
bool base64_decode(const char *text, size_t length, uint8_t *bytes, size_t *size);

#endif
