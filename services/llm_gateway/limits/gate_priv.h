/* What the files of the gate share. All of it is under the gate's lock. */
#ifndef RENGA_LLM_GATEWAY_GATE_PRIV_H
#define RENGA_LLM_GATEWAY_GATE_PRIV_H

#include "limits/gate.h"

#include <pthread.h>

#define GATE_HOLDS_REQUEST 1 /* of a ticket, in the budgets of its client and of its tenant */
#define GATE_HOLDS_TOKENS  2
#define GATE_HOLDS_MONEY   4
#define GATE_PARTY_HEADS   2048 /* of a hash table of at most some 10,000 names */

/* outside --> waiting --> called --> inside --> outside
 *    |           |                     ^
 *    |           '-----> sent away     |     called and sent away: its loop has still to hear of it
 *    '---------------------------------'                                                          */
enum ticket_state { TICKET_OUTSIDE, TICKET_WAITING, TICKET_CALLED, TICKET_SENT_AWAY, TICKET_INSIDE };

/* Holds a minute's worth and refills evenly. All it must know is when it will be full again. */
struct gate_bucket {
    int64_t limit; /* 0: none */
    int64_t full_ns;
};

/* Money of a day. */
struct gate_purse {
    int64_t limit; /* 0: none */
    bool counted;  /* what is spent is known from the beginning of the day on */
    int64_t spent, reserved;
    uint64_t page; /* of the calendar: what was spent before is another day's */
};

/* Days as the gate counts them. */
struct gate_calendar {
    int64_t day;      /* of UTC since 1970 */
    int64_t since_ns; /* when it began here, on clock_now_ns */
    uint64_t page;
};

/* The tickets of one client that wait with one priority. */
struct gate_line {
    struct gate_link link; /* in the ring of its priority while there are any */
    struct gate_link tickets;
    struct gate_party *client;
    unsigned length;
    unsigned turns; /* that it has before it stands behind the others again */
};

/* A client or a tenant. Lives as long as the gate. */
struct gate_party {
    struct gate_party *next; /* of the same head */
    char *name;
    uint32_t hash;
    bool tenant;
    bool budgeted; /* has a limit of rate or money */
    int64_t concurrency, inside;
    unsigned weight;
    struct gate_bucket requests, tokens;
    struct gate_purse purse;
    struct gate_line lines[GATE_PRIORITIES];
};

struct gate_parties {
    bool tenants, only_weights;
    struct limits fallback;
    size_t count, count_max;
    struct gate_party *heads[GATE_PARTY_HEADS];
    struct gate_party *others; /* all whose names came when the table was full, together */
};

/* Where the tickets of one loop stand that are still to hear of their fate. A ticket may be gone by the time that its
 * loop runs what another thread has posted, so this is what is posted, and it stays. */
struct gate_porch {
    struct work work;
    struct gate *gate;
    struct loop *loop;
    struct gate_link tickets;
    unsigned count;
    bool posted;
};

struct gate {
    _Atomic unsigned holders;
    pthread_mutex_t lock;
    unsigned in_flight_max, queue_max;
    int64_t queue_wait_ms;
    char *model; /* NULL: of the process */
    int64_t (*wall_ns)(void);
    struct gate_parties clients, tenants;
    struct gate_calendar calendar;

    struct gate_link rings[GATE_PRIORITIES]; /* of lines */
    unsigned waiting;                        /* the sum of stats.waiting */
    uint64_t turns;
    int64_t departed_ns; /* last departure while others waited, or when they began to wait */
    int64_t interval_ns; /* mean time between departures while others wait */
    struct gate_stats stats;

    struct gate_porch porches[LOOPS_MAX];
    uint64_t calls; /* porches to be posted on unlocking, a bit each */
    unsigned posts; /* porches that were posted and have not run to their end */
    bool abandoned; /* destroyed; the last porch to run frees it */
};

/* ---- lists: a head is a link that points at itself while it is alone --------------------------------------------- */

static inline void gate_list_init(struct gate_link *head)
{
    head->next = head->previous = head;
}

static inline void gate_list_append(struct gate_link *head, struct gate_link *link)
{
    link->next = head;
    link->previous = head->previous;
    head->previous->next = link;
    head->previous = link;
}

static inline void gate_list_remove(struct gate_link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
}

static inline struct ticket *gate_ticket_of(struct gate_link *link)
{
    return OWNER_OF(link, struct ticket, link);
}

/* ---- parties ----------------------------------------------------------------------------------------------------- */

