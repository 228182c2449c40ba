#include "tool_list.h"

#include "base/clock.h"
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>

#define KEPT_MS 2000 /* a new tool is offered after that */

struct tool_list {
    pthread_mutex_t lock;
    uint8_t *bytes; /* packed; NULL: none */
    size_t size;
    int64_t kept_ns;
};

struct tool_list *tool_list_create(void)
{
    struct tool_list *list = calloc(1, sizeof *list);
    if (!list)
        fatal("orchestrator.memory", "no memory for the list of tools");
    pthread_mutex_init(&list->lock, NULL);
    return list;
}

void tool_list_destroy(struct tool_list **list)
{
    if (!*list)
        return;
    pthread_mutex_destroy(&(*list)->lock);
    free((*list)->bytes);
    free(*list);
    *list = NULL;
}

static void *allocate(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void release(void *arena, void *bytes)
{
    (void)arena;
    (void)bytes;
}

Renga__V1__ListToolsResponse *tool_list_recall(struct tool_list *list, struct arena *arena)
{
    ProtobufCAllocator allocator = {.alloc = allocate, .free = release, .allocator_data = arena};
    Renga__V1__ListToolsResponse *response = NULL;
    pthread_mutex_lock(&list->lock);
    if (list->bytes && clock_now_ns() - list->kept_ns < KEPT_MS * NS_PER_MS)
        response = renga__v1__list_tools_response__unpack(&allocator, list->size, list->bytes);
    pthread_mutex_unlock(&list->lock);
    return response;
}

void tool_list_keep(struct tool_list *list, const Renga__V1__ListToolsResponse *response)
{
    if (response->n_degradations)
        return;
    size_t size = renga__v1__list_tools_response__get_packed_size(response);
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes)
        return;
    renga__v1__list_tools_response__pack(response, bytes);
    pthread_mutex_lock(&list->lock);
    uint8_t *old = list->bytes;
    list->bytes = bytes;
    list->size = size;
    list->kept_ns = clock_now_ns();
    pthread_mutex_unlock(&list->lock);
    free(old);
}
