/* The verdict on a request to a source. */
#ifndef RENGA_TOOL_RUNNER_SOURCE_CALL_CLASSIFY_H
#define RENGA_TOOL_RUNNER_SOURCE_CALL_CLASSIFY_H

#include "search/source_call.h"

/* A transfer that ended without an answer of 2xx: fills call->failure, is_late, is_final and in_doubt. */
void source_call_classify(struct source_call *call);

/* An answer that could not be read. */
void source_call_classify_unread(struct source_call *call);

/* Endpoint health refuses a request; `wait_ms` is when it may be asked again. */
/* The tenant has all its slots already. */
void source_call_classify_slots(struct source_call *call);
void source_call_classify_refusal(struct source_call *call, enum endpoint_refusal refusal, int64_t wait_ms);

/* Puts the source's name before the text, and takes its key and `token` out of it. */
void source_call_name_failure(struct source_call *call, const char *token);

/* The verdict on the source that the failure (or its absence) stands for. */
struct endpoint_report source_call_report(const struct source_call *call);

#endif
