/* The JSON list of keys. */
#include "daemon/key_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_time_of_expiry_is_read_strictly(void **state)
{
    static const char *const wrong[] = {"",
                                        "2027-01-31",
                                        "2027-01-31T00:00:00",
                                        "2027-01-31 00:00:00Z",
                                        "2027-01-31T00:00:00z",
                                        "2027-01-31T00:00:00+00:00",
                                        "2027-01-31T00:00:00.0Z",
                                        "2027-02-29T00:00:00Z",
                                        "2027-1-031T00:00:00Z",
                                        " 2027-1-31T00:00:00Z",
                                        "2027-01-31T24:00:00Z",
                                        "2027-01-31T23:59:60Z",
                                        "1999-12-31T23:59:59Z",
                                        "99999-01-01T00:00:0Z",
                                        "2027-01-31T00:00:00Zx"};
    int64_t seconds;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (key_list_read_time(wrong[i], &seconds))
            fail_msg("'%s' was read", wrong[i]);
    assert_true(key_list_read_time("2000-01-01T00:00:00Z", &seconds));
    assert_int_equal(seconds, 946684800);
    assert_true(key_list_read_time("2028-02-29T12:30:15Z", &seconds));
    assert_int_equal(seconds, 1835440215);
    assert_true(key_list_read_time("9999-12-31T23:59:59Z", &seconds));
    assert_int_equal(seconds, 253402300799);
}

static void key_list_expect_refused(const char *text, const char *why)
{
    struct key_list list;
    struct status st = {0};
    cJSON *value = json_parse(text, strlen(text), NULL, &st);
    assert_non_null(value);
    assert_false(key_list_read(value, &list, &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    if (!strstr(st.text, why))
        fail_msg("'%s' does not say '%s'", st.text, why);
    cJSON_Delete(value);
}

static void a_wrong_key_is_named_by_its_place(void **state)
{
    key_list_expect_refused("{}", "must be a list of keys");
    key_list_expect_refused("[1]", "[0]: must be an object");
    key_list_expect_refused("[{\"name\":\"a\",\"sha256\":\"\",\"methods\":[],\"expires\":\"tomorrow\"}]",
                            "[0].expires: is 'tomorrow' and must be a time in UTC");
    key_list_expect_refused("[{\"name\":\"a\",\"sha256\":\"\",\"methods\":[]},{\"name\":\"b\",\"expire\":1}]",
                            "[1].expire: is not known here; name, tenant, sha256, methods and expires are");
    key_list_expect_refused("[{\"name\":\"a\",\"sha256\":\"\",\"methods\":[],\"expires\":1}]", "[0].expires");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_of_expiry_is_read_strictly),
        cmocka_unit_test(a_wrong_key_is_named_by_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
