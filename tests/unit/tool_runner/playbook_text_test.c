/* A playbook as text and as JSON, both ways. */
#include "playbook/playbook_text.h"

#include "playbook/playbook.h"

#include <stdio.h>

#include "unit.h"

#define TEXT_FORMAT RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_TEXT
#define JSON_FORMAT RENGA__V1__PLAYBOOK_FORMAT__PLAYBOOK_FORMAT_JSON
#define TEXT(text)  ((char *)(uintptr_t)(text))

static struct arena arena;
static struct status st;
static struct buffer out;

static int text_test_begin(void **state)
{
    arena_init(&arena, NULL, 0, 64 << 20);
    buffer_init(&out, 4 << 20);
    status_clear(&st);
    return 0;
}

static int text_test_end(void **state)
{
    arena_fini(&arena);
    buffer_fini(&out);
    return 0;
}

static struct playbook_text text_read(Renga__V1__PlaybookFormat format, const char *text)
{
    struct playbook_text read;
    if (!playbook_text_read(&arena, format, text, &read, &st))
        fail_msg("%s", st.text);
    assert_int_equal(read.problem_count, (int)read.n_problems);
    return read;
}

static struct playbook_text text_read_whole(Renga__V1__PlaybookFormat format, const char *text)
{
    struct playbook_text read = text_read(format, text);
    if (read.n_problems)
        fail_msg("%d: %s", read.problems[0]->number, read.problems[0]->text);
    return read;
}

static void assert_problem(const char *text, int number, const char *part)
{
    struct playbook_text read = text_read(TEXT_FORMAT, text);
    if (read.n_problems != 1)
        fail_msg("%zu problems instead of one: %s", read.n_problems, text);
    assert_int_equal(read.problems[0]->number, number);
    assert_contains(read.problems[0]->text, part);
}

static void assert_bullet(const Renga__V1__Bullet *bullet, const char *id, const char *section, int helpful,
                          int harmful, const char *content)
{
    assert_string_equal(bullet->id, id);
    assert_string_equal(bullet->section, section);
    assert_string_equal(bullet->content, content);
    assert_int_equal(bullet->helpful, helpful);
    assert_int_equal(bullet->harmful, harmful);
}

static void a_playbook_of_the_reference_is_read(void **state)
{
    struct playbook_text read =
        text_read_whole(TEXT_FORMAT, "# ACE Playbook\n\n"
                                     "## STRATEGIES & INSIGHTS\n"
                                     "[sai-00001] helpful=3 harmful=1 :: Read the table first.\n"
                                     "\n## FORMULAS & CALCULATIONS\n"
                                     "[fin-00002]helpful=0harmful=0::EPS = {net} / [shares]\n"
                                     "  [calc-00003]  helpful=007 harmful=12  ::  a :: b  \n"
                                     "## OTHERS\n");
    assert_int_equal(read.count, 3);
    assert_bullet(read.bullets[0], "sai-00001", "STRATEGIES & INSIGHTS", 3, 1, "Read the table first.");
    assert_bullet(read.bullets[1], "fin-00002", "FORMULAS & CALCULATIONS", 0, 0, "EPS = {net} / [shares]");
    assert_bullet(read.bullets[2], "calc-00003", "FORMULAS & CALCULATIONS", 7, 12, "a :: b");
}

static void a_byte_order_mark_and_line_ends_of_windows_are_ignored(void **state)
{
    struct playbook_text read = text_read_whole(
        TEXT_FORMAT, "\xEF\xBB\xBF## 規則\r\n[a-1] helpful=1 harmful=0 :: 単位を確かめる。\r\n\r\n[a-2] helpful=0 "
                     "harmful=2 :: 終わりに改行がない");
    assert_int_equal(read.count, 2);
    assert_bullet(read.bullets[0], "a-1", "規則", 1, 0, "単位を確かめる。");
    assert_bullet(read.bullets[1], "a-2", "規則", 0, 2, "終わりに改行がない");
}

static void counts_have_up_to_ten_digits(void **state)
{
    struct playbook_text read = text_read_whole(TEXT_FORMAT, "[a-1] helpful=1000000000 harmful=0000000001 :: x");
    assert_bullet(read.bullets[0], "a-1", "", 1000000000, 1, "x");
    assert_problem("[a-1] helpful=1000000001 harmful=0 :: x", 1, "at most 1000000000 is possible");
    assert_problem("[a-1] helpful=0 harmful=99999999999999999999999999 :: x", 1, "harmful is 9999");
}

