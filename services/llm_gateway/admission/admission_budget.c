/* Budgets of a client or tenant: requests and tokens of a minute, money of a day. */
#include "admission_priv.h"

#include "base/clock.h"

#define MINUTE_NS   (60 * NS_PER_SEC)
#define DAY_NS      (24 * 3600 * NS_PER_SEC)
#define DEBT_MAX_NS (60 * MINUTE_NS)       /* longest lockout, even if a provider reports absurd counts */
#define AMOUNT_MAX  INT64_C(1000000000000) /* tokens or micro-USD of one request; more is nobody's real use */
#define RETURNS_MS  1000                   /* until a reservation may have been released */

static int64_t real(int64_t amount)
{
    return amount < 0 ? 0 : amount > AMOUNT_MAX ? AMOUNT_MAX : amount;
}

static int64_t later(int64_t a_ns, int64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

/* ---- buckets ----------------------------------------------------------------------------------------------------- */

/* How long the amount takes to refill. */
static int64_t refill_ns(const struct admission_bucket *bucket, int64_t amount)
{
    __int128 ns = (__int128)real(amount) * MINUTE_NS / bucket->limit;
    return ns > DEBT_MAX_NS ? DEBT_MAX_NS : (int64_t)ns;
}

static int64_t shortage_ns(const struct admission_bucket *bucket, int64_t now_ns, int64_t amount)
{
    return later(bucket->full_ns, now_ns) + refill_ns(bucket, amount) - (now_ns + MINUTE_NS);
}

static void bucket_take(struct admission_bucket *bucket, int64_t now_ns, int64_t ns)
{
    int64_t full_ns = later(bucket->full_ns, now_ns) + ns;
    bucket->full_ns = full_ns > now_ns + DEBT_MAX_NS ? now_ns + DEBT_MAX_NS : full_ns;
}

static void bucket_commit(struct admission_bucket *bucket, int64_t now_ns, int64_t reserved, int64_t used)
{
    if (!bucket->limit)
        return;
    int64_t ns = refill_ns(bucket, used) - refill_ns(bucket, reserved);
    if (ns > 0)
        bucket_take(bucket, now_ns, ns);
    else
        bucket->full_ns += ns;
}

void admission_bucket_limit(struct admission_bucket *bucket, int64_t limit, int64_t now_ns)
{
    int64_t missing_ns = later(bucket->full_ns, now_ns) - now_ns;
    __int128 ns = bucket->limit && limit ? (__int128)missing_ns * bucket->limit / limit : missing_ns;
    bucket->limit = limit;
    bucket->full_ns = now_ns + (ns > DEBT_MAX_NS ? DEBT_MAX_NS : (int64_t)ns);
}

static int64_t bucket_left(const struct admission_bucket *bucket, int64_t now_ns)
{
    int64_t missing_ns = later(bucket->full_ns, now_ns) - now_ns;
    int64_t missing = (int64_t)(((__int128)missing_ns * bucket->limit + MINUTE_NS - 1) / MINUTE_NS);
    return missing < bucket->limit ? bucket->limit - missing : 0;
}

void admission_bucket_remaining(const struct admission_bucket *bucket, int64_t now_ns, int64_t *limit, int64_t *left,
                                int64_t *reset_ms)
{
    *limit = *left = *reset_ms = -1;
    if (!bucket->limit)
        return;
    *limit = bucket->limit;
    *left = bucket_left(bucket, now_ns);
    *reset_ms = (later(bucket->full_ns, now_ns) - now_ns + NS_PER_MS - 1) / NS_PER_MS;
}

/* ---- days -------------------------------------------------------------------------------------------------------- */

/* A day that has been is not begun again when the wall clock is set back. Should it have been set forward by mistake
 * before, its false day ends after 24 hours. */
void admission_calendar_roll_over(struct admission_calendar *calendar, int64_t now_ns, int64_t wall_ns)
{
    int64_t day = wall_ns / DAY_NS;
    bool back = day < calendar->day && now_ns - calendar->since_ns >= DAY_NS;
    if (day <= calendar->day && !back)
        return;
    calendar->day = day;
    calendar->since_ns = now_ns;
    calendar->page++;
}

/* Reservations stay: the money is spent on the day of settlement, as in the ledger. */
void admission_spend_roll_over(struct admission_spend *spend, const struct admission_calendar *calendar)
{
    if (spend->page == calendar->page)
        return;
    spend->page = calendar->page;
    spend->spent = 0;
}

/* ---- a ticket against all of them -------------------------------------------------------------------------------- */

enum budget { REQUESTS, TOKENS, MONEY };
static const struct {
    const char *of_client, *of_tenant, *what;
} budgets[] = {
    [REQUESTS] = {"client/requests_per_minute", "tenant/requests_per_minute", "requests a minute"},
    [TOKENS] = {"client/tokens_per_minute", "tenant/tokens_per_minute", "tokens a minute"},
    [MONEY] = {"client/micros_per_day", "tenant/micros_per_day", "micro-USD a day of UTC"},
};

static void admission_budget_note(struct admission_shortage *longest, const struct admission_consumer *consumer,
                                  enum budget budget, struct admission_shortage shortage)
{
    if (longest->limit && longest->wait_ms >= shortage.wait_ms)
        return;
    *longest = shortage;
    longest->consumer = consumer->name;
    longest->tenant = consumer->tenant;
    longest->money = budget == MONEY;
    longest->limit = consumer->tenant ? budgets[budget].of_tenant : budgets[budget].of_client;
    longest->what = budgets[budget].what;
}

static void check_bucket(const struct admission_consumer *consumer, enum budget budget, int64_t asked, int64_t now_ns,
                         struct admission_shortage *longest)
{
    const struct admission_bucket *bucket = budget == REQUESTS ? &consumer->requests : &consumer->tokens;
    int64_t wait_ns = bucket->limit ? shortage_ns(bucket, now_ns, asked) : 0;
    if (wait_ns <= 0)
        return;
    struct admission_shortage shortage = {
        .allowed = bucket->limit, .asked = asked, .left = bucket_left(bucket, now_ns)};
    shortage.wait_ms = asked > bucket->limit ? ADMISSION_NEVER : (wait_ns + NS_PER_MS - 1) / NS_PER_MS;
    admission_budget_note(longest, consumer, budget, shortage);
}

static int64_t until_midnight_ms(const struct admission_calendar *calendar, int64_t wall_ns)
{
    int64_t ns = (calendar->day + 1) * DAY_NS - wall_ns;
    return ((ns < DAY_NS ? ns : DAY_NS) + NS_PER_MS - 1) / NS_PER_MS;
}

static void check_spend(const struct admission_consumer *consumer, int64_t asked,
                        const struct admission_calendar *calendar, int64_t wall_ns, struct admission_shortage *longest)
{
    const struct admission_spend *spend = &consumer->spend;
    int64_t left = spend->limit - spend->spent - spend->reserved;
    if (!spend->limit || asked <= left)
        return;
    struct admission_shortage shortage = {.allowed = spend->limit, .asked = asked, .left = left > 0 ? left : 0};
    if (asked > spend->limit)
        shortage.wait_ms = ADMISSION_NEVER;
    else if (asked > spend->limit - spend->spent)
        shortage.wait_ms = until_midnight_ms(calendar, wall_ns);
    else
        shortage.wait_ms = RETURNS_MS;
    admission_budget_note(longest, consumer, MONEY, shortage);
}

struct admission_time admission_time(struct admission *admission)
{
    return (struct admission_time){.now_ns = clock_now_ns(), .wall_ns = admission->wall_ns()};
}

/* The spend as it is today. */
static struct admission_spend *purse_of(struct admission *admission, struct admission_consumer *consumer,
                                        const struct admission_time *moment)
{
    admission_calendar_roll_over(&admission->calendar, moment->now_ns, moment->wall_ns);
    admission_spend_roll_over(&consumer->spend, &admission->calendar);
    return &consumer->spend;
}

void admission_budget_check(struct admission *admission, struct admission_consumer *consumer,
                            const struct ticket *ticket, const struct admission_time *moment,
                            struct admission_shortage *shortage)
{
    if (!consumer->budgeted)
        return;
    purse_of(admission, consumer, moment);
    check_bucket(consumer, REQUESTS, 1, moment->now_ns, shortage);
    check_bucket(consumer, TOKENS, real(ticket->tokens), moment->now_ns, shortage);
    check_spend(consumer, real(ticket->micros), &admission->calendar, moment->wall_ns, shortage);
}

unsigned char admission_budget_reserve(struct admission_consumer *consumer, const struct ticket *ticket,
                                       const struct admission_time *moment)
{
    if (!consumer->budgeted)
        return 0;
    bucket_commit(&consumer->requests, moment->now_ns, 0, 1);
    bucket_commit(&consumer->tokens, moment->now_ns, 0, ticket->tokens);
    consumer->spend.reserved += real(ticket->micros);
    return ADMISSION_RESERVED_MONEY | (consumer->requests.limit ? ADMISSION_RESERVED_REQUEST : 0) |
           (consumer->tokens.limit ? ADMISSION_RESERVED_TOKENS : 0);
}

static unsigned char held_in(const struct admission_consumer *consumer, const struct ticket *ticket)
{
    return consumer->tenant ? ticket->tenant_reserved : ticket->client_reserved;
}

void admission_budget_commit(struct admission *admission, struct admission_consumer *consumer,
                             const struct ticket *ticket, const struct admission_time *moment, int64_t tokens,
                             int64_t micros)
{
    unsigned char held = held_in(consumer, ticket);
    if (!consumer->budgeted && !held)
        return;
    struct admission_spend *spend = purse_of(admission, consumer, moment);
    bucket_commit(&consumer->tokens, moment->now_ns, held & ADMISSION_RESERVED_TOKENS ? ticket->tokens : 0, tokens);
    spend->reserved -= held & ADMISSION_RESERVED_MONEY ? real(ticket->micros) : 0;
    spend->spent += real(micros);
}

void admission_budget_release(struct admission *admission, struct admission_consumer *consumer,
                              const struct ticket *ticket, const struct admission_time *moment)
{
    bucket_commit(&consumer->requests, moment->now_ns, held_in(consumer, ticket) & ADMISSION_RESERVED_REQUEST ? 1 : 0,
                  0);
    admission_budget_commit(admission, consumer, ticket, moment, 0, 0);
}

void admission_budget_load_spend(struct admission *admission, struct admission_consumer *consumer,
                                 const struct admission_time *moment, int64_t micros)
{
    struct admission_spend *spend = purse_of(admission, consumer, moment);
    if (!spend->counted && spend->spent < real(micros)) /* calls that ended since the limit came are in both amounts */
        spend->spent = real(micros);
}
