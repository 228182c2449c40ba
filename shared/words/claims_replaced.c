/* "The noise rose by 18 decibels" is nearly the sentence "The noise fell by 18 decibels": letter by letter it is the
 * same but for one word. Such a word is a claim of its own, although coverage hardly notices it. Of a sentence and each
 * sentence of its quote, equal beginnings and endings are taken away. If most of the sentence is equal, and both rests
 * have a word that the other text lacks, the word was replaced. A synonym counts as replaced, too. */
#include "words/claims_priv.h"

#include "words/evidence.h"
#include "words/figures.h"
#include "words/fold.h"
#include "words/sentences.h"
#include "words/words.h"

#include <string.h>

#define LETTERS_MOST 1024 /* of a sentence that is compared */
#define UNIT_LETTERS 4
#define RUN_LETTERS  400 /* of texts whose longest equal run is searched */
#define WORD_LETTERS 12  /* of a replaced word */
#define EQUAL_SHARE  0.6 /* of the letters of the sentence that are equal */

struct replaced_text {
    struct claim text;
    struct folded letters[LETTERS_MOST]; /* without white space and marks */
    size_t count;
};

/* False if there are too many letters. */
static bool replaced_read(struct claim text, struct replaced_text *out)
{
    struct fold fold;
    struct folded c;
    out->text = text;
    out->count = 0;
    fold_begin(&fold, text.text, text.length);
    while (fold_next(&fold, &c)) {
        enum script script = script_of(c.code);
        if ((script == SCRIPT_NONE && c.code != '%' && c.code != '-') || script == SCRIPT_SPACE)
            continue;
        if (out->count == LETTERS_MOST)
            return false;
        out->letters[out->count++] = c;
    }
    return true;
}

