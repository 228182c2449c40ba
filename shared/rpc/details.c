#include "rpc/details.h"

#include "base/text.h"
#include "rpc/wire.h"
#include "rpc/wire_writer.h"

#include <string.h>

/* Field numbers of google/rpc/status.proto, google/rpc/error_details.proto and two of google/protobuf. */
enum { STATUS_CODE_FIELD = 1, STATUS_MESSAGE = 2, STATUS_DETAILS = 3 };
enum { ANY_TYPE_URL = 1, ANY_VALUE = 2 };
enum { BAD_REQUEST_VIOLATION = 1 };
enum { VIOLATION_FIELD = 1, VIOLATION_DESCRIPTION = 2 };
enum { RETRY_INFO_DELAY = 1 };
enum { DURATION_SECONDS = 1, DURATION_NANOS = 2 };

static const char bad_request_url[] = "type.googleapis.com/google.rpc.BadRequest";
static const char retry_info_url[] = "type.googleapis.com/google.rpc.RetryInfo";

/* Wraps the bytes written since `end` as a detail. */
static void put_detail(struct rpc_wire_writer *writer, size_t end, const char *type_url)
{
    rpc_wire_put_header(writer, ANY_VALUE, writer->used - end);
    rpc_wire_put_text(writer, ANY_TYPE_URL, type_url);
    rpc_wire_put_header(writer, STATUS_DETAILS, writer->used - end);
}

/* The text without the field's name that fail_field puts in front. */
static const char *description(const struct status *st)
{
    size_t length = strlen(st->field);
    if (strncmp(st->text, st->field, length) == 0 && strncmp(st->text + length, ": ", 2) == 0)
        return st->text + length + 2;
    return st->text;
}

static void put_bad_request(struct rpc_wire_writer *writer, const struct status *st)
{
    size_t end = writer->used;
    rpc_wire_put_text(writer, VIOLATION_DESCRIPTION, description(st));
    rpc_wire_put_text(writer, VIOLATION_FIELD, st->field);
    rpc_wire_put_header(writer, BAD_REQUEST_VIOLATION, writer->used - end);
    put_detail(writer, end, bad_request_url);
}

static void put_added(struct rpc_wire_writer *writer, const struct rpc_detail *detail)
{
    size_t end = writer->used;
    rpc_wire_put_raw(writer, detail->bytes, detail->size);
    put_detail(writer, end, detail->type_url);
}

size_t rpc_details_encode(const struct status *st, const struct rpc_detail *added, struct arena *arena,
                          const void **details)
{
    uint8_t buffer[RPC_DETAILS_MAX];
    struct rpc_wire_writer writer = {.buffer = buffer, .size = sizeof buffer};
    bool marked = st->code == UNAVAILABLE; /* details.h */
    if (st->code == OK || (!added && st->field[0] == '\0' && st->retry_after_ms <= 0 && !marked))
        return 0;
    if (st->retry_after_ms > 0) {
        int32_t retry_after_ms = st->retry_after_ms;
        size_t end = writer.used;
        if (retry_after_ms % 1000 != 0)
            rpc_wire_put_varint(&writer, DURATION_NANOS, (uint64_t)(retry_after_ms % 1000) * 1000000);
        if (retry_after_ms >= 1000)
            rpc_wire_put_varint(&writer, DURATION_SECONDS, (uint64_t)retry_after_ms / 1000);
        rpc_wire_put_header(&writer, RETRY_INFO_DELAY, writer.used - end);
        put_detail(&writer, end, retry_info_url);
    }
    if (st->field[0] != '\0')
        put_bad_request(&writer, st);
    for (; added; added = added->next)
        put_added(&writer, added);
    rpc_wire_put_text(&writer, STATUS_MESSAGE, st->text);
    rpc_wire_put_varint(&writer, STATUS_CODE_FIELD, st->code);
    *details = writer.full ? NULL : arena_copy(arena, rpc_wire_written(&writer), writer.used);
    return *details ? writer.used : 0;
}

/* ---- Decoding --------------------------------------------------------------------------------------------------- */

/* The last field `number` of a message that has this type; false if it is missing. */
static bool details_find(const uint8_t *bytes, size_t size, uint32_t number, enum rpc_wire_type type,
                         struct rpc_wire_field *found)
{
    struct rpc_wire wire = rpc_wire_over(bytes, size);
    struct rpc_wire_field field;
    bool any = false;
    while (rpc_wire_next(&wire, &field)) {
        if (field.number == number && field.type == type) {
            *found = field;
            any = true;
        }
    }
    return any && !wire.error;
}

static void details_take_text(const struct rpc_wire_field *field, char *out, size_t room)
{
    const char *text = (const char *)field->bytes;
    if (!text_is_clean(text, field->size))
        return;
    size_t length = text_cut(text, field->size, room - 1);
    memcpy(out, text, length);
    out[length] = '\0';
}

static void take_retry_info(const uint8_t *bytes, size_t size, struct status *st)
{
    struct rpc_wire_field delay, part;
    int64_t ms = 0;
    if (!details_find(bytes, size, RETRY_INFO_DELAY, RPC_WIRE_BYTES, &delay))
        return;
    if (details_find(delay.bytes, delay.size, DURATION_SECONDS, RPC_WIRE_VARINT, &part))
        ms = part.value > INT32_MAX ? INT32_MAX : (int64_t)part.value * 1000;
    if (details_find(delay.bytes, delay.size, DURATION_NANOS, RPC_WIRE_VARINT, &part) && part.value < 1000000000)
        ms += (int64_t)(part.value + 999999) / 1000000;
    st->retry_after_ms = ms > INT32_MAX ? INT32_MAX : (int32_t)ms;
}

/* The first violation: there is room for one, and servers put the most important first. */
static void take_bad_request(const uint8_t *bytes, size_t size, struct status *st)
{
    struct rpc_wire wire = rpc_wire_over(bytes, size);
    struct rpc_wire_field field, name;
    while (rpc_wire_next(&wire, &field)) {
        if (field.number == BAD_REQUEST_VIOLATION && field.type == RPC_WIRE_BYTES &&
            details_find(field.bytes, field.size, VIOLATION_FIELD, RPC_WIRE_BYTES, &name)) {
            details_take_text(&name, st->field, sizeof st->field);
            return;
        }
    }
}

static void details_take_detail(const uint8_t *bytes, size_t size, struct status *st)
{
    struct rpc_wire_field url, value;
    if (!details_find(bytes, size, ANY_TYPE_URL, RPC_WIRE_BYTES, &url) ||
        !details_find(bytes, size, ANY_VALUE, RPC_WIRE_BYTES, &value))
        return;
    if (url.size == sizeof retry_info_url - 1 && memcmp(url.bytes, retry_info_url, url.size) == 0)
        take_retry_info(value.bytes, value.size, st);
    else if (url.size == sizeof bad_request_url - 1 && memcmp(url.bytes, bad_request_url, url.size) == 0)
        take_bad_request(value.bytes, value.size, st);
}

void rpc_details_decode(const void *details, size_t size, struct status *st)
{
    struct rpc_wire wire = rpc_wire_over(details, size);
    struct rpc_wire_field field;
    while (rpc_wire_next(&wire, &field)) {
        if (field.type != RPC_WIRE_BYTES)
            continue;
        if (field.number == STATUS_DETAILS)
            details_take_detail(field.bytes, field.size, st);
        else if (field.number == STATUS_MESSAGE && st->text[0] == '\0')
            details_take_text(&field, st->text, sizeof st->text);
    }
}
