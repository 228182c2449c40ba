/* Entering, waiting, leaving. */
#include "admission_priv.h"

#include "base/clock.h"
#include "base/memory.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ------------------------------------------------------------------------------------------------------ */

static bool process_full(const struct admission *admission)
{
    return admission->in_flight_max && admission->stats.inside >= admission->in_flight_max;
}

static const struct admission_consumer *full_consumer(const struct ticket *ticket)
{
    if (admission_consumer_full(ticket->of_client))
        return ticket->of_client;
    return admission_consumer_full(ticket->of_tenant) ? ticket->of_tenant : NULL;
}

static void take_place(struct admission *admission, struct ticket *ticket)
{
    ticket->of_client->inside++;
    ticket->of_tenant->inside++;
    admission->stats.inside++;
    admission->stats.admitted++;
    ticket->state = TICKET_INSIDE;
}

static void call_waiting(struct admission *admission)
{
    struct ticket *ticket;
    while (admission->waiting && !process_full(admission) && (ticket = admission_queue_next(admission))) {
        take_place(admission, ticket);
        admission_wakeup_append(admission, ticket, TICKET_CALLED);
    }
}

static void free_place(struct admission *admission, struct ticket *ticket)
{
    ticket->of_client->inside--;
    ticket->of_tenant->inside--;
    admission->stats.inside--;
    ticket->state = TICKET_OUTSIDE;
    if (!admission->waiting)
        return;
    admission_record_departure(admission);
    call_waiting(admission);
}

/* ---- budgets ----------------------------------------------------------------------------------------------------- */

static bool is_budgeted(const struct ticket *ticket)
{
    return ticket->of_client->budgeted || ticket->of_tenant->budgeted || ticket->client_reserved ||
           ticket->tenant_reserved;
}

static bool may_afford(struct admission *admission, const struct ticket *ticket, const struct admission_time *moment,
                       struct admission_shortage *shortage)
{
    admission_budget_check(admission, ticket->of_client, ticket, moment, shortage);
    admission_budget_check(admission, ticket->of_tenant, ticket, moment, shortage);
    if (!shortage->limit)
        return true;
    if (shortage->money)
        admission->stats.refused_money++;
    else
        admission->stats.refused_rate++;
    return false;
}

static void return_reserved(struct admission *admission, const struct ticket *ticket)
{
    if (!is_budgeted(ticket))
        return;
    struct admission_time moment = admission_time(admission);
    admission_budget_release(admission, ticket->of_client, ticket, &moment);
    admission_budget_release(admission, ticket->of_tenant, ticket, &moment);
}

/* ---- entering ---------------------------------------------------------------------------------------------------- */

/* The last of a flow goes for the newcomer. */
static bool crowd_out(struct admission *admission, const struct ticket *newcomer)
{
    struct ticket *victim = admission_queue_crowded_out(admission, newcomer);
    if (!victim)
        return false;
    admission_queue_remove(admission, victim);
    return_reserved(admission, victim);
    admission->stats.refused_queue++;
    admission_reject_crowded_out(victim, admission_queue_hint_ms(admission, clock_now_ns()));
    admission_wakeup_append(admission, victim, TICKET_SENT_AWAY);
    return true;
}

static bool admission_may_wait(struct admission *admission, const struct ticket *ticket)
{
    if (admission->waiting < admission->queue_max || (admission->queue_max && crowd_out(admission, ticket)))
        return true;
    admission->stats.refused_queue++;
    return false;
}

static enum admission_result place_or_queue(struct admission *admission, struct ticket *ticket)
{
    if (!process_full(admission) && !full_consumer(ticket)) {
        take_place(admission, ticket);
        return ADMISSION_ADMITTED;
    }
    if (!admission_may_wait(admission, ticket))
        return ADMISSION_REJECTED;
    ticket->since_ns = clock_now_ns();
    admission_queue_append(admission, ticket);
    return ADMISSION_QUEUED;
}

