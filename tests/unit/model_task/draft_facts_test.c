/* What a draft may not hide from the reviewer: invented quotes, false rows and headings, notes that lead nowhere, the
 * number of another thing, parts that are missing. A model gives each of these drafts the best marks. */
#include "draft_review.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_invented_quote_does_not_support_its_sentence),
        cmocka_unit_test(a_quote_may_stand_in_a_passage_of_its_source),
        cmocka_unit_test(tables_headings_and_short_sentences_are_compared),
        cmocka_unit_test(a_note_must_be_defined_by_a_source_that_supports_its_sentence),
        cmocka_unit_test(a_number_of_another_thing_is_refused),
        cmocka_unit_test(code_bounds_form_and_coverage_that_a_model_praises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
