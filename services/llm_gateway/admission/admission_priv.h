/* What the files of admission share. All of it is under its lock. */
#ifndef RENGA_LLM_GATEWAY_ADMISSION_PRIV_H
#define RENGA_LLM_GATEWAY_ADMISSION_PRIV_H

#include "admission/admission.h"

#include <pthread.h>

#define ADMISSION_RESERVED_REQUEST 1 /* of a ticket, in the budgets of its client and of its tenant */
#define ADMISSION_RESERVED_TOKENS  2
#define ADMISSION_RESERVED_MONEY   4
#define ADMISSION_CONSUMER_BUCKETS 2048 /* of a hash table of at most some 10,000 names */

/* outside --> waiting --> called --> inside --> outside
 *    |           |                     ^
 *    |           '-----> sent away     |     called and sent away: its loop has still to hear of it
 *    '---------------------------------'                                                          */
enum ticket_state { TICKET_OUTSIDE, TICKET_WAITING, TICKET_CALLED, TICKET_SENT_AWAY, TICKET_INSIDE };

/* Holds a minute's worth and refills evenly. All it must know is when it will be full again. */
struct admission_bucket {
    int64_t limit; /* 0: none */
    int64_t full_ns;
};

/* Money of a day. */
struct admission_spend {
    int64_t limit; /* 0: none */
    bool counted;  /* what is spent is known from the beginning of the day on */
    int64_t spent, reserved;
    uint64_t page; /* of the calendar: what was spent before is another day's */
};

/* Days of the budgets, in UTC. */
struct admission_calendar {
    int64_t day;      /* of UTC since 1970 */
    int64_t since_ns; /* when it began here, on clock_now_ns */
    uint64_t page;
};

/* The tickets of one client that wait with one priority. */
struct admission_flow {
    struct admission_link link; /* in the ring of its priority while there are any */
    struct admission_link tickets;
    struct admission_consumer *client;
    unsigned length;
    unsigned turns; /* that it has before it stands behind the others again */
};

/* A client or a tenant. Lives as long as the admission. */
struct admission_consumer {
    struct admission_consumer *next; /* of the same head */
    char *name;
    uint32_t hash;
    bool tenant;
    bool budgeted; /* has a limit of rate or money */
    int64_t concurrency, inside;
    unsigned weight;
    struct admission_bucket requests, tokens;
    struct admission_spend spend;
    struct admission_flow flows[ADMISSION_PRIORITIES];
};

struct admission_consumers {
    bool tenants, only_weights;
    struct limits fallback;
    size_t count, count_max;
    struct admission_consumer *buckets[ADMISSION_CONSUMER_BUCKETS];
    struct admission_consumer *others; /* all whose names came when the table was full, together */
};

/* Where the tickets of one loop stand that are still to hear of their fate. A ticket may be gone by the time that its
 * loop runs what another thread has posted, so this is what is posted, and it stays. */
struct admission_wakeup_queue {
    struct work work;
    struct admission *admission;
    struct loop *loop;
    struct admission_link tickets;
    unsigned count;
    bool posted;
};

struct admission {
    _Atomic unsigned holders;
    pthread_mutex_t lock;
    unsigned in_flight_max, queue_max;
    int64_t queue_wait_ms;
    char *model; /* NULL: of the process */
    int64_t (*wall_ns)(void);
    struct admission_consumers clients, tenants;
    struct admission_calendar calendar;

    struct admission_link rings[ADMISSION_PRIORITIES]; /* of lines */
    unsigned waiting;                                  /* the sum of stats.waiting */
    uint64_t turns;
    int64_t departed_ns; /* last departure while others waited, or when they began to wait */
    int64_t interval_ns; /* mean time between departures while others wait */
    struct admission_stats stats;

    struct admission_wakeup_queue wakeup_queues[LOOPS_MAX];
    uint64_t calls; /* wake-up queues to be posted on unlocking, a bit each */
    unsigned posts; /* wake-up queues that were posted and have not run to their end */
    bool abandoned; /* destroyed; the last wake-up queue to run frees it */
};

/* ---- lists: a head is a link that points at itself while it is alone --------------------------------------------- */

static inline void admission_list_init(struct admission_link *head)
{
    head->next = head->previous = head;
}

static inline void admission_list_append(struct admission_link *head, struct admission_link *link)
{
    link->next = head;
    link->previous = head->previous;
    head->previous->next = link;
    head->previous = link;
}

static inline void admission_list_remove(struct admission_link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
}

static inline struct ticket *admission_ticket_of(struct admission_link *link)
{
    return CONTAINER_OF(link, struct ticket, link);
}

/* ---- consumers ------------------------------------------------------------------------------------------------ */

