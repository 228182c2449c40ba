/* Prompts and answers for an operator who has enabled llm_gateway.log_content; the gateway writes users' text to no
 * other place. Messages follow OpenTelemetry's conventions for generative AI. The newest messages are written, cut
 * to a limit that counts text before escaping. */
#ifndef RENGA_LLM_GATEWAY_PIPELINE_CONTENT_H
#define RENGA_LLM_GATEWAY_PIPELINE_CONTENT_H

#include "pipeline.h"

struct span;

#define CONTENT_SPAN_MAX ((size_t)8 << 10) /* bytes of each side in a span, which holds 64 KiB */
#define CONTENT_LOG_MAX  1024              /* bytes of each side in a line of the log, which holds 4 KiB */

/* Of the last request: gen_ai.input.messages and gen_ai.output.messages. No attributes if log_content is off. */
void pipeline_content_describe(struct pipeline *pipeline, struct span *span);

/* The same as two lines of the log, at level debug. */
void pipeline_content_log(struct pipeline *pipeline);

#endif
