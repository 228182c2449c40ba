/* A run is a sequence of characters of the same group: letters and digits with the marks that join them, or Japanese. A
 * run is read completely, then its terms are given in order. */
#include "words/words.h"

#include <string.h>

#include "words/latin.h"
#include "words/stop_words.h"
#include "words/variants.h"

#define KATAKANA_WORD_MIN 3 /* shorter ones are given as pairs already */
#define LONG_VOWEL        0x30FC
#define HANGUL_FIRST      0xAC00
#define HANGUL_LAST       0xD7A3
#define GROUP_DIGITS      3 /* between the commas of a number */

/* See term_share. */
#define PAIR_SHARE         0.6
#define PAIR_IN_WORD_SHARE 0.3
#define ENDING_SHARE       0.3 /* 消え in 消える */
#define BEGINNING_SHARE    0.2 /* る前 in 消える前: the pair spans two words */
#define CHARACTER_SHARE    0.5 /* 消 in 消える: part of many words */
#define WHOLE_SHARE        0.7

/* Japanese, Chinese or Korean: given in pairs. */
static bool terms_is_japanese(uint8_t script)
{
    return script >= SCRIPT_HAN;
}

static uint8_t script_of_term(uint32_t code)
{
    return code >= HANGUL_FIRST && code <= HANGUL_LAST ? (uint8_t)SCRIPT_HANGUL : (uint8_t)script_of(code);
}

static bool is_letter_or_digit(uint8_t script)
{
    return script == SCRIPT_LETTER || script == SCRIPT_DIGIT;
}

static const struct folded *terms_peek(struct term_reader *reader, unsigned ahead)
{
    while (reader->aheads <= ahead) {
        if (!values_next(&reader->values, &reader->ahead[reader->aheads]))
            return NULL;
        reader->aheads++;
    }
    return &reader->ahead[ahead];
}

static void terms_take(struct term_reader *reader, uint8_t script)
{
    struct folded c = reader->ahead[0];
    reader->run[reader->run_length++] =
        (struct run_character){.code = c.code, .script = script, .begin = c.begin, .end = c.end};
    reader->ahead[0] = reader->ahead[1];
    reader->aheads--;
}

/* Whether the next character joins the characters around it: a comma or colon joins only digits, an apostrophe only
 * letters. */
static bool terms_joins(struct term_reader *reader, uint32_t code)
{
    if (strchr("-_.@,':", (int)code) == NULL)
        return false;
    const struct folded *after = terms_peek(reader, 1);
    if (after == NULL)
        return false;
    uint8_t left = reader->run[reader->run_length - 1].script, right = script_of_term(after->code);
    if (code == ',' || code == ':')
        return left == SCRIPT_DIGIT && right == SCRIPT_DIGIT;
    bool letters = left == SCRIPT_LETTER && right == SCRIPT_LETTER;
    if (reader->language == LATIN_FRENCH && letters && (code == '\'' || code == '-'))
        return false; /* l'eau, trouve-t-on */
    if (code == '\'')
        return letters;
    return is_letter_or_digit(left) && is_letter_or_digit(right);
}

static void read_letters(struct term_reader *reader)
{
    const struct folded *c;
    while (reader->run_length < TERM_CHARACTERS_MAX && (c = terms_peek(reader, 0)) != NULL) {
        uint8_t script = script_of_term(c->code);
        if (!is_letter_or_digit(script)) {
            if (c->code == 0 || c->code >= 0x80 || !terms_joins(reader, c->code))
                return;
            script = c->code == '\'' ? SCRIPT_LETTER : SCRIPT_NONE;
        }
        terms_take(reader, script);
    }
}

/* A long vowel mark has the script of the character before it. */
static uint8_t japanese_script(const struct term_reader *reader, uint32_t code)
{
    uint8_t script = script_of_term(code);
    if (code == LONG_VOWEL && reader->run_length > 0 && terms_is_japanese(reader->run[reader->run_length - 1].script))
        return reader->run[reader->run_length - 1].script;
    return script;
}

/* If a run is full, the next run begins with its last character, so that no pair is lost. */
static void read_japanese(struct term_reader *reader)
{
    const struct folded *c;
    while (reader->run_length < TERM_CHARACTERS_MAX && (c = terms_peek(reader, 0)) != NULL) {
        uint8_t script = japanese_script(reader, c->code);
        if (!terms_is_japanese(script))
            break;
        terms_take(reader, script);
    }
    reader->run_is_cut = reader->run_length == TERM_CHARACTERS_MAX;
    reader->stop_run = hangul_is_stop_run(reader->run, reader->run_length);
    reader->run_length = variants_fold(reader->run, reader->run_length);
}

