/* Readers of documents: what paragraphs, headings and lines they find. Each case is a file and what is read of it, a
 * paragraph as "LINES HEADING > HEADING | TEXT¶". */
#include "documents/encoding.h"

#include <stdio.h>

#include "unit.h"

#include "document_print.h"

#define MARKDOWN RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_MARKDOWN
#define HTML     RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_HTML
#define CSV      RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_CSV
#define PLAIN    RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_TEXT

static void check(Renga__V1__DocumentFormat format, const char *text, const char *expected)
{
    struct document document;
    struct status st = {0};
    struct buffer out;
    buffer_init(&out, 1 << 20);
    if (!document_read(&document, format, text, strlen(text), &st))
        fail_msg("'%s' is not read: %s", text, st.text);
    print_document(&out, &document);
    if (strcmp(buffer_text(&out), expected) != 0)
        fail_msg("of '%s'\nis read '%s'\nand not '%s'", text, buffer_text(&out), expected);
    buffer_fini(&out);
    document_fini(&document);
}

struct reading_case {
    const char *text, *expected;
};

static void check_all(Renga__V1__DocumentFormat format, const struct reading_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(format, cases[i].text, cases[i].expected);
}

static void markdown_is_read_by_its_headings(void **state)
{
    static const struct reading_case cases[] = {
        {"", ""},
        {"one\ntwo\n\nthree", "1-2  | one\ntwo¶4-4  | three¶"},
        {"# 手引き\n\n本文。\n## 設定 ##\n値。\n# 次\n終わり。",
         "title 手引き¶3-3 手引き | 本文。¶5-5 手引き > 設定 | 値。¶7-7 次 | 終わり。¶"},
        {"Title\n=====\nText.\n\nPart\n---\nMore.", "title Title¶3-3 Title | Text.¶7-7 Title > Part | More.¶"},
        {"### deep\na\n# top\nb", "title top¶2-2 deep | a¶4-4 top | b¶"},
        {"#hashtag is no heading", "1-1  | #hashtag is no heading¶"},
        {"####### seven are none", "1-1  | ####### seven are none¶"},
        {"a\r\n\r\n# h\r\nb\r\n", "title h¶1-1  | a¶4-4 h | b¶"},
    };
    check_all(MARKDOWN, cases, COUNT(cases));
}

static void a_heading_that_nothing_follows_is_found_all_the_same(void **state)
{
    static const struct reading_case cases[] = {
        {"# Changelog", "title Changelog¶1-1 Changelog | Changelog¶"},
        {"# A\n## B\n## C\ntext", "title A¶2-2 A > B | B¶4-4 A > C | text¶"},
        {"# A\n## B\ntext", "title A¶3-3 A > B | text¶"},
    };
    check_all(MARKDOWN, cases, COUNT(cases));
}

static void lists_tables_and_code_stay_whole(void **state)
{
    static const struct reading_case cases[] = {
        {"1. one\n\n   more\n\n2. two\n\nafter", "1-5  | 1. one\n\n   more\n\n2. two¶7-7  | after¶"},
        {"- a\n- b\n\ntext", "1-2  | - a\n- b¶4-4  | text¶"},
        {"次のとおり：\n\n- あ\n- い\n", "1-4  | 次のとおり：\n\n- あ\n- い¶"},
        {"手順は次のとおりです。\n\n1. あ\n2. い\n", "1-4  | 手順は次のとおりです。\n\n1. あ\n2. い¶"},
        {"Run this:\n\n```sh\n# no heading\n\nls\n```\nDone.",
         "1-7  | Run this:\n\n```sh\n# no heading\n\nls\n```¶8-8  | Done.¶"},
        {"| a | b |\n|---|---|\n| 1 | 2 |", "1-3  | | a | b |\n|---|---|\n| 1 | 2 |¶"},
        {"~~~\n```\n~~~\nx", "1-3  | ~~~\n```\n~~~¶4-4  | x¶"},
        {"```\nnever closed\n# x", "1-3  | ```\nnever closed\n# x¶"},
        {"a\n\n---\n\nb", "1-1  | a¶5-5  | b¶"},
    };
    check_all(MARKDOWN, cases, COUNT(cases));
}

