/* What every kind of store does. */
#include "store_fixture.h"

/* ---- one batch --------------------------------------------------------------------------------------------------- */

static void what_was_put_is_found_in_the_order_of_keys(void **state)
{
    struct written written;
    struct store_batch *batch = begin(&written);
    store_put(batch, TEXT("b"), TEXT("2"));
    store_put(batch, TEXT("a"), TEXT("1"));
    store_put(batch, TEXT("c"), TEXT("3"));
    assert_int_equal(commit_now(&written).code, OK);
    assert_all("a=1 b=2 c=3 ");
}

static void operations_of_a_batch_happen_in_their_order(void **state)
{
    struct written written;
    struct store_batch *batch = begin(&written);
    store_put(batch, TEXT("a"), TEXT("1"));
    store_put(batch, TEXT("a"), TEXT("2"));
    store_put(batch, TEXT("b"), TEXT("1"));
    store_delete(batch, TEXT("b"));
    store_delete(batch, TEXT("c"));
    store_put(batch, TEXT("c"), TEXT("3"));
    assert_int_equal(commit_now(&written).code, OK);
    assert_all("a=2 c=3 ");
}

static void keys_and_values_are_copied(void **state)
{
    char key[] = "key", value[] = "value";
    struct written written;
    store_put(begin(&written), text_of(key), text_of(value));
    memset(key, 'x', 3);
    memset(value, 'x', 5);
    commit_now(&written);
    assert_all("key=value ");
}

static void keys_are_bytes_and_compare_as_memcmp_does(void **state)
{
    static const struct store_bytes keys[] = {{"", 0},  {"\0", 1},  {"\0\0", 2}, {"\0\xff", 2},
                                              {"a", 1}, {"a\0", 2}, {"\xc3", 1}, {"\xff\xff", 2}};
    struct written written;
    struct store_batch *batch = begin(&written);
    for (size_t i = COUNT(keys); i-- > 0;)
        store_put(batch, keys[i], (struct store_bytes){&keys[i], i});
    assert_int_equal(commit_now(&written).code, OK);
    struct looked looked;
    look(&looked, ABSENT, NO_END);
    struct store_scan *scan = scan_now(&looked);
    assert_int_equal(scan->count, COUNT(keys));
    for (size_t i = 0; i < scan->count; i++) {
        assert_int_equal(scan->rows[i].key.size, keys[i].size);
        assert_memory_equal(scan->rows[i].key.bytes, keys[i].bytes, keys[i].size);
        assert_int_equal(scan->rows[i].value.size, i);
        assert_memory_equal(scan->rows[i].value.bytes, &keys[i], i);
    }
    store_scan_fini(scan);
}

static void the_largest_key_and_value_fit_and_larger_ones_are_refused(void **state)
{
    char *large = malloc(STORE_VALUE_MAX + 1);
    memset(large, 'v', STORE_VALUE_MAX + 1);
    struct written written;
    store_put(begin(&written), (struct store_bytes){large, STORE_KEY_MAX},
              (struct store_bytes){large, STORE_VALUE_MAX});
    assert_int_equal(commit_now(&written).code, OK);
    store_put(begin(&written), (struct store_bytes){large, STORE_KEY_MAX + 1}, TEXT("v"));
    assert_int_equal(commit_now(&written).code, RESOURCE_EXHAUSTED);
    store_put(begin(&written), TEXT("k"), (struct store_bytes){large, STORE_VALUE_MAX + 1});
    assert_int_equal(commit_now(&written).code, RESOURCE_EXHAUSTED);

    struct looked looked;
    look(&looked, ABSENT, NO_END)->bytes_max = 1;
    struct store_scan *scan = scan_now(&looked);
    assert_int_equal(scan->count, 1);
    assert_int_equal(scan->rows[0].value.size, STORE_VALUE_MAX);
    assert_memory_equal(scan->rows[0].value.bytes, large, STORE_VALUE_MAX);
    store_scan_fini(scan);
    free(large);
}

static void a_batch_that_is_too_large_is_refused_whole(void **state)
{
    char *large = malloc(STORE_VALUE_MAX);
    memset(large, 'v', STORE_VALUE_MAX);
    struct written written;
    struct store_batch *batch = begin(&written);
    for (int i = 0; i < 9; i++)
        store_put(batch, (struct store_bytes){&(char){(char)('a' + i)}, 1},
                  (struct store_bytes){large, STORE_VALUE_MAX});
    struct status st = commit_now(&written);
    assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    assert_contains(st.text, "67108864");
    assert_all("");
    free(large);
}

#define LARGE_VALUES 6 /* of STORE_VALUE_MAX: more than SQLite keeps in memory */

