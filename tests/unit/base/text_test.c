#include "base/text.h"

#include "unit.h"

/* At every offset of the eight-byte steps: the bad bytes stand after `lead` letters and before some more. */
static void expect_bad_at(const char *bytes, size_t size, size_t good)
{
    for (size_t lead = 0; lead < 20; lead++) {
        for (size_t trail = 0; trail < 20; trail += 19) {
            char *text = malloc(lead + size + trail);
            memset(text, 'a', lead + size + trail);
            memcpy(text + lead, bytes, size);
            assert_int_equal(text_clean_length(text, lead + size + trail), lead + good);
            assert_false(text_is_clean(text, lead + size + trail));
            free(text);
        }
    }
}

static void well_formed_text_is_clean(void **state)
{
    static const char *const texts[] = {"",
                                        "a",
                                        "plain ASCII of some length, more than eight",
                                        "é",
                                        "語",
                                        "😀",
                                        "\x7f",
                                        "\xC2\x80",
                                        "\xDF\xBF",
                                        "\xE0\xA0\x80",
                                        "\xED\x9F\xBF",
                                        "\xEE\x80\x80",
                                        "\xEF\xBF\xBF",
                                        "\xF0\x90\x80\x80",
                                        "\xF4\x8F\xBF\xBF",
                                        "mixed 日本語 and ASCII, 絵文字 😀 too, at the end é"};
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_true(text_is_clean(texts[i], strlen(texts[i])));
}

static void malformed_text_is_refused_at_its_byte(void **state)
{
    expect_bad_at("\0", 1, 0);
    expect_bad_at("\x80", 1, 0);
    expect_bad_at("\xBF", 1, 0);
    expect_bad_at("\xC0\x80", 2, 0);     /* overlong NUL */
    expect_bad_at("\xC1\xBF", 2, 0);     /* overlong */
    expect_bad_at("\xE0\x9F\xBF", 3, 0); /* overlong */
    expect_bad_at("\xF0\x8F\xBF\xBF", 4, 0);
    expect_bad_at("\xED\xA0\x80", 3, 0); /* surrogates */
    expect_bad_at("\xED\xBF\xBF", 3, 0);
    expect_bad_at("\xF4\x90\x80\x80", 4, 0); /* above U+10FFFF */
    expect_bad_at("\xF5\x80\x80\x80", 4, 0);
    expect_bad_at("\xFE", 1, 0);
    expect_bad_at("\xFF", 1, 0);
    expect_bad_at("語\xFF", 4, 3);
    expect_bad_at("\xC3(", 2, 0);
    expect_bad_at("\xE8\xAA(", 3, 0);
    expect_bad_at("\xF0\x9F\x98(", 4, 0);
}

static void a_character_cut_off_by_the_end_is_refused(void **state)
{
    static const char *const characters[] = {"é", "語", "😀"};
    for (size_t i = 0; i < COUNT(characters); i++) {
        for (size_t length = 1; length < strlen(characters[i]); length++) {
            char *exact = malloc(length); /* so that reading on would be found */
            memcpy(exact, characters[i], length);
            assert_int_equal(text_clean_length(exact, length), 0);
            assert_int_equal(text_character(exact, length), 0);
            free(exact);
        }
        assert_int_equal(text_character(characters[i], strlen(characters[i])), strlen(characters[i]));
    }
    assert_int_equal(text_character("", 0), 0);
}

static void every_code_point_is_judged_as_the_standard_does(void **state)
{
    for (unsigned code = 1; code <= 0x1FFFFF; code++) {
        char c[4] = {(char)(0xF0 | code >> 18), (char)(0x80 | (code >> 12 & 63)), (char)(0x80 | (code >> 6 & 63)),
                     (char)(0x80 | (code & 63))};
        assert_int_equal(text_is_clean(c, 4), code >= 0x10000 && code <= 0x10FFFF);
        if (code < 0x10000) {
            c[1] = (char)(0xE0 | code >> 12);
            bool good = code >= 0x800 && !(code >= 0xD800 && code <= 0xDFFF);
            assert_int_equal(text_is_clean(c + 1, 3), good);
        }
        if (code < 0x800) {
            c[2] = (char)(0xC0 | code >> 6);
            assert_int_equal(text_is_clean(c + 2, 2), code >= 0x80);
        }
    }
}

static void a_cut_never_splits_a_character(void **state)
{
    static const char text[] = "aé語😀z";
    static const size_t kept[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
    for (size_t room = 0; room < COUNT(kept); room++)
        assert_int_equal(text_cut(text, strlen(text), room), kept[room]);
    assert_int_equal(text_cut(text, strlen(text), 100), strlen(text));
}

static void a_cut_counts_characters(void **state)
{
    static const char text[] = "aé語😀z";
    static const size_t kept[] = {0, 1, 3, 6, 10, 11, 11};
    for (size_t characters = 0; characters < COUNT(kept); characters++)
        assert_int_equal(text_cut_characters(text, strlen(text), characters), kept[characters]);
    assert_int_equal(text_cut_characters("", 0, 5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_text_is_clean),
        cmocka_unit_test(malformed_text_is_refused_at_its_byte),
        cmocka_unit_test(a_character_cut_off_by_the_end_is_refused),
        cmocka_unit_test(every_code_point_is_judged_as_the_standard_does),
        cmocka_unit_test(a_cut_never_splits_a_character),
        cmocka_unit_test(a_cut_counts_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
