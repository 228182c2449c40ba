/* English words that count as one term of the evidence. */
#include "words/alike.h"

#include "base/arena.h"
#include "words/evidence.h"
#include "words/selection.h"
#include "words/stem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint64_t hash_of(const char *word)
{
    char stem[64];
    size_t length = strlen(word);
    memcpy(stem, word, length + 1);
    return term_hash(stem, stem_english(stem, length));
}

/* A stem in two rows would join one row with half of the other. */
static void each_stem_stands_in_one_row(void **state)
{
    uint64_t stems[2048];
    size_t count = 0;
    for (size_t row = 0; alike_rows[row]; row++) {
        char words[192], *rest = words;
        size_t first = count;
        assert_true(strlen(alike_rows[row]) < sizeof words);
        memcpy(words, alike_rows[row], strlen(alike_rows[row]) + 1);
        for (char *word; (word = strsep(&rest, " "));) {
            char *told = strchr(word, '=');
            if (told)
                *told++ = '\0';
            uint64_t stem = hash_of(word);
            if (stem != term_hash(told ? told : word, strlen(told ? told : word)))
                fail_msg("\"%s\" of \"%s\" has another stem", word, alike_rows[row]);
            assert_true(strlen(word) > 1 && count < sizeof stems / sizeof *stems / 2);
            for (size_t i = 0; i < count; i++)
                if (stems[i] == stem)
                    fail_msg("\"%s\" of \"%s\" stands there twice, or in another row", word, alike_rows[row]);
            stems[count++] = stem;
            assert_int_equal(alike_hash(stem), stems[first]);
        }
        assert_true(count - first >= 2);
    }
}

static void other_words_keep_their_hash(void **state)
{
    const char *const words[] = {"mural", "wikipedia", "filmmaker", "buy-in", "42"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_int_equal(alike_hash(hash_of(words[i])), hash_of(words[i]));
}

/* The best sentence for a question. */
static void selects(const char *text, const char *question, const char *wanted)
{
    struct arena arena;
    struct selection selection;
    struct passage passage = {.text = text, .length = strlen(text), .score = 0.5};
    arena_init(&arena, NULL, 0, 1 << 20);
    struct evidence *evidence = evidence_create(&arena, &passage, 1);
    assert_true(evidence && selection_rank(evidence, question, strlen(question), &selection));
    assert_true(selection.count > 0);
    const struct span *span = &selection.list[0].chosen.span;
    char found[256];
    snprintf(found, sizeof found, "%.*s", (int)(span->end - span->begin), text + span->begin);
    assert_string_equal(found, wanted);
    arena_fini(&arena);
}

static void a_question_in_other_words_finds_its_sentence(void **state)
{
    const char *prize = "The longest book of 2012 is Gold by Ann Moore. The longest film of 2012 is Iron by Eve Brown.";
    selects(prize, "Who made the longest movie of 2012?", "The longest film of 2012 is Iron by Eve Brown.");
    const char *club = "The club was renamed by miners in 1990. The club was established by miners in 1904.";
    selects(club, "When was the club founded by miners?", "The club was established by miners in 1904.");
    const char *farms = "Merchants from Bern own two farms. Japanese merchants own nine farms.";
    selects(farms, "How many farms are owned by merchants from Japan?", "Japanese merchants own nine farms.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stem_stands_in_one_row),
        cmocka_unit_test(other_words_keep_their_hash),
        cmocka_unit_test(a_question_in_other_words_finds_its_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
