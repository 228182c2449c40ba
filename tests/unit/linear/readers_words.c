/* shared/words. */
#include "readers.h"

#include "words/answers.h"
#include "words/asked.h"
#include "words/languages.h"
#include "words/no_results.h"
#include "words/quantity.h"
#include "words/selection.h"
#include "words/support.h"
#include "words/words.h"

#include <string.h>

#define SENTENCES_WEIGHED 16

static void words_read_sentences(struct input *in)
{
    struct sentence_reader reader;
    struct span span;
    sentences_begin(&reader, in->text, in->length);
    while (sentences_next(&reader, &span)) {
    }
}

static void words_read_terms(struct input *in)
{
    struct term_reader reader;
    struct term term;
    terms_begin(&reader, in->text, in->length);
    while (terms_next(&reader, &term)) {
    }
}

static void linear_normalize_words(struct input *in)
{
    words_normalize(&in->out, in->text, in->length);
}

static void look_for_numbers(struct input *in)
{
    words_asks_number(in->text, in->length);
    words_has_number(in->text, in->length);
    words_say_no_results(in->text, in->length);
    words_language(in->text, in->length);
    language_of(in->text, in->length);
}

static void words_ask(struct input *in)
{
    struct asked asked;
    asked_read(in->text, in->length, &asked);
    asked_fits(&asked, in->text, in->length, in->text, in->length);
}

/* The truth is the second half of the answer. */
static void words_grade(struct input *in)
{
    const char *truth = in->text + in->length / 2;
    answer_is_right(ANSWER_EXACT, in->text, truth);
    answer_is_right(ANSWER_CONTAINS, in->text, truth);
    answer_is_right(ANSWER_NUMBER, in->text, truth);
}

/* ---- evidence ---------------------------------------------------------------------------------------------------- */

static struct evidence *words_weigh(struct input *in, struct passage *passage, size_t length)
{
    *passage = (struct passage){.text = in->text, .length = length, .heading = in->text, .heading_length = length / 8};
    return evidence_create(&in->arena, passage, 1);
}

/* The question is the text's own beginning and end, so that it has its words. */
static void words_choose(struct input *in)
{
    const struct choice_terms terms = {.sentences_max = 5, .bytes_max = 4000, .least = 0.3, .novelty = 0.5};
    struct chosen chosen[CHOSEN_MAX];
    struct passage passage;
    struct evidence *evidence = words_weigh(in, &passage, in->length);
    if (evidence)
        evidence_choose(evidence, in->text, in->length, &terms, chosen);
}

static void words_select(struct input *in)
{
    const struct selection_terms terms = {.sentences_max = 3, .bytes_max = 4000, .lists = true};
    struct selection *selection = arena_alloc(&in->arena, sizeof *selection);
    struct picked picked[PICKED_MAX];
    struct passage passage;
    struct evidence *evidence = words_weigh(in, &passage, in->length);
    if (evidence && selection && selection_rank(evidence, in->text, in->length, selection))
        selection_cut(evidence, in->text, in->length, selection, &terms, picked);
}

static void words_cover(struct input *in)
{
    struct coverage coverage;
    struct passage passage;
    size_t half = in->length / 2;
    struct evidence *evidence = words_weigh(in, &passage, half);
    if (evidence)
        evidence_cover(evidence, evidence, in->text + half, in->length - half, &coverage);
}

/* Callers weigh a bounded number of sentences; the cost of one has a bound of its own, for any amount of evidence. */
static void find_support(struct input *in)
{
    size_t sentences = 0;
    struct sentence_reader reader;
    struct span span;
    struct support support;
    struct passage passage;
    struct evidence *evidence = words_weigh(in, &passage, in->length);
    sentences_begin(&reader, in->text, in->length);
    while (evidence && sentences++ < SENTENCES_WEIGHED && sentences_next(&reader, &span))
        support_find(evidence, in->text + span.begin, span.end - span.begin, SUPPORT_ENOUGH, &support);
    if (evidence)
        support_find(evidence, in->text, in->length, SUPPORT_ENOUGH, &support);
}

#define WITHIN_BOUNDS ((size_t)8 << 10) /* bytes: the sentence and the text are compared whole */

/* One sentence within the bounds of a comparison letter by letter: beyond them a quadratic cost would not grow. */
static void find_support_within_bounds(struct input *in)
{
    struct support support;
    struct passage passage;
    struct evidence *evidence = words_weigh(in, &passage, in->length);
    if (evidence)
        support_find(evidence, in->text, in->length / 4, SUPPORT_ENOUGH, &support);
}

static const struct generator repeated_letters[] = {
    {"one Han letter", .unit = "漢"},
    {"one Katakana letter", .unit = "ア"},
    {"two Han letters", .unit = "漢字"},
    {.name = NULL},
};

const struct reader readers_words[] = {
    {"sentences", words_read_sentences, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"terms", words_read_terms, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"normal form", linear_normalize_words, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"questions for numbers", look_for_numbers, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"what is asked", words_ask, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"answers that are graded", words_grade, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"choice of sentences", words_choose, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"sentences as answers", words_select, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"coverage", words_cover, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"support", find_support, .sets = HOSTILE_TEXT | HOSTILE_BYTES},
    {"support within bounds", find_support_within_bounds, .own = repeated_letters, .most = WITHIN_BOUNDS},
    {.name = NULL},
};
