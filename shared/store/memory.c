/* "memory:", for tests and for data that may be lost. A transaction is prepared (expectations, memory) batch by batch,
 * and applied when it cannot fail any more. */
#include "store/ordered.h"
#include "store/store_priv.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct memory {
    pthread_rwlock_t lock; /* the writer's thread alone changes the map */
    struct ordered map;
};

static void *memory_open(const char *url, struct status *st)
{
    if (strcmp(url, "memory:") != 0) {
        fail(st, INVALID_ARGUMENT, "'%s' is no store; 'memory:' stands alone", url);
        return NULL;
    }
    struct memory *memory = malloc(sizeof *memory);
    if (memory == NULL) {
        fail_memory(st, "a store");
        return NULL;
    }
    pthread_rwlock_init(&memory->lock, NULL);
    ordered_init(&memory->map);
    return memory;
}

static void memory_close(void *engine)
{
    struct memory *memory = engine;
    pthread_rwlock_destroy(&memory->lock);
    ordered_fini(&memory->map);
    free(memory);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static bool as_expected(const struct ordered *map, const struct store_operation *expectation)
{
    const struct ordered_node *node = ordered_find(map, expectation->key);
    if (node == NULL || expectation->value.bytes == NULL)
        return node == NULL && expectation->value.bytes == NULL;
    return store_bytes_compare(node->value, expectation->value) == 0;
}

static bool expectations_hold(const struct ordered *map, struct store_batch *batch)
{
    for (const struct store_operation *operation = batch->first; operation != NULL; operation = operation->next)
        if (operation->verb == STORE_EXPECT && !as_expected(map, operation)) {
            store_batch_abort(batch, operation->key);
            return false;
        }
    return true;
}

static void free_nodes(struct ordered_node *nodes)
{
    for (struct ordered_node *next; nodes != NULL; nodes = next) {
        next = nodes->next[0];
        free(nodes);
    }
}

/* The nodes of the batch's puts in their order, chained by their lowest level. */
static bool memory_prepare(struct ordered *map, const struct store_batch *batch, struct ordered_node **nodes)
{
    *nodes = NULL;
    struct ordered_node **end = nodes;
    for (const struct store_operation *operation = batch->first; operation != NULL; operation = operation->next) {
        if (operation->verb != STORE_PUT)
            continue;
        struct ordered_node *node = ordered_node_create(map, operation->key, operation->value);
        if (node == NULL) {
            free_nodes(*nodes);
            return false;
        }
        node->next[0] = NULL;
        *end = node;
        end = &node->next[0];
    }
    return true;
}

static void memory_carry_out(struct ordered *map, const struct store_batch *batch, struct ordered_node *nodes)
{
    for (const struct store_operation *operation = batch->first; operation != NULL; operation = operation->next) {
        if (operation->verb == STORE_PUT) {
            struct ordered_node *node = nodes;
            nodes = node->next[0];
            ordered_put(map, node);
        } else if (operation->verb == STORE_DELETE) {
            ordered_delete(map, operation->key);
        } else if (operation->verb == STORE_DELETE_RANGE) {
            ordered_delete_range(map, operation->key, operation->value);
        }
    }
}

/* A batch without memory fails alone: there is no disk transaction that would end for all. */
static bool memory_write(void *engine, struct store_batch *batches, struct status *st)
{
    struct memory *memory = engine;
    for (struct store_batch *batch = batches; batch != NULL; batch = batch->next) {
        struct ordered_node *nodes;
        if (!expectations_hold(&memory->map, batch))
            continue;
        if (!memory_prepare(&memory->map, batch, &nodes)) {
            fail(&batch->status, UNAVAILABLE, "no memory for a batch of %zu bytes", batch->bytes);
            continue;
        }
        pthread_rwlock_wrlock(&memory->lock);
        memory_carry_out(&memory->map, batch, nodes);
        pthread_rwlock_unlock(&memory->lock);
    }
    return true;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool memory_within(const struct store_scan *scan, const struct ordered_node *node)
{
    return store_bytes_compare(node->key, scan->from) >= 0 &&
           (scan->to.size == 0 || store_bytes_compare(node->key, scan->to) < 0);
}

static void memory_scan(void *engine, unsigned reader, struct store_scan *scan)
{
    struct memory *memory = engine;
    pthread_rwlock_rdlock(&memory->lock);
    const struct ordered_node *node =
        scan->backwards ? ordered_before(&memory->map, scan->to) : ordered_from(&memory->map, scan->from);
    while (node != NULL && memory_within(scan, node) && store_scan_add(scan, node->key, node->value))
        node = scan->backwards ? node->previous : node->next[0];
    pthread_rwlock_unlock(&memory->lock);
}

const struct store_kind store_memory = {
    .schemes = {"memory:"},
    .open = memory_open,
    .close = memory_close,
    .write = memory_write,
    .scan = memory_scan,
};
