/* The kana sequences that are single tokens of o200k_base. Private to tokens.c. */
#ifndef RENGA_WORDS_TOKENS_KANA_H
#define RENGA_WORDS_TOKENS_KANA_H

#include <stddef.h>
#include <stdint.h>

#define KANA_BLOCK 256 /* U+3000 to U+30FF */

/* The length in bytes of the longest token at the start of `text`, which begins with a whole character of U+3040 to
 * U+30FF. */
size_t kana_token(const uint8_t *text, size_t size);

#endif