/* 3 and 万 are one number. */
static bool replaced_multiplies(uint32_t code)
{
    static const uint32_t codes[] = {0x5341, 0x767E, 0x5343, 0x4E07, 0x5104, 0x5146};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

static bool replaced_joins(const struct replaced_text *text, size_t at)
{
    if (!at || at >= text->count)
        return false;
    size_t gap = text->letters[at - 1].end, behind = text->letters[at].begin;
    enum script script = script_of(text->letters[at].code);
    bool comma = behind == gap + 1 && strchr(",.", text->text.text[gap]) && script == SCRIPT_DIGIT;
    uint32_t before = text->letters[at - 1].code, code = text->letters[at].code;
    if (gap == behind && ((script_of(before) == SCRIPT_DIGIT && replaced_multiplies(code)) ||
                          (script == SCRIPT_DIGIT && replaced_multiplies(before))))
        return true;
    return (gap == behind || comma) && script == script_of(before) && script != SCRIPT_HIRAGANA &&
           script != SCRIPT_NONE;
}

/* The text of letters [from, to), widened to whole words. */
static struct claim replaced_words(const struct replaced_text *text, size_t from, size_t to)
{
    if (from && from < to && script_of(text->letters[from - 1].code) == SCRIPT_DIGIT)
        from--; /* a number before its unit */
    while (from < to && replaced_joins(text, from))
        from--;
    while (to > from && replaced_joins(text, to))
        to++;
    if (from >= to)
        return (struct claim){text->text.text, 0};
    return (struct claim){text->text.text + text->letters[from].begin,
                          text->letters[to - 1].end - text->letters[from].begin};
}

/* Whether the rest has a word that the terms lack. Numbers are compared elsewhere. */
static bool replaced_lacks(struct claim rest, struct claim_terms *terms)
{
    struct term_reader reader;
    struct term term;
    terms_begin(&reader, rest.text, rest.length);
    while (terms_next(&reader, &term))
        if (!term.stop_word && term.kind != TERM_NUMBER && term.kind != TERM_IDENTIFIER &&
            !claim_terms_have(terms, term.text, term.length))
            return true;
    return false;
}

/* Whether the rests have the same numbers in another form, or different ones. */
enum replaced_figures { FIGURES_NONE, FIGURES_SAME, FIGURES_OTHER };

static enum replaced_figures replaced_figures(struct claim said, struct claim quoted)
{
    struct figure_letters one, other;
    struct figure mine, theirs;
    size_t at = 0, to = 0;
    enum replaced_figures result = FIGURES_NONE;
    figure_letters_read(said.text, said.length, &one);
    figure_letters_read(quoted.text, quoted.length, &other);
    for (;;) {
        bool more = figure_next(&one, &at, &mine), most = figure_next(&other, &to, &theirs);
        if (!more || !most)
            return more == most ? result : FIGURES_NONE;
        result = !figure_same_value(&mine, &theirs) ? FIGURES_OTHER : result == FIGURES_NONE ? FIGURES_SAME : result;
    }
}

static bool replaced_has_digit(struct claim text)
{
    struct figure_letters letters;
    struct figure figure;
    size_t at = 0;
    figure_letters_read(text.text, text.length, &letters);
    return figure_next(&letters, &at, &figure);
}

/* Whether the rests have different words of a place or a time: まで and から, 前 and 後. */
static bool replaced_particle(struct claim said, struct claim quoted)
{
    static const char *const particles[] = {"まで", "から", "より", "だけ", "前", "後"};
    const char *mine = NULL, *theirs = NULL;
    for (size_t i = 0; i < sizeof particles / sizeof *particles; i++) {
        mine = memmem(said.text, said.length, particles[i], strlen(particles[i])) ? particles[i] : mine;
        theirs = memmem(quoted.text, quoted.length, particles[i], strlen(particles[i])) ? particles[i] : theirs;
    }
    return mine && theirs && mine != theirs;
}

/* `known` has the terms of the quote and its heading, `said` those of the sentence. */
static bool replaced_in(const struct replaced_text *sentence, struct claim quoted, struct claim_terms *known,
                        struct claim_terms *said)
{
    struct replaced_text quote;
    size_t begin = 0, end = 0;
    if (!replaced_read(quoted, &quote))
        return false;
    size_t least = sentence->count < quote.count ? sentence->count : quote.count;
    while (begin < least && sentence->letters[begin].code == quote.letters[begin].code)
        begin++;
    while (end < least - begin &&
           sentence->letters[sentence->count - 1 - end].code == quote.letters[quote.count - 1 - end].code)
        end++;
    if ((double)(begin + end) < EQUAL_SHARE * (double)sentence->count)
        return false;
    struct claim mine = replaced_words(sentence, begin, sentence->count - end);
    struct claim theirs = replaced_words(&quote, begin, quote.count - end);
    size_t unit = end < UNIT_LETTERS ? end : UNIT_LETTERS; /* equal letters, which tell the kind of a number */
    enum replaced_figures figures = replaced_figures(replaced_words(sentence, begin, sentence->count - end + unit),
                                                     replaced_words(&quote, begin, quote.count - end + unit));
    if (!replaced_has_digit(mine) || !replaced_has_digit(theirs))
        figures = FIGURES_NONE;
    if (figures == FIGURES_OTHER || claims_denials(mine) != claims_denials(theirs))
        return true;
    if (!mine.length || !theirs.length)
        return false;
    return !claims_opposites_agree(mine, theirs) || replaced_particle(mine, theirs) ||
           (figures == FIGURES_NONE && replaced_lacks(mine, known) && replaced_lacks(theirs, said));
}

/* The longest run of letters that both texts have. */
struct replaced_run {
    size_t mine, theirs, length;
};

static struct replaced_run replaced_longest(const struct replaced_text *sentence, const struct replaced_text *quote)
{
    uint16_t runs[RUN_LETTERS + 1] = {0};
    struct replaced_run best = {0, 0, 0};
    for (size_t i = 0; i < sentence->count; i++)
        for (size_t k = quote->count; k-- > 0;) { /* downwards: runs[k] is still of the letter before */
            bool same = sentence->letters[i].code == quote->letters[k].code;
            runs[k + 1] = same ? (uint16_t)(runs[k] + 1) : 0;
            if (runs[k + 1] > best.length)
                best = (struct replaced_run){i + 1 - runs[k + 1], k + 1 - runs[k + 1], runs[k + 1]};
        }
    return best;
}

/* Whether both rests have a word that the other text lacks. Numbers and their units are compared elsewhere. */
static bool replaced_is_word(struct claim mine, struct claim theirs, struct claim_terms *known,
                             struct claim_terms *said)
{
    return !replaced_has_digit(mine) && !replaced_has_digit(theirs) && replaced_lacks(mine, known) &&
           replaced_lacks(theirs, said);
}

/* Whether a single word before or behind the longest equal run was replaced. The quote may go on at both ends. */
static bool replaced_beside(const struct replaced_text *sentence, struct claim quoted, struct claim_terms *known,
                            struct claim_terms *said)
{
    struct replaced_text quote = {.count = 0};
    if (sentence->count > RUN_LETTERS || !replaced_read(quoted, &quote) || quote.count > RUN_LETTERS)
        return false;
    struct replaced_run run = replaced_longest(sentence, &quote);
    if ((double)run.length < EQUAL_SHARE * (double)sentence->count)
        return false;
    size_t begin = 0, mine = run.mine + run.length, theirs = run.theirs + run.length;
    while (begin < run.mine && begin < run.theirs && sentence->letters[begin].code == quote.letters[begin].code)
        begin++;
    size_t rest = sentence->count - mine, most = quote.count - theirs < rest + 2 ? quote.count - theirs : rest + 2;
    bool before = begin && run.mine > begin && run.mine - begin <= WORD_LETTERS && run.theirs - begin <= WORD_LETTERS &&
                  replaced_is_word(replaced_words(sentence, begin, run.mine), replaced_words(&quote, begin, run.theirs),
                                   known, said);
    bool behind = rest && rest <= WORD_LETTERS && most &&
                  replaced_is_word(replaced_words(sentence, mine, sentence->count),
                                   replaced_words(&quote, theirs, theirs + most), known, said);
    return before || behind;
}

bool claims_words_stand(struct claim sentence, struct claim quote, struct claim heading)
{
    struct replaced_text text;
    struct claim_terms known = {.count = 0}, said = {.count = 0};
    struct sentence_reader reader;
    struct span span;
    if (!replaced_read(sentence, &text) || !text.count || !claim_terms_add(&known, quote) ||
        !claim_terms_add(&known, heading) || !claim_terms_add(&said, sentence))
        return true;
    sentences_begin(&reader, quote.text, quote.length);
    for (int looked = 0; looked < QUOTED_MOST && sentences_next(&reader, &span); looked++) {
        struct claim one = {quote.text + span.begin, span.end - span.begin};
        if (replaced_in(&text, one, &known, &said) || replaced_beside(&text, one, &known, &said))
            return false;
    }
    return true;
}