static void a_batch_larger_than_any_cache_is_read_back_whole(void **state)
{
    char *large = malloc(STORE_VALUE_MAX);
    struct written written;
    struct store_batch *batch = begin(&written);
    for (char key = 'a'; key < 'a' + LARGE_VALUES; key++) {
        memset(large, key, STORE_VALUE_MAX);
        store_put(batch, (struct store_bytes){&key, 1}, (struct store_bytes){large, STORE_VALUE_MAX});
    }
    assert_int_equal(commit_now(&written).code, OK);
    struct looked looked;
    look(&looked, ABSENT, NO_END);
    struct store_scan *scan = scan_now(&looked);
    assert_int_equal(scan->count, LARGE_VALUES);
    for (size_t i = 0; i < scan->count; i++) {
        memset(large, 'a' + (int)i, STORE_VALUE_MAX);
        assert_int_equal(scan->rows[i].value.size, STORE_VALUE_MAX);
        assert_memory_equal(scan->rows[i].value.bytes, large, STORE_VALUE_MAX);
    }
    store_scan_fini(scan);
    free(large);
}

#define SMALL_VALUES 700 /* of 64 KiB: again more */

/* The way back meets what has just gone out of SQLite's memory. */
static void a_batch_larger_than_any_cache_may_take_back_what_it_put(void **state)
{
    static const char value[64 << 10];
    struct written written;
    struct store_batch *batch = begin(&written);
    for (int i = 0; i < SMALL_VALUES; i++)
        store_put(batch, (struct store_bytes){(char[]){(char)(i >> 8), (char)i}, 2},
                  (struct store_bytes){value, sizeof value});
    for (int i = SMALL_VALUES - 1; i > 0; i--)
        store_delete(batch, (struct store_bytes){(char[]){(char)(i >> 8), (char)i}, 2});
    assert_int_equal(commit_now(&written).code, OK);
    struct looked looked;
    look(&looked, ABSENT, NO_END);
    assert_int_equal(scan_now(&looked)->count, 1);
    assert_int_equal(looked.scan.rows[0].value.size, sizeof value);
    store_scan_fini(&looked.scan);
}

static void an_empty_batch_comes_home(void **state)
{
    struct written written;
    begin(&written);
    assert_int_equal(commit_now(&written).code, OK);
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static void put_letters(const char *letters)
{
    struct written written;
    struct store_batch *batch = begin(&written);
    for (const char *letter = letters; *letter != '\0'; letter++)
        store_put(batch, (struct store_bytes){letter, 1}, (struct store_bytes){letter, 1});
    assert_int_equal(commit_now(&written).code, OK);
}

static void a_range_is_deleted_up_to_and_without_its_end(void **state)
{
    put_letters("abcdef");
    struct written written;
    store_delete_range(begin(&written), TEXT("b"), TEXT("d"));
    assert_int_equal(commit_now(&written).code, OK);
    assert_all("a=a d=d e=e f=f ");
    store_delete_range(begin(&written), TEXT("dd"), NO_END);
    assert_int_equal(commit_now(&written).code, OK);
    assert_all("a=a d=d ");
    store_delete_range(begin(&written), TEXT("z"), TEXT("a"));
    assert_int_equal(commit_now(&written).code, OK);
    assert_all("a=a d=d ");
    store_delete_range(begin(&written), ABSENT, NO_END);
    assert_int_equal(commit_now(&written).code, OK);
    assert_all("");
}

static void a_range_takes_what_its_own_batch_put_before_it(void **state)
{
    struct written written;
    struct store_batch *batch = begin(&written);
    store_put(batch, TEXT("a"), TEXT("1"));
    store_delete_range(batch, TEXT("a"), TEXT("b"));
    store_put(batch, TEXT("aa"), TEXT("2"));
    assert_int_equal(commit_now(&written).code, OK);
    assert_all("aa=2 ");
}

static void a_scan_has_the_rows_between_its_bounds(void **state)
{
    put_letters("bcdf");
    assert_rows(TEXT("b"), TEXT("d"), "b=b c=c ");
    assert_rows(TEXT("a"), TEXT("z"), "b=b c=c d=d f=f ");
    assert_rows(TEXT("bb"), TEXT("dd"), "c=c d=d ");
    assert_rows(TEXT("d"), NO_END, "d=d f=f ");
    assert_rows(TEXT("d"), TEXT("d"), "");
    assert_rows(TEXT("z"), TEXT("a"), "");
    assert_rows(TEXT("g"), NO_END, "");
}

static void a_scan_backwards_begins_at_its_end(void **state)
{
    static const struct {
        struct store_bytes from, to;
        const char *rows;
    } cases[] = {
        {TEXT("b"), TEXT("d"), "c=c b=b "},
        {ABSENT, NO_END, "f=f d=d c=c b=b "},
        {TEXT("c"), NO_END, "f=f d=d c=c "},
        {ABSENT, TEXT("e"), "d=d c=c b=b "},
        {TEXT("g"), NO_END, ""},
        {ABSENT, TEXT("b"), ""},
        {TEXT("z"), TEXT("a"), ""},
    };
    put_letters("bcdf");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct looked looked;
        look(&looked, cases[i].from, cases[i].to)->backwards = true;
        assert_string_equal(rows_text(scan_now(&looked)), cases[i].rows);
        store_scan_fini(&looked.scan);
    }
}

