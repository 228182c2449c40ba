#include "usage/price.h"

#define TOKENS_PRICED 1000000 /* a price is for so many */

static int64_t price_within(int64_t count, int64_t most)
{
    return count < 0 ? 0 : count > most ? most : count;
}

int64_t price_of(const struct price *price, const Renga__V1__Usage *usage)
{
    if (!price || !usage)
        return 0;
    int64_t input = price_within(usage->input_tokens, INT64_MAX),
            output = price_within(usage->output_tokens, INT64_MAX);
    int64_t cached = price_within(usage->cached_input_tokens, input);
    int64_t stored = price_within(usage->cache_write_tokens, input - cached);
    /* Four products of two int64_t are at most 2^128 / 4, a __int128 holds half of 2^128. */
    __int128 whole = (__int128)(input - cached - stored) * price->input_micros;
    whole += (__int128)cached * price->cached_input_micros;
    whole += (__int128)stored * price->cache_write_micros;
    whole += (__int128)output * price->output_micros;
    __int128 micros = (whole + TOKENS_PRICED - 1) / TOKENS_PRICED;
    return whole <= 0 ? 0 : micros > INT64_MAX ? INT64_MAX : (int64_t)micros;
}
