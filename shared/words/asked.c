/* Reads the letters of a question, recognises its language and reads its sentences, the last one first. */
#include "words/asked_priv.h"

#include <string.h>

#define SENTENCES_TRIED 4 /* from the end: a courtesy such as "Thanks!" asks for nothing */

/* ---- tables of words --------------------------------------------------------------------------------------------- */

size_t asked_stands(const struct asked_letters *letters, size_t at, size_t end, const char *word)
{
    size_t from = at, length = strlen(word);
    for (size_t i = 0, next; i < length; i = next, at++) {
        if (at >= end || letters->at[at].code != utf8_read(word, length, i, &next))
            return 0;
    }
    return at - from;
}

bool asked_stands_any(const struct asked_letters *letters, size_t at, size_t end, const char *const *words)
{
    for (; *words; words++)
        if (asked_stands(letters, at, end, *words))
            return true;
    return false;
}

const struct asked_word *asked_longest(const struct asked_word *table, const struct asked_letters *letters, size_t at,
                                       size_t end, size_t *taken)
{
    const struct asked_word *longest = NULL;
    *taken = 0;
    for (; table->word; table++) {
        size_t count = asked_stands(letters, at, end, table->word);
        if (count > *taken) {
            *taken = count;
            longest = table;
        }
    }
    return longest;
}

#define WORD_LETTERS_MAX 8

const struct asked_word *asked_ending(const struct asked_word *table, const struct asked_letters *letters, size_t begin,
                                      size_t end)
{
    size_t from = end > begin + WORD_LETTERS_MAX ? end - WORD_LETTERS_MAX : begin;
    for (; from < end; from++) {
        size_t taken;
        const struct asked_word *word = asked_longest(table, letters, from, end, &taken);
        if (word && taken == end - from)
            return word;
    }
    return NULL;
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

static bool asked_is_blank(uint32_t code)
{
    return script_of(code) == SCRIPT_SPACE || code == 0x3001 || code == 0x3002 || code == ',' || code == '?';
}

struct span asked_span(const struct asked_letters *letters, struct asked_part part)
{
    while (part.begin < part.end && asked_is_blank(letters->at[part.begin].code))
        part.begin++;
    while (part.begin < part.end && asked_is_blank(letters->at[part.end - 1].code))
        part.end--;
    if (part.begin >= part.end)
        return (struct span){0, 0};
    return (struct span){letters->at[part.begin].begin, letters->at[part.end - 1].end};
}

void asked_add_word(struct asked *asked, const struct asked_letters *letters, struct asked_part part)
{
    struct span span = asked_span(letters, part);
    if (span.begin < span.end && asked->word_count < ASKED_WORDS_MAX)
        asked->words[asked->word_count++] = span;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

void asked_letters_read(const char *text, size_t from, size_t length, struct asked_letters *letters)
{
    struct fold fold;
    struct folded c;
    fold_begin(&fold, text + from, length - from);
    letters->text = text;
    letters->count = 0;
    while (letters->count < ASKED_LETTERS_MAX && fold_next(&fold, &c))
        letters->at[letters->count++] =
            (struct asked_letter){c.code, (uint32_t)(from + c.begin), (uint32_t)(from + c.end)};
    letters->at[letters->count] = (struct asked_letter){0, (uint32_t)length, (uint32_t)length};
}

size_t asked_skipped(const char *question, size_t length)
{
    size_t skipped = length > ASKED_BYTES_MAX ? length - ASKED_BYTES_MAX : 0;
    while (skipped > 0 && skipped < length && ((unsigned char)question[skipped] & 0xC0) == 0x80)
        skipped++;
    return skipped;
}

static bool asked_ends_sentence(const struct asked_letters *letters, size_t at)
{
    uint32_t code = letters->at[at].code, next = letters->at[at + 1].code;
    if (code == 0x3002 || code == '?' || code == '!' || code == '\n')
        return true;
    return code == '.' && (next == 0 || script_of(next) == SCRIPT_SPACE) && at > 2 &&
           script_of(letters->at[at - 1].code) == SCRIPT_LETTER && script_of(letters->at[at - 2].code) == SCRIPT_LETTER;
}

static bool asked_is_japanese(const struct asked_letters *letters)
{
    for (size_t i = 0; i < letters->count; i++) {
        enum script script = script_of(letters->at[i].code);
        if (script == SCRIPT_HIRAGANA || script == SCRIPT_KATAKANA)
            return true;
    }
    return false;
}

/* Where the sentence that ends at `end` begins; its own final marks are part of it. */
static size_t asked_sentence_begin(const struct asked_letters *letters, size_t end)
{
    size_t at = end;
    while (at > 0 && (asked_ends_sentence(letters, at - 1) || asked_is_blank(letters->at[at - 1].code)))
        at--;
    while (at > 0 && !asked_ends_sentence(letters, at - 1))
        at--;
    return at;
}

bool asked_read(const char *question, size_t length, struct asked *asked)
{
    struct asked_letters letters;
    asked_letters_read(question, asked_skipped(question, length), length, &letters);
    bool japanese = asked_is_japanese(&letters), reads = false;
    for (size_t end = letters.count, tries = 0; end > 0 && !reads && tries < SENTENCES_TRIED; tries++) {
        size_t begin = asked_sentence_begin(&letters, end);
        struct asked_part sentence = {begin, end};
        while (sentence.begin < sentence.end && asked_is_blank(letters.at[sentence.begin].code))
            sentence.begin++;
        *asked = (struct asked){.type = ASKED_ANYTHING};
        memcpy(asked->language, japanese ? "ja" : "en", 3);
        if (sentence.begin < sentence.end)
            reads = japanese ? asked_read_ja(&letters, sentence, asked) : asked_read_en(&letters, sentence, asked);
        end = begin;
    }
    if (!reads)
        *asked = (struct asked){.type = ASKED_ANYTHING, .language = "en"};
    return reads;
}

const char *asked_type_name(enum asked_type type)
{
    static const char *const names[ASKED_TYPES] = {"anything",   "quantity", "duration",  "date", "person",
                                                   "place",      "name",     "yes_no",    "how",  "why",
                                                   "definition", "list",     "comparison"};
    return (unsigned)type < ASKED_TYPES ? names[type] : names[ASKED_ANYTHING];
}
