/* Who is asked: the lightest of the lowest rank, by weight, and what is left after failures. */
#include "base/clock.h"
#include "base/log.h"
#include "routing/choice.h"
#include "routing/route.h"
#include "upstream/retry.h"

#include <pthread.h>
#include <stdatomic.h>

#include "unit.h"

static const struct endpoint_kind endpoint_kind = {"test.circuit", "deployment"};

#define DEPLOYMENTS 4

static struct endpoint_health *healths[DEPLOYMENTS];
static size_t same_as[DEPLOYMENTS]; /* the target whose health it shares, mostly its own */
static struct limits limits[DEPLOYMENTS];
static struct route route;

static int set_up(void **state)
{
    memset(limits, 0, sizeof limits);
    memset(&route, 0, sizeof route);
    for (int i = 0; i < DEPLOYMENTS; i++) {
        route.targets[i] = (struct target){.weight = 1};
        same_as[i] = (size_t)i;
    }
    return 0;
}

/* Limits and weights are set before. */
static void open_route(size_t count)
{
    static const char *const names[] = {"east", "west", "north", "south"};
    route.target_count = count;
    for (int i = 0; i < DEPLOYMENTS; i++)
        healths[i] = endpoint_health_create(&endpoint_kind, names[i], &limits[i]);
    for (int i = 0; i < DEPLOYMENTS; i++)
        route.targets[i].health = healths[same_as[i]];
}

static int tear_down(void **state)
{
    for (int i = 0; i < DEPLOYMENTS; i++)
        endpoint_health_destroy(&healths[i]);
    return 0;
}

static struct endpoint_slot places[DEPLOYMENTS];

static int choose(struct choice *choice)
{
    int target = route_choose(&route, choice, clock_now_ns());
    if (target >= 0)
        places[target] = choice->place;
    return target;
}

static int choose_any(void)
{
    struct choice choice = {0};
    return choose(&choice);
}

static void give_back(int target, enum endpoint_verdict verdict, int64_t rest_ms)
{
    struct endpoint_report report = {.verdict = verdict, .rest_ms = rest_ms, .place = places[target]};
    endpoint_health_release(route.targets[target].health, clock_now_ns(), &report);
}

static unsigned outstanding(int target)
{
    struct endpoint_health_view view;
    endpoint_health_view(route.targets[target].health, clock_now_ns(), &view);
    return view.outstanding;
}

static void rest(int target, int64_t rest_ms)
{
    int64_t wait_ms;
    assert_int_equal(endpoint_health_acquire(healths[target], clock_now_ns(), 0, &places[target], &wait_ms),
                     ENDPOINT_AVAILABLE);
    give_back(target, ENDPOINT_THROTTLED, rest_ms);
}

#define DRAWS 40000

static void idle_targets_are_chosen_by_weight(void **state)
{
    static const unsigned weights[] = {1, 2, 5, 12};
    unsigned counts[DEPLOYMENTS] = {0};
    for (int i = 0; i < DEPLOYMENTS; i++)
        route.targets[i].weight = weights[i];
    open_route(DEPLOYMENTS);
    for (int i = 0; i < DRAWS; i++) {
        int target = choose_any();
        counts[target]++;
        give_back(target, ENDPOINT_SUCCEEDED, 0);
    }
    for (int i = 0; i < DEPLOYMENTS; i++) /* seven standard deviations */
        assert_in_range(counts[i], DRAWS * weights[i] / 20 - 700, DRAWS * weights[i] / 20 + 700);
}

static void the_one_with_the_fewest_under_way_for_its_weight_is_chosen(void **state)
{
    route.targets[0].weight = 1;
    route.targets[1].weight = 3;
    open_route(2);
    for (int i = 0; i < 400; i++)
        assert_true(choose_any() >= 0);
    assert_int_equal(outstanding(0), 100);
    assert_int_equal(outstanding(1), 300);
    for (int i = 0; i < 50; i++)
        give_back(0, ENDPOINT_SUCCEEDED, 0);
    for (int i = 0; i < 49; i++)
        assert_int_equal(choose_any(), 0);
    for (int i = 0; i < 99; i++)
        give_back(0, ENDPOINT_SUCCEEDED, 0);
    for (int i = 0; i < 300; i++)
        give_back(1, ENDPOINT_SUCCEEDED, 0);
}

