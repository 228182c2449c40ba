#include "base/buffer.h"

#include "unit.h"

static void appends_pile_up(void **state)
{
    struct buffer buffer;
    buffer_init(&buffer, 1000000);
    for (int i = 0; i < 10000; i++) {
        buffer_printf(&buffer, "%d,", i % 10);
        buffer_put(&buffer, 'x');
        buffer_print(&buffer, "yz");
        buffer_append(&buffer, "", 0);
    }
    assert_int_equal(buffer.length, 50000);
    assert_memory_equal(buffer_text(&buffer) + 49995, "9,xyz", 6);
    buffer_fini(&buffer);
}

static void the_limit_can_be_reached_but_not_passed(void **state)
{
    struct buffer buffer;
    buffer_init(&buffer, 300);
    for (int i = 0; i < 300; i++)
        buffer_put(&buffer, 'a');
    assert_false(buffer.failed);
    assert_int_equal(strlen(buffer_text(&buffer)), 300);
    buffer_put(&buffer, 'b');
    assert_true(buffer.failed);
    assert_string_equal(buffer_text(&buffer), "");
    buffer_append(&buffer, "ccc", 3);
    buffer_printf(&buffer, "%d", 5);
    assert_null(buffer_reserve(&buffer, 1));
    assert_null(buffer_take(&buffer, NULL));
    assert_int_equal(buffer.length, 0);
    buffer_clear(&buffer);
    buffer_print(&buffer, "again");
    assert_false(buffer.failed);
    assert_string_equal(buffer_text(&buffer), "again");
    buffer_fini(&buffer);
}

static void printing_obeys_the_limit(void **state)
{
    struct buffer buffer;
    buffer_init(&buffer, 10);
    buffer_printf(&buffer, "%s", "0123456789");
    assert_string_equal(buffer_text(&buffer), "0123456789");
    buffer_printf(&buffer, "%s", "0");
    assert_true(buffer.failed);
    buffer_fini(&buffer);
}

static void a_reserved_place_is_written_by_the_caller(void **state)
{
    struct buffer buffer;
    buffer_init(&buffer, 10000);
    char *place = buffer_reserve(&buffer, 5000);
    memset(place, 'r', 5000);
    buffer.length += 5000;
    assert_int_equal(strlen(buffer_text(&buffer)), 5000);
    buffer_fini(&buffer);
}

static void what_is_taken_belongs_to_the_taker(void **state)
{
    struct buffer buffer;
    size_t length;
    buffer_init(&buffer, 100);
    buffer_print(&buffer, "mine");
    char *text = buffer_take(&buffer, &length);
    buffer_fini(&buffer);
    assert_string_equal(text, "mine");
    assert_int_equal(length, 4);
    free(text);
    text = buffer_take(&buffer, &length);
    assert_string_equal(text, "");
    free(text);
}

static void a_limit_of_everything_works(void **state)
{
    struct buffer buffer;
    buffer_init(&buffer, SIZE_MAX);
    buffer_print(&buffer, "x");
    assert_string_equal(buffer_text(&buffer), "x");
    assert_null(buffer_reserve(&buffer, SIZE_MAX));
    assert_true(buffer.failed);
    buffer_fini(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_pile_up),
        cmocka_unit_test(the_limit_can_be_reached_but_not_passed),
        cmocka_unit_test(printing_obeys_the_limit),
        cmocka_unit_test(a_reserved_place_is_written_by_the_caller),
        cmocka_unit_test(what_is_taken_belongs_to_the_taker),
        cmocka_unit_test(a_limit_of_everything_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
