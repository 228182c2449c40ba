/* Forms that are opened once, and kept by their text. */
#include "unit.h"

#include "nodes/form_cache.h"

#include "base/buffer.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX ((size_t)2 << 20)

/* A form of so many bytes at least; `name` tells it from others. */
static void write_form(struct buffer *text, const char *name, size_t size)
{
    buffer_init(text, TEXT_MAX);
    buffer_printf(text, "{\"fields\":[{\"id\":\"a\",\"field_id\":\"%s\",\"label\":\"Name\",\"intent\":\"%*s\"}", name,
                  10, "x");
    for (unsigned i = 0; text->length < size; i++)
        buffer_printf(text, ",{\"id\":\"i%u\",\"field_id\":\"f%u\",\"label\":\"Name\",\"intent\":\"%*s\"}", i, i, 4000,
                      "x");
    buffer_print(text, "]}");
}

static const struct kept_form *form_cache_test_take(const char *name, size_t size)
{
    struct buffer text;
    struct status st = {0};
    write_form(&text, name, size);
    const struct kept_form *kept = form_cache_take(buffer_text(&text), text.length, &st);
    if (!kept)
        fail_msg("%s: %s", st.field, st.text);
    buffer_fini(&text);
    return kept;
}

static void equal_texts_are_one_form_and_others_are_not(void **state)
{
    struct form_cache_count before, after;
    form_cache_count(&before);
    const struct kept_form *one = form_cache_test_take("one", 0), *same = form_cache_test_take("one", 0),
                           *other = form_cache_test_take("other", 0);
    form_cache_count(&after);
    assert_ptr_equal(one, same);
    assert_ptr_not_equal(one, other);
    assert_int_equal(form_find(form_cache_form(one), "one"), 0);
    assert_int_equal(form_find(form_cache_form(other), "one"), -1);
    assert_int_equal(after.misses - before.misses, 2);
    assert_int_equal(after.hits - before.hits, 1);
    form_cache_give(&one);
    form_cache_give(&same);
    form_cache_give(&other);
    assert_null(one);
}

static void a_wrong_form_is_told_with_its_field_and_is_not_kept(void **state)
{
    static const char twice[] = "{\"fields\":[{\"id\":\"a\",\"field_id\":\"x\",\"label\":\"X\"},"
                                "{\"id\":\"a\",\"field_id\":\"y\",\"label\":\"Y\"}]}";
    struct form_cache_count before, after;
    form_cache_count(&before);
    for (int i = 0; i < 2; i++) {
        struct status st = {0};
        assert_null(form_cache_take(twice, strlen(twice), &st));
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_string_equal(st.field, "form.fields[1].id");
    }
    struct status st = {0};
    assert_null(form_cache_take("{\"fields\":3}", 12, &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    form_cache_count(&after);
    assert_int_equal(after.forms, before.forms);
    assert_int_equal(after.bytes, before.bytes);
}

static void the_bytes_that_are_kept_have_a_bound_and_a_form_in_use_stays(void **state)
{
    struct form_cache_count count;
    const struct kept_form *used = form_cache_test_take("used", 0), *again;
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        const struct kept_form *kept = form_cache_test_take(name, (size_t)700 << 10);
        form_cache_give(&kept);
        form_cache_count(&count);
        assert_in_range(count.bytes, 1, FORM_CACHE_BYTES_MAX);
    }
    assert_in_range(count.forms, 10, 99);
    assert_int_equal(form_find(form_cache_form(used), "used"), 0);
    again = form_cache_test_take("used", 0);
    assert_ptr_equal(used, again);
    form_cache_give(&used);
    form_cache_give(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_are_one_form_and_others_are_not),
        cmocka_unit_test(a_wrong_form_is_told_with_its_field_and_is_not_kept),
        cmocka_unit_test(the_bytes_that_are_kept_have_a_bound_and_a_form_in_use_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