static void front_matter_gives_the_title(void **state)
{
    static const struct reading_case cases[] = {
        {"---\ntitle: \"The guide\"\ntags: [a]\n---\n# H\ntext", "title The guide¶6-6 H | text¶"},
        {"---\ntitle: x", "2-2  | title: x¶"}, /* it never ends: a rule */
        {"---\n\ntext", "3-3  | text¶"},
    };
    check_all(MARKDOWN, cases, COUNT(cases));
}

static void a_long_paragraph_is_divided_at_its_lines(void **state)
{
    char text[3 * PARAGRAPH_MAX];
    struct document document;
    struct status st = {0};
    size_t length = 0;
    int lines = 0;
    while (length < 2 * PARAGRAPH_MAX) {
        length += (size_t)snprintf(text + length, sizeof text - length, "line number %d of it\n", ++lines);
    }
    assert_true(document_read(&document, MARKDOWN, text, length, &st));
    int line = 1;
    for (const struct paragraph *paragraph = document.first; paragraph; paragraph = paragraph->next) {
        char begin[32];
        snprintf(begin, sizeof begin, "line number %d of", line);
        assert_true(paragraph->length <= PARAGRAPH_MAX);
        assert_int_equal(paragraph->line_from, line);
        assert_memory_equal(paragraph->text, begin, strlen(begin));
        line = paragraph->line_to + 1;
    }
    assert_int_equal(line, lines + 1);
    document_fini(&document);
}

static void a_line_without_end_is_divided_between_characters(void **state)
{
    size_t size = 3 * 100000;
    char *text = malloc(size);
    struct document document;
    struct status st = {0};
    for (size_t i = 0; i < size; i += 3)
        memcpy(text + i, "文", 3);
    assert_true(document_read(&document, PLAIN, text, size, &st));
    size_t together = 0;
    for (const struct paragraph *paragraph = document.first; paragraph; paragraph = paragraph->next) {
        assert_int_equal(paragraph->length % 3, 0);
        assert_int_equal(paragraph->line_to, 1);
        together += paragraph->length;
    }
    assert_int_equal(together, size);
    document_fini(&document);
    free(text);
}

static void plain_text_is_divided_at_empty_lines(void **state)
{
    static const struct reading_case cases[] = {
        {"a\nb\n \n\n# c\n", "1-2  | a\nb¶5-5  | # c¶"},
        {"\n\n", ""},
        {"x", "1-1  | x¶"},
        {"登録は、次の手順で行います。\n\n・開く。\n・押す。\n\n以上。",
         "1-4  | 登録は、次の手順で行います。\n\n・開く。\n・押す。¶6-6  | 以上。¶"},
        {"Do the following:\n\n1) a\n\nb", "1-3  | Do the following:\n\n1) a¶5-5  | b¶"},
        {"以下の手順は古い。2 は次のとおりではない。\n\nb",
         "1-1  | 以下の手順は古い。2 は次のとおりではない。¶3-3  | b¶"},
    };
    check_all(PLAIN, cases, COUNT(cases));
}

