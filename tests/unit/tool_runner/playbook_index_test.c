/* The search index of a playbook. */
#include "playbook/playbook_index.h"

#include "playbook/playbook_similar.h"

#include <math.h>
#include <stdio.h>

#include "unit.h"

#define TEXT(text) ((char *)(uintptr_t)(text))
#define MANY       400

static struct playbook_index *index_;
static Renga__V1__Bullet *bullets[2 * MANY];
static size_t bullet_count;
static struct playbook_hit hits[PLAYBOOK_HITS_MAX];

static int index_test_begin(void **state)
{
    index_ = playbook_index_create();
    bullet_count = 0;
    return 0;
}

static void index_drop(size_t i)
{
    playbook_bullet_release(playbook_bullet_of(bullets[i]));
    bullets[i] = bullets[--bullet_count];
}

static int index_test_end(void **state)
{
    playbook_index_destroy(&index_);
    assert_null(index_);
    while (bullet_count)
        index_drop(0);
    return 0;
}

static Renga__V1__Bullet *index_bullet(const char *id, const char *content, int helpful, int harmful)
{
    Renga__V1__Bullet bullet = RENGA__V1__BULLET__INIT;
    bullet.id = TEXT(id);
    bullet.section = TEXT("rules");
    bullet.content = TEXT(content);
    bullet.helpful = helpful;
    bullet.harmful = harmful;
    return &playbook_bullet_create(&bullet, 0)->bullet;
}

static void index_add(const char *id, const char *content, int helpful, int harmful)
{
    bullets[bullet_count++] = index_bullet(id, content, helpful, harmful);
}

static size_t index_search(const char *text)
{
    const struct playbook_query query = {.text = text, .by_words = true};
    playbook_index_update(index_, bullets, bullet_count);
    return playbook_index_search(index_, &query, hits, 10);
}

static void assert_order(size_t count, const char *ids)
{
    char found[512] = "";
    for (size_t i = 0; i < count; i++) {
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", i ? " " : "", hits[i].bullet->id);
        assert_true(hits[i].score > 0 && hits[i].score <= 1);
        assert_true(i == 0 || hits[i].score <= hits[i - 1].score);
    }
    assert_string_equal(found, ids);
}

static void an_empty_playbook_gives_an_empty_list(void **state)
{
    assert_int_equal(index_search("anything"), 0);
    index_add("a-1", "Read the table.", 0, 0);
    assert_int_equal(index_search("anything else"), 0);
    assert_int_equal(index_search(""), 0);
    index_drop(0);
    assert_int_equal(index_search("Read the table."), 0);
    assert_int_equal(playbook_index_count(index_), 0);
}

static void bullets_that_fit_come_first_in_both_languages(void **state)
{
    index_add("a-1", "Convert times to the zone of the customer before showing them.", 0, 0);
    index_add("a-2", "Retry a call that timed out with a longer pause.", 0, 0);
    index_add("a-3", "通貨の単位は必ず円に換算する。", 0, 0);
    index_add("a-4", "検索に失敗したら別の言葉で試す。", 0, 0);
    assert_order(index_search("Which time zone do customers see?"), "a-1 a-2");
    assert_order(index_search("the call is timing out, what pause?"), "a-2 a-1");
    assert_order(index_search("円に換算した金額はいくらか"), "a-3");
    assert_order(index_search("検索が失敗する"), "a-4");
    assert_int_equal(index_search("RULES"), 4);
}

static void an_id_in_the_query_comes_first(void **state)
{
    index_add("shr-00001", "Read the table first.", 9, 0);
    index_add("shr-00002", "Never read a table twice.", 0, 9);
    index_add("misc", "Anything else.", 0, 0);
    assert_order(index_search("read the table as [shr-00002] says"), "shr-00002 shr-00001");
    assert_int_equal(hits[0].score == 1, 1);
    assert_order(index_search("shr-00002とshr-00001を比べる"), "shr-00002 shr-00001");
    assert_order(index_search("shr-00002, then shr-00002"), "shr-00002");
    assert_order(index_search("misc"), "misc");
    assert_order(index_search("misc table"), "shr-00001 shr-00002");
    assert_int_equal(index_search("shr-0000"), 0);
    assert_int_equal(index_search("xshr-00001"), 0);
}

static void a_harmful_bullet_sinks_and_is_found_where_it_alone_fits(void **state)
{
    index_add("a-1", "Sort the rows of the report by date.", 0, 0);
    index_add("a-2", "Sort the rows of the report by name.", 0, 0);
    index_add("a-3", "Sort the rows of the report by size.", 5, 0);
    index_add("a-4", "Group the report by month.", 0, 0);
    assert_order(index_search("sort rows of the report"), "a-3 a-1 a-2 a-4");
    index_drop(0);
    index_add("a-1", "Sort the rows of the report by date.", 1, 12);
    assert_order(index_search("sort rows of the report"), "a-3 a-2 a-1 a-4");
    assert_order(index_search("sort by date"), "a-3 a-1 a-2");
    assert_order(index_search("date"), "a-1");
}