uint32_t admission_name_hash(const char *name);
/* After `tenants` and `only_weights` are set. */
void admission_consumers_init(struct admission_consumers *consumers, const struct limits_table *table);
void admission_consumers_limit(struct admission_consumers *consumers, const struct limits_table *table, int64_t now_ns);
void admission_consumers_fini(struct admission_consumers *consumers);
/* Made on first use. */
struct admission_consumer *admission_consumer_find(struct admission_consumers *consumers, const char *name,
                                                   uint32_t hash);

static inline bool admission_consumer_full(const struct admission_consumer *consumer)
{
    return consumer->concurrency && consumer->inside >= consumer->concurrency;
}

/* ---- budgets ----------------------------------------------------------------------------------------------------- */

/* The limit that keeps a ticket out longest. */
struct admission_shortage {
    const char *limit; /* "client/tokens_per_minute"; NULL: none */
    const char *what;  /* "tokens a minute" */
    const char *consumer;
    int64_t allowed, asked, left;
    int64_t wait_ms; /* ADMISSION_NEVER: it asks for more than there ever is */
    bool tenant, money;
};
#define ADMISSION_NEVER INT64_MAX

/* What time it is, for those who have a budget. */
struct admission_time {
    int64_t now_ns, wall_ns;
};
struct admission_time admission_time(struct admission *admission);

/* Whether the consumer can afford the ticket; where it cannot, `shortage` is filled unless it tells of a longer one. */
void admission_budget_check(struct admission *admission, struct admission_consumer *consumer,
                            const struct ticket *ticket, const struct admission_time *moment,
                            struct admission_shortage *shortage);
/* What is reserved, GATE_HOLDS_… : by the time that it is settled the consumer may have other limits. */
unsigned char admission_budget_reserve(struct admission_consumer *consumer, const struct ticket *ticket,
                                       const struct admission_time *moment);
void admission_budget_commit(struct admission *admission, struct admission_consumer *consumer,
                             const struct ticket *ticket, const struct admission_time *moment, int64_t tokens,
                             int64_t micros);
/* As if it had never come. */
void admission_budget_release(struct admission *admission, struct admission_consumer *consumer,
                              const struct ticket *ticket, const struct admission_time *moment);
/* From now on a minute's worth is another; what was taken is still missing. */
void admission_bucket_limit(struct admission_bucket *bucket, int64_t limit, int64_t now_ns);
void admission_budget_load_spend(struct admission *admission, struct admission_consumer *consumer,
                                 const struct admission_time *moment, int64_t micros);
void admission_bucket_remaining(const struct admission_bucket *bucket, int64_t now_ns, int64_t *limit, int64_t *left,
                                int64_t *reset_ms);

void admission_calendar_roll_over(struct admission_calendar *calendar, int64_t now_ns, int64_t wall_ns);
void admission_spend_roll_over(struct admission_spend *spend, const struct admission_calendar *calendar);

/* ---- the queue --------------------------------------------------------------------------------------------------- */

void admission_queue_init(struct admission *admission);
void admission_queue_append(struct admission *admission, struct ticket *ticket);
void admission_queue_remove(struct admission *admission, struct ticket *ticket);
/* Takes out the one whose turn it is; NULL where all who wait have no place of their own. */
struct ticket *admission_queue_next(struct admission *admission);
/* Who must go for a newcomer where the queue is full; NULL: nobody. */
struct ticket *admission_queue_crowded_out(struct admission *admission, const struct ticket *newcomer);

/* ---- the way to a ticket's loop ---------------------------------------------------------------------------------- */

void admission_wakeup_init(struct admission *admission);
/* The ticket is called, or sent away: its loop will hear of it. */
void admission_wakeup_append(struct admission *admission, struct ticket *ticket, enum ticket_state state);
void admission_wakeup_remove(struct ticket *ticket);
/* Unlocks the admission, and posts the wake-up queues that have become due. */
void admission_unlock(struct admission *admission);
void admission_free(struct admission *admission);

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

/* After what time one who was turned away by the queue may come back, from the rate at which places become free. */
int32_t admission_queue_hint_ms(const struct admission *admission, int64_t now_ns);
void admission_record_departure(struct admission *admission);

/* These fill status and `exhausted`. They need no lock. */
void admission_reject_shortage(struct ticket *ticket, const struct admission_shortage *shortage);
void admission_reject_full(struct ticket *ticket, int32_t hint_ms);
void admission_reject_crowded_out(struct ticket *ticket, int32_t hint_ms);
/* `full` has all its own places taken; NULL: the admission has. `places` are how many. */
void admission_reject_timeout(struct ticket *ticket, const struct admission_consumer *full, int64_t places,
                              int64_t waited_ms, int32_t hint_ms);

#endif
