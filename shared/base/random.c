/* xoshiro256++ (Blackman and Vigna, https://prng.di.unimi.it), one generator a thread. */
#include "base/random.h"

#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

static _Thread_local uint64_t state[4];
static _Thread_local bool seeded;

static void forget_seed(void)
{
    seeded = false;
}

/* A forked child would otherwise repeat its parent's numbers. */
static void seed_again_after_fork(void)
{
    pthread_atfork(NULL, NULL, forget_seed);
}

static void seed(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, seed_again_after_fork);

    ssize_t got;
    do {
        got = getrandom(state, sizeof state, 0);
    } while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof state)
        fatal("random.no_seed", "the kernel gave no random bytes: %s", strerror(errno));
    seeded = true;
}

static inline uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

uint64_t random_u64(void)
{
    if (__builtin_expect(!seeded, 0))
        seed();
    uint64_t result = rotate(state[0] + state[3], 23) + state[0];
    uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate(state[3], 45);
    return result;
}

/* The upper half of a product is uniform after dropping the products with a lower half below 2^64 mod bound (Lemire,
 * https://arxiv.org/abs/1805.10941). */
uint64_t random_below(uint64_t bound)
{
    if (bound == 0)
        return 0;
    unsigned __int128 product = (unsigned __int128)random_u64() * bound;
    if ((uint64_t)product < bound) {
        uint64_t dropped = -bound % bound;
        while ((uint64_t)product < dropped)
            product = (unsigned __int128)random_u64() * bound;
    }
    return (uint64_t)(product >> 64);
}
