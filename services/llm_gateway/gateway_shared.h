/* The life of the state that the instances of a process share (instance/gateway_instance.h), and the options of the
 * service. */
#ifndef RENGA_LLM_GATEWAY_GATEWAY_SHARED_H
#define RENGA_LLM_GATEWAY_GATEWAY_SHARED_H

#include "base/status.h"
#include "config/config.h"

struct gateway;
struct gateway_shared;
struct metrics;

/* `config` and `metrics` are borrowed; `metrics` gets the gauges of shared state: slots, queue, circuit breakers,
 * cache, ledger. No instance has joined yet. */
struct gateway_shared *gateway_shared_create(const struct config *config, struct metrics *metrics, struct status *st);

/* Called in each loop at the beginning and end of its instance. The last leave destroys the shared state. */
struct gateway_shared *gateway_shared_join(struct gateway_shared *shared, struct gateway *gateway);
void gateway_shared_leave(struct gateway_shared **shared, struct gateway *gateway);

/* Reads the routes document again. A wrong document is logged and the old one stays. When this returns, all loops
 * use the new one. Not from inside a loop; one call at a time, between the last join and the first leave. */
void gateway_shared_reload(struct gateway_shared *shared);

extern const struct option llm_gateway_options[];

#endif
