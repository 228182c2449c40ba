#include "form_cache.h"

#include "base/hash.h"
#include "rpc/message_json.h"
#include "json/json.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define OPENED_MAX  ((size_t)64 << 20) /* bytes of a form that is opened, as an attempt at a node may have */
#define PLACES      256                /* of the table; a chain has the forms of a place */
#define UNCONST(at) ((struct kept_form *)(uintptr_t)(at))

struct kept_form {
    struct kept_form *next;          /* of its place */
    struct kept_form *newer, *older; /* of all */
    uint64_t hash;
    unsigned users;
    size_t size, bytes;
    struct arena arena; /* of the form, and of its text */
    const struct form *form;
    char *text;
};

static struct {
    pthread_mutex_t lock;
    struct kept_form *places[PLACES], *newest, *oldest;
    struct form_cache_count count;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- a form ------------------------------------------------------------------------------------------------------ */

static void kept_form_free(struct kept_form *kept)
{
    arena_fini(&kept->arena);
    free(kept);
}

static bool kept_form_open(struct kept_form *kept, const char *json, struct status *st)
{
    struct status why = {0};
    cJSON *tree = json_parse(json, kept->size, NULL, &why);
    Renga__V1__SessionForm *message = tree ? (Renga__V1__SessionForm *)message_read_json(
                                                 &renga__v1__session_form__descriptor, tree, &kept->arena, &why)
                                           : NULL;
    cJSON_Delete(tree);
    if (!message)
        return fail_field(st, "form", "%s", why.text);
    kept->form = form_open(&kept->arena, message, st);
    return kept->form != NULL;
}

static struct kept_form *kept_form_create(const char *json, size_t size, uint64_t hash, struct status *st)
{
    struct kept_form *kept = calloc(1, sizeof *kept);
    if (!kept) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the form");
        return NULL;
    }
    kept->hash = hash;
    kept->size = size;
    arena_init(&kept->arena, NULL, 0, OPENED_MAX);
    kept->text = arena_strndup(&kept->arena, json, size);
    if (kept->text && kept_form_open(kept, json, st)) {
        kept->bytes = sizeof *kept + kept->arena.used;
        return kept;
    }
    if (!kept->text)
        fail(st, RESOURCE_EXHAUSTED, "no memory for the form");
    kept_form_free(kept);
    return NULL;
}

/* ---- the table; under its lock ----------------------------------------------------------------------------------- */

static struct kept_form *cache_find(const char *json, size_t size, uint64_t hash)
{
    for (struct kept_form *kept = cache.places[hash % PLACES]; kept; kept = kept->next)
        if (kept->hash == hash && kept->size == size && memcmp(kept->text, json, size) == 0)
            return kept;
    return NULL;
}

static void cache_unlink(struct kept_form *kept)
{
    *(kept->newer ? &kept->newer->older : &cache.newest) = kept->older;
    *(kept->older ? &kept->older->newer : &cache.oldest) = kept->newer;
    kept->newer = kept->older = NULL;
}

static void cache_put_first(struct kept_form *kept)
{
    kept->older = cache.newest;
    *(cache.newest ? &cache.newest->newer : &cache.oldest) = kept;
    cache.newest = kept;
}

static void cache_remove(struct kept_form *kept)
{
    struct kept_form **at = &cache.places[kept->hash % PLACES];
    while (*at != kept)
        at = &(*at)->next;
    *at = kept->next;
    cache_unlink(kept);
    cache.count.forms--;
    cache.count.bytes -= kept->bytes;
}

/* The least recently used go; those in use stay. Returns them as a list, to be freed without the lock. */
static struct kept_form *cache_shrink(void)
{
    struct kept_form *gone = NULL;
    for (struct kept_form *kept = cache.oldest, *newer; kept && cache.count.bytes > FORM_CACHE_BYTES_MAX;
         kept = newer) {
        newer = kept->newer;
        if (kept->users)
            continue;
        cache_remove(kept);
        kept->next = gone;
        gone = kept;
    }
    return gone;
}

static void cache_insert(struct kept_form *kept)
{
    struct kept_form **place = &cache.places[kept->hash % PLACES];
    kept->next = *place;
    *place = kept;
    cache_put_first(kept);
    cache.count.forms++;
    cache.count.bytes += kept->bytes;
}

static struct kept_form *cache_use(const char *json, size_t size, uint64_t hash)
{
    struct kept_form *found = cache_find(json, size, hash);
    if (!found)
        return NULL;
    found->users++;
    cache_unlink(found);
    cache_put_first(found);
    return found;
}

/* ---- taking and giving back -------------------------------------------------------------------------------------- */

static void cache_free_all(struct kept_form *gone)
{
    for (struct kept_form *next; gone; gone = next) {
        next = gone->next;
        kept_form_free(gone);
    }
}

const struct kept_form *form_cache_take(const char *json, size_t size, struct status *st)
{
    uint64_t hash = hash_bytes(json, size);
    pthread_mutex_lock(&cache.lock);
    struct kept_form *found = cache_use(json, size, hash);
    *(found ? &cache.count.hits : &cache.count.misses) += 1;
    pthread_mutex_unlock(&cache.lock);
    if (found)
        return found;
    struct kept_form *made = kept_form_create(json, size, hash, st), *gone = NULL;
    if (!made)
        return NULL;
    pthread_mutex_lock(&cache.lock);
    found = cache_use(json, size, hash); /* another thread may have been faster */
    if (!found) {
        made->users = 1;
        cache_insert(made);
        gone = cache_shrink();
    }
    pthread_mutex_unlock(&cache.lock);
    cache_free_all(gone);
    if (found)
        kept_form_free(made);
    return found ? found : made;
}

const struct form *form_cache_form(const struct kept_form *kept)
{
    return kept->form;
}

void form_cache_give(const struct kept_form **kept_pointer)
{
    struct kept_form *kept = UNCONST(*kept_pointer), *gone;
    *kept_pointer = NULL;
    if (!kept)
        return;
    pthread_mutex_lock(&cache.lock);
    kept->users--;
    gone = cache_shrink();
    pthread_mutex_unlock(&cache.lock);
    cache_free_all(gone);
}

void form_cache_count(struct form_cache_count *count)
{
    pthread_mutex_lock(&cache.lock);
    *count = cache.count;
    pthread_mutex_unlock(&cache.lock);
}
