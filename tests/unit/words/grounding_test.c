#include "words/grounding.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

static struct grounding grounding_of(const char *heading, const char *text, const char *question, const char *answer)
{
    struct passage passages[] = {
        {.text = text, .length = strlen(text), .heading = heading, .heading_length = strlen(heading)},
        {.text = "The ferry to Quenby leaves at noon. 売店は六時に閉まります。",
         .heading = "Timetable",
         .heading_length = 9}};
    struct grounding grounding;
    struct arena arena;
    passages[1].length = strlen(passages[1].text);
    arena_init(&arena, NULL, 0, (size_t)16 << 20);
    struct evidence *evidence = evidence_create(&arena, passages, 2);
    assert_non_null(evidence);
    assert_true(grounding_judge(evidence, (struct claim){question, strlen(question)},
                                (struct claim){answer, strlen(answer)}, &grounding));
    arena_fini(&arena);
    return grounding;
}

#define BRIDGE                                                                                                         \
    "The Alder bridge was designed by Ilse Marwick and opened in 1931. It is 240 metres long. The tower beside it "    \
    "was "                                                                                                             \
    "built by Anders Torrance in 1954. Trams do not cross it."
#define MUSEUM                                                                                                                                                             \
    "三笠川博物館は1931年に田中義一が設計した。初代館長は権田原ミチルである。別館は鈴木広が1954年に建て、東京から移さ" \
    "れた。"
static const char who_bridge[] = "Who designed the Alder bridge?",
                  who_museum[] = "三笠川博物館を設計したのは誰ですか。";

static struct grounding bridge(const char *answer)
{
    return grounding_of("Harbour", BRIDGE, who_bridge, answer);
}

static struct grounding museum(const char *answer)
{
    return grounding_of("市の施設", MUSEUM, who_museum, answer);
}

static void a_heading_above_the_steps_of_its_section_is_no_claim(void **state)
{
    static const char steps[] = "1. `xyzctl on` で保守モードに入ります。\n2. `xyzctl list` で時点を選びます。";
    char answer[512];
    snprintf(answer, sizeof answer, "**復元の手順**\n\n%s", steps);
    struct grounding named = grounding_of("バックアップ > 復元の手順", steps, "復元の手順は", answer);
    assert_int_equal(named.sentences, 2);
    assert_int_equal(named.found, 2);
    assert_int_equal(named.other.end, 0);
    snprintf(answer, sizeof answer, "**更新の手順**\n\n%s", steps);
    struct grounding another = grounding_of("バックアップ > 復元の手順", steps, "復元の手順は", answer);
    assert_int_equal(another.sentences, 3);
    assert_int_equal(another.found, 2);
    assert_false(grounding_of("バックアップ > 復元の手順", steps, "復元の手順は", "**復元の手順**").completed);
}

static void an_answer_of_headings_alone_is_not_read_without_end(void **state)
{
    static char answer[4096];
    size_t length = 0;
    for (int i = 0; i < 100; i++)
        length += (size_t)snprintf(answer + length, sizeof answer - length, "**Restoring**\n\n");
    snprintf(answer + length, sizeof answer - length, "The end.");
    assert_int_equal(grounding_of("Backup > Restoring", "1. Stop.", "How do I restore?", answer).sentences, 64);
}

static void a_sentence_of_the_source_is_found(void **state)
{
    assert_true(bridge("The Alder bridge was designed by Ilse Marwick and opened in 1931.").completed);
    assert_true(bridge("Harbour: The Alder bridge was designed by Ilse Marwick and opened in 1931 [1].").completed);
    assert_true(bridge("According to the documents, the Alder bridge was designed by Ilse Marwick.").completed);
    assert_true(museum("三笠川博物館は1931年に田中義一が設計した。").completed);
    assert_true(
        museum("資料によると、三笠川博物館は1931年に田中義一が設計した。初代館長は権田原ミチルである。").completed);
}

static void a_question_for_a_number_is_missed_without_one(void **state)
{
    static const char asked[] = "How long is the Alder bridge?";
    assert_true(grounding_of("Harbour", BRIDGE, asked, "Trams do not cross it.").misses);
    assert_false(grounding_of("Harbour", BRIDGE, asked, "It is 240 metres long.").misses);
    assert_false(bridge("Trams do not cross it.").misses); /* a person is asked for */
}

