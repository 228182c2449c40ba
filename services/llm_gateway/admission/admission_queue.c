/* The queue: waiting tickets and their order.
 *
 *      ring of a priority:  flow of client a -> flow of client b -> ...      after its turns it goes to the end
 *                             |                   |
 *                           tickets, oldest      tickets
 *                           first
 *
 * A flow is skipped while its client or tenant has no free slot; it keeps its place in the ring. */
#include "admission_priv.h"

#include "base/clock.h"

#define OLDEST_EVERY 16 /* turns; every 16th goes to the oldest ticket */

static struct admission_flow *flow_of(struct admission_link *link)
{
    return CONTAINER_OF(link, struct admission_flow, link);
}

static struct admission_flow *flow_for(const struct ticket *ticket)
{
    return &ticket->of_client->flows[ticket->priority];
}

static struct ticket *first_of(const struct admission_flow *flow)
{
    return admission_ticket_of(flow->tickets.next);
}

void admission_queue_init(struct admission *admission)
{
    for (int i = 0; i < ADMISSION_PRIORITIES; i++)
        admission_list_init(&admission->rings[i]);
}

static void flow_join(struct admission *admission, struct admission_flow *flow, enum admission_priority priority)
{
    flow->turns = flow->client->weight;
    admission_list_append(&admission->rings[priority], &flow->link);
}

void admission_queue_append(struct admission *admission, struct ticket *ticket)
{
    struct admission_flow *flow = flow_for(ticket);
    if (admission->waiting == 0)
        admission->departed_ns = clock_now_ns();
    if (flow->length == 0)
        flow_join(admission, flow, ticket->priority);
    admission_list_append(&flow->tickets, &ticket->link);
    flow->length++;
    admission->waiting++;
    admission->stats.waiting[ticket->priority]++;
    ticket->state = TICKET_WAITING;
}

void admission_queue_remove(struct admission *admission, struct ticket *ticket)
{
    struct admission_flow *flow = flow_for(ticket);
    admission_list_remove(&ticket->link);
    flow->length--;
    admission->waiting--;
    admission->stats.waiting[ticket->priority]--;
    if (flow->length == 0)
        admission_list_remove(&flow->link);
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

static bool has_no_place(const struct admission_flow *flow)
{
    const struct ticket *ticket = first_of(flow);
    return admission_consumer_full(ticket->of_client) || admission_consumer_full(ticket->of_tenant);
}

static struct admission_flow *next_in_ring(struct admission_link *ring)
{
    for (struct admission_link *link = ring->next; link != ring; link = link->next)
        if (!has_no_place(flow_of(link)))
            return flow_of(link);
    return NULL;
}

static struct admission_flow *admission_queue_next_line(struct admission *admission)
{
    struct admission_flow *flow = NULL;
    for (int i = ADMISSION_PRIORITIES - 1; i >= 0 && !flow; i--)
        flow = next_in_ring(&admission->rings[i]);
    return flow;
}

static struct admission_flow *flow_of_oldest(struct admission *admission)
{
    struct admission_flow *oldest = NULL;
    for (int i = ADMISSION_PRIORITIES - 1; i >= 0; i--) {
        struct admission_link *ring = &admission->rings[i];
        for (struct admission_link *link = ring->next; link != ring; link = link->next) {
            struct admission_flow *flow = flow_of(link);
            if (!has_no_place(flow) && (!oldest || first_of(flow)->since_ns < first_of(oldest)->since_ns))
                oldest = flow;
        }
    }
    return oldest;
}

struct ticket *admission_queue_next(struct admission *admission)
{
    bool of_oldest = (admission->turns + 1) % OLDEST_EVERY == 0;
    struct admission_flow *flow = of_oldest ? flow_of_oldest(admission) : admission_queue_next_line(admission);
    if (!flow)
        return NULL;
    struct ticket *ticket = first_of(flow);
    admission->turns++;
    if (--flow->turns == 0) {
        admission_list_remove(&flow->link);
        flow_join(admission, flow, ticket->priority);
    }
    admission_queue_remove(admission, ticket);
    return ticket;
}

/* ---- a full queue ------------------------------------------------------------------------------------------------ */

static bool longer(unsigned length, unsigned weight, const struct admission_flow *than)
{
    return (uint64_t)length * than->client->weight > (uint64_t)than->length * weight;
}

/* For its weight. */
static struct admission_flow *longest_line(struct admission_link *ring)
{
    struct admission_flow *longest = NULL;
    for (struct admission_link *link = ring->next; link != ring; link = link->next) {
        struct admission_flow *flow = flow_of(link);
        if (!longest || longer(flow->length, flow->client->weight, longest))
            longest = flow;
    }
    return longest;
}

struct ticket *admission_queue_crowded_out(struct admission *admission, const struct ticket *newcomer)
{
    const struct admission_flow *own = flow_for(newcomer);
    struct admission_flow *flow = NULL;
    for (int i = 0; i < (int)newcomer->priority && !flow; i++)
        flow = longest_line(&admission->rings[i]);
    if (!flow) {
        flow = longest_line(&admission->rings[newcomer->priority]);
        struct admission_flow grown = {.client = own->client, .length = own->length + 1};
        if (!flow || !longer(flow->length, flow->client->weight, &grown))
            return NULL;
    }
    return admission_ticket_of(flow->tickets.previous);
}
