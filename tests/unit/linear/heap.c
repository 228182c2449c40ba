#include "heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/* The C library's own, under the names that it keeps for programs that have others. */
extern void *__libc_malloc(size_t size);                     /* NOLINT(bugprone-reserved-identifier) */
extern void *__libc_calloc(size_t count, size_t size);       /* NOLINT(bugprone-reserved-identifier) */
extern void *__libc_realloc(void *bytes, size_t size);       /* NOLINT(bugprone-reserved-identifier) */
extern void *__libc_memalign(size_t alignment, size_t size); /* NOLINT(bugprone-reserved-identifier) */
extern void __libc_free(void *bytes);                        /* NOLINT(bugprone-reserved-identifier) */

static atomic_size_t taken, peak, marked;

static void count_peak(size_t now)
{
    size_t before = atomic_load_explicit(&peak, memory_order_relaxed);
    while (now > before &&
           !atomic_compare_exchange_weak_explicit(&peak, &before, now, memory_order_relaxed, memory_order_relaxed))
        continue;
}

static void *heap_taken(void *bytes)
{
    if (bytes) {
        size_t size = malloc_usable_size(bytes);
        count_peak(atomic_fetch_add_explicit(&taken, size, memory_order_relaxed) + size);
    }
    return bytes;
}

static void heap_given_back(void *bytes)
{
    if (bytes)
        atomic_fetch_sub_explicit(&taken, malloc_usable_size(bytes), memory_order_relaxed);
}

void *malloc(size_t size)
{
    return heap_taken(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return heap_taken(__libc_calloc(count, size));
}

void *realloc(void *bytes, size_t size)
{
    size_t before = bytes ? malloc_usable_size(bytes) : 0;
    void *moved = __libc_realloc(bytes, size);
    if (moved || !size)
        atomic_fetch_sub_explicit(&taken, before, memory_order_relaxed);
    return heap_taken(moved);
}

void free(void *bytes)
{
    heap_given_back(bytes);
    __libc_free(bytes);
}

void *memalign(size_t alignment, size_t size)
{
    return heap_taken(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return heap_taken(__libc_memalign(alignment, size));
}

int posix_memalign(void **bytes, size_t alignment, size_t size)
{
    *bytes = heap_taken(__libc_memalign(alignment, size));
    return *bytes ? 0 : ENOMEM;
}

void heap_mark(void)
{
    size_t now = atomic_load_explicit(&taken, memory_order_relaxed);
    atomic_store_explicit(&marked, now, memory_order_relaxed);
    atomic_store_explicit(&peak, now, memory_order_relaxed);
}

size_t heap_peak(void)
{
    size_t most = atomic_load_explicit(&peak, memory_order_relaxed);
    size_t before = atomic_load_explicit(&marked, memory_order_relaxed);
    return most > before ? most - before : 0;
}
