/* Ranges, of every kind of store: what is read and deleted between two bounds. */
#include "store_fixture.h"

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

static void scans_that_wait_together_find_each_their_own(void **state)
{
    put_for_together(200);
    assert_found_together(200);
}

int main(void)
{
    static const struct named_test tests[] = {
        NAMED(a_range_is_deleted_up_to_and_without_its_end),    NAMED(a_range_takes_what_its_own_batch_put_before_it),
        NAMED(a_scan_has_the_rows_between_its_bounds),          NAMED(a_scan_backwards_begins_at_its_end),
        NAMED(a_limit_ends_a_scan_and_says_that_there_is_more), NAMED(a_scan_of_many_rows_ends_at_its_own_limit),
        NAMED(a_bound_may_stand_right_after_the_longest_key),   NAMED(scans_that_wait_together_find_each_their_own)};
    return run_on_all_kinds(tests, COUNT(tests));
}
