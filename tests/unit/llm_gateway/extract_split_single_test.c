/* Questions with one answer stay whole: those of tests/bench/quality_data, and those of data/whole_questions.txt. */
#include "extractive/extract.h"

#include "words/words.h"
#include "json/json.h"

#include <stdio.h>

#include "unit.h"

#define MEMORY_MAX  ((size_t)1 << 20)
#define SPLIT_MOST  0.005 /* of the questions */
#define ASKED_LEAST 600

struct tally {
    size_t asked, split;
};

static void ask(const char *question, struct tally *tally)
{
    struct text parts[EXTRACT_PARTS_MAX];
    struct arena arena;
    size_t length = strlen(question);
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    bool japanese = strcmp(words_language(question, length), "ja") == 0;
    size_t count = extract_split(&arena, (struct text){question, length}, japanese, 8, parts);
    tally->asked++;
    tally->split += count > 1;
    if (count > 1)
        print_message("split: %s → %.*s\n", question, (int)parts[1].length, parts[1].bytes);
    arena_fini(&arena);
}

/* Some questions of the data ask twice on purpose. */
static bool asks_twice(const char *question)
{
    static const char *const signs[] = {", and ", "and when", "and how", "か?い", "は?何", "か。", NULL};
    for (size_t i = 0; signs[i]; i++)
        if (strstr(question, signs[i]))
            return true;
    return false;
}

static void ask_lines(const char *path, bool json, struct tally *tally)
{
    static char line[65536];
    struct status st = {0};
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        cJSON *object = json ? json_parse(line, strlen(line), NULL, &st) : NULL;
        const char *question = json ? cJSON_GetStringValue(cJSON_GetObjectItem(object, "question")) : line;
        assert_non_null(question);
        if (!json || !asks_twice(question))
            ask(question, tally);
        cJSON_Delete(object);
    }
    fclose(file);
}

static void single_questions_stay_whole(void **state)
{
    struct tally tally = {0};
    ask_lines(QUALITY "/xyz.jsonl", true, &tally);
    ask_lines(QUALITY "/debian.jsonl", true, &tally);
    ask_lines(QUALITY "/questions.jsonl", true, &tally);
    ask_lines(WHOLE_QUESTIONS, false, &tally);
    print_message("%zu of %zu single questions are split\n", tally.split, tally.asked);
    assert_true(tally.asked >= ASKED_LEAST);
    assert_true((double)tally.split <= SPLIT_MOST * (double)tally.asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(single_questions_stay_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
