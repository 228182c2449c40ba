/* Words of a question with a slip of the finger: no passage has them, but one has a word that differs by one letter. A
 * search has found the passages by that word already (knowledge/rank_near.c). Names and numbers are never changed. */
#include "extract.h"

#include "words/fold.h"
#include "words/words.h"

#include <string.h>

#define LATIN_LEAST    6 /* letters */
#define LATIN_CHANGED  7 /* ... of a word in which one is another: "price" is no slip of "prize" */
#define KANA_LEAST     4
#define KANA_CHANGED   5
#define CODES_MAX      32
#define WORDS_MAX      8                   /* of a question that are looked for */
#define LOOKED_MAX     ((size_t)256 << 10) /* bytes of passages */
#define PROLONGED_SIGN 0x30FC

struct run {
    uint32_t codes[CODES_MAX + 1];
    size_t length, begin, end;
    enum script script;
};

struct slip {
    struct run run;
    bool known;
    struct text other; /* length 0: none was found */
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
    *run = (struct run){.script = spelled_script(reader->ahead.code), .begin = reader->ahead.begin};
    while (reader->more && spelled_script(reader->ahead.code) == run->script) {
        if (run->length < CODES_MAX)
            run->codes[run->length] = reader->ahead.code;
        run->length++;
        run->end = reader->ahead.end;
        reader->more = fold_next(&reader->fold, &reader->ahead);
    }
    return true;
}

static bool spelled_joins(char c)
{
    return (c >= '0' && c <= '9') || (c && strchr("_-./@:'", c));
}

static bool spelled_may_slip(const struct run *run, struct text question)
{
    const char *word = question.bytes + run->begin;
    if (run->length > CODES_MAX || run->length < (run->script == SCRIPT_KATAKANA ? KANA_LEAST : LATIN_LEAST))
        return false;
    if (run->script == SCRIPT_KATAKANA)
        return true;
    bool small = *word >= 'a' && *word <= 'z';
    bool joined = (run->begin && spelled_joins(word[-1])) ||
                  (run->end + 1 < question.length && spelled_joins(question.bytes[run->end]));
    return small && !joined && !words_function_word(word, run->end - run->begin);
}

/* The letters that both begin with. */
static size_t spelled_same(const struct run *one, const struct run *other)
{
    size_t same = 0;
    while (same < one->length && same < other->length && one->codes[same] == other->codes[same])
        same++;
    return same;
}

static bool spelled_ends_alike(const struct run *one, size_t from, const struct run *other, size_t at)
{
    return one->length - from == other->length - at &&
           memcmp(one->codes + from, other->codes + at, (one->length - from) * sizeof *one->codes) == 0;
}

/* One letter more, less or changed, or two exchanged; the first letter stays. */
static bool spelled_is_near(const struct run *slip, const struct run *word)
{
    size_t at = spelled_same(slip, word);
    bool changes = slip->length >= (slip->script == SCRIPT_KATAKANA ? KANA_CHANGED : LATIN_CHANGED);
    if (!at || word->length > CODES_MAX)
        return false;
    if (slip->length == word->length + 1)
        return spelled_ends_alike(slip, at + 1, word, at);
    if (word->length == slip->length + 1)
        return spelled_ends_alike(slip, at, word, at + 1);
    if (slip->length != word->length || at + 1 > slip->length)
        return false;
    bool exchanged = at + 1 < slip->length && slip->codes[at] == word->codes[at + 1] &&
                     slip->codes[at + 1] == word->codes[at] && spelled_ends_alike(slip, at + 2, word, at + 2);
    return exchanged || (changes && spelled_ends_alike(slip, at + 1, word, at + 1));
}

static void spelled_compare(struct slip *slip, const struct run *word, const char *text)
{
    if (slip->known || word->script != slip->run.script || word->length + 1 < slip->run.length)
        return;
    size_t same = word->length > CODES_MAX ? 0 : spelled_same(&slip->run, word);
    slip->known |= same && (same == slip->run.length || same == word->length);
    if (!slip->other.length && spelled_is_near(&slip->run, word))
        slip->other = (struct text){text + word->begin, word->end - word->begin};
}

struct text extract_spelled(struct arena *arena, const struct passage *passages, size_t count, struct text question)
{
    struct slip slips[WORDS_MAX];
    struct run_reader reader;
    struct run run;
    size_t slip_count = 0, looked = 0;
    runs_begin(&reader, question.bytes, question.length);
    while (slip_count < WORDS_MAX && runs_next(&reader, &run))
        if (spelled_may_slip(&run, question))
            slips[slip_count++] = (struct slip){.run = run};
    for (size_t i = 0; slip_count && i < count && looked < LOOKED_MAX; looked += passages[i++].length) {
        runs_begin(&reader, passages[i].text, passages[i].length);
        while (runs_next(&reader, &run))
            for (size_t j = 0; j < slip_count; j++)
                spelled_compare(&slips[j], &run, passages[i].text);
    }
    for (size_t j = slip_count; j > 0; j--) { /* from the end: offsets before it stay */
        const struct slip *slip = &slips[j - 1];
        struct text before = {question.bytes, slip->run.begin};
        struct text behind = {question.bytes + slip->run.end, question.length - slip->run.end};
        if (!slip->known && slip->other.length)
            question = text_joined(arena, before, slip->other, behind);
    }
    return question;
}
