/* Many batches at once, of every kind of store: their order, what they share, what is seen of them and when. */
#include "store_fixture.h"

/* ---- many batches ------------------------------------------------------------------------------------------------ */

#define MANY 500

/* A large batch first, so that the others wait for it and go together. */
static struct written *hold_up(struct written *first)
{
    static char large[1 << 20];
    struct store_batch *batch = begin(first);
    for (int i = 0; i < 32; i++)
        store_put(batch, (struct store_bytes){&(char){(char)(128 + i)}, 1}, (struct store_bytes){large, sizeof large});
    commit(first);
    return first;
}

static void batches_come_home_once_and_in_their_order(void **state)
{
    static struct written many[MANY];
    came_home = 0;
    for (int i = 0; i < MANY; i++) {
        store_put(begin(&many[i]), TEXT("last"), (struct store_bytes){&i, sizeof i});
        commit(&many[i]);
    }
    settle();
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(many[i].runs, 1);
        assert_int_equal(many[i].place, i + 1);
        assert_int_equal(many[i].batch.status.code, OK);
        store_batch_fini(&many[i].batch);
    }
    struct looked looked;
    look(&looked, ABSENT, NO_END);
    assert_int_equal(*(const int *)scan_now(&looked)->rows[0].value.bytes, MANY - 1);
    store_scan_fini(&looked.scan);
}

static void batches_that_wait_share_a_transaction(void **state)
{
    static struct written many[MANY], first;
    struct store_stats before, after;
    store_stats(site.store, &before);
    hold_up(&first);
    for (int i = 0; i < MANY; i++) {
        store_put(begin(&many[i]), (struct store_bytes){&i, sizeof i}, TEXT("v"));
        commit(&many[i]);
    }
    settle();
    store_stats(site.store, &after);
    assert_int_equal(after.batches - before.batches, MANY + 1);
    assert_int_equal(after.operations - before.operations, MANY + 32);
    assert_true(after.transactions - before.transactions <= 10);
    assert_int_equal(after.queued, 0);
    for (int i = 0; i < MANY; i++)
        store_batch_fini(&many[i].batch);
    store_batch_fini(&first.batch);
}

static void of_two_that_expect_the_same_in_one_transaction_one_is_written(void **state)
{
    struct written first, one, other, third;
    put_now("k", "0");
    hold_up(&first);
    struct store_batch *batch = begin(&one);
    store_expect(batch, TEXT("k"), TEXT("0"));
    store_put(batch, TEXT("k"), TEXT("1"));
    commit(&one);
    batch = begin(&other);
    store_expect(batch, TEXT("k"), TEXT("0"));
    store_put(batch, TEXT("k"), TEXT("2"));
    store_put(batch, TEXT("torn"), TEXT("2"));
    commit(&other);
    batch = begin(&third);
    store_expect(batch, TEXT("k"), TEXT("1"));
    store_put(batch, TEXT("k"), TEXT("3"));
    commit(&third);
    settle();
    assert_int_equal(one.batch.status.code, OK);
    assert_int_equal(other.batch.status.code, ABORTED);
    assert_int_equal(third.batch.status.code, OK);
    assert_rows(TEXT("a"), TEXT("z"), "k=3 ");
    store_batch_fini(&first.batch);
    store_batch_fini(&one.batch);
    store_batch_fini(&other.batch);
    store_batch_fini(&third.batch);
}

