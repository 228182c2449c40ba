/* A table of the lines logged in the present period, by hashes: of id and text, and of id and format. An entry is free
 * when its period is over and its count has been reported. If all entries of a place are in use, the line is
 * written. */
#include "log_limit.h"

#include "base/clock.h"
#include "base/text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define ENTRIES    256
#define NEIGHBOURS 4
#define PERIOD_NS  (LOG_LIMIT_PERIOD_MS * NS_PER_MS)

struct entry {
    uint64_t hash; /* 0: never used */
    int64_t begun_ns;
    unsigned written;
    struct log_suppressed suppressed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry entries[ENTRIES];
static atomic_llong due_ns = TIME_NEVER; /* time of the next report of a count */

/* FNV-1a */
static uint64_t log_limit_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static bool log_entry_is_over(const struct entry *entry, int64_t now_ns)
{
    return entry->hash == 0 || now_ns - entry->begun_ns >= PERIOD_NS;
}

/* NULL if there is no room for another. */
static struct entry *find_entry(uint64_t hash, int64_t now_ns)
{
    struct entry *free_one = NULL;
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        struct entry *entry = &entries[(hash + i) % ENTRIES];
        if (entry->hash == hash && !log_entry_is_over(entry, now_ns))
            return entry;
        if (free_one == NULL && log_entry_is_over(entry, now_ns) && entry->suppressed.count == 0)
            free_one = entry;
    }
    if (free_one != NULL)
        *free_one = (struct entry){.hash = hash, .begun_ns = now_ns};
    return free_one;
}

static void cut_copy(char *to, size_t room, const char *from)
{
    size_t size = strnlen(from, room);
    size = size < room ? size : text_cut(from, size, room - 1);
    memcpy(to, from, size);
    to[size] = '\0';
}

static bool passes_locked(uint64_t hash, unsigned most, int level, const char *id, const char *text, int64_t now_ns)
{
    struct entry *entry = find_entry(hash, now_ns);
    if (entry == NULL || entry->written < most) {
        if (entry != NULL)
            entry->written++;
        return true;
    }
    struct log_suppressed *suppressed = &entry->suppressed;
    if (suppressed->count++ <= 0) {
        suppressed->level = level;
        cut_copy(suppressed->id, sizeof suppressed->id, id);
        cut_copy(suppressed->text, sizeof suppressed->text, text);
        long long due = entry->begun_ns + PERIOD_NS;
        if (due < atomic_load(&due_ns))
            atomic_store(&due_ns, due);
    }
    return false;
}

bool log_limit_passes(int level, const char *id, const char *format, const char *text, int64_t now_ns)
{
    uint64_t site = log_limit_hash_bytes(UINT64_C(0xcbf29ce484222325), id, strlen(id));
    uint64_t equal = log_limit_hash_bytes(site, text, strlen(text)) | 1;
    site = log_limit_hash_bytes(site, &format, sizeof format) | 1;
    pthread_mutex_lock(&lock);
    bool passes = passes_locked(equal, LOG_LIMIT_EQUAL, level, id, text, now_ns) &&
                  passes_locked(site, LOG_LIMIT_SITE, level, id, text, now_ns);
    pthread_mutex_unlock(&lock);
    return passes;
}

bool log_limit_take(int64_t now_ns, struct log_suppressed *suppressed)
{
    if (now_ns < atomic_load_explicit(&due_ns, memory_order_relaxed))
        return false;
    bool found = false;
    long long next_ns = TIME_NEVER;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ENTRIES && !found; i++) {
        struct entry *entry = &entries[i];
        if (entry->suppressed.count == 0)
            continue;
        found = log_entry_is_over(entry, now_ns);
        if (found) {
            *suppressed = entry->suppressed;
            *entry = (struct entry){.hash = 0};
        } else if (entry->begun_ns + PERIOD_NS < next_ns) {
            next_ns = entry->begun_ns + PERIOD_NS;
        }
    }
    if (!found)
        atomic_store(&due_ns, next_ns);
    pthread_mutex_unlock(&lock);
    return found;
}
