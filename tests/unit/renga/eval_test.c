/* `renga eval`: questions as they are read, answers as they are judged, and the figures with their intervals. */
#include "renga/eval.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define MEMORY ((size_t)1 << 20)

/* The parts of the command that are not linked here. */
void show_text_on(FILE *out, const char *text)
{
    fputs(text, out);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static bool has(const char *text, const char *answer)
{
    const char *const answers[] = {answer};
    const struct eval_question question = {.answers = answers, .answer_count = 1};
    return eval_text_has(text, strlen(text), &question);
}

static void words_are_compared_in_their_normal_form(void **state)
{
    (void)state;
    assert_true(has("Backups are kept for **30 days**.", "30 Days."));
    assert_true(has("兵庫県宝塚市出身(出生は大阪府)。", "兵庫県宝塚市"));
    assert_true(has("１９２８年（昭和３年）１１月３日に生まれた", "1928年(昭和3年)11月3日"));
    assert_true(has("`xyzctl reload` を実行すると反映", "xyzctl reload を実行すると反映"));
    assert_true(has("予定は 33,500 ポンド", "33500ポンド"));
    assert_true(has("서울은 수도이다", "서울"));
    assert_true(has("aab aaab", "aaab"));
    assert_false(has("", "x"));
    assert_false(has("something", "."));
}

static void latin_words_and_numbers_are_whole(void **state)
{
    (void)state;
    assert_false(has("the start", "art"));
    assert_false(has("130 days", "30 days"));
    assert_false(has("3.14", "3"));
    assert_false(has("1,003 files", "003 files"));
    assert_false(has("30 days", "3"));
    assert_true(has("up to 3.", "3"));
    assert_true(has("in 2, 3 or 4", "3"));
}

static void a_file_is_known_by_the_end_of_its_path(void **state)
{
    (void)state;
    assert_true(eval_file_is("guide/backup.md", "guide/backup.md"));
    assert_true(eval_file_is("guide/backup.md", "backup.md"));
    assert_false(eval_file_is("guide/backup.md", "up.md"));
    assert_false(eval_file_is("up.md", "backup.md"));
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

static struct eval_question question_of(const char *line, struct arena *arena, struct status *st)
{
    struct eval_question question;
    *st = (struct status){0};
    if (eval_question_read(&question, line, strlen(line), arena, st))
        assert_int_equal(st->code, OK);
    else
        assert_int_equal(st->code, INVALID_ARGUMENT);
    return question;
}

static void the_fields_of_other_sets_are_taken(void **state)
{
    struct arena arena;
    struct status st;
    (void)state;
    arena_init(&arena, NULL, 0, MEMORY);
    struct eval_question one = question_of(
        "{\"question\":\"How?\",\"uri\":\"a.md\",\"contains\":\"so\",\"paragraph\":3,\"title\":\"T\"}", &arena, &st);
    assert_int_equal(one.class, EVAL_ANSWERABLE);
    assert_string_equal(one.file, "a.md");
    assert_string_equal(one.answers[0], "so");
    assert_string_equal(one.language, "en");
    assert_int_equal(question_of("{\"question\":\"何?\",\"uri\":null}", &arena, &st).class, EVAL_ABSENT);
    assert_int_equal(question_of("{\"question\":\"何?\",\"found\":false}", &arena, &st).class, EVAL_ABSENT);
    assert_int_equal(question_of("{\"question\":\"何?\",\"uri\":null,\"near\":true}", &arena, &st).class, EVAL_NEAR);
    arena_fini(&arena);
}

static void a_line_that_is_wrong_names_its_field(void **state)
{
    static const char *const lines[][2] = {
        {"{\"question\":\"a\"}", "answers: is missing"},
        {"{\"question\":\" \",\"found\":false}", "question: is missing or blank"},
        {"{\"question\":3}", "question: must be a text"},
        {"{\"question\":\"a\",\"answers\":[]}", "answers: is missing"},
        {"{\"question\":\"a\",\"answers\":{}}", "answers: must be a text, or a list"},
        {"{\"question\":\"a\",\"answers\":[\"b\",4]}", "answers: must be words"},
        {"{\"question\":\"a\",\"answers\":\"b\",\"found\":false}", "found: the question has an answer too"},
        {"{\"question\":\"a\",\"file\":\"b\",\"near\":true}", "near: the question has an answer too (file)"},
        {"{\"question\":\"a\",\"found\":true,\"near\":true}", "near: goes with"},
        {"{\"question\":\"a\",\"near\":1}", "near: must be true or false"},
        {"{\"question\":\"a\",\"anwsers\":[\"b\"]}", "did you mean 'answers'?"},
        {"[]", "must be an object"},
        {"{", "1:2"},
    };
    struct arena arena;
    struct status st;
    (void)state;
    arena_init(&arena, NULL, 0, MEMORY);
    for (size_t i = 0; i < COUNT(lines); i++) {
        question_of(lines[i][0], &arena, &st);
        assert_contains(st.text, lines[i][1]);
    }
    arena_fini(&arena);
}

/* ---- verdicts ---------------------------------------------------------------------------------------------------- */

/* An answer with a citation from `uri`, after a search with hits of `hit`. NULL: without. */
static struct eval_score score_of(const struct eval_question *question, const char *answer, const char *uri,
                                  const char *hit, const char *snippet)
{
    Renga__V1__AgentResult result = RENGA__V1__AGENT_RESULT__INIT;
    Renga__V1__Citation citation = RENGA__V1__CITATION__INIT;
    Renga__V1__Subtask subtask = RENGA__V1__SUBTASK__INIT;
    Renga__V1__SubtaskToolResults tools = RENGA__V1__SUBTASK_TOOL_RESULTS__INIT;
    Renga__V1__SubtaskToolResult search = RENGA__V1__SUBTASK_TOOL_RESULT__INIT;
    Renga__V1__SearchHit other = RENGA__V1__SEARCH_HIT__INIT, right = RENGA__V1__SEARCH_HIT__INIT;
    Renga__V1__Citation *citations[] = {&citation};
    Renga__V1__Subtask *subtasks[] = {&subtask};
    Renga__V1__SubtaskToolResults *tries[] = {&tools};
    Renga__V1__SubtaskToolResult *searches[] = {&search};
    Renga__V1__SearchHit *hits[] = {&other, &right};
    struct eval_quotes quotes;
    struct eval_score score = {0};
    eval_quotes_init(&quotes, NULL);
    other.uri = (char[]){"other.md"};
    right.uri = strdup(hit ? hit : "");
    right.snippet = strdup(snippet ? snippet : "");
    citation.uri = strdup(uri ? uri : "");
    result.answer = strdup(answer);
    search.tool_name = (char[]){"search_documents"};
    search.results = hits;
    search.n_results = hit ? 2 : 0;
    tools.results = searches;
    tools.n_results = 1;
    subtask.tool_results = tries;
    subtask.n_tool_results = 1;
    result.subtasks = subtasks;
    result.n_subtasks = 1;
    result.citations = citations;
    result.n_citations = uri != NULL;
    result.found = uri != NULL;
    eval_score_result(&score, question, &result, &quotes);
    eval_quotes_fini(&quotes);
    free(right.uri);
    free(right.snippet);
    free(citation.uri);
    free(result.answer);
    return score;
}

static void a_wrong_answer_says_why(void **state)
{
    static const char *const answers[] = {"30 days"};
    const struct eval_question question = {.file = "a.md", .answers = answers, .answer_count = 1};
    const struct eval_question absent = {.class = EVAL_ABSENT};
    (void)state;
    const char *right = "Backups are kept. They are kept for 30 days.", *wrong = "Logs are kept.";
    assert_int_equal(score_of(&question, right, "a.md", "a.md", right).why, EVAL_RIGHT);
    assert_int_equal(score_of(&question, wrong, "a.md", "a.md", right).why, EVAL_WRONG_SENTENCE);
    assert_int_equal(score_of(&question, wrong, "b.md", "a.md", right).why, EVAL_WRONG_FILE);
    assert_int_equal(score_of(&question, right, NULL, "a.md", right).why, EVAL_ABSTAINED);
    assert_int_equal(score_of(&question, right, NULL, "a.md", wrong).why, EVAL_NOT_FOUND);
    assert_int_equal(score_of(&absent, right, "a.md", NULL, NULL).why, EVAL_NOT_ABSTAINED);
    assert_int_equal(score_of(&absent, right, NULL, NULL, NULL).why, EVAL_RIGHT);
}

static void an_answer_has_its_figures(void **state)
{
    static const char *const answers[] = {"30 days"};
    const struct eval_question question = {.file = "a.md", .answers = answers, .answer_count = 1};
    (void)state;
    struct eval_score score =
        score_of(&question, "## Backups\nBackups are kept. They are kept for 30 days.", "a.md", "a.md", "30 days");
    assert_int_equal(score.sentences, 2);
    assert_int_equal(score.carrying, 1);
    assert_int_equal(score.first_sentence, 0);
    assert_int_equal(score.first_file, 1);
    assert_int_equal(score.rank, 2);
    assert_int_equal(score.words_at_5, 1);
    assert_int_equal(score.other_file, 0);
    assert_int_equal(score_of(&question, "None.", NULL, NULL, NULL).rank, 0);
    assert_int_equal(score_of(&question, "None.", NULL, NULL, NULL).contained, 0);
}

/* A failed call is an answer that is missing, and no abstention that is right. */
static void a_failed_call_is_counted_and_not_hidden(void **state)
{
    static const char *const answers[] = {"30 days"};
    struct eval_question questions[] = {{.language = "en", .answers = answers, .answer_count = 1},
                                        {.language = "en", .class = EVAL_ABSENT}};
    struct eval_row list[] = {{.question = &questions[0], .asked = true}, {.question = &questions[1], .asked = true}};
    const struct eval_rows rows = {list, COUNT(list)};
    struct arena arena;
    size_t count;
    (void)state;
    arena_init(&arena, NULL, 0, MEMORY);
    eval_score_error(&list[0].score, list[0].question);
    eval_score_error(&list[1].score, list[1].question);
    const struct eval_result *results = eval_measure(&rows, &arena, &count);
    for (size_t i = 0; i < count; i++) {
        bool failed = strcmp(results[i].figure->name, "failed") == 0;
        assert_true(results[i].interval.value == (failed ? 1 : 0));
        assert_string_not_equal(results[i].figure->name, "absent_answered");
    }
    assert_int_equal(count, 5); /* right, answered, contained, first_sentence, failed */
    arena_fini(&arena);
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

static void assert_near(double value, double wanted)
{
    if (value < wanted - 0.0006 || value > wanted + 0.0006)
        fail_msg("%f is not %f", value, wanted);
}

static void intervals_are_those_of_the_books(void **state)
{
    double over[] = {1, 2, 3, 4}, under[] = {1, 1, 1, 1};
    (void)state;
    assert_near(interval_of_share(8, 10).low, 0.490);
    assert_near(interval_of_share(8, 10).high, 0.943);
    assert_near(interval_of_share(0, 0).high, 0);
    assert_near(interval_mcnemar(1, 8), 0.0391);
    assert_near(interval_mcnemar(5, 5), 1);
    assert_near(interval_mcnemar(0, 0), 1);
    struct interval mean = interval_of_ratio(over, under, 4), again = interval_of_ratio(over, under, 4);
    assert_near(mean.value, 2.5);
    assert_true(mean.low < 2 && mean.low >= 1 && mean.high > 3 && mean.high <= 4);
    assert_true(mean.low == again.low && mean.high == again.high);
    assert_near(interval_of_quantile(over, 4, 1).value, 4);
    assert_near(interval_of_ratio(over, under, 0).value, 0);
    assert_near(interval_of_quantile(over, 0, 0.5).value, 0);
}

static void a_change_over_the_same_questions_has_no_chance(void **state)
{
    double before[] = {1, 5, 9}, after[] = {2, 6, 10}, ones[] = {1, 1, 1};
    const double *over[2] = {before, after}, *under[2] = {ones, ones};
    (void)state;
    struct interval change = interval_of_change(over, under, 3);
    assert_near(change.value, 1);
    assert_near(change.low, 1);
    assert_near(change.high, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_compared_in_their_normal_form),
        cmocka_unit_test(latin_words_and_numbers_are_whole),
        cmocka_unit_test(a_file_is_known_by_the_end_of_its_path),
        cmocka_unit_test(the_fields_of_other_sets_are_taken),
        cmocka_unit_test(a_line_that_is_wrong_names_its_field),
        cmocka_unit_test(a_wrong_answer_says_why),
        cmocka_unit_test(an_answer_has_its_figures),
        cmocka_unit_test(a_failed_call_is_counted_and_not_hidden),
        cmocka_unit_test(intervals_are_those_of_the_books),
        cmocka_unit_test(a_change_over_the_same_questions_has_no_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
