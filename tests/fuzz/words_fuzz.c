/* libFuzzer on text as words: any bytes. Spans stay inside, terms come in order, the normal form is its own, a quote
 * stands in its passage; what is asked is the text behind the first byte 0. */
#include "words/grounding.h"
#include "words/selection.h"
#include "words/steps.h"
#include "words/support.h"
#include "words/words.h"

#include <string.h>

#include "fuzz.h"

#define MEMORY_MAX ((size_t)64 << 20)

static void read_terms(const char *text, size_t size)
{
    struct term_reader reader;
    struct term term;
    size_t begin = 0;
    terms_begin(&reader, text, size);
    while (terms_next(&reader, &term)) {
        must(term.begin >= begin && term.end > term.begin && term.end <= size && term.length > 0);
        must(strlen(term.text) == term.length && term.length <= 4 * TERM_CHARACTERS_MAX);
        begin = term.begin;
    }
}

static void read_sentences(const char *text, size_t size)
{
    struct sentence_reader reader;
    struct span span;
    size_t last = 0;
    sentences_begin(&reader, text, size);
    while (sentences_next(&reader, &span)) {
        must(span.begin >= last && span.end > span.begin && span.end <= size);
        must(span.end - span.begin <= SENTENCE_MAX);
        last = span.end;
    }
}

static void normalize(const char *text, size_t size)
{
    struct buffer once, twice;
    buffer_init(&once, 64 * size + 16);
    buffer_init(&twice, 64 * size + 16);
    words_normalize(&once, text, size);
    must(!once.failed);
    words_normalize(&twice, buffer_text(&once), once.length);
    must(once.length == twice.length && memcmp(buffer_text(&once), buffer_text(&twice), once.length) == 0);
    buffer_fini(&once);
    buffer_fini(&twice);
}

/* The sentences that answer the question stand in the passages; so do the words of an answer that its source lacks. */
static void answer(struct arena *arena, const struct evidence *evidence, const struct passage *passages,
                   const char *asked, size_t size)
{
    struct picked picked[PICKED_MAX];
    struct grounding grounding;
    const struct claim question = {asked, size}, told = {passages[1].text, passages[1].length};
    struct selection *selection = arena_zalloc(arena, sizeof *selection);
    must(selection && selection_rank(evidence, asked, size, selection));
    const struct selection_terms terms = {.sentences_max = 3, .bytes_max = 2000, .lists = size % 2};
    size_t count = selection_cut(evidence, asked, size, selection, &terms, picked);
    must(count <= PICKED_MAX && (count > 0) == (selection->count > 0));
    for (size_t i = 0; i < count; i++) {
        const struct passage *passage = &passages[picked[i].passage];
        must(picked[i].span.begin < picked[i].span.end && picked[i].span.end <= passage->length);
        must(picked[i].heading.begin <= picked[i].heading.end && picked[i].heading.end <= passage->heading_length);
    }
    must(grounding_judge(evidence, question, told, &grounding));
    must(grounding.found <= grounding.sentences && grounding.other.end <= told.length);
    words_asks_method(asked, size);
    words_has_steps(told.text, told.length);
}

static void support(const char *text, size_t size)
{
    const char *end = memchr(text, 0, size);
    size_t length = end ? (size_t)(end - text) : size, rest = end ? size - length - 1 : 0;
    const char *asked = end ? end + 1 : "";
    const struct passage passages[] = {
        {.text = text, .length = length / 2, .heading = asked, .heading_length = rest / 2},
        {.text = text + length / 2, .length = length - length / 2}};
    const struct choice_terms terms = {.sentences_max = 5, .bytes_max = 4000, .least = 0.3, .novelty = 0.5};
    struct arena arena;
    struct support found;
    struct coverage coverage;
    struct chosen chosen[CHOSEN_MAX];
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    struct evidence *evidence = evidence_create(&arena, passages, 2);
    must(evidence != NULL);
    if (support_find(evidence, asked, rest, SUPPORT_ENOUGH, &found))
        must(found.quote.begin < found.quote.end && found.quote.end <= passages[found.passage].length);
    size_t count = evidence_choose(evidence, asked, rest, &terms, chosen);
    for (size_t i = 0; i < count; i++)
        must(chosen[i].span.end <= passages[chosen[i].passage].length && chosen[i].score <= 1.0001);
    evidence_cover(evidence, evidence, asked, rest, &coverage);
    must(coverage.share >= 0 && coverage.share <= 1.0001 && coverage.best <= coverage.share + 0.0001);
    for (size_t i = 0; i < coverage.missing_count; i++)
        must(coverage.missing[i].end <= rest && coverage.missing[i].begin < coverage.missing[i].end);
    answer(&arena, evidence, passages, asked, rest);
    arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    read_terms(text, size);
    read_sentences(text, size);
    normalize(text, size);
    support(text, size);
    words_language(text, size);
    return 0;
}
