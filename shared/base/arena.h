/* An arena: memory that is given back all at once, with a bound.
 *
 * One belongs to each call and to each parse, and protobuf-c allocates from it. Its contents are never freed by hand.
 * The first block may be the owner's own storage, so that a small call needs no heap. When the limit is reached or
 * memory runs out, allocation returns NULL. The arena then stays marked `exhausted` until it is reset: a caller may
 * make many allocations and check once at the end. AddressSanitizer sees unallocated bytes as poisoned, and so finds a
 * write past an allocation. Not thread-safe: an arena belongs to one loop at a time. */
#ifndef RENGA_BASE_ARENA_H
#define RENGA_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(bytes, size)   ((void)(bytes), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(bytes, size) ((void)(bytes), (void)(size))
#endif

#define ARENA_ALIGNMENT ((size_t)16)

struct arena_block;

struct arena {
    char *next, *end;           /* the rest of the current block */
    struct arena_block *blocks; /* heap blocks, newest first */
    void *storage;              /* the owner's first block, may be NULL */
    size_t storage_size;
    size_t used;  /* bytes taken from the heap */
    size_t limit; /* most bytes taken from the heap */
    bool exhausted;
};

/* `storage` is borrowed until arena_fini and may be NULL with size 0; `limit` is the most bytes the heap may give. */
void arena_init(struct arena *arena, void *storage, size_t storage_size, size_t limit);
void arena_fini(struct arena *arena);

/* Gives back every block; the arena is as after arena_init. */
void arena_reset(struct arena *arena);

/* The slow path of arena_alloc: the current block is too small. */
void *arena_alloc_slow(struct arena *arena, size_t size);

/* `size` bytes aligned for any type, not cleared; NULL when the bound is reached. Size 0 gives a valid pointer. */
static inline void *arena_alloc(struct arena *arena, size_t size)
{
    size_t need = (size + ARENA_ALIGNMENT - 1) & ~(ARENA_ALIGNMENT - 1);
    /* need is 0 for size 0 and after an overflow: less one, both are too large for any block. */
    if (__builtin_expect(need - 1 >= (size_t)(arena->end - arena->next), 0))
        return arena_alloc_slow(arena, size);
    char *bytes = arena->next;
    arena->next += need;
    ASAN_UNPOISON_MEMORY_REGION(bytes, size);
    return bytes;
}

void *arena_zalloc(struct arena *arena, size_t size);
void *arena_copy(struct arena *arena, const void *bytes, size_t size);

/* A NUL-terminated copy of `length` bytes of `text`. */
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list arguments);

#endif
