/* Where the threshold under which nothing is answered comes from: each question is put once to all paragraphs of its
 * language and once to all but the one that answers it. RENGA_TEST_PRINT=1 shows each. */
#include "extract_fixture.h"

#include "extractive/extract.h"

#include <stdio.h>

#define ROWS_MAX 64

struct row {
    bool japanese;
    struct passage passage;
    struct text question;
};

static struct row rows[ROWS_MAX];
static size_t row_count;
static char data[65536];

static void read_rows(void)
{
    FILE *file = fopen(QUESTIONS, "r");
    assert_non_null(file);
    size_t length = fread(data, 1, sizeof data - 1, file);
    assert_int_equal(fclose(file), 0);
    data[length] = '\0';
    char *state = NULL;
    for (char *line = strtok_r(data, "\n", &state); line && row_count < ROWS_MAX; line = strtok_r(NULL, "\n", &state)) {
        char *fields[4] = {strtok(line, "\t"), strtok(NULL, "\t"), strtok(NULL, "\t"), strtok(NULL, "\t")};
        assert_non_null(fields[3]);
        rows[row_count++] = (struct row){.japanese = strcmp(fields[0], "ja") == 0,
                                         .passage = {.text = fields[2],
                                                     .length = strlen(fields[2]),
                                                     .heading = fields[1],
                                                     .heading_length = strlen(fields[1])},
                                         .question = text_of(fields[3])};
    }
    assert_int_equal(row_count, 48);
}

/* Of all paragraphs in the language, with or without the one that answers. `best` is which row the first sentence is
 * of. */
static double confidence(size_t index, bool with, size_t *best)
{
    struct passage passages[ROWS_MAX];
    size_t of[ROWS_MAX], count = 0;
    struct selection selection;
    struct arena arena;
    for (size_t i = 0; i < row_count; i++) {
        if (rows[i].japanese != rows[index].japanese || (i == index && !with))
            continue;
        of[count] = i;
        passages[count++] = rows[i].passage;
    }
    arena_init(&arena, NULL, 0, (size_t)16 << 20);
    struct evidence *evidence = evidence_create(&arena, passages, count);
    struct text asked = rows[index].question;
    assert_true(selection_rank(evidence, asked.bytes, asked.length, &selection));
    struct extract asking = {
        .japanese = rows[index].japanese, .language = rows[index].japanese ? LANGUAGE_JA : LANGUAGE_EN, .asked = asked};
    double value = extract_confidence(&asking, &selection);
    *best = selection.count ? of[selection.list[0].chosen.passage] : ROWS_MAX;
    arena_fini(&arena);
    return value;
}

struct figures {
    double auc;
    size_t right, kept, refused, count;
    double answered[ROWS_MAX], unanswered[ROWS_MAX];
};

static void measure(bool japanese, struct figures *figures)
{
    size_t best, ignored;
    *figures = (struct figures){0};
    for (size_t i = 0; i < row_count; i++) {
        if (rows[i].japanese != japanese)
            continue;
        double with = confidence(i, true, &best), without = confidence(i, false, &ignored);
        figures->right += best == i;
        figures->kept += with >= EXTRACT_ENOUGH;
        figures->refused += without < EXTRACT_ENOUGH;
        figures->answered[figures->count] = with;
        figures->unanswered[figures->count++] = without;
        if (getenv("RENGA_TEST_PRINT"))
            printf("%.3f %.3f %s %.*s\n", with, without, best == i ? "" : "wrong", (int)rows[i].question.length,
                   rows[i].question.bytes);
    }
    double wins = 0;
    for (size_t i = 0; i < figures->count; i++)
        for (size_t k = 0; k < figures->count; k++)
            wins += figures->answered[i] > figures->unanswered[k]    ? 1
                    : figures->answered[i] == figures->unanswered[k] ? 0.5
                                                                     : 0;
    figures->auc = wins / (double)(figures->count * figures->count);
    printf("%s: AUC %.3f, %zu of %zu first sentences right, %zu answered, %zu of %zu refused without\n",
           japanese ? "ja" : "en", figures->auc, figures->right, figures->count, figures->kept, figures->refused,
           figures->count);
}

static void answered_and_unanswered_questions_are_told_apart(void **state)
{
    for (int japanese = 0; japanese < 2; japanese++) {
        struct figures figures;
        measure(japanese, &figures);
        assert_true(figures.auc >= 0.95);
        assert_true(figures.right >= 21);
        assert_true(figures.kept >= 22);
        assert_true(figures.refused >= 21);
    }
}

/* The paragraphs of the language as a search gives them, but the one of `without` (ROWS_MAX: all). */
static const char *blocks(bool japanese, size_t without)
{
    static char text[65536];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].japanese == japanese && i != without)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s[%zu] manual.md:%zu-%zu | %s\n%s",
                                     used ? "\n\n" : "", i + 1, i + 1, i + 1, rows[i].passage.heading,
                                     rows[i].passage.text);
    return text;
}

/* Answers a question, and judges the answer as a reviewer would have it judged. */
static bool is_completed(size_t index, size_t without)
{
    static char prompt[131072], answer[65536];
    struct asking asking;
    const char *found = blocks(rows[index].japanese, without);
    asking_init(&asking);
    user_says(&asking, rows[index].question.bytes);
    tool_says(&asking, found);
    snprintf(answer, sizeof answer, "%s", answer_of(&asking));
    asking_fini(&asking);
    asking_init(&asking);
    want_json(&asking, "{\"type\":\"object\",\"properties\":{\"advice\":{\"type\":\"string\"},"
                       "\"is_completed\":{\"type\":\"boolean\"}}}");
    snprintf(prompt, sizeof prompt, "<subtask>%s</subtask>\n<results>%s</results>\n<answer>%s</answer>",
             rows[index].question.bytes, found, answer);
    user_says(&asking, prompt);
    cJSON *root = cJSON_Parse(answer_of(&asking));
    bool completed = cJSON_IsTrue(cJSON_GetObjectItem(root, "is_completed"));
    cJSON_Delete(root);
    asking_fini(&asking);
    return completed;
}

static void good_answers_are_judged_complete_and_others_not(void **state)
{
    size_t good = 0, bad = 0;
    for (size_t i = 0; i < row_count; i++) {
        bool with = is_completed(i, ROWS_MAX), without = is_completed(i, i);
        good += with;
        bad += without;
        if (getenv("RENGA_TEST_PRINT") && (!with || without))
            printf("%d %d %.*s\n", with, without, (int)rows[i].question.length, rows[i].question.bytes);
    }
    printf("%zu of %zu complete where they can be, %zu where they cannot\n", good, row_count, bad);
    assert_true(good >= 42);
    assert_true(bad <= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answered_and_unanswered_questions_are_told_apart),
        cmocka_unit_test(good_answers_are_judged_complete_and_others_not),
    };
    read_rows();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
