#include "addresses.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "rpc/channel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256

struct address {
    struct address *next;
    struct rpc_channel *channel;
    ProtobufCService *stub;
    char name[];
};

struct addresses {
    struct addresses_options options;
    pthread_mutex_t lock;
    struct address *buckets[BUCKETS];
    unsigned count;
    _Atomic unsigned calls;
};

struct addresses *addresses_create(const struct addresses_options *options)
{
    struct addresses *addresses = xcalloc(1, sizeof *addresses);
    addresses->options = *options;
    pthread_mutex_init(&addresses->lock, NULL);
    return addresses;
}

static void address_destroy(struct address *address)
{
    if (address->stub)
        protobuf_c_service_destroy(address->stub);
    rpc_channel_destroy(&address->channel);
    free(address);
}

void addresses_destroy(struct addresses **addresses_pointer)
{
    struct addresses *addresses = *addresses_pointer;
    if (!addresses)
        return;
    *addresses_pointer = NULL;
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct address *address = addresses->buckets[i], *next; address; address = next) {
            next = address->next;
            address_destroy(address);
        }
    }
    pthread_mutex_destroy(&addresses->lock);
    free(addresses);
}

static struct address **addresses_bucket_of(struct addresses *addresses, const char *name)
{
    return &addresses->buckets[hash_text(name) % BUCKETS];
}

static struct address *address_open(const struct addresses *addresses, const char *name, struct status *st)
{
    size_t length = strlen(name);
    struct address *address = calloc(1, sizeof *address + length + 1);
    struct rpc_channel_options options = {
        .schema = addresses->options.schema,
        .target = name,
        .tls = addresses->options.tls,
        .authority = addresses->options.authority,
        .key = addresses->options.key,
        .message_max = addresses->options.message_max,
        .keepalive_ms = addresses->options.keepalive_ms,
        .foreign = addresses->options.foreign,
    };
    if (!address)
        fatal("orchestrator.memory", "no memory for an address");
    memcpy(address->name, name, length + 1);
    address->channel = rpc_channel_create(&options, st);
    address->stub = address->channel ? rpc_channel_stub(address->channel, addresses->options.service, st) : NULL;
    if (address->stub)
        return address;
    address_destroy(address);
    return NULL;
}

static struct address *find_or_open(struct addresses *addresses, const char *name, struct status *st)
{
    struct address **bucket = addresses_bucket_of(addresses, name), *address;
    for (address = *bucket; address; address = address->next)
        if (strcmp(address->name, name) == 0)
            return address;
    if (addresses->count == ADDRESSES_MAX) {
        fail(st, RESOURCE_EXHAUSTED, "%d addresses are called already; '%s' would be one more", ADDRESSES_MAX, name);
        return NULL;
    }
    address = address_open(addresses, name, st);
    if (!address)
        return NULL;
    addresses->count++;
    address->next = *bucket;
    return *bucket = address;
}

ProtobufCService *addresses_stub(struct addresses *addresses, const char *address, struct status *st)
{
    pthread_mutex_lock(&addresses->lock);
    struct address *found = find_or_open(addresses, address, st);
    pthread_mutex_unlock(&addresses->lock);
    return found ? found->stub : NULL;
}

void addresses_call_began(struct addresses *addresses)
{
    atomic_fetch_add_explicit(&addresses->calls, 1, memory_order_relaxed);
}

void addresses_call_ended(struct addresses *addresses)
{
    atomic_fetch_sub_explicit(&addresses->calls, 1, memory_order_release);
}

unsigned addresses_calls(const struct addresses *addresses)
{
    return atomic_load_explicit(&addresses->calls, memory_order_acquire);
}
