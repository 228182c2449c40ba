/* Private to pipeline*.c. */
#ifndef RENGA_LLM_GATEWAY_PIPELINE_PRIV_H
#define RENGA_LLM_GATEWAY_PIPELINE_PRIV_H

#include "instance/gateway_instance.h"
#include "pipeline.h"
#include "routing/deployment.h"
#include "routing/route.h"

/* pipeline.c: the only end of a call. `good`: there is an answer; otherwise pipeline->failure has the reason. */
void pipeline_end(struct pipeline *pipeline, bool good);
void pipeline_move(struct pipeline *pipeline, enum pipeline_state state);

/* pipeline_upstream.c: calls a deployment, then others as the policy allows; ends with pipeline_end. */
void pipeline_route(struct pipeline *pipeline);
void pipeline_release_turn(struct pipeline *pipeline);
/* pipeline_read.c: reads the answer, possibly in a worker thread. `was_read` runs in the loop, possibly at once.
 * `here`: a local provider runs first, after a request that failed with `before`; otherwise the transfer has just
 * finished. */
void pipeline_read(struct pipeline *pipeline, const struct failure *before, bool here,
                   void (*was_read)(struct pipeline *pipeline, bool good));
/* Detaches the reading from the request; the reading still ends. */
void pipeline_read_cancel(struct pipeline *pipeline);
/* The rest of the caller's time or of llm_gateway.timeout, the shorter one, in milliseconds. */
int64_t pipeline_remaining_ms(const struct pipeline *pipeline);

/* pipeline_usage.c: writes the call's total use to the limits, the ledger and the metrics. Before the reply. */
void pipeline_record_usage(struct pipeline *pipeline, bool good);
void pipeline_record_cached(struct pipeline *pipeline);
/* Estimated cost, for the limits: of the first target. */
int64_t pipeline_estimated_micros(const struct pipeline *pipeline);
/* Adds the usage of the last attempt, with its price. */
void pipeline_add_usage(struct pipeline *pipeline);

#endif
