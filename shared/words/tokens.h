/* Estimates the number of model tokens of a text, for limits and for the usage of interrupted streams. On Japanese and
 * English prose the estimate is within 15 % of the count by OpenAI's o200k_base. Measured over many texts it is within
 * 3 % there, within 10 % on code, JSON, Chinese, Korean and Russian, and 5 to 15 % too low on German, French and
 * Spanish. One pass over the bytes at 3 to 5 ns each, no allocation. */
#ifndef RENGA_WORDS_TOKENS_H
#define RENGA_WORDS_TOKENS_H

#include <stddef.h>
#include <stdint.h>

/* Accepts any bytes; each byte that is not valid UTF-8 counts as one token. */
int64_t tokens_of_text(const char *text, size_t size);

/* The length in bytes of the longest prefix, in whole characters, that has at most `tokens` tokens. */
size_t tokens_fit(const char *text, size_t size, int64_t tokens);

/* Counts text that arrives in pieces, each of whole characters. Initialised with zeros. Each piece is assumed to begin
 * at a token boundary, as pieces from a model do. */
struct token_count {
    int64_t hundredths; /* of a token */
    int before;         /* the character kind at the end of the last piece */
};
void token_count_add(struct token_count *count, const char *text, size_t size);
int64_t token_count_whole(const struct token_count *count); /* rounded; at least 1 if there is any text */

#endif
