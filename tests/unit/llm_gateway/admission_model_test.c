/* The admission at random against a model that is too simple to be wrong: a list of all callers, gone through each
 * time. */
#include "admission_callers.h"
#include "base/random.h"

#define CALLERS 60
#define STEPS   60000
#define PHASE   1000 /* steps */
#define CLIENTS 5
#define TENANTS 3
#define PLACES  7
#define QUEUE   20
#define MICROS  20000
#define TOKENS  60000
#define WAIT_MS 300
#define ORDERS  16 /* how often a turn may go to the oldest */

static const char *const clients[CLIENTS] = {"a", "b", "c", "d", "e"};
static const char *const tenants[TENANTS] = {"north", "south", "west"};
static const struct limits_row client_rows[] = {
    {"a", {.concurrency = 1}},
    {"b", {.concurrency = 3, .weight = 4}},
    {"c", {.tokens_per_minute = TOKENS}},
    {"d", {.micros_per_day = MICROS}},
};
static const struct limits_row tenant_rows[] = {{"north", {.concurrency = 2}}};

enum place { AWAY, WAITING, INSIDE };

struct person {
    struct caller caller; /* first */
    enum place place;
    size_t client, tenant;
    uint64_t arrival;
};

static struct person people[CALLERS];
static uint64_t arrivals;
static int64_t spent;      /* by d */
static double tokens_left; /* of c */
static unsigned turns, out_of_order;

static unsigned count(enum place place, const size_t *client, const size_t *tenant)
{
    unsigned found = 0;
    for (size_t i = 0; i < CALLERS; i++)
        found += people[i].place == place && (!client || people[i].client == *client) &&
                 (!tenant || people[i].tenant == *tenant);
    return found;
}

static bool has_own_place(const struct person *person)
{
    const size_t *client = &person->client, *tenant = &person->tenant;
    int64_t concurrency = *client < COUNT(client_rows) ? client_rows[*client].limits.concurrency : 0;
    if (concurrency && count(INSIDE, client, NULL) >= concurrency)
        return false;
    return *tenant != 0 || count(INSIDE, NULL, tenant) < tenant_rows[0].limits.concurrency;
}

static bool is_first_of_its_flow(const struct person *person)
{
    for (size_t i = 0; i < CALLERS; i++)
        if (people[i].place == WAITING && people[i].client == person->client && people[i].arrival < person->arrival &&
            people[i].caller.ticket.priority == person->caller.ticket.priority)
            return false;
    return true;
}

static bool could_be_called(const struct person *person)
{
    return person->place == WAITING && has_own_place(person) && is_first_of_its_flow(person);
}

static int64_t reserved(size_t client)
{
    int64_t micros = 0;
    for (size_t i = 0; i < CALLERS; i++)
        if (people[i].place != AWAY && people[i].client == client)
            micros += people[i].caller.ticket.micros;
    return micros;
}

/* Nobody with a higher priority could have been called, but for every sixteenth turn, which is the oldest's. */
static void check_turn(const struct person *called)
{
    bool oldest = true, highest = true;
    assert_true(could_be_called(called));
    for (size_t i = 0; i < CALLERS; i++) {
        if (!could_be_called(&people[i]))
            continue;
        oldest = oldest && people[i].arrival >= called->arrival;
        highest = highest && people[i].caller.ticket.priority <= called->caller.ticket.priority;
    }
    assert_true(oldest || highest);
    turns++;
    out_of_order += !highest;
}

static void give_back(int64_t tokens)
{
    tokens_left += (double)tokens;
    if (tokens_left > TOKENS)
        tokens_left = TOKENS;
}

static void person_heard(struct ticket *ticket)
{
    struct person *person = (struct person *)ticket;
    assert_int_equal(person->place, WAITING);
    if (ticket->status.code == OK) {
        assert_true(count(INSIDE, NULL, NULL) < PLACES);
        check_turn(person);
        person->place = INSIDE;
        return;
    }
    person->place = AWAY;
    if (person->client == 2)
        give_back(ticket->tokens);
    assert_non_null(ticket->exhausted);
    assert_true(ticket->status.retry_after_ms >= 100);
}

/* 1: it can; 0: it cannot; -1: the model counts too roughly to say. */
static int can_afford(const struct person *person)
{
    const struct ticket *ticket = &person->caller.ticket;
    if (person->client == 3)
        return spent + reserved(3) + ticket->micros <= MICROS;
    if (person->client != 2)
        return 1;
    double rest = tokens_left - (double)ticket->tokens;
    return rest > 0.01 ? 1 : rest < -0.01 ? 0 : -1;
}

