#include "message_bounds.h"

#include "base/text.h"
#include "json/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS           "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS            "0123456789"
#define NO_ITEM           SIZE_MAX
#define LANGUAGE_PART_MAX 8
#define KEY_SHOWN_MAX     64  /* bytes of a map's key in an error */
#define VALUES_BYTES      384 /* of the names of an enum's values in an error */

/* The way to a field; written as a path only for an error. */
struct bounds_place {
    const struct bounds_place *outer; /* NULL in the request itself */
    const ProtobufCFieldDescriptor *field;
    const struct field_bounds *bounds;
    size_t item; /* NO_ITEM: not one of a list */
};

static bool bounds_check_fields(const ProtobufCMessage *message, const struct message_bounds *bounds,
                                const struct bounds_place *outer, struct status *st);

static size_t bounds_path(const struct bounds_place *place, char path[STATUS_FIELD_MAX])
{
    size_t used = 0;
    if (place->outer) {
        used = bounds_path(place->outer, path);
        used += (size_t)snprintf(path + used, STATUS_FIELD_MAX - used, ".");
    }
    if (used < STATUS_FIELD_MAX)
        used += (size_t)snprintf(path + used, STATUS_FIELD_MAX - used, "%s", place->field->name);
    if (used < STATUS_FIELD_MAX && place->item != NO_ITEM)
        used += (size_t)snprintf(path + used, STATUS_FIELD_MAX - used, "[%zu]", place->item);
    return used < STATUS_FIELD_MAX ? used : STATUS_FIELD_MAX - 1;
}