static void html_is_read_without_what_is_no_text(void **state)
{
    static const struct reading_case cases[] = {
        {"<html><head><title> The\n page </title><style>p{}</style></head><body>\n<nav>Home</nav>\n"
         "<h1>Top</h1>\n<p>One <b>bold</b>\nword.</p>\n<script>var p = '<p>no</p>'</script>\n<h2>Sub</h2>\n<p>Two.\n",
         "title The page¶5-6 Top | One bold word.¶9-9 Top > Sub | Two.¶"},
        {"<p>a &amp; b &#x3042;</p>", "1-1  | a & b あ¶"},
        {"<ul>\n<li>one\n<li>two\n</ul>\n<p>after", "2-3  | one\ntwo¶5-5  | after¶"},
        {"<p>手順:</p>\n<ol><li>開く</li><li>押す</li></ol>", "1-2  | 手順:\n1. 開く\n2. 押す¶"},
        {"<ol><li>a<ul><li>b</ul><li></li><li><p>c</p></ol><ul><li>d</ul>", "1-1  | 1. a\nb\n3. c¶1-1  | d¶"},
        {"<ul><li>a<ol><li>b<li>c</ol><li>d</ul><li>e", "1-1  | a\n1. b\n2. c\nd¶1-1  | e¶"},
        {"<ol><li>a</li><li></li></ol>b",
         "1-1  | 1. a¶1-1  | b¶"}, /* an empty item gives its number to no other text */
        {"<table><tr><th>code<th>what<tr><td>E-1<td>broken</table>", "1-1  | code what\nE-1 broken¶"},
        {"a<br>b", "1-1  | a\nb¶"},
        {"<pre> x</pre><pre>\n y</pre>", "1-1  | x¶2-2  | y¶"},
        {"<pre>x\n  y</pre>z", "1-2  | x\n  y¶2-2  | z¶"},
        {"no tags at all", "1-1  | no tags at all¶"},
        {"<p>日本語の<em>強調</em>文字</p>", "1-1  | 日本語の強調文字¶"},
        {"<p title=\"a>b\" lang=en/>1 < 2 &unknown; &lt;p&#62; R&D</p>", "1-1  | 1 < 2 &unknown; <p> R&D¶"},
        {"&AElig;&zwnj;&Delta;&delta;&apos;&euro;&Aacute;&aacute;&amp;&sup1;", "1-1  | Æ\u200cΔδ'€Áá&¹¶"},
        {"&nope;&Amp; &#0;&#xD800;&#x7;&#xFFFE;&#x110000;", "1-1  | &nope;&Amp; &#0;&#xD800;&#x7;&#xFFFE;&#x110000;¶"},
        {"<!-- <p>no</p> -->a<!doctype b><?c?></>d", "1-1  | ad¶"},
        {"<div>a</p></i></div></table>b", "1-1  | a¶1-1  | b¶"},
        {"<table><tr><td><p>a</table></p>b", "1-1  | a¶1-1  | b¶"},
        {"<h1>Top<p>a", "title Top¶1-1 Top | a¶"},
        {"<script>\"</p>\" + '<p>'</SCRIPT>a<style>b", "1-1  | a¶"},
        {"a<br/>b<hr>\n\nc<p>\nd", "1-1  | a\nb¶3-3  | c¶4-4  | d¶"},
        {"", ""},
    };
    check_all(HTML, cases, COUNT(cases));
}

/* 1 MB of what makes parsers slow or deep. */
static void html_that_is_a_bomb_is_read_in_bounds(void **state)
{
    static const char *const pieces[] = {"<b>",  "<div>", "<table><tr><td>", "&amp;&lt;", "<p",     "<a href=\"",
                                         "</p>", "<!--",  "<ul><li>",        "<h1>x",     "<i></b>"};
    size_t size = 1 << 20;
    char *text = malloc(size + 64);
    for (size_t i = 0; i < COUNT(pieces); i++) {
        struct document document;
        struct status st = {0};
        size_t length = 0;
        while (length < size)
            length += (size_t)sprintf(text + length, "%s", pieces[i]);
        document_read(&document, HTML, text, length, &st);
        document_fini(&document);
    }
    static const char entities[] =
        "<!DOCTYPE html [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY x SYSTEM "
        "\"file:///etc/passwd\">]><p>&b;&x;</p>";
    struct document document;
    struct status st = {0};
    assert_true(document_read(&document, HTML, entities, strlen(entities), &st));
    for (const struct paragraph *paragraph = document.first; paragraph; paragraph = paragraph->next)
        assert_null(memmem(paragraph->text, paragraph->length, "root:", 5));
    document_fini(&document);
    free(text);
}

static void csv_rows_stand_as_they_are(void **state)
{
    static const struct reading_case cases[] = {
        {"code,what\nE-1,\"it, broke\"\nE-2,fine\n", "2-2 code,what | E-1,\"it, broke\"¶3-3 code,what | E-2,fine¶"},
        {"a;b\n1;2,5\n", "2-2 a;b | 1;2,5¶"},
        {"a\tb\n1\t2\n", "2-2 a b | 1\t2¶"},
        {"only,a,header\n", "1-1 only,a,header | only,a,header¶"},
        {"a,b\n\"two\nlines\",x\ny,z", "2-3 a,b | \"two\nlines\",x¶4-4 a,b | y,z¶"},
        {"a,b\n\n1,2\r\n", "3-3 a,b | 1,2¶"},
        {"", ""},
    };
    check_all(CSV, cases, COUNT(cases));
}

static void csv_pairs_are_answers_under_their_questions(void **state)
{
    static const struct reading_case cases[] = {
        {"question,answer\nHow?,\"Say \"\"please\"\".\nTwice.\"\nWhy?,Because.\n",
         "2-3 answer How? | Say \"please\".\nTwice.¶4-4 answer Why? | Because.¶"},
        {"id,質問,回答\n1,使えますか?,はい。\n", "2-2 answer 使えますか? | はい。¶"},
        {"Answer;QUESTION\nyes;really?\n", "2-2 answer really? | yes¶"},
        {"question,answer\nshort\nQ,A\n", "3-3 answer Q | A¶"},
        {"question,answer\nQ,A\n,nobody asked\nno answer,\n", "2-2 answer Q | A¶"},
    };
    check_all(CSV, cases, COUNT(cases));
}

