/* What asking models looks like from outside: metrics, and a span for each request, after OpenTelemetry's conventions
 * for generative AI (https://opentelemetry.io/docs/specs/semconv/gen-ai/).
 *
 *      renga_llm_calls_total            model, operation, code        renga_llm_duration_seconds      model, operation
 *      renga_llm_attempts_total         deployment, code              renga_llm_first_token_seconds   model
 *      renga_llm_tokens_total           model, deployment, type       renga_llm_cost_usd_total        model, deployment
 *
 * One a loop, and series for each generation of the configuration there. */
#ifndef RENGA_LLM_GATEWAY_PIPELINE_TELEMETRY_H
#define RENGA_LLM_GATEWAY_PIPELINE_TELEMETRY_H

#include "pipeline.h"

struct pipeline_metrics;
struct pipeline_series;
struct metrics;
struct routes;
struct spans;

/* `spans` may be NULL; all are borrowed. */
struct pipeline_metrics *pipeline_metrics_create(struct metrics *metrics, struct spans *spans);
void pipeline_metrics_destroy(struct pipeline_metrics **metrics);

/* Where a loop keeps what it has looked up for these routes. */
struct pipeline_series *pipeline_series_create(const struct routes *routes);
void pipeline_series_destroy(struct pipeline_series **series);

/* A request has ended, `code` is what became of it. */
void pipeline_record_attempt(struct pipeline *pipeline, enum status_code code);

/* The call has ended; nothing of it has been told to the client yet. */
void pipeline_record_end(struct pipeline *pipeline, enum status_code code);

#endif
