/* What a call used, and where that is written down: the limits it was let in by, the accounts, the metrics. */
#include "ask_priv.h"

#include "accounts/ledger.h"
#include "accounts/price.h"
#include "ask_observe.h"
#include "base/clock.h"

#define UNCONST(text) ((char *)(uintptr_t)(text))

void ask_add_usage(struct ask *ask)
{
    Renga__V1__Usage *sum = &ask->usage;
    const Renga__V1__Usage *used = ask->kind->used(ask);
    sum->model_calls++;
    sum->unpriced_calls += target_is_unpriced(ask->target);
    if (!used)
        return;
    sum->input_tokens += used->input_tokens;
    sum->output_tokens += used->output_tokens;
    sum->cached_input_tokens += used->cached_input_tokens;
    sum->cache_write_tokens += used->cache_write_tokens;
    sum->reasoning_tokens += used->reasoning_tokens;
    sum->estimated |= used->estimated;
    if (ask->target->price)
        sum->cost_micros += price_of(ask->target->price, used);
}

int64_t ask_estimated_micros(const struct ask *ask)
{
    const struct price *price = ask->route->targets[0].price;
    Renga__V1__Usage guess = RENGA__V1__USAGE__INIT;
    guess.input_tokens = ask->input_tokens;
    guess.output_tokens = ask->output_tokens;
    return price ? price_of(price, &guess) : 0;
}

static void note(struct ask *ask, enum status_code code, bool cached)
{
    const struct rpc_principal *principal = rpc_call_principal(ask->call);
    struct ledger_entry entry = {
        .ended_ms = clock_wall_ns() / NS_PER_MS,
        .client = principal->name,
        .tenant = principal->tenant,
        .model = ask->route->name,
        .deployment = ask->target ? ask->target->deployment->name : NULL,
        .run_id = ask->origin ? ask->origin->run_id : NULL,
        .thread_id = ask->origin ? ask->origin->thread_id : NULL,
        .usage = &ask->usage,
        .failed = code != OK && code != CANCELLED, /* a deadline that has passed is a failure like any other */
        .cancelled = code == CANCELLED,
        .cached = cached,
    };
    ledger_note(ask->gateway->commons->ledger, &entry);
}

void ask_settle(struct ask *ask, bool good)
{
    ask_pass_turn(ask);
    if (ask->placed)
        gate_leave(&ask->place->ticket, 0, 0);
    if (ask->entered)
        gate_leave(&ask->ticket, ask->usage.input_tokens + ask->usage.output_tokens, ask->usage.cost_micros);
    enum status_code code = good ? OK : ask->failure.status.code;
    note(ask, code, false);
    ask_observe_end(ask, code);
}

void ask_settle_recalled(struct ask *ask)
{
    note(ask, OK, true);
    ask_observe_end(ask, OK);
}

Renga__V1__Degradation *ask_degradation(const struct ask *ask)
{
    if (!ask->target || ask->target->rank == ask->route->targets[0].rank)
        return NULL;
    struct arena *arena = rpc_call_arena(ask->call);
    Renga__V1__Degradation *degradation = arena_alloc(arena, sizeof *degradation);
    char *reason = arena_printf(arena, "%s answered in place of %s", ask->target->deployment->name,
                                ask->route->targets[0].deployment->name);
    if (!degradation || !reason)
        return NULL;
    renga__v1__degradation__init(degradation);
    degradation->part = UNCONST(ask->route->name);
    degradation->kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK;
    degradation->reason = reason;
    degradation->status_code = ask->attempt_count ? ask->attempts[0]->status_code : (int32_t)UNAVAILABLE;
    return degradation;
}
