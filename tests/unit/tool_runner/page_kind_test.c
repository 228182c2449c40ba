/* What an answer of a web server is taken for. */
#include "tools/page_charset.h"
#include "tools/page_kind.h"

#include <stdio.h>

#include "unit.h"

#define TEXT     RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_TEXT
#define MARKDOWN RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_MARKDOWN
#define HTML     RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_HTML
#define DOCX     RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_DOCX
#define PDF      RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_PDF
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
        {"application/pdf; x=y", "/a", PDF, ""},
        {"application/octet-stream", "/a.docx", DOCX, ""},
        {"application/octet-stream", "/a", TEXT, ""},
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
    static const char *const types[] = {"image/png", "application/pdfx", "application/json5", "text", ""};
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

static void the_page_tells_its_encoding_as_browsers_look_for_it(void **state)
{
    static const struct {
        const char *bytes, *label; /* NULL: it does not tell */
    } cases[] = {
        {"<meta charset=shift_jis>", "shift_jis"},
        {"<!doctype html><html lang='a'><head><META  CharSet = 'EUC-JP' >", "EUC-JP"},
        {"<meta http-equiv='Content-Type' content='text/html; charset=euc-jp'>", "euc-jp"},
        {"<meta content=\"text/html;charset='koi8-r'\" http-equiv=content-type>", "koi8-r"},
        {"<meta content='text/html; charset=koi8-r'>", NULL}, /* no http-equiv */
        {"<meta name=x content='charset=a'><meta charset=b>", "b"},
        {"<!-- <meta charset=a> --><meta charset=b>", "b"},
        {"<a title='<meta charset=a>'><meta charset=b>", "b"},
        {"<metadata charset=a>", NULL},
        {"charset=a", NULL},
        {"<script>'<meta charset=a>'</script>", "a"}, /* so does the standard */
        {"<?xml version='1.0' encoding='iso-8859-2'?><html>", "iso-8859-2"},
        {"<meta charset=utf-16le>", "utf-8"},
        {"<meta charset=x-user-defined>", "windows-1252"},
        {"<meta charset=''>", NULL},
        {"<meta charset=", NULL},
        {"<meta charset=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa>", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char label[PAGE_CHARSET_MAX] = "";
        bool told = page_charset_declared(cases[i].bytes, strlen(cases[i].bytes), label, sizeof label);
        if (told != (cases[i].label != NULL) || (told && strcmp(label, cases[i].label) != 0))
            fail_msg("'%s' tells '%s'", cases[i].bytes, label);
    }
    char late[PAGE_PRESCAN_MAX + 64], label[PAGE_CHARSET_MAX];
    snprintf(late, sizeof late, "%*s<meta charset=a>", PAGE_PRESCAN_MAX, "");
    assert_false(page_charset_declared(late, strlen(late), label, sizeof label));
}

static void an_encoding_that_nobody_tells_is_guessed(void **state)
{
    expect_text("", "\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x83\x79\x81\x5b\x83\x57", "日本語のページ");
    expect_text("", "\xc6\xfc\xcb\xdc\xb8\xec\xa4\xce\xa5\xda\xa1\xbc\xa5\xb8", "日本語のページ");
    expect_text("", "\x1b$BF|K\\\x1b(B", "日本");
    expect_text("", "caf\xe9 \xe0 la carte, \x80 5", "café à la carte, € 5");
    expect_text("", "\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0", "Привет, мир");
    expect_text("", "日本語のページ", "日本語のページ");
    expect_text("windows-1250",
                "\x9a"
                "est",
                "šest");
    expect_text("latin1", "\x93x\x94", "“x”");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_type_tells_format_and_encoding),
        cmocka_unit_test(what_is_no_text_is_not_read),
        cmocka_unit_test(a_mark_counts_more_than_the_server_and_the_server_more_than_the_page),
        cmocka_unit_test(the_page_tells_its_encoding_as_browsers_look_for_it),
        cmocka_unit_test(an_encoding_that_nobody_tells_is_guessed),
        cmocka_unit_test(what_is_cut_or_wrong_becomes_a_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
