/* Whether, when and where a failed request is tried again. */
#include "upstream/retry.h"

#include <pthread.h>
#include <stdatomic.h>

#include "unit.h"

static const struct retry_policy policy = {.attempts = 3, .base_ms = 500, .max_ms = 8000, .hint_ms = 30000};

/* One attempt has failed; a minute is left. */
static struct retry_question failed(enum status_code code)
{
    return (struct retry_question){.code = code, .attempts = 1, .attempts_all = 1, .left_ms = 60000};
}

static enum retry_step decide(const struct retry_question *question)
{
    int64_t wait_ms = -1;
    enum retry_step step = retry_decide(&policy, question, &wait_ms);
    assert_true(wait_ms >= 0);
    if (step == RETRY_OTHER || step == RETRY_NEXT_RANK)
        assert_int_equal(wait_ms, 0);
    return step;
}

static int64_t wait_of(const struct retry_question *question)
{
    int64_t wait_ms;
    retry_decide(&policy, question, &wait_ms);
    return wait_ms;
}

static void the_table_is_kept(void **state)
{
    static const struct {
        enum status_code code;
        bool quota;
        enum retry_step alone, beside_others, above_a_rank;
    } rows[] = {
        {UNAVAILABLE, false, RETRY_SAME, RETRY_OTHER, RETRY_SAME},
        {DATA_LOSS, false, RETRY_SAME, RETRY_OTHER, RETRY_SAME},
        {RESOURCE_EXHAUSTED, false, RETRY_SAME, RETRY_OTHER, RETRY_SAME},
        {RESOURCE_EXHAUSTED, true, RETRY_NEVER, RETRY_OTHER, RETRY_NEXT_RANK},
        {FAILED_PRECONDITION, false, RETRY_NEVER, RETRY_OTHER, RETRY_NEXT_RANK},
        {NOT_FOUND, false, RETRY_NEVER, RETRY_OTHER, RETRY_NEXT_RANK},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct retry_question question = failed(rows[i].code);
        question.quota = rows[i].quota;
        assert_int_equal(decide(&question), rows[i].alone);
        question.lower = true;
        assert_int_equal(decide(&question), rows[i].above_a_rank);
        question.others = true;
        assert_int_equal(decide(&question), rows[i].beside_others);
    }
}

static void all_other_failures_are_final(void **state)
{
    for (int code = OK; code < STATUS_CODES_COUNT; code++) {
        struct retry_question question = failed((enum status_code)code);
        question.others = question.again = question.lower = true;
        bool listed = code == UNAVAILABLE || code == DATA_LOSS || code == RESOURCE_EXHAUSTED ||
                      code == FAILED_PRECONDITION || code == NOT_FOUND;
        assert_int_equal(decide(&question) == RETRY_NEVER, !listed);
    }
}

static void an_answer_that_has_begun_is_never_asked_again(void **state)
{
    struct retry_question question = failed(UNAVAILABLE);
    question.begun = question.others = question.again = question.lower = true;
    question.hint_ms = 1000;
    assert_int_equal(decide(&question), RETRY_NEVER);
    assert_int_equal(wait_of(&question), 0);
}

static void attempts_used_up_lead_to_the_next_rank(void **state)
{
    struct retry_question question = failed(UNAVAILABLE);
    question.attempts = question.attempts_all = policy.attempts - 1;
    question.others = question.again = question.lower = true;
    assert_int_equal(decide(&question), RETRY_OTHER);
    question.attempts = question.attempts_all = policy.attempts;
    assert_int_equal(decide(&question), RETRY_NEXT_RANK);
    question.lower = false;
    assert_int_equal(decide(&question), RETRY_NEVER);
    question.lower = true;
    question.attempts = 1;
    question.attempts_all = RETRY_ATTEMPTS_MAX;
    assert_int_equal(decide(&question), RETRY_NEVER);
}

static void one_that_failed_earlier_and_may_mend_is_asked_again(void **state)
{
    struct retry_question question = failed(NOT_FOUND);
    assert_int_equal(decide(&question), RETRY_NEVER);
    question.again = true;
    assert_int_equal(decide(&question), RETRY_SAME);
}

static void the_backoff_grows_with_full_jitter(void **state)
{
    static const int64_t longest[] = {500, 1000, 2000, 4000, 8000, 8000, 8000};
    struct retry_policy patient = policy;
    patient.attempts = RETRY_ATTEMPTS_MAX;
    for (unsigned i = 0; i < COUNT(longest); i++) {
        struct retry_question question = failed(UNAVAILABLE);
        int64_t least = INT64_MAX, most = 0, sum = 0;
        question.attempts = question.attempts_all = i + 1;
        for (int k = 0; k < 2000; k++) {
            int64_t wait_ms;
            assert_int_equal(retry_decide(&patient, &question, &wait_ms), RETRY_SAME);
            least = wait_ms < least ? wait_ms : least;
            most = wait_ms > most ? wait_ms : most;
            sum += wait_ms;
        }
        assert_true(most <= longest[i] && most > longest[i] * 9 / 10);
        assert_true(least < longest[i] / 10);
        assert_true(sum / 2000 > longest[i] * 4 / 10 && sum / 2000 < longest[i] * 6 / 10);
    }
}

