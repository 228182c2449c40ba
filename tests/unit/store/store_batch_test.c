/* What every kind of store does with a batch. */
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

static void a_value_may_be_written_into_its_batch(void **state)
{
    struct written written;
    struct store_batch *batch = begin(&written);
    store_put(batch, TEXT("b"), TEXT("1"));
    char *room = store_put_room(batch, TEXT("b"), 5);
    assert_non_null(room);
    store_put(batch, TEXT("c"), TEXT("3"));
    memcpy(room, "value", 5);
    assert_int_equal(commit_now(&written).code, OK);
    assert_all("b=value c=3 ");
    assert_null(store_put_room(begin(&written), TEXT("k"), STORE_VALUE_MAX + 1));
    assert_null(store_put_room(&written.batch, TEXT("k"), 1)); /* the batch has failed as a whole */
    assert_int_equal(commit_now(&written).code, RESOURCE_EXHAUSTED);
    assert_all("b=value c=3 ");
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

int main(void)
{
    static const struct named_test tests[] = {NAMED(what_was_put_is_found_in_the_order_of_keys),
                                              NAMED(operations_of_a_batch_happen_in_their_order),
                                              NAMED(keys_and_values_are_copied),
                                              NAMED(a_value_may_be_written_into_its_batch),
                                              NAMED(keys_are_bytes_and_compare_as_memcmp_does),
                                              NAMED(the_largest_key_and_value_fit_and_larger_ones_are_refused),
                                              NAMED(a_batch_that_is_too_large_is_refused_whole),
                                              NAMED(a_batch_larger_than_any_cache_is_read_back_whole),
                                              NAMED(a_batch_larger_than_any_cache_may_take_back_what_it_put),
                                              NAMED(an_empty_batch_comes_home),
                                              NAMED(many_changes_leave_what_a_plain_model_has)};
    return run_on_all_kinds(tests, COUNT(tests));
}
