/* libFuzzer on the estimate of tokens: any bytes, of which none behind the end is read. */
#include "admission/tokens.h"

#include <stdbool.h>
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    int64_t tokens = tokens_of_text(text, size);
    must(tokens >= 0 && (uint64_t)tokens <= 3 * (uint64_t)size);
    struct token_count count = {0};
    size_t half = size / 2;
    token_count_add(&count, text, half);
    token_count_add(&count, text + half, size - half);
    must(token_count_whole(&count) >= 0 && (uint64_t)token_count_whole(&count) <= 3 * (uint64_t)size);
    return 0;
}
