/* An answer of a model held to two sources. */
#include "nodes/cite_sources.h"
#include "nodes/cite_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char moon[] =
    "The moon is 384,400 km away from the earth. It has no air. See https://nasa.example/moon for more.";
static char mars[] =
    "Mars has two moons, Phobos and Deimos. A year on Mars lasts 687 days. Port 9090 is used. ポート 9090 "
    "を使用します。"
    "The gateway opens new ports and watches all boxes at night. 鍵の長さは設定で変えられます。塔の高さは市が決めます。"
    "古い記録は30日後に自動で削除されました。申請の内容は必ず上長に知らせなければなりません。お知らせは毎朝届きます。";

static char uri_moon[] = "https://a.example/moon(1)", uri_mars[] = "mars.md";
static char title_moon[] = "The [moon]", title_mars[] = "Mars";

struct fixture {
    struct arena arena;
    struct cite_sources sources;
    struct cite_text cite;
};

static bool footnotes;

static const char *write_in(enum cite_unsupported unsupported, bool references, const char *answer)
{
    static struct fixture all;
    struct cited_span own;
    memset(&all, 0, sizeof all);
    arena_init(&all.arena, NULL, 0, SIZE_MAX);
    all.sources.arena = &all.arena;
    char *texts[] = {moon, mars}, *uris[] = {uri_moon, uri_mars}, *titles[] = {title_moon, title_mars};
    for (size_t i = 0; i < 2; i++) {
        Renga__V1__SearchHit *hit = arena_alloc(&all.arena, sizeof *hit);
        renga__v1__search_hit__init(hit);
        hit->uri = uris[i];
        hit->title = titles[i];
        hit->snippet = texts[i];
        hit->line_from = hit->line_to = i ? 7 : 0;
        all.sources.hits[i] = hit;
        all.sources.passages[i] = (struct passage){.text = texts[i], .length = strlen(texts[i])};
        all.sources.count++;
    }
    all.cite = (struct cite_text){.sources = &all.sources,
                                  .evidence = evidence_create(&all.arena, all.sources.passages, all.sources.count),
                                  .unsupported = unsupported,
                                  .mark = "[unverified]",
                                  .has_references = references,
                                  .footnotes = footnotes,
                                  .cited = arena_alloc(&all.arena, CITED_MAX * sizeof(struct cited))};
    buffer_init(&all.cite.out, CITED_TEXT_MAX);
    cite_text_write(&all.cite, cite_clean(&all.sources, answer, &own));
    cite_text_write_references(&all.cite, "References", strlen("References"));
    static char kept[8192];
    snprintf(kept, sizeof kept, "%s", buffer_text(&all.cite.out));
    buffer_fini(&all.cite.out);
    arena_fini(&all.arena);
    return kept;
}

static bool is_cut(const char *sentence)
{
    struct cite_sources *sources = calloc(1, sizeof *sources);
    assert_non_null(sources);
    sources->passages[0] = (struct passage){.text = mars, .length = strlen(mars)};
    sources->count = 1;
    bool cut = cite_is_cut(sources, sentence, strlen(sentence));
    free(sources);
    return cut;
}

static void becomes(const char *answer, const char *wanted)
{
    assert_string_equal(write_in(CITE_DROP, false, answer), wanted);
}

static void a_sentence_without_a_source_is_dropped_and_its_line_stays_whole(void **state)
{
    becomes("Mars has two moons. Venus is made of cheese. A year on Mars lasts 687 days.",
            "Mars has two moons. A year on Mars lasts 687 days.");
    becomes("- Cheese is old. Mars has two moons.\n- Venus is made of cheese.\n- The moon has no air.",
            "- Mars has two moons.\n- The moon has no air.");
    becomes("Cheese is old.\n\n> Mars has two moons.", "> Mars has two moons.");
    becomes("Mars has two moons, Phobos and Titan.", "");
    becomes("## A\n\nMars has two moons.\n\n## B\n\n- Mars has two moons.", "## A\n\nMars has two moons.");
    becomes("The moon is 384,500 km away from the earth.", "");
    becomes("A year on Venus lasts 687 days.", "");
    becomes("Mars has two rings, Phobos and Deimos.", "");
}

static void a_sentence_stands_once_however_it_is_written(void **state)
{
    becomes("It has no air. Mars has two moons, Phobos and Deimos.\n\nIt  has no AIR!\n\n- It has no air",
            "It has no air. Mars has two moons, Phobos and Deimos.");
}

/* With "finish_reason": "stop". */
static void an_answer_that_stops_within_a_word_is_not_taken(void **state)
{
    becomes("Port 9090 is use", "");
    becomes("Port 9090 is used", "Port 9090 is used");
    becomes("It has no air. Mars has two moo", "It has no air.");
    becomes("Mars has two moons, Phobos and Deimos", "Mars has two moons, Phobos and Deimos");
    becomes("A year on Mars lasts 687 days", "A year on Mars lasts 687 days");
    becomes("ポート 9090 を使用しま", "");
    becomes("ポート 9090 を使用します", "ポート 9090 を使用します");
}