static void more_bytes_than_the_queue_takes_are_refused(void **state)
{
    static struct written many[24]; /* of 16 MiB: the queue's 256, what the writer may have taken, and more */
    static char large[STORE_VALUE_MAX];
    int refused = 0;
    for (size_t i = 0; i < COUNT(many); i++) {
        struct store_batch *batch = begin(&many[i]);
        store_put(batch, TEXT("a"), (struct store_bytes){large, sizeof large});
        store_put(batch, TEXT("a"), (struct store_bytes){large, sizeof large});
    }
    for (size_t i = 0; i < COUNT(many); i++)
        commit(&many[i]);
    settle();
    for (size_t i = 0; i < COUNT(many); i++) {
        assert_int_equal(many[i].runs, 1);
        enum status_code code = many[i].batch.status.code;
        assert_true(code == OK || code == RESOURCE_EXHAUSTED);
        refused += code == RESOURCE_EXHAUSTED;
        store_batch_fini(&many[i].batch);
    }
    assert_true(refused > 0 && refused < (int)COUNT(many));
    put_now("a", "works");
    assert_all("a=works ");
}

/* ---- visibility -------------------------------------------------------------------------------------------------- */

struct chain {
    struct written written;
    struct looked looked;
    int number, wrong;
};

static void chain_go(struct chain *chain);

static void chain_looked(struct store_scan *scan)
{
    struct chain *chain = CONTAINER_OF(scan, struct chain, looked.scan);
    if (scan->count != 1 || *(const int *)scan->rows[0].value.bytes != chain->number)
        chain->wrong++;
    store_scan_fini(scan);
    if (++chain->number < 100)
        chain_go(chain);
}

static void chain_written(struct store_batch *batch)
{
    struct chain *chain = CONTAINER_OF(batch, struct chain, written.batch);
    store_batch_fini(batch);
    look(&chain->looked, TEXT("n"), TEXT("o"))->done = chain_looked;
    store_scan(site.store, &chain->looked.scan);
}

static void chain_go(struct chain *chain)
{
    begin(&chain->written)->committed = chain_written;
    store_put(&chain->written.batch, TEXT("n"), (struct store_bytes){&chain->number, sizeof chain->number});
    store_commit(site.store, &chain->written.batch);
}

static void a_scan_after_committed_sees_the_batch(void **state)
{
    struct chain chain = {0};
    loop_enter(site.loop);
    chain_go(&chain);
    loop_leave(site.loop);
    while (chain.number < 100)
        settle();
    assert_int_equal(chain.wrong, 0);
}

static void what_is_queued_is_written_when_the_store_closes(void **state)
{
    static struct written many[MANY];
    for (int i = 0; i < MANY; i++) {
        store_put(begin(&many[i]), (struct store_bytes){&i, sizeof i}, TEXT("v"));
        commit(&many[i]);
    }
    store_close(&site.store);
    loop_step(site.loop, 0);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(many[i].runs, 1);
        assert_int_equal(many[i].batch.status.code, OK);
        store_batch_fini(&many[i].batch);
    }
    open_store();
    struct looked looked;
    look(&looked, ABSENT, NO_END);
    assert_int_equal(scan_now(&looked)->count, site.kind == SITE_MEMORY ? 0 : MANY);
    store_scan_fini(&looked.scan);
}

static void a_url_of_another_kind_is_refused(void **state)
{
    struct status st = {0};
    assert_null(store_open("postgres:here", &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_contains(st.text, "'postgres:here'");
    assert_null(store_open("memory:here", &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_null(store_open("sqlite:", &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
}

int main(void)
{
    static const struct named_test tests[] = {NAMED(batches_come_home_once_and_in_their_order),
                                              NAMED(batches_that_wait_share_a_transaction),
                                              NAMED(of_two_that_expect_the_same_in_one_transaction_one_is_written),
                                              NAMED(a_scan_after_committed_sees_the_batch),
                                              NAMED(what_is_queued_is_written_when_the_store_closes),
                                              NAMED(a_url_of_another_kind_is_refused)};
    const struct CMUnitTest queue[] = {cmocka_unit_test_setup_teardown(more_bytes_than_the_queue_takes_are_refused,
                                                                       set_up_memory, tear_down)}; /* of any kind */
    int failed = cmocka_run_group_tests_name("queue", queue, NULL, NULL);
    return failed + run_on_all_kinds(tests, COUNT(tests));
}
