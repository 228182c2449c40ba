/* What asking models looks like from outside: metrics, and a span for each request, after OpenTelemetry's conventions
 * for generative AI (https://opentelemetry.io/docs/specs/semconv/gen-ai/).
 *
 *      renga_llm_calls_total            model, operation, code        renga_llm_duration_seconds      model, operation
 *      renga_llm_attempts_total         deployment, code              renga_llm_first_token_seconds   model
 *      renga_llm_tokens_total           model, deployment, type       renga_llm_cost_usd_total        model, deployment
 *
 * One a loop, and series for each edition of the routes there. */
#ifndef RENGA_LLM_GATEWAY_ASK_OBSERVE_H
#define RENGA_LLM_GATEWAY_ASK_OBSERVE_H

#include "ask.h"

struct ask_metrics;
struct ask_series;
struct metrics;
struct routes;
struct spans;

/* `spans` may be NULL; all are borrowed. */
struct ask_metrics *ask_metrics_create(struct metrics *metrics, struct spans *spans);
void ask_metrics_destroy(struct ask_metrics **metrics);

/* Where a loop keeps what it has looked up for these routes. */
struct ask_series *ask_series_create(const struct routes *routes);
void ask_series_destroy(struct ask_series **series);

/* A request has ended, `code` is what became of it. */
void ask_observe_attempt(struct ask *ask, enum status_code code);

/* The call has ended; nothing of it has been told to the client yet. */
void ask_observe_end(struct ask *ask, enum status_code code);

#endif
