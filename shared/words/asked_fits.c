/* Rates a sentence: whether it offers an answer of the asked type that is not in the question. */
#include "words/asked_fits_priv.h"
#include "words/latin.h"
#include "words/words.h"

#include <string.h>
#include <unicode/uchar.h>

/* ---- words of the question --------------------------------------------------------------------------------------- */

#define LATIN_LAST  0x17F /* the last letter of Latin Extended-A */
#define STEMMED_MAX 40    /* bytes of a word that is stemmed */

static uint32_t asked_hash_add(uint32_t hash, uint32_t code)
{
    return (hash ^ code) * 16777619U;
}

static enum latin_language asked_latin_language(const struct asked *asked)
{
    static const char codes[LATIN_LANGUAGES][3] = {
        [LATIN_GERMAN] = "de", [LATIN_FRENCH] = "fr", [LATIN_SPANISH] = "es"};
    for (int i = LATIN_GERMAN; i < LATIN_LANGUAGES; i++)
        if (strcmp(asked->language, codes[i]) == 0)
            return (enum latin_language)i;
    return LATIN_ENGLISH;
}

/* Words in Latin letters count by their stem in the language of the question: "died" is "die", "Häuser" is "Haus".
 * English has no letters beyond ASCII. */
static uint32_t asked_hash(enum latin_language language, const struct asked_letters *letters, size_t begin, size_t end)
{
    uint32_t hash = 2166136261U, most = language == LATIN_ENGLISH ? 'z' : LATIN_LAST;
    char word[STEMMED_MAX + 5];
    size_t length = 0, at = begin;
    for (; at < end && length < STEMMED_MAX && letters->at[at].code >= 'a' && letters->at[at].code <= most; at++)
        length += utf8_write(word + length, letters->at[at].code);
    bool stems = length > 2 && at == end;
    word[length] = '\0';
    length = stems ? latin_stem(language, word, length) : 0;
    for (size_t i = 0; i < length; i++)
        hash = asked_hash_add(hash, (unsigned char)word[i]);
    for (size_t i = begin; !stems && i < end; i++)
        hash = asked_hash_add(hash, letters->at[i].code);
    return (hash ^ hash >> 15) & (ASKED_SEEN_BITS - 1);
}

static bool asked_was_seen(const struct asked_seen *seen, uint32_t hash)
{
    return seen->bits[hash / 64] >> (hash % 64) & 1;
}

bool asked_question_has(const struct asked_rated *rated, size_t begin, size_t end)
{
    return asked_was_seen(&rated->seen, asked_hash(rated->spoken, rated->sentence, begin, end));
}

static bool asked_fits_is_word(enum script script)
{
    return script == SCRIPT_LETTER || script == SCRIPT_DIGIT;
}

/* The end of the run that begins at `at`; Latin letters and digits are one run. */
static size_t asked_run_end(const struct asked_letters *letters, size_t at)
{
    enum script script = script_of(letters->at[at].code);
    size_t end = at + 1;
    for (; end < letters->count; end++) {
        uint32_t code = letters->at[end].code;
        enum script next = script_of(code);
        bool joins = script == SCRIPT_DIGIT && (code == ',' || code == '.') &&
                     script_of(letters->at[end + 1].code) == SCRIPT_DIGIT;
        bool dot = script == SCRIPT_KATAKANA && code == 0x30FB;
        if (next != script && !joins && !dot && !(code == 0x30FC && script == SCRIPT_KATAKANA))
            break;
    }
    return end;
}

static void asked_see(enum latin_language spoken, struct asked_seen *seen, const struct asked_letters *letters)
{
    memset(seen, 0, sizeof(*seen));
    for (size_t at = 0; at < letters->count;) {
        enum script script = script_of(letters->at[at].code);
        size_t end = asked_run_end(letters, at);
        uint32_t whole = asked_hash(spoken, letters, at, end);
        if (script != SCRIPT_NONE && script != SCRIPT_SPACE)
            seen->bits[whole / 64] |= UINT64_C(1) << (whole % 64);
        for (size_t i = at; script >= SCRIPT_HAN && i + 1 < end; i++) {
            uint32_t pair = asked_hash(spoken, letters, i, i + 2);
            seen->bits[pair / 64] |= UINT64_C(1) << (pair % 64);
        }
        at = end;
    }
}

/* A Han or Katakana run is fresh if most of its pairs are: 大阪大学 besides 大学. */
static bool asked_run_is_fresh(const struct asked_rated *rated, const struct asked_run *run)
{
    const struct asked_letters *letters = rated->sentence;
    if (asked_was_seen(&rated->seen, asked_hash(rated->spoken, letters, run->begin, run->end)))
        return false;
    if (asked_fits_is_word(run->script))
        return true;
    size_t fresh = 0, pairs = 0;
    for (size_t i = run->begin; i + 1 < run->end; i++, pairs++)
        fresh += !asked_was_seen(&rated->seen, asked_hash(rated->spoken, letters, i, i + 2));
    return pairs == 0 || fresh * 2 >= pairs;
}

