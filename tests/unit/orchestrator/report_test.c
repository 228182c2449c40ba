/* Reports out of drafts of a model. */
#include "report_fixture.h"

#define DRAFT                                                                                                          \
    "# My title\n\n## Executive Summary\n\nSolid electrolytes do not burn, so solid state batteries are safer [^3]. "  \
    "The market for solid state batteries reached 1.2 billion dollars in 2024 [^1]. Analysts expect growth of 30 "     \
    "percent a year until 2030.\n\n## Key Findings\n\n- The market for solid state batteries reached 1.2 billion "     \
    "dollars in 2024.\n- Toyota plans to sell cars with solid state batteries from 2027.\n- Dendrites still grow "     \
    "through cracks of the electrolyte.\n- Solid state batteries reached 9.9 billion dollars in 2023.\n\n"             \
    "## Detailed Analysis\n\n### 1. Market size and growth\n\nAnalysts expect growth of 30 percent a year until "      \
    "2030 [^1](https://fake.example/a). See [here](https://fake.example/b).\n\n### Safety\n\n**Solid electrolytes** "  \
    "do not burn.\n\n### Recycling\n\nEverybody recycles 12 tons.\n\n## References\n\n[^1]: https://fake.example/c\n"  \
    "[^3]: javascript:alert(1)\n"

static void a_draft_is_held_to_the_sources_and_gets_their_notes(void **state)
{
    char *text = english_report(DRAFT);
    assert_form(text, "# Solid state batteries\n");
    assert_in_range(summary_length(text), 150, 300);
    assert_int_equal(count_of(part_of(text, "## Key Findings\n"), "\n- "), 3);
    assert_null(strstr(text, "9.9 billion"));
    assert_null(strstr(text, "fake.example"));
    assert_null(strstr(text, "javascript"));
    assert_null(strstr(text, "Everybody"));
    assert_true(part_has(text, "### Market size and growth\n", "Analysts expect growth"));
    assert_true(part_has(text, "### Safety of solid electrolytes\n", "**Solid electrolytes** do not burn"));
    assert_true(part_has(text, "### Recycling\n", "No source was found for this point."));
    assert_true(all.report.kept > 5);
    assert_false(all.report.composed[REPORT_FINDINGS]);
    free(text);
}

static void a_question_of_the_sources_is_no_sentence_of_a_report(void **state)
{
    static struct source asked[] = {
        {"https://a.example/faq", "FAQ",
         "Is the market for solid state batteries safe and growing? How large is the market for solid state batteries "
         "this year? The market for solid state batteries reached 1.2 billion dollars in 2024."},
    };
    open_report(asked, 1, "Solid state batteries", english_points, 1);
    char *text = close_report("## Executive Summary\n\nIs the market for solid state batteries safe and growing?\n\n"
                              "## Key Findings\n\n- How large is the market for solid state batteries this year?\n\n"
                              "## Detailed Analysis\n\n### Market size and growth\n\nHow large is the market for solid "
                              "state batteries this year?\n");
    assert_null(strchr(text, '?'));
    assert_non_null(strstr(text, "1.2 billion dollars"));
    free(text);
}

static void sentences_without_a_source_may_be_marked(void **state)
{
    open_report(english, 3, "Solid state batteries", english_points, 3);
    all.report.cite.unsupported = CITE_MARK;
    char *text = close_report(DRAFT);
    assert_form(text, "# Solid state batteries\n");
    assert_true(part_has(text, "## Key Findings\n", "reached 9.9 billion dollars in 2023 [unverified]."));
    assert_int_equal(count_of(part_of(text, "## Key Findings\n"), "\n- "), 4);
    free(text);
    open_report(english, 3, "Solid state batteries", english_points, 3);
    all.report.cite.unsupported = CITE_MARK;
    text = close_report("Sure!\n\nDendrites shorten the life of a cell.\n\nLet me know if you need more about cells.");
    assert_null(strstr(text, "unverified"));
    free(text);
}

static void fences_and_small_talk_around_a_draft_are_left_out(void **state)
{
    static const char *const around[][2] = {
        {"Sure, here is the report:\n\n", "\n\nLet me know if you need more about solid state batteries!"},
        {"```markdown\n", "\n```"},
        {"はい、以下がレポートです。\n\n```md\n", "\n```\n\n以上です。ご不明な点があればお知らせください。"},
        {"````markdown\n```markdown\n", "\n```\n````"},
        {"Here is it:\n~~~\n", "\n~~~\n"},
        {"\xEF\xBB\xBF```\n", ""},
        {"", "\n## Sources\n\n1. Toyota plans to sell cars, https://fake.example\n"},
    };
    char *plain = english_report(DRAFT);
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        char draft[8192];
        snprintf(draft, sizeof draft, "%s%s%s", around[i][0], DRAFT, around[i][1]);
        char *text = english_report(draft);
        assert_string_equal(text, plain);
        free(text);
    }
    free(plain);
}

static void two_findings_may_rest_on_one_sentence_of_a_source(void **state)
{
    char *text =
        english_report("## Key Findings\n\n- Solid electrolytes do not burn.\n- Solid state batteries are safer than "
                       "batteries with liquid electrolytes.\n- Dendrites grow through cracks of the electrolyte.\n- "
                       "Dendrites shorten the life of a cell.\n");
    assert_int_equal(count_of(part_of(text, "## Key Findings\n"), "\n- "), 4);
    free(text);
}

