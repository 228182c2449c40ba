/* Prompts and answers as they are shown to an operator who has asked for them (llm_gateway.log_content): nowhere else
 * does what people write leave a call. Messages are written as OpenTelemetry's conventions for generative AI have them,
 * the newest ones, cut to a bound; the bounds are of text before it is escaped. */
#ifndef RENGA_LLM_GATEWAY_PIPELINE_CONTENT_H
#define RENGA_LLM_GATEWAY_PIPELINE_CONTENT_H

#include "pipeline.h"

struct span;

#define CONTENT_SPAN_MAX ((size_t)8 << 10) /* bytes of each side in a span, which holds 64 KiB */
#define CONTENT_LOG_MAX  1024              /* bytes of each side in a line of the log, which holds 4 KiB */

/* Of the last request: gen_ai.input.messages and gen_ai.output.messages. Nothing where it is not asked for. */
void pipeline_content_describe(struct pipeline *pipeline, struct span *span);

/* The same as two lines of the log, at level debug. */
void pipeline_content_log(struct pipeline *pipeline);

#endif
