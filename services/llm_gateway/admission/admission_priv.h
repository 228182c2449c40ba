/* Shared by the files of admission; guarded by the admission's lock. */
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
 *    |           '-----> sent away     |     called and sent away: its loop has not been told yet
 *    '---------------------------------' */
enum ticket_state { TICKET_OUTSIDE, TICKET_WAITING, TICKET_CALLED, TICKET_SENT_AWAY, TICKET_INSIDE };

/* A token bucket: holds one minute's amount and refills evenly. Its only state is the time at which it is full
 * again. */
struct admission_bucket {
    int64_t limit; /* 0: unlimited */
    int64_t full_ns;
};

/* Money budget of a day. */
struct admission_spend {
    int64_t limit; /* 0: unlimited */
    bool counted;  /* the amount spent since the beginning of the day is known */
    int64_t spent, reserved;
    uint64_t page; /* calendar page; an amount from an earlier page is of an earlier day */
};

/* Days of the budgets, in UTC. */
struct admission_calendar {
    int64_t day;      /* of UTC since 1970 */
    int64_t since_ns; /* when it began here, on clock_now_ns */
    uint64_t page;
};

/* The tickets of one client that wait with one priority. */
struct admission_flow {
    struct admission_link link; /* in the ring of its priority while it has tickets */
    struct admission_link tickets;
    struct admission_consumer *client;
    unsigned length;
    unsigned turns; /* left before the flow goes to the end of the ring */
};

/* A client or a tenant. Lives as long as the admission. */
struct admission_consumer {
    struct admission_consumer *next; /* of the same hash bucket */
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
    struct admission_consumer *others; /* shared by all names that came when the table was full */
};

/* The tickets of one loop that have to be told of their result. A ticket may be gone when its loop runs the posted
 * work. The queue is posted in its place, because it outlives the tickets. */
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

    struct admission_link rings[ADMISSION_PRIORITIES]; /* of flows */
    unsigned waiting;                                  /* the sum of stats.waiting */
    uint64_t turns;
    int64_t departed_ns; /* time of the last departure while tickets waited, or of the start of the wait */
    int64_t interval_ns; /* mean time between departures while tickets wait */
    struct admission_stats stats;

    struct admission_wakeup_queue wakeup_queues[LOOPS_MAX];
    uint64_t calls; /* wake-up queues to post on unlocking, one bit each */
    unsigned posts; /* wake-up queues that were posted and have not finished */
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
/* Call it after `tenants` and `only_weights` are set. */
void admission_consumers_init(struct admission_consumers *consumers, const struct limits_table *table);
void admission_consumers_limit(struct admission_consumers *consumers, const struct limits_table *table, int64_t now_ns);
void admission_consumers_fini(struct admission_consumers *consumers);
/* Creates the consumer on first use. */
struct admission_consumer *admission_consumer_find(struct admission_consumers *consumers, const char *name,
                                                   uint32_t hash);

static inline bool admission_consumer_full(const struct admission_consumer *consumer)
{
    return consumer->concurrency && consumer->inside >= consumer->concurrency;
}

/* ---- budgets ----------------------------------------------------------------------------------------------------- */

/* The limit that delays a ticket longest. */
struct admission_shortage {
    const char *limit; /* "client/tokens_per_minute"; NULL: no shortage */
    const char *what;  /* "tokens a minute" */
    const char *consumer;
    int64_t allowed, asked, left;
    int64_t wait_ms; /* ADMISSION_NEVER: it needs more than the whole limit */
    bool tenant, money;
};
#define ADMISSION_NEVER INT64_MAX

/* The current time, if a consumer has a budget. */
struct admission_time {
    int64_t now_ns, wall_ns;
};
struct admission_time admission_time(struct admission *admission);

/* Whether the consumer's budget covers the ticket. If not, fills `shortage`, unless it already has a longer wait. */
void admission_budget_check(struct admission *admission, struct admission_consumer *consumer,
                            const struct ticket *ticket, const struct admission_time *moment,
                            struct admission_shortage *shortage);
/* Returns the reservations, ADMISSION_RESERVED_… : the consumer's limits may change before they are settled. */
unsigned char admission_budget_reserve(struct admission_consumer *consumer, const struct ticket *ticket,
                                       const struct admission_time *moment);
void admission_budget_commit(struct admission *admission, struct admission_consumer *consumer,
                             const struct ticket *ticket, const struct admission_time *moment, int64_t tokens,
                             int64_t micros);
/* Undoes the reservations. */
void admission_budget_release(struct admission *admission, struct admission_consumer *consumer,
                              const struct ticket *ticket, const struct admission_time *moment);
/* Sets a new amount for a minute; the used amount stays used. */
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
/* Removes and returns the next ticket; NULL: no waiting ticket has a free slot of its own. */
struct ticket *admission_queue_next(struct admission *admission);
/* The ticket to displace for a newcomer when the queue is full; NULL: no ticket. */
struct ticket *admission_queue_crowded_out(struct admission *admission, const struct ticket *newcomer);

/* ---- the way to a ticket's loop ---------------------------------------------------------------------------------- */

void admission_wakeup_init(struct admission *admission);
/* Moves the ticket to TICKET_CALLED or TICKET_SENT_AWAY; its loop will be told. */
void admission_wakeup_append(struct admission *admission, struct ticket *ticket, enum ticket_state state);
void admission_wakeup_remove(struct ticket *ticket);
/* Unlocks the admission and posts the marked wake-up queues. */
void admission_unlock(struct admission *admission);
void admission_free(struct admission *admission);

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

/* Retry hint after a rejection by the queue, from the rate at which slots become free. */
int32_t admission_queue_hint_ms(const struct admission *admission, int64_t now_ns);
void admission_record_departure(struct admission *admission);

/* These fill status and `exhausted`. They need no lock. */
void admission_reject_shortage(struct ticket *ticket, const struct admission_shortage *shortage);
void admission_reject_full(struct ticket *ticket, int32_t hint_ms);
void admission_reject_crowded_out(struct ticket *ticket, int32_t hint_ms);
/* `full` has no free slot of its own; NULL: the admission has no free slot. `places` is the number of slots. */
void admission_reject_timeout(struct ticket *ticket, const struct admission_consumer *full, int64_t places,
                              int64_t waited_ms, int32_t hint_ms);

#endif
