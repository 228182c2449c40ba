/* SipHash-1-3 (Aumasson and Bernstein, https://www.aumasson.jp/siphash/siphash.pdf). */
#include "base/hash.h"

#include "base/random.h"

#include <pthread.h>
#include <string.h>

struct sip {
    uint64_t a, b, c, d;
};

static uint64_t key[2];

static void key_draw(void)
{
    key[0] = random_u64();
    key[1] = random_u64();
}

static inline uint64_t hash_rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static inline void sip_round(struct sip *sip)
{
    sip->a += sip->b;
    sip->c += sip->d;
    sip->b = hash_rotate(sip->b, 13) ^ sip->a;
    sip->d = hash_rotate(sip->d, 16) ^ sip->c;
    sip->a = hash_rotate(sip->a, 32);
    sip->c += sip->b;
    sip->a += sip->d;
    sip->b = hash_rotate(sip->b, 17) ^ sip->c;
    sip->d = hash_rotate(sip->d, 21) ^ sip->a;
    sip->c = hash_rotate(sip->c, 32);
}

static inline void sip_word(struct sip *sip, uint64_t word)
{
    sip->d ^= word;
    sip_round(sip);
    sip->a ^= word;
}

uint64_t hash_more(uint64_t before, const void *bytes, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, key_draw);
    const unsigned char *at = bytes;
    uint64_t first = key[0] ^ before, word, last = (uint64_t)size << 56;
    struct sip sip = {.a = first ^ UINT64_C(0x736f6d6570736575),
                      .b = key[1] ^ UINT64_C(0x646f72616e646f6d),
                      .c = first ^ UINT64_C(0x6c7967656e657261),
                      .d = key[1] ^ UINT64_C(0x7465646279746573)};
    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        sip_word(&sip, word);
    }
    for (size_t i = 0; i < size; i++)
        last |= (uint64_t)at[i] << (8 * i);
    sip_word(&sip, last);
    sip.c ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(&sip);
    return sip.a ^ sip.b ^ sip.c ^ sip.d;
}

uint64_t hash_bytes(const void *bytes, size_t size)
{
    return hash_more(0, bytes, size);
}

uint64_t hash_text(const char *text)
{
    return hash_more(0, text, strlen(text));
}

uint64_t hash_more_text(uint64_t before, const char *text)
{
    return hash_more(before, text, strlen(text));
}