static enum admission_result enter(struct admission *admission, struct ticket *ticket,
                                   struct admission_shortage *shortage)
{
    struct admission_time moment = {0};
    bool budgeted = is_budgeted(ticket);
    if (budgeted) {
        moment = admission_time(admission);
        if (!may_afford(admission, ticket, &moment, shortage))
            return ADMISSION_REJECTED;
    }
    enum admission_result answer = place_or_queue(admission, ticket);
    if (budgeted && answer != ADMISSION_REJECTED) {
        ticket->client_reserved = admission_budget_reserve(ticket->of_client, ticket, &moment);
        ticket->tenant_reserved = admission_budget_reserve(ticket->of_tenant, ticket, &moment);
    }
    return answer;
}

/* In the ticket's loop; it may have been called already, by another thread. */
static void client_timed_out(struct timer *timer)
{
    struct ticket *ticket = CONTAINER_OF(timer, struct ticket, wait_timer);
    struct admission *admission = ticket->admission;
    int64_t now_ns = clock_now_ns();
    pthread_mutex_lock(&admission->lock);
    bool late = ticket->state == TICKET_WAITING;
    const struct admission_consumer *full = full_consumer(ticket);
    int64_t places = full ? full->concurrency : admission->in_flight_max;
    int32_t hint_ms = admission_queue_hint_ms(admission, now_ns);
    if (late) {
        admission_queue_remove(admission, ticket);
        return_reserved(admission, ticket);
        admission->stats.refused_late++;
        ticket->state = TICKET_OUTSIDE;
        call_waiting(admission); /* the next of its flow may be of another tenant */
    }
    admission_unlock(admission);
    if (!late)
        return;
    admission_reject_timeout(ticket, full, places, (now_ns - ticket->since_ns) / NS_PER_MS, hint_ms);
    ticket->admitted(ticket);
}

