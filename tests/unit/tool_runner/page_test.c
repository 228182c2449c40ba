/* The main content of HTML pages: what is kept, what is left out, what a page says of itself. Whole pages are in
 * tests/data/pages, with tests/bench/pages. */
#include "documents/document.h"

#include "base/buffer.h"

#include <stdio.h>

#include "unit.h"

#define ONE   "The ferry runs four times a week this winter, one sailing more than last year, the operator said."
#define TWO   "Boats leave at seven in the morning, and are back in the harbour by half past three, if the wind allows."
#define THREE "A single ticket costs nine pounds, bicycles travel free, and children under six do not pay at all."

static void expect_content(const char *page, const char *expected, char title[64])
{
    struct document document;
    struct page_about about;
    struct status st = {0};
    struct buffer out;
    buffer_init(&out, 1 << 20);
    if (!document_read_page(&document, &about, page, strlen(page), &st))
        fail_msg("'%s' is not read: %s", page, st.text);
    for (const struct paragraph *paragraph = document.first; paragraph; paragraph = paragraph->next)
        buffer_printf(&out, "%.*s¶", (int)paragraph->length, paragraph->text);
    if (expected && strcmp(buffer_text(&out), expected) != 0)
        fail_msg("of '%s'\nis read '%s'\nand not '%s'", page, buffer_text(&out), expected);
    if (title)
        snprintf(title, 64, "%s|%s|%s|%s", about.title, about.byline, about.published, about.language);
    buffer_fini(&out);
    document_fini(&document);
}

static void the_body_of_an_article_is_kept_and_the_page_around_it_is_not(void **state)
{
    static const char *const pages[] = {
        /* by the name of its class */
        "<div class='site-header'><a href=/>Home</a></div><div class='td-post-content'><p>" ONE "</p><p>" TWO
        "</p></div><div class=side><p>" THREE "</p><a href=/x>" THREE "</a></div>",
        /* by its text alone */
        "<div class=x1><a href=/a>News</a> <a href=/b>Sport</a></div><div class=x2><p>" ONE "</p><p>" TWO
        "</p></div><div class=x3><ul><li><a href=/c>" THREE "</a></li></ul></div>",
        /* paragraphs that are divs, in sections of one class */
        "<div class=part><div>" ONE "</div></div><div class=ad>Advertisement</div><div class=part><div>" TWO
        "</div></div>",
        /* furniture within it */
        "<article><h1>Ferry</h1><p>" ONE "</p><aside><p>" THREE "</p></aside><div class=newsletter-signup><p>" THREE
        "</p></div><p>" TWO "</p><footer><p>" THREE "</p></footer></article>",
        "<main><p>" ONE "</p><p>Read also: <a href=/x>Another story</a></p><p>" TWO "</p><p>Tags: ferry</p></main>",
        "<main><p>" ONE "</p><p>" TWO
        "</p><h2>More</h2><ul><li><a href=/x>A story</a><li><a href=/y>One more</a></ul></main>",
        "<div id=onetrust-banner-sdk><p>" THREE "</p></div><p>" ONE "</p><p>" TWO "</p>",
        "<div role=dialog><p>" THREE "</p></div><p>" ONE "</p><p style='display:none'>" THREE "</p><p>" TWO "</p>",
    };
    for (size_t i = 0; i < COUNT(pages); i++)
        expect_content(pages[i], ONE "¶" TWO "¶", NULL);
}

static void comments_are_left_out_unless_they_are_the_page(void **state)
{
    expect_content("<div><p>" ONE "</p><p>" TWO "</p></div><div class=comments><p>" THREE "</p></div>", ONE "¶" TWO "¶",
                   NULL);
    expect_content("<h1>Ask</h1><div class=comments><div class=comment><p>" ONE "</p></div><div class=comment><p>" TWO
                   "</p></div><div class=comment><p>" THREE "</p></div></div>",
                   ONE "¶" TWO "¶" THREE "¶", NULL);
}

