#include "usage/sums.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 16384u /* of the hash; as many sums as this are found at once, four times as many hardly later */

struct sums {
    struct sum *buckets[BUCKETS];
    struct sum *first;
    unsigned count, most;
};

struct key {
    size_t size;
    uint64_t hash;
    char bytes[SUM_KEY_MAX];
};

struct sums *sums_create(unsigned most)
{
    struct sums *sums = calloc(1, sizeof *sums);
    if (!sums)
        return NULL;
    sums->most = most;
    return sums;
}

void sums_clear(struct sums *sums)
{
    for (struct sum *sum = sums->first, *next; sum; sum = next) {
        next = sum->next;
        sums->buckets[sum->hash % BUCKETS] = NULL;
        free(sum);
    }
    sums->first = NULL;
    sums->count = 0;
}

void sums_destroy(struct sums **sums)
{
    if (!*sums)
        return;
    sums_clear(*sums);
    free(*sums);
    *sums = NULL;
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t hash)
{
    hash ^= hash >> 32;
    hash *= UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

uint64_t sums_hash(const void *bytes, size_t size, uint64_t seed)
{
    const char *at = bytes;
    uint64_t hash = mixed(seed ^ size), word;
    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = mixed(hash ^ word);
    }
    word = 0;
    memcpy(&word, at, size);
    return mixed(mixed(hash ^ word));
}

static void sums_key_make(struct key *key, int64_t quarter, const char *const names[SUM_NAMES])
{
    char *at = key->bytes;
    memcpy(at, &quarter, sizeof quarter);
    at += sizeof quarter;
    for (unsigned i = 0; i < SUM_NAMES; i++) {
        size_t room = i == SUM_RUN ? SUM_RUN_MAX : SUM_NAME_MAX;
        size_t length = names[i] ? strnlen(names[i], room + 1) : 0;
        if (length > room)
            length = text_cut(names[i], length, room);
        if (length)
            memcpy(at, names[i], length);
        at[length] = '\0';
        at += length + 1;
    }
    key->size = (size_t)(at - key->bytes);
    key->hash = hash_bytes(key->bytes, key->size);
}

static struct sum *sums_find(const struct sums *sums, const struct key *key)
{
    struct sum *sum = sums->buckets[key->hash % BUCKETS];
    while (sum && !(sum->hash == key->hash && sum->size == key->size && !memcmp(sum->key, key->bytes, key->size)))
        sum = sum->chained;
    return sum;
}

static struct sum *sums_insert(struct sums *sums, const struct key *key)
{
    struct sum *sum = calloc(1, sizeof *sum + key->size), **bucket = &sums->buckets[key->hash % BUCKETS];
    if (!sum)
        return NULL;
    sum->hash = key->hash;
    sum->size = key->size;
    memcpy(sum->key, key->bytes, key->size);
    sum->chained = *bucket;
    *bucket = sum;
    sum->next = sums->first;
    sums->first = sum;
    sums->count++;
    return sum;
}

/* The sum of these names; NULL: it would be a new sum beyond `most`. */
static struct sum *sums_take(struct sums *sums, int64_t quarter, const char *const names[SUM_NAMES], unsigned most)
{
    struct key key;
    sums_key_make(&key, quarter, names);
    struct sum *sum = sums_find(sums, &key);
    return sum || sums->count >= most ? sum : sums_insert(sums, &key);
}

static struct sum *take_folded(struct sums *sums, int64_t quarter, const char *const names[SUM_NAMES])
{
    static const char *const none[SUM_NAMES];
    const char *folded[SUM_NAMES];
    memcpy(folded, names, sizeof folded);
    folded[SUM_RUN] = folded[SUM_THREAD] = NULL;
    struct sum *sum = sums_take(sums, quarter, folded, sums->most + sums->most / 4);
    if (!sum) /* one a quarter of an hour: that grows slowly enough to need no bound */
        sum = sums_take(sums, quarter, none, UINT32_MAX);
    return sum;
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

static int64_t added(int64_t sum, int64_t count)
{
    count = count < 0 ? 0 : count > SUM_ENTRY_MAX ? SUM_ENTRY_MAX : count;
    return __builtin_add_overflow(sum, count, &sum) ? INT64_MAX : sum;
}

void sums_add(struct sums *sums, int64_t quarter, const char *const names[SUM_NAMES], const int64_t counts[SUM_COUNTS])
{
    struct sum *sum = sums_take(sums, quarter, names, sums->most);
    if (!sum)
        sum = take_folded(sums, quarter, names);
    if (!sum)
        fatal("ledger.memory", "no memory to add up what calls have used");
    for (unsigned i = 0; i < SUM_COUNTS; i++)
        sum->counts[i] = added(sum->counts[i], counts[i]);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

unsigned sums_count(const struct sums *sums)
{
    return sums->count;
}

const struct sum *sums_first(const struct sums *sums)
{
    return sums->first;
}

int64_t sum_quarter(const struct sum *sum)
{
    int64_t quarter;
    memcpy(&quarter, sum->key, sizeof quarter);
    return quarter;
}

void sum_names(const struct sum *sum, const char *names[SUM_NAMES])
{
    const char *at = sum->key + sizeof(int64_t);
    for (unsigned i = 0; i < SUM_NAMES; i++) {
        names[i] = at;
        at += strlen(at) + 1;
    }
}
