/* What an answer of a web server is taken for. */
#include "tools/page_kind.h"

#include <stdio.h>

#include "unit.h"

#define TEXT     RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_TEXT
#define MARKDOWN RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_MARKDOWN
#define HTML     RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_HTML
#define CSV      RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_CSV

static void the_type_tells_format_and_encoding(void **state)
{
    static const struct {
        const char *type, *path;
        Renga__V1__DocumentFormat format;
        const char *charset;
    } cases[] = {
        {"text/html", "/", HTML, ""},
        {"Text/HTML ;Charset=\"Shift_JIS\"", "/", HTML, "Shift_JIS"},
        {"text/html; charset=utf-8; x=y", "/", HTML, "utf-8"},
        {"text/html; charset=", "/", HTML, ""},
        {"text/html; charset=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "/", HTML, ""},
        {"application/xhtml+xml", "/a.md", HTML, ""},
        {"text/plain", "/a.md", MARKDOWN, ""},
        {"text/plain", "/a.html", TEXT, ""},
        {"text/x-log", "/a", TEXT, ""},
        {"text/markdown", "/a", MARKDOWN, ""},
        {"text/csv", "/a", CSV, ""},
        {NULL, "/a", HTML, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct page_kind kind;
        if (!page_kind_read(&kind, cases[i].type, cases[i].path) || kind.format != cases[i].format ||
            strcmp(kind.charset, cases[i].charset) != 0)
            fail_msg("%s %s: %d '%s'", cases[i].type, cases[i].path, kind.format, kind.charset);
    }
}

static void what_is_no_text_is_not_read(void **state)
{
    static const char *const types[] = {"image/png", "application/pdf", "application/json5", "text", ""};
    struct page_kind kind;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (page_kind_read(&kind, types[i], "/a"))
            fail_msg("'%s' is read", types[i]);
}

static void expect_text(const char *charset, const char *bytes, const char *expected)
{
    struct page_kind kind = {.format = HTML};
    struct status st = {0};
    struct buffer room;
    const char *text;
    size_t length;
    snprintf(kind.charset, sizeof kind.charset, "%s", charset);
    buffer_init(&room, 1 << 20);
    if (!page_decode(&kind, bytes, strlen(bytes), &room, &text, &length, &st))
        fail_msg("%s: %s", bytes, st.text);
    if (length != strlen(expected) || memcmp(text, expected, length) != 0)
        fail_msg("'%.*s' is not '%s'", (int)length, text, expected);
    buffer_fini(&room);
}

static void a_mark_counts_more_than_the_server_and_the_server_more_than_the_page(void **state)
{
    expect_text("Shift_JIS",
                "\xef\xbb\xbf"
                "あ",
                "あ");
    expect_text("Shift_JIS", "<meta charset=euc-jp>\x82\xa0", "<meta charset=euc-jp>あ");
    expect_text("", "<META CHARSET='euc-jp'>\xa4\xa2", "<META CHARSET='euc-jp'>あ");
    expect_text("nonsense", "あ", "あ");
}

static void what_is_cut_or_wrong_becomes_a_mark(void **state)
{
    expect_text("euc-jp", "a\xa4", "a\xef\xbf\xbd");
    expect_text("utf-8",
                "a\xff"
                "b\xe3\x81",
                "a\xef\xbf\xbd"
                "b\xef\xbf\xbd\xef\xbf\xbd");
    expect_text("utf-8", "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    expect_text("iso-2022-jp", "\x1b$B$\"\x1b(B!", "あ!");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_type_tells_format_and_encoding),
        cmocka_unit_test(what_is_no_text_is_not_read),
        cmocka_unit_test(a_mark_counts_more_than_the_server_and_the_server_more_than_the_page),
        cmocka_unit_test(what_is_cut_or_wrong_becomes_a_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
