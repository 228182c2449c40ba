#include "words/claims.h"

#include "words/evidence.h"
#include "words/sentences.h"
#include "words/words.h"

#include <string.h>
#include <unicode/uchar.h>

#define CLAIM_SLOTS  4096 /* a power of 2, more than CLAIMS_TERMS_MAX */
#define WORD_MAX     ((size_t)32)
#define NAME_MAX_HAN 16   /* characters of a name with an ending */
#define LETTERS_MAX  8192 /* of a quote or a sentence that are looked at for numbers */
#define DIGITS_MAX   32
#define UNIT_MAX     4    /* bytes of what is counted: "days" and "day" are the same */
#define QUOTED_MOST  3    /* sentences of a quote, as support.h gives it */
#define PLACES_MOST  64   /* names with an ending in a sentence; one with more agrees with no quote */
#define SAME_SHARE   0.75 /* of a sentence's terms, numbers left out: it says what that sentence of the quote says */
#define NUMBERS_MAX  64   /* of a sentence */
#define SHORT_QUOTE  1.5  /* a quote of at most so many times the sentence's length says little else */
#define WORD_LEAST   2    /* letters of a capitalised word that is a name */

/* ---- the terms of the quote -------------------------------------------------------------------------------------- */

struct claim_terms {
    uint64_t slots[CLAIM_SLOTS]; /* 0: free */
    size_t count;
};

static uint64_t *claim_slot(struct claim_terms *terms, uint64_t hash)
{
    size_t at = hash & (CLAIM_SLOTS - 1);
    while (terms->slots[at] && terms->slots[at] != hash)
        at = (at + 1) & (CLAIM_SLOTS - 1);
    return &terms->slots[at];
}

static bool claim_terms_add(struct claim_terms *terms, struct claim text)
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

/* Adverbs and the like that open a sentence and name nothing. In their order. */
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

static bool claim_is_name(struct claim sentence, const struct term *term, bool first)
{
    const char *word = sentence.text + term->begin;
    size_t length = term->end - term->begin;
    if (term->kind == TERM_KATAKANA)
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

/* Runs of Han characters that end as names do. */
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

/* ---- denial ------------------------------------------------------------------------------------------------------ */

static bool is_word_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool claim_denies_word(const char *word, size_t length)
{
    static const char *const words[] = {"not", "no", "never", "none", "nor", "neither", "cannot", "without"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], word, length) == 0)
            return true;
    return false;
}

/* The n't of a contraction, with either apostrophe. */
static bool claim_denies_contracted(const char *text, size_t left)
{
    return (left >= 3 && strncasecmp(text, "n't", 3) == 0) ||
           (left >= 5 && strncasecmp(text, "n\xE2\x80\x99t", 5) == 0);
}

static bool claim_denies_english(struct claim text)
{
    for (size_t at = 0, end; at < text.length; at = end) {
        end = at + 1;
        if (!is_word_letter(text.text[at]))
            continue;
        while (end < text.length && is_word_letter(text.text[end]))
            end++;
        if (claim_denies_word(text.text + at, end - at) ||
            claim_denies_contracted(text.text + end - 1, text.length - end + 1))
            return true;
    }
    return false;
}

static bool claim_begins(struct claim text, size_t at, const char *word)
{
    size_t length = strlen(word);
    return text.length - at >= length && memcmp(text.text + at, word, length) == 0;
}

/* しなければならない is no denial: it says that something must be done. 少ない is one word. */
static bool claim_denies_japanese(struct claim text)
{
    bool must = false;
    for (size_t at = 0; at < text.length; at++) {
        must |= claim_begins(text, at, "なければ") || claim_begins(text, at, "なくては");
        bool few = at >= 3 && memcmp(text.text + at - 3, "少", 3) == 0;
        if (few ||
            !(claim_begins(text, at, "ない") || claim_begins(text, at, "ません") || claim_begins(text, at, "なかった")))
            continue;
        if (!must)
            return true;
        must = false;
    }
    return false;
}

static bool claim_denies(struct claim text)
{
    return claim_denies_english(text) || claim_denies_japanese(text);
}

/* A longer quote may deny something else. */
static bool denial_agrees(struct claim sentence, struct claim quote)
{
    bool denies = claim_denies(sentence), denied = claim_denies(quote);
    return denies == denied || (denied && (double)quote.length > SHORT_QUOTE * (double)sentence.length);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

struct letters {
    uint32_t codes[LETTERS_MAX];
    size_t count;
};

/* Digits without the commas that group them. */
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

/* The digits from `at`, and behind them; commas between digits are passed over. */
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

/* What is counted: a few letters of the word behind the number, one Japanese character, a per cent sign. "": neither.
 */
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

/* Whether the quote counts the same with this number somewhere; a number that is not there at all was looked for
 * before, in the quote and its heading. */
static bool counts_same(const struct letters *quote, const char *digits, const char *unit)
{
    char known[DIGITS_MAX], counted[UNIT_MAX + 1];
    bool any = false;
    for (size_t at = 0; at < quote->count; at++) {
        if (!is_digit_code(quote->codes[at]))
            continue;
        at = digits_end(quote, at, known);
        if (strcmp(known, digits) != 0)
            continue;
        claim_unit_read(quote, at, counted);
        if (claim_units_fit(unit, counted))
            return true;
        any = true;
    }
    return !any;
}

/* "20 times" is not carried by "20 days". */
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
        at = digits_end(&said, at, digits);
        claim_unit_read(&said, at, unit);
        looked++;
        if (*unit && !counts_same(&quoted, digits, unit))
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

/* The share of the sentence's strong terms, numbers left out, that the terms have. */
static double claim_share_of(struct claim_terms *terms, struct claim sentence)
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

static bool claim_numbers_stand_in(struct claim sentence, struct claim quoted, struct claim heading)
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

/* A sentence that is almost one of a longer quote has its numbers from that one, not from those beside it. */
static bool claim_numbers_are_of_one(struct claim sentence, struct claim quote, struct claim heading)
{
    struct sentence_reader reader;
    struct span span;
    sentences_begin(&reader, quote.text, quote.length);
    for (int looked = 0; looked < QUOTED_MOST && sentences_next(&reader, &span); looked++) {
        struct claim one = {quote.text + span.begin, span.end - span.begin};
        struct claim_terms terms = {.count = 0};
        if (one.length < quote.length && claim_terms_add(&terms, one) &&
            claim_share_of(&terms, sentence) >= SAME_SHARE && !claim_numbers_stand_in(sentence, one, heading))
            return false;
    }
    return true;
}

bool claims_agree(struct claim sentence, struct claim quote, struct claim heading)
{
    struct claim_terms terms = {.count = 0};
    return denial_agrees(sentence, quote) && numbers_count_same(sentence, quote) &&
           claim_numbers_are_of_one(sentence, quote, heading) && claim_has_places(sentence, quote, heading) &&
           claim_terms_add(&terms, quote) && claim_terms_add(&terms, heading) && claim_has_names(&terms, sentence);
}
