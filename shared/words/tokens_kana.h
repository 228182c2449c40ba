/* The kana that o200k_base takes together. For tokens.c alone. */
#ifndef RENGA_WORDS_TOKENS_KANA_H
#define RENGA_WORDS_TOKENS_KANA_H

#include <stddef.h>
#include <stdint.h>

#define KANA_BLOCK 256 /* U+3000 to U+30FF */

/* Bytes of the longest token that `text` begins with. It begins with a whole character of U+3040 to U+30FF. */
size_t kana_token(const uint8_t *text, size_t size);

#endif
