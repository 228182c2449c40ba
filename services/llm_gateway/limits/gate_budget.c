/* What a client or a tenant may use: requests and tokens of a minute, money of a day. */
#include "gate_priv.h"

#include "base/clock.h"

#define MINUTE_NS   (60 * NS_PER_SEC)
#define DAY_NS      (24 * 3600 * NS_PER_SEC)
#define DEBT_MAX_NS (60 * MINUTE_NS) /* whatever a provider says it has counted, nobody is locked out for longer */
#define AMOUNT_MAX  INT64_C(1000000000000) /* tokens or micro-USD of one request; more is nobody's real use */
#define RETURNS_MS  1000                   /* until some of what is only reserved may be free again */

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
static int64_t refill_ns(const struct gate_bucket *bucket, int64_t amount)
{
    __int128 ns = (__int128)real(amount) * MINUTE_NS / bucket->limit;
    return ns > DEBT_MAX_NS ? DEBT_MAX_NS : (int64_t)ns;
}

static int64_t shortage_ns(const struct gate_bucket *bucket, int64_t now_ns, int64_t amount)
{
    return later(bucket->full_ns, now_ns) + refill_ns(bucket, amount) - (now_ns + MINUTE_NS);
}

static void bucket_take(struct gate_bucket *bucket, int64_t now_ns, int64_t ns)
{
    int64_t full_ns = later(bucket->full_ns, now_ns) + ns;
    bucket->full_ns = full_ns > now_ns + DEBT_MAX_NS ? now_ns + DEBT_MAX_NS : full_ns;
}

static void bucket_settle(struct gate_bucket *bucket, int64_t now_ns, int64_t reserved, int64_t used)
{
    if (!bucket->limit)
        return;
    int64_t ns = refill_ns(bucket, used) - refill_ns(bucket, reserved);
    if (ns > 0)
        bucket_take(bucket, now_ns, ns);
    else
        bucket->full_ns += ns;
}

void gate_bucket_limit(struct gate_bucket *bucket, int64_t limit, int64_t now_ns)
{
    int64_t missing_ns = later(bucket->full_ns, now_ns) - now_ns;
    __int128 ns = bucket->limit && limit ? (__int128)missing_ns * bucket->limit / limit : missing_ns;
    bucket->limit = limit;
    bucket->full_ns = now_ns + (ns > DEBT_MAX_NS ? DEBT_MAX_NS : (int64_t)ns);
}

static int64_t bucket_left(const struct gate_bucket *bucket, int64_t now_ns)
{
    int64_t missing_ns = later(bucket->full_ns, now_ns) - now_ns;
    int64_t missing = (int64_t)(((__int128)missing_ns * bucket->limit + MINUTE_NS - 1) / MINUTE_NS);
    return missing < bucket->limit ? bucket->limit - missing : 0;
}

