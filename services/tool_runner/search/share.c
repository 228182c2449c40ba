#include "search/share.h"

#include "base/hash.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct share {
    uint64_t tenant; /* its hash */
    int64_t taken;
};

struct search_shares {
    pthread_mutex_t lock;
    int64_t most; /* of a tenant; 0: no limit */
    size_t count, room;
    struct share shares[]; /* of tenants with requests under way */
};

struct search_shares *search_shares_create(int64_t concurrency)
{
    size_t room = concurrency > 0 ? (size_t)concurrency : 0;
    struct search_shares *shares = calloc(1, sizeof *shares + room * sizeof *shares->shares);
    if (!shares)
        return NULL;
    pthread_mutex_init(&shares->lock, NULL);
    shares->most = (concurrency + 1) / 2;
    shares->room = room;
    return shares;
}

void search_shares_destroy(struct search_shares **shares)
{
    if (*shares)
        pthread_mutex_destroy(&(*shares)->lock);
    free(*shares);
    *shares = NULL;
}

static bool share_is_free(const struct search_shares *shares, const char *tenant)
{
    return !shares->room || !*tenant;
}

static struct share *share_find(struct search_shares *shares, uint64_t tenant)
{
    for (size_t i = 0; i < shares->count; i++)
        if (shares->shares[i].tenant == tenant)
            return &shares->shares[i];
    return NULL;
}

bool search_share_take(struct search_shares *shares, const char *tenant)
{
    uint64_t hash = hash_text(tenant);
    if (share_is_free(shares, tenant))
        return true;
    pthread_mutex_lock(&shares->lock);
    struct share *share = share_find(shares, hash);
    if (!share && shares->count < shares->room) {
        share = &shares->shares[shares->count++];
        *share = (struct share){.tenant = hash};
    }
    bool taken = share && share->taken < shares->most;
    if (taken)
        share->taken++;
    pthread_mutex_unlock(&shares->lock);
    return taken;
}

void search_share_leave(struct search_shares *shares, const char *tenant)
{
    uint64_t hash = hash_text(tenant);
    if (share_is_free(shares, tenant))
        return;
    pthread_mutex_lock(&shares->lock);
    struct share *share = share_find(shares, hash);
    assert(share && share->taken > 0);
    if (--share->taken == 0)
        *share = shares->shares[--shares->count];
    pthread_mutex_unlock(&shares->lock);
}
