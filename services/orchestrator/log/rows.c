#include "rows.h"

#include "base/crc32c.h"
#include "base/log.h"
#include "base/text.h"
#include "renga/v1/log.pb-c.h"
#include "rpc/call.h"
#include "rpc/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_LOST "its value is gone from the store"

/* A record of a step with 100,000 branches is read again, so these are wider than those of a call. */
#define ROW_FIELDS_MAX   (1u << 22)
#define ROW_ELEMENTS_MAX (1u << 22)

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const struct {
    enum key_kind kind;
    const char *numbered; /* NULL: its key has no number */
    const char *subject;
} row_kinds[] = {
    {KEY_RECORD, "record", "thread"},
    {KEY_SNAPSHOT, "snapshot", "thread"},
    {KEY_THREAD_RUN, "the name of run", "thread"},
    {KEY_THREAD, NULL, "thread"},
    {KEY_OWNER, NULL, "the owner of thread"},
    {KEY_RUN, NULL, "run"},
    {KEY_REQUEST, NULL, "request"},
    {KEY_CACHED, NULL, "the kept result"},
    {KEY_MEMBER, NULL, "orchestrator"},
    {KEY_CRASHES, NULL, "the crashes of thread"},
};

/* The second name of a key; the first name is the tenant. */
static void rows_take_name(struct store_bytes key, char name[128])
{
    char tenant[STORE_KEY_MAX], whole[STORE_KEY_MAX];
    if (!key_names(key, tenant, sizeof tenant, whole, sizeof whole))
        *whole = '\0';
    size_t size = text_cut(whole, strlen(whole), 127);
    memcpy(name, whole, size);
    name[size] = '\0';
}

const char *row_name(struct store_bytes key, char name[ROW_NAME_MAX])
{
    char own[128];
    rows_take_name(key, own);
    char letter = key.size ? *(const char *)key.bytes : '?';
    snprintf(name, ROW_NAME_MAX, "a row of kind '%c'", letter);
    for (size_t i = 0; i < sizeof row_kinds / sizeof *row_kinds; i++) {
        if (row_kinds[i].kind != (enum key_kind)letter)
            continue;
        if (row_kinds[i].numbered)
            snprintf(name, ROW_NAME_MAX, "%s %llu of %s '%s'", row_kinds[i].numbered,
                     (unsigned long long)key_number(key), row_kinds[i].subject, own);
        else
            snprintf(name, ROW_NAME_MAX, "the row of %s '%s'", row_kinds[i].subject, own);
    }
    return name;
}

static bool row_is_damaged(const struct store_row *row, struct status *st, const char *why)
{
    char name[ROW_NAME_MAX];
    return fail(st, DATA_LOSS, "%s is damaged: %s", row_name(row->key, name), why);
}

/* ---- read -------------------------------------------------------------------------------------------------------- */

/* A row under another row's key belongs to another object. */
static bool has_its_name(const struct store_row *row, const ProtobufCMessage *message)
{
    char own[128];
    rows_take_name(row->key, own);
    if (message->descriptor == &renga__v1__run_row__descriptor)
        return strcmp(((const Renga__V1__RunRow *)message)->run->run_id, own) == 0;
    if (message->descriptor == &renga__v1__thread__descriptor)
        return strcmp(((const Renga__V1__Thread *)message)->thread_id, own) == 0;
    return true;
}

static ProtobufCMessage *rows_unpack(struct arena *arena, const ProtobufCMessageDescriptor *type,
                                     const struct store_row *row, struct store_bytes bytes, struct status *st)
{
    struct status why = {0};
    static const struct rpc_wire_limits limits = {RPC_WIRE_DEPTH_MAX, ROW_FIELDS_MAX, ROW_ELEMENTS_MAX};
    if (!rpc_wire_check(type, bytes.bytes, bytes.size, &limits, &why)) {
        char text[STATUS_TEXT_MAX + STATUS_FIELD_MAX];
        snprintf(text, sizeof text, "%s%s%s", why.field, *why.field ? " " : "", why.text);
        row_is_damaged(row, st, text);
        return NULL;
    }
    ProtobufCAllocator allocator = rpc_arena_allocator(arena);
    ProtobufCMessage *message = protobuf_c_message_unpack(type, &allocator, bytes.size, bytes.bytes);
    if (!message && arena->exhausted)
        fail(st, RESOURCE_EXHAUSTED, "a %s of %zu bytes needs more than %zu bytes of memory", type->short_name,
             bytes.size, arena->limit);
    else if (!message)
        row_is_damaged(row, st, "its bytes are no message");
    return message;
}