static void a_model_that_stands_twice_in_a_route_shares_its_load(void **state)
{
    unsigned counts[2] = {0};
    route.targets[1].weight = 3;
    same_as[1] = 0;
    open_route(2);
    for (int i = 0; i < 4000; i++)
        counts[choose_any()]++;
    assert_in_range(counts[0], 800, 1200);
    for (int i = 0; i < 4000; i++)
        give_back(0, ENDPOINT_SUCCEEDED, 0);
}

static void a_rank_is_asked_when_all_lower_ones_cannot(void **state)
{
    route.targets[2].rank = 1;
    open_route(3);
    for (int i = 0; i < 100; i++)
        assert_true(choose_any() < 2);
    for (int i = 0; i < 100; i++)
        give_back(outstanding(0) ? 0 : 1, ENDPOINT_SUCCEEDED, 0);
    rest(0, 2000);
    assert_int_equal(choose_any(), 1);
    give_back(1, ENDPOINT_SUCCEEDED, 0);
    rest(1, 1000);
    assert_int_equal(choose_any(), 2);
    give_back(2, ENDPOINT_SUCCEEDED, 0);
    clock_step(1000 * NS_PER_MS);
    assert_int_equal(choose_any(), 1);
    give_back(1, ENDPOINT_SUCCEEDED, 0);
}

static void a_full_one_is_passed_over(void **state)
{
    limits[0].concurrency = 1;
    route.targets[0].weight = 1000;
    route.targets[1].weight = 1;
    open_route(2);
    unsigned first = 0;
    for (int i = 0; i < 10; i++)
        first += choose_any() == 0;
    assert_int_equal(first, 1);
    assert_int_equal(outstanding(1), 9);
    give_back(0, ENDPOINT_SUCCEEDED, 0);
    for (int i = 0; i < 9; i++)
        give_back(1, ENDPOINT_SUCCEEDED, 0);
}

static void where_nobody_can_be_asked_the_soonest_is_told(void **state)
{
    struct choice choice = {0};
    open_route(3);
    rest(0, 3000);
    rest(1, 1000);
    rest(2, 2000);
    assert_int_equal(choose(&choice), -1);
    assert_int_equal(choice.refusal, ENDPOINT_BACKING_OFF);
    assert_int_equal(choice.wait_ms, 1000);
    choice.tried = 7;
    assert_int_equal(choose(&choice), -1);
    assert_int_equal(choice.refusal, ENDPOINT_AVAILABLE);
}

static void untried_ones_come_before_those_that_may_be_asked_again(void **state)
{
    struct choice choice = {.tried = 1, .again = 1};
    route.targets[2].rank = 1;
    open_route(3);
    assert_int_equal(choose(&choice), 1);
    give_back(1, ENDPOINT_SUCCEEDED, 0);
    choice.tried = 3;
    assert_int_equal(choose(&choice), 0);
    give_back(0, ENDPOINT_SUCCEEDED, 0);
    choice.again = 0;
    assert_int_equal(choose(&choice), 2);
    give_back(2, ENDPOINT_SUCCEEDED, 0);
    choice = (struct choice){.rank_min = 1};
    assert_int_equal(choose(&choice), 2);
    give_back(2, ENDPOINT_SUCCEEDED, 0);
    choice.rank_min = 2;
    assert_int_equal(choose(&choice), -1);
}

static void what_will_not_mend_is_not_asked_again(void **state)
{
    struct choice choice = {0};
    same_as[1] = 0;
    open_route(3);
    route_note_failure(&route, &choice, 2, NOT_FOUND, false);
    assert_int_equal(choice.tried, 4);
    assert_int_equal(choice.again, 0);
    route_note_failure(&route, &choice, 1, UNAVAILABLE, false);
    assert_int_equal(choice.tried, 7);
    assert_int_equal(choice.again, 3);
    route_note_failure(&route, &choice, 1, RESOURCE_EXHAUSTED, true);
    assert_int_equal(choice.tried, 7);
    assert_int_equal(choice.again, 0);
}

static struct retry_question prospects(const struct choice *choice, unsigned rank)
{
    struct retry_question question = {.hint_ms = 77};
    route_prospects(&route, choice, rank, clock_now_ns(), &question);
    return question;
}