static void a_hint_is_waited_for_in_full(void **state)
{
    struct retry_question question = failed(RESOURCE_EXHAUSTED);
    question.hint_ms = 20000;
    for (int i = 0; i < 1000; i++) {
        int64_t wait_ms = wait_of(&question);
        assert_true(wait_ms >= 20000 && wait_ms <= 20500);
    }
}

static void a_hint_that_is_too_long_is_not_waited_for(void **state)
{
    struct retry_question question = failed(RESOURCE_EXHAUSTED);
    question.hint_ms = policy.hint_ms;
    assert_int_equal(decide(&question), RETRY_SAME);
    question.hint_ms++;
    assert_int_equal(decide(&question), RETRY_NEVER);
    assert_int_equal(wait_of(&question), policy.hint_ms + 1);
    question.lower = true;
    assert_int_equal(decide(&question), RETRY_NEXT_RANK);
    question.others = true;
    assert_int_equal(decide(&question), RETRY_OTHER);
}

static void the_last_request_that_the_caller_allows_goes_to_one_that_stands_in(void **state)
{
    struct retry_question question = failed(UNAVAILABLE);
    question.others = question.again = question.lower = true;
    assert_int_equal(decide(&question), RETRY_OTHER);
    question.last = true;
    assert_int_equal(decide(&question), RETRY_NEXT_RANK);
    question.lower = false;
    assert_int_equal(decide(&question), RETRY_OTHER);
}

static void what_does_not_fit_into_the_callers_time_is_not_waited_for(void **state)
{
    struct retry_question question = failed(RESOURCE_EXHAUSTED);
    question.hint_ms = 20000;
    question.left_ms = 20000;
    assert_int_equal(decide(&question), RETRY_NEVER);
    assert_int_equal(wait_of(&question), 20000);
    question.lower = true;
    assert_int_equal(decide(&question), RETRY_NEXT_RANK);
    question.left_ms = 0;
    assert_int_equal(decide(&question), RETRY_NEVER);
}

static void a_backoff_ends_before_the_callers_time(void **state)
{
    struct retry_policy hasty = {.attempts = 3, .base_ms = 1, .max_ms = 1, .hint_ms = 0};
    struct retry_question question = failed(UNAVAILABLE);
    unsigned counts[RETRY_NEXT_RANK + 1] = {0};
    question.left_ms = 1;
    for (int i = 0; i < 200; i++) {
        int64_t wait_ms;
        counts[retry_decide(&hasty, &question, &wait_ms)]++;
        assert_int_equal(wait_ms, 0);
    }
    assert_true(counts[RETRY_SAME] > 0 && counts[RETRY_NEVER] > 0);
}

static uint64_t seed = 42;

static unsigned below(unsigned bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % bound;
}

static struct retry_question anything(void)
{
    static const enum status_code codes[] = {
        UNAVAILABLE, DATA_LOSS, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, NOT_FOUND, INVALID_ARGUMENT, INTERNAL};
    unsigned attempts = 1 + below(5);
    return (struct retry_question){
        .code = codes[below(COUNT(codes))],
        .quota = below(4) == 0,
        .begun = below(8) == 0,
        .others = below(2),
        .again = below(2),
        .lower = below(2),
        .hint_ms = below(2) ? 0 : (int64_t)below(40000) - 100,
        .attempts = attempts,
        .attempts_all = attempts + below(14),
        .left_ms = (int64_t)below(40000) - 100,
    };
}

static void no_question_gets_an_answer_that_breaks_the_rules(void **state)
{
    for (int i = 0; i < 200000; i++) {
        struct retry_question question = anything();
        int64_t wait_ms = -1;
        enum retry_step step = retry_decide(&policy, &question, &wait_ms);
        assert_true(wait_ms >= 0);
        if (step == RETRY_NEVER)
            continue;
        assert_false(question.begun);
        assert_true(question.left_ms > 0 && wait_ms < question.left_ms);
        assert_true(question.attempts_all < RETRY_ATTEMPTS_MAX);
        assert_true(step == RETRY_NEXT_RANK || question.attempts < policy.attempts);
        assert_true(step != RETRY_OTHER || question.others);
        assert_true(step != RETRY_NEXT_RANK || question.lower);
        assert_true(step != RETRY_SAME || question.again || retry_mends(question.code, question.quota));
        assert_true(step != RETRY_SAME || (wait_ms >= question.hint_ms && question.hint_ms <= policy.hint_ms));
    }
}

