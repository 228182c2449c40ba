/* The probe service of probe.proto, one instance a loop. For tests only. */
#ifndef RENGA_TESTS_PROBE_H
#define RENGA_TESTS_PROBE_H

#include "loop/loop.h"

#include <protobuf-c/protobuf-c.h>

struct rpc_schema;

/* The schema of probe.proto with health and reflection. */
struct rpc_schema *probe_schema(void);

/* An instance for one loop. `next` is the Probe that Forward calls; NULL: it has none. */
ProtobufCService *probe_create(struct loop *loop, ProtobufCService *next);

/* May be set later, before calls come. */
void probe_set_next(ProtobufCService *probe, ProtobufCService *next);

/* No call may be under way. */
void probe_destroy(ProtobufCService *probe);

#endif