static void japanese_names_of_the_parts_are_known(void **state)
{
    char *text =
        japanese_report("# 題\n\n## 要旨\n\n固体電解質は燃えないため、全固体電池の安全性は高い。\n\n"
                        "## 2. 主な発見（Key Findings）\n\n1. 全固体電池の市場規模は2024年に12億ドルに達した。\n"
                        "2. デンドライトは電池の寿命を縮める。\n3. トヨタ自動車は2027年から車を販売する計画である。\n"
                        "4. 市場規模は2023年に99億ドルだった。\n\n**詳細分析**\n\n### 安全性\n\n"
                        "固体電解質は燃えないため、安全性は液体電解質の電池より高い。\n\n## 参考文献\n\n1. 偽の資料\n");
    assert_form(text, "# 全固体電池の現状\n");
    assert_int_equal(count_of(part_of(text, "## Key Findings\n"), "\n- "), 3);
    assert_true(part_has(text, "### 安全性\n", "液体電解質の電池より高い[^"));
    assert_true(part_has(text, "### 市場規模と成長\n", "12億ドル"));
    assert_null(strstr(text, "99億"));
    assert_null(strstr(text, "偽の資料"));
    free(text);
}

/* The answer was cut: the fence around the draft does not close, but one within it does. */
static void a_fence_that_stays_open_leaves_the_rest_of_the_draft(void **state)
{
    char *text = english_report("```markdown\n# T\n\n## Detailed Analysis\n\n### Safety\n\n```python\nprint(1)\n```\n\n"
                                "Dendrites shorten the life of a cell.\n");
    assert_true(part_has(text, "### Safety of solid electrolytes\n", "Dendrites shorten the life of a cell"));
    assert_int_equal(all.report.kept, 1);
    free(text);
}

static void a_draft_of_plain_text_is_the_analysis_and_the_rest_is_composed(void **state)
{
    char *text =
        english_report("Dendrites still grow through cracks of the electrolyte and shorten the life of a cell.");
    assert_form(text, "# Solid state batteries\n");
    assert_true(part_has(text, "## Detailed Analysis\n", "Dendrites still grow"));
    assert_in_range(count_of(part_of(text, "## Key Findings\n"), "\n- "), 3, 5);
    assert_int_equal(all.report.kept, 1);
    assert_true(all.report.composed[REPORT_SUMMARY] && all.report.composed[REPORT_FINDINGS]);
    free(text);
}

static void a_draft_without_one_carried_sentence_is_composed_anew(void **state)
{
    char *plain = english_report(""), *text = english_report("# T\n\n## Key Findings\n\n- Cheese has 5 holes.\n");
    assert_string_equal(text, plain);
    assert_int_equal(all.report.kept, 0);
    free(plain);
    free(text);
}

static void a_summary_that_is_too_long_ends_with_a_sentence(void **state)
{
    char draft[4096] = "## Executive Summary\n\n";
    for (int i = 0; i < 3; i++)
        for (size_t source = 0; source < 3; source++)
            snprintf(draft + strlen(draft), sizeof draft - strlen(draft), "%s ", english[source].text);
    char *text = english_report(draft);
    struct report_span part = part_of(text, "## Executive Summary\n\n");
    assert_in_range(summary_length(text), 200, 300);
    assert_int_equal(part.text[part.length - 2], '.');
    free(text);
}

static void code_and_tables_of_the_analysis_keep_their_form(void **state)
{
    char *text = english_report(
        "## Detailed Analysis\n\n### Market\n\n| Year | Market |\n|---|---|\n| 2024 | 1.2 billion dollars "
        "|\n| 2025 | 7.7 billion dollars |\n\n```python\n# Executive Summary\nrm -rf /\n```\n");
    assert_non_null(strstr(text, "| Year | Market |\n|---|---|\n| 2024 | 1.2 billion dollars [^"));
    assert_null(strstr(text, "7.7"));
    assert_null(strstr(text, "rm -rf"));
    assert_form(text, "# Solid state batteries\n");
    free(text);
}

/* ---- size -------------------------------------------------------------------------------------------------------- */

static void large_hostile_drafts_stay_bounded(void **state)
{
    static const char *const units[] = {"[^7] ",       "```\n",
                                        "# a\n",       "### Safety\n\nSolid electrolytes do not burn.\n\n",
                                        "## 要旨\n\n", "- a [b](javascript:c)\n",
                                        "**a**\n\n",   "[^1]: x\n"};
    size_t most = (size_t)1 << 20;
    char *draft = malloc(most + 1);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i]), used = 0;
        for (; used + length <= most; used += length)
            memcpy(draft + used, units[i], length);
        draft[used] = '\0';
        char *text = english_report(draft);
        assert_form(text, "# Solid state batteries\n");
        assert_true(strlen(text) <= CITED_TEXT_MAX);
        assert_null(strstr(text, "javascript"));
        free(text);
    }
    free(draft);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_draft_is_held_to_the_sources_and_gets_their_notes),
        cmocka_unit_test(a_question_of_the_sources_is_no_sentence_of_a_report),
        cmocka_unit_test(sentences_without_a_source_may_be_marked),
        cmocka_unit_test(fences_and_small_talk_around_a_draft_are_left_out),
        cmocka_unit_test(two_findings_may_rest_on_one_sentence_of_a_source),
        cmocka_unit_test(japanese_names_of_the_parts_are_known),
        cmocka_unit_test(a_fence_that_stays_open_leaves_the_rest_of_the_draft),
        cmocka_unit_test(a_draft_of_plain_text_is_the_analysis_and_the_rest_is_composed),
        cmocka_unit_test(a_draft_without_one_carried_sentence_is_composed_anew),
        cmocka_unit_test(a_summary_that_is_too_long_ends_with_a_sentence),
        cmocka_unit_test(code_and_tables_of_the_analysis_keep_their_form),
        cmocka_unit_test(large_hostile_drafts_stay_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