static void csv_with_an_open_quote_says_where(void **state)
{
    static const char text[] = "a,b\nx,\"never\nclosed\n";
    struct document document;
    struct status st = {0};
    assert_false(document_read(&document, CSV, text, strlen(text), &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_contains(st.text, "line 2: the quote");
    document_fini(&document);
}

static void a_document_that_is_ascii_and_no_text_is_refused_by_its_name(void **state)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj\n", "is a PDF document, which is not read"},
        {"\n %PDF-1.4\n", "is a PDF document"},
        {"%!PS-Adobe-3.0\n", "is a PostScript document"},
        {"{\\rtf1\\ansi Hello}", "is an RTF document"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct document document;
        struct status st = {0};
        assert_false(document_read(&document, PLAIN, cases[i].text, strlen(cases[i].text), &st));
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_contains(st.text, cases[i].said);
        document_fini(&document);
    }
}

static void other_encodings_become_utf8(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *text; /* NULL: refused */
    } cases[] = {
        {"plain", 5, "plain"},
        {"\xef\xbb\xbfmark", 7, "mark"},
        {"\x82\xb1\x82\xea\x82\xcd\x83\x65\x83\x58\x83\x67", 12, "これはテスト"}, /* Shift_JIS */
        {"\xa4\xb3\xa4\xec\xa4\xcf\xa5\xc6\xa5\xb9\xa5\xc8", 12, "これはテスト"}, /* EUC-JP */
        {"\xff\xfe\x53\x30\x8c\x30", 6, "これ"},
        {"\xfe\xff\x30\x53\x30\x8c", 6, "これ"},
        {"the caf\xe9\x92s price at the Caf\xe9\x94", 29, "the café’s price at the Café”"}, /* Windows-1252 */
        {"at 10\x93\xfa, on 3\x93\xfa", 15, "at 10日, on 3日"}, /* Shift_JIS: no letter and a mark */
        {"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16, NULL},
        {"bad \xff\xff\xff", 7, NULL},
        {"a\0b", 3, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buffer room;
        struct status st = {0};
        const char *text;
        size_t length;
        buffer_init(&room, 1 << 20);
        bool read = encoding_read(cases[i].bytes, cases[i].size, &room, &text, &length, &st);
        assert_int_equal(read, cases[i].text != NULL);
        if (read) {
            assert_int_equal(length, strlen(cases[i].text));
            assert_memory_equal(text, cases[i].text, length);
        } else {
            assert_int_equal(st.code, INVALID_ARGUMENT);
        }
        buffer_fini(&room);
    }
}

static void the_end_of_a_path_says_what_it_is(void **state)
{
    assert_int_equal(document_format("a/b.MD"), MARKDOWN);
    assert_int_equal(document_format("b.htm"), HTML);
    assert_int_equal(document_format("x.csv"), CSV);
    assert_int_equal(document_format("x.md/README"), PLAIN);
    assert_int_equal(document_format("Makefile"), PLAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markdown_is_read_by_its_headings),
        cmocka_unit_test(a_heading_that_nothing_follows_is_found_all_the_same),
        cmocka_unit_test(lists_tables_and_code_stay_whole),
        cmocka_unit_test(front_matter_gives_the_title),
        cmocka_unit_test(a_long_paragraph_is_divided_at_its_lines),
        cmocka_unit_test(a_line_without_end_is_divided_between_characters),
        cmocka_unit_test(plain_text_is_divided_at_empty_lines),
        cmocka_unit_test(html_is_read_without_what_is_no_text),
        cmocka_unit_test(html_that_is_a_bomb_is_read_in_bounds),
        cmocka_unit_test(csv_rows_stand_as_they_are),
        cmocka_unit_test(csv_pairs_are_answers_under_their_questions),
        cmocka_unit_test(csv_with_an_open_quote_says_where),
        cmocka_unit_test(a_document_that_is_ascii_and_no_text_is_refused_by_its_name),
        cmocka_unit_test(other_encodings_become_utf8),
        cmocka_unit_test(the_end_of_a_path_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
