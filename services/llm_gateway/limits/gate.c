/* Entering, waiting, leaving. */
#include "gate_priv.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ------------------------------------------------------------------------------------------------------ */

static bool process_full(const struct gate *gate)
{
    return gate->in_flight_max && gate->stats.inside >= gate->in_flight_max;
}

static const struct gate_party *full_party(const struct ticket *ticket)
{
    if (gate_party_full(ticket->of_client))
        return ticket->of_client;
    return gate_party_full(ticket->of_tenant) ? ticket->of_tenant : NULL;
}

static void take_place(struct gate *gate, struct ticket *ticket)
{
    ticket->of_client->inside++;
    ticket->of_tenant->inside++;
    gate->stats.inside++;
    gate->stats.admitted++;
    ticket->state = TICKET_INSIDE;
}

static void call_waiting(struct gate *gate)
{
    struct ticket *ticket;
    while (gate->waiting && !process_full(gate) && (ticket = gate_queue_turn(gate))) {
        take_place(gate, ticket);
        gate_porch_append(gate, ticket, TICKET_CALLED);
    }
}

static void free_place(struct gate *gate, struct ticket *ticket)
{
    ticket->of_client->inside--;
    ticket->of_tenant->inside--;
    gate->stats.inside--;
    ticket->state = TICKET_OUTSIDE;
    if (!gate->waiting)
        return;
    gate_note_departure(gate);
    call_waiting(gate);
}

/* ---- budgets ----------------------------------------------------------------------------------------------------- */

static bool is_budgeted(const struct ticket *ticket)
{
    return ticket->of_client->budgeted || ticket->of_tenant->budgeted || ticket->client_holds || ticket->tenant_holds;
}

static bool may_afford(struct gate *gate, const struct ticket *ticket, const struct gate_moment *moment,
                       struct gate_shortage *shortage)
{
    gate_budget_check(gate, ticket->of_client, ticket, moment, shortage);
    gate_budget_check(gate, ticket->of_tenant, ticket, moment, shortage);
    if (!shortage->limit)
        return true;
    if (shortage->money)
        gate->stats.refused_money++;
    else
        gate->stats.refused_rate++;
    return false;
}

static void reserve(struct ticket *ticket, const struct gate_moment *moment)
{
    ticket->client_holds = gate_budget_reserve(ticket->of_client, ticket, moment);
    ticket->tenant_holds = gate_budget_reserve(ticket->of_tenant, ticket, moment);
}

static void return_reserved(struct gate *gate, const struct ticket *ticket)
{
    if (!is_budgeted(ticket))
        return;
    struct gate_moment moment = gate_moment(gate);
    gate_budget_return(gate, ticket->of_client, ticket, &moment);
    gate_budget_return(gate, ticket->of_tenant, ticket, &moment);
}

/* ---- entering ---------------------------------------------------------------------------------------------------- */

/* The last of a line goes for the newcomer. */
static bool crowd_out(struct gate *gate, const struct ticket *newcomer)
{
    struct ticket *victim = gate_queue_crowded_out(gate, newcomer);
    if (!victim)
        return false;
    gate_queue_remove(gate, victim);
    return_reserved(gate, victim);
    gate->stats.refused_queue++;
    gate_refuse_crowded_out(victim, gate_queue_hint_ms(gate, clock_now_ns()));
    gate_porch_append(gate, victim, TICKET_SENT_AWAY);
    return true;
}

static bool may_wait(struct gate *gate, const struct ticket *ticket)
{
    if (gate->waiting < gate->queue_max || (gate->queue_max && crowd_out(gate, ticket)))
        return true;
    gate->stats.refused_queue++;
    return false;
}

static enum gate_answer place_or_queue(struct gate *gate, struct ticket *ticket)
{
    if (!process_full(gate) && !full_party(ticket)) {
        take_place(gate, ticket);
        return GATE_ADMITTED;
    }
    if (!may_wait(gate, ticket))
        return GATE_REFUSED;
    ticket->since_ns = clock_now_ns();
    gate_queue_append(gate, ticket);
    return GATE_WAITS;
}

