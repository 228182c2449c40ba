/* The outcome of a request, for the read_result of all operations. A function that returns false has filled
 * pipeline->failure. */
#ifndef RENGA_LLM_GATEWAY_PIPELINE_RESULT_H
#define RENGA_LLM_GATEWAY_PIPELINE_RESULT_H

#include "pipeline.h"

/* False: the caller has left or stopped reading. */
bool pipeline_check_caller(struct pipeline *pipeline);

/* An HTTP status of 300 and up. Always false. */
bool pipeline_fail_http(struct pipeline *pipeline);

/* llm_gateway.timeout has passed, and not the caller's own deadline. */
bool pipeline_timed_out(const struct pipeline *pipeline);

/* The transport failed. Always false. */
bool pipeline_fail_transport(struct pipeline *pipeline);

#endif