static void a_line_that_is_wrong_is_told_with_its_number_and_the_rest_is_kept(void **state)
{
    struct playbook_text read =
        text_read(TEXT_FORMAT, "## A\n[a-1] helpful=1 harmful=0 :: good\nbroken\n"
                               "[a-2] helpful=x harmful=0 :: y\n[a-3] helpful=1 harmful=0 :: z");
    assert_int_equal(read.count, 2);
    assert_string_equal(read.bullets[1]->id, "a-3");
    assert_int_equal(read.n_problems, 2);
    assert_int_equal(read.problems[0]->number, 3);
    assert_contains(read.problems[0]->text, "'broken' is neither a section '## NAME' nor a bullet");
    assert_int_equal(read.problems[1]->number, 4);
    assert_contains(read.problems[1]->text, "helpful is 'x harmful=0 :: y'; it must be a count");
}

static void each_problem_says_what_would_be_right(void **state)
{
    char text[9000];
    assert_problem("[a-1 helpful=1 harmful=0 :: x", 1, "']' is missing");
    assert_problem("[] helpful=1 harmful=0 :: x", 1, "the id is empty");
    assert_problem("[a b] helpful=1 harmful=0 :: x", 1, "an id has A-Z");
    assert_problem("\n\n[a-1] harmful=0 :: x", 3, "'helpful=' is missing");
    assert_problem("[a-1] helpful=1 :: x", 1, "'harmful=' is missing before ':: x'");
    assert_problem("[a-1] helpful=-1 harmful=0 :: x", 1, "helpful is '-1");
    assert_problem("[a-1] helpful=1 harmful=0 : x", 1, "'::' is missing before ': x'");
    assert_problem("[a-1] helpful=1 harmful=0 ::  \xE3\x80\x80 ", 1, "the content is empty");
    assert_problem("- [a-1] helpful=1 harmful=0 :: x", 1, "is neither a section");
    assert_problem("##  \n[a-1] helpful=1 harmful=0 :: x", 1, "the section has no name");
    assert_problem("[a-1] helpful=1 harmful=0 :: \xFF", 1, "no UTF-8 from byte 30 on");
    assert_problem("[a-1] helpful=1 harmful=0 :: x\n## B\n[a-1] helpful=2 harmful=0 :: y", 3,
                   "the id 'a-1' stands on line 1 already");
    snprintf(text, sizeof text, "[%065d] helpful=1 harmful=0 :: x", 0);
    assert_problem(text, 1, "has 65 bytes; at most 64");
    snprintf(text, sizeof text, "[a-1] helpful=1 harmful=0 :: %08193d", 0);
    assert_problem(text, 1, "has 8193 bytes; at most 8192");
    snprintf(text, sizeof text, "## A\n## %0257d\n[a-1] helpful=1 harmful=0 :: x", 0);
    assert_problem(text, 2, "has 257 bytes; at most 256");
    assert_string_equal(text_read(TEXT_FORMAT, text).bullets[0]->section, "A");
}

static void problems_beyond_the_bound_are_counted(void **state)
{
    struct playbook_text read;
    for (int i = 0; i < 2500; i++)
        buffer_print(&out, "?\n");
    assert_true(playbook_text_read(&arena, TEXT_FORMAT, buffer_text(&out), &read, &st));
    assert_int_equal(read.problem_count, 2500);
    assert_int_equal(read.n_problems, PLAYBOOK_PROBLEMS_MAX);
    assert_int_equal(read.problems[999]->number, 1000);
}

static void more_bullets_than_a_playbook_may_have_are_told(void **state)
{
    struct playbook_text read;
    for (int i = 0; i < PLAYBOOK_BULLETS_MAX + 2; i++)
        buffer_printf(&out, "[a-%d] helpful=0 harmful=0 :: x\n", i);
    assert_true(playbook_text_read(&arena, TEXT_FORMAT, buffer_text(&out), &read, &st));
    assert_int_equal(read.count, PLAYBOOK_BULLETS_MAX);
    assert_int_equal(read.problem_count, 2);
    assert_int_equal(read.problems[0]->number, PLAYBOOK_BULLETS_MAX + 1);
}

