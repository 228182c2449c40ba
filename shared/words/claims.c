#include "words/claims.h"

#include "words/claims_priv.h"
#include "words/evidence.h"
#include "words/figures.h"
#include "words/sentences_priv.h"
#include "words/words.h"

#include <string.h>
#include <unicode/uchar.h>

#define WORD_MAX     ((size_t)32)
#define NAME_MAX_HAN 16 /* characters of a name with an ending */
#define PLACES_MOST  64 /* names with an ending in a sentence; with more of them, the sentence agrees with no quote */
#define NUMBERS_MAX  64 /* of a sentence */
#define WORD_LEAST   2  /* letters of a capitalised word that is a name */

/* ---- the terms of the quote -------------------------------------------------------------------------------------- */

static uint64_t *claim_slot(struct claim_terms *terms, uint64_t hash)
{
    size_t at = hash & (CLAIM_SLOTS - 1);
    while (terms->slots[at] && terms->slots[at] != hash)
        at = (at + 1) & (CLAIM_SLOTS - 1);
    return &terms->slots[at];
}

bool claim_terms_add(struct claim_terms *terms, struct claim text)
{
    struct term_reader reader;
    struct term term;
    terms_begin(&reader, text.text, text.length);
    while (terms_next(&reader, &term)) {
        uint64_t hash = term_hash(term.text, term.length), *slot = claim_slot(terms, hash);
        if (!*slot && terms->count++ == CLAIMS_TERMS_MAX)
            return false;
        *slot = hash;
    }
    return true;
}

bool claim_terms_have(struct claim_terms *terms, const char *text, size_t length)
{
    return *claim_slot(terms, term_hash(text, length)) != 0;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Adverbs and similar words that open a sentence and are not names. Sorted. */
static const char *const openers[] = {
    "accordingly",  "additionally", "afterwards",   "alternatively", "besides",    "briefly",     "by",
    "consequently", "conversely",   "currently",    "each",          "every",      "finally",     "first",
    "firstly",      "furthermore",  "generally",    "hence",         "however",    "importantly", "indeed",
    "initially",    "instead",      "lastly",       "likewise",      "many",       "meanwhile",   "moreover",
    "most",         "nevertheless", "nonetheless",  "notably",       "once",       "otherwise",   "overall",
    "rather",       "second",       "secondly",     "several",       "similarly",  "since",       "some",
    "specifically", "still",        "subsequently", "then",          "thereafter", "therefore",   "third",
    "thirdly",      "thus",         "together",     "typically",     "ultimately", "under",       "usually",
};

static bool claim_is_opener(const char *word, size_t length)
{
    char small[WORD_MAX];
    if (length >= WORD_MAX)
        return false;
    for (size_t i = 0; i < length; i++)
        small[i] = (char)(word[i] | 0x20);
    if (words_function_word(small, length))
        return true;
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++)
        if (strlen(openers[i]) == length && memcmp(openers[i], small, length) == 0)
            return true;
    return false;
}

static bool claim_is_capitalised(const char *text, size_t length)
{
    size_t end;
    return u_isupper((UChar32)utf8_read(text, length, 0, &end));
}

/* True for config.yaml, evil.example and user@host; false for e.g. */
static bool claim_is_address(const struct term *term)
{
    size_t longest = 0, part = 0;
    bool joined = false;
    for (size_t i = 0; i < term->length; i++) {
        bool joint = strchr(".@_", term->text[i]);
        joined |= joint;
        part = joint ? 0 : part + 1;
        longest = part > longest ? part : longest;
    }
    return joined && longest >= WORD_LEAST;
}

static bool claim_is_name(struct claim sentence, const struct term *term, bool first)
{
    const char *word = sentence.text + term->begin;
    size_t length = term->end - term->begin;
    if (figure_is_unit(term->text, term->length) || figure_is_unit(word, length))
        return false; /* compared with its number */
    if (term->kind == TERM_KATAKANA || (term->kind == TERM_IDENTIFIER && claim_is_address(term)))
        return true;
    return term->kind == TERM_WORD && !term->stop_word && length >= WORD_LEAST && claim_is_capitalised(word, length) &&
           !(first && claim_is_opener(word, length));
}

static bool claim_has_names(struct claim_terms *terms, struct claim sentence)
{
    struct term_reader reader;
    struct term term;
    bool first = true;
    terms_begin(&reader, sentence.text, sentence.length);
    while (terms_next(&reader, &term)) {
        if (claim_is_name(sentence, &term, first) && !*claim_slot(terms, term_hash(term.text, term.length)))
            return false;
        first &= term.kind == TERM_NUMBER;
    }
    return true;
}

/* Endings of Japanese names. */
static const char *const endings[] = {"株式会社", "研究所", "委員会", "大学", "銀行", "協会", "省", "庁", "社",
                                      "市",       "県",     "都",     "府",   "区",   "町",   "村", "氏"};

bool claims_end_as_name(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending + 3 && memcmp(text + length - ending, endings[i], ending) == 0)
            return true;
    }
    return false;
}

static bool claim_stands_in(struct claim where, const char *text, size_t length)
{
    return where.length >= length && memmem(where.text, where.length, text, length);
}

