/* Channels to services at addresses that become known while the process runs: remote nodes, which graph documents name,
 * and orchestrators that share the store. Each address has its own channel, opened with the first call and kept. */
#ifndef RENGA_ORCHESTRATOR_ADDRESSES_H
#define RENGA_ORCHESTRATOR_ADDRESSES_H

#include "base/status.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

#define ADDRESSES_MAX 10000 /* documents name a handful; more are a mistake that must not use up descriptors */

struct addresses;
struct rpc_schema;
struct rpc_tls;

/* All is borrowed for as long as the addresses live. */
struct addresses_options {
    const ProtobufCServiceDescriptor *service; /* that is called there */
    const struct rpc_schema *schema;
    const struct rpc_tls *tls; /* NULL: no TLS */
    const char *authority;     /* the name expected in certificates; NULL: the address's own */
    const char *key;           /* bearer key that is sent to them; NULL: no key */
    size_t message_max;
    int64_t keepalive_ms; /* as rpc_channel_options */
    bool foreign;         /* likewise */
};
struct addresses *addresses_create(const struct addresses_options *options);
/* No call may be under way. */
void addresses_destroy(struct addresses **addresses);

/* A stub of the service for calls from any loop; it lives as long as the addresses. Any thread. */
ProtobufCService *addresses_stub(struct addresses *addresses, const char *address, struct status *st);

/* Calls under way, so that the end of the process can wait for them. Any thread. */
void addresses_call_began(struct addresses *addresses);
void addresses_call_ended(struct addresses *addresses);
unsigned addresses_calls(const struct addresses *addresses);

#endif
