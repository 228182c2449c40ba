/* Lists of several sources as one. */
#include "search/fuse.h"

#include <math.h>
#include <stdio.h>

#include "unit.h"

#define TEXT(text) ((char *)(uintptr_t)(text))

static struct arena arena;

static int fuse_test_begin(void **state)
{
    arena_init(&arena, NULL, 0, 8 << 20);
    return 0;
}

static int fuse_test_end(void **state)
{
    arena_fini(&arena);
    return 0;
}

static Renga__V1__SearchHit *hit_of(const char *source, const char *uri, const char *title)
{
    Renga__V1__SearchHit *hit = arena_alloc(&arena, sizeof *hit);
    renga__v1__search_hit__init(hit);
    hit->source = TEXT(source);
    hit->uri = TEXT(uri);
    hit->title = TEXT(title);
    hit->score = 0.25;
    return hit;
}

static void a_page_that_two_lists_have_comes_first_and_once(void **state)
{
    Renga__V1__SearchHit *one[] = {hit_of("a", "https://x.example/1", "1"), hit_of("a", "https://x.example/2", "")};
    Renga__V1__SearchHit *two[] = {hit_of("b", "https://x.example/3", "3"),
                                   hit_of("b", "http://www.x.example/2/?utm_source=b#top", "2")};
    const struct fuse_list lists[] = {{one, 2, true, true}, {two, 2, true, true}};
    Renga__V1__SearchHit *hits[10];
    assert_int_equal(fuse_lists(&arena, lists, 2, hits, 10), 3);
    assert_string_equal(hits[0]->uri, "https://x.example/2");
    assert_string_equal(hits[0]->title, "2");
    assert_true(fabs(hits[0]->score - 61.0 / 62) < 1e-9);
    assert_string_equal(hits[1]->uri, "https://x.example/1");
    assert_string_equal(hits[2]->uri, "https://x.example/3");
    assert_true(fabs(hits[1]->score - 0.5) < 1e-9);
    assert_int_equal(fuse_lists(&arena, lists, 2, hits, 2), 2);
}

static void the_better_ranked_hit_stays(void **state)
{
    Renga__V1__SearchHit *one[] = {hit_of("a", "https://x.example/1", ""),
                                   hit_of("a", "https://x.example/2/", "worse")};
    Renga__V1__SearchHit *two[] = {hit_of("b", "https://x.example/2", "better")};
    const struct fuse_list lists[] = {{one, 2, true, false}, {two, 1, true, false}};
    Renga__V1__SearchHit *hits[10];
    assert_int_equal(fuse_lists(&arena, lists, 2, hits, 10), 2);
    assert_string_equal(hits[0]->source, "b");
    assert_string_equal(hits[0]->title, "better");
}

static void one_list_alone_keeps_scores_that_compare(void **state)
{
    Renga__V1__SearchHit *one[] = {hit_of("a", "https://x.example/1", ""), hit_of("a", "https://x.example/1#a", ""),
                                   hit_of("a", "https://x.example/3", "")};
    struct fuse_list list = {one, 3, true, true};
    Renga__V1__SearchHit *hits[10];
    assert_int_equal(fuse_lists(&arena, &list, 1, hits, 10), 2);
    assert_true(hits[0]->score == 0.25 && hits[1]->score == 0.25);
    list.keeps_scores = false;
    assert_int_equal(fuse_lists(&arena, &list, 1, hits, 10), 2);
    assert_true(hits[0]->score == 1);
    assert_true(fabs(hits[1]->score - 61.0 / 62) < 1e-9);
}

static void paragraphs_of_a_document_are_hits_of_their_own(void **state)
{
    Renga__V1__SearchHit *one[] = {hit_of("documents", "a.md", ""), hit_of("documents", "a.md", ""),
                                   hit_of("documents", "a.md", "")};
    for (int i = 0; i < 3; i++) {
        one[i]->collection = TEXT("kb");
        one[i]->line_from = i < 2 ? 1 : 9;
    }
    const struct fuse_list list = {one, 3, false, true};
    Renga__V1__SearchHit *hits[10];
    assert_int_equal(fuse_lists(&arena, &list, 1, hits, 10), 2);
}

static void names_belong_to_their_source_and_are_no_addresses_of_the_web(void **state)
{
    Renga__V1__SearchHit *one[] = {hit_of("a", "d-17", ""), hit_of("a", "javascript:x()", "")};
    Renga__V1__SearchHit *two[] = {hit_of("b", "d-17", "")};
    struct fuse_list lists[] = {{one, 2, false, false}, {two, 1, false, false}};
    Renga__V1__SearchHit *hits[10];
    assert_int_equal(fuse_lists(&arena, lists, 2, hits, 10), 2);
    lists[1].of_web = true;
    assert_int_equal(fuse_lists(&arena, lists, 2, hits, 10), 1);
}

static void more_hits_than_fit_are_left_out(void **state)
{
    static Renga__V1__SearchHit *many[FUSE_HITS_MAX + 10];
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = hit_of("a", arena_printf(&arena, "https://x.example/%zu", i), "");
    const struct fuse_list list = {many, COUNT(many), true, false};
    Renga__V1__SearchHit *hits[FUSE_HITS_MAX + 10];
    assert_int_equal(fuse_lists(&arena, &list, 1, hits, COUNT(hits)), FUSE_HITS_MAX);
    assert_int_equal(fuse_lists(&arena, NULL, 0, hits, COUNT(hits)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_page_that_two_lists_have_comes_first_and_once, fuse_test_begin,
                                        fuse_test_end),
        cmocka_unit_test_setup_teardown(the_better_ranked_hit_stays, fuse_test_begin, fuse_test_end),
        cmocka_unit_test_setup_teardown(one_list_alone_keeps_scores_that_compare, fuse_test_begin, fuse_test_end),
        cmocka_unit_test_setup_teardown(paragraphs_of_a_document_are_hits_of_their_own, fuse_test_begin, fuse_test_end),
        cmocka_unit_test_setup_teardown(names_belong_to_their_source_and_are_no_addresses_of_the_web, fuse_test_begin,
                                        fuse_test_end),
        cmocka_unit_test_setup_teardown(more_hits_than_fit_are_left_out, fuse_test_begin, fuse_test_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
