/* The arithmetic of ReviewDraft, and facts by code: whatever marks a model gives, sum and verdict follow from them, and
 * a draft with a false number is not approved. The seed is fixed; a failure names the round. */
#include "draft_review.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS       10000
#define DRAFTS       1000
#define DRAFT_ROOM   ((size_t)65536)
#define SOURCES_MOST 20

static uint64_t seed = 15;

static uint64_t any_number(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

static double any_mark(void)
{
    static const double odd[] = {0, 1, 0.8, 0.9, 0.89999999, 0.79999999, -1, 1.5, 90, 1e300, -0.0, DBL_MIN};
    switch (any_number(6)) {
    case 0:
        return odd[any_number(COUNT(odd))];
    case 1:
        return any_number(2) ? (double)NAN : any_number(2) ? (double)INFINITY : -(double)INFINITY;
    case 2:
        return 0; /* missing */
    default:
        return (double)any_number(1000001) / 1e6;
    }
}

static void sum_and_verdict_follow_from_any_marks(void **state)
{
    int approved = 0, lifted = 0;
    request = (Renga__V1__ReviewDraftRequest)RENGA__V1__REVIEW_DRAFT_REQUEST__INIT;
    for (int round = 0; round < ROUNDS; round++) {
        review_begin();
        Renga__V1__DraftScores given = RENGA__V1__DRAFT_SCORES__INIT;
        bool fair = any_number(2); /* else hardly one set in a hundred passes */
        given.fact_check = fair ? 0.85 + (double)any_number(150001) / 1e6 : any_mark();
        given.completeness = fair ? 0.6 + (double)any_number(400001) / 1e6 : any_mark();
        given.logic = any_mark();
        given.format = any_mark();
        reviewing.scores = given;
        reviewing.facts = any_number(2) ? 1 : any_mark();
        reviewing.completeness_most = reviewing.weighed.format = 1;
        if (any_number(8) == 0)
            draft_add_issue(&reviewing, FACT_CHECK, HIGH, TEXT("a model says so"), TEXT(""));
        draft_conclude(&reviewing, RENGA__V1__NEXT_ACTION__NEXT_ACTION_WRITE, TEXT(""));
        assert_reproduces(round);
        approved += reviewing.review.approved;
        lifted += reviewing.scores.fact_check > (is_mark(reviewing.facts) || reviewing.facts > 1 ? reviewing.facts : 0);
        double kept = reviewing.scores.completeness;
        if (is_mark(given.completeness) && (kept > given.completeness || kept < given.completeness - 1e-6))
            fail_msg("round %d: a good mark is changed", round);
        if (reviewing.review.n_issues && (reviewing.review.approved || reviewing.scores.fact_check > 0.5))
            fail_msg("round %d: approved with a refuted fact", round);
        review_end();
    }
    assert_int_equal(lifted, 0);
    assert_in_range(approved, ROUNDS / 20, ROUNDS / 2); /* both verdicts are met */
}

/* ---- drafts ------------------------------------------------------------------------------------------------------ */

static const char *const things[] = {"heat pump",  "wind turbine", "solar roof",    "battery store", "tidal mill",
                                     "gas boiler", "hydro plant",  "biogas engine", "steam network", "coal furnace"};
static const char *const things_ja[] = {"熱ポンプ", "風力発電機", "太陽光屋根", "蓄電装置", "潮力設備",
                                        "給湯設備", "水力発電所", "発酵施設",   "蒸気配管", "石炭炉"};

static struct world {
    char draft[DRAFT_ROOM], summaries[SOURCES_MOST][2001], urls[SOURCES_MOST][64], titles[SOURCES_MOST][64];
    char quotes[SOURCES_MOST][256];
    Renga__V1__SearchResult sources[SOURCES_MOST], *source_list[SOURCES_MOST];
    Renga__V1__Citation citations[SOURCES_MOST], *citation_list[SOURCES_MOST];
    unsigned values[SOURCES_MOST];
    bool japanese;
} world;

static void say_fact(char *text, size_t room, int source, unsigned value, const char *note)
{
    if (world.japanese)
        snprintf(text, room, "%sの標準的な設置費用は%u万円である%s。", things_ja[source % 10], value, note);
    else
        snprintf(text, room, "The typical installation of one %s costs %u euros%s.", things[source % 10], value, note);
}

static void world_sources(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        world.values[i] = 100 + (unsigned)any_number(900) + 1000 * (unsigned)i; /* all different */
        say_fact(world.quotes[i], sizeof world.quotes[i], (int)i, world.values[i], "");
        snprintf(world.titles[i], sizeof world.titles[i], "Report %c", (char)('A' + i));
        snprintf(world.urls[i], sizeof world.urls[i], "https://example.org/%zu", i + 1);
        snprintf(world.summaries[i], sizeof world.summaries[i], "%s %s %s",
                 world.japanese ? "調査は全国で行われた。" : "The survey covered the whole country.", world.quotes[i],
                 world.japanese ? "結果は公表された。" : "Its results were published.");
        renga__v1__search_result__init(&world.sources[i]);
        world.sources[i].title = world.titles[i];
        world.sources[i].url = world.urls[i];
        world.sources[i].summary = world.summaries[i];
        world.source_list[i] = &world.sources[i];
    }
    request.sources = world.source_list;
    request.n_sources = count;
}

