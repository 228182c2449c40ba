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

/* All of them come to the writer together. */
static void commit_all(struct written *written, size_t count)
{
    loop_enter(site.loop);
    for (size_t i = 0; i < count; i++)
        store_commit(site.store, &written[i].batch);
    loop_leave(site.loop);
    settle();
}

static void an_expectation_is_about_what_the_batches_before_it_have_done(void **state)
{
    struct written written[9];
    static const enum status_code codes[COUNT(written)] = {OK, OK, ABORTED, OK, OK, OK, ABORTED, OK, ABORTED};
    put_now("k", "0");
    for (int round = 0; round < 20; round++) { /* the first may go alone */
        store_put(begin(&written[0]), TEXT("k"), TEXT("1"));
        store_expect(begin(&written[1]), TEXT("k"), TEXT("1"));
        store_put(&written[1].batch, TEXT("k"), TEXT("2"));
        store_expect(begin(&written[2]), TEXT("k"), TEXT("1"));
        store_put(&written[2].batch, TEXT("left"), TEXT("out"));
        store_delete(begin(&written[3]), TEXT("k"));
        store_expect(begin(&written[4]), TEXT("k"), ABSENT);
        store_put(&written[4].batch, TEXT("k"), TEXT("4"));
        store_delete_range(begin(&written[5]), TEXT("j"), TEXT("l"));
        store_put(&written[5].batch, TEXT("j"), TEXT("5"));
        store_expect(begin(&written[6]), TEXT("k"), TEXT("4"));
        store_put(&written[6].batch, TEXT("left"), TEXT("out"));
        store_expect(begin(&written[7]), TEXT("j"), TEXT("5"));
        store_put(&written[7].batch, TEXT("k"), TEXT("0"));
        store_expect(begin(&written[8]), TEXT("left"), TEXT("out"));
        commit_all(written, COUNT(written));
        for (size_t i = 0; i < COUNT(written); i++) {
            assert_int_equal(written[i].batch.status.code, codes[i]);
            store_batch_fini(&written[i].batch);
        }
        assert_all("j=5 k=0 ");
    }
}

int main(void)
{
    static const struct named_test tests[] = {NAMED(a_batch_is_written_where_its_expectation_holds),
                                              NAMED(a_batch_is_left_out_whole_where_its_expectation_does_not_hold),
                                              NAMED(an_expectation_is_about_the_time_before_its_own_batch),
                                              NAMED(an_expectation_is_about_what_the_batches_before_it_have_done),
                                              NAMED(the_error_names_the_key_that_was_not_as_expected)};
    return run_on_all_kinds(tests, COUNT(tests));
}