enum admission_result admission_enter(struct admission *admission, struct ticket *ticket)
{
    struct admission_shortage shortage = {0};
    uint32_t client = admission_name_hash(ticket->client), tenant = admission_name_hash(ticket->tenant);
    assert(ticket->state == TICKET_OUTSIDE && ticket->priority < ADMISSION_PRIORITIES);
    ticket->admission = admission;
    ticket->exhausted = NULL;
    ticket->client_reserved = ticket->tenant_reserved = 0;
    ticket->status.code = OK;
    ticket->status.retry_after_ms = 0;
    ticket->status.field[0] = ticket->status.text[0] = '\0';
    pthread_mutex_lock(&admission->lock);
    ticket->of_client = admission_consumer_find(&admission->clients, ticket->client, client);
    ticket->of_tenant = admission_consumer_find(&admission->tenants, ticket->tenant, tenant);
    ticket->has_rate_limits = ticket->of_client->requests.limit || ticket->of_client->tokens.limit;
    enum admission_result answer = enter(admission, ticket, &shortage);
    bool queue_full = answer == ADMISSION_REJECTED && !shortage.limit;
    int32_t hint_ms = queue_full ? admission_queue_hint_ms(admission, clock_now_ns()) : 0;
    admission_unlock(admission);
    if (answer == ADMISSION_QUEUED) {
        ticket->wait_timer.expired = client_timed_out;
        loop_arm_after(ticket->loop, &ticket->wait_timer, admission->queue_wait_ms);
    } else if (shortage.limit) {
        admission_reject_shortage(ticket, &shortage);
    } else if (queue_full) {
        admission_reject_full(ticket, hint_ms);
    }
    return answer;
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

void admission_leave(struct ticket *ticket, int64_t tokens, int64_t micros)
{
    struct admission *admission = ticket->admission;
    pthread_mutex_lock(&admission->lock);
    assert(ticket->state == TICKET_INSIDE);
    if (is_budgeted(ticket)) {
        struct admission_time moment = admission_time(admission);
        admission_budget_commit(admission, ticket->of_client, ticket, &moment, tokens, micros);
        admission_budget_commit(admission, ticket->of_tenant, ticket, &moment, tokens, micros);
    }
    free_place(admission, ticket);
    admission_unlock(admission);
}

void admission_withdraw(struct ticket *ticket)
{
    struct admission *admission = ticket->admission;
    if (!admission)
        return;
    pthread_mutex_lock(&admission->lock);
    assert(ticket->state != TICKET_INSIDE);
    if (ticket->state == TICKET_WAITING) {
        admission_queue_remove(admission, ticket);
        return_reserved(admission, ticket);
        call_waiting(admission);
    } else if (ticket->state == TICKET_CALLED) {
        admission_wakeup_remove(ticket);
        return_reserved(admission, ticket);
        free_place(admission, ticket);
    } else if (ticket->state == TICKET_SENT_AWAY) {
        admission_wakeup_remove(ticket);
    }
    ticket->state = TICKET_OUTSIDE;
    admission_unlock(admission);
    if (ticket->wait_timer.place)
        loop_disarm(ticket->loop, &ticket->wait_timer);
}

/* ---- admission itself -------------------------------------------------------------------------------------------- */

struct admission *admission_create(const struct admission_options *options)
{
    struct admission *admission = xcalloc(1, sizeof *admission);
    admission->in_flight_max = options->in_flight_max;
    admission->queue_max = options->queue_max;
    admission->queue_wait_ms = options->queue_wait_ms;
    admission->wall_ns = options->wall_ns ? options->wall_ns : clock_wall_ns;
    admission->model = options->model ? xstrdup(options->model) : NULL;
    admission->holders = 1;
    admission->tenants.tenants = true;
    admission->clients.only_weights = admission->tenants.only_weights = options->model != NULL;
    admission_consumers_init(&admission->clients, options->clients);
    admission_consumers_init(&admission->tenants, options->tenants);
    admission_queue_init(admission);
    admission_wakeup_init(admission);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP); /* it is never held for long */
    pthread_mutex_init(&admission->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return admission;
}

void admission_free(struct admission *admission)
{
    admission_consumers_fini(&admission->clients);
    admission_consumers_fini(&admission->tenants);
    pthread_mutex_destroy(&admission->lock);
    free(admission->model);
    free(admission);
}

void admission_destroy(struct admission **admission_pointer)
{
    struct admission *admission = *admission_pointer;
    if (!admission)
        return;
    *admission_pointer = NULL;
    if (atomic_fetch_sub_explicit(&admission->holders, 1, memory_order_acq_rel) > 1)
        return;
    pthread_mutex_lock(&admission->lock);
    assert(admission->waiting == 0 && admission->stats.inside == 0);
    admission->abandoned = true;
    bool last = admission->posts == 0;
    pthread_mutex_unlock(&admission->lock);
    if (last)
        admission_free(admission);
}

struct admission *admission_hold(struct admission *admission)
{
    atomic_fetch_add_explicit(&admission->holders, 1, memory_order_relaxed);
    return admission;
}

void admission_limit(struct admission *admission, unsigned in_flight_max, const struct limits_table *clients,
                     const struct limits_table *tenants)
{
    int64_t now_ns = clock_now_ns();
    pthread_mutex_lock(&admission->lock);
    admission->in_flight_max = in_flight_max;
    admission_consumers_limit(&admission->clients, clients, now_ns);
    admission_consumers_limit(&admission->tenants, tenants, now_ns);
    call_waiting(admission);
    admission_unlock(admission);
}

void admission_load_spend(struct admission *admission, bool tenant, const char *name, int64_t micros)
{
    struct admission_time moment = admission_time(admission);
    struct admission_consumers *consumers = tenant ? &admission->tenants : &admission->clients;
    pthread_mutex_lock(&admission->lock);
    struct admission_consumer *consumer = admission_consumer_find(consumers, name, admission_name_hash(name));
    if (consumer != consumers->others)
        admission_budget_load_spend(admission, consumer, &moment, micros);
    pthread_mutex_unlock(&admission->lock);
}

bool admission_rate_limits(const struct ticket *ticket, struct admission_rate_limits *rate_limits)
{
    const struct admission_consumer *client = ticket->of_client;
    if (!ticket->has_rate_limits)
        return false;
    int64_t now_ns = clock_now_ns();
    pthread_mutex_lock(&ticket->admission->lock);
    admission_bucket_remaining(&client->requests, now_ns, &rate_limits->requests_limit, &rate_limits->requests_left,
                               &rate_limits->requests_reset_ms);
    admission_bucket_remaining(&client->tokens, now_ns, &rate_limits->tokens_limit, &rate_limits->tokens_left,
                               &rate_limits->tokens_reset_ms);
    pthread_mutex_unlock(&ticket->admission->lock);
    return true;
}

void admission_stats(struct admission *admission, struct admission_stats *stats)
{
    pthread_mutex_lock(&admission->lock);
    *stats = admission->stats;
    pthread_mutex_unlock(&admission->lock);
}
