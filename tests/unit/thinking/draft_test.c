/* The arithmetic of ReviewDraft, and facts by code: whatever marks a model gives, sum and verdict follow from them, and
 * a draft with a false number is not approved. The seed is fixed; a failure names the round. */
#include "draft_priv.h"
#include "rpc/call.h"

#include "unit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS       10000
#define DRAFTS       1000
#define DRAFT_ROOM   ((size_t)65536)
#define SOURCES_MOST 20
#define HIGH         RENGA__V1__ISSUE_SEVERITY__ISSUE_SEVERITY_HIGH
#define FACT_CHECK   RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_FACT_CHECK
#define TEXT(text)   ((char *)(uintptr_t)(text))

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

/* ---- a review without a server ----------------------------------------------------------------------------------- */

static struct rpc_call call;
static struct draft_reviewing reviewing;
static Renga__V1__ReviewDraftRequest request;

static void review_begin(void)
{
    memset(&call, 0, sizeof call);
    arena_init(&call.arena, NULL, 0, (size_t)16 << 20);
    memset(&reviewing, 0, sizeof reviewing);
    reviewing.thought.call = &call;
    reviewing.request = &request;
    renga__v1__draft_review__init(&reviewing.review);
    renga__v1__draft_scores__init(&reviewing.scores);
}

static void review_end(void)
{
    arena_fini(&call.arena);
}

static bool is_mark(double mark)
{
    return mark >= 0 && mark <= 1;
}