/* Whether each run of Han characters with an ending of names is in the quote or the heading. */
static bool claim_has_places(struct claim sentence, struct claim quote, struct claim heading)
{
    size_t begin = 0, characters = 0, looked = 0, end;
    for (size_t at = 0; at <= sentence.length; at = end) {
        uint32_t code = at < sentence.length ? utf8_read(sentence.text, sentence.length, at, &end) : 0;
        if (at == sentence.length)
            end = at + 1;
        if (script_of(code) == SCRIPT_HAN && code) {
            begin = characters++ ? begin : at;
            continue;
        }
        const char *run = sentence.text + begin;
        bool place = characters > 1 && characters <= NAME_MAX_HAN && claims_end_as_name(run, at - begin);
        if (place && (looked++ == PLACES_MOST ||
                      (!claim_stands_in(quote, run, at - begin) && !claim_stands_in(heading, run, at - begin))))
            return false;
        characters = 0;
    }
    return true;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Skips the mark of a list item, which is not part of the statement. */
static struct claim claim_past_mark(struct claim sentence)
{
    size_t at = skip_space(sentence.text, sentence.length, line_mark(sentence.text, sentence.length, 0));
    struct marker marker = marker_read(sentence.text, sentence.length, at);
    at = marker.kind && marker.kind != 'l' ? skip_space(sentence.text, sentence.length, marker.end) : at;
    return (struct claim){sentence.text + at, sentence.length - at};
}

/* A text's match of a number: no match, its value with another unit, or both. */
enum claim_has { CLAIM_LACKS, CLAIM_HAS_VALUE, CLAIM_HAS_NUMBER };

static enum claim_has claim_has_figure(const struct figures *where, const struct figure *said)
{
    enum claim_has has = CLAIM_LACKS;
    for (size_t i = 0; has != CLAIM_HAS_NUMBER && i < where->count; i++)
        if (figure_same_value(said, &where->list[i]))
            has = figure_same_unit(said, &where->list[i]) ? CLAIM_HAS_NUMBER : CLAIM_HAS_VALUE;
    return has;
}

/* Whether each number in digits of the sentence is in the quote or its heading, in digits or in words; `units`: with
 * the same unit. */
static bool claim_has_figures(struct claim sentence, struct claim quote, struct claim heading, bool units)
{
    struct figures said, quoted, above;
    sentence = claim_past_mark(sentence);
    figures_read(sentence.text, sentence.length, &said);
    if (!said.count)
        return true;
    figures_read(quote.text, quote.length, &quoted);
    figures_read(heading.text, heading.length, &above);
    for (size_t i = 0; i < said.count && i < NUMBERS_MAX; i++) {
        const struct figure *figure = &said.list[i];
        enum claim_has has = claim_has_figure(&quoted, figure);
        if (has == CLAIM_HAS_NUMBER || (has == CLAIM_HAS_VALUE && !units) ||
            claim_has_figure(&above, figure) >= (units ? CLAIM_HAS_NUMBER : CLAIM_HAS_VALUE))
            continue;
        if (has == CLAIM_HAS_VALUE || !claims_numerals_have(quote, heading, figure))
            return false;
    }
    return true;
}

double claim_share_of(struct claim_terms *terms, struct claim sentence)
{
    struct term_reader reader;
    struct term term;
    size_t all = 0, known = 0;
    terms_begin(&reader, sentence.text, sentence.length);
    while (terms_next(&reader, &term)) {
        if (term.stop_word || term.kind == TERM_NUMBER || term.kind == TERM_IDENTIFIER)
            continue;
        all++;
        known += *claim_slot(terms, term_hash(term.text, term.length)) != 0;
    }
    return all ? (double)known / (double)all : 0;
}

bool claims_figures_agree(struct claim sentence, struct claim quote, struct claim heading)
{
    return claim_has_figures(sentence, quote, heading, true);
}

bool claims_numbers_stand(struct claim sentence, struct claim quoted, struct claim heading)
{
    return claim_has_figures(sentence, quoted, heading, false);
}

/* If the sentence is nearly equal to a sentence of a longer quote, its numbers must be in that sentence or the
 * heading, not in the sentences next to it. */
static bool claim_numbers_are_of_one(struct claim sentence, struct claim quote, struct claim heading)
{
    struct sentence_reader reader;
    struct span span;
    sentences_begin(&reader, quote.text, quote.length);
    for (int looked = 0; looked < QUOTED_MOST && sentences_next(&reader, &span); looked++) {
        struct claim one = {quote.text + span.begin, span.end - span.begin};
        struct claim_terms terms = {.count = 0};
        if (one.length < quote.length && claim_terms_add(&terms, one) &&
            claim_share_of(&terms, sentence) >= SAME_SHARE && !claims_numbers_stand(sentence, one, heading))
            return false;
    }
    return true;
}

bool claims_agree(struct claim sentence, struct claim quote, struct claim heading)
{
    struct claim_terms terms = {.count = 0};
    return claims_denial_agrees(sentence, quote) && claims_opposites_agree(sentence, quote) &&
           claims_numerals_agree(sentence, quote, heading) && claims_order_agrees(sentence, quote) &&
           claim_has_figures(sentence, quote, heading, true) && claim_numbers_are_of_one(sentence, quote, heading) &&
           claims_pairs_agree(sentence, quote) && claim_has_places(sentence, quote, heading) &&
           claim_terms_add(&terms, quote) && claim_terms_add(&terms, heading) && claim_has_names(&terms, sentence);
}
