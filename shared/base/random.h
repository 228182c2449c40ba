/* Random numbers for ids, jitter and sampling: unpredictable enough to be unique, not for keys. */
#ifndef RENGA_BASE_RANDOM_H
#define RENGA_BASE_RANDOM_H

#include <stdint.h>

/* 64 bits from a generator of the thread's own, seeded by the kernel. */
uint64_t random_u64(void);

/* Uniform in [0, bound); 0 for bound 0. */
uint64_t random_below(uint64_t bound);

#endif
