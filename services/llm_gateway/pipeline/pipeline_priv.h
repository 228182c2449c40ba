/* Private to pipeline*.c. */
#ifndef RENGA_LLM_GATEWAY_PIPELINE_PRIV_H
#define RENGA_LLM_GATEWAY_PIPELINE_PRIV_H

#include "gateway_priv.h"
#include "pipeline.h"
#include "routing/deployment.h"
#include "routing/route.h"

/* pipeline.c: the one end, whatever led to it. `good` is an answer, else pipeline->failure says why there is none. */
void pipeline_end(struct pipeline *pipeline, bool good);
void pipeline_move(struct pipeline *pipeline, enum pipeline_state state);

/* pipeline_upstream.c: asks a deployment, and others after it as far as the policy goes; ends with pipeline_end. */
void pipeline_route(struct pipeline *pipeline);
void pipeline_release_turn(struct pipeline *pipeline);
/* pipeline_read.c: the answer is read, perhaps by a worker thread; `was_read` runs in the loop, perhaps at once.
 * `here`: a provider in this process is asked first, after a `before` that failed; else the transfer has just finished.
 */
void pipeline_read(struct pipeline *pipeline, const struct failure *before, bool here,
                   void (*was_read)(struct pipeline *pipeline, bool good));
/* The reading has no waiting request any more; it still ends. */
void pipeline_read_cancel(struct pipeline *pipeline);
/* The rest of the caller's time or of llm_gateway.timeout, the shorter one, in milliseconds. */
int64_t pipeline_remaining_ms(const struct pipeline *pipeline);

/* pipeline_record_usage.c: what the whole of it used goes to the limits, the accounts and the metrics. Before the
 * reply. */
void pipeline_record_usage(struct pipeline *pipeline, bool good);
void pipeline_record_cached(struct pipeline *pipeline);
/* What it will cost, for the limits: of the first target. */
int64_t pipeline_estimated_micros(const struct pipeline *pipeline);
/* What a request of the last attempt used is added up, with its price. */
void pipeline_add_usage(struct pipeline *pipeline);

#endif
