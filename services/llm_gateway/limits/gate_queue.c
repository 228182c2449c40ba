/* Who waits, and whose turn it is.
 *
 *      ring of a priority:  line of client a -> line of client b -> ...      takes its turns, then goes to the end
 *                             |                   |
 *                           tickets, oldest      tickets
 *                           first
 *
 * A line whose client or tenant has all its places taken keeps its place in the ring and is passed over. */
#include "gate_priv.h"

#include "base/clock.h"

#define OLDEST_EVERY 16 /* turns; one of them goes to whoever waits longest */

static struct gate_line *line_of(struct gate_link *link)
{
    return OWNER_OF(link, struct gate_line, link);
}

static struct gate_line *line_for(const struct ticket *ticket)
{
    return &ticket->of_client->lines[ticket->priority];
}

static struct ticket *first_of(const struct gate_line *line)
{
    return gate_ticket_of(line->tickets.next);
}

void gate_queue_init(struct gate *gate)
{
    for (int i = 0; i < GATE_PRIORITIES; i++)
        gate_list_init(&gate->rings[i]);
}

static void line_join(struct gate *gate, struct gate_line *line, enum gate_priority priority)
{
    line->turns = line->client->weight;
    gate_list_append(&gate->rings[priority], &line->link);
}

void gate_queue_append(struct gate *gate, struct ticket *ticket)
{
    struct gate_line *line = line_for(ticket);
    if (gate->waiting == 0)
        gate->departed_ns = clock_now_ns();
    if (line->length == 0)
        line_join(gate, line, ticket->priority);
    gate_list_append(&line->tickets, &ticket->link);
    line->length++;
    gate->waiting++;
    gate->stats.waiting[ticket->priority]++;
    ticket->state = TICKET_WAITING;
}

void gate_queue_remove(struct gate *gate, struct ticket *ticket)
{
    struct gate_line *line = line_for(ticket);
    gate_list_remove(&ticket->link);
    line->length--;
    gate->waiting--;
    gate->stats.waiting[ticket->priority]--;
    if (line->length == 0)
        gate_list_remove(&line->link);
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

static bool has_no_place(const struct gate_line *line)
{
    const struct ticket *ticket = first_of(line);
    return gate_party_full(ticket->of_client) || gate_party_full(ticket->of_tenant);
}

static struct gate_line *next_in_ring(struct gate_link *ring)
{
    for (struct gate_link *link = ring->next; link != ring; link = link->next)
        if (!has_no_place(line_of(link)))
            return line_of(link);
    return NULL;
}

static struct gate_line *next_line(struct gate *gate)
{
    struct gate_line *line = NULL;
    for (int i = GATE_PRIORITIES - 1; i >= 0 && !line; i--)
        line = next_in_ring(&gate->rings[i]);
    return line;
}

static struct gate_line *line_of_oldest(struct gate *gate)
{
    struct gate_line *oldest = NULL;
    for (int i = GATE_PRIORITIES - 1; i >= 0; i--) {
        struct gate_link *ring = &gate->rings[i];
        for (struct gate_link *link = ring->next; link != ring; link = link->next) {
            struct gate_line *line = line_of(link);
            if (!has_no_place(line) && (!oldest || first_of(line)->since_ns < first_of(oldest)->since_ns))
                oldest = line;
        }
    }
    return oldest;
}

struct ticket *gate_queue_turn(struct gate *gate)
{
    bool of_oldest = (gate->turns + 1) % OLDEST_EVERY == 0;
    struct gate_line *line = of_oldest ? line_of_oldest(gate) : next_line(gate);
    if (!line)
        return NULL;
    struct ticket *ticket = first_of(line);
    gate->turns++;
    if (--line->turns == 0) {
        gate_list_remove(&line->link);
        line_join(gate, line, ticket->priority);
    }
    gate_queue_remove(gate, ticket);
    return ticket;
}

/* ---- a full queue ------------------------------------------------------------------------------------------------ */

static bool longer(unsigned length, unsigned weight, const struct gate_line *than)
{
    return (uint64_t)length * than->client->weight > (uint64_t)than->length * weight;
}

/* For its weight. */
static struct gate_line *longest_line(struct gate_link *ring)
{
    struct gate_line *longest = NULL;
    for (struct gate_link *link = ring->next; link != ring; link = link->next) {
        struct gate_line *line = line_of(link);
        if (!longest || longer(line->length, line->client->weight, longest))
            longest = line;
    }
    return longest;
}

struct ticket *gate_queue_crowded_out(struct gate *gate, const struct ticket *newcomer)
{
    const struct gate_line *own = line_for(newcomer);
    struct gate_line *line = NULL;
    for (int i = 0; i < (int)newcomer->priority && !line; i++)
        line = longest_line(&gate->rings[i]);
    if (!line) {
        line = longest_line(&gate->rings[newcomer->priority]);
        struct gate_line grown = {.client = own->client, .length = own->length + 1};
        if (!line || !longer(line->length, line->client->weight, &grown))
            return NULL;
    }
    return gate_ticket_of(line->tickets.previous);
}
