/* The usage of a call: reported to the limits that admitted it, the ledger and the metrics. */
#include "pipeline_priv.h"

#include "base/clock.h"
#include "pipeline_telemetry.h"
#include "usage/ledger.h"
#include "usage/price.h"

#define UNCONST(text) ((char *)(uintptr_t)(text))

void pipeline_add_usage(struct pipeline *pipeline)
{
    Renga__V1__Usage *sum = &pipeline->usage;
    const Renga__V1__Usage *used = pipeline->kind->used(pipeline);
    sum->model_calls++;
    sum->unpriced_calls += target_is_unpriced(pipeline->target);
    if (!used)
        return;
    sum->input_tokens += used->input_tokens;
    sum->output_tokens += used->output_tokens;
    sum->cached_input_tokens += used->cached_input_tokens;
    sum->cache_write_tokens += used->cache_write_tokens;
    sum->reasoning_tokens += used->reasoning_tokens;
    sum->estimated |= used->estimated;
    if (pipeline->target->price)
        sum->cost_micros += price_of(pipeline->target->price, used);
}

int64_t pipeline_estimated_micros(const struct pipeline *pipeline)
{
    const struct price *price = pipeline->route->targets[0].price;
    Renga__V1__Usage guess = RENGA__V1__USAGE__INIT;
    guess.input_tokens = pipeline->input_tokens;
    guess.output_tokens = pipeline->output_tokens;
    return price ? price_of(price, &guess) : 0;
}

static void pipeline_usage_note(struct pipeline *pipeline, enum status_code code, bool cached)
{
    const struct rpc_principal *principal = rpc_call_principal(pipeline->call);
    struct ledger_entry entry = {
        .ended_ms = clock_wall_ns() / NS_PER_MS,
        .client = principal->name,
        .tenant = principal->tenant,
        .model = pipeline->route->name,
        .deployment = pipeline->target ? pipeline->target->deployment->name : NULL,
        .run_id = pipeline->origin ? pipeline->origin->run_id : NULL,
        .thread_id = pipeline->origin ? pipeline->origin->thread_id : NULL,
        .usage = &pipeline->usage,
        .failed = code != OK && code != CANCELLED, /* a deadline that has passed is a failure like any other */
        .cancelled = code == CANCELLED,
        .cached = cached,
    };
    ledger_note(pipeline->gateway->shared->ledger, &entry);
}

void pipeline_record_usage(struct pipeline *pipeline, bool good)
{
    pipeline_release_turn(pipeline);
    if (pipeline->placed)
        admission_leave(&pipeline->place->ticket, 0, 0);
    if (pipeline->entered)
        admission_leave(&pipeline->ticket, pipeline->usage.input_tokens + pipeline->usage.output_tokens,
                        pipeline->usage.cost_micros);
    enum status_code code = good ? OK : pipeline->failure.status.code;
    pipeline_usage_note(pipeline, code, false);
    pipeline_record_end(pipeline, code);
}

void pipeline_record_cached(struct pipeline *pipeline)
{
    pipeline_usage_note(pipeline, OK, true);
    pipeline_record_end(pipeline, OK);
}

Renga__V1__Degradation *pipeline_degradation(const struct pipeline *pipeline)
{
    if (!pipeline->target || pipeline->target->rank == pipeline->route->targets[0].rank)
        return NULL;
    struct arena *arena = rpc_call_arena(pipeline->call);
    Renga__V1__Degradation *degradation = arena_alloc(arena, sizeof *degradation);
    char *reason = arena_printf(arena, "%s answered in place of %s", pipeline->target->deployment->name,
                                pipeline->route->targets[0].deployment->name);
    if (!degradation || !reason)
        return NULL;
    renga__v1__degradation__init(degradation);
    degradation->part = UNCONST(pipeline->route->name);
    degradation->kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK;
    degradation->reason = reason;
    degradation->status_code = pipeline->attempt_count ? pipeline->attempts[0]->status_code : (int32_t)UNAVAILABLE;
    return degradation;
}
