/* Words of a question that differ by one letter from a word of the passages. */
#include "extractive/extract.h"

#include "unit.h"

static char passage[] = "Messages that are too big are refused. A flight is booked early. Write to Marion at price 7. "
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

static void a_slip_of_the_finger_is_mended(void **state)
{
    becomes("What happens to messagges that are too big?", "What happens to Messages that are too big?");
    becomes("Which messaegs are refussed?", "Which Messages are refused?");
    becomes("How early is a fllight booked?", "How early is a flight booked?");
    becomes("Is a flixht booked?", "Is a flixht booked?");
    becomes("バッアップは何日間保存されますか?", "バックアップは何日間保存されますか?");
    becomes("データベスの復元は?", "データベースの復元は?");
}

static void known_words_names_and_numbers_stay(void **state)
{
    static const char *const questions[] = {
        "Who is Mariion?",
        "What is the prize?",
        "Is a message refused?",
        "Which flights are booked?",
        "See flight7_a and messagess.example",
        "ドイルは誰?",
        "Is there a refusal?",
    };
    for (size_t i = 0; i < COUNT(questions); i++)
        becomes(questions[i], questions[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_of_the_finger_is_mended),
        cmocka_unit_test(known_words_names_and_numbers_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
