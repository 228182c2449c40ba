#include "note_rows.h"

#include "record/row_key.h"
#include "rpc/call.h"
#include "store/checksum.h"

#include <stdbool.h>

static struct row_key note_rows_key_of(const char *tenant, const char *thread, const char *run)
{
    struct row_key key = row_key_make('N', tenant, thread, run);
    if (run)
        row_key_append(&key, "", 1);
    return key;
}

void note_range(struct arena *arena, const char *tenant, const char *thread, const char *run, int32_t step_no,
                struct store_bytes *from, struct store_bytes *to)
{
    struct row_key key = note_rows_key_of(tenant, thread, run);
    row_key_append_number(&key, step_no);
    *from = row_key_copy(arena, &key);
    row_key_append(&key, "", 1);
    *to = row_key_copy(arena, &key);
}

void notes_range(struct arena *arena, const char *tenant, const char *thread, const char *run, struct store_bytes *from,
                 struct store_bytes *to)
{
    struct row_key key = note_rows_key_of(tenant, thread, run);
    row_key_range(arena, &key, from, to);
}

/* ---- the content of a row ---------------------------------------------------------------------------------------- */

static bool note_is_damaged(const struct store_row *row, struct status *st)
{
    size_t size = row->key.size;
    int64_t step = size > sizeof step ? row_key_read_number((const uint8_t *)row->key.bytes + size - sizeof step) : 0;
    return fail(st, DATA_LOSS, "the note of step %lld is damaged in the store", (long long)step);
}

/* Older releases wrote no checksum. */
Renga__V1__Note *note_read(struct arena *arena, const struct store_row *row, struct status *st)
{
    enum store_checksum checksum = store_checksum_read(row->key, row->value, 0);
    size_t at = checksum == STORE_CHECKSUM_VALID ? STORE_CHECKSUM_BYTES : 0;
    if (checksum == STORE_CHECKSUM_MISMATCH) {
        note_is_damaged(row, st);
        return NULL;
    }
    ProtobufCMessage *note = rpc_unpack(&renga__v1__note__descriptor, (const uint8_t *)row->value.bytes + at,
                                        row->value.size - at, arena, st);
    if (!note && st->code != RESOURCE_EXHAUSTED)
        note_is_damaged(row, st);
    return (Renga__V1__Note *)note;
}

struct store_bytes note_write(struct arena *arena, struct store_bytes key, const Renga__V1__Note *note)
{
    size_t size = STORE_CHECKSUM_BYTES + renga__v1__note__get_packed_size(note);
    uint8_t *bytes = arena_alloc(arena, size);
    if (!bytes)
        return (struct store_bytes){NULL, 0};
    renga__v1__note__pack(note, bytes + STORE_CHECKSUM_BYTES);
    store_checksum_write(key, bytes, size, 0);
    return (struct store_bytes){bytes, size};
}
