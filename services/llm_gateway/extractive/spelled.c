/* Words of a question with a slip of the finger: no passage has them, but a sentence has a word that differs by one
 * letter, and other words of the question beside it. A search has found the passage by that word already
 * (knowledge/rank_near.c). Names, numbers, code and quoted words are never changed.
 *
 * The passages are read twice: for the words that they have, then for the nearest words. A sentence's terms are read
 * once, and only if it has a near word. */
#include "extract.h"

#include "base/hash.h"
#include "words/fold.h"
#include "words/sentences.h"
#include "words/slips.h"
#include "words/words.h"

#include <string.h>
#include <strings.h>

#define SLIPS_MAX      8                   /* words of a question that are looked for */
#define TERMS_MAX      64                  /* of a question */
#define LOOKED_MAX     ((size_t)256 << 10) /* bytes of passages */
#define BESIDE_USUAL   1                   /* other words of the question in the sentence */
#define BESIDE_OTHER   2
#define ALONE_USUAL    7 /* letters of a word that needs no other one beside it */
#define ALL_OTHER      7 /* ... that needs all others, if these are fewer */
#define PROLONGED_SIGN 0x30FC

struct run {
    struct slip_word word;
    size_t begin, end;
};

struct slip {
    struct run run;
    bool known, unclear; /* unclear: two words are equally near */
    struct text other;   /* length 0: none was found */
    size_t beside;       /* other words of the question in its sentence */
};

struct spelled {
    struct text question;
    struct slip slips[SLIPS_MAX];
    size_t slip_count;
    uint64_t terms[TERMS_MAX]; /* hashes of the other words */
    size_t term_count;
};

struct run_reader {
    struct fold fold;
    struct folded ahead;
    bool more;
};

static enum script spelled_script(uint32_t code)
{
    enum script script = code == PROLONGED_SIGN ? SCRIPT_KATAKANA : script_of(code);
    return script == SCRIPT_LETTER || script == SCRIPT_KATAKANA ? script : SCRIPT_NONE;
}

static void runs_begin(struct run_reader *reader, const char *text, size_t length)
{
    fold_begin(&reader->fold, text, length);
    reader->more = fold_next(&reader->fold, &reader->ahead);
}

/* The next run of letters or Katakana; of a long one only the length counts. */
static bool runs_next(struct run_reader *reader, struct run *run)
{
    while (reader->more && spelled_script(reader->ahead.code) == SCRIPT_NONE)
        reader->more = fold_next(&reader->fold, &reader->ahead);
    if (!reader->more)
        return false;
    enum script script = spelled_script(reader->ahead.code);
    *run = (struct run){.word.katakana = script == SCRIPT_KATAKANA, .begin = reader->ahead.begin};
    while (reader->more && spelled_script(reader->ahead.code) == script) {
        if (run->word.length < SLIP_CODES_MAX)
            run->word.codes[run->word.length] = reader->ahead.code;
        run->word.length++;
        run->end = reader->ahead.end;
        reader->more = fold_next(&reader->fold, &reader->ahead);
    }
    return true;
}

/* ---- the question ------------------------------------------------------------------------------------------------ */

static bool spelled_begins(const char *text, size_t length, const char *mark)
{
    size_t size = strlen(mark);
    return length >= size && memcmp(text, mark, size) == 0;
}

/* The mark that closes the quote or the code behind the text between two words; NULL: none is open. */
static const char *spelled_quotes(const char *closing, const char *text, size_t length)
{
    static const char *const marks[][2] = {{"`", "`"},   {"\"", "\""}, {"“", "”"}, {"„", "“"},
                                           {"「", "」"}, {"『", "』"}, {"«", "»"}};
    for (size_t at = 0; at < length; at++) {
        if (closing) {
            closing = spelled_begins(text + at, length - at, closing) ? NULL : closing;
            continue;
        }
        for (size_t i = 0; i < sizeof marks / sizeof *marks && !closing; i++)
            closing = spelled_begins(text + at, length - at, marks[i][0]) ? marks[i][1] : NULL;
    }
    return closing;
}

/* Whether a sentence begins behind the text between two words. */
static bool spelled_begins_sentence(const char *text, size_t begin, size_t end)
{
    while (end > begin && strchr(" \t\r\n", text[end - 1]))
        end--;
    return !end || (end > begin && strchr(".!?", text[end - 1])) ||
           (end >= begin + 3 && memcmp(text + end - 3, "。", 3) == 0);
}

static bool spelled_joins(char c)
{
    return (c >= '0' && c <= '9') || (c && strchr("_-./@:'", c));
}