static void too_long_a_text_is_refused(void **state)
{
    struct playbook_text read;
    char *text = malloc(PLAYBOOK_TEXT_MAX + 2);
    memset(text, 'x', PLAYBOOK_TEXT_MAX + 1);
    text[PLAYBOOK_TEXT_MAX + 1] = '\0';
    assert_false(playbook_text_read(&arena, TEXT_FORMAT, text, &read, &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_string_equal(st.field, "text");
    free(text);
}

/* ---- round trips ------------------------------------------------------------------------------------------------- */

static Renga__V1__Bullet *bullet_of(const char *id, const char *section, const char *content)
{
    Renga__V1__Bullet *bullet = arena_alloc(&arena, sizeof *bullet);
    renga__v1__bullet__init(bullet);
    bullet->id = TEXT(id);
    bullet->section = TEXT(section);
    bullet->content = TEXT(content);
    bullet->helpful = 4;
    bullet->harmful = 1000000000;
    return bullet;
}

static void assert_same_bullet(const Renga__V1__Bullet *one, const Renga__V1__Bullet *other)
{
    assert_bullet(one, other->id, other->section, other->helpful, other->harmful, other->content);
    assert_string_equal(one->source, other->source);
    assert_true(one->created_ms == other->created_ms && one->updated_ms == other->updated_ms);
}

static void assert_comes_back(Renga__V1__PlaybookFormat format, Renga__V1__Bullet *const *bullets, size_t count)
{
    buffer_clear(&out);
    playbook_text_write(&out, format, "d", 7, bullets, count);
    struct playbook_text read = text_read_whole(format, buffer_text(&out));
    assert_int_equal(read.count, count);
    for (size_t i = 0; i < count; i++)
        assert_same_bullet(read.bullets[i], bullets[i]);
}

static void what_is_written_is_read_back_the_same(void **state)
{
    Renga__V1__Bullet *bullets[] = {
        bullet_of("a-1", "# odd", "braces {query} {{x}} [y] ] :: helpful=3"),
        bullet_of("b_2", "# odd", "日本語 — 😀 e\xCC\x81 \xE2\x80\x8B|"),
        bullet_of("Z", "節 \" \\ \t x", "## no section\\n"),
        bullet_of("a-3", "# odd", "[a-1] helpful=1 harmful=0 :: y"),
    };
    assert_comes_back(TEXT_FORMAT, bullets, 4);
    bullets[0]->created_ms = INT64_C(1769851815123);
    bullets[0]->updated_ms = INT64_C(253402300799999);
    bullets[1]->created_ms = 1;
    bullets[1]->source = TEXT("run \"1\"\n");
    bullets[2]->content = TEXT("two\r\nlines \x01 and\n blanks ");
    assert_comes_back(JSON_FORMAT, bullets, 4);
    assert_comes_back(JSON_FORMAT, bullets, 0);
    assert_comes_back(TEXT_FORMAT, bullets, 0);
}

static void line_breaks_become_blanks_in_text(void **state)
{
    Renga__V1__Bullet *bullet = bullet_of("a-1", "A",
                                          " one\r\ntwo\nthree\rfour\xE2\x80\xA8"
                                          "five\x0B"
                                          "six\xC2\x85seven\n");
    playbook_text_write(&out, TEXT_FORMAT, "d", 1, &bullet, 1);
    assert_string_equal(buffer_text(&out),
                        "## A\n[a-1] helpful=4 harmful=1000000000 :: one two three four five six seven\n");
}

static void random_bullets_survive_both_formats(void **state)
{
    static const char *const parts[] = {"a",  "::", " :: ", "]",  "[",    "{x}",  "harmful=", "日",   "😀", "\"",
                                        "\\", "#",  "##",   "0",  "／",   "ü",    "\t",       "  ",   "9", "=",
                                        "か", "。", "%s",   "$1", "<!--", "\x7F", "\x02",     "null", ",", "é"};
    unsigned seed = 7;
    for (int round = 0; round < 1000; round++) {
        Renga__V1__Bullet *bullets[4];
        arena_reset(&arena);
        for (int i = 0; i < 4; i++) {
            char content[256] = "x", section[64] = "s";
            for (int j = 0; j < 20; j++)
                strcat(content, parts[((seed = seed * 1103515245 + 12345) >> 16) % COUNT(parts)]);
            for (int j = 0; j < 4; j++)
                strcat(section, parts[((seed = seed * 1103515245 + 12345) >> 16) % COUNT(parts)]);
            strcat(content, ".");
            strcat(section, ".");
            bullets[i] = bullet_of(arena_printf(&arena, "b-%d", i), arena_strdup(&arena, section),
                                   arena_strdup(&arena, content));
            bullets[i]->helpful = (int32_t)(seed % 1000000001);
        }
        assert_comes_back(TEXT_FORMAT, bullets, 4);
        assert_comes_back(JSON_FORMAT, bullets, 4);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void a_bullet_of_json_that_is_wrong_is_told_and_the_rest_is_kept(void **state)
{
    struct playbook_text read = text_read(
        JSON_FORMAT,
        "{\"bullets\": [{\"content\": \"a\"}, 3, {\"id\": \"x\"}, {\"content\": 4}, {\"content\": \"b\", "
        "\"helpful\": 1.5}, {\"content\": \"c\", \"created_at\": \"yesterday\"}, {\"id\": \"é\", \"content\": \"d\"}, "
        "{\"content\": \"e\", \"harmful\": 2, \"section\": null, \"created_at\": \"2026-01-31T09:30:15.5+09:00\"}]}");
    static const char *const parts[] = {"is no object",        "content is missing",        "content is no string",
                                        "helpful is no count", "created_at is 'yesterday'", "the id is 'é'"};
    assert_int_equal(read.count, 2);
    assert_bullet(read.bullets[0], "", "", 0, 0, "a");
    assert_bullet(read.bullets[1], "", "", 0, 2, "e");
    assert_true(read.bullets[1]->created_ms == INT64_C(1769819415500));
    assert_int_equal(read.n_problems, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(read.problems[i]->number, i + 2);
        assert_contains(read.problems[i]->text, parts[i]);
    }
}

static void text_that_is_no_json_is_refused_with_its_place(void **state)
{
    static const char *const cases[][2] = {{"{\"bullets\": [", "1:14"},
                                           {"[]", "must be an object"},
                                           {"{}", "must be an object"},
                                           {"", "is no JSON"},
                                           {"{\"bullets\": {}}", "array \"bullets\""}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct playbook_text read;
        assert_false(playbook_text_read(&arena, JSON_FORMAT, cases[i][0], &read, &st));
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_string_equal(st.field, "text");
        assert_contains(st.text, cases[i][1]);
    }
}

static void a_full_arena_is_told(void **state)
{
    struct playbook_text read;
    struct arena small;
    arena_init(&small, NULL, 0, 1 << 16);
    assert_false(playbook_text_read(&small, TEXT_FORMAT, "[a] helpful=0 harmful=0 :: x", &read, &st));
    assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    arena_fini(&small);
}

#define TEXT_CASE(body) cmocka_unit_test_setup_teardown(body, text_test_begin, text_test_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEXT_CASE(a_playbook_of_the_reference_is_read),
        TEXT_CASE(a_byte_order_mark_and_line_ends_of_windows_are_ignored),
        TEXT_CASE(counts_have_up_to_ten_digits),
        TEXT_CASE(a_line_that_is_wrong_is_told_with_its_number_and_the_rest_is_kept),
        TEXT_CASE(each_problem_says_what_would_be_right),
        TEXT_CASE(problems_beyond_the_bound_are_counted),
        TEXT_CASE(more_bullets_than_a_playbook_may_have_are_told),
        TEXT_CASE(too_long_a_text_is_refused),
        TEXT_CASE(what_is_written_is_read_back_the_same),
        TEXT_CASE(line_breaks_become_blanks_in_text),
        TEXT_CASE(random_bullets_survive_both_formats),
        TEXT_CASE(a_bullet_of_json_that_is_wrong_is_told_and_the_rest_is_kept),
        TEXT_CASE(text_that_is_no_json_is_refused_with_its_place),
        TEXT_CASE(a_full_arena_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
