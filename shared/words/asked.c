/* Reads the letters of a question, recognises its language and reads its sentences, the last one first. */
#include "words/asked_rules_priv.h"

#include <string.h>

#define ENDING_WORD_LEAST 3 /* letters before a full stop */
#define SENTENCES_TRIED   4 /* from the end: a courtesy such as "Thanks!" asks for nothing */

/* ---- tables of words --------------------------------------------------------------------------------------------- */

size_t asked_stands_whole(const struct asked_letters *letters, size_t at, size_t end, const char *word)
{
    size_t from = at, length = strlen(word);
    for (size_t i = 0, next; i < length; i = next, at++) {
        if (at >= end || letters->at[at].code != utf8_read(word, length, i, &next))
            return 0;
    }
    return at - from;
}

static bool asked_is_word(const struct asked_letters *letters, size_t begin, size_t end, const char *word,
                          size_t length)
{
    size_t at = begin;
    for (size_t i = 0, next; i < length; i = next, at++)
        if (at >= end || letters->at[at].code != utf8_read(word, length, i, &next))
            return false;
    return at == end;
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

static unsigned char asked_lead(uint32_t code)
{
    char bytes[4];
    utf8_write(bytes, code);
    return (unsigned char)bytes[0];
}

void asked_letters_read(const char *text, size_t from, size_t length, struct asked_letters *letters)
{
    struct fold fold;
    struct folded c;
    fold_begin(&fold, text + from, length - from);
    letters->text = text;
    letters->count = 0;
    while (letters->count < ASKED_LETTERS_MAX && fold_next(&fold, &c))
        letters->at[letters->count++] = (struct asked_letter){.code = c.code,
                                                              .begin = (uint32_t)(from + c.begin),
                                                              .end = (uint32_t)(from + c.end),
                                                              .lead = asked_lead(c.code)};
    letters->at[letters->count] = (struct asked_letter){.begin = (uint32_t)length, .end = (uint32_t)length};
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
    if (code != '.' || (next != 0 && script_of(next) != SCRIPT_SPACE))
        return false;
    size_t letter = at; /* "Mr." and "J." end no sentence */
    while (letter > 0 && script_of(letters->at[letter - 1].code) == SCRIPT_LETTER)
        letter--;
    return at - letter >= ENDING_WORD_LEAST && !asked_stands(letters, letter, at, "mrs");
}

/* How many words of the text are in a list that blanks separate. */
static size_t asked_count_common(const struct asked_letters *letters, const char *words)
{
    size_t count = 0;
    for (size_t at = 0; at < letters->count;) {
        size_t end = at;
        while (end < letters->count && script_of(letters->at[end].code) == SCRIPT_LETTER)
            end++;
        for (const char *word = words; end > at && *word; word += strspn(word, " ")) {
            size_t length = strcspn(word, " ");
            count += asked_is_word(letters, at, end, word, length);
            word += length;
        }
        at = end > at ? end : at + 1;
    }
    return count;
}

/* Letters that only one of the languages has count as words of it. */
static size_t asked_count_letters(const struct asked_letters *letters, const char *own)
{
    size_t count = 0;
    for (size_t i = 0; i < letters->count; i++)
        for (size_t k = 0, next; letters->at[i].code >= 0x80 && own[k]; k = next)
            count += utf8_read(own, strlen(own), k, &next) == letters->at[i].code;
    return count;
}

/* The first two words of a text. */
static void asked_first_words(const struct asked_letters *letters, size_t at[2])
{
    size_t found = 0;
    at[0] = at[1] = letters->count;
    for (size_t i = 0; i < letters->count && found < 2; i++) {
        bool before = i > 0 && script_of(letters->at[i - 1].code) == SCRIPT_LETTER;
        if (!before && script_of(letters->at[i].code) == SCRIPT_LETTER)
            at[found++] = i;
    }
}

#define OPENING_COUNTS 2 /* a question word at the beginning, in function words */

static const struct asked_language *asked_spaced_language(const struct asked_letters *letters)
{
    static const char *const opens[] = {"what ", "what'", "which ", "who ", "whom ", "whose ", "when ", "where ",
                                        "why ",  "how ",  "is ",    "are ", "was ",  "were ",  "do ",   "does ",
                                        "did ",  "can ",  "could ", "has ", "have ", "name ",  "list ", NULL};
    size_t first[2];
    asked_first_words(letters, first);
    static const char english[] =
        "the of is are was were did does do what who which how when where why in to and for by "
        "on at an a it that has have had can with from there their his her as be or not";
    const struct asked_language *const languages[] = {&asked_german, &asked_french, &asked_spanish};
    const struct asked_language *best = NULL;
    bool english_opens = asked_stands_any(letters, first[0], letters->count, opens) ||
                         asked_stands_any(letters, first[1], letters->count, opens);
    size_t most = asked_count_common(letters, english) + (english_opens ? OPENING_COUNTS : 0);
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        size_t count =
            asked_count_common(letters, languages[i]->common) + asked_count_letters(letters, languages[i]->own_letters);
        if (asked_rule_stands(languages[i], letters, first[0]) || asked_rule_stands(languages[i], letters, first[1]))
            count += OPENING_COUNTS;
        if (count > most) {
            most = count;
            best = languages[i];
        }
    }
    return best;
}

/* The table of the language; NULL for English and Japanese. A text of Han characters without kana is Chinese if it has
 * a character that Japanese does not use in questions. */
static const struct asked_language *asked_language_of(const struct asked_letters *letters, bool *japanese)
{
    size_t kana = 0, han = 0, hangul = 0;
    for (size_t i = 0; i < letters->count; i++) {
        uint32_t code = letters->at[i].code;
        enum script script = script_of(code);
        kana += script == SCRIPT_HIRAGANA || (script == SCRIPT_KATAKANA && code != 0x30FC);
        han += script == SCRIPT_HAN;
        hangul += code >= 0xAC00 && code <= 0xD7A3;
    }
    *japanese = kana > 0 && kana * 8 >= han;
    if (hangul > kana + han)
        return &asked_korean;
    if (*japanese || han == 0)
        return *japanese ? NULL : asked_spaced_language(letters);
    return &asked_chinese;
}

bool asked_read(const char *question, size_t length, struct asked *asked)
{
    struct asked_letters letters;
    asked_letters_read(question, asked_skipped(question, length), length, &letters);
    bool japanese, reads = false;
    const struct asked_language *language = asked_language_of(&letters, &japanese);
    for (size_t end = letters.count, tries = 0; end > 0 && !reads && tries < SENTENCES_TRIED; tries++) {
        /* The sentence that ends at `end`; its own final marks are part of it. */
        size_t begin = end;
        while (begin > 0 && (asked_ends_sentence(&letters, begin - 1) || asked_is_blank(letters.at[begin - 1].code)))
            begin--;
        while (begin > 0 && !asked_ends_sentence(&letters, begin - 1))
            begin--;
        struct asked_part sentence = {begin, end};
        while (sentence.begin < sentence.end && asked_is_blank(letters.at[sentence.begin].code))
            sentence.begin++;
        *asked = (struct asked){.type = ASKED_ANYTHING};
        memcpy(asked->language, language ? language->code : japanese ? "ja" : "en", sizeof(asked->language));
        if (sentence.begin >= sentence.end)
            reads = false;
        else if (language)
            reads = asked_read_rules(language, &letters, sentence, asked);
        else
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
