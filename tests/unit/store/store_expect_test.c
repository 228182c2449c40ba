/* What a batch expects to find, of every kind of store. */
#include "store_fixture.h"

/* ---- expectations ------------------------------------------------------------------------------------------------ */

static enum status_code put_expecting(struct store_bytes key, struct store_bytes expected)
{
    struct written written;
    struct store_batch *batch = begin(&written);
    store_put(batch, TEXT("other"), TEXT("new"));
    store_expect(batch, key, expected);
    store_put(batch, key, TEXT("new"));
    return commit_now(&written).code;
}

static void a_batch_is_written_where_its_expectation_holds(void **state)
{
    put_now("k", "old");
    assert_int_equal(put_expecting(TEXT("k"), TEXT("old")), OK);
    assert_int_equal(put_expecting(TEXT("j"), ABSENT), OK);
    assert_all("j=new k=new other=new ");
}

static void a_batch_is_left_out_whole_where_its_expectation_does_not_hold(void **state)
{
    put_now("k", "old");
    put_now("empty", "");
    static const struct {
        struct store_bytes key, expected;
    } cases[] = {{TEXT("k"), ABSENT},      {TEXT("k"), TEXT("")}, {TEXT("k"), TEXT("ol")}, {TEXT("k"), TEXT("olde")},
                 {TEXT("j"), TEXT("old")}, {TEXT("j"), TEXT("")}, {TEXT("empty"), ABSENT}, {TEXT("empty"), TEXT("x")}};
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(put_expecting(cases[i].key, cases[i].expected), ABORTED);
    assert_all("empty= k=old ");
    assert_int_equal(put_expecting(TEXT("empty"), TEXT("")), OK);
}

static void an_expectation_is_about_the_time_before_its_own_batch(void **state)
{
    struct written written;
    struct store_batch *batch = begin(&written);
    store_put(batch, TEXT("k"), TEXT("1"));
    store_expect(batch, TEXT("k"), ABSENT);
    assert_int_equal(commit_now(&written).code, OK);
    assert_all("k=1 ");
}

static void the_error_names_the_key_that_was_not_as_expected(void **state)
{
    struct written written;
    store_expect(begin(&written), TEXT("thread/7\n"), TEXT("secret"));
    struct status st = commit_now(&written);
    assert_int_equal(st.code, ABORTED);
    assert_contains(st.text, "thread/7.");
    assert_lacks(st.text, "secret");
}

int main(void)
{
    static const struct named_test tests[] = {NAMED(a_batch_is_written_where_its_expectation_holds),
                                              NAMED(a_batch_is_left_out_whole_where_its_expectation_does_not_hold),
                                              NAMED(an_expectation_is_about_the_time_before_its_own_batch),
                                              NAMED(the_error_names_the_key_that_was_not_as_expected)};
    return run_on_all_kinds(tests, COUNT(tests));
}