static bool commas_group(const struct term_reader *reader)
{
    bool any = false;
    unsigned digits = 0;
    for (unsigned i = 0; i < reader->run_length; i++) {
        const struct run_character *c = &reader->run[i];
        if (c->script == SCRIPT_DIGIT) {
            digits++;
        } else {
            if (c->code != ',' || (any && digits != GROUP_DIGITS))
                return false;
            any = true;
            digits = 0;
        }
    }
    return any && digits == GROUP_DIGITS;
}

static bool terms_read_run(struct term_reader *reader)
{
    const struct folded *c;
    struct run_character last = {0};
    if (reader->japanese && reader->run_is_cut)
        last = reader->run[reader->run_length - 1];
    reader->run_is_cut = false;
    reader->run_length = reader->at = 0;
    reader->whole_given = reader->katakana_given = reader->character_given = false;
    if (last.code != 0 && (c = terms_peek(reader, 0)) != NULL && terms_is_japanese(script_of_term(c->code))) {
        reader->run[reader->run_length++] = last;
        reader->katakana_given = reader->character_given = true;
        read_japanese(reader);
        return true;
    }
    while ((c = terms_peek(reader, 0)) != NULL) {
        uint8_t script = script_of_term(c->code);
        reader->japanese = terms_is_japanese(script);
        if (reader->japanese) {
            read_japanese(reader);
            return true;
        }
        if (is_letter_or_digit(script)) {
            read_letters(reader);
            reader->commas_group = commas_group(reader);
            return true;
        }
        reader->ahead[0] = reader->ahead[1];
        reader->aheads--;
    }
    return false;
}

/* Gives characters [from, to) of the run as a term. */
static void terms_give(struct term_reader *reader, struct term *term, unsigned from, unsigned to, enum term_kind kind)
{
    size_t length = 0;
    for (unsigned i = from; i < to; i++) {
        if (kind != TERM_NUMBER || reader->run[i].code != ',')
            length += utf8_write(reader->text + length, reader->run[i].code);
    }
    reader->text[length] = '\0';
    *term = (struct term){.text = reader->text,
                          .length = length,
                          .begin = reader->run[from].begin,
                          .end = reader->run[to - 1].end,
                          .kind = kind};
}

static void give_word(struct term_reader *reader, struct term *term, unsigned from, unsigned to)
{
    terms_give(reader, term, from, to, TERM_WORD);
    bool english = reader->language == LATIN_ENGLISH || reader->language == LATIN_UNKNOWN;
    term->stop_word =
        to - from == 1 || (english ? words_function_word(term->text, term->length)
                                   : latin_function_word(reader->language, reader->run + from, to - from));
    if (!term->stop_word)
        term->length = latin_stem(reader->language, reader->text, term->length);
}

static unsigned end_of_part(const struct term_reader *reader, unsigned from)
{
    unsigned end = from;
    while (end < reader->run_length && reader->run[end].script == reader->run[from].script)
        end++;
    return end;
}

static bool next_of_letters(struct term_reader *reader, struct term *term)
{
    if (reader->commas_group) {
        if (reader->at == reader->run_length)
            return false;
        terms_give(reader, term, 0, reader->run_length, TERM_NUMBER);
        reader->at = reader->run_length;
        return true;
    }
    if (!reader->whole_given) {
        reader->whole_given = true;
        if (end_of_part(reader, 0) < reader->run_length) {
            terms_give(reader, term, 0, reader->run_length, TERM_IDENTIFIER);
            return true;
        }
    }
    while (reader->at < reader->run_length && reader->run[reader->at].script == SCRIPT_NONE)
        reader->at++;
    if (reader->at == reader->run_length)
        return false;
    unsigned end = end_of_part(reader, reader->at);
    if (reader->run[reader->at].script == SCRIPT_DIGIT)
        terms_give(reader, term, reader->at, end, TERM_NUMBER);
    else
        give_word(reader, term, reader->at, end);
    reader->at = end;
    return true;
}

