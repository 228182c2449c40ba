#include "playbook/playbook_words.h"

#include "words/words.h"

#include <string.h>

#define KATAKANA_LEAST 4

struct playbook_words_reader {
    struct arena *arena;
    struct playbook_words *words;
    size_t room;
    const char *text; /* the original */
    size_t size;      /* of it */
    char *out;        /* the words; room for all */
    size_t length;    /* of `out` */
    size_t begin;     /* of the word in hand, in `out` */
    bool opens;       /* a sentence begins */
};

bool playbook_word_is(const struct playbook_word *word, const char *text)
{
    return word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

bool playbook_word_is_same(const struct playbook_word *one, const struct playbook_word *other)
{
    return one->length == other->length && memcmp(one->text, other->text, one->length) == 0;
}

/* ---- words of letters -------------------------------------------------------------------------------------------- */

static void playbook_words_push(struct playbook_words_reader *reader, const char *text, size_t length, bool japanese)
{
    struct playbook_words *words = reader->words;
    if (words->count == reader->room) {
        size_t room = reader->room ? 2 * reader->room : 64;
        struct playbook_word *more = arena_alloc(reader->arena, room * sizeof *more);
        if (!more)
            return;
        if (words->count)
            memcpy(more, words->words, words->count * sizeof *more);
        words->words = more;
        reader->room = room;
    }
    words->words[words->count++] = (struct playbook_word){text, (uint32_t)length, japanese};
}

static void playbook_words_push_text(struct playbook_words_reader *reader, const char *text)
{
    playbook_words_push(reader, text, strlen(text), false);
}

static bool playbook_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Words that are often written in capitals for emphasis, and are no names. */
static bool playbook_is_stressed(const char *word, size_t length)
{
    static const char *const stressed[] = {"NOT",    "NEVER", "ALWAYS", "MUST",  "ONLY",
                                           "BEFORE", "AFTER", "AND",    "SHOULD"};
    for (size_t i = 0; i < sizeof stressed / sizeof *stressed; i++)
        if (strlen(stressed[i]) == length && memcmp(stressed[i], word, length) == 0)
            return true;
    return false;
}

/* Lowers the first letter of a word at the beginning of a sentence if the rest is lower case; lowers words of
 * emphasis. */
static void playbook_word_lower(char *word, size_t length, bool opens)
{
    bool small = true, stressed = playbook_is_stressed(word, length);
    for (size_t i = 1; i < length; i++)
        small &= !playbook_is_upper(word[i]);
    for (size_t i = 0; i < length; i++)
        if (playbook_is_upper(word[i]) && (stressed || (opens && small && i == 0)))
            word[i] = (char)(word[i] | 0x20);
}

/* Verbs with the same meaning at the beginning of a sentence, unless they name a function or field. "" is left out,
 * and so is the article. */
static const char *playbook_word_spelling(const struct playbook_word *word, bool opens)
{
    static const char *const spellings[][2] = {
        {"please", ""},
        {"utilise", "use"},
        {"utilize", "use"},
        {"verify", "check"},
        {"initialise", "initialize"},
        {"normalise", "normalize"},
        {"summarise", "summarize"},
        {"analyse", "analyze"},
        {"recognise", "recognize"},
        {"organise", "organize"},
        {"serialise", "serialize"},
        {"optimise", "optimize"},
        {"authorise", "authorize"},
    };
    if (playbook_word_is(word, "the"))
        return "";
    if (playbook_word_is(word, "an"))
        return "a";
    for (size_t i = 0; opens && i < sizeof spellings / sizeof *spellings; i++)
        if (playbook_word_is(word, spellings[i][0]))
            return spellings[i][1];
    return NULL;
}

static void playbook_words_push_latin(struct playbook_words_reader *reader, const char *text, size_t length)
{
    const struct playbook_word word = {.text = text, .length = (uint32_t)length};
    const char *spelling = playbook_word_spelling(&word, reader->opens);
    if (spelling && !*spelling)
        return;
    if (spelling) {
        playbook_words_push_text(reader, spelling);
    } else if (playbook_word_is(&word, "can't") || playbook_word_is(&word, "cannot")) {
        playbook_words_push_text(reader, "can");
        playbook_words_push_text(reader, "not");
    } else if (playbook_word_is(&word, "won't")) {
        playbook_words_push_text(reader, "will");
        playbook_words_push_text(reader, "not");
    } else if (length > 3 && memcmp(text + length - 3, "n't", 3) == 0) {
        playbook_words_push(reader, text, length - 3, false);
        playbook_words_push_text(reader, "not");
    } else {
        playbook_words_push(reader, text, length, false);
    }
}

/* A word, and no variable: "n!" has a meaning of its own. */
static bool playbook_has_letters(const char *word, size_t length)
{
    size_t letters = 0;
    for (size_t i = 0; i < length; i++)
        letters += playbook_is_upper(word[i]) || (word[i] >= 'a' && word[i] <= 'z') || (unsigned char)word[i] >= 0x80;
    return letters > 1;
}

/* Ends the word in hand. Marks at its end become words of their own, so that "Stop, now" is not "Stop now". */
static void playbook_words_end(struct playbook_words_reader *reader)
{
    char *word = reader->out + reader->begin;
    size_t length = reader->length - reader->begin, marks = 0;
    reader->begin = reader->length;
    if (length >= 2 && word[0] == '`' && word[length - 1] == '`') {
        word++;
        length -= 2;
    }
    while (marks < length && strchr(".,;:!?", word[length - marks - 1]))
        marks++;
    if (marks == length || (marks && !playbook_has_letters(word, length - marks) && word[length - 1] == '!'))
        marks = 0;
    size_t letters = length - marks;
    if (letters >= 2 && word[0] == '`' && word[letters - 1] == '`') {
        word++;
        letters -= 2;
        length -= 2;
        memmove(word + letters, word + letters + 1, marks);
    }
    if (letters) {
        playbook_word_lower(word, letters, reader->opens);
        playbook_words_push_latin(reader, word, letters);
        reader->opens = false;
    }
    if (!marks)
        return;
    bool ends = memchr(word + letters, '.', marks) || memchr(word + letters, '!', marks);
    reader->opens = ends || strpbrk(":?", (char[]){word[length - 1], '\0'});
    if (ends)
        playbook_words_push_text(reader, ".");
    else
        playbook_words_push(reader, word + letters, marks, false);
}

/* ---- Japanese ---------------------------------------------------------------------------------------------------- */

static void playbook_words_push_japanese(struct playbook_words_reader *reader, const char *text, size_t length)
{
    for (size_t at = 0, end; at < length; at = end) {
        utf8_read(text, length, at, &end);
        playbook_words_push(reader, text + at, end - at, true);
    }
}

/* Whether the last characters are this text. */
static bool playbook_words_end_with(const struct playbook_words *words, const char *text, size_t *characters)
{
    size_t left = strlen(text), at = words->count;
    *characters = 0;
    while (left && at) {
        const struct playbook_word *word = &words->words[--at];
        if (!word->japanese || word->length > left || memcmp(text + left - word->length, word->text, word->length) != 0)
            return false;
        left -= word->length;
        ++*characters;
    }
    return left == 0;
}

/* Reduces the polite and neutral endings of a sentence to one form. A negation is part of no ending, and a verb is
 * not a noun. */
static void playbook_words_plain_ending(struct playbook_words_reader *reader)
{
    static const char *const endings[][2] = {
        {"してください", "する"}, {"して下さい", "する"}, {"しましょう", "する"}, {"しなさい", "する"},
        {"すること", "する"},     {"します", "する"},     {"である", "です"},
    };
    struct playbook_words *words = reader->words;
    size_t characters;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (playbook_words_end_with(words, endings[i][0], &characters) && characters < words->count) {
            words->count -= characters;
            playbook_words_push_japanese(reader, endings[i][1], strlen(endings[i][1]));
            return;
        }
}

/* Removes the long vowel at the end of a Katakana word of four characters or more: サーバー and サーバ. */
static void playbook_words_end_katakana(struct playbook_words *words)
{
    size_t characters = 0, end;
    if (words->count == 0 || !playbook_word_is(&words->words[words->count - 1], "ー"))
        return;
    while (characters < KATAKANA_LEAST && characters < words->count) {
        const struct playbook_word *word = &words->words[words->count - 1 - characters];
        if (!word->japanese || script_of(utf8_read(word->text, word->length, 0, &end)) != SCRIPT_KATAKANA)
            break;
        characters++;
    }
    words->count -= characters == KATAKANA_LEAST;
}

/* Spellings of Japanese words, both as texts of whole characters. */
static size_t playbook_japanese_spelling(const char *text, size_t length, const char **spelling)
{
    static const char *const spellings[][2] = {
        {"全て", "すべて"}, {"下さい", "ください"}, {"出来る", "できる"},   {"出来な", "できな"},
        {"及び", "および"}, {"又は", "または"},     {"予め", "あらかじめ"},
    };
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        size_t size = strlen(spellings[i][0]);
        if (size <= length && memcmp(spellings[i][0], text, size) == 0) {
            *spelling = spellings[i][1];
            return size;
        }
    }
    return 0;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Characters that the normal form makes equal to others with another meaning: ² and 2, ½, ①, Ⅳ, ㎏. */
static bool playbook_is_compatibility(uint32_t code)
{
    return code == 0xAA || code == 0xBA || code == 0xB2 || code == 0xB3 || code == 0xB9 ||
           (code >= 0xBC && code <= 0xBE) || (code >= 0x2070 && code <= 0x209F) || (code >= 0x2100 && code <= 0x218F) ||
           (code >= 0x2460 && code <= 0x24FF) || (code >= 0x3200 && code <= 0x33FF) ||
           (code >= 0x2B0 && code <= 0x2B8) || (code >= 0x1D2C && code <= 0x1D6A) ||
           (code >= 0x1F100 && code <= 0x1F2FF);
}

/* The ASCII capital of a character of the original: that of "A" and "Ａ"; 0: not a capital. */
static uint32_t playbook_capital(uint32_t code)
{
    if (code >= 0xFF21 && code <= 0xFF3A)
        return code - 0xFF21 + 'A';
    return code >= 'A' && code <= 'Z' ? code : 0;
}

static void playbook_words_sentence(struct playbook_words_reader *reader)
{
    struct playbook_words *words = reader->words;
    playbook_words_end(reader);
    playbook_words_end_katakana(words);
    playbook_words_plain_ending(reader);
    const struct playbook_word *last = words->count ? &words->words[words->count - 1] : NULL;
    if (last && !playbook_word_is(last, ".") && !playbook_word_is(last, ","))
        playbook_words_push_text(reader, ".");
    reader->opens = true;
}

static void playbook_words_take_japanese(struct playbook_words_reader *reader, const struct folded *c,
                                         enum script script, size_t *skip)
{
    const char *spelling;
    char character[4];
    if (script != SCRIPT_KATAKANA)
        playbook_words_end_katakana(reader->words);
    playbook_words_end(reader);
    reader->opens = false;
    size_t size = playbook_japanese_spelling(reader->text + c->begin, reader->size - c->begin, &spelling);
    if (size) {
        playbook_words_push_japanese(reader, spelling, strlen(spelling));
        *skip = c->begin + size;
        return;
    }
    size_t length = utf8_write(character, c->code);
    memcpy(reader->out + reader->length, character, length);
    playbook_words_push(reader, reader->out + reader->length, length, true);
    reader->length += length;
    reader->begin = reader->length;
}

static void playbook_words_take(struct playbook_words_reader *reader, const struct folded *c, size_t *skip)
{
    size_t end;
    uint32_t original = utf8_read(reader->text, reader->size, c->begin, &end);
    enum script script = script_of(c->code);
    if (script == SCRIPT_SPACE || c->code == 0x3001) {
        playbook_words_end(reader);
        playbook_words_end_katakana(reader->words);
        if (c->code == 0x3001) /* ここで、はきものを脱ぐ is not ここでは、きものを脱ぐ */
            playbook_words_push_text(reader, ",");
        if (original == '\n')
            playbook_words_sentence(reader);
    } else if (c->code == 0x3002) {
        playbook_words_sentence(reader);
    } else if (playbook_is_compatibility(original)) {
        memcpy(reader->out + reader->length, reader->text + c->begin, end - c->begin);
        reader->length += end - c->begin;
        *skip = c->end;
    } else if (script >= SCRIPT_HAN) {
        playbook_words_take_japanese(reader, c, script, skip);
    } else {
        uint32_t capital = playbook_capital(original);
        if (reader->begin == reader->length)
            playbook_words_end_katakana(reader->words);
        reader->length += utf8_write(reader->out + reader->length, capital ? capital : c->code);
    }
}

/* A character becomes at most eighteen (fold.h) of four bytes; those that become more than three bytes a byte are
 * compatibility characters, which are taken as they are, or rare: the room is checked. */
bool playbook_words_read(struct arena *arena, const char *text, struct playbook_words *words)
{
    size_t length = strlen(text), room = 4 * length + 64, skip = 0;
    struct playbook_words_reader reader = {.arena = arena, .words = words, .text = text, .size = length, .opens = true};
    struct fold fold;
    struct folded c;
    *words = (struct playbook_words){.count = 0};
    reader.out = arena_alloc(arena, room);
    if (!reader.out)
        return false;
    fold_begin(&fold, text, length);
    while (fold_next(&fold, &c)) {
        if (c.begin < skip)
            continue;
        if (reader.length + 16 > room)
            break;
        playbook_words_take(&reader, &c, &skip);
    }
    playbook_words_sentence(&reader);
    if (words->count && playbook_word_is(&words->words[words->count - 1], "."))
        words->count--;
    return !arena->exhausted;
}
