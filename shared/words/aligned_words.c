/* Reads a text as the words that aligned.c compares. */
#include "words/aligned.h"

#include "words/evidence.h"
#include "words/words.h"

#include <string.h>
#include <unicode/uchar.h>

#define WORD_BYTES      128
#define REFERENCE_BYTES 64
#define LONG_VOWEL      0x30FC
#define NAME_LEAST      2 /* letters of a capitalised word that is a name */
#define HANGUL          0xAC00
#define HANGUL_LAST     0xD7A3

struct aligned_run {
    char text[WORD_BYTES]; /* in normal form; a longer word is cut */
    size_t length, characters;
    struct aligned_word word;
};

static enum script aligned_script(const struct aligned_run *run, uint32_t code)
{
    if (code == LONG_VOWEL && run->length)
        return run->word.script;
    return script_of(code);
}

static bool aligned_is_capital(const char *text, size_t length, size_t at)
{
    size_t end;
    UChar32 code = (UChar32)utf8_read(text, length, at, &end);
    return u_isupper(code) || (code >= HANGUL && code <= HANGUL_LAST);
}

static void aligned_end(struct aligned_text *out, struct aligned_run *run)
{
    struct aligned_word *word = &run->word;
    const char *text = out->text.text;
    if (run->length && out->count < ALIGNED_WORDS) {
        bool letters = word->script == SCRIPT_LETTER;
        word->hash = term_hash(run->text, run->length);
        word->stop_word = word->script == SCRIPT_HIRAGANA ||
                          (letters && (run->characters < 2 || words_function_word(run->text, run->length)));
        word->name = word->script == SCRIPT_DIGIT ||
                     (word->script == SCRIPT_KATAKANA && run->characters >= NAME_LEAST) ||
                     (letters && !word->stop_word && run->characters >= NAME_LEAST &&
                      aligned_is_capital(text, out->text.length, word->span.begin));
        out->words[out->count++] = *word;
    }
    *run = (struct aligned_run){.length = 0};
}

/* Whether the character goes on with the word: a letter or digit of its script, or the comma of a number. */
static bool aligned_joins(const struct aligned_run *run, enum script script)
{
    bool single = script == SCRIPT_HAN || script == SCRIPT_HIRAGANA;
    return run->length && !single && run->word.script == script;
}

static bool aligned_is_point(const struct aligned_text *out, const struct aligned_run *run, const struct folded *c)
{
    size_t at = c->end;
    return run->word.script == SCRIPT_DIGIT && (c->code == '.' || c->code == ',') && at < out->text.length &&
           out->text.text[at] >= '0' && out->text.text[at] <= '9';
}

/* The end of a reference like [1] or [^note] that begins at a bracket; the bracket's offset if there is none. */
static size_t aligned_past_reference(struct claim text, size_t at)
{
    size_t end = at + 1;
    bool note = end < text.length && text.text[end] == '^';
    end += note;
    while (end < text.length && end - at < REFERENCE_BYTES && text.text[end] != ']' &&
           (note || (text.text[end] >= '0' && text.text[end] <= '9')))
        end++;
    return end > at + 1 && end < text.length && text.text[end] == ']' ? end : at;
}

void aligned_read(struct claim text, struct aligned_text *out)
{
    struct fold fold;
    struct folded c;
    struct aligned_run run = {.length = 0};
    size_t reference = 0; /* the end of the last one */
    bool mark = true;
    out->text = text;
    out->count = 0;
    fold_begin(&fold, text.text, text.length);
    while (out->count < ALIGNED_WORDS && fold_next(&fold, &c)) {
        enum script script = aligned_script(&run, c.code);
        if (c.code == '[')
            reference = aligned_past_reference(text, c.begin);
        if (c.begin < reference)
            continue;
        if (aligned_is_point(out, &run, &c)) {
            run.word.span.end = c.end;
            if (c.code == ',')
                continue;
        } else if (script == SCRIPT_NONE || script == SCRIPT_SPACE) {
            aligned_end(out, &run);
            mark |= script == SCRIPT_NONE;
            continue;
        } else if (!aligned_joins(&run, script)) {
            aligned_end(out, &run);
            run.word = (struct aligned_word){.script = script, .span = {c.begin, c.end}, .mark = mark};
            mark = false;
        }
        run.word.span.end = c.end;
        run.characters++;
        if (run.length + 4 <= WORD_BYTES)
            run.length += utf8_write(run.text + run.length, c.code);
    }
    aligned_end(out, &run);
}

bool aligned_stand(const struct aligned_text *text, const struct aligned_word *words, size_t count)
{
    for (size_t at = 0; count && at + count <= text->count; at++) {
        size_t same = 0;
        while (same < count && text->words[at + same].hash == words[same].hash)
            same++;
        if (same == count)
            return true;
    }
    return false;
}
