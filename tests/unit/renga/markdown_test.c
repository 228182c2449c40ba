/* Markdown as blocks and pieces: each test writes what was read, one line a block, pieces in brackets. */
#include "renga/markdown.h"

#include "base/buffer.h"

#include <string.h>

#include "unit.h"

#define TEXT_MAX 65536

static void put_pieces(struct buffer *out, const struct markdown_block *block)
{
    static const char marks[] = {[MARKDOWN_TEXT] = 't',    [MARKDOWN_STRONG] = 's', [MARKDOWN_EMPHASIS] = 'e',
                                 [MARKDOWN_LITERAL] = 'l', [MARKDOWN_LINK] = 'a',   [MARKDOWN_REFERENCE] = 'r'};
    struct markdown_line line;
    struct markdown_piece piece;
    markdown_line_begin(&line, block->text, block->length);
    while (markdown_line_next(&line, &piece)) {
        buffer_printf(out, "%c(%.*s", marks[piece.mark], (int)piece.length, piece.text);
        if (piece.target_length)
            buffer_printf(out, "|%.*s", (int)piece.target_length, piece.target);
        if (piece.number)
            buffer_printf(out, "|%zu", piece.number);
        buffer_put(out, ')');
    }
}

static void markdown_assert_reads(const char *text, const char *wanted)
{
    static const char kinds[] = {
        [MARKDOWN_PARAGRAPH] = 'P', [MARKDOWN_HEADING] = 'H', [MARKDOWN_ITEM] = 'I', [MARKDOWN_QUOTE] = 'Q',
        [MARKDOWN_CODE] = 'C',      [MARKDOWN_ROW] = 'R',     [MARKDOWN_LINE] = 'L', [MARKDOWN_RULE] = '-'};
    struct buffer out;
    struct markdown reader;
    struct markdown_block block;
    buffer_init(&out, TEXT_MAX);
    markdown_begin(&reader, text, strlen(text));
    while (markdown_next(&reader, &block)) {
        buffer_printf(&out, "%c%d.%d ", kinds[block.kind], block.level, block.number);
        if (block.kind == MARKDOWN_CODE)
            buffer_append(&out, block.text, block.length);
        else
            put_pieces(&out, &block);
        buffer_print(&out, "\n");
    }
    assert_string_equal(buffer_text(&out), wanted);
    buffer_fini(&out);
}

static void lines_of_a_paragraph_belong_together(void **state)
{
    (void)state;
    markdown_assert_reads("", "");
    markdown_assert_reads("\n \n", "");
    markdown_assert_reads("one\ntwo\n\nthree", "P0.0 t(one\ntwo)\nP0.0 t(three)\n");
    markdown_assert_reads("one\r\n# two\r\n", "P0.0 t(one)\nH1.0 t(two)\n");
}

static void headings_have_their_level(void **state)
{
    (void)state;
    markdown_assert_reads("# a\n###### b\n####### c\n#d\n", "H1.0 t(a)\nH6.0 t(b)\nP0.0 t(####### c\n#d)\n");
}

static void items_have_their_depth_and_number(void **state)
{
    (void)state;
    markdown_assert_reads("- a\n  - b\n    more\n1. c\n10) d\n-e\n",
                          "I0.0 t(a)\nI1.0 t(b\n    more)\nI0.1 t(c)\nI0.10 t(d\n-e)\n");
    markdown_assert_reads("                                        - deep\n", "I6.0 t(deep)\n");
}

static void code_stands_as_it_is_until_its_fence_ends(void **state)
{
    (void)state;
    markdown_assert_reads("```c\na **b**\n\n# c\n```\nd", "C0.0 a **b**\n\n# c\n\nP0.0 t(d)\n");
    markdown_assert_reads("```\nopen", "C0.0 open\n");
}

static void tables_quotes_and_rules_are_known(void **state)
{
    (void)state;
    markdown_assert_reads("| a |\n|---|\n| 1 |\n> q\n---\n",
                          "R0.0 t(| a |)\nL0.0 t(|---|)\nR0.0 t(| 1 |)\nQ0.0 t(q)\n-0.0 t(---)\n");
}

static void marks_are_read_within_a_line(void **state)
{
    (void)state;
    markdown_assert_reads("a **b** *c* `d*` e", "P0.0 t(a )s(b)t( )e(c)t( )l(d*)t( e)\n");
    markdown_assert_reads("[t](https://x/?a=1) [3] [12345] [x] [0]",
                          "P0.0 a(t|https://x/?a=1)t( )r([3]|3)t( )t([12345] )t([x] )t([0])\n");
    markdown_assert_reads("\\*a\\*", "P0.0 t(*)t(a)t(*)\n");
}

static void a_mark_without_its_end_is_text(void **state)
{
    (void)state;
    markdown_assert_reads("2 * 3 * 4", "P0.0 t(2 )t(* 3 )t(* 4)\n");
    markdown_assert_reads("**a", "P0.0 t(**a)\n");
    markdown_assert_reads("`a", "P0.0 t(`a)\n");
    markdown_assert_reads("[a](b c) [[1]", "P0.0 t([a](b c) )t([)r([1]|1)\n");
    markdown_assert_reads("[a](b", "P0.0 t([a](b)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_a_paragraph_belong_together),
        cmocka_unit_test(headings_have_their_level),
        cmocka_unit_test(items_have_their_depth_and_number),
        cmocka_unit_test(code_stands_as_it_is_until_its_fence_ends),
        cmocka_unit_test(tables_quotes_and_rules_are_known),
        cmocka_unit_test(marks_are_read_within_a_line),
        cmocka_unit_test(a_mark_without_its_end_is_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
