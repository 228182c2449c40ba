#include "words/claims.h"

#include "words/claims_priv.h"
#include "words/evidence.h"
#include "words/sentences.h"
#include "words/words.h"

#include <string.h>
#include <unicode/uchar.h>

#define WORD_MAX     ((size_t)32)
#define NAME_MAX_HAN 16   /* characters of a name with an ending */
#define LETTERS_MAX  8192 /* of a quote or a sentence that are searched for numbers */
#define DIGITS_MAX   32
#define UNIT_MAX     4  /* bytes of a unit: "days" and "day" are the same */
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
    if (term->kind == TERM_KATAKANA || (term->kind == TERM_IDENTIFIER && claim_is_address(term)))
        return true;
    return term->kind == TERM_WORD && !term->weak && length >= WORD_LEAST && claim_is_capitalised(word, length) &&
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

struct letters {
    uint32_t codes[LETTERS_MAX];
    size_t count;
};

/* Reads the characters of a text, as far as LETTERS_MAX. */
static void letters_read(struct claim text, struct letters *letters)
{
    struct fold fold;
    struct folded c;
    letters->count = 0;
    fold_begin(&fold, text.text, text.length);
    while (fold_next(&fold, &c) && letters->count < LETTERS_MAX)
        letters->codes[letters->count++] = c.code;
}

static bool is_digit_code(uint32_t code)
{
    return code >= '0' && code <= '9';
}

static bool is_latin_code(uint32_t code)
{
    return code >= 'a' && code <= 'z';
}

/* Copies the digits from `at` on, without the commas between them; returns the position after them. */
static size_t digits_end(const struct letters *letters, size_t at, char digits[DIGITS_MAX])
{
    size_t count = 0;
    for (; at < letters->count; at++) {
        bool comma = letters->codes[at] == ',' && at + 1 < letters->count && is_digit_code(letters->codes[at + 1]);
        if (!comma && !is_digit_code(letters->codes[at]))
            break;
        if (!comma && count + 1 < DIGITS_MAX)
            digits[count++] = (char)letters->codes[at];
    }
    digits[count] = '\0';
    return at;
}

/* Reads the unit of a number: the first letters of the next word, one Japanese character, or a per cent sign. "": no
 * unit. */
static void claim_unit_read(const struct letters *letters, size_t at, char unit[UNIT_MAX + 1])
{
    char word[WORD_MAX];
    size_t length = 0;
    unit[0] = '\0';
    while (at < letters->count && script_of(letters->codes[at]) == SCRIPT_SPACE)
        at++;
    if (at == letters->count)
        return;
    enum script script = script_of(letters->codes[at]);
    if (script == SCRIPT_HAN || script == SCRIPT_HIRAGANA || script == SCRIPT_KATAKANA || letters->codes[at] == '%') {
        unit[utf8_write(unit, letters->codes[at])] = '\0';
        return;
    }
    for (; at < letters->count && is_latin_code(letters->codes[at]) && length < WORD_MAX; at++)
        word[length++] = (char)letters->codes[at];
    if (!length || words_function_word(word, length))
        return;
    length = length < UNIT_MAX ? length : UNIT_MAX;
    memcpy(unit, word, length);
    unit[length] = '\0';
}

static bool claim_units_fit(const char *one, const char *other)
{
    size_t a = strlen(one), b = strlen(other), least = a < b ? a : b;
    return !least || memcmp(one, other, least) == 0;
}

/* True for "-5", false for "3-5" and "- 5". */
static bool digits_are_negative(const struct letters *letters, size_t at)
{
    return at && letters->codes[at - 1] == '-' && (at == 1 || script_of(letters->codes[at - 2]) == SCRIPT_SPACE);
}

/* Whether the quote has this number with the same unit and sign. Also true if the quote does not have the number: the
 * caller of claims_agree has already searched the quote and its heading for it. */
static bool counts_same(const struct letters *quote, const char *digits, const char *unit, bool negative)
{
    char known[DIGITS_MAX], counted[UNIT_MAX + 1];
    bool any = false;
    for (size_t at = 0; at < quote->count; at++) {
        if (!is_digit_code(quote->codes[at]))
            continue;
        bool below = digits_are_negative(quote, at);
        at = digits_end(quote, at, known);
        if (strcmp(known, digits) != 0)
            continue;
        claim_unit_read(quote, at, counted);
        if (below == negative && (!*unit || claim_units_fit(unit, counted)))
            return true;
        any = true;
    }
    return !any;
}

/* "20 days" does not support "20 times", and "5" does not support "-5". */
static bool numbers_count_same(struct claim sentence, struct claim quote)
{
    struct letters said, quoted;
    char digits[DIGITS_MAX], unit[UNIT_MAX + 1];
    size_t looked = 0;
    letters_read(sentence, &said);
    letters_read(quote, &quoted);
    for (size_t at = 0; at < said.count && looked < NUMBERS_MAX; at++) {
        if (!is_digit_code(said.codes[at]))
            continue;
        bool negative = digits_are_negative(&said, at);
        at = digits_end(&said, at, digits);
        claim_unit_read(&said, at, unit);
        looked++;
        if (!counts_same(&quoted, digits, unit, negative))
            return false;
    }
    return true;
}

static bool claim_has_digits(const struct letters *where, const char *digits)
{
    char known[DIGITS_MAX];
    for (size_t at = 0; at < where->count; at++) {
        if (!is_digit_code(where->codes[at]))
            continue;
        at = digits_end(where, at, known);
        if (strcmp(known, digits) == 0)
            return true;
    }
    return false;
}

double claim_share_of(struct claim_terms *terms, struct claim sentence)
{
    struct term_reader reader;
    struct term term;
    size_t all = 0, known = 0;
    terms_begin(&reader, sentence.text, sentence.length);
    while (terms_next(&reader, &term)) {
        if (term.weak || term.kind == TERM_NUMBER || term.kind == TERM_IDENTIFIER)
            continue;
        all++;
        known += *claim_slot(terms, term_hash(term.text, term.length)) != 0;
    }
    return all ? (double)known / (double)all : 0;
}

bool claims_numbers_stand(struct claim sentence, struct claim quoted, struct claim heading)
{
    struct letters said, there, above;
    char digits[DIGITS_MAX];
    letters_read(sentence, &said);
    letters_read(quoted, &there);
    letters_read(heading, &above);
    for (size_t at = 0, looked = 0; at < said.count && looked < NUMBERS_MAX; at++) {
        if (!is_digit_code(said.codes[at]))
            continue;
        at = digits_end(&said, at, digits);
        looked++;
        if (!claim_has_digits(&there, digits) && !claim_has_digits(&above, digits))
            return false;
    }
    return true;
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
           numbers_count_same(sentence, quote) && claim_numbers_are_of_one(sentence, quote, heading) &&
           claim_has_places(sentence, quote, heading) && claim_terms_add(&terms, quote) &&
           claim_terms_add(&terms, heading) && claim_has_names(&terms, sentence);
}