/* ---- from revision to revision ----------------------------------------------------------------------------------- */

static unsigned seed;

static unsigned index_random(unsigned bound)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 12) % bound;
}

static char *index_random_text(char text[400])
{
    static const char *const words[] = {"table",  "row",    "cache", "the",  "retry", "not",
                                        "token",  "検索",   "金額",  "換算", "page",  "limit ",
                                        "before", "サーバ", "E-102", "3.5",  "sort",  "期限"};
    text[0] = '\0';
    for (unsigned i = 0, count = 1 + index_random(12); i < count; i++) {
        strcat(text, words[index_random(COUNT(words))]);
        strcat(text, index_random(3) ? " " : "");
    }
    if (index_random(4) == 0)
        snprintf(text + strlen(text), 20, " w%u", index_random(5000));
    return text;
}

static void index_random_change(unsigned number)
{
    char text[400], id[32];
    size_t at = bullet_count ? index_random((unsigned)bullet_count) : 0;
    switch (index_random(4)) {
    case 0:
        if (bullet_count)
            index_drop(at);
        break;
    case 1:
        if (bullet_count) { /* counts alone */
            Renga__V1__Bullet *bullet = bullets[at];
            bullets[at] = index_bullet(bullet->id, bullet->content, (int)index_random(9), (int)index_random(9));
            playbook_bullet_release(playbook_bullet_of(bullet));
        }
        break;
    case 2:
        if (bullet_count) {
            Renga__V1__Bullet *bullet = bullets[at];
            bullets[at] = index_bullet(bullet->id, index_random_text(text), bullet->helpful, bullet->harmful);
            playbook_bullet_release(playbook_bullet_of(bullet));
        }
        break;
    default:
        snprintf(id, sizeof id, "b-%05u", number);
        if (bullet_count < MANY)
            index_add(id, index_random_text(text), (int)index_random(5), (int)index_random(5));
    }
}

static void an_index_that_followed_changes_finds_what_a_new_one_finds(void **state)
{
    char text[400];
    unsigned number = 0;
    seed = 42;
    for (int round = 0; round < 400; round++) {
        for (unsigned i = 0, changes = index_random(round % 50 == 0 ? 300 : 6); i < changes; i++)
            index_random_change(number++);
        size_t count = index_search(index_random_text(text));
        struct playbook_index *fresh = playbook_index_create();
        struct playbook_hit others[10];
        const struct playbook_query query = {.text = text, .by_words = true};
        playbook_index_update(fresh, bullets, bullet_count);
        assert_int_equal(playbook_index_count(index_), bullet_count);
        assert_int_equal(playbook_index_search(fresh, &query, others, 10), count);
        for (size_t i = 0; i < count; i++) {
            if (fabs(hits[i].score - others[i].score) > 1e-5)
                fail_msg("round %d, hit %zu: %f and %f", round, i, hits[i].score, others[i].score);
            if (strcmp(hits[i].bullet->id, others[i].bullet->id) != 0)
                assert_true(fabs(hits[i].score - others[i].score) < 1e-5);
        }
        assert_true(playbook_index_bytes(index_) < 4 * playbook_index_bytes(fresh) + (1 << 20));
        playbook_index_destroy(&fresh);
    }
}

static void words_that_no_bullet_has_any_more_leave_the_index(void **state)
{
    char text[64];
    for (int round = 0; round < 200; round++) {
        while (bullet_count)
            index_drop(0);
        for (int i = 0; i < 100; i++) {
            snprintf(text, sizeof text, "word%d once%d other%d", 100 * round + i, round, i * round);
            index_add(text + 4, text, 0, 0);
            *strchr(bullets[bullet_count - 1]->id, ' ') = '\0';
        }
        index_search("word1");
    }
    assert_true(playbook_index_bytes(index_) < 200000);
}

/* ---- similar bullets --------------------------------------------------------------------------------------------- */