/* Names are capitalised within a sentence, or within the word. */
static bool spelled_is_name(const char *word, size_t length, bool begins_sentence)
{
    bool capital = *word >= 'A' && *word <= 'Z';
    if (!(capital && begins_sentence) && !(*word >= 'a' && *word <= 'z'))
        return true;
    for (size_t i = 1; i < length; i++)
        if (word[i] >= 'A' && word[i] <= 'Z')
            return true;
    return false;
}

static bool spelled_may_slip(const struct run *run, struct text question, size_t before)
{
    const char *word = question.bytes + run->begin;
    if (!slip_is_possible(&run->word))
        return false;
    if (run->word.katakana)
        return true;
    bool joined = (run->begin && spelled_joins(word[-1])) ||
                  (run->end + 1 < question.length && spelled_joins(question.bytes[run->end]));
    return !joined &&
           !spelled_is_name(word, run->end - run->begin, spelled_begins_sentence(question.bytes, before, run->begin)) &&
           !words_function_word(word, run->end - run->begin);
}

static void spelled_read_question(struct spelled *spelled)
{
    struct run_reader reader;
    struct run run;
    const char *closing = NULL;
    size_t before = 0;
    runs_begin(&reader, spelled->question.bytes, spelled->question.length);
    while (spelled->slip_count < SLIPS_MAX && runs_next(&reader, &run)) {
        before = before < run.begin ? before : run.begin; /* a character may become several words */
        closing = spelled_quotes(closing, spelled->question.bytes + before, run.begin - before);
        if (!closing && spelled_may_slip(&run, spelled->question, before))
            spelled->slips[spelled->slip_count++] = (struct slip){.run = run};
        before = run.end;
    }
}

/* ---- words that the passages have -------------------------------------------------------------------------------- */

/* Whether one of them begins with the other. */
static bool spelled_is_form(const struct slip_word *one, const struct slip_word *other)
{
    size_t least = one->length < other->length ? one->length : other->length;
    return one->katakana == other->katakana && least && one->length <= SLIP_CODES_MAX &&
           other->length <= SLIP_CODES_MAX && memcmp(one->codes, other->codes, least * sizeof *one->codes) == 0;
}

static void spelled_note_known(struct spelled *spelled, const struct slip_word *word)
{
    for (size_t i = 0; i < spelled->slip_count; i++)
        if (!spelled->slips[i].known && word->codes[0] == spelled->slips[i].run.word.codes[0] &&
            word->length + 1 >= spelled->slips[i].run.word.length)
            spelled->slips[i].known = spelled_is_form(&spelled->slips[i].run.word, word);
}

static void spelled_look_for_known(struct spelled *spelled, const struct passage *passages, size_t count)
{
    struct run_reader reader;
    struct run run;
    for (size_t i = 0, looked = 0; i < count && looked < LOOKED_MAX; looked += passages[i++].length) {
        runs_begin(&reader, passages[i].text, passages[i].length);
        while (runs_next(&reader, &run))
            spelled_note_known(spelled, &run.word);
    }
    size_t kept = 0;
    for (size_t i = 0; i < spelled->slip_count; i++)
        if (!spelled->slips[i].known)
            spelled->slips[kept++] = spelled->slips[i];
    spelled->slip_count = kept;
}

/* ---- sentences with a near word ---------------------------------------------------------------------------------- */

/* The terms of the question. Katakana slips have pairs that the near words have too: they are left out. */
static void spelled_read_terms(struct spelled *spelled)
{
    struct term_reader reader;
    struct term term;
    terms_begin(&reader, spelled->question.bytes, spelled->question.length);
    while (spelled->term_count < TERMS_MAX && terms_next(&reader, &term)) {
        bool left_out = term.stop_word;
        for (size_t i = 0; i < spelled->slip_count; i++)
            left_out |= spelled->slips[i].run.word.katakana && term.begin < spelled->slips[i].run.end &&
                        term.end > spelled->slips[i].run.begin;
        if (!left_out)
            spelled->terms[spelled->term_count++] = hash_bytes(term.text, term.length);
    }
}

/* The different words of the question that the text has; pairs of characters that overlap count once. */
static size_t spelled_beside(const struct spelled *spelled, const char *text, size_t length)
{
    struct term_reader reader;
    struct term term;
    uint64_t found = 0;
    size_t beside = 0, end = 0;
    terms_begin(&reader, text, length);
    while (terms_next(&reader, &term)) {
        uint64_t hash = term.stop_word || term.begin < end ? 0 : hash_bytes(term.text, term.length);
        for (size_t i = 0; hash && i < spelled->term_count; i++) {
            if (spelled->terms[i] != hash || found >> i & 1)
                continue;
            found |= UINT64_C(1) << i;
            end = term.end;
            beside++;
        }
    }
    return beside;
}