static void an_end_that_a_sentence_may_have_is_no_cut(void **state)
{
    static const char *const whole[] = {
        "The gateway opens new port", /* of "ports" */
        "The gateway watches at night all box",
        "設定で変えられます鍵の長さ",
        "市が決めます塔の高さ",
        "毎朝届きますお知らせ",
    };
    static const char *const cut[] = {
        "鍵の長さは設定で変えら",
        "鍵の長さは設定で変えられ",
        "古い記録は30日後に自動で削除さ",
        "古い記録は30日後に自動で削除され",
        "古い記録は30日後に自動で削除されまし",
        "申請の内容は必ず上長に知らせなけれ",
        "申請の内容は必ず上長に知らせなければなりませ",
        "The gateway opens new ports and watc",
        "お知らせは毎朝届き",
    };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (is_cut(whole[i]))
            fail_msg("%s", whole[i]);
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
        if (!is_cut(cut[i]))
            fail_msg("%s", cut[i]);
}

static void the_label_of_an_answer_is_no_part_of_it(void **state)
{
    becomes("Answer: Mars has two moons.", "Mars has two moons.");
    becomes("**Answer:** Mars has two moons.", "Mars has two moons.");
    becomes("**Answer**: Mars has two moons.", "Mars has two moons.");
    becomes("回答: ポート 9090 を使用します。", "ポート 9090 を使用します。");
    becomes("回答：\nポート 9090 を使用します。", "ポート 9090 を使用します。");
    becomes("It has no air.\n\nFinal answer: Mars has two moons.", "It has no air.\n\nMars has two moons.");
    becomes("Antwort: Port 9090 is used.", "Port 9090 is used.");
    becomes("Answers: Mars has two moons.", "");
}