static void prospects_are_those_that_can_be_asked(void **state)
{
    struct choice choice = {.tried = 1, .again = 1};
    route.targets[2].rank = 1;
    open_route(3);
    struct retry_question question = prospects(&choice, 0);
    assert_true(question.others && question.again && question.lower);
    assert_int_equal(question.hint_ms, 0);
    rest(0, 2000);
    rest(2, 3000);
    rest(1, 4000);
    question = prospects(&choice, 0);
    assert_true(!question.others && question.again && !question.lower);
    assert_int_equal(question.hint_ms, 2000);
    choice.tried = choice.again = 3;
    assert_int_equal(prospects(&choice, 0).hint_ms, 2000);
    question = prospects(&choice, 1);
    assert_true(!question.again && !question.lower);
    choice.again = 2;
    clock_step(2000 * NS_PER_MS);
    assert_int_equal(prospects(&choice, 0).hint_ms, 2000);
    choice.again = 3;
    assert_int_equal(prospects(&choice, 0).hint_ms, 0);
}

/* Where nobody else is left, one that rests is worth waiting for. */
static void of_two_that_rest_the_untried_is_hoped_for(void **state)
{
    struct choice choice = {.tried = 1};
    open_route(2);
    rest(1, 2000);
    struct retry_question question = prospects(&choice, 0);
    assert_true(question.others && !question.again && !question.lower);
    assert_int_equal(question.hint_ms, 77);
}

/* ---- a whole call, as the gateway makes it ----------------------------------------------------------------------- */

struct script {
    enum status_code codes[8];
    int64_t hints_ms[8];
};

static unsigned asked[16], asked_count;

/* Asks until it is over; the n-th request ends as the script says. */
static enum status_code call(const struct script *script, int64_t left_ms)
{
    struct choice choice = {0};
    struct retry_question question = {0};
    unsigned turns = 0, rank = 0;
    int64_t wait_ms, end_ns = clock_now_ns() + left_ms * NS_PER_MS;
    for (asked_count = 0;;) {
        question.left_ms = (end_ns - clock_now_ns()) / NS_PER_MS;
        int target = choose(&choice);
        if (target < 0) {
            if (choice.refusal == ENDPOINT_AVAILABLE ||
                !retry_wait(&route.retry, ++turns, choice.wait_ms, question.left_ms, &wait_ms))
                return RESOURCE_EXHAUSTED;
            clock_step(wait_ms * NS_PER_MS);
            continue;
        }
        if (route.targets[target].rank != rank)
            question.attempts = 0;
        rank = route.targets[target].rank;
        question.attempts++;
        question.attempts_all++;
        enum status_code code = question.code = script->codes[asked_count];
        struct endpoint_report report = {.place = choice.place};
        endpoint_report_of(&report, code, false, script->hints_ms[asked_count]);
        asked[asked_count++] = (unsigned)target;
        endpoint_health_release(route.targets[target].health, clock_now_ns(), &report);
        if (code == OK)
            return OK;
        route_note_failure(&route, &choice, target, code, false);
        question.hint_ms = report.rest_ms;
        route_prospects(&route, &choice, rank, clock_now_ns(), &question);
        switch (retry_decide(&route.retry, &question, &wait_ms)) {
        case RETRY_NEVER:
            return code;
        case RETRY_NEXT_RANK:
            choice.rank_min = rank + 1;
            break;
        default:
            clock_step(wait_ms * NS_PER_MS);
        }
    }
}

static void open_call(size_t count)
{
    route.retry = (struct retry_policy)RETRY_POLICY_DEFAULT;
    open_route(count);
}

