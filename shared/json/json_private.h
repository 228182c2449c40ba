/* The private interface between the JSON checker, document and writer. */
#ifndef RENGA_JSON_PRIVATE_H
#define RENGA_JSON_PRIVATE_H

#include "base/text.h"
#include "json/pull.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* As json_parse. Places are counted in `shown`, which has the length of `text`, and follow `name:` if it is given. */
cJSON *json_parse_named(const char *name, const char *shown, const char *text, size_t length,
                        const struct json_limits *limits, struct status *st);

/* json_pull_init for it. */
void json_pull_init_named(struct json_pull *in, const char *name, const char *shown, const char *text, size_t length,
                          const struct json_limits *limits, struct status *st);

/* Line and column of `offset`, 1-based, columns in characters. */
void json_position(const char *text, size_t offset, size_t *line, size_t *column);

/* A bit for the first of 8 or 16 bytes in a JSON string that needs attention: above ASCII, a control byte, a quote or a
 * backslash. Bits after the first may be set too. 0: all are plain. */
static inline unsigned json_special_of(uint64_t eight)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    eight = le64toh(eight);
    uint64_t special =
        (eight | (eight - ones * 0x20) | ((eight ^ ones * '"') - ones) | ((eight ^ ones * '\\') - ones)) & ones * 0x80;
    return special ? 1u << __builtin_ctzll(special) / 8 : 0;
}

static inline unsigned json_special8(const char *text)
{
    uint64_t eight;
    memcpy(&eight, text, 8);
    return json_special_of(eight);
}

/* True if the last 8 bytes, or all of 4 to 7, are plain; false for fewer bytes. */
static inline bool json_plain_end(const char *text, size_t length)
{
    uint32_t halves[2];
    if (length >= 8)
        return json_special8(text + length - 8) == 0;
    if (length < 4)
        return false;
    memcpy(&halves[0], text, 4);
    memcpy(&halves[1], text + length - 4, 4);
    return json_special_of((uint64_t)halves[1] << 32 | halves[0]) == 0;
}

static inline unsigned json_special16(const char *text)
{
#ifdef __SSE2__
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
    __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)); /* above ASCII a byte is negative here */
    __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), escape = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, escape)));
#else
    return json_special8(text) | json_special8(text + 8) << 8;
#endif
}

/* How many bytes from the start need no attention: well-formed UTF-8 too. */
static inline size_t json_plain_length(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        unsigned special = 0;
        while (length - at >= 16 && (special = json_special16(text + at)) == 0)
            at += 16;
        if (special == 0 && length - at >= 8 && (special = json_special8(text + at)) == 0)
            at += 8;
        if (special != 0)
            at += (size_t)__builtin_ctz(special);
        else if (json_plain_end(text, length))
            return length;
        for (bool ascii = false; at < length && !ascii;) { /* by hand to the end, or as long as it is not ASCII */
            unsigned char c = (unsigned char)text[at];
            size_t size = c >= 0x80 ? text_character(text + at, length - at) : c >= 0x20 && c != '"' && c != '\\';
            if (size == 0)
                return at;
            at += size;
            ascii = length - at >= 8 && !(text[at] & 0x80);
        }
    }
    return at;
}

/* json_words.c. These readers start at a token's first byte and move `at` behind it; false if it is refused. */
bool json_read_string(struct json_pull *in, bool *escaped);
bool json_read_number(struct json_pull *in);
bool json_read_word(struct json_pull *in, const char *word, size_t length);
/* Of a number of at most JSON_NUMBER_MAX characters. */
double json_value_of(const char *number, size_t length);

/* Ends the reading with an error at the given place, or at the present place, naming the expected and the found
 * text. */
bool json_refuse(struct json_pull *in, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool json_expected(struct json_pull *in, const char *what);

static inline void json_skip_space(struct json_pull *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\n' || *in->at == '\r' || *in->at == '\t'))
        in->at++;
}

static inline bool json_take(struct json_pull *in, char wanted)
{
    if (in->at == in->end || *in->at != wanted)
        return false;
    in->at++;
    return true;
}

enum json_keys_result { JSON_KEYS_NEW, JSON_KEYS_TWICE, JSON_KEYS_NO_MEMORY };

void json_keys_init(struct json_keys *keys, size_t text_length);
void json_keys_fini(struct json_keys *keys);

/* Adds the key of `length` bytes between the quotes at `at`, to the object that began when there were `base` keys. */
enum json_keys_result json_keys_add(struct json_keys *keys, size_t base, const char *at, size_t length, bool escaped);

/* Decodes the inside of a checked string into `out`, which has room for `length` bytes. */
size_t json_decode(const char *text, size_t length, char *out);

/* Ends that object; `twice` is the first repeated key, or NULL. */
enum json_keys_result json_keys_end(struct json_keys *keys, size_t base, const struct json_key **twice);

#endif
