/* A table of chains under one lock. The lock is held for a few comparisons when a connection opens or closes, and there
 * are at most as many entries as connections. */
#include "http/sources.h"

#include "base/hash.h"
#include "base/memory.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS      1024
#define NETWORK_SIZE 8 /* bytes of an IPv6 address that identify a source */

struct source {
    struct source *next;
    struct in6_addr address;
    unsigned connections;
};

struct sources {
    pthread_mutex_t lock;
    unsigned holders;
    unsigned connections_per_address;
    struct source *buckets[BUCKETS];
};

struct sources *sources_create(unsigned connections_per_address)
{
    struct sources *sources = xcalloc(1, sizeof *sources);
    pthread_mutex_init(&sources->lock, NULL);
    sources->holders = 1;
    sources->connections_per_address = connections_per_address;
    return sources;
}

struct sources *sources_hold(struct sources *sources)
{
    pthread_mutex_lock(&sources->lock);
    sources->holders++;
    pthread_mutex_unlock(&sources->lock);
    return sources;
}

void sources_release(struct sources **sources_pointer)
{
    struct sources *sources = *sources_pointer;
    if (!sources)
        return;
    *sources_pointer = NULL;
    pthread_mutex_lock(&sources->lock);
    bool last = --sources->holders == 0;
    pthread_mutex_unlock(&sources->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&sources->lock);
    free(sources);
}

/* An IPv4 address in its IPv6 form, ::ffff:a.b.c.d, for both families. */
static struct in6_addr sources_source_address(const struct sockaddr *from)
{
    struct in6_addr address = {0};
    if (from->sa_family == AF_INET) {
        address.s6_addr[10] = address.s6_addr[11] = 0xff;
        memcpy(&address.s6_addr[12], &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
    } else if (from->sa_family == AF_INET6) {
        address = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
        if (!IN6_IS_ADDR_V4MAPPED(&address) && !IN6_IS_ADDR_LOOPBACK(&address))
            memset(&address.s6_addr[NETWORK_SIZE], 0, sizeof address - NETWORK_SIZE);
    }
    return address;
}

static struct source **sources_bucket(struct sources *sources, const struct in6_addr *address)
{
    return &sources->buckets[hash_bytes(address, sizeof *address) % BUCKETS];
}

struct source *sources_join(struct sources *sources, const struct sockaddr *from)
{
    struct in6_addr address = sources_source_address(from);
    struct source **bucket = sources_bucket(sources, &address);
    pthread_mutex_lock(&sources->lock);
    struct source *source = *bucket;
    while (source && memcmp(&source->address, &address, sizeof address) != 0)
        source = source->next;
    if (!source) {
        source = xmalloc(sizeof *source);
        *source = (struct source){.next = *bucket, .address = address};
        *bucket = source;
    }
    bool may = source->connections < sources->connections_per_address;
    source->connections += may;
    pthread_mutex_unlock(&sources->lock);
    return may ? source : NULL;
}

void sources_leave(struct sources *sources, struct source *source)
{
    struct source **at = sources_bucket(sources, &source->address);
    pthread_mutex_lock(&sources->lock);
    if (--source->connections == 0) {
        while (*at != source)
            at = &(*at)->next;
        *at = source->next;
        free(source);
    }
    pthread_mutex_unlock(&sources->lock);
}