static void a_limit_ends_a_scan_and_says_that_there_is_more(void **state)
{
    put_letters("abcd");
    struct looked looked;
    look(&looked, ABSENT, NO_END)->limit = 3;
    assert_string_equal(rows_text(scan_now(&looked)), "a=a b=b c=c …");
    store_scan_fini(&looked.scan);
    look(&looked, ABSENT, NO_END)->limit = 4;
    assert_string_equal(rows_text(scan_now(&looked)), "a=a b=b c=c d=d ");
    store_scan_fini(&looked.scan);
    look(&looked, ABSENT, NO_END)->limit = 1;
    looked.scan.backwards = true;
    assert_string_equal(rows_text(scan_now(&looked)), "d=d …");
    store_scan_fini(&looked.scan);
    look(&looked, ABSENT, NO_END)->bytes_max = 5;
    assert_string_equal(rows_text(scan_now(&looked)), "a=a b=b …");
    store_scan_fini(&looked.scan);
}

static void a_scan_of_many_rows_ends_at_its_own_limit(void **state)
{
    struct written written;
    struct store_batch *batch = begin(&written);
    char key[16];
    for (int i = 0; i < STORE_SCAN_ROWS_MAX + 1; i++) {
        snprintf(key, sizeof key, "%08d", i);
        store_put(batch, text_of(key), text_of(key));
    }
    assert_int_equal(commit_now(&written).code, OK);
    struct looked looked;
    look(&looked, ABSENT, NO_END);
    struct store_scan *scan = scan_now(&looked);
    assert_int_equal(scan->count, STORE_SCAN_ROWS_MAX);
    assert_true(scan->more);
    for (int i = 0; i < STORE_SCAN_ROWS_MAX; i++) {
        snprintf(key, sizeof key, "%08d", i);
        assert_memory_equal(scan->rows[i].key.bytes, key, 8);
        assert_memory_equal(scan->rows[i].value.bytes, key, 8);
    }
    store_scan_fini(scan);
}

static void a_bound_may_stand_right_after_the_longest_key(void **state)
{
    char longest[STORE_KEY_MAX + 2];
    memset(longest, 0xff, sizeof longest);
    longest[STORE_KEY_MAX] = '\0';
    struct store_bytes key = {longest, STORE_KEY_MAX}, after = {longest, STORE_KEY_MAX + 1};
    struct written written;
    store_put(begin(&written), key, TEXT("v"));
    assert_int_equal(commit_now(&written).code, OK);
    struct looked looked;
    assert_int_equal((look(&looked, key, after), scan_now(&looked))->count, 1);
    store_scan_fini(&looked.scan);
    assert_int_equal((look(&looked, key, NO_END), scan_now(&looked))->count, 1);
    store_scan_fini(&looked.scan);
    look(&looked, (struct store_bytes){longest, STORE_KEY_MAX + 2}, NO_END);
    assert_int_equal(scan_now(&looked)->status.code, INVALID_ARGUMENT);
    store_scan_fini(&looked.scan);
    store_delete_range(begin(&written), key, after);
    assert_int_equal(commit_now(&written).code, OK);
    assert_all("");
}

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
    struct chain *chain = (struct chain *)(void *)((char *)scan - offsetof(struct chain, looked.scan));
    if (scan->count != 1 || *(const int *)scan->rows[0].value.bytes != chain->number)
        chain->wrong++;
    store_scan_fini(scan);
    if (++chain->number < 100)
        chain_go(chain);
}