/* Gives the word of Katakana or Hangul that begins at the run's `at`; false if no word begins there. */
static bool give_katakana(struct term_reader *reader, struct term *term)
{
    unsigned at = reader->at;
    uint8_t script = reader->run[at].script;
    if ((script != SCRIPT_KATAKANA && script != SCRIPT_HANGUL) || (at > 0 && reader->run[at - 1].script == script))
        return false;
    unsigned end = end_of_part(reader, at);
    if (end - at < KATAKANA_WORD_MIN)
        return false;
    terms_give(reader, term, at, end, TERM_KATAKANA);
    term->stop_word = reader->stop_run;
    return true;
}

/* A Han character without another next to it is a separate word: 鍵 in 鍵を. */
static bool give_character(struct term_reader *reader, struct term *term)
{
    unsigned at = reader->at;
    bool alone = reader->run_length == 1;
    bool han = reader->run[at].script == SCRIPT_HAN && (at == 0 || reader->run[at - 1].script != SCRIPT_HAN) &&
               (at + 1 == reader->run_length || reader->run[at + 1].script != SCRIPT_HAN);
    if (!alone && !han)
        return false;
    terms_give(reader, term, at, at + 1, TERM_CHARACTER);
    term->stop_word = reader->stop_run || stop_character(reader->run[at].code);
    return true;
}

static bool is_stop_pair(const struct term_reader *reader, unsigned at)
{
    uint32_t first = reader->run[at].code, second = reader->run[at + 1].code;
    return reader->stop_run || stop_pair(first, second) || (reader->chinese && stop_chinese_pair(first, second)) ||
           (reader->run[at].script == SCRIPT_HANGUL && hangul_weak_pair(first, second));
}

static bool next_of_japanese(struct term_reader *reader, struct term *term)
{
    for (; reader->at < reader->run_length; reader->at++) {
        if (!reader->katakana_given) {
            reader->katakana_given = true;
            if (give_katakana(reader, term))
                return true;
        }
        if (!reader->character_given) {
            reader->character_given = true;
            if (give_character(reader, term))
                return true;
        }
        reader->katakana_given = reader->character_given = false;
        if (reader->at + 1 < reader->run_length) {
            terms_give(reader, term, reader->at, reader->at + 2, TERM_PAIR);
            term->stop_word = is_stop_pair(reader, reader->at);
            reader->at++;
            return true;
        }
    }
    return false;
}

enum latin_language words_latin_language(const char *text, size_t length)
{
    return latin_language_of(text, length);
}

void terms_begin_in(struct term_reader *reader, const char *text, size_t length, enum latin_language language)
{
    values_begin(&reader->values, text, length);
    reader->aheads = 0;
    reader->run_length = reader->at = 0;
    reader->japanese = reader->commas_group = reader->run_is_cut = false;
    reader->chinese = words_is_chinese(text, length);
    reader->language = language != LATIN_UNKNOWN ? language : latin_language_of(text, length);
}

void terms_begin(struct term_reader *reader, const char *text, size_t length)
{
    terms_begin_in(reader, text, length, LATIN_UNKNOWN);
}

bool terms_next(struct term_reader *reader, struct term *term)
{
    for (;;) {
        if (reader->run_length > 0 &&
            (reader->japanese ? next_of_japanese(reader, term) : next_of_letters(reader, term)))
            return true;
        if (!terms_read_run(reader))
            return false;
    }
}

static bool is_hiragana(const char *character)
{
    size_t end;
    return script_of(utf8_read(character, 3, 0, &end)) == SCRIPT_HIRAGANA;
}

static double pair_share(const struct term *term, size_t katakana_end)
{
    if (term->end <= katakana_end)
        return PAIR_IN_WORD_SHARE;
    if (term->length != 6) /* a rare character of four bytes */
        return PAIR_SHARE;
    bool begins = is_hiragana(term->text), ends = is_hiragana(term->text + 3);
    return ends ? ENDING_SHARE : begins ? BEGINNING_SHARE : PAIR_SHARE;
}

double term_share(const struct term *term, size_t *katakana_end)
{
    switch (term->kind) {
    case TERM_PAIR:
        return pair_share(term, *katakana_end);
    case TERM_CHARACTER:
        return CHARACTER_SHARE;
    case TERM_KATAKANA:
        *katakana_end = term->end;
        return WHOLE_SHARE;
    case TERM_IDENTIFIER:
        return WHOLE_SHARE;
    default:
        return 1;
    }
}