static enum gate_answer enter(struct gate *gate, struct ticket *ticket, struct gate_shortage *shortage)
{
    struct gate_moment moment = {0};
    bool budgeted = is_budgeted(ticket);
    if (budgeted) {
        moment = gate_moment(gate);
        if (!may_afford(gate, ticket, &moment, shortage))
            return GATE_REFUSED;
    }
    enum gate_answer answer = place_or_queue(gate, ticket);
    if (budgeted && answer != GATE_REFUSED)
        reserve(ticket, &moment);
    return answer;
}

/* In the ticket's loop; it may have been called already, by another thread. */
static void patience_over(struct timer *timer)
{
    struct ticket *ticket = OWNER_OF(timer, struct ticket, patience);
    struct gate *gate = ticket->gate;
    int64_t now_ns = clock_now_ns();
    pthread_mutex_lock(&gate->lock);
    bool late = ticket->state == TICKET_WAITING;
    const struct gate_party *full = full_party(ticket);
    int64_t places = full ? full->concurrency : gate->in_flight_max;
    int32_t hint_ms = gate_queue_hint_ms(gate, now_ns);
    if (late) {
        gate_queue_remove(gate, ticket);
        return_reserved(gate, ticket);
        gate->stats.refused_late++;
        ticket->state = TICKET_OUTSIDE;
        call_waiting(gate); /* the next of its line may be of another tenant */
    }
    gate_unlock(gate);
    if (!late)
        return;
    gate_refuse_late(ticket, full, places, (now_ns - ticket->since_ns) / NS_PER_MS, hint_ms);
    ticket->admitted(ticket);
}

static void ticket_begin(struct gate *gate, struct ticket *ticket)
{
    assert(ticket->state == TICKET_OUTSIDE && ticket->priority < GATE_PRIORITIES);
    ticket->gate = gate;
    ticket->exhausted = NULL;
    ticket->client_holds = ticket->tenant_holds = 0;
    ticket->status.code = OK;
    ticket->status.retry_after_ms = 0;
    ticket->status.field[0] = ticket->status.text[0] = '\0';
}

