/* Questions in the languages of tables: the first question word that tells a type decides, the longest at its place. */
#include "words/asked_en_priv.h"
#include "words/asked_rules_priv.h"

#include <string.h>
#include <unicode/uchar.h>

#define NOUN_WORDS_MAX 2 /* words behind a question word in which its noun is searched */
#define HAN_NOUN_MAX   8 /* letters, without blanks */

static bool rule_is_letter(const struct asked_letters *letters, size_t at)
{
    enum script script = at < letters->count ? script_of(letters->at[at].code) : SCRIPT_NONE;
    return script == SCRIPT_LETTER || script == SCRIPT_DIGIT;
}

/* The letters of a rule's word at `at`, or 0. */
static size_t rule_stands(const struct asked_language *language, const struct asked_letters *letters, size_t at,
                          size_t end, const char *word)
{
    char stem[48];
    size_t length = strlen(word);
    bool open = length > 0 && length < sizeof(stem) && word[length - 1] == '-';
    if (open) {
        memcpy(stem, word, length - 1);
        stem[length - 1] = '\0';
    }
    size_t taken = asked_stands(letters, at, end, open ? stem : word);
    if (taken && language->spaced && !open && rule_is_letter(letters, at + taken))
        return 0;
    while (taken && open && at + taken < end && rule_is_letter(letters, at + taken))
        taken++;
    return taken;
}

static const struct asked_rule *rule_longest(const struct asked_language *language, const struct asked_letters *letters,
                                             size_t at, size_t end, size_t *taken)
{
    const struct asked_rule *longest = NULL;
    size_t specific = 0;
    *taken = 0;
    for (const struct asked_rule *rule = language->rules; rule->word; rule++) {
        size_t count = rule_stands(language, letters, at, end, rule->word), length = strlen(rule->word);
        if (count && length > specific) {
            *taken = count;
            specific = length;
            longest = rule;
        }
    }
    return longest;
}

bool asked_rule_stands(const struct asked_language *language, const struct asked_letters *letters, size_t at)
{
    size_t taken;
    return rule_longest(language, letters, at, letters->count, &taken) != NULL;
}

static const struct asked_rule *rules_find(const struct asked_language *language, const struct asked_letters *letters,
                                           struct asked_part sentence, struct asked_part *place)
{
    const struct asked_rule *found = NULL;
    for (size_t at = sentence.begin, taken; at < sentence.end; at++) {
        if (language->spaced && at > sentence.begin && rule_is_letter(letters, at - 1))
            continue;
        const struct asked_rule *rule = rule_longest(language, letters, at, sentence.end, &taken);
        if (rule && (!found || (found->type == ASKED_ANYTHING && rule->type != ASKED_ANYTHING))) {
            found = rule;
            *place = (struct asked_part){at, at + taken};
        }
        if (rule)
            at += taken - 1;
        if (found && found->type != ASKED_ANYTHING)
            return found;
    }
    return found;
}

/* The first noun of the table behind the question word, as a whole word; in German, also the last part of one. */
static const struct asked_word *rule_noun_behind(const struct asked_language *language,
                                                 const struct asked_letters *letters, size_t at, size_t end,
                                                 size_t most, struct asked_part *focus)
{
    size_t words = 0, from = at;
    for (; at < end && words <= most && (language->spaced || at < from + HAN_NOUN_MAX); at++) {
        size_t taken;
        bool begins = at == 0 || !rule_is_letter(letters, at - 1);
        bool hangul = rule_is_letter(letters, at);
        if ((language->spaced || hangul) && !begins)
            continue;
        words += begins && hangul;
        const struct asked_word *noun = words <= most ? asked_longest(language->nouns, letters, at, end, &taken) : NULL;
        size_t after = noun ? at + taken : at;
        after += noun && language->spaced && letters->at[after].code == 's';
        if (noun && !(language->spaced && rule_is_letter(letters, after))) {
            *focus = (struct asked_part){at, at + taken};
            return noun;
        }
    }
    return NULL;
}

