/* Comparisons as people ask them, in Chinese, Korean, German, French, Spanish, English and Japanese:
 * data/comparisons.txt, whose failures are printed, and data/comparisons_blind.txt, of which only totals are. Keep it
 * so: the second set tells how well the rules hold on questions that they were not made with. A line is a language and
 * a question; brackets mark the two items, and a question without brackets has one answer. */
#include "extractive/extract.h"

#include "words/words.h"

#include <stdio.h>

#include "unit.h"

#define MEMORY_MAX   ((size_t)1 << 20)
#define QUESTION_MAX 1024
#define ISOLATE      0.92   /* of the comparisons of each language, English and Japanese excepted */
#define ISOLATE_EN   0.85   /* differences stay whole */
#define ISOLATE_JA   0.85   /* differences (違い) and replacements stay whole */
#define SPLIT_MOST   0.0075 /* of the questions with one answer, of all languages */
#define ASKED_LEAST  30     /* comparisons of each language */

static const char *const tags[] = {"zh", "ko", "de", "fr", "es", "en", "ja", NULL};

struct tally {
    size_t asked[7], isolated[7], single, split;
};

struct comparison {
    char question[QUESTION_MAX], items[2][QUESTION_MAX];
    size_t length, count;
};

static void comparison_read(struct comparison *comparison, const char *line)
{
    size_t item = 0;
    *comparison = (struct comparison){.length = 0};
    for (; *line; line++) {
        if (*line == '[') {
            assert_true(comparison->count < 2);
            item = 0;
            comparison->count++;
        } else if (*line == ']') {
            comparison->items[comparison->count - 1][item] = '\0';
            item = QUESTION_MAX;
        } else {
            comparison->question[comparison->length++] = *line;
            if (comparison->count && item < QUESTION_MAX - 1)
                comparison->items[comparison->count - 1][item++] = *line;
        }
    }
}

/* Whether one part has `name` and not `other`; the case of ASCII letters does not count. */
static bool isolates(const struct text *parts, size_t count, const char *name, const char *other)
{
    for (size_t i = 0; i < count; i++) {
        char part[2 * QUESTION_MAX];
        snprintf(part, sizeof part, "%.*s", (int)parts[i].length, parts[i].bytes);
        if (strcasestr(part, name) && !strcasestr(part, other))
            return true;
    }
    return false;
}

static void ask(const char *line, struct tally *tally, bool shown)
{
    struct comparison comparison;
    struct text parts[EXTRACT_PARTS_MAX];
    struct arena arena;
    size_t language = 0;
    while (tags[language] && strncmp(tags[language], line, 2) != 0)
        language++;
    assert_non_null(tags[language]);
    comparison_read(&comparison, line + 3);
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    bool japanese = strcmp(words_language(comparison.question, comparison.length), "ja") == 0;
    size_t count = extract_split(&arena, (struct text){comparison.question, comparison.length}, japanese, 8, parts);
    bool good = count == 1;
    if (comparison.count) {
        good = isolates(parts, count, comparison.items[0], comparison.items[1]) &&
               isolates(parts, count, comparison.items[1], comparison.items[0]);
        tally->asked[language]++;
        tally->isolated[language] += good;
    } else {
        tally->single++;
        tally->split += !good;
    }
    if (shown && !good)
        print_message("%s → %.*s\n", line, (int)parts[0].length, parts[0].bytes);
    arena_fini(&arena);
}

static void ask_file(const char *path, bool shown, struct tally *tally)
{
    static char line[QUESTION_MAX];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        ask(line, tally, shown);
    }
    fclose(file);
}

static void expect_isolated(const struct tally *tally)
{
    for (size_t i = 0; tags[i]; i++) {
        print_message("%s: %zu of %zu comparisons isolate both items\n", tags[i], tally->isolated[i], tally->asked[i]);
        assert_true(tally->asked[i] >= ASKED_LEAST);
        double least = strcmp(tags[i], "en") == 0 ? ISOLATE_EN : strcmp(tags[i], "ja") == 0 ? ISOLATE_JA : ISOLATE;
        assert_true((double)tally->isolated[i] >= least * (double)tally->asked[i]);
    }
}

static void comparisons_of_every_grammar_isolate_both_items(void **state)
{
    struct tally tally = {.split = 0};
    ask_file(COMPARISONS, true, &tally);
    expect_isolated(&tally);
}

static void comparisons_that_no_rule_was_made_with_isolate_both_items(void **state)
{
    struct tally tally = {.split = 0};
    ask_file(COMPARISONS_BLIND, false, &tally);
    expect_isolated(&tally);
    print_message("%zu of %zu questions with one answer are split\n", tally.split, tally.single);
    assert_true(tally.single >= ASKED_LEAST);
    assert_true((double)tally.split <= SPLIT_MOST * (double)tally.single);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons_of_every_grammar_isolate_both_items),
        cmocka_unit_test(comparisons_that_no_rule_was_made_with_isolate_both_items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
