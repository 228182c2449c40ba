/* A loop's view of a batch before its commit: operations in the batch's own arena. */
#include "store/store_priv.h"

#include <stdio.h>

#define ARENA_MAX                                                                                                      \
    ((size_t)STORE_BATCH_MAX * 2) /* bytes; many small operations cost more than their keys and values                 \
                                   */

#define KEY_SHOWN 24 /* bytes of a key in an error */

void store_batch_init(struct store_batch *batch, struct loop *loop, void (*committed)(struct store_batch *batch))
{
    *batch = (struct store_batch){.loop = loop, .committed = committed};
    arena_init(&batch->arena, NULL, 0, ARENA_MAX);
}

void store_batch_use(struct store_batch *batch, void *storage, size_t size)
{
    arena_init(&batch->arena, storage, size, ARENA_MAX);
}

void store_batch_fini(struct store_batch *batch)
{
    arena_fini(&batch->arena);
    batch->first = batch->last = NULL;
}

static bool sizes_fit(struct store_batch *batch, enum store_verb verb, size_t key, size_t value)
{
    bool range = verb == STORE_DELETE_RANGE;
    size_t key_max = range ? STORE_BOUND_MAX : STORE_KEY_MAX, value_max = range ? STORE_BOUND_MAX : STORE_VALUE_MAX;
    if (key > key_max)
        return fail(&batch->status, RESOURCE_EXHAUSTED, "a key of %zu bytes; the most is %zu", key, key_max);
    if (value > value_max)
        return fail(&batch->status, RESOURCE_EXHAUSTED, "a value of %zu bytes; the most is %zu", value, value_max);
    if (batch->bytes + key + value > STORE_BATCH_MAX)
        return fail(&batch->status, RESOURCE_EXHAUSTED, "a batch of more than %u bytes", STORE_BATCH_MAX);
    return true;
}

static struct store_bytes batch_copy(struct arena *arena, struct store_bytes bytes)
{
    return (struct store_bytes){arena_copy(arena, bytes.bytes, bytes.size), bytes.size};
}

/* NULL: the batch has failed. */
static struct store_operation *batch_add_key(struct store_batch *batch, enum store_verb verb, struct store_bytes key,
                                             size_t value)
{
    if (batch->status.code != OK || !sizes_fit(batch, verb, key.size, value))
        return NULL;
    struct store_operation *operation = arena_alloc(&batch->arena, sizeof *operation);
    if (operation != NULL)
        *operation = (struct store_operation){.verb = verb, .key = batch_copy(&batch->arena, key)};
    return operation;
}

static bool add_last(struct store_batch *batch, struct store_operation *operation)
{
    if (batch->arena.exhausted)
        return fail(&batch->status, RESOURCE_EXHAUSTED, "no memory for a batch of %zu bytes", batch->bytes);
    batch->bytes += operation->key.size + operation->value.size;
    if (batch->last != NULL)
        batch->last->next = operation;
    else
        batch->first = operation;
    batch->last = operation;
    return true;
}

static void batch_add_operation(struct store_batch *batch, enum store_verb verb, struct store_bytes key,
                                struct store_bytes value)
{
    struct store_operation *operation = batch_add_key(batch, verb, key, value.size);
    bool absent = verb == STORE_EXPECT && value.bytes == NULL;
    if (operation != NULL && !absent)
        operation->value = batch_copy(&batch->arena, value);
    if (batch->status.code == OK)
        add_last(batch, operation);
}

void *store_put_room(struct store_batch *batch, struct store_bytes key, size_t size)
{
    struct store_operation *operation = batch_add_key(batch, STORE_PUT, key, size);
    void *room = operation != NULL ? arena_alloc(&batch->arena, size) : NULL;
    if (operation != NULL)
        operation->value = (struct store_bytes){room, size};
    return batch->status.code == OK && add_last(batch, operation) ? room : NULL;
}

void store_put(struct store_batch *batch, struct store_bytes key, struct store_bytes value)
{
    batch_add_operation(batch, STORE_PUT, key, value);
}

void store_delete(struct store_batch *batch, struct store_bytes key)
{
    batch_add_operation(batch, STORE_DELETE, key, (struct store_bytes){NULL, 0});
}

void store_delete_range(struct store_batch *batch, struct store_bytes from, struct store_bytes to)
{
    batch_add_operation(batch, STORE_DELETE_RANGE, from, to);
}

void store_expect(struct store_batch *batch, struct store_bytes key, struct store_bytes value)
{
    batch_add_operation(batch, STORE_EXPECT, key, value);
}

void store_forget(struct store_batch *batch)
{
    batch->forgets = true;
}

void store_batch_abort(struct store_batch *batch, struct store_bytes key)
{
    char shown[KEY_SHOWN + 1];
    size_t length = key.size < KEY_SHOWN ? key.size : KEY_SHOWN;
    for (size_t i = 0; i < length; i++) {
        char byte = ((const char *)key.bytes)[i];
        shown[i] = byte >= ' ' && byte <= '~' ? byte : '.';
    }
    shown[length] = '\0';
    fail(&batch->status, ABORTED, "key '%s%s' has another value than the batch expects", shown,
         key.size > length ? "…" : "");
}