bool asked_run_next(const struct asked_rated *rated, size_t *at, struct asked_run *run)
{
    const struct asked_letters *letters = rated->sentence;
    while (*at < letters->count) {
        size_t begin = *at;
        enum script script = script_of(letters->at[begin].code);
        *at = asked_run_end(letters, begin);
        if (script == SCRIPT_NONE || script == SCRIPT_SPACE)
            continue;
        size_t end;
        uint32_t first = utf8_read(letters->text, letters->at[begin].end, letters->at[begin].begin, &end);
        *run = (struct asked_run){.begin = begin, .end = *at, .script = script, .capital = u_isupper((UChar32)first)};
        run->fresh = asked_run_is_fresh(rated, run);
        return true;
    }
    return false;
}

/* ---- words of the question near a candidate ---------------------------------------------------------------------- */

#define NEAR_HAN          30 /* letters on each side */
#define NEAR_LATIN        80
#define ALONE             0.6 /* of its value that a candidate has without such words */
#define FUNCTION_WORD_MAX 15  /* letters */
#define NEAR_ENOUGH       6   /* a pair of Japanese characters counts 1, a Latin word 2 */

bool asked_is_function_word(const struct asked_rated *rated, const struct asked_run *run)
{
    const struct asked_letters *letters = rated->sentence;
    struct run_character word[FUNCTION_WORD_MAX];
    char bytes[4 * FUNCTION_WORD_MAX];
    size_t count = run->end - run->begin, length = 0;
    if (count > FUNCTION_WORD_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        word[i].code = letters->at[run->begin + i].code;
        length += utf8_write(bytes + length, word[i].code);
    }
    return rated->spoken == LATIN_ENGLISH ? words_function_word(bytes, length)
                                          : latin_function_word(rated->spoken, word, (unsigned)count);
}

static bool asked_is_common(const struct asked_rated *rated, const struct asked_run *run)
{
    return run->end - run->begin < 3 || asked_is_function_word(rated, run);
}

double asked_nearness(const struct asked_rated *rated, size_t begin, size_t end)
{
    size_t reach = rated->latin ? NEAR_LATIN : NEAR_HAN;
    size_t from = begin > reach ? begin - reach : 0;
    size_t to = end + reach < rated->sentence->count ? end + reach : rated->sentence->count;
    double hits = rated->hits[to] - rated->hits[from];
    return ALONE + (1 - ALONE) * (hits >= NEAR_ENOUGH ? 1 : hits / NEAR_ENOUGH);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static double asked_rate(const struct asked_rated *rated)
{
    switch (rated->asked->type) {
    case ASKED_QUANTITY:
    case ASKED_DURATION:
    case ASKED_DATE:
        return asked_rate_numbers(rated);
    case ASKED_PERSON:
    case ASKED_PLACE:
    case ASKED_NAME:
        return asked_rate_names(rated);
    case ASKED_ANYTHING:
        return 0.5;
    case ASKED_YES_NO:
        return rated->asked->language[0] == 'j' ? asked_rate_whether(rated) : 0.5;
    default:
        return asked_rate_markers(rated) * asked_nearness(rated, 0, rated->sentence->count);
    }
}

static struct asked_part asked_letters_of(const struct asked_letters *letters, struct span span)
{
    struct asked_part part = {0, 0};
    while (part.begin < letters->count && letters->at[part.begin].begin < span.begin)
        part.begin++;
    for (part.end = part.begin; part.end < letters->count && letters->at[part.end].end <= span.end;)
        part.end++;
    return part;
}

struct asked_fit asked_fits(const struct asked *asked, const char *question, size_t question_length,
                            const char *sentence, size_t length)
{
    struct asked_letters of_question, of_sentence;
    struct asked_rated rated; /* large: each part is set below */
    rated.asked = asked;
    rated.question = &of_question;
    rated.sentence = &of_sentence;
    asked_letters_read(question, asked_skipped(question, question_length), question_length, &of_question);
    asked_letters_read(sentence, 0, length < SENTENCE_MAX ? length : SENTENCE_MAX, &of_sentence);
    rated.counter = asked_letters_of(&of_question, asked->counter);
    rated.focus = asked_letters_of(&of_question, asked->focus);
    rated.subject = asked_letters_of(&of_question, asked->subject);
    rated.spoken = asked_latin_language(asked);
    asked_see(rated.spoken, &rated.seen, &of_question);
    rated.latin = of_question.count > 0 && asked->language[0] != 'j' && asked->language[0] != 'z';
    struct asked_run run;
    uint16_t count = 0;
    size_t done = 0;
    for (size_t at = 0; asked_run_next(&rated, &at, &run);) {
        while (done <= run.begin)
            rated.hits[done++] = count;
        if (asked_fits_is_word(run.script))
            count += !run.fresh && !asked_is_common(&rated, &run) ? 2 : 0;
        for (size_t i = run.begin; run.script >= SCRIPT_HAN && run.script != SCRIPT_HIRAGANA && i + 1 < run.end; i++) {
            count += asked_was_seen(&rated.seen, asked_hash(rated.spoken, rated.sentence, i, i + 2));
            rated.hits[done++] = count;
        }
    }
    while (done <= rated.sentence->count)
        rated.hits[done++] = count;
    double fits = asked_rate(&rated);
    return (struct asked_fit){.type = fits < 0   ? 0
                                      : fits > 1 ? 1
                                                 : fits,
                              .identifier = asked_wants_identifier(&rated) ? asked_rate_identifiers(&rated) : 0.5};
}