static void chain_written(struct store_batch *batch)
{
    struct chain *chain = (struct chain *)(void *)((char *)batch - offsetof(struct chain, written.batch));
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
    assert_int_equal(scan_now(&looked)->count, site.on_disk ? MANY : 0);
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

/* ---- a great many changes, beside a plain model -------------------------------------------------------------------
 */

#define SLOTS  64
#define ROUNDS 120

static unsigned rolled = 1;

static unsigned roll(unsigned below)
{
    rolled = rolled * 1103515245 + 12345;
    return (rolled >> 16) % below;
}

static struct store_bytes slot_key(unsigned slot)
{
    static char keys[2][4];
    static int turn;
    char *key = keys[turn ^= 1];
    snprintf(key, 4, "%02u", slot);
    return (struct store_bytes){key, 2};
}

static void change(struct store_batch *batch, unsigned *model, unsigned value)
{
    unsigned slot = roll(SLOTS), end = slot + roll(6);
    switch (roll(6)) {
    case 0:
        store_delete(batch, slot_key(slot));
        model[slot] = 0;
        break;
    case 1:
        store_delete_range(batch, slot_key(slot), slot_key(end));
        for (; slot < end && slot < SLOTS; slot++)
            model[slot] = 0;
        break;
    default:
        store_put(batch, slot_key(slot), (struct store_bytes){&value, sizeof value});
        model[slot] = value;
    }
}

static void assert_as_model(const unsigned *model, bool backwards)
{
    struct looked looked;
    look(&looked, ABSENT, NO_END)->backwards = backwards;
    struct store_scan *scan = scan_now(&looked);
    size_t row = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        unsigned slot = backwards ? SLOTS - 1 - i : i;
        if (model[slot] == 0)
            continue;
        assert_true(row < scan->count);
        assert_memory_equal(scan->rows[row].key.bytes, slot_key(slot).bytes, 2);
        assert_memory_equal(scan->rows[row].value.bytes, &model[slot], sizeof model[slot]);
        row++;
    }
    assert_int_equal(row, scan->count);
    store_scan_fini(scan);
}

static void many_changes_leave_what_a_plain_model_has(void **state)
{
    unsigned model[SLOTS] = {0};
    for (unsigned round = 1; round <= ROUNDS; round++) {
        struct written written;
        struct store_batch *batch = begin(&written);
        for (unsigned i = roll(8); i > 0; i--)
            change(batch, model, round * 8 + i);
        assert_int_equal(commit_now(&written).code, OK);
        if (round % 10 == 0)
            assert_as_model(model, round % 20 == 0);
    }
}

#define ON(set_up, test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define TESTS(set_up)                                                                                                  \
    {                                                                                                                  \
        ON(set_up, what_was_put_is_found_in_the_order_of_keys),                                                        \
            ON(set_up, operations_of_a_batch_happen_in_their_order), ON(set_up, keys_and_values_are_copied),           \
            ON(set_up, keys_are_bytes_and_compare_as_memcmp_does),                                                     \
            ON(set_up, the_largest_key_and_value_fit_and_larger_ones_are_refused),                                     \
            ON(set_up, a_batch_that_is_too_large_is_refused_whole), ON(set_up, an_empty_batch_comes_home),             \
            ON(set_up, a_batch_larger_than_any_cache_is_read_back_whole),                                              \
            ON(set_up, a_batch_larger_than_any_cache_may_take_back_what_it_put),                                       \
            ON(set_up, a_batch_larger_than_any_cache_may_take_back_what_it_put),                                       \
            ON(set_up, a_range_is_deleted_up_to_and_without_its_end),                                                  \
            ON(set_up, a_range_takes_what_its_own_batch_put_before_it),                                                \
            ON(set_up, a_scan_has_the_rows_between_its_bounds), ON(set_up, a_scan_backwards_begins_at_its_end),        \
            ON(set_up, a_limit_ends_a_scan_and_says_that_there_is_more),                                               \
            ON(set_up, a_scan_of_many_rows_ends_at_its_own_limit),                                                     \
            ON(set_up, a_bound_may_stand_right_after_the_longest_key),                                                 \
            ON(set_up, a_batch_is_written_where_its_expectation_holds),                                                \
            ON(set_up, a_batch_is_left_out_whole_where_its_expectation_does_not_hold),                                 \
            ON(set_up, an_expectation_is_about_the_time_before_its_own_batch),                                         \
            ON(set_up, the_error_names_the_key_that_was_not_as_expected),                                              \
            ON(set_up, batches_come_home_once_and_in_their_order), ON(set_up, batches_that_wait_share_a_transaction),  \
            ON(set_up, of_two_that_expect_the_same_in_one_transaction_one_is_written),                                 \
            ON(set_up, a_scan_after_committed_sees_the_batch),                                                         \
            ON(set_up, what_is_queued_is_written_when_the_store_closes), ON(set_up, a_url_of_another_kind_is_refused), \
            ON(set_up, many_changes_leave_what_a_plain_model_has),                                                     \
    }

int main(void)
{
    const struct CMUnitTest in_memory[] = TESTS(set_up_memory);
    const struct CMUnitTest on_disk[] = TESTS(set_up_sqlite);
    const struct CMUnitTest queue[] = {
        ON(set_up_memory, more_bytes_than_the_queue_takes_are_refused)}; /* of any kind */
    int failed = cmocka_run_group_tests_name("queue", queue, NULL, NULL);
    failed += cmocka_run_group_tests_name("memory", in_memory, NULL, NULL);
    return failed + cmocka_run_group_tests_name("sqlite", on_disk, NULL, NULL);
}
