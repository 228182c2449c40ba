#include "playbook_rows.h"

#include "record/row_key.h"
#include "rpc/call.h"
#include "store/checksum.h"

#include <string.h>

#define FORM 1 /* first byte of a head */

_Static_assert(STORE_CHECKSUM_BYTES == 6, "PLAYBOOK_HEAD_SIZE has the checksum");
_Static_assert(sizeof(struct playbook_head) == PLAYBOOK_HEAD_NUMBERS * 8, "a head is written as its numbers");

/* ---- heads ------------------------------------------------------------------------------------------------------- */

void playbook_head_range(struct arena *arena, const struct playbook_key *key, struct store_bytes *from,
                         struct store_bytes *to)
{
    struct row_key row = row_key_make('P', key->tenant, "h", key->dataset);
    *from = row_key_copy(arena, &row);
    row_key_append(&row, "", 1);
    *to = row_key_copy(arena, &row);
}

void playbook_heads_range(struct arena *arena, const char *tenant, const char *after, struct store_bytes *from,
                          struct store_bytes *to)
{
    struct row_key all = row_key_make('P', tenant, "h", NULL);
    row_key_range(arena, &all, from, to);
    if (!after)
        return;
    struct row_key row = row_key_make('P', tenant, "h", after);
    row_key_append(&row, "", 1);
    *from = row_key_copy(arena, &row);
}

const char *playbook_head_dataset(struct arena *arena, const char *tenant, const struct store_row *row)
{
    struct row_key all = row_key_make('P', tenant, "h", NULL);
    return arena_strndup(arena, (const char *)row->key.bytes + all.size, row->key.size - all.size);
}

bool playbook_head_read(const struct store_row *row, struct playbook_head *head)
{
    const uint8_t *bytes = row->value.bytes;
    int64_t numbers[PLAYBOOK_HEAD_NUMBERS];
    if (row->lost || row->value.size != PLAYBOOK_HEAD_SIZE || bytes[0] != FORM ||
        store_checksum_read(row->key, row->value, PLAYBOOK_HEAD_SIZE - STORE_CHECKSUM_BYTES) != STORE_CHECKSUM_VALID)
        return false;
    for (size_t i = 0; i < PLAYBOOK_HEAD_NUMBERS; i++)
        numbers[i] = row_key_read_number(bytes + 1 + 8 * i);
    memcpy(head, numbers, sizeof *head);
    return true;
}

void playbook_head_write(struct store_bytes key, const struct playbook_head *head, uint8_t bytes[PLAYBOOK_HEAD_SIZE])
{
    int64_t numbers[PLAYBOOK_HEAD_NUMBERS];
    memcpy(numbers, head, sizeof numbers);
    bytes[0] = FORM;
    for (size_t i = 0; i < PLAYBOOK_HEAD_NUMBERS; i++) {
        uint64_t big = __builtin_bswap64((uint64_t)numbers[i]);
        memcpy(bytes + 1 + 8 * i, &big, sizeof big);
    }
    store_checksum_write(key, bytes, PLAYBOOK_HEAD_SIZE, PLAYBOOK_HEAD_SIZE - STORE_CHECKSUM_BYTES);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static struct row_key rows_key(const struct playbook_key *key)
{
    struct row_key row = row_key_make('P', key->tenant, "d", key->dataset);
    row_key_append(&row, "", 1);
    return row;
}

void playbook_all_range(struct arena *arena, const struct playbook_key *key, struct store_bytes *from,
                        struct store_bytes *to)
{
    struct row_key row = rows_key(key);
    row_key_range(arena, &row, from, to);
}

void playbook_rows_range(struct arena *arena, const struct playbook_key *key, char letter, struct store_bytes *from,
                         struct store_bytes *to)
{
    struct row_key row = rows_key(key);
    char next = (char)(letter + 1);
    row_key_append(&row, &letter, 1);
    *from = row_key_copy(arena, &row);
    row.size--;
    row_key_append(&row, &next, 1);
    *to = row_key_copy(arena, &row);
}

struct store_bytes playbook_row_key(struct arena *arena, const struct playbook_key *key, char letter, int64_t number,
                                    const char *text)
{
    struct row_key row = rows_key(key);
    row_key_append(&row, &letter, 1);
    if (number >= 0)
        row_key_append_number(&row, number);
    row_key_append(&row, text, strlen(text));
    return row_key_copy(arena, &row);
}

bool playbook_row_number(const struct playbook_key *key, const struct store_row *row, int64_t *number,
                         struct store_bytes *text)
{
    struct row_key all = rows_key(key);
    size_t head = all.size + 1 + sizeof *number;
    if (row->key.size < head)
        return false;
    const char *bytes = row->key.bytes;
    *number = row_key_read_number(bytes + all.size + 1);
    *text = (struct store_bytes){bytes + head, row->key.size - head};
    return *number >= 0;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

struct store_bytes playbook_value_write(struct arena *arena, struct store_bytes key, const void *head, size_t head_size,
                                        const ProtobufCMessage *message)
{
    size_t size = head_size + STORE_CHECKSUM_BYTES + (message ? protobuf_c_message_get_packed_size(message) : 0);
    uint8_t *bytes = arena_alloc(arena, size);
    if (!bytes || !key.bytes)
        return (struct store_bytes){NULL, 0};
    if (head_size)
        memcpy(bytes, head, head_size);
    if (message)
        protobuf_c_message_pack(message, bytes + head_size + STORE_CHECKSUM_BYTES);
    store_checksum_write(key, bytes, size, head_size);
    return (struct store_bytes){bytes, size};
}

bool playbook_value_is_whole(const struct store_row *row, size_t head_size)
{
    return !row->lost && row->value.size >= head_size + STORE_CHECKSUM_BYTES &&
           store_checksum_read(row->key, row->value, head_size) == STORE_CHECKSUM_VALID;
}

ProtobufCMessage *playbook_value_read(struct arena *arena, const struct store_row *row, size_t head_size,
                                      const ProtobufCMessageDescriptor *descriptor)
{
    struct status ignored = {0};
    size_t at = head_size + STORE_CHECKSUM_BYTES;
    if (!playbook_value_is_whole(row, head_size))
        return NULL;
    return rpc_unpack(descriptor, (const uint8_t *)row->value.bytes + at, row->value.size - at, arena, &ignored);
}