/* Whether so many other words of the question in the sentence are enough. Two long words hardly differ by a doubled
 * letter or by two exchanged ones. */
static bool spelled_is_enough(const struct spelled *spelled, const struct slip *slip, enum slip_kind kind,
                              size_t beside)
{
    if (kind == SLIP_USUAL)
        return beside >= BESIDE_USUAL || slip->run.word.length >= ALONE_USUAL;
    size_t others = spelled->term_count - !slip->run.word.katakana;
    return beside >= BESIDE_OTHER || (beside && beside >= others && slip->run.word.length >= ALL_OTHER);
}

/* A nearer sentence is better; another word in one that is as near makes the slip unclear, if it is no other form. */
static void spelled_take(struct slip *slip, const struct run *run, const char *text, size_t beside)
{
    struct text other = {text + run->begin, run->end - run->begin};
    bool first = !slip->other.length;
    size_t least = first || other.length < slip->other.length ? other.length : slip->other.length;
    if (!first && beside < slip->beside)
        return;
    if (first || beside > slip->beside)
        *slip = (struct slip){.run = slip->run, .other = other, .beside = beside};
    else
        slip->unclear |= strncasecmp(other.bytes, slip->other.bytes, least) != 0;
}

static enum slip_kind spelled_near(const struct slip *slip, const struct run *run, const char *text)
{
    enum slip_kind kind = slip_of(&slip->run.word, &run->word);
    bool function_word =
        kind != SLIP_NONE && !run->word.katakana && words_function_word(text + run->begin, run->end - run->begin);
    return function_word ? SLIP_NONE : kind;
}

/* The slips that a word of the sentence is near to. */
static size_t spelled_count_near(const struct spelled *spelled, const char *text, size_t length)
{
    struct run_reader reader;
    struct run run;
    bool near[SLIPS_MAX] = {false};
    size_t count = 0;
    runs_begin(&reader, text, length);
    while (runs_next(&reader, &run))
        for (size_t i = 0; i < spelled->slip_count; i++)
            near[i] = near[i] || spelled_near(&spelled->slips[i], &run, text) != SLIP_NONE;
    for (size_t i = 0; i < spelled->slip_count; i++)
        count += near[i];
    return count;
}

static void spelled_look_at_sentence(struct spelled *spelled, const char *text, size_t length)
{
    struct run_reader reader;
    struct run run;
    size_t near = spelled_count_near(spelled, text, length);
    size_t beside = near ? near - 1 + spelled_beside(spelled, text, length) : 0;
    runs_begin(&reader, text, near ? length : 0);
    while (runs_next(&reader, &run)) {
        for (size_t i = 0; i < spelled->slip_count; i++) {
            enum slip_kind kind = spelled_near(&spelled->slips[i], &run, text);
            if (kind != SLIP_NONE && spelled_is_enough(spelled, &spelled->slips[i], kind, beside))
                spelled_take(&spelled->slips[i], &run, text, beside);
        }
    }
}

static void spelled_look_for_near(struct spelled *spelled, const struct passage *passages, size_t count)
{
    for (size_t i = 0, looked = 0; i < count && looked < LOOKED_MAX; looked += passages[i++].length) {
        struct sentence_reader reader;
        struct span span;
        sentences_begin(&reader, passages[i].text, passages[i].length);
        while (sentences_next(&reader, &span))
            spelled_look_at_sentence(spelled, passages[i].text + span.begin, span.end - span.begin);
    }
}

struct text extract_spelled(struct arena *arena, const struct passage *passages, size_t count, struct text question)
{
    struct spelled spelled = {.question = question};
    spelled_read_question(&spelled);
    if (spelled.slip_count)
        spelled_look_for_known(&spelled, passages, count);
    if (!spelled.slip_count)
        return question;
    spelled_read_terms(&spelled);
    spelled_look_for_near(&spelled, passages, count);
    for (size_t i = spelled.slip_count; i > 0; i--) { /* from the end: offsets before it stay */
        const struct slip *slip = &spelled.slips[i - 1];
        struct text before = {question.bytes, slip->run.begin};
        struct text behind = {question.bytes + slip->run.end, question.length - slip->run.end};
        if (slip->other.length && !slip->unclear)
            question = text_joined(arena, before, slip->other, behind);
    }
    return question;
}