/* 是 and the particles 은, 는, 이, 가 stand between a noun and the question word. */
static size_t rule_before_particle(const struct asked_letters *letters, size_t begin, size_t at)
{
    static const uint32_t marks[] = {' ', 0x662F, 0xC740, 0xB294, 0xC774, 0xAC00, 0x6709, 0x4E3A, ','};
    for (bool more = true; more && at > begin;) {
        more = false;
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
            more |= letters->at[at - 1].code == marks[i];
        at -= more;
    }
    return at;
}

/* 首都 in 荷兰的首都: the noun behind the last 的, or behind the Korean 의 or a blank. */
static void rule_split(const struct asked_letters *letters, struct asked_part phrase, struct asked_part *focus,
                       struct asked_part *subject)
{
    size_t at = phrase.end;
    while (at > phrase.begin && letters->at[at - 1].code != 0x7684 && letters->at[at - 1].code != 0xC758 &&
           letters->at[at - 1].code != 0x4E4B)
        at--;
    if (at > phrase.begin) {
        *focus = (struct asked_part){at, phrase.end};
        *subject = (struct asked_part){phrase.begin, at - 1};
    } else {
        *subject = phrase;
    }
}

/* The phrase at the beginning of a Chinese or Korean sentence, up to its verb or particle. */
static struct asked_part rule_first_phrase(const struct asked_letters *letters, struct asked_part sentence,
                                           size_t until)
{
    static const uint32_t ends[] = {0x662F, 0x5728, 0x6709, 0x4E8E, 0x88AB, 0x7531, 0x4ECE, 0x53EF, 0x80FD, 0x5C5E,
                                    0x4E0E, 0x6700, 0x66FE, 0x4E3B, ' ',    ',',    0xFF0C, 0x548C, 0x628A, 0x5C06};
    size_t at = sentence.begin;
    for (; at < until; at++) {
        bool stops = false;
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
            stops |= letters->at[at].code == ends[i] && at > sentence.begin;
        if (stops)
            break;
    }
    size_t last = at > sentence.begin ? at - 1 : at;
    static const uint32_t particles[] = {0xC740, 0xB294, 0xC774, 0xAC00, 0xC744, 0xB97C, 0xC5D0, 0xC758};
    for (size_t i = 0; i < sizeof particles / sizeof *particles; i++)
        if (at > sentence.begin + 1 && letters->at[last].code == particles[i])
            return (struct asked_part){sentence.begin, last};
    return (struct asked_part){sentence.begin, at};
}

static struct asked_part rule_subject_spaced(const struct asked_letters *letters, struct asked_part sentence,
                                             struct asked_part word, struct asked_part focus)
{
    struct en_sentence in;
    en_tokens_read(letters, sentence, &in);
    in.word = in.word_end = in.count;
    for (size_t i = 0; i < in.count; i++) {
        bool of_word = in.tokens[i].begin >= word.begin && in.tokens[i].begin < word.end;
        bool of_focus = in.tokens[i].begin >= focus.begin && in.tokens[i].begin < focus.end;
        if (of_word) {
            in.word = i > 2 ? (in.word < i ? in.word : i) : 0; /* "seit wann" */
            in.word_end = i + 1;
        }
        if (of_focus) {
            in.focus.begin = in.focus.end ? in.focus.begin : i;
            in.focus.end = i + 1;
        }
    }
    struct asked_part subject = en_subject(&in);
    if (subject.begin >= subject.end)
        return (struct asked_part){0, 0};
    return (struct asked_part){in.tokens[subject.begin].begin, in.tokens[subject.end - 1].end};
}

static bool rule_is_capital(const struct asked_letters *letters, size_t at)
{
    size_t next;
    return u_isupper((UChar32)utf8_read(letters->text, letters->at[at].end, letters->at[at].begin, &next));
}

/* Whether an article, a name, or an adjective with its noun follows, and no preposition: "was ist ein Browser", "was
 * ist emotionale Intelligenz", not "was ist zwischen". */
static bool rule_defines(const struct asked_letters *letters, size_t at, size_t end)
{
    static const char *const articles[] = {"ein ", "eine ", "einen ", "der ", "die ", "das ", "un ",
                                           "una ", "el ",   "la ",    "los ", "las ", NULL};
    while (at < end && letters->at[at].code == ' ')
        at++;
    if (asked_stands_any(letters, at, end, articles) || rule_is_capital(letters, at))
        return true;
    size_t word = at;
    while (at < end && rule_is_letter(letters, at))
        at++;
    bool inflected = at > word + 3 && letters->at[at - 1].code == 'e';
    return inflected && at + 1 < end && letters->at[at].code == ' ' && rule_is_capital(letters, at + 1);
}