enum gate_answer gate_enter(struct gate *gate, struct ticket *ticket)
{
    struct gate_shortage shortage = {0};
    uint32_t client = gate_name_hash(ticket->client), tenant = gate_name_hash(ticket->tenant);
    ticket_begin(gate, ticket);
    pthread_mutex_lock(&gate->lock);
    ticket->of_client = gate_party_find(&gate->clients, ticket->client, client);
    ticket->of_tenant = gate_party_find(&gate->tenants, ticket->tenant, tenant);
    ticket->has_room = ticket->of_client->requests.limit || ticket->of_client->tokens.limit;
    enum gate_answer answer = enter(gate, ticket, &shortage);
    bool queue_full = answer == GATE_REFUSED && !shortage.limit;
    int32_t hint_ms = queue_full ? gate_queue_hint_ms(gate, clock_now_ns()) : 0;
    gate_unlock(gate);
    if (answer == GATE_WAITS) {
        ticket->patience.expired = patience_over;
        loop_arm_after(ticket->loop, &ticket->patience, gate->queue_wait_ms);
    } else if (shortage.limit) {
        gate_refuse_shortage(ticket, &shortage);
    } else if (queue_full) {
        gate_refuse_full(ticket, hint_ms);
    }
    return answer;
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

void gate_leave(struct ticket *ticket, int64_t tokens, int64_t micros)
{
    struct gate *gate = ticket->gate;
    pthread_mutex_lock(&gate->lock);
    assert(ticket->state == TICKET_INSIDE);
    if (is_budgeted(ticket)) {
        struct gate_moment moment = gate_moment(gate);
        gate_budget_settle(gate, ticket->of_client, ticket, &moment, tokens, micros);
        gate_budget_settle(gate, ticket->of_tenant, ticket, &moment, tokens, micros);
    }
    free_place(gate, ticket);
    gate_unlock(gate);
}

void gate_withdraw(struct ticket *ticket)
{
    struct gate *gate = ticket->gate;
    if (!gate)
        return;
    pthread_mutex_lock(&gate->lock);
    assert(ticket->state != TICKET_INSIDE);
    if (ticket->state == TICKET_WAITING) {
        gate_queue_remove(gate, ticket);
        return_reserved(gate, ticket);
        call_waiting(gate);
    } else if (ticket->state == TICKET_CALLED) {
        gate_porch_remove(ticket);
        return_reserved(gate, ticket);
        free_place(gate, ticket);
    } else if (ticket->state == TICKET_SENT_AWAY) {
        gate_porch_remove(ticket);
    }
    ticket->state = TICKET_OUTSIDE;
    gate_unlock(gate);
    if (ticket->patience.place)
        loop_disarm(ticket->loop, &ticket->patience);
}

/* ---- the gate itself --------------------------------------------------------------------------------------------- */

struct gate *gate_create(const struct gate_options *options)
{
    struct gate *gate = calloc(1, sizeof *gate);
    if (!gate)
        fatal("llm_gateway.memory", "no memory for the gate");
    gate->in_flight_max = options->in_flight_max;
    gate->queue_max = options->queue_max;
    gate->queue_wait_ms = options->queue_wait_ms;
    gate->wall_ns = options->wall_ns ? options->wall_ns : clock_wall_ns;
    gate->model = options->model ? strdup(options->model) : NULL;
    if (options->model && !gate->model)
        fatal("llm_gateway.memory", "no memory for the gate of a model");
    gate->holders = 1;
    gate->tenants.tenants = true;
    gate->clients.only_weights = gate->tenants.only_weights = options->model != NULL;
    gate_parties_init(&gate->clients, options->clients);
    gate_parties_init(&gate->tenants, options->tenants);
    gate_queue_init(gate);
    gate_porch_init(gate);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP); /* it is never held for long */
    pthread_mutex_init(&gate->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return gate;
}

void gate_free(struct gate *gate)
{
    gate_parties_fini(&gate->clients);
    gate_parties_fini(&gate->tenants);
    pthread_mutex_destroy(&gate->lock);
    free(gate->model);
    free(gate);
}

void gate_destroy(struct gate **gate_pointer)
{
    struct gate *gate = *gate_pointer;
    if (!gate)
        return;
    *gate_pointer = NULL;
    if (atomic_fetch_sub_explicit(&gate->holders, 1, memory_order_acq_rel) > 1)
        return;
    pthread_mutex_lock(&gate->lock);
    assert(gate->waiting == 0 && gate->stats.inside == 0);
    gate->abandoned = true;
    bool last = gate->posts == 0;
    pthread_mutex_unlock(&gate->lock);
    if (last)
        gate_free(gate);
}

struct gate *gate_hold(struct gate *gate)
{
    atomic_fetch_add_explicit(&gate->holders, 1, memory_order_relaxed);
    return gate;
}

void gate_limit(struct gate *gate, unsigned in_flight_max, const struct limits_table *clients,
                const struct limits_table *tenants)
{
    int64_t now_ns = clock_now_ns();
    pthread_mutex_lock(&gate->lock);
    gate->in_flight_max = in_flight_max;
    gate_parties_limit(&gate->clients, clients, now_ns);
    gate_parties_limit(&gate->tenants, tenants, now_ns);
    call_waiting(gate);
    gate_unlock(gate);
}

void gate_remember(struct gate *gate, bool tenant, const char *name, int64_t micros)
{
    struct gate_moment moment = gate_moment(gate);
    struct gate_parties *parties = tenant ? &gate->tenants : &gate->clients;
    pthread_mutex_lock(&gate->lock);
    struct gate_party *party = gate_party_find(parties, name, gate_name_hash(name));
    if (party != parties->others)
        gate_budget_remember(gate, party, &moment, micros);
    pthread_mutex_unlock(&gate->lock);
}

bool gate_room(const struct ticket *ticket, struct gate_room *room)
{
    const struct gate_party *client = ticket->of_client;
    if (!ticket->has_room)
        return false;
    int64_t now_ns = clock_now_ns();
    pthread_mutex_lock(&ticket->gate->lock);
    gate_bucket_room(&client->requests, now_ns, &room->requests_limit, &room->requests_left, &room->requests_reset_ms);
    gate_bucket_room(&client->tokens, now_ns, &room->tokens_limit, &room->tokens_left, &room->tokens_reset_ms);
    pthread_mutex_unlock(&ticket->gate->lock);
    return true;
}

void gate_stats(struct gate *gate, struct gate_stats *stats)
{
    pthread_mutex_lock(&gate->lock);
    *stats = gate->stats;
    pthread_mutex_unlock(&gate->lock);
}
