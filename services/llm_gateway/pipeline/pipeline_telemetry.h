/* Telemetry of model calls: metrics, and a span for each request, by OpenTelemetry's conventions for generative AI
 * (https://opentelemetry.io/docs/specs/semconv/gen-ai/).
 *
 *      renga_llm_calls_total            model, operation, code        renga_llm_duration_seconds      model, operation
 *      renga_llm_attempts_total         deployment, code              renga_llm_first_token_seconds   model
 *      renga_llm_tokens_total           model, deployment, type       renga_llm_cost_usd_total        model, deployment
 *
 * One in each loop, with series for each configuration generation. */
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

/* The series that a loop has looked up for these routes. */
struct pipeline_series *pipeline_series_create(const struct routes *routes);
void pipeline_series_destroy(struct pipeline_series **series);

/* A request has ended with `code`. */
void pipeline_record_attempt(struct pipeline *pipeline, enum status_code code);

/* The call has ended; the reply has not been sent yet. */
void pipeline_record_end(struct pipeline *pipeline, enum status_code code);

#endif