uint32_t gate_name_hash(const char *name);
/* After `tenants` and `only_weights` are set. */
void gate_parties_init(struct gate_parties *parties, const struct limits_table *table);
void gate_parties_limit(struct gate_parties *parties, const struct limits_table *table, int64_t now_ns);
void gate_parties_fini(struct gate_parties *parties);
/* Made on first use. */
struct gate_party *gate_party_find(struct gate_parties *parties, const char *name, uint32_t hash);

static inline bool gate_party_full(const struct gate_party *party)
{
    return party->concurrency && party->inside >= party->concurrency;
}

/* ---- budgets ----------------------------------------------------------------------------------------------------- */

/* The limit that keeps a ticket out longest. */
struct gate_shortage {
    const char *limit; /* "client/tokens_per_minute"; NULL: none */
    const char *what;  /* "tokens a minute" */
    const char *party;
    int64_t allowed, asked, left;
    int64_t wait_ms; /* GATE_NEVER: it asks for more than there ever is */
    bool tenant, money;
};
#define GATE_NEVER INT64_MAX

/* What time it is, for those who have a budget. */
struct gate_moment {
    int64_t now_ns, wall_ns;
};
struct gate_moment gate_moment(struct gate *gate);

/* Whether the party can afford the ticket; where it cannot, `shortage` is filled unless it tells of a longer one. */
void gate_budget_check(struct gate *gate, struct gate_party *party, const struct ticket *ticket,
                       const struct gate_moment *moment, struct gate_shortage *shortage);
/* What is reserved, GATE_HOLDS_… : by the time that it is settled the party may have other limits. */
unsigned char gate_budget_reserve(struct gate_party *party, const struct ticket *ticket,
                                  const struct gate_moment *moment);
void gate_budget_settle(struct gate *gate, struct gate_party *party, const struct ticket *ticket,
                        const struct gate_moment *moment, int64_t tokens, int64_t micros);
/* As if it had never come. */
void gate_budget_return(struct gate *gate, struct gate_party *party, const struct ticket *ticket,
                        const struct gate_moment *moment);
/* From now on a minute's worth is another; what was taken is still missing. */
void gate_bucket_limit(struct gate_bucket *bucket, int64_t limit, int64_t now_ns);
void gate_budget_remember(struct gate *gate, struct gate_party *party, const struct gate_moment *moment,
                          int64_t micros);
void gate_bucket_room(const struct gate_bucket *bucket, int64_t now_ns, int64_t *limit, int64_t *left,
                      int64_t *reset_ms);

void gate_calendar_turn(struct gate_calendar *calendar, int64_t now_ns, int64_t wall_ns);
void gate_purse_turn(struct gate_purse *purse, const struct gate_calendar *calendar);

/* ---- the queue --------------------------------------------------------------------------------------------------- */

void gate_queue_init(struct gate *gate);
void gate_queue_append(struct gate *gate, struct ticket *ticket);
void gate_queue_remove(struct gate *gate, struct ticket *ticket);
/* Takes out the one whose turn it is; NULL where all who wait have no place of their own. */
struct ticket *gate_queue_turn(struct gate *gate);
/* Who must go for a newcomer where the queue is full; NULL: nobody. */
struct ticket *gate_queue_crowded_out(struct gate *gate, const struct ticket *newcomer);

/* ---- the way to a ticket's loop ---------------------------------------------------------------------------------- */

void gate_porch_init(struct gate *gate);
/* The ticket is called, or sent away: its loop will hear of it. */
void gate_porch_append(struct gate *gate, struct ticket *ticket, enum ticket_state state);
void gate_porch_remove(struct ticket *ticket);
/* Unlocks the gate, and posts the porches that have become due. */
void gate_unlock(struct gate *gate);
void gate_free(struct gate *gate);

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

/* After what time one who was turned away by the queue may come back, from the rate at which places become free. */
int32_t gate_queue_hint_ms(const struct gate *gate, int64_t now_ns);
void gate_note_departure(struct gate *gate);

/* These fill status and `exhausted`. They need no lock. */
void gate_refuse_shortage(struct ticket *ticket, const struct gate_shortage *shortage);
void gate_refuse_full(struct ticket *ticket, int32_t hint_ms);
void gate_refuse_crowded_out(struct ticket *ticket, int32_t hint_ms);
/* `full` has all its own places taken; NULL: the gate has. `places` are how many. */
void gate_refuse_late(struct ticket *ticket, const struct gate_party *full, int64_t places, int64_t waited_ms,
                      int32_t hint_ms);

#endif