static void expect_other(struct grounding grounding, const char *answer, const char *word)
{
    assert_false(grounding.completed);
    assert_true(grounding.other.end > grounding.other.begin);
    char said[256];
    snprintf(said, sizeof said, "%.*s", (int)(grounding.other.end - grounding.other.begin),
             answer + grounding.other.begin);
    assert_contains(said, word);
}

static void a_name_in_place_of_another_is_told(void **state)
{
    static const struct {
        bool museum;
        const char *answer, *word;
    } rows[] = {
        {false, "The Alder bridge was designed by Otto Belgrove and opened in 1931.", "Belgrove"},
        {false, "The Alder bridge was designed by Anders Torrance and opened in 1931.",
         "Torrance"},                                                                   /* of the passage */
        {false, "The Alder bridge was designed by Alder and opened in 1931.", "Alder"}, /* the question's */
        {false, "The Birch bridge was designed by Ilse Marwick and opened in 1931.", "Birch"},
        {false, "The Alder bridge was designed by Ilse Marwick and opened in 1954.", "1954"},
        {false, "It is 240 metres long. The tower beside it was built by Otto Belgrove in 1954.", "Belgrove"},
        {true, "三笠川博物館は1931年に鈴木広が設計した。", "鈴木広"},
        {true, "三笠川博物館は1931年に佐藤義一が設計した。", "佐藤"},
        {true, "三笠川博物館は1931年に三笠川が設計した。", "三笠川"},
        {true, "初代館長は宇津木ヒカルである。別館は鈴木広が1954年に大阪で建てた。", "大阪"},
        {true, "別館は鈴木広が1954年に建て、大阪から移された。", "大阪"},
        {true, "別館は鈴木広が1945年に建て、東京から移された。", "1945"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_other(rows[i].museum ? museum(rows[i].answer) : bridge(rows[i].answer), rows[i].answer, rows[i].word);
}

static void names_of_other_scripts_are_compared_too(void **state)
{
    static const char ko[] = "오를란 다리는 1931년에 김서윤이 설계하였다. 탑은 이도현이 세웠다.";
    static const char zh[] = "青叶大桥由林若海设计，于1931年通车。旁边的塔由周明远建造。";
    static const char de[] =
        "Die Erlenbrücke wurde von Ilse Marwick entworfen. Der Turm daneben stammt von Otto Belgrove.";
    static const char who_ko[] = "오를란 다리를 설계한 사람은 누구인가?", who_zh[] = "青叶大桥由谁设计？";
    static const char who_de[] = "Wer entwarf die Erlenbrücke?";
    assert_true(grounding_of("", ko, who_ko, "오를란 다리는 1931년에 김서윤이 설계하였다.").completed);
    assert_false(grounding_of("", ko, who_ko, "오를란 다리는 1931년에 이도현이 설계하였다.").completed);
    assert_true(grounding_of("", ko, who_ko, "김서윤").completed);
    assert_true(grounding_of("", zh, who_zh, "青叶大桥由林若海设计，于1931年通车。").completed);
    assert_false(grounding_of("", zh, who_zh, "青叶大桥由周明远设计，于1931年通车。").completed);
    assert_true(grounding_of("", zh, who_zh, "林若海").completed);
    assert_true(grounding_of("", de, who_de, "Die Erlenbrücke wurde von Ilse Marwick entworfen.").completed);
    assert_false(grounding_of("", de, who_de, "Die Erlenbrücke wurde von Otto Belgrove entworfen.").completed);
}

static void a_denial_an_opposite_and_a_unit_are_told(void **state)
{
    static const char question[] = "How many metres long is it?";
    static const char answers[][64] = {"Trams do cross it.", "It is not 240 metres long.", "It is 240 kilometres long.",
                                       "The Alder bridge was closed in 1931."};
    assert_true(grounding_of("Harbour", BRIDGE, question, "It is 240 metres long.").completed);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        assert_false(grounding_of("Harbour", BRIDGE, question, answers[i]).completed);
}

static void a_short_answer_is_judged_by_the_sentence_that_has_it(void **state)
{
    assert_true(bridge("Ilse Marwick").completed);
    assert_true(bridge("It was Ilse Marwick.").completed);
    assert_true(museum("田中義一").completed);
    assert_true(museum("田中義一です。").completed);
    assert_false(bridge("Otto Belgrove").completed);
    assert_false(museum("佐藤一郎です。").completed);
    assert_false(bridge("Quenby").completed); /* it stands in a sentence about something else */
    assert_false(museum("売店").completed);
}

static void an_echo_of_the_question_is_told(void **state)
{
    static const char answers[][64] = {"Who designed the Alder bridge?", "The Alder bridge.",
                                       "Designed the Alder bridge."};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        assert_false(bridge(answers[i]).completed);
    assert_true(bridge(answers[1]).echoes);
    assert_true(museum("三笠川博物館です。").echoes);
    assert_false(museum("三笠川博物館を設計した人です。").completed);
    assert_true(
        grounding_of("Harbour", BRIDGE, "Which opened first, the bridge or the tower?", "The bridge").completed);
}

static void a_number_within_a_name_of_the_question_is_no_echo(void **state)
{
    static const char camera[] = "上位機種のC3は電池でも動きます。C3の保証期間は2年です。";
    assert_true(grounding_of("C3", camera, "C2とC3の保証期間はどう違いますか？", "C3の保証期間は2年です。").completed);
}

static void a_sentence_about_something_else_does_not_answer(void **state)
{
    assert_int_equal(bridge("The ferry to Quenby leaves at noon.").found, 1);
    assert_false(bridge("The ferry to Quenby leaves at noon.").completed);
    assert_false(museum("売店は六時に閉まります。").completed);
}

static void an_answer_without_sentences_or_sources_is_not_found(void **state)
{
    struct grounding grounding = bridge("");
    assert_int_equal(grounding.sentences, 0);
    assert_false(grounding.completed || grounding.echoes);
    assert_false(grounding_of("", "", who_bridge, "Ilse Marwick").completed);
    assert_false(grounding_of("", BRIDGE, "", "").completed);
}

/* The first passage leaves room for one byte of the second, which has the answer but no sentence. */
static void a_passage_behind_the_limit_has_no_place_for_an_answer(void **state)
{
    size_t length = EVIDENCE_MAX - 1;
    char *blank = malloc(length);
    assert_non_null(blank);
    memset(blank, '\n', length);
    struct passage passages[] = {{.text = blank, .length = length}, {.text = " Delhi", .length = 6}};
    struct grounding grounding;
    struct arena arena;
    arena_init(&arena, NULL, 0, (size_t)16 << 20);
    struct evidence *evidence = evidence_create(&arena, passages, 2);
    assert_non_null(evidence);
    assert_true(grounding_judge(evidence, (struct claim){"Which city?", 11}, (struct claim){"Delhi", 5}, &grounding));
    assert_int_equal(grounding.found, 0);
    arena_fini(&arena);
    free(blank);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heading_above_the_steps_of_its_section_is_no_claim),
        cmocka_unit_test(an_answer_of_headings_alone_is_not_read_without_end),
        cmocka_unit_test(a_sentence_of_the_source_is_found),
        cmocka_unit_test(a_question_for_a_number_is_missed_without_one),
        cmocka_unit_test(a_name_in_place_of_another_is_told),
        cmocka_unit_test(names_of_other_scripts_are_compared_too),
        cmocka_unit_test(a_denial_an_opposite_and_a_unit_are_told),
        cmocka_unit_test(a_short_answer_is_judged_by_the_sentence_that_has_it),
        cmocka_unit_test(an_echo_of_the_question_is_told),
        cmocka_unit_test(a_number_within_a_name_of_the_question_is_no_echo),
        cmocka_unit_test(a_sentence_about_something_else_does_not_answer),
        cmocka_unit_test(an_answer_without_sentences_or_sources_is_not_found),
        cmocka_unit_test(a_passage_behind_the_limit_has_no_place_for_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
