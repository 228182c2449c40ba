/* Private to the orchestrator: the run's budget of requests to models that fail. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_MODEL_RETRIES_H
#define RENGA_ORCHESTRATOR_MODEL_RETRIES_H

#include <stdbool.h>
#include <stdint.h>

struct activation;
struct run;

/* An attempt begins: sets activation->allowed_requests. The attempt holds them until activation_release_requests. */
void activation_take_requests(struct activation *activation);
/* It has ended, or its node is taken out of work. May be called again. */
void activation_release_requests(struct activation *activation);
/* For RunNodeRequest.model_requests. */
int32_t activation_model_requests(const struct activation *activation);
/* It has failed, and activation->spent is set. `unknown`: it was cut off, and may have sent all that it was allowed. */
void activation_requests_failed(struct activation *activation, bool unknown);
/* After activation_requests_failed: whether the node's policy and the budget allow another attempt, which then begins.
 */
bool activation_may_retry(struct activation *activation);
/* It has finished, and activation->response is set. */
void activation_requests_answered(struct activation *activation);
/* The run was resumed by a call. */
void run_reset_retry_budget(struct run *run);

#endif
