/* Words of a question that differ by one letter from a word of the passages. */
#include "extractive/extract.h"

#include "unit.h"

static char passage[] =
    "Messages that are too big are refused. A flight is booked early. Write to Marion at price 7. "
    "A job is stopped after two hours. The daily allowance within the country is 7. The hotel is far. "
    "Each department keeps its own folder. The tariff is a secret. "
    "バックアップは30日間保存されます。データベースの復元。ドイツ";

static void becomes(const char *question, const char *wanted)
{
    struct passage passages[] = {{.text = passage, .length = sizeof passage - 1}};
    struct arena arena;
    arena_init(&arena, NULL, 0, (size_t)1 << 20);
    struct text found = extract_spelled(&arena, passages, 1, (struct text){question, strlen(question)});
    assert_int_equal(found.length, strlen(wanted));
    assert_memory_equal(found.bytes, wanted, found.length);
    arena_fini(&arena);
}

static void stays(const char *question)
{
    becomes(question, question);
}

static void a_slip_of_the_finger_is_mended(void **state)
{
    becomes("What happens to messagges that are too big?", "What happens to Messages that are too big?");
    becomes("Which messaegs are refussed?", "Which Messages are refused?");
    becomes("How early is a fllight booked?", "How early is a flight booked?");
    becomes("Messagges that are too big?", "Messages that are too big?");
    becomes("Which tarriff?", "Which tariff?"); /* long words need no other one */
    becomes("Is the tarriff a secret?", "Is the tariff a secret?");
    becomes("Does each depxrtment keep a folder?", "Does each department keep a folder?");
    becomes("バッアップは何日間保存されますか?", "バックアップは何日間保存されますか?");
    becomes("データベスの復元は?", "データベースの復元は?");
}

static void a_sentence_without_other_words_of_the_question_mends_nothing(void **state)
{
    stays("Is a flixht booked?");            /* one other word, for another letter */
    stays("How far is a flixht from Graz?"); /* none */
    stays("What does a depxrtment cost?");
    stays("Who built the hottel?"); /* a doubled letter of a short word */
}

static void another_word_is_no_slip(void **state)
{
    static const char *const questions[] = {
        "What is the daily allowance within the county?",
        "How far is the hostel?",
        "When is a job shopped after hours?",
        "What is the prize?",
        "Is a massage that is too big refused?",
        "Is there a refusal?",
    };
    for (size_t i = 0; i < COUNT(questions); i++)
        stays(questions[i]);
}

static void names_numbers_code_and_quotes_stay(void **state)
{
    static const char *const questions[] = {
        "Who is Mariion?",
        "Is the Messagges job too big to be refused?",
        "Is a message refused?",
        "Which flights are booked?",
        "See flight7_a and messagess.example",
        "Is `messagges` too big, and refused?",
        "Is \"too big messagges\" refused?",
        "Is „too big messagges“ refused?",
        "Are messaggesToBig too big, and refused?",
        "Are --messagges too big, and refused?",
        "「データベスの復元」とは?",
        "ドイルは誰?",
    };
    for (size_t i = 0; i < COUNT(questions); i++)
        stays(questions[i]);
}

static void two_words_that_are_as_near_are_not_chosen_between(void **state)
{
    static char both[] = "The formatted disk is full today. The formatter of a disk is full today.";
    struct passage passages[] = {{.text = both, .length = sizeof both - 1}};
    static const char question[] = "Which formattex disk is full today?";
    struct arena arena;
    arena_init(&arena, NULL, 0, (size_t)1 << 20);
    struct text found = extract_spelled(&arena, passages, 1, (struct text){question, strlen(question)});
    assert_int_equal(found.length, strlen(question));
    assert_memory_equal(found.bytes, question, found.length);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_of_the_finger_is_mended),
        cmocka_unit_test(a_sentence_without_other_words_of_the_question_mends_nothing),
        cmocka_unit_test(another_word_is_no_slip),
        cmocka_unit_test(names_numbers_code_and_quotes_stay),
        cmocka_unit_test(two_words_that_are_as_near_are_not_chosen_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