void gate_bucket_room(const struct gate_bucket *bucket, int64_t now_ns, int64_t *limit, int64_t *left,
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
void gate_calendar_turn(struct gate_calendar *calendar, int64_t now_ns, int64_t wall_ns)
{
    int64_t day = wall_ns / DAY_NS;
    bool back = day < calendar->day && now_ns - calendar->since_ns >= DAY_NS;
    if (day <= calendar->day && !back)
        return;
    calendar->day = day;
    calendar->since_ns = now_ns;
    calendar->page++;
}

/* What is reserved stays: it is spent on the day on which it is settled, as the accounts have it. */
void gate_purse_turn(struct gate_purse *purse, const struct gate_calendar *calendar)
{
    if (purse->page == calendar->page)
        return;
    purse->page = calendar->page;
    purse->spent = 0;
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

static void note(struct gate_shortage *longest, const struct gate_party *party, enum budget budget,
                 struct gate_shortage shortage)
{
    if (longest->limit && longest->wait_ms >= shortage.wait_ms)
        return;
    *longest = shortage;
    longest->party = party->name;
    longest->tenant = party->tenant;
    longest->money = budget == MONEY;
    longest->limit = party->tenant ? budgets[budget].of_tenant : budgets[budget].of_client;
    longest->what = budgets[budget].what;
}

static void check_bucket(const struct gate_party *party, enum budget budget, int64_t asked, int64_t now_ns,
                         struct gate_shortage *longest)
{
    const struct gate_bucket *bucket = budget == REQUESTS ? &party->requests : &party->tokens;
    int64_t wait_ns = bucket->limit ? shortage_ns(bucket, now_ns, asked) : 0;
    if (wait_ns <= 0)
        return;
    struct gate_shortage shortage = {.allowed = bucket->limit, .asked = asked, .left = bucket_left(bucket, now_ns)};
    shortage.wait_ms = asked > bucket->limit ? GATE_NEVER : (wait_ns + NS_PER_MS - 1) / NS_PER_MS;
    note(longest, party, budget, shortage);
}

static int64_t until_midnight_ms(const struct gate_calendar *calendar, int64_t wall_ns)
{
    int64_t ns = (calendar->day + 1) * DAY_NS - wall_ns;
    return ((ns < DAY_NS ? ns : DAY_NS) + NS_PER_MS - 1) / NS_PER_MS;
}

static void check_purse(const struct gate_party *party, int64_t asked, const struct gate_calendar *calendar,
                        int64_t wall_ns, struct gate_shortage *longest)
{
    const struct gate_purse *purse = &party->purse;
    int64_t left = purse->limit - purse->spent - purse->reserved;
    if (!purse->limit || asked <= left)
        return;
    struct gate_shortage shortage = {.allowed = purse->limit, .asked = asked, .left = left > 0 ? left : 0};
    if (asked > purse->limit)
        shortage.wait_ms = GATE_NEVER;
    else if (asked > purse->limit - purse->spent)
        shortage.wait_ms = until_midnight_ms(calendar, wall_ns);
    else
        shortage.wait_ms = RETURNS_MS;
    note(longest, party, MONEY, shortage);
}

struct gate_moment gate_moment(struct gate *gate)
{
    return (struct gate_moment){.now_ns = clock_now_ns(), .wall_ns = gate->wall_ns()};
}

/* The purse as it is today. */
static struct gate_purse *purse_of(struct gate *gate, struct gate_party *party, const struct gate_moment *moment)
{
    gate_calendar_turn(&gate->calendar, moment->now_ns, moment->wall_ns);
    gate_purse_turn(&party->purse, &gate->calendar);
    return &party->purse;
}

void gate_budget_check(struct gate *gate, struct gate_party *party, const struct ticket *ticket,
                       const struct gate_moment *moment, struct gate_shortage *shortage)
{
    if (!party->budgeted)
        return;
    purse_of(gate, party, moment);
    check_bucket(party, REQUESTS, 1, moment->now_ns, shortage);
    check_bucket(party, TOKENS, real(ticket->tokens), moment->now_ns, shortage);
    check_purse(party, real(ticket->micros), &gate->calendar, moment->wall_ns, shortage);
}

unsigned char gate_budget_reserve(struct gate_party *party, const struct ticket *ticket,
                                  const struct gate_moment *moment)
{
    if (!party->budgeted)
        return 0;
    bucket_settle(&party->requests, moment->now_ns, 0, 1);
    bucket_settle(&party->tokens, moment->now_ns, 0, ticket->tokens);
    party->purse.reserved += real(ticket->micros);
    return GATE_HOLDS_MONEY | (party->requests.limit ? GATE_HOLDS_REQUEST : 0) |
           (party->tokens.limit ? GATE_HOLDS_TOKENS : 0);
}

static unsigned char held_in(const struct gate_party *party, const struct ticket *ticket)
{
    return party->tenant ? ticket->tenant_holds : ticket->client_holds;
}

void gate_budget_settle(struct gate *gate, struct gate_party *party, const struct ticket *ticket,
                        const struct gate_moment *moment, int64_t tokens, int64_t micros)
{
    unsigned char held = held_in(party, ticket);
    if (!party->budgeted && !held)
        return;
    struct gate_purse *purse = purse_of(gate, party, moment);
    bucket_settle(&party->tokens, moment->now_ns, held & GATE_HOLDS_TOKENS ? ticket->tokens : 0, tokens);
    purse->reserved -= held & GATE_HOLDS_MONEY ? real(ticket->micros) : 0;
    purse->spent += real(micros);
}

void gate_budget_return(struct gate *gate, struct gate_party *party, const struct ticket *ticket,
                        const struct gate_moment *moment)
{
    bucket_settle(&party->requests, moment->now_ns, held_in(party, ticket) & GATE_HOLDS_REQUEST ? 1 : 0, 0);
    gate_budget_settle(gate, party, ticket, moment, 0, 0);
}

void gate_budget_remember(struct gate *gate, struct gate_party *party, const struct gate_moment *moment, int64_t micros)
{
    struct gate_purse *purse = purse_of(gate, party, moment);
    if (!purse->counted && purse->spent < real(micros)) /* what ended since the limit came stands in both */
        purse->spent = real(micros);
}