static void assert_reproduces(int round)
{
    const Renga__V1__DraftReview *review = &reviewing.review;
    const Renga__V1__DraftScores *scores = review->scores;
    double sum = 0.4 * scores->fact_check + 0.3 * scores->completeness + 0.2 * scores->logic + 0.1 * scores->format;
    bool good = review->overall_score >= 0.8 && scores->fact_check >= 0.9; /* exact */
    bool marks = is_mark(scores->fact_check) && is_mark(scores->completeness) && is_mark(scores->logic) &&
                 is_mark(scores->format);
    if (!marks || fabs(review->overall_score - sum) > 1e-9 || review->approved != good)
        fail_msg("round %d: %g %g %g %g make %g, approved %d", round, scores->fact_check, scores->completeness,
                 scores->logic, scores->format, review->overall_score, review->approved);
    if (review->approved != (review->suggested_action == RENGA__V1__NEXT_ACTION__NEXT_ACTION_END) ||
        review->approved == (review->feedback[0] != '\0'))
        fail_msg("round %d: the next action or the feedback does not follow", round);
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

/* All a model can do: the best marks, and no issue. */
static void review_with_praise(void)
{
    review_begin();
    draft_facts_check(&reviewing);
    draft_weigh(&reviewing);
    draft_keep_found(&reviewing);
    draft_restart(&reviewing);
    reviewing.scores.fact_check = reviewing.scores.completeness = reviewing.scores.logic = reviewing.scores.format = 1;
    draft_conclude(&reviewing, RENGA__V1__NEXT_ACTION__NEXT_ACTION_WRITE, TEXT(""));
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

/* ---- what a draft may not hide ----------------------------------------------------------------------------------- */

#define OSLO   "https://example.org/oslo"
#define BERGEN "https://example.org/bergen"

static Renga__V1__SearchResult harbours[2], *harbour_list[] = {&harbours[0], &harbours[1]};
static Renga__V1__Citation citation, *cited[] = {&citation};
static Renga__V1__SourcePassage passage, *passages[] = {&passage};

static void harbours_init(void)
{
    request = (Renga__V1__ReviewDraftRequest)RENGA__V1__REVIEW_DRAFT_REQUEST__INIT;
    renga__v1__search_result__init(&harbours[0]);
    renga__v1__search_result__init(&harbours[1]);
    harbours[0].url = TEXT(OSLO);
    harbours[0].title = TEXT("The harbour of Oslo");
    harbours[0].summary = TEXT("The harbour of Oslo handled 450 ships in 2023. It was founded in 1847.");
    harbours[1].url = TEXT(BERGEN);
    harbours[1].title = TEXT("The harbour of Bergen");
    harbours[1].summary = TEXT("The harbour of Bergen handled 620 ships in 2023. The new pier cost 31 million euros.");
    request.sources = harbour_list;
    request.n_sources = 2;
    renga__v1__citation__init(&citation);
    citation.sentence_number = 2;
    citation.uri = TEXT(OSLO);
    citation.title = TEXT("The harbour of Oslo");
    request.citations = cited;
    renga__v1__source_passage__init(&passage);
    request.passages = passages;
}

static const Renga__V1__DraftIssue *told(Renga__V1__DraftIssueType type, const char *words)
{
    for (size_t i = 0; i < reviewing.review.n_issues; i++)
        if (reviewing.issues[i]->type == type && strstr(reviewing.issues[i]->description, words))
            return reviewing.issues[i];
    return NULL;
}

static void assert_refused(const char *draft, const char *words)
{
    request.draft = TEXT(draft);
    review_with_praise();
    assert_reproduces(0);
    if (reviewing.review.approved || !told(FACT_CHECK, words))
        fail_msg("approved %d, without '%s': %s\n%s", reviewing.review.approved, words,
                 reviewing.review.n_issues ? reviewing.issues[0]->description : "", draft);
    review_end();
}

static void assert_approved(const char *draft)
{
    request.draft = TEXT(draft);
    review_with_praise();
    if (!reviewing.review.approved)
        fail_msg("%s\n%s", reviewing.review.feedback, draft);
    review_end();
}

static void an_invented_quote_does_not_support_its_sentence(void **state)
{
    const char *draft = "# Harbours\n\nThe harbour of Oslo is the oldest of the north.\n";
    harbours_init();
    request.n_citations = 1;
    citation.quote = TEXT("The harbour of Oslo is the oldest of the north.");
    assert_refused(draft, "The quote is not in its source");
    citation.quote = TEXT("It was founded in 1847.");
    assert_approved("# Harbours\n\nIt was founded in 1847.\n");
    citation.uri = TEXT("https://example.org/none");
    assert_refused("# Harbours\n\nIt was founded in 1847.\n", "names none of the sources");
}

static void a_quote_may_stand_in_a_passage_of_its_source(void **state)
{
    const char *draft = "# Harbours\n\nThe harbour of Oslo is the oldest of the north.\n";
    harbours_init();
    request.n_citations = request.n_passages = 1;
    citation.quote = TEXT("The harbour of Oslo is the oldest of the north.");
    passage.uri = TEXT(OSLO);
    passage.text = TEXT("A page. The harbour of  Oslo is the\noldest of the north. More.");
    assert_approved(draft);
    passage.uri = TEXT(BERGEN);
    assert_refused(draft, "The quote is not in its source");
    passage.uri = TEXT("https://example.org/none");
    assert_refused(draft, "The quote is not in its source");
}

static void tables_headings_and_short_sentences_are_compared(void **state)
{
    harbours_init();
    assert_refused("# Harbours\n\n| Harbour | Ships |\n|---|---|\n| Oslo | 620 |\n| Bergen | 620 |\n", "Oslo");
    assert_approved("# Harbours\n\n| Harbour | Ships |\n|---|---|\n| Oslo | 450 |\n| Bergen | 620 |\n");
    assert_refused("# Harbours\n\n## Oslo handled 999 ships\n\nIt was founded in 1847.\n", "999");
    assert_refused("# Harbours\n\n## The harbours of Zorblax\n\nIt was founded in 1847.\n", "Zorblax");
    assert_refused("# Harbours\n\nIt has 9.\n\nIt was founded in 1847.\n", "It has 9");
    assert_refused("# 港\n\n9隻。\n\nIt was founded in 1847.\n", "9隻");
    assert_refused("# Harbours\n\nIt was founded in 1847.\n\n## References\n"
                   "- Oslo has 77 piers: https://example.org/oslo\n",
                   "77 piers");
}

static void a_note_must_be_defined_by_a_source_that_supports_its_sentence(void **state)
{
    harbours_init();
    assert_approved("# Harbours\n\nIt was founded in 1847 [^1].\n\n## References\n[^1]: Oslo " OSLO "\n");
    assert_refused("# Harbours\n\nIt was founded in 1847 [^2].\n\n## References\n[^1]: Oslo " OSLO "\n",
                   "[^2] is not defined");
    assert_refused("# Harbours\n\nThe new pier cost 31 million euros [^1].\n\n## References\n[^1]: Oslo " OSLO "\n",
                   "31 million");
    request.draft = TEXT("# Harbours\n\nIt was founded in 1847 [^1].\n\n## References\n[^1]: Oslo " OSLO
                         "\n[^2]: Bergen " BERGEN "\n");
    review_with_praise();
    assert_non_null(told(RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_FORMAT, "[^2] is not used"));
    review_end();
}

static void a_number_of_another_thing_is_refused(void **state)
{
    harbours_init();
    harbours[0].summary = TEXT("The typical installation of one heat pump costs 1200 euros.");
    harbours[1].summary = TEXT("The typical installation of one wind turbine costs 9400 euros.");
    assert_refused("The typical installation of a heat pump costs 9400 euros.", "1200");
    assert_approved("The typical installation of a heat pump costs 1200 euros.");
}

/* ---- form -------------------------------------------------------------------------------------------------------- */

#define SENTENCES                                                                                                      \
    "The harbour of Oslo handled 450 ships in 2023 [^1]. It was founded in 1847 [^1]. The harbour of Bergen handled "  \
    "620 ships in 2023 [^2]. The new pier cost 31 million euros [^2]. The new pier of the harbour cost 31 million "    \
    "euros [^2]."
#define FINDINGS                                                                                                       \
    "- The harbour of Oslo handled 450 ships in 2023 [^1].\n- It was founded in 1847 [^1].\n"                          \
    "- The new pier cost 31 million euros [^2].\n"
#define ANALYSIS   "### Ships\n\nThe harbour of Bergen handled 620 ships in 2023 [^2].\n"
#define REFERENCES "## References\n\n[^1]: Oslo — " OSLO "\n[^2]: Bergen — " BERGEN "\n"
#define SUMMARY    "## Executive Summary\n\n" SENTENCES "\n\n"
#define FORMAT     RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_FORMAT

static double form_of(const char *draft)
{
    request.draft = TEXT(draft);
    review_with_praise();
    double format = reviewing.scores.format;
    assert_true((format == 1) == (told(FORMAT, "") == NULL));
    review_end();
    return format;
}

static void code_bounds_form_and_coverage_that_a_model_praises(void **state)
{
    static char *points[] = {TEXT("Ships"), TEXT("Noise and smell")};
    Renga__V1__ResearchPlan plan = RENGA__V1__RESEARCH_PLAN__INIT;
    harbours_init();
    plan.theme = TEXT("Harbours");
    plan.investigation_points = points;
    plan.n_investigation_points = 1;
    request.plan = &plan;
    const char *whole =
        "# Harbours\n\n" SUMMARY "## Key Findings\n\n" FINDINGS "\n## Detailed Analysis\n\n" ANALYSIS "\n" REFERENCES;
    assert_float_equal(form_of(whole), 1, 0);
    assert_true(
        form_of("# Harbours\n\n## Executive Summary\n\nIt was founded in 1847 [^1].\n\n## Key Findings\n\n" FINDINGS
                "\n## Detailed Analysis\n\n" ANALYSIS "\n" REFERENCES) < 1);
    assert_true(form_of("# Harbours\n\n" SUMMARY "## Key Findings\n\n- It was founded in 1847 [^1].\n\n"
                        "## Detailed Analysis\n\n" ANALYSIS "\n" REFERENCES) < 1);
    assert_true(form_of("# Harbours\n\n" SUMMARY "## Key Findings\n\n" FINDINGS "\n" REFERENCES) < 1);
    assert_true(form_of("# Harbours\n\n" SUMMARY "## Key Findings\n\n" FINDINGS
                        "\n## Detailed Analysis\n\n### Piers\n\nIt was founded in 1847 [^1].\n\n" REFERENCES) < 1);
    assert_true(form_of("It was founded in 1847.") < 0.5);
    plan.n_investigation_points = 2;
    request.draft = TEXT(whole);
    review_with_praise();
    assert_true(reviewing.scores.completeness < 0.9);
    assert_non_null(told(RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_COMPLETENESS, "Noise and smell"));
    review_end();
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
        cmocka_unit_test(an_invented_quote_does_not_support_its_sentence),
        cmocka_unit_test(a_quote_may_stand_in_a_passage_of_its_source),
        cmocka_unit_test(tables_headings_and_short_sentences_are_compared),
        cmocka_unit_test(a_note_must_be_defined_by_a_source_that_supports_its_sentence),
        cmocka_unit_test(a_number_of_another_thing_is_refused),
        cmocka_unit_test(code_bounds_form_and_coverage_that_a_model_praises),
        cmocka_unit_test(a_long_draft_takes_milliseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
