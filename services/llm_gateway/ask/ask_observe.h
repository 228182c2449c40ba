/* What asking models looks like from outside: metrics, and a span for each request, after OpenTelemetry's conventions
 * for generative AI (https://opentelemetry.io/docs/specs/semconv/gen-ai/).
 *
 *      renga_llm_calls_total            model, operation, code        renga_llm_duration_seconds      model, operation
 *      renga_llm_attempts_total         deployment, code              renga_llm_first_token_seconds   model
 *      renga_llm_tokens_total           model, deployment, type       renga_llm_cost_usd_total        model, deployment
 *
 * One a loop. */
#ifndef RENGA_LLM_GATEWAY_ASK_OBSERVE_H
#define RENGA_LLM_GATEWAY_ASK_OBSERVE_H

#include "ask.h"

struct ask_metrics;
struct metrics;
struct routes;
struct spans;

/* `spans` may be NULL; all are borrowed. */
struct ask_metrics *ask_metrics_create(struct metrics *metrics, struct spans *spans, const struct routes *routes);
void ask_metrics_destroy(struct ask_metrics **metrics);

/* A request has ended, `code` is what became of it. */
void ask_observe_attempt(struct ask *ask, enum status_code code);

/* The call has ended; nothing of it has been told to the client yet. */
void ask_observe_end(struct ask *ask, enum status_code code);

#endif
