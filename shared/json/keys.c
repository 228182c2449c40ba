#include "json_private.h"

#include "base/hash.h"

#include <stdlib.h>

#define COMPARED_AT_ONCE 16 /* keys of an object */

void json_keys_init(struct json_keys *keys, size_t text_length)
{
    keys->keys = keys->inlined;
    keys->count = 0;
    keys->capacity = JSON_KEYS_INLINE;
    /* A decoded key is shorter than its 6-byte escape and takes at most one alignment more. */
    arena_init(&keys->decoded, NULL, 0, 4 * text_length + ((size_t)64 << 10));
}

void json_keys_fini(struct json_keys *keys)
{
    if (keys->keys != keys->inlined)
        free(keys->keys);
    arena_fini(&keys->decoded);
}

static uint64_t keys_load(const char *text, size_t size)
{
    uint64_t bytes = 0;
    memcpy(&bytes, text, size);
    return bytes;
}

/* Of the length and both ends: keys that differ in their middle alone are compared. */
static uint32_t hash(const char *text, size_t length)
{
    uint64_t first = 0, last = 0;
    if (length >= 8) {
        first = keys_load(text, 8);
        last = keys_load(text + length - 8, 8);
    } else if (length >= 4) {
        first = keys_load(text, 4);
        last = keys_load(text + length - 4, 4);
    } else if (length > 0) {
        first = (unsigned char)text[0];
        last = (uint64_t)(unsigned char)text[length / 2] << 8 | (unsigned char)text[length - 1];
    }
    return (uint32_t)((first * UINT64_C(0x9E3779B97F4A7C15) ^ (last + length) * UINT64_C(0xC2B2AE3D27D4EB4F)) >> 32);
}

static unsigned keys_hex4(const char *text)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        char c = text[i];
        value = value << 4 | (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

static size_t encode(unsigned code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

static char unescaped(char kind)
{
    static const char named[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    const char *pair = named;
    while (*pair != kind)
        pair += 2;
    return pair[1];
}

size_t json_decode(const char *text, size_t length, char *out)
{
    const char *end = text + length;
    size_t written = 0;
    for (;;) {
        const char *escape = memchr(text, '\\', (size_t)(end - text));
        size_t plain = (size_t)((escape != NULL ? escape : end) - text);
        memcpy(out + written, text, plain);
        written += plain;
        if (escape == NULL)
            return written;
        text = escape + 2;
        if (escape[1] != 'u') {
            out[written++] = unescaped(escape[1]);
            continue;
        }
        unsigned code = keys_hex4(text);
        text += 4;
        if (code >= 0xD800 && code < 0xDC00) {
            code = 0x10000 + ((code - 0xD800) << 10) + (keys_hex4(text + 2) - 0xDC00);
            text += 6;
        }
        written += encode(code, out + written);
    }
}

static bool keys_same(const struct json_key *a, const struct json_key *b)
{
    return a->hash == b->hash && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static struct json_key *keys_push(struct json_keys *keys)
{
    if (keys->count == keys->capacity) {
        bool inlined = keys->keys == keys->inlined;
        size_t capacity = keys->capacity * 2;
        struct json_key *more = realloc(inlined ? NULL : keys->keys, capacity * sizeof *more);
        if (more == NULL)
            return NULL;
        if (inlined)
            memcpy(more, keys->inlined, sizeof keys->inlined);
        keys->keys = more;
        keys->capacity = capacity;
    }
    return &keys->keys[keys->count++];
}

enum json_keys_result json_keys_add(struct json_keys *keys, size_t base, const char *at, size_t length, bool escaped)
{
    const char *text = at + 1;
    if (escaped) {
        char *decoded = arena_alloc(&keys->decoded, length);
        if (decoded == NULL)
            return JSON_KEYS_NO_MEMORY;
        length = json_decode(text, length, decoded);
        text = decoded;
    }
    struct json_key *key = keys_push(keys);
    if (key == NULL)
        return JSON_KEYS_NO_MEMORY;
    *key = (struct json_key){text, at, (uint32_t)length, hash(text, length)};

    if (keys->count - base > COMPARED_AT_ONCE)
        return JSON_KEYS_NEW;
    for (const struct json_key *other = keys->keys + base; other < key; other++) {
        if (keys_same(other, key))
            return JSON_KEYS_TWICE;
    }
    return JSON_KEYS_NEW;
}

/* The slot of the key, or a free one: an index within `own` + 1, 0 for a free slot. */
static uint32_t *keys_slot_of(uint32_t *slots, size_t mask, const struct json_key *own, const struct json_key *key)
{
    size_t at = key->hash & mask;
    while (slots[at] && !keys_same(&own[slots[at] - 1], key))
        at = (at + 1) & mask;
    return &slots[at];
}

/* The keys are in the order of the text. The hash is seeded, so that no caller can predict it: keys that collide in
 * `hash` would make this quadratic. */
static bool find_twice(struct json_key *own, size_t count, const struct json_key **twice)
{
    size_t room = 4 * (size_t)COMPARED_AT_ONCE;
    while (room < 2 * count)
        room *= 2;
    uint32_t *slots = calloc(room, sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < count && *twice == NULL; i++) {
        own[i].hash = (uint32_t)hash_bytes(own[i].text, own[i].length);
        uint32_t *slot = keys_slot_of(slots, room - 1, own, &own[i]);
        if (*slot)
            *twice = &own[i];
        *slot = (uint32_t)i + 1;
    }
    free(slots);
    return true;
}

enum json_keys_result json_keys_end(struct json_keys *keys, size_t base, const struct json_key **twice)
{
    size_t count = keys->count - base;
    keys->count = base;
    *twice = NULL;
    if (count > COMPARED_AT_ONCE && !find_twice(keys->keys + base, count, twice))
        return JSON_KEYS_NO_MEMORY;
    return *twice ? JSON_KEYS_TWICE : JSON_KEYS_NEW;
}