static void come(struct person *person)
{
    person->client = random_below(CLIENTS);
    person->tenant = random_below(TENANTS);
    person->arrival = ++arrivals;
    person->caller = caller_of(clients[person->client], (enum admission_priority)random_below(ADMISSION_PRIORITIES));
    struct ticket *ticket = &person->caller.ticket;
    ticket->tenant = tenants[person->tenant];
    ticket->admitted = person_heard;
    ticket->tokens = (int64_t)random_below(3000);
    ticket->micros = (int64_t)random_below(2000);
    int can = can_afford(person);
    bool free_place = count(INSIDE, NULL, NULL) < PLACES && has_own_place(person);
    loop_enter(loop);
    enum admission_result answer = admission_enter(admission, ticket);
    bool by_budget = answer == ADMISSION_REJECTED && strncmp(ticket->exhausted, "client/", 7) == 0;
    person->place = answer == ADMISSION_ADMITTED ? INSIDE : answer == ADMISSION_QUEUED ? WAITING : AWAY;
    loop_leave(loop); /* one who was crowded out hears of it: it has made room first, and given back what it had */
    if (person->client == 2 && answer != ADMISSION_REJECTED)
        tokens_left -= (double)ticket->tokens;
    if (can >= 0)
        assert_int_equal(by_budget, !can);
    if (!by_budget)
        assert_int_equal(answer == ADMISSION_ADMITTED, free_place);
}

static void go(struct person *person)
{
    struct ticket *ticket = &person->caller.ticket;
    int64_t tokens = (int64_t)random_below(3000), micros = (int64_t)random_below((uint64_t)ticket->micros + 1);
    enum place was = person->place;
    person->place = AWAY;
    if (person->client == 2)
        give_back(ticket->tokens - (was == INSIDE ? tokens : 0));
    if (person->client == 3 && was == INSIDE)
        spent += micros;
    loop_enter(loop);
    if (was == INSIDE)
        admission_leave(ticket, tokens, micros);
    else
        admission_withdraw(ticket);
    memset(&person->caller, 0xEE, sizeof person->caller);
    loop_leave(loop);
}

static void let_time_pass(int64_t ms)
{
    tokens_left += (double)ms * TOKENS / 60000;
    loop_step(loop, ms);
    if (random_below(2000) == 0) {
        wall += DAY_NS;
        spent = 0;
    }
}

static void check_all(void)
{
    unsigned inside = count(INSIDE, NULL, NULL);
    struct admission_stats now = stats();
    give_back(0);
    assert_true(inside <= PLACES);
    assert_int_equal(now.inside, inside);
    assert_int_equal(now.waiting[0] + now.waiting[1] + now.waiting[2], count(WAITING, NULL, NULL));
    for (size_t i = 0; i < CALLERS && inside < PLACES; i++)
        assert_false(could_be_called(&people[i]));
}

static void admission_behaves_as_the_model(void **state)
{
    struct limits_table of_clients = {.rows = client_rows, .count = COUNT(client_rows)};
    struct limits_table of_tenants = {.rows = tenant_rows, .count = COUNT(tenant_rows)};
    open_admission((struct admission_options){.in_flight_max = PLACES,
                                              .queue_max = QUEUE,
                                              .queue_wait_ms = WAIT_MS,
                                              .clients = &of_clients,
                                              .tenants = &of_tenants});
    tokens_left = TOKENS;
    for (int i = 0; i < STEPS; i++) {
        struct person *person = &people[random_below(CALLERS)];
        bool busy = i / PHASE % 2 == 0; /* else there is mostly a free place */
        if (person->place == AWAY && (busy || random_below(3) == 0))
            come(person);
        else if (person->place != AWAY && (!busy || random_below(3) == 0))
            go(person);
        let_time_pass(1 + (int64_t)random_below(9)); /* no two come at the same moment */
        check_all();
    }
    for (size_t i = 0; i < CALLERS; i++)
        if (people[i].place != AWAY)
            go(&people[i]);
    check_all();
    struct admission_stats now = stats();
    assert_in_range(out_of_order, 1, turns / ORDERS + 1);
    assert_true(now.refused_late && now.refused_money && now.refused_queue && now.refused_rate);
    print_message(
        "%u turns, %u of them the oldest's out of order; refused %u late, %u for money, %u by the queue, %u for rate\n",
        turns, out_of_order, (unsigned)now.refused_late, (unsigned)now.refused_money, (unsigned)now.refused_queue,
        (unsigned)now.refused_rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMISSION_TEST(admission_behaves_as_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