static void assert_asked(unsigned count, const unsigned *targets)
{
    assert_int_equal(asked_count, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(asked[i], targets[i]);
}

static void a_failing_deployment_gives_way_to_the_next_then_the_next_rank(void **state)
{
    struct script script = {{UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, OK}, {0}};
    route.targets[1].rank = 1;
    open_call(2);
    assert_int_equal(call(&script, 60000), OK);
    assert_asked(5, (const unsigned[]){0, 0, 0, 1, 1});
}

static void a_hint_is_waited_for_where_nobody_else_is(void **state)
{
    struct script script = {{RESOURCE_EXHAUSTED, OK}, {4000}};
    open_call(1);
    int64_t began_ns = clock_now_ns();
    assert_int_equal(call(&script, 60000), OK);
    assert_asked(2, (const unsigned[]){0, 0});
    assert_in_range((clock_now_ns() - began_ns) / NS_PER_MS, 4000, 4500);
    script.hints_ms[0] = 45000;
    assert_int_equal(call(&script, 60000), RESOURCE_EXHAUSTED);
    assert_int_equal(asked_count, 1);
}

static void one_that_forgives_is_not_asked_again_before_its_hint(void **state)
{
    struct script script = {{RESOURCE_EXHAUSTED, OK}, {4000}};
    open_call(1);
    endpoint_health_disable_breaker(healths[0]);
    int64_t began_ns = clock_now_ns();
    assert_int_equal(call(&script, 60000), OK);
    assert_in_range((clock_now_ns() - began_ns) / NS_PER_MS, 4000, 4500);
}

static void a_refused_key_is_not_asked_again(void **state)
{
    struct script script = {{FAILED_PRECONDITION, UNAVAILABLE, OK}, {0}};
    route.targets[1].rank = 1;
    open_call(2);
    assert_int_equal(call(&script, 60000), OK);
    assert_asked(3, (const unsigned[]){0, 1, 1});
    script = (struct script){{FAILED_PRECONDITION, FAILED_PRECONDITION}, {0}};
    assert_int_equal(call(&script, 60000), FAILED_PRECONDITION);
    assert_asked(2, (const unsigned[]){0, 1});
}

static void the_callers_time_ends_all_waiting(void **state)
{
    struct script script = {{RESOURCE_EXHAUSTED, OK}, {4000}};
    open_call(1);
    int64_t began_ns = clock_now_ns();
    assert_int_equal(call(&script, 4000), RESOURCE_EXHAUSTED);
    assert_int_equal(clock_now_ns(), began_ns);
}

/* ---- two loops at once ------------------------------------------------------------------------------------------- */

static _Atomic int inside[2];
static _Atomic bool overshot;

static void *ask_and_answer(void *unused)
{
    static const int most[] = {1, 2};
    for (int i = 0; i < 20000; i++) {
        struct choice choice = {0};
        int target = route_choose(&route, &choice, clock_now_ns());
        if (target < 0)
            continue;
        if (atomic_fetch_add(&inside[target], 1) >= most[target])
            overshot = true;
        atomic_fetch_sub(&inside[target], 1);
        struct endpoint_report report = {.verdict = ENDPOINT_SUCCEEDED, .place = choice.place};
        endpoint_health_release(healths[target], clock_now_ns(), &report);
    }
    return NULL;
}

static void loops_that_choose_at_once_pass_no_limit(void **state)
{
    pthread_t threads[3];
    limits[0].concurrency = 1;
    limits[1].concurrency = 2;
    open_route(2);
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_and_answer, NULL), 0);
    ask_and_answer(NULL);
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    assert_false(overshot);
    assert_int_equal(outstanding(0) + outstanding(1), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(idle_targets_are_chosen_by_weight),
        TEST(the_one_with_the_fewest_under_way_for_its_weight_is_chosen),
        TEST(a_model_that_stands_twice_in_a_route_shares_its_load),
        TEST(a_rank_is_asked_when_all_lower_ones_cannot),
        TEST(a_full_one_is_passed_over),
        TEST(where_nobody_can_be_asked_the_soonest_is_told),
        TEST(untried_ones_come_before_those_that_may_be_asked_again),
        TEST(what_will_not_mend_is_not_asked_again),
        TEST(prospects_are_those_that_can_be_asked),
        TEST(of_two_that_rest_the_untried_is_hoped_for),
        TEST(a_failing_deployment_gives_way_to_the_next_then_the_next_rank),
        TEST(a_hint_is_waited_for_where_nobody_else_is),
        TEST(one_that_forgives_is_not_asked_again_before_its_hint),
        TEST(a_refused_key_is_not_asked_again),
        TEST(the_callers_time_ends_all_waiting),
        TEST(loops_that_choose_at_once_pass_no_limit),
    };
    log_configure("test", LOG_ERROR, LOG_FORMAT_TEXT);
    clock_stop();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
