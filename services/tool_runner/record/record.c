#include "record.h"

#include "base/clock.h"
#include "base/sha256.h"
#include "row_key.h"
#include "store/checksum.h"

#include <string.h>

#define FORM       1 /* first byte of a value of C */
#define FENCE_DAYS 30
#define DAY_MS     (INT64_C(24) * 3600 * 1000)

enum { CALL_FORM, CALL_ENDED, CALL_DUE, CALL_DIGEST = CALL_DUE + 8, CALL_RESULT = CALL_DIGEST + RECORD_DIGEST };

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static struct row_key call_key(const struct record_name *name, const char *call_id)
{
    return row_key_make('C', name->tenant, name->key, call_id);
}

static struct row_key thread_key(const struct record_name *name, const char *call_id)
{
    struct row_key key = row_key_make('T', name->tenant, name->thread, name->key);
    row_key_append(&key, "", 1);
    row_key_append(&key, call_id, strlen(call_id));
    return key;
}

static struct row_key due_key(int64_t due_ms, const struct row_key *row)
{
    struct row_key key = {.size = 0};
    row_key_append(&key, "X", 1);
    row_key_append_number(&key, due_ms);
    row_key_append(&key, row->bytes, row->size);
    return key;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

void record_range(struct arena *arena, const struct record_name *name, struct store_bytes *from, struct store_bytes *to)
{
    struct row_key key = row_key_make('C', name->tenant, name->key, NULL);
    row_key_range(arena, &key, from, to);
}

/* Older releases wrote no checksum. */
static struct record_call record_read_call(struct store_bytes key, struct store_bytes value)
{
    const uint8_t *bytes = value.bytes;
    if (value.size < CALL_RESULT || bytes[CALL_FORM] != FORM || bytes[CALL_ENDED] > 1)
        return (struct record_call){.known = true, .damaged = true};
    enum store_checksum checksum = store_checksum_read(key, value, CALL_RESULT);
    size_t result = CALL_RESULT + (checksum == STORE_CHECKSUM_VALID ? STORE_CHECKSUM_BYTES : 0);
    return (struct record_call){
        .known = true,
        .damaged = checksum == STORE_CHECKSUM_MISMATCH,
        .ended = bytes[CALL_ENDED],
        .due_ms = row_key_read_number(bytes + CALL_DUE),
        .digest = bytes + CALL_DIGEST,
        .result = {bytes + result, value.size - result},
    };
}

struct record_call record_find(const struct store_scan *scan, const struct record_name *name, const char *call_id)
{
    struct row_key key = call_key(name, call_id);
    for (size_t i = 0; i < scan->count; i++)
        if (scan->rows[i].key.size == key.size && memcmp(scan->rows[i].key.bytes, key.bytes, key.size) == 0)
            return record_read_call(scan->rows[i].key, scan->rows[i].value);
    return (struct record_call){.known = false};
}

void record_digest(const char *tool, const char *arguments_json, uint8_t digest[RECORD_DIGEST])
{
    uint8_t both[2 * SHA256_SIZE];
    sha256_of(tool, strlen(tool), both);
    sha256_of(arguments_json, strlen(arguments_json), both + SHA256_SIZE);
    sha256_of(both, sizeof both, digest);
}

static struct store_bytes record_write_call(struct arena *arena, const struct row_key *key,
                                            const uint8_t digest[RECORD_DIGEST], int64_t due_ms,
                                            const Renga__V1__ToolResult *result)
{
    size_t size = CALL_RESULT + STORE_CHECKSUM_BYTES + (result ? renga__v1__tool_result__get_packed_size(result) : 0);
    uint8_t *bytes = arena_alloc(arena, size);
    uint64_t due = __builtin_bswap64((uint64_t)due_ms);
    if (!bytes)
        return (struct store_bytes){NULL, 0};
    bytes[CALL_FORM] = FORM;
    bytes[CALL_ENDED] = result != NULL;
    memcpy(bytes + CALL_DUE, &due, sizeof due);
    memcpy(bytes + CALL_DIGEST, digest, RECORD_DIGEST);
    if (result)
        renga__v1__tool_result__pack(result, bytes + CALL_RESULT + STORE_CHECKSUM_BYTES);
    store_checksum_write(row_key_bytes(key), bytes, size, CALL_RESULT);
    return (struct store_bytes){bytes, size};
}

bool record_put(struct store_batch *batch, const struct record_name *name, const char *call_id,
                const uint8_t digest[RECORD_DIGEST], int64_t due_ms, const Renga__V1__ToolResult *result)
{
    struct arena arena;
    struct row_key call = call_key(name, call_id), due = due_key(due_ms, &call);
    arena_init(&arena, NULL, 0, STORE_VALUE_MAX);
    struct store_bytes value = record_write_call(&arena, &call, digest, due_ms, result);
    if (value.bytes) {
        struct row_key about = {.size = 0}; /* the size, then the row of the thread */
        uint64_t when = __builtin_bswap64((uint64_t)due_ms);
        row_key_append_number(&about, (int64_t)value.size);
        if (name->thread[0]) {
            struct row_key thread = thread_key(name, call_id);
            row_key_append(&about, thread.bytes, thread.size);
            store_put(batch, row_key_bytes(&thread), (struct store_bytes){&when, sizeof when});
        }
        if (!result) /* another tool-runner may have the store open too */
            store_expect(batch, row_key_bytes(&call), (struct store_bytes){NULL, 0});
        store_put(batch, row_key_bytes(&call), value);
        store_put(batch, row_key_bytes(&due), row_key_bytes(&about));
    }
    arena_fini(&arena);
    return value.bytes != NULL;
}

void record_forget(struct store_batch *batch, const struct record_name *name, const char *call_id, int64_t due_ms)
{
    struct row_key call = call_key(name, call_id), due = due_key(due_ms, &call);
    store_delete(batch, row_key_bytes(&call));
    store_delete(batch, row_key_bytes(&due));
    if (!name->thread[0])
        return;
    struct row_key thread = thread_key(name, call_id);
    store_delete(batch, row_key_bytes(&thread));
}

/* ---- fencing ----------------------------------------------------------------------------------------------------- */

static struct row_key fence_key(const struct record_name *name)
{
    return row_key_make('F', name->tenant, name->thread, name->run);
}

void record_fence_range(struct arena *arena, const struct record_name *name, struct store_bytes *from,
                        struct store_bytes *to)
{
    struct row_key key = fence_key(name);
    *from = row_key_copy(arena, &key);
    row_key_append(&key, "", 1);
    *to = row_key_copy(arena, &key);
}

int64_t record_fence(const struct store_scan *scan)
{
    if (!scan->count)
        return 0;
    bool whole = scan->rows[0].value.size == 8;
    return whole ? row_key_read_number(scan->rows[0].value.bytes)
                 : INT64_MAX; /* damaged: a tenant with a damaged row is refused */
}

bool record_is_fenced(const struct record_name *name, int64_t token)
{
    return token && (name->thread[0] || name->run[0]);
}

void record_expect_fence(struct store_batch *batch, const struct record_name *name, int64_t token)
{
    struct row_key fence = fence_key(name);
    uint64_t value = __builtin_bswap64((uint64_t)token);
    store_expect(batch, row_key_bytes(&fence), (struct store_bytes){&value, sizeof value});
}

void record_hold_fence(struct store_batch *batch, const struct record_name *name, const struct store_scan *scan)
{
    struct row_key fence = fence_key(name);
    store_expect(batch, row_key_bytes(&fence), scan->count ? scan->rows[0].value : (struct store_bytes){NULL, 0});
}

void record_raise_fence(struct store_batch *batch, const struct record_name *name, const struct store_scan *scan,
                        int64_t token)
{
    struct row_key fence = fence_key(name);
    uint64_t value = __builtin_bswap64((uint64_t)token), size = 0;
    if (!scan->count) {
        struct row_key due = due_key(clock_wall_ns() / NS_PER_MS + FENCE_DAYS * DAY_MS, &fence);
        store_put(batch, row_key_bytes(&due), (struct store_bytes){&size, sizeof size});
    }
    record_hold_fence(batch, name, scan);
    store_put(batch, row_key_bytes(&fence), (struct store_bytes){&value, sizeof value});
}

/* ---- rows that expire -------------------------------------------------------------------------------------------- */

enum { DUE_AT = 1, DUE_ROW = DUE_AT + 8 }; /* in the key */
enum { DUE_BYTES = 0, DUE_THREAD = DUE_BYTES + 8 };

void record_due_range(struct store_bytes *from, struct store_bytes *to)
{
    *from = (struct store_bytes){"X", 1};
    *to = (struct store_bytes){"Y", 1};
}

void record_thread_range(struct arena *arena, const char *tenant, const char *thread, struct store_bytes *from,
                         struct store_bytes *to)
{
    struct row_key key = row_key_make('T', tenant, thread, NULL);
    row_key_range(arena, &key, from, to);
}

struct record_due record_due_of(const struct store_row *row)
{
    const char *key = row->key.bytes;
    return (struct record_due){
        .due_ms = row->key.size > DUE_ROW ? row_key_read_number(key + DUE_AT) : 0,
        .is_call = row->key.size > DUE_ROW && key[DUE_ROW] == 'C',
        .bytes = row->value.size >= DUE_THREAD ? (uint64_t)row_key_read_number(row->value.bytes) : 0,
    };
}

void record_delete_due(struct store_batch *batch, const struct store_row *row)
{
    store_delete(batch, row->key);
    if (row->key.size > DUE_ROW)
        store_delete(batch, (struct store_bytes){(const char *)row->key.bytes + DUE_ROW, row->key.size - DUE_ROW});
    if (row->value.size > DUE_THREAD)
        store_delete(batch,
                     (struct store_bytes){(const char *)row->value.bytes + DUE_THREAD, row->value.size - DUE_THREAD});
}

/* T tenant 0 thread 0 key 0 call: the call's own key is without the thread. */
void record_delete_thread_call(struct store_batch *batch, const struct store_row *row)
{
    const char *tenant = (const char *)row->key.bytes + 1, *end = (const char *)row->key.bytes + row->key.size;
    const char *thread = memchr(tenant, '\0', (size_t)(end - tenant));
    const char *key = thread ? memchr(thread + 1, '\0', (size_t)(end - thread - 1)) : NULL;
    store_delete(batch, row->key);
    if (!key || row->value.size != 8)
        return;
    struct row_key call = {.size = 0};
    row_key_append(&call, "C", 1);
    row_key_append(&call, tenant, (size_t)(thread + 1 - tenant));
    row_key_append(&call, key + 1, (size_t)(end - key - 1));
    struct row_key due = due_key(row_key_read_number(row->value.bytes), &call);
    store_delete(batch, row_key_bytes(&call));
    store_delete(batch, row_key_bytes(&due));
}

void record_delete_fences(struct store_batch *batch, const char *tenant, const char *thread)
{
    struct row_key key = row_key_make('F', tenant, thread, NULL);
    struct row_key behind = key;
    behind.bytes[behind.size - 1] = '\1';
    store_delete_range(batch, row_key_bytes(&key), row_key_bytes(&behind));
}
