/* What the files of the JSON checker, document and writer share. */
#ifndef RENGA_BASE_JSON_PRIVATE_H
#define RENGA_BASE_JSON_PRIVATE_H

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"

#include <stdint.h>
#include <string.h>

/* As json_check. Places are counted in `shown`, which has the length of `text`, and follow `name:` if it is given. */
bool json_check_named(const char *name, const char *shown, const char *text, size_t length,
                      const struct json_limits *limits, struct status *st);

/* Line and column of `offset`, 1-based, columns in characters. */
void json_position(const char *text, size_t offset, size_t *line, size_t *column);

/* How many bytes from the start need no attention within a JSON string: well-formed UTF-8 without quote, backslash
 * and control bytes. */
static inline size_t json_plain_length(const char *text, size_t length)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    size_t at = 0;
    for (;;) {
        for (; length - at >= 8; at += 8) {
            uint64_t eight;
            memcpy(&eight, text + at, 8);
            /* The high bit of a byte is set for one above 0x7F, below 0x20, a quote and a backslash. */
            uint64_t special =
                (eight | (eight - ones * 0x20) | ((eight ^ ones * '"') - ones) | ((eight ^ ones * '\\') - ones)) &
                ones * 0x80;
            if (special != 0)
                break;
        }
        /* To the end of these eight by hand, and on while it is not ASCII. */
        for (size_t stop = at + 8; at < stop || (at < length && (text[at] & 0x80));) {
            if (at == length)
                return at;
            unsigned char c = (unsigned char)text[at];
            size_t size = c >= 0x80 ? text_character(text + at, length - at) : c >= 0x20 && c != '"' && c != '\\';
            if (size == 0)
                return at;
            at += size;
        }
    }
}

/* The keys of the objects that are open, in one stack. An object's first few are compared at once; what it has beyond
 * is sorted when it ends, so that many keys with equal hashes cost no more than n log n. */
struct json_key {
    const char *text; /* decoded, not terminated */
    const char *at;   /* the quote that opens it */
    uint32_t length, hash;
};

#define JSON_KEYS_INLINE 48

struct json_keys {
    struct json_key *keys;
    size_t count, capacity;
    struct json_key inlined[JSON_KEYS_INLINE];
    struct arena decoded; /* keys that were written with escapes */
};

enum json_keys_result { JSON_KEYS_NEW, JSON_KEYS_TWICE, JSON_KEYS_NO_MEMORY };

void json_keys_init(struct json_keys *keys, size_t text_length);
void json_keys_fini(struct json_keys *keys);

/* Adds the key of `length` bytes between the quotes at `at`, to the object that began when there were `base` keys. */
enum json_keys_result json_keys_add(struct json_keys *keys, size_t base, const char *at, size_t length, bool escaped);

/* Ends that object; gives a key that stood there before, or NULL. */
const struct json_key *json_keys_end(struct json_keys *keys, size_t base);

#endif