__attribute__((format(printf, 3, 4))) static bool bounds_fail(const struct bounds_place *place, struct status *st,
                                                              const char *format, ...)
{
    char path[STATUS_FIELD_MAX], why[STATUS_TEXT_MAX];
    const char *hint = place->bounds->hint;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    bounds_path(place, path);
    return fail_field(st, path, "%s%s%s%s", why, hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static bool bounds_check_controls(const struct bounds_place *place, const char *text, const char *allowed,
                                  struct status *st)
{
    for (const char *c = text; *c; c++)
        if (((unsigned char)*c < 0x20 || *c == 0x7f) && !strchr(allowed, *c))
            return bounds_fail(place, st, "has the control character 0x%02x at byte %zu; %s", (unsigned char)*c,
                               (size_t)(c - text),
                               *allowed ? "only tabs and line breaks are allowed" : "names have no control characters");
    return true;
}

static bool bounds_check_json(const struct bounds_place *place, const char *text, bool object, struct status *st)
{
    struct status reason = {0};
    if (!json_check(text, strlen(text), NULL, &reason))
        return bounds_fail(place, st, "is not JSON: %s", reason.text);
    return !object || text[strspn(text, " \t\r\n")] == '{' || bounds_fail(place, st, "must be a JSON object, {…}");
}

/* A BCP 47 tag as far as its letters go. */
static bool bounds_is_language(const char *tag)
{
    size_t part = strspn(tag, LETTERS);
    if (part < 2 || part > LANGUAGE_PART_MAX)
        return false;
    for (tag += part; *tag; tag += part + 1) {
        part = *tag == '-' ? strspn(tag + 1, LETTERS DIGITS) : 0;
        if (part < 1 || part > LANGUAGE_PART_MAX)
            return false;
    }
    return true;
}

static bool bounds_check_form(const struct bounds_place *place, const char *text, struct status *st)
{
    size_t good;
    switch (place->bounds->form) {
    case BOUNDS_NAME:
        return bounds_check_controls(place, text, "", st);
    case BOUNDS_PROSE:
        return bounds_check_controls(place, text, "\t\n\r", st);
    case BOUNDS_TOKEN:
        good = strspn(text, LETTERS DIGITS "_-");
        return !text[good] ||
               bounds_fail(place, st, "has the byte 0x%02x at %zu; A-Z, a-z, 0-9, '_' and '-' are allowed",
                           (unsigned char)text[good], good);
    case BOUNDS_JSON:
    case BOUNDS_OBJECT:
        return bounds_check_json(place, text, place->bounds->form == BOUNDS_OBJECT, st);
    case BOUNDS_LANGUAGE:
        return bounds_is_language(text) || bounds_fail(place, st, "must be a BCP 47 tag, such as \"ja\" or \"en-GB\"");
    case BOUNDS_ANY:
        break;
    }
    return true;
}

static bool bounds_check_bytes(const struct bounds_place *place, size_t length, struct status *st)
{
    const struct field_bounds *bounds = place->bounds;
    if (!length && place->item != NO_ITEM)
        return bounds_fail(place, st, "is empty; leave it out");
    if (!length && bounds->required)
        return bounds_fail(place, st, "is empty; it is required");
    return !bounds->bytes || length <= bounds->bytes ||
           bounds_fail(place, st, "has %zu bytes; at most %u are allowed", length, (unsigned)bounds->bytes);
}

static bool bounds_check_text(const struct bounds_place *place, const char *text, struct status *st)
{
    if (!bounds_check_bytes(place, strlen(text), st))
        return false;
    if (*text && place->bounds->not_blank && text_is_blank(text))
        return bounds_fail(place, st, "is blank; it must have a visible character");
    return !*text || bounds_check_form(place, text, st);
}

/* ---- numbers and enums ------------------------------------------------------------------------------------------- */

static void bounds_range(const struct field_bounds *bounds, char text[], size_t size)
{
    const char *zero = bounds->or_zero ? ", or 0" : "";
    if (bounds->max >= BOUNDS_NUMBER_MAX)
        snprintf(text, size, "%.15g or more%s", bounds->min, zero);
    else if (bounds->min <= -BOUNDS_NUMBER_MAX)
        snprintf(text, size, "at most %.15g%s", bounds->max, zero);
    else
        snprintf(text, size, "within %.15g and %.15g%s", bounds->min, bounds->max, zero);
}

static bool bounds_check_number(const struct bounds_place *place, double value, const char *written, struct status *st)
{
    const struct field_bounds *bounds = place->bounds;
    char range[96];
    if (value == 0 && bounds->required)
        return bounds_fail(place, st, "is 0; it is required");
    bool low = bounds->min > -BOUNDS_NUMBER_MAX && !(value >= bounds->min);
    bool high = bounds->max < BOUNDS_NUMBER_MAX && !(value <= bounds->max);
    if (!bounds->ranged || (value == 0 && bounds->or_zero) || (isfinite(value) && !low && !high))
        return true;
    bounds_range(bounds, range, sizeof range);
    return bounds_fail(place, st, "is %s; it must be %s", written, range);
}

static bool bounds_check_integer(const struct bounds_place *place, int64_t value, struct status *st)
{
    char written[24];
    snprintf(written, sizeof written, "%lld", (long long)value);
    return bounds_check_number(place, (double)value, written, st);
}

static bool bounds_check_real(const struct bounds_place *place, double value, struct status *st)
{
    char written[32];
    snprintf(written, sizeof written, "%g", value);
    return bounds_check_number(place, value, written, st);
}

static bool bounds_check_enum(const struct bounds_place *place, int value, struct status *st)
{
    const ProtobufCEnumDescriptor *values = place->field->descriptor;
    bool not_zero = place->bounds->required || place->item != NO_ITEM;
    char names[VALUES_BYTES] = "";
    size_t used = 0;
    if ((value || !not_zero) && (!place->bounds->known || protobuf_c_enum_descriptor_get_value(values, value)))
        return true;
    for (unsigned i = 0; i < values->n_values && used < sizeof names; i++)
        if (values->values[i].value)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s (%d)", used ? ", " : "",
                                     values->values[i].name, values->values[i].value);
    return bounds_fail(place, st, "is %d; it must be one of %s", value, names);
}

/* ---- values and lists -------------------------------------------------------------------------------------------- */

static bool bounds_check_message(const struct bounds_place *place, const ProtobufCMessage *message, struct status *st)
{
    if (!message)
        return !place->bounds->required || bounds_fail(place, st, "is missing; it is required");
    return !place->bounds->inside || bounds_check_fields(message, place->bounds->inside, place, st);
}

static bool bounds_check_value(const struct bounds_place *place, const void *value, struct status *st)
{
    switch (place->field->type) {
    case PROTOBUF_C_TYPE_STRING:
        return bounds_check_text(place, *(const char *const *)value, st);
    case PROTOBUF_C_TYPE_BYTES:
        return bounds_check_bytes(place, ((const ProtobufCBinaryData *)value)->len, st);
    case PROTOBUF_C_TYPE_MESSAGE:
        return bounds_check_message(place, *(const ProtobufCMessage *const *)value, st);
    case PROTOBUF_C_TYPE_ENUM:
        return bounds_check_enum(place, *(const int *)value, st);
    case PROTOBUF_C_TYPE_INT64:
        return bounds_check_integer(place, *(const int64_t *)value, st);
    case PROTOBUF_C_TYPE_DOUBLE:
        return bounds_check_real(place, *(const double *)value, st);
    case PROTOBUF_C_TYPE_INT32:
        return bounds_check_integer(place, *(const int32_t *)value, st);
    default: /* the generator refuses bounds of other types */
        return true;
    }
}

/* Each entry that protoc-c makes of a map<string, string>. */
struct bounds_map_entry {
    ProtobufCMessage base;
    const char *key, *value;
};

static bool bounds_check_entry(const struct bounds_place *place, const struct bounds_map_entry *entry,
                               struct status *st)
{
    const struct field_bounds *bounds = place->bounds;
    size_t key = strlen(entry->key), value = strlen(entry->value);
    if (!key && bounds->not_blank)
        return bounds_fail(place, st, "has an empty key; give it a name");
    if (key > bounds->key_bytes)
        return bounds_fail(place, st, "has a key of %zu bytes; at most %u are allowed", key,
                           (unsigned)bounds->key_bytes);
    return value <= bounds->bytes || bounds_fail(place, st, "has %zu bytes under '%.*s'; at most %u are allowed", value,
                                                 KEY_SHOWN_MAX, entry->key, (unsigned)bounds->bytes);
}

static bool bounds_check_list(struct bounds_place *place, const ProtobufCMessage *message, struct status *st)
{
    const struct field_bounds *bounds = place->bounds;
    const char *member = (const char *)message + place->field->offset;
    size_t count = *(const size_t *)(const void *)((const char *)message + place->field->quantifier_offset);
    const char *items = *(const char *const *)(const void *)member;
    size_t size = place->field->type == PROTOBUF_C_TYPE_ENUM || place->field->type == PROTOBUF_C_TYPE_INT32 ? 4
                  : place->field->type == PROTOBUF_C_TYPE_BYTES ? sizeof(ProtobufCBinaryData)
                                                                : 8;
    if ((!count && bounds->required) || (bounds->items && count > bounds->items))
        return bounds_fail(place, st, "has %zu entries; %s%u are allowed", count,
                           bounds->required ? "1 to " : "at most ", (unsigned)bounds->items);
    for (size_t i = 0; i < count; i++) {
        if (bounds->key_bytes) {
            if (!bounds_check_entry(place, ((const struct bounds_map_entry *const *)(const void *)items)[i], st))
                return false;
            continue;
        }
        place->item = i;
        if (!bounds_check_value(place, items + i * size, st))
            return false;
    }
    return true;
}

static bool bounds_check_fields(const ProtobufCMessage *message, const struct message_bounds *bounds,
                                const struct bounds_place *outer, struct status *st)
{
    for (size_t i = 0; i < bounds->count; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[bounds->fields[i].index];
        struct bounds_place place = {.outer = outer, .field = field, .bounds = &bounds->fields[i], .item = NO_ITEM};
        const char *member = (const char *)message + field->offset;
        uint32_t chosen = 0; /* of a oneof */
        if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
            memcpy(&chosen, (const char *)message + field->quantifier_offset, sizeof chosen);
        if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF && chosen != field->id)
            continue;
        if (!(field->label == PROTOBUF_C_LABEL_REPEATED ? bounds_check_list(&place, message, st)
                                                        : bounds_check_value(&place, member, st)))
            return false;
    }
    return true;
}

static int bounds_compare_name(const void *name, const void *row)
{
    return strcmp(name, ((const struct message_bounds *)row)->name);
}

bool message_check_bounds(const ProtobufCMessage *message, const struct message_bounds *table, size_t count,
                          struct status *st)
{
    const struct message_bounds *bounds =
        bsearch(message->descriptor->name, table, count, sizeof *table, bounds_compare_name);
    return !bounds || bounds_check_fields(message, bounds, NULL, st);
}