static void similar_bullets_are_found_as_they_are_compared(void **state)
{
    char text[400];
    int found = 0;
    seed = 3;
    for (int i = 0; i < MANY; i++) {
        char id[32];
        snprintf(id, sizeof id, "b-%d", i);
        index_add(id, index_random_text(text), 0, 0);
    }
    playbook_index_update(index_, bullets, bullet_count);
    for (int round = 0; round < 200; round++) {
        const char *content = bullets[index_random(MANY)]->content;
        if (round % 2)
            content = index_random_text(text);
        size_t count = playbook_index_similar(index_, content, 0.6, hits, PLAYBOOK_HITS_MAX), expected = 0;
        for (size_t i = 0; i < bullet_count; i++) {
            struct arena arena;
            size_t a, b;
            arena_init(&arena, NULL, 0, 1 << 20);
            struct playbook_term *one = playbook_terms(&arena, content, strlen(content), &a);
            struct playbook_term *other = playbook_terms(&arena, bullets[i]->content, strlen(bullets[i]->content), &b);
            double similarity = playbook_terms_similarity(one, a, other, b);
            arena_fini(&arena);
            expected += similarity >= 0.6;
            for (size_t j = 0; j < count; j++)
                if (hits[j].bullet == bullets[i]) {
                    found++;
                    assert_true(fabs(hits[j].score - similarity) < 0.01);
                }
        }
        assert_true(count >= expected || count == PLAYBOOK_HITS_MAX);
    }
    assert_true(found > 300);
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

static struct vector *index_vector(float x, float y, float z)
{
    static struct vector vectors[2];
    static int next;
    const float values[] = {x, y, z};
    struct vector *vector = &vectors[next++ % 2];
    assert_true(vector_init(vector, values, 3));
    return vector;
}

static void vectors_find_what_words_do_not(void **state)
{
    index_add("a-1", "Use the exchange rate of the day.", 0, 0);
    index_add("a-2", "Convert currency with care.", 0, 0);
    index_add("a-3", "Feed the cat.", 0, 0);
    playbook_index_update(index_, bullets, bullet_count);
    playbook_index_set_vector(index_, bullets[0], index_vector(1, 0.1F, 0));
    playbook_index_set_vector(index_, bullets[1], index_vector(0.9F, 0.5F, 0));
    playbook_index_set_vector(index_, bullets[2], index_vector(-1, 0, 0.2F));
    struct playbook_query query = {.text = "convert money", .vector = index_vector(1, 0, 0), .by_words = true};
    assert_order(playbook_index_search(index_, &query, hits, 10), "a-2 a-1");
    query.by_words = false;
    assert_order(playbook_index_search(index_, &query, hits, 10), "a-1 a-2");
    query = (struct playbook_query){.text = "a-3", .vector = index_vector(1, 0, 0), .by_words = true};
    assert_order(playbook_index_search(index_, &query, hits, 2), "a-3 a-1");
}

static void vectors_stay_with_their_content(void **state)
{
    Renga__V1__Bullet *missing[4];
    index_add("a-1", "One.", 0, 0);
    index_add("a-2", "Two.", 0, 0);
    playbook_index_update(index_, bullets, bullet_count);
    assert_int_equal(playbook_index_missing(index_, missing, 4, 1, true), 2);
    assert_int_equal(playbook_index_missing(index_, missing, 4, 2, true), 0);
    playbook_index_set_vector(index_, bullets[0], index_vector(1, 0, 0));
    playbook_index_set_vector(index_, bullets[0], index_vector(0, 1, 0));
    assert_int_equal(playbook_index_missing(index_, missing, 4, INT64_C(61000000000), true), 1);
    assert_ptr_equal(missing[0], bullets[1]);
    Renga__V1__Bullet *before = bullets[0];
    bullets[0] = index_bullet("a-1", "One.", 3, 0); /* counts alone: the vector stays */
    playbook_index_update(index_, bullets, bullet_count);
    assert_int_equal(playbook_index_missing(index_, missing, 1, INT64_C(122000000000), true), 1);
    assert_ptr_equal(missing[0], bullets[1]);
    playbook_bullet_release(playbook_bullet_of(before));
    before = bullets[0];
    bullets[0] = index_bullet("a-1", "Three.", 3, 0);
    playbook_index_update(index_, bullets, bullet_count);
    assert_int_equal(playbook_index_missing(index_, missing, 4, INT64_C(122000000001), true), 1);
    assert_ptr_equal(missing[0], bullets[0]);
    playbook_index_set_vector(index_, before, index_vector(1, 0, 0)); /* comes too late: the content is another */
    assert_int_equal(playbook_index_missing(index_, missing, 4, INT64_C(300000000000), true), 2);
    playbook_bullet_release(playbook_bullet_of(before));
}

#define INDEX_CASE(body) cmocka_unit_test_setup_teardown(body, index_test_begin, index_test_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        INDEX_CASE(an_empty_playbook_gives_an_empty_list),
        INDEX_CASE(bullets_that_fit_come_first_in_both_languages),
        INDEX_CASE(an_id_in_the_query_comes_first),
        INDEX_CASE(a_harmful_bullet_sinks_and_is_found_where_it_alone_fits),
        INDEX_CASE(an_index_that_followed_changes_finds_what_a_new_one_finds),
        INDEX_CASE(words_that_no_bullet_has_any_more_leave_the_index),
        INDEX_CASE(similar_bullets_are_found_as_they_are_compared),
        INDEX_CASE(vectors_find_what_words_do_not),
        INDEX_CASE(vectors_stay_with_their_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