/* As the gateway's loop asks, with two of the first rank and one behind them, all of which always fail. */
static void a_call_that_always_fails_comes_to_an_end(void **state)
{
    struct retry_question question = failed(UNAVAILABLE);
    unsigned untried = 1, ranks = 1, asked = 1;
    question.left_ms = 1000000;
    for (;;) {
        int64_t wait_ms;
        question.others = untried > 0;
        question.lower = ranks > 0;
        enum retry_step step = retry_decide(&policy, &question, &wait_ms);
        if (step == RETRY_NEVER)
            break;
        if (step == RETRY_NEXT_RANK) {
            ranks--;
            question.attempts = untried = 0;
        } else if (step == RETRY_OTHER)
            untried--;
        question.attempts++;
        question.attempts_all++;
        question.left_ms -= wait_ms;
        asked++;
    }
    assert_int_equal(asked, 2 * policy.attempts);
}

static void a_wait_for_somebody_to_be_free_has_its_bounds(void **state)
{
    int64_t wait_ms;
    assert_true(retry_wait(&policy, 1, 2000, 60000, &wait_ms));
    assert_true(wait_ms >= 2000 && wait_ms <= 2500);
    assert_true(retry_wait(&policy, 2, 0, 60000, &wait_ms));
    assert_true(wait_ms <= 1000);
    assert_false(retry_wait(&policy, 3, 0, 60000, &wait_ms));
    assert_false(retry_wait(&policy, 1, 2000, 2000, &wait_ms));
    assert_false(retry_wait(&policy, 1, policy.hint_ms + 1, 60000, &wait_ms));
}

/* ---- the budget -------------------------------------------------------------------------------------------------- */

static void the_budget_is_a_share_of_the_requests(void **state)
{
    struct retry_budget budget;
    unsigned spent = 0;
    retry_budget_init(&budget, 0.2, 10);
    while (retry_budget_spend(&budget))
        spent++;
    assert_int_equal(spent, 10);
    for (int i = 0; i < 1000; i++) {
        retry_budget_earn(&budget);
        spent += retry_budget_spend(&budget);
    }
    assert_int_equal(spent, 10 + 200);
    for (int i = 0; i < 1000; i++)
        retry_budget_earn(&budget);
    for (spent = 0; retry_budget_spend(&budget);)
        spent++;
    assert_int_equal(spent, 10);
}

static void a_budget_of_nothing_gives_nothing(void **state)
{
    struct retry_budget budget;
    retry_budget_init(&budget, 0, 0);
    retry_budget_earn(&budget);
    assert_false(retry_budget_spend(&budget));
    retry_budget_init(&budget, -1, 1);
    retry_budget_earn(&budget);
    assert_true(retry_budget_spend(&budget));
    assert_false(retry_budget_spend(&budget));
}

static void a_full_budget_is_no_fuller(void **state)
{
    struct retry_budget budget;
    retry_budget_init(&budget, 0.3, 1);
    assert_true(retry_budget_spend(&budget));
    for (int i = 0; i < 10; i++)
        retry_budget_earn(&budget);
    assert_true(retry_budget_spend(&budget));
    for (int i = 0; i < 3; i++)
        retry_budget_earn(&budget);
    assert_false(retry_budget_spend(&budget));
}

static struct retry_budget shared;
static _Atomic unsigned spent_by_all;

static void *earn_and_spend(void *unused)
{
    for (int i = 0; i < 20000; i++) {
        retry_budget_earn(&shared);
        if (retry_budget_spend(&shared))
            atomic_fetch_add(&spent_by_all, 1);
    }
    return NULL;
}

static void threads_lose_and_invent_nothing(void **state)
{
    pthread_t other;
    retry_budget_init(&shared, 0.1, 1000000);
    while (retry_budget_spend(&shared))
        ;
    assert_int_equal(pthread_create(&other, NULL, earn_and_spend, NULL), 0);
    earn_and_spend(NULL);
    pthread_join(other, NULL);
    while (retry_budget_spend(&shared))
        spent_by_all++;
    assert_int_equal(spent_by_all, 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_kept),
        cmocka_unit_test(all_other_failures_are_final),
        cmocka_unit_test(an_answer_that_has_begun_is_never_asked_again),
        cmocka_unit_test(attempts_used_up_lead_to_the_next_rank),
        cmocka_unit_test(one_that_failed_earlier_and_may_mend_is_asked_again),
        cmocka_unit_test(the_backoff_grows_with_full_jitter),
        cmocka_unit_test(a_hint_is_waited_for_in_full),
        cmocka_unit_test(a_hint_that_is_too_long_is_not_waited_for),
        cmocka_unit_test(the_last_request_that_the_caller_allows_goes_to_one_that_stands_in),
        cmocka_unit_test(what_does_not_fit_into_the_callers_time_is_not_waited_for),
        cmocka_unit_test(a_backoff_ends_before_the_callers_time),
        cmocka_unit_test(no_question_gets_an_answer_that_breaks_the_rules),
        cmocka_unit_test(a_call_that_always_fails_comes_to_an_end),
        cmocka_unit_test(a_wait_for_somebody_to_be_free_has_its_bounds),
        cmocka_unit_test(the_budget_is_a_share_of_the_requests),
        cmocka_unit_test(a_full_budget_is_no_fuller),
        cmocka_unit_test(a_budget_of_nothing_gives_nothing),
        cmocka_unit_test(threads_lose_and_invent_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
