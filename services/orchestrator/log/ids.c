#include "ids.h"

#include "base/random.h"

#include <stdio.h>
#include <string.h>

#define TIME_LETTERS  10 /* 50 bits of milliseconds */
#define PLACE_LETTERS 6  /* 30 bits of the thread's hash */
#define DRAWN_LETTERS 8  /* 40 bits */
#define SALT_LETTERS  4

/* Crockford's: in the order of their bytes, without letters that look alike. */
static const char LETTERS[] = "0123456789abcdefghjkmnpqrstvwxyz";

static const char DIGITS[] = "0123456789abcdef";

uint64_t id_hash(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

uint64_t id_hash_text(uint64_t hash, const char *text)
{
    return id_hash(hash, text, strlen(text) + 1);
}

uint64_t id_hash_number(uint64_t hash, uint64_t number)
{
    return id_hash(hash, &number, sizeof number);
}

uint64_t id_of_place(const char *tenant, const char *thread)
{
    return id_hash_text(id_hash_text(ID_HASH, tenant), thread);
}

static char *ids_put(char *at, uint64_t value, int letters)
{
    for (int i = letters - 1; i >= 0; i--)
        *at++ = LETTERS[value >> (5 * i) & 31];
    *at = '\0';
    return at;
}

static bool ids_take(const char *text, size_t letters, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < letters; i++) {
        const char *letter = text[i] ? strchr(LETTERS, text[i]) : NULL;
        if (!letter)
            return false;
        *value = *value << 5 | (uint64_t)(letter - LETTERS);
    }
    return true;
}

void id_make_run(char id[ID_MAX], int64_t wall_ms, uint64_t place)
{
    char *at = ids_put(id, (uint64_t)wall_ms, TIME_LETTERS);
    at = ids_put(at, place, PLACE_LETTERS);
    ids_put(at, random_u64(), DRAWN_LETTERS);
}

bool id_run_place(const char *id, uint32_t *place)
{
    uint64_t value;
    if (strlen(id) != TIME_LETTERS + PLACE_LETTERS + DRAWN_LETTERS ||
        !ids_take(id + TIME_LETTERS, PLACE_LETTERS, &value))
        return false;
    *place = (uint32_t)value;
    return true;
}

int64_t id_run_time(const char *id)
{
    uint64_t value;
    return ids_take(id, TIME_LETTERS, &value) ? (int64_t)value : 0;
}

void id_make_checkpoint(char id[ID_MAX], uint64_t place, uint64_t number)
{
    int letters = 4;
    while (letters < 12 && number >> (5 * letters))
        letters++;
    ids_put(ids_put(id, place >> 30, SALT_LETTERS), number, letters);
}

bool id_checkpoint_number(const char *id, uint64_t place, uint64_t *number)
{
    uint64_t salt;
    size_t length = strlen(id);
    return length > SALT_LETTERS && length <= SALT_LETTERS + 12 && ids_take(id, SALT_LETTERS, &salt) &&
           salt == (place >> 30 & 0xFFFFF) && ids_take(id + SALT_LETTERS, length - SALT_LETTERS, number);
}

static int digit(char letter)
{
    const char *found = letter ? strchr(DIGITS, letter) : NULL;
    return found ? (int)(found - DIGITS) : -1;
}

size_t id_pack_version(const char *version, char packed[ID_VERSION_MAX])
{
    size_t length = strnlen(version, ID_VERSION_MAX - 1);
    bool is_hash = length == (size_t)2 * ID_VERSION_BYTES;
    for (size_t i = 0; is_hash && i < ID_VERSION_BYTES; i++) {
        int high = digit(version[2 * i]), low = digit(version[2 * i + 1]);
        is_hash = high >= 0 && low >= 0;
        packed[i] = (char)(high * 16 + low);
    }
    if (is_hash)
        return ID_VERSION_BYTES;
    memcpy(packed, version, length);
    return length;
}

void id_unpack_version(const void *packed, size_t size, char version[ID_VERSION_MAX])
{
    const unsigned char *bytes = packed;
    size_t length = size < ID_VERSION_MAX ? size : ID_VERSION_MAX - 1;
    if (size == ID_VERSION_BYTES) {
        for (size_t i = 0; i < size; i++) {
            version[2 * i] = DIGITS[bytes[i] >> 4];
            version[2 * i + 1] = DIGITS[bytes[i] & 15];
        }
        length = 2 * size;
    } else {
        memcpy(version, packed, length);
    }
    version[length] = '\0';
}

void id_make_hashed(char id[ID_MAX], const char *prefix, uint64_t hash)
{
    size_t length = (size_t)snprintf(id, ID_MAX - 14, "%s", prefix);
    ids_put(id + length, hash, 13);
}