void *row_read(struct arena *arena, const ProtobufCMessageDescriptor *type, const struct store_row *row,
               struct status *st)
{
    char what[ROW_WRONG_MAX];
    struct store_bytes bytes = row->value;
    enum store_checksum checksum = store_checksum_read(row->key, bytes, 0);
    if (checksum == STORE_CHECKSUM_MISMATCH) {
        row_is_damaged(row, st, row->lost ? ROW_LOST : "its checksum does not fit its bytes");
        return NULL;
    }
    if (checksum == STORE_CHECKSUM_VALID)
        bytes =
            (struct store_bytes){(const char *)bytes.bytes + STORE_CHECKSUM_BYTES, bytes.size - STORE_CHECKSUM_BYTES};
    ProtobufCMessage *message = rows_unpack(arena, type, row, bytes, st);
    if (!message)
        return NULL;
    if (!row_check(message, what)) {
        row_is_damaged(row, st, what);
        return NULL;
    }
    if (!has_its_name(row, message)) {
        row_is_damaged(row, st, "it belongs to another key");
        return NULL;
    }
    return message;
}

/* ---- written ----------------------------------------------------------------------------------------------------- */

size_t row_put(struct store_batch *batch, const struct key *key, const ProtobufCMessage *message)
{
    size_t size = row_size(message);
    uint8_t *row = row_reserve(batch, key, size);
    if (row) {
        protobuf_c_message_pack(message, row + STORE_CHECKSUM_BYTES);
        row_seal(key, row, size);
    }
    return size;
}

uint8_t *row_reserve(struct store_batch *batch, const struct key *key, size_t size)
{
    return store_put_room(batch, key_bytes(key), size);
}

void row_seal(const struct key *key, uint8_t *row, size_t size)
{
    store_checksum_write(key_bytes(key), row, size, 0);
}

size_t row_size(const ProtobufCMessage *message)
{
    return protobuf_c_message_get_packed_size(message) + STORE_CHECKSUM_BYTES;
}

/* ---- names of runs ----------------------------------------------------------------------------------------------- */

#define NAME_SUM 4 /* bytes behind the last NUL: CRC-32C of key and names; older releases do not read so far */

static uint32_t name_sum(struct store_bytes key, const char *names, size_t size)
{
    return crc32c(crc32c(0, key.bytes, key.size), names, size);
}

void row_put_run_name(struct store_batch *batch, const struct key *key, const char *run_id, const char *version)
{
    char value[ID_MAX + ID_VERSION_MAX + NAME_SUM];
    int size =
        snprintf(value, sizeof value - NAME_SUM, "%.*s%c%.*s", ID_MAX - 1, run_id, 0, ID_VERSION_MAX - 1, version) + 1;
    uint32_t sum = name_sum(key_bytes(key), value, (size_t)size);
    for (int i = 0; i < NAME_SUM; i++)
        value[size + i] = (char)(sum >> 8 * i);
    store_put(batch, key_bytes(key), (struct store_bytes){value, (size_t)size + NAME_SUM});
}

static bool rows_take_text(const char **at, const char *end, char *out, size_t room)
{
    const char *zero = memchr(*at, '\0', (size_t)(end - *at));
    size_t size = zero ? (size_t)(zero - *at) : room;
    if (size >= room || !text_is_clean(*at, size))
        return false;
    memcpy(out, *at, size + 1);
    *at += size + 1;
    return true;
}

bool row_read_run_name(const struct store_row *row, char run_id[ID_MAX], char version[ID_VERSION_MAX],
                       struct status *st)
{
    const char *begin = row->value.bytes, *at = begin, *end = begin + row->value.size;
    if (!rows_take_text(&at, end, run_id, ID_MAX) || !rows_take_text(&at, end, version, ID_VERSION_MAX))
        return row_is_damaged(row, st, row->lost ? ROW_LOST : "it is not two names");
    uint32_t sum = name_sum(row->key, begin, (size_t)(at - begin));
    bool fits = at == end || end - at == NAME_SUM;
    for (int i = 0; fits && at < end && i < NAME_SUM; i++)
        fits = (uint8_t)at[i] == (uint8_t)(sum >> 8 * i);
    return fits || row_is_damaged(row, st, "its checksum does not fit its bytes");
}
