#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN ((size_t)4 << 10)  /* bytes, the header included */
#define BLOCK_MAX ((size_t)64 << 10) /* blocks double up to here */

/* The bytes follow the header, which is a multiple of the alignment. */
struct arena_block {
    struct arena_block *older;
    size_t size; /* the header included */
};

_Static_assert(sizeof(struct arena_block) % ARENA_ALIGNMENT == 0, "blocks begin aligned");
_Static_assert(_Alignof(max_align_t) <= ARENA_ALIGNMENT, "aligned for any type");

static void use_storage(struct arena *arena)
{
    char *storage = arena->storage;
    size_t skipped = -(uintptr_t)storage & (ARENA_ALIGNMENT - 1);
    if (storage == NULL || arena->storage_size < skipped) {
        arena->next = arena->end = NULL;
        return;
    }
    arena->next = storage + skipped;
    arena->end = arena->next + ((arena->storage_size - skipped) & ~(ARENA_ALIGNMENT - 1));
    ASAN_POISON_MEMORY_REGION(arena->next, (size_t)(arena->end - arena->next));
}

static void free_blocks(struct arena *arena)
{
    while (arena->blocks != NULL) {
        struct arena_block *block = arena->blocks;
        arena->blocks = block->older;
        free(block);
    }
    arena->used = 0;
}

void arena_init(struct arena *arena, void *storage, size_t storage_size, size_t limit)
{
    *arena = (struct arena){.storage = storage, .storage_size = storage_size, .limit = limit};
    use_storage(arena);
}

void arena_fini(struct arena *arena)
{
    free_blocks(arena);
    if (arena->storage != NULL)
        ASAN_UNPOISON_MEMORY_REGION(arena->storage, arena->storage_size);
    arena->next = arena->end = NULL;
    arena->storage = NULL;
    arena->storage_size = 0;
}

void arena_reset(struct arena *arena)
{
    free_blocks(arena);
    arena->exhausted = false;
    use_storage(arena);
}

static struct arena_block *add_block(struct arena *arena, size_t size)
{
    struct arena_block *block = malloc(size);
    if (block == NULL)
        return NULL;
    block->older = arena->blocks;
    block->size = size;
    arena->blocks = block;
    arena->used += size;
    return block;
}

/* Each block doubles the bytes taken so far, within bounds and never beyond the limit. A request that would fill most
 * of such a block gets one of its own, and the current block stays in use. */
void *arena_alloc_slow(struct arena *arena, size_t size)
{
    if (size == 0)
        return arena_alloc(arena, 1); /* a pointer of its own, from the block at hand */
    size_t left = arena->limit - arena->used;
    if (size > left || left - size < sizeof(struct arena_block) + ARENA_ALIGNMENT) {
        arena->exhausted = true;
        return NULL;
    }
    size_t need = (size + ARENA_ALIGNMENT - 1) & ~(ARENA_ALIGNMENT - 1);

    size_t room = arena->used < BLOCK_MIN ? BLOCK_MIN : arena->used > BLOCK_MAX ? BLOCK_MAX : arena->used;
    if (room > left)
        room = left & ~(ARENA_ALIGNMENT - 1);
    bool own = need > room / 2;
    struct arena_block *block = add_block(arena, own ? need + sizeof *block : room);
    if (block == NULL) {
        arena->exhausted = true;
        return NULL;
    }
    char *bytes = (char *)(block + 1);
    if (!own) {
        arena->next = bytes + need;
        arena->end = (char *)block + block->size;
        ASAN_POISON_MEMORY_REGION(arena->next, (size_t)(arena->end - arena->next));
    }
    return bytes;
}

void *arena_zalloc(struct arena *arena, size_t size)
{
    void *bytes = arena_alloc(arena, size);
    return bytes == NULL ? NULL : memset(bytes, 0, size);
}

void *arena_copy(struct arena *arena, const void *bytes, size_t size)
{
    void *copy = arena_alloc(arena, size);
    if (copy != NULL && size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = length == SIZE_MAX ? NULL : arena_alloc(arena, length + 1);
    if (copy == NULL)
        return NULL;
    if (length > 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list arguments)
{
    char small[256];
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(small, sizeof small, format, again);
    va_end(again);
    if (length < 0)
        return NULL;
    if ((size_t)length < sizeof small)
        return arena_strndup(arena, small, (size_t)length);

    char *text = arena_alloc(arena, (size_t)length + 1);
    if (text != NULL)
        vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}