static void a_class_with_a_bad_word_does_not_hide_the_page(void **state)
{
    expect_content("<body class=comments-open><div class='content-with-sidebar'><p>" ONE "</p><p>" TWO
                   "</p></div></body>",
                   ONE "¶" TWO "¶", NULL);
    expect_content("<form id=aspnet><p>" ONE "</p><p>" TWO "</p></form>", ONE "¶" TWO "¶", NULL);
}

static void a_page_without_paragraphs_is_read_whole(void **state)
{
    expect_content("<ul><li><a href=/a>One</a><li><a href=/b>Two</a></ul>", "One\nTwo¶", NULL);
    expect_content("", "", NULL);
    expect_content("no tags", "no tags¶", NULL);
}

static void lists_tables_and_code_of_an_article_stay(void **state)
{
    expect_content("<article><p>" ONE
                   "</p><ul><li>one<li>two</ul><table><tr><th>a<th>b<tr><td>1<td>2</table><pre>x\n y</pre><p>" TWO
                   "</p></article>",
                   ONE "¶one\ntwo¶a b\n1 2¶x\n y¶" TWO "¶", NULL);
}

static void readings_of_characters_are_left_out(void **state)
{
    expect_content("<p>" ONE
                   "</p><p>その<ruby>灯台<rt>とうだい</rt></ruby>は、いまも岬の先で、夜ごと静かに光っている。</p>",
                   ONE "¶その灯台は、いまも岬の先で、夜ごと静かに光っている。¶", NULL);
}

static void a_page_says_who_wrote_it_and_when(void **state)
{
    static const struct {
        const char *page, *about;
    } cases[] = {
        {"<html lang=en-GB><title>Ferry - Post</title><meta property=og:title content='Ferry &amp; isles'>"
         "<meta property=article:published_time content=2031-10-02T08:15:00Z><meta name=author content='Ruth Calder'>",
         "Ferry & isles|Ruth Calder|2031-10-02T08:15:00Z|en-GB"},
        {"<title>x</title><script type=application/ld+json>{\"@graph\": [{\"@type\": \"NewsArticle\", \"headline\": "
         "\"Ferry\", "
         "\"datePublished\": \"2031-10-02\", \"author\": [{\"name\": \"Ruth\"}], \"inLanguage\": \"ja\"}]}</script>",
         "Ferry|Ruth|2031-10-02|ja"},
        {"<title>Ferry | The Post</title><h1>Ferry</h1><span class=byline>By Ruth</span><time datetime=2031-10-02>",
         "Ferry|Ruth|2031-10-02|"},
        {"<title>Ferry - The Post</title><meta property=og:site_name content='The Post'>", "Ferry|||"},
        {"<h1>Ferry</h1><meta name=author content=https://post.example/ruth><meta name=date content=yesterday>",
         "Ferry|||"},
        {"<script type=application/ld+json>{\"@type\": \"Article\", </script>", "|||"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char told[64];
        expect_content(cases[i].page, NULL, told);
        assert_string_equal(told, cases[i].about);
    }
}

static void a_byte_zero_in_a_name_is_a_byte_like_others(void **state)
{
    static const char page[] = "<script\0 x><p\0x><b\0bbbbbbbbbbbbbbbbbbbbbbbbb>" ONE "</script\0>";
    struct document document;
    struct page_about about;
    struct status st = {0};
    assert_true(document_read_page(&document, &about, page, sizeof page - 1, &st));
    document_fini(&document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_body_of_an_article_is_kept_and_the_page_around_it_is_not),
        cmocka_unit_test(comments_are_left_out_unless_they_are_the_page),
        cmocka_unit_test(a_class_with_a_bad_word_does_not_hide_the_page),
        cmocka_unit_test(a_page_without_paragraphs_is_read_whole),
        cmocka_unit_test(lists_tables_and_code_of_an_article_stay),
        cmocka_unit_test(readings_of_characters_are_left_out),
        cmocka_unit_test(a_byte_zero_in_a_name_is_a_byte_like_others),
        cmocka_unit_test(a_page_says_who_wrote_it_and_when),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