/* Sentence i is the fact of source i; that of `planted` has a false number. Its number in the draft, counted from 1. */
static int world_draft(size_t count, size_t planted, bool noted, bool cited)
{
    size_t length = (size_t)snprintf(world.draft, DRAFT_ROOM, "# Energy\n\n## Costs\n");
    for (size_t i = 0; i < count; i++) {
        unsigned value = world.values[i];
        char sentence[256], note[16] = "";
        if (noted)
            snprintf(note, sizeof note, " [^%zu]", i + 1);
        if (i == planted && count > 1 && any_number(2))
            value = world.values[(i + 1) % count]; /* true of another source */
        else if (i == planted)
            value += 1 + (unsigned)any_number(99999) * 10;
        say_fact(sentence, sizeof sentence, (int)i, value, note);
        length += (size_t)snprintf(world.draft + length, DRAFT_ROOM - length, "%s%s", i ? " " : "", sentence);
        renga__v1__citation__init(&world.citations[i]);
        world.citations[i].sentence_number = (int)i + 3; /* behind two headings */
        world.citations[i].reference_number = (int)i + 1;
        world.citations[i].uri = world.urls[i];
        world.citations[i].title = world.titles[i];
        world.citations[i].quote = world.quotes[i];
        world.citation_list[i] = &world.citations[i];
    }
    length += (size_t)snprintf(world.draft + length, DRAFT_ROOM - length, "\n\n## References\n");
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(world.draft + length, DRAFT_ROOM - length, "[^%zu]: %s — %s\n\n", i + 1,
                                   world.titles[i], world.urls[i]);
    request.draft = world.draft;
    request.citations = world.citation_list;
    request.n_citations = cited ? count : 0;
    return (int)planted + 3;
}

static bool issue_tells(const Renga__V1__DraftIssue *issue, int sentence, size_t planted)
{
    char place[64], note[128];
    snprintf(place, sizeof place, "sentence %d", sentence);
    snprintf(note, sizeof note, "[%zu] %s", planted + 1, world.titles[planted]);
    return issue->type == FACT_CHECK && issue->severity == HIGH && strcmp(issue->location, place) == 0 &&
           strstr(issue->description, note) && strstr(issue->description, world.quotes[planted]);
}

static void a_false_number_is_never_approved_and_its_source_is_shown(void **state)
{
    for (int round = 0; round < DRAFTS; round++) {
        request = (Renga__V1__ReviewDraftRequest)RENGA__V1__REVIEW_DRAFT_REQUEST__INIT;
        world.japanese = any_number(2);
        size_t count = 1 + any_number(10), planted = any_number(count);
        bool noted = any_number(2), cited = !noted || any_number(2), told = false;
        world_sources(count);
        int sentence = world_draft(count, planted, noted, cited);
        review_with_praise();
        assert_reproduces(round);
        for (size_t i = 0; i < reviewing.review.n_issues; i++)
            told |= issue_tells(reviewing.issues[i], sentence, planted);
        if (reviewing.review.approved || !told)
            fail_msg("round %d (sentence %d): approved %d, %zu issues, the first: %s\n%s", round, sentence,
                     reviewing.review.approved, reviewing.review.n_issues,
                     reviewing.review.n_issues ? reviewing.issues[0]->description : "", world.draft);
        review_end();
    }
}

static void a_true_draft_is_approved(void **state)
{
    for (int round = 0; round < DRAFTS / 5; round++) {
        request = (Renga__V1__ReviewDraftRequest)RENGA__V1__REVIEW_DRAFT_REQUEST__INIT;
        world.japanese = any_number(2);
        size_t count = 1 + any_number(10);
        world_sources(count);
        world_draft(count, count, any_number(2), any_number(2));
        review_with_praise();
        if (!reviewing.review.approved)
            fail_msg("round %d: %s\n%s", round, reviewing.review.feedback, world.draft);
        review_end();
    }
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + (double)now.tv_nsec / 1e6;
}

/* 20 KB and 20 sources. Told, not limited: a sanitizer takes its time. */
static void a_long_draft_takes_milliseconds(void **state)
{
    double least = DBL_MAX;
    request = (Renga__V1__ReviewDraftRequest)RENGA__V1__REVIEW_DRAFT_REQUEST__INIT;
    world.japanese = false;
    world_sources(SOURCES_MOST);
    size_t length = 0;
    for (size_t i = 0; length < 20000; i++) {
        char sentence[256];
        say_fact(sentence, sizeof sentence, (int)(i % SOURCES_MOST), world.values[i % SOURCES_MOST], "");
        length += (size_t)snprintf(world.draft + length, DRAFT_ROOM - length, "%s ", sentence);
    }
    request.draft = world.draft;
    for (int round = 0; round < 5; round++) {
        double before = cpu_ms();
        review_begin();
        draft_facts_check(&reviewing);
        draft_weigh(&reviewing);
        draft_keep_found(&reviewing);
        draft_conclude(&reviewing, reviewing.wanted, TEXT(""));
        review_end();
        double took = cpu_ms() - before;
        least = took < least ? took : least;
    }
    print_message("a draft of 20 KB with 20 sources: %.1f ms\n", least);
    assert_true(reviewing.review.n_issues < DRAFT_ISSUES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_and_verdict_follow_from_any_marks),
        cmocka_unit_test(a_true_draft_is_approved),
        cmocka_unit_test(a_false_number_is_never_approved_and_its_source_is_shown),
        cmocka_unit_test(a_long_draft_takes_milliseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