static void a_question_is_known_by_its_end(void **state)
{
    static const char *const questions[] = {
        "Is it kept?",         "保存期間は何日間ですか。",     "保存期間は何日間ですか", "保存期間は何日間ですか[1]。",
        "何日間ですか。[^12]", "**保存期間は何日間ですか。**", "「何日間ですか。」",     "\"Is it kept?\"",
        "何日間ですか．",
    };
    static const char *const others[] = {
        "It is kept.", "部屋は静か。", "保存は確か",   "違いは明らか。", "残りはいくらか。",
        "?",           "か",           "30日間です。", "It is kept [1]."};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (!cite_is_question(questions[i], strlen(questions[i])))
            fail_msg("%s", questions[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cite_is_question(others[i], strlen(others[i])))
            fail_msg("%s", others[i]);
}

static void a_sentence_that_repeats_itself_is_not_taken(void **state)
{
    char text[8192] = "";
    for (int i = 0; i < 200; i++)
        strcat(text, i ? " and Mars has two moons" : "Mars has two moons");
    becomes(text, "");
    memset(text, 0, sizeof text);
    for (int i = 0; i < 200; i++)
        strcat(text, "Mars has two moons. ");
    becomes(text, "Mars has two moons.");
}

static void a_heading_goes_with_its_section(void **state)
{
    becomes("# All\n\n## Venus\n\nIt is made of cheese.\n\n## Mars\n\nMars has two moons.",
            "# All\n\n## Mars\n\nMars has two moons.");
    becomes("Venus\n-----\n\nIt is made of cheese.\n\nMars\n====\n\nMars has two moons.\n\n---\n",
            "# Mars\n\nMars has two moons.");
    becomes("**Moons**\n\nMars has two moons.\n\n**Cheese**\n\nVenus is made of it.",
            "**Moons**\n\nMars has two moons.");
    becomes("## In 2031\n\nMars has two moons.", "Mars has two moons.");
}

static void a_heading_says_no_more_than_the_sources(void **state)
{
    becomes("## The moons of Zorblax\n\nMars has two moons.", "Mars has two moons.");
    becomes("## ゾルブラクスの月\n\nMars has two moons.", "Mars has two moons.");
    becomes("## Venus is made of cheese.\n\nMars has two moons.", "Mars has two moons.");
    becomes("## まとめ\n\nMars has two moons.", "## まとめ\n\nMars has two moons.");
    becomes("## Key Findings\n\nMars has two moons.", "## Key Findings\n\nMars has two moons.");
    becomes("## The moons of Mars [1]\n\nMars has two moons.", "## The moons of Mars\n\nMars has two moons.");
    becomes("| Body | 4711 moons |\n|---|---|\n| Mars | two moons |", "");
}

static void markup_of_a_model_is_no_markup_of_the_report(void **state)
{
    becomes("Mars has <b>two</b> moons<sup>1</sup>.<!-- 4711 -->", "Mars has two moons.");
    becomes("Mars has <a href=\"https://fake.example\">two moons</a>【4†source】.", "Mars has two moons.");
    becomes("Mars has two moons (Source: Evil Times).\nThe moon has no air（出典：悪い新聞）.",
            "Mars has two moons.\nThe moon has no air.");
    becomes("Mars has two moons¹².", "Mars has two moons.");
    becomes("Mars has two <script>moons</script>, Phobos and Deimos.",
            "Mars has two \\<script>moons\\</script>, Phobos and Deimos.");
    becomes("The moon is &#51;84,&#53;00 km away from the earth.", "");
    becomes("Mars has two ht<b></b>tps://fake.example/y moons.", "Mars has two moons.");
    becomes("Mars has two moons. `Venus is cheese. [2](javascript:x) Mars has two moons, Phobos and Deimos [9]` is.",
            "Mars has two moons. Mars has two moons, Phobos and Deimos` is.");
    becomes("A <b and c> d.\n\nMars has two moons.", "Mars has two moons.");
}

static void characters_that_show_nothing_are_taken_out(void **state)
{
    becomes("\xE2\x80\xAEMars has\x1B\x08 two\xE2\x80\x8B moons.\xE2\x81\xA6\xC2\x9B\xEF\xBB\xBF",
            "Mars has two moons.");
    becomes("```\nMars has\xE2\x80\xAE two moons\n```", "```\nMars has two moons\n```");
}

static void an_address_is_found_whole_or_not_at_all(void **state)
{
    becomes("The moon: see https://nasa.example/moon for more.", "The moon: see https://nasa.example/moon for more.");
    becomes("The moon: see https://nasa.ex for more.", "The moon: see for more.");
    becomes("The moon: see https://nasa.example/moon?to=evil for more.", "The moon: see for more.");
    becomes("The moon: see `https://evil/moon` for more.", "The moon: see for more.");
    becomes("Mars has two moons https://悪い.example/y.", "Mars has two moons.");
}

static void links_marks_and_lists_of_references_of_a_model_are_taken_out(void **state)
{
    becomes("Mars has [two moons](https://fake.example/x), Phobos and Deimos [3].",
            "Mars has two moons, Phobos and Deimos.");
    becomes("Mars has two moons[^1]. ![a moon](https://fake.example/x.png)\n\n[^1]: https://fake.example",
            "Mars has two moons.");
    becomes("Mars has two moons https://fake.example/y.", "Mars has two moons.");
    becomes("Mars has two moons (https://fake.example/y).", "Mars has two moons.");
    becomes(
        "Mars has two moons.\n\n## References\n\n1. Mars has two moons, by Smith\n\n## More\n\nThe moon has no air.",
        "Mars has two moons.\n\n## More\n\nThe moon has no air.");
    becomes("Mars has two moons.\n\n参考文献：\n- Mars has two moons.", "Mars has two moons.");
    becomes("Mars has two moons.\nSource: Mars has two moons.\n", "Mars has two moons.");
    becomes("The moon: see https://nasa.example/moon for more.", "The moon: see https://nasa.example/moon for more.");
}

static void rows_and_code_are_held_to_the_sources(void **state)
{
    becomes("| Body | Moons |\n|---|---|\n| Mars | two moons |\n| Venus | 12 cheese |",
            "| Body | Moons |\n|---|---|\n| Mars | two moons |");
    becomes("| Body | Moons |\n|---|---|\n| Venus | 12 cheese |", "");
    becomes("```\nrm -rf /\n```\n\nMars has two moons.", "Mars has two moons.");
    becomes("```\nMars has two moons\n```", "```\nMars has two moons\n```");
    becomes("````c\nMars has two moons\n````", "````c\nMars has two moons\n````");
    becomes("```4711 users of Zorblax\nMars has two moons\n``` 4711 more", "```\nMars has two moons\n```");
    becomes("```\nMars has the moons\n```", "");
}

/* The sources in the results of two tools, which have found a row each. */
static size_t sources_of(const char *first, const char *second)
{
    static struct cite_sources sources;
    char text[1024];
    struct arena arena;
    memset(&sources, 0, sizeof sources);
    arena_init(&arena, NULL, 0, SIZE_MAX);
    sources.arena = &arena;
    snprintf(text, sizeof text,
             "[{\"tool_name\":\"search\",\"hits\":[%s]},{\"tool_name\":\"lookup_qa\",\"hits\":[%s]}]", first, second);
    cJSON *results = cJSON_Parse(text);
    assert_non_null(results);
    cite_sources_gather(&sources, results);
    cJSON_Delete(results);
    arena_fini(&arena);
    return sources.count;
}

static void a_row_that_two_tools_have_found_is_one_source(void **state)
{
    static const char row[] =
        "{\"uri\":\"qa.csv\",\"collection\":\"red\",\"line_from\":2,\"snippet\":\"Press the button.\",\"score\":0.8}";
    static const char again[] =
        "{\"uri\":\"qa.csv\",\"collection\":\"red\",\"line_from\":2,\"snippet\":\"Press the button.\",\"score\":0.9}";
    static const char elsewhere[] =
        "{\"uri\":\"qa.csv\",\"collection\":\"blue\",\"line_from\":2,\"snippet\":\"Press the button.\"}";
    static const char below[] =
        "{\"uri\":\"qa.csv\",\"collection\":\"red\",\"line_from\":3,\"snippet\":\"Press the button.\"}";
    assert_int_equal(sources_of(row, again), 1);
    assert_int_equal(sources_of(row, elsewhere), 2);
    assert_int_equal(sources_of(row, below), 2);
}

static void sentences_get_the_number_of_their_document_and_the_list_is_made_of_what_was_found(void **state)
{
    assert_string_equal(
        write_in(CITE_DROP, true, "Mars has two moons. **The moon has no air.** A year on Mars lasts 687 days\n"),
        "Mars has two moons [1]. **The moon has no air [2].** A year on Mars lasts 687 days [1]\n\n## References\n\n"
        "1. Mars — mars.md:7\n2. [The \\[moon\\]](https://a.example/moon%281%29)");
    assert_string_equal(write_in(CITE_DROP, true, "Venus is made of cheese."), "");
}

static void footnotes_are_defined_by_the_references(void **state)
{
    footnotes = true;
    assert_string_equal(
        write_in(CITE_DROP, true, "Mars has two moons[^7]. The moon has no air. Mars has two moons, Phobos."),
        "Mars has two moons [^1]. The moon has no air [^2]. Mars has two moons, Phobos [^1].\n\n## "
        "References\n\n[^1]: Mars — mars.md:7\n[^2]: The \\[moon\\] — https://a.example/moon(1)");
    footnotes = false;
}

static void links_of_several_lines_and_of_other_schemes_lead_nowhere(void **state)
{
    becomes("Mars has [two\nmoons](javascript:alert(1)), Phobos and Deimos.",
            "Mars has [two\nmoons], Phobos and Deimos.");
    becomes("Mars has [two\nmoons](\n//fake.example), Phobos and Deimos.", "");
    becomes("Mars has two moons <javascript:alert(1)>.", "Mars has two moons.");
    becomes("Mars has two moons.\n\n1. [moons]: javascript:alert(1)\n", "Mars has two moons.");
    becomes("Mars has [two moons](https://fake.example/a_(b)), Phobos and Deimos.",
            "Mars has two moons, Phobos and Deimos.");
    becomes("Mars has two moons.\n\n```\n```\n", "Mars has two moons.");
}

static void unsupported_sentences_may_be_marked_or_kept(void **state)
{
    assert_string_equal(
        write_in(CITE_MARK, true, "Mars has two moons. Venus is made of cheese."),
        "Mars has two moons [1]. Venus is made of cheese [unverified].\n\n## References\n\n1. Mars — mars.md:7");
    assert_string_equal(write_in(CITE_KEEP, false, "Venus is made of cheese."), "Venus is made of cheese.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_without_a_source_is_dropped_and_its_line_stays_whole),
        cmocka_unit_test(a_sentence_stands_once_however_it_is_written),
        cmocka_unit_test(an_answer_that_stops_within_a_word_is_not_taken),
        cmocka_unit_test(an_end_that_a_sentence_may_have_is_no_cut),
        cmocka_unit_test(a_question_is_known_by_its_end),
        cmocka_unit_test(the_label_of_an_answer_is_no_part_of_it),
        cmocka_unit_test(a_sentence_that_repeats_itself_is_not_taken),
        cmocka_unit_test(a_heading_goes_with_its_section),
        cmocka_unit_test(a_heading_says_no_more_than_the_sources),
        cmocka_unit_test(markup_of_a_model_is_no_markup_of_the_report),
        cmocka_unit_test(characters_that_show_nothing_are_taken_out),
        cmocka_unit_test(an_address_is_found_whole_or_not_at_all),
        cmocka_unit_test(links_marks_and_lists_of_references_of_a_model_are_taken_out),
        cmocka_unit_test(rows_and_code_are_held_to_the_sources),
        cmocka_unit_test(a_row_that_two_tools_have_found_is_one_source),
        cmocka_unit_test(sentences_get_the_number_of_their_document_and_the_list_is_made_of_what_was_found),
        cmocka_unit_test(footnotes_are_defined_by_the_references),
        cmocka_unit_test(links_of_several_lines_and_of_other_schemes_lead_nowhere),
        cmocka_unit_test(unsupported_sentences_may_be_marked_or_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
