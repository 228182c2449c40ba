/* Heap memory that the process cannot go on without. When memory runs out these functions log "base.memory" and end the
 * process; they never return NULL. Free the memory with free(). Any thread. */
#ifndef RENGA_BASE_MEMORY_H
#define RENGA_BASE_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct status;

/* For memory that another function has allocated: NULL and failed buffers. */
_Noreturn void memory_exhausted(void);

/* For memory that only a request needs: fills `st` with RESOURCE_EXHAUSTED, "no memory for the flags"; returns false.
 */
bool fail_memory(struct status *st, const char *purpose);

static inline void *xnonnull(void *memory)
{
    if (__builtin_expect(memory == NULL, 0))
        memory_exhausted();
    return memory;
}

static inline void *xmalloc(size_t size)
{
    return xnonnull(malloc(size));
}

static inline void *xcalloc(size_t count, size_t size)
{
    return xnonnull(calloc(count, size));
}

static inline void *xrealloc(void *memory, size_t size)
{
    return xnonnull(realloc(memory, size));
}

static inline char *xstrdup(const char *text)
{
    return xnonnull(strdup(text));
}

#endif