/* Schiffe in "wie viele Schiffe": the word behind the question word is counted; in Chinese, its measure word. */
static void rule_count(const struct asked_language *language, const struct asked_letters *letters,
                       struct asked_part sentence, struct asked_part word, struct asked *asked)
{
    size_t begin = word.end, end;
    while (language->spaced && begin < sentence.end && letters->at[begin].code == ' ')
        begin++;
    for (end = begin; end < sentence.end && rule_is_letter(letters, end) && language->spaced;)
        end++;
    if (!language->spaced && begin < sentence.end && script_of(letters->at[begin].code) == SCRIPT_HAN)
        end = begin + 1;
    if (asked->type == ASKED_QUANTITY && asked->unit == ASKED_UNIT_THINGS && end > begin)
        asked->counter = asked_span(letters, (struct asked_part){begin, end});
}

static void rule_read(const struct asked_language *language, const struct asked_rule *rule,
                      const struct asked_letters *letters, struct asked_part sentence, struct asked_part word,
                      struct asked_part *focus, struct asked_part *subject, struct asked *asked)
{
    const struct asked_word *noun = NULL;
    asked->type = rule->type;
    asked->unit = rule->unit;
    if (rule->then == ASKED_THEN_NOUN || rule->then == ASKED_THEN_IS)
        noun = rule_noun_behind(language, letters, word.end, sentence.end,
                                rule->then == ASKED_THEN_IS ? 2 * NOUN_WORDS_MAX : NOUN_WORDS_MAX, focus);
    if (rule->then == ASKED_THEN_IS && !noun && rule->type == ASKED_DEFINITION &&
        !rule_defines(letters, word.end, sentence.end))
        asked->type = ASKED_ANYTHING;
    bool han = !language->spaced && script_of(letters->at[word.end].code) == SCRIPT_HAN;
    if (han && (rule->type == ASKED_ANYTHING || rule->type == ASKED_DEFINITION) && rule->then != ASKED_THEN_ENDS) {
        asked->type = ASKED_NAME; /* 什么颜色 */
        noun = noun ? noun : rule_noun_behind(language, letters, word.end, sentence.end, 1, focus);
    } else if (rule->then == ASKED_THEN_BEFORE) {
        size_t end = rule_before_particle(letters, sentence.begin, word.begin);
        noun = asked_ending(language->nouns, letters, sentence.begin, end);
        if (noun || rule->type != ASKED_QUANTITY)
            rule_split(letters, (struct asked_part){sentence.begin, end}, focus, subject);
        if (!noun && focus->begin < focus->end && rule->type == ASKED_DEFINITION)
            asked->type = ASKED_ANYTHING;
    }
    if (noun && (rule->type != ASKED_QUANTITY || noun->type == ASKED_QUANTITY)) {
        asked->type = noun->type;
        asked->unit = noun->unit;
    }
}

bool asked_read_rules(const struct asked_language *language, const struct asked_letters *letters,
                      struct asked_part sentence, struct asked *asked)
{
    struct asked_part word = {0, 0}, focus = {0, 0}, subject = {0, 0};
    const struct asked_rule *rule = rules_find(language, letters, sentence, &word);
    if (!rule) {
        if (letters->at[sentence.end - 1].code != '?')
            return false;
        asked->type = ASKED_YES_NO;
    } else {
        rule_read(language, rule, letters, sentence, word, &focus, &subject, asked);
        rule_count(language, letters, sentence, word, asked);
        asked_add_word(asked, letters, word);
    }
    if (language->spaced)
        subject = rule_subject_spaced(letters, sentence, word, focus);
    else if (subject.begin >= subject.end)
        subject = rule_first_phrase(letters, sentence, rule ? word.begin : sentence.end);
    asked->focus = asked_span(letters, focus);
    asked->subject = asked_span(letters, subject);
    return true;
}
