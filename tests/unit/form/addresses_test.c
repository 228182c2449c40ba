#include "unit.h"

#include "value_fixture.h"

static const struct answer_row rows_0[] = {
    {"ada@example.com", "ada@example.com", "ada@example.com"},
    {"it's ada@example.com, thanks", "ada@example.com", "ada@example.com"},
    {"ada＠example.com。", "ada@example.com", "ada＠example.com"},
    {"メールはAda.L@Example.COMです。", "Ada.L@example.com", "Ada.L@Example.COM"},
    {"ada.example.com", "!BAD_EMAIL", NULL},
    {"ada@", "!BAD_EMAIL", NULL},
    {"ada@@example.com", "!BAD_EMAIL", NULL},
    {"ada@example", "!BAD_EMAIL", NULL},
    {"ada@example.com or bob@example.com", "!BAD_EMAIL", NULL},
    {"not ada@example.com but bob@example.com", "bob@example.com", "bob@example.com"},
    {"ada@example.com じゃなくて bob@example.com です", "bob@example.com", "bob@example.com"},
    {"a..b@example.com", "!BAD_EMAIL", NULL},
    {"ada@ex ample.com", "!BAD_EMAIL", NULL},
    {"<ada@example.com>", "ada@example.com", "ada@example.com"},
    {"mailto:ada@example.com", "ada@example.com", "ada@example.com"},
    {"ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ", "ada@example.com", "ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ"},
    {"josé@example.com", "!BAD_EMAIL", NULL},
    {"ada@example.com。よろしくお願いします", "ada@example.com", "ada@example.com"},
    {"hello", "!BAD_EMAIL", NULL},
    {"ada+tag@sub.example.co.jp", "ada+tag@sub.example.co.jp", "ada+tag@sub.example.co.jp"},
    {"ada@example.com!", "ada@example.com", "ada@example.com"},
    {"ada@-example.com", "!BAD_EMAIL", NULL},
    {"a@b.c", "!BAD_EMAIL", NULL},
    {"ada@example.com でいいですか？", "ada@example.com", "ada@example.com"},
};
static const struct answer_row rows_1[] = {
    {"090-1234-5678", "+819012345678", "090-1234-5678"},
    {"０９０−１２３４−５６７８です", "+819012345678", "０９０−１２３４−５６７８"},
    {"09012345678", "+819012345678", "09012345678"},
    {"03-1234-5678", "+81312345678", "03-1234-5678"},
    {"(03) 1234-5678", "+81312345678", "(03) 1234-5678"},
    {"+81 90-1234-5678", "+819012345678", "+81 90-1234-5678"},
    {"+81-(0)3-1234-5678", "+81312345678", "+81-(0)3-1234-5678"},
    {"+44 20 7946 0958", "+442079460958", "+44 20 7946 0958"},
    {"0120-123-456", "+81120123456", "0120-123-456"},
    {"123", "!BAD_PHONE", NULL},
    {"03-1234-567", "!BAD_PHONE", NULL},
    {"+999 1234567", "!BAD_PHONE", NULL},
    {"090ー1234ー5678", "+819012345678", "090ー1234ー5678"},
    {"電話は090-1234-5678、内線12です", "!BAD_PHONE", NULL},
    {"2026-04-01", "!BAD_PHONE", NULL},
    {"110", "!BAD_PHONE", NULL},
    {"1234567890", "!BAD_PHONE", NULL},
};
static const struct answer_row rows_2[] = {
    {"(415) 555-2671", "+14155552671", "(415) 555-2671"},
    {"415-555-2671", "+14155552671", "415-555-2671"},
    {"1-415-555-2671", "+14155552671", "1-415-555-2671"},
    {"555-2671", "!BAD_PHONE", NULL},
};
static const struct answer_row rows_3[] = {
    {"020 7946 0958", "+442079460958", "020 7946 0958"},
    {"07911 123456", "+447911123456", "07911 123456"},
};
static const struct answer_row rows_4[] = {
    {"415-555-2671", "4155552671", "415-555-2671"},
};
static const struct answer_row rows_5[] = {
    {"https://example.com/a", "https://example.com/a", "https://example.com/a"},
    {"https://example.com/a.", "https://example.com/a", "https://example.com/a"},
    {"見てください→https://Example.com/Path?x=1です。", "https://example.com/Path?x=1", "https://Example.com/Path?x=1"},
    {"example.com", "https://example.com", "example.com"},
    {"www.example.com/x", "https://www.example.com/x", "www.example.com/x"},
    {"ftp://example.com", "!BAD_URL", NULL},
    {"javascript://alert", "!BAD_URL", NULL},
    {"http://localhost", "!BAD_URL", NULL},
    {"(https://example.com/a)", "https://example.com/a", "https://example.com/a"},
    {"https://example.com/a(b)", "https://example.com/a(b)", "https://example.com/a(b)"},
    {"ada@example.com", "!BAD_URL", NULL},
    {"https://example.com:8080/x", "https://example.com:8080/x", "https://example.com:8080/x"},
    {"https://example.com:99999999/x", "!BAD_URL", NULL},
    {"ｈｔｔｐｓ：／／ｅｘａｍｐｌｅ．ｃｏｍ", "https://example.com", "ｈｔｔｐｓ：／／ｅｘａｍｐｌｅ．ｃｏｍ"},
    {"none", "!BAD_URL", NULL},
    {"see https://a.example.com and https://b.example.com", "!BAD_URL", NULL},
};

static const struct answers sets[] = {
    {"{\"type\":\"string\",\"format\":\"email\",\"title\":\"メール\"}", "ja", "JP", "Asia/Tokyo", rows_0,
     COUNT(rows_0)},
    {"{\"type\":\"string\",\"format\":\"phone\",\"title\":\"電話\"}", "ja", "JP", "Asia/Tokyo", rows_1, COUNT(rows_1)},
    {"{\"type\":\"string\",\"format\":\"phone\",\"title\":\"電話\"}", "en", "US", "America/New_York", rows_2,
     COUNT(rows_2)},
    {"{\"type\":\"string\",\"format\":\"phone\",\"title\":\"電話\"}", "en", "GB", "Europe/London", rows_3,
     COUNT(rows_3)},
    {"{\"type\":\"string\",\"format\":\"phone\",\"title\":\"電話\"}", "en", "", "", rows_4, COUNT(rows_4)},
    {"{\"type\":\"string\",\"format\":\"uri\",\"title\":\"URL\"}", "ja", "JP", "Asia/Tokyo", rows_5, COUNT(rows_5)},
};

static void addresses_and_telephone_numbers_are_read_from_the_words_of_a_person(void **state)
{
    (void)state;
    assert_answers(sets, COUNT(sets));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_and_telephone_numbers_are_read_from_the_words_of_a_person)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
