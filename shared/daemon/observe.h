/* Metrics, traces and the HTTP pages of a process. Private to shared/daemon. */
#ifndef RENGA_DAEMON_OBSERVE_H
#define RENGA_DAEMON_OBSERVE_H

#include "base/status.h"
#include "config/config.h"
#include "loop/loop.h"

#include <stdbool.h>

struct http_client;
struct metrics;
struct observation;
struct rpc_schema;
struct spans;

/* All arguments are borrowed until observation_stop. */
struct observation *observation_start(const char *name, const struct config *config, struct loop *const *loops,
                                      struct http_client *const *http, unsigned loop_count,
                                      const struct rpc_schema *schema, struct status *st);
struct metrics *observation_metrics(struct observation *observation);
struct spans *observation_spans(struct observation *observation);

/* Serves http.listen, if set; from now on the process is ready. */
bool observation_serve(struct observation *observation, struct status *st);
/* Sets the answer of /readyz; `reason` is borrowed for ever. Any thread. */
void observation_not_ready(struct observation *observation, const char *reason);
/* Sends the spans that are left, within a second. Not from a loop. */
void observation_stop(struct observation **observation);

#endif
