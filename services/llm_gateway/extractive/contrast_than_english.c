/* Comparisons in English by the grammar, where contrast_english.c has no form: "Why is A cheaper than B?", "as big as
 * B", "that B does not have". The first item is the one behind the same preposition, or the subject: the noun phrase
 * behind the auxiliary, or behind "whether". */
#include "contrast_words.h"

#include <string.h>

#define AS_WORDS 4 /* "as many hours as" */

static const char be[] = "is are was were";

/* A sentence with a full stop compares only if it asks for it: "Compare A with B.", "Tell me whether A ..." */
bool contrast_english_asks(const struct contrast_words *words)
{
    struct text text = split_trim(words->tokens.text, (const char *const[]){NULL});
    if (!text.length || !strchr(".!", text.bytes[text.length - 1]))
        return true;
    for (size_t at = 0; at < words->tokens.count; at++)
        if (contrast_word_in(words, at, "whether if torn") || contrast_words_match(words, at, "to_compare"))
            return true;
    return contrast_word_in(words, 0, "compare contrast please tell explain make");
}

/* "built", "founded": a participle, or a verb in the past. */
static bool word_is_participle(const struct contrast_words *words, size_t at)
{
    static const char *const endings[] = {"ed", NULL};
    struct text word = contrast_words_text(words, at, at + 1);
    return words->class[at] == WORD_CONTENT &&
           (split_match_before(word, word.length, endings) || contrast_word_in(words, at, "built born made sold won"));
}

/* The phrase without the verb at its end: "a diesel" of "Does a diesel use". */
static struct phrase without_verb(const struct contrast_words *words, struct phrase phrase, bool supported)
{
    size_t least = phrase.begin + 1 + (words->class[phrase.begin] == WORD_ARTICLE);
    bool closed = phrase.end < words->tokens.count &&
                  (words->class[phrase.end] == WORD_VERB || words->class[phrase.end] == WORD_ADVERB);
    if (phrase.end > least && words->class[phrase.end - 1] == WORD_CONTENT &&
        (word_is_participle(words, phrase.end - 1) || (supported && !closed)))
        phrase.end--;
    return phrase;
}

/* The auxiliary behind an opening: "For a beginner, is A harder"; `from`: there is none. */
static size_t behind_opening(const struct contrast_words *words, size_t from, size_t to)
{
    for (size_t at = to; at > from + 1; at--)
        if (words->class[at - 1] == WORD_VERB && words->tokens.list[at - 2].stopped)
            return at - 1;
    return from;
}

void contrast_english_owner(const struct contrast_words *words, struct contrast_pairing *pair)
{
    bool article = words->class[pair->other.begin] == WORD_ARTICLE;
    if (words->row->language != LANGUAGE_EN ||
        contrast_words_find(words, pair->other.begin, pair->other.end, WORD_INNER) < pair->other.end)
        return;
    for (size_t of = pair->one.begin + 1; of + 1 < pair->one.end; of++)
        if (words->class[of] == WORD_INNER && (words->class[of + 1] == WORD_ARTICLE) == article)
            pair->one.begin = of + 1;
}

static bool phrase_has_name(const struct contrast_words *words, struct phrase phrase)
{
    return contrast_words_find(words, phrase.begin, phrase.end, WORD_NAME) < phrase.end;
}

/* "Compared to B, how high are taxes in A?": the name behind the last preposition. */
static struct phrase name_governed(const struct contrast_words *words, size_t from)
{
    size_t count = words->tokens.count;
    struct phrase found = {from, from};
    for (size_t at = from; at + 1 < count; at++) {
        struct phrase phrase = contrast_phrase_from(words, at + 1, count);
        if (words->class[at] == WORD_PREPOSITION && phrase.begin == at + 1 && phrase_has_name(words, phrase))
            found = phrase;
    }
    return found;
}

/* "How far is A from the sun in comparison to B?": a name stands beside a name. */
void contrast_english_named(const struct contrast_words *words, struct contrast_pairing *pair)
{
    struct phrase named;
    if (words->row->language != LANGUAGE_EN || phrase_has_name(words, pair->one) ||
        !phrase_has_name(words, pair->other))
        return;
    named = pair->cut ? contrast_english_subject(words, 0, pair->cut) : name_governed(words, pair->behind);
    if (phrase_has_name(words, named))
        pair->one = named;
}

struct phrase contrast_english_subject(const struct contrast_words *words, size_t from, size_t to)
{
    from = behind_opening(words, from, to);
    size_t at = to, asker = contrast_words_find(words, from, to, WORD_ASKER);
    for (size_t i = from; i < to; i++)
        at = contrast_word_in(words, i, "whether if that") ? i + 1 : at;
    bool clause = at < to;
    if (clause && asker < at &&
        contrast_word_in(words, asker, "who what which")) /* "Who says that A is older than B?" */
        return (struct phrase){to, to};
    if (!clause) {
        at = contrast_words_find(words, asker < to ? asker : from, to, WORD_VERB);
        bool whose = asker < to && contrast_word_in(words, asker, "who what which") && at == asker + 1 &&
                     contrast_word_in(words, at, be);                /* "Who is the player with more goals than B?" */
        struct phrase first = contrast_phrase_from(words, from, to); /* "A has won more titles than B" */
        if (asker == to && at > from)
            return first.begin == from && first.end == at && at < to ? first : (struct phrase){to, to};
        if (at == to || whose)
            return (struct phrase){to, to};
    }
    bool supported = clause || !contrast_word_in(words, at, be);
    at += !clause;
    while (at < to && words->class[at] == WORD_ADVERB)
        at++;
    struct phrase phrase = contrast_phrase_from(words, at, to);
    if (phrase.begin != at || phrase.end == at)
        return (struct phrase){to, to};
    return without_verb(words, phrase, supported);
}

/* "than allowed", "than a year", "than 200 million" are no items. */
static bool than_has_item(const struct contrast_words *words, size_t than, struct phrase other)
{
    bool amount = words->class[than - 1] == WORD_DEGREE &&
                  contrast_word_in(words, other.begin, "a an one half several") &&
                  words->class[other.begin] == WORD_ARTICLE && other.end == words->tokens.count &&
                  contrast_word_in(words, other.end - 1,
                                   "year month week day hour minute metre mile kilometre dozen "
                                   "million billion thousand hundred third quarter page");
    return contrast_is_item(words, other) && !contrast_word_is_number(words, other.begin) && !amount &&
           !(other.end == other.begin + 1 && word_is_participle(words, other.begin));
}

static bool english_than_at(struct split *split, const struct contrast_words *words, size_t degree, size_t than)
{
    size_t count = words->tokens.count;
    struct phrase other = contrast_phrase_from(words, than + 1, count), one;
    if (!than_has_item(words, than, other))
        return false;
    struct phrase beside = contrast_phrase_before(words, degree + 1, than, other);
    bool governed = other.begin > than + 1, near;
    if (governed && contrast_parallel(words, 0, than, than + 1) == than)
        return false; /* "higher than in 2010" */
    if (governed)
        one = contrast_first_item(words, than, &other, than + 1);
    else
        one = contrast_english_subject(words, 0, degree);
    near = beside.begin > degree + 1 && beside.begin < than &&
           (words->class[beside.begin - 1] == WORD_VERB || words->class[beside.begin - 1] == WORD_PREPOSITION);
    if (one.begin == one.end && contrast_words_find(words, 0, degree, WORD_ASKER) < degree)
        one = contrast_english_subject(words, degree + 1, than); /* "How much more does A cost than B?" */
    near &= !contrast_word_in(words, 1, "anything anyone something someone nothing there no this that");
    bool it = contrast_word_in(words, 1, "it") && beside.begin > degree + 1; /* "Is it easier to learn A than B?" */
    bool counts = degree == 1 && words->class[0] == WORD_VERB && beside.begin > degree + 1 && beside.begin < than &&
                  words->class[beside.begin] == WORD_NAME && words->class[other.begin] == WORD_NAME;
    if (one.begin == one.end && (near || it || counts))
        one = beside; /* "How much longer is A than B?", "Do more people live in A than B?" */
    bool verb = other.end + 1 == count && words->class[other.end] == WORD_VERB; /* "than B does" */
    struct contrast_pairing pair = {one, other, than, other.end + verb};
    bool there = !governed && contrast_word_in(words, 1, "there");
    bool pronoun = other.end < count && words->class[other.end] == WORD_PRONOUN; /* "the old one" */
    if (words->class[other.begin] == WORD_NAME)
        contrast_english_owner(words, &pair);
    return one.begin < one.end && !there && !pronoun && contrast_ask_each(split, words, &pair);
}

/* "prefer A to B" */
static bool english_prefers(struct split *split, const struct contrast_words *words, size_t to)
{
    struct phrase other = contrast_phrase_from(words, to + 1, words->tokens.count),
                  one = contrast_phrase_before(words, 0, to, other);
    struct contrast_pairing pair = {one, other, to, other.end};
    return one.begin < one.end && one.begin > 0 && contrast_word_begins(words, one.begin - 1, "prefer") &&
           contrast_ask_each(split, words, &pair);
}

/* "as big as B", "the same height as B": the place of the first word; `at`: there is none. */
static size_t english_as(const struct contrast_words *words, size_t at)
{
    for (size_t so = at; contrast_word_in(words, at, "as") && so > 0 && so + AS_WORDS >= at; so--)
        if ((contrast_word_in(words, so - 1, "as") && at > so && !contrast_word_in(words, so, "well soon")) ||
            words->class[so - 1] == WORD_SAME)
            return so - 1;
    return at;
}

/* "What does A include that B does not?" */
static bool english_lacks(struct split *split, const struct contrast_words *words, size_t that)
{
    size_t count = words->tokens.count;
    struct phrase other = contrast_phrase_from(words, that + 1, count), one;
    bool lacks = other.end > that + 1 && other.end < count && words->class[other.end] == WORD_VERB &&
                 contrast_word_in(words, count - 1, "not doesn't don't isn't lacks lack didn't can't cannot hasn't") &&
                 other.end + 2 >= count;
    if (other.end == count && contrast_word_in(words, count - 1, "lacks lack")) {
        other.end--;
        lacks = other.end > other.begin;
    }
    one = contrast_english_subject(words, 0, that);
    struct contrast_pairing pair = {one, other, that, count};
    bool asks = words->class[0] == WORD_ASKER || contrast_word_in(words, 0, "do does");
    return asks && lacks && one.begin < one.end && contrast_ask_each(split, words, &pair);
}

bool contrast_english_than(struct split *split, const struct contrast_words *words)
{
    size_t count = words->tokens.count, degree = count;
    for (size_t at = 0; at + 1 < count; at++) {
        size_t so = at ? english_as(words, at) : at;
        if (degree < at && words->class[at] == WORD_THAN && english_than_at(split, words, degree, at))
            return true;
        if (contrast_word_in(words, at, "to") && at > 1 &&
            (words->class[at - 1] == WORD_SAME || contrast_word_in(words, at - 1, "superior inferior preferable")
                 ? english_than_at(split, words, at - 1, at)
                 : english_prefers(split, words, at)))
            return true;
        if (so < at && english_than_at(split, words, so, at))
            return true;
        if (at > 2 && contrast_word_in(words, at, "that which") && english_lacks(split, words, at))
            return true;
        degree = degree == count && words->class[at] == WORD_DEGREE ? at : degree;
    }
    return false;
}

/* "How high is A, and B?", "What does A cost? And what about B?" */
bool contrast_english_and(struct split *split, const struct contrast_words *words)
{
    size_t count = words->tokens.count;
    if (words->row->language != LANGUAGE_EN || words->class[0] != WORD_ASKER)
        return false;
    for (size_t at = 2; at + 1 < count; at++) {
        bool joined = words->class[at] == WORD_AND;
        size_t about = contrast_words_match(words, at + joined, "what_about how_about"), from = at + joined + about;
        if (!words->tokens.list[at - 1].stopped || (!joined && !about) || from >= count)
            continue;
        struct phrase other = contrast_phrase_from(words, from, count), one;
        bool governed = other.begin > from;
        if (governed && contrast_parallel(words, 0, at, from) == at)
            return false;
        one = governed ? contrast_first_item(words, at, &other, from) : contrast_english_subject(words, 0, at);
        struct text noun = contrast_words_text(words, one.begin, one.begin + 1),
                    same = contrast_words_text(words, other.begin, other.begin + 1);
        bool again = text_equal(noun, same);
        struct contrast_pairing pair = {one, other, at, count};
        contrast_english_owner(words, &pair);
        bool alike = (words->class[pair.one.begin] == WORD_ARTICLE) == (words->class[other.begin] == WORD_ARTICLE);
        return pair.one.begin < pair.one.end && other.end == count &&
               (again || words->class[other.begin] != WORD_CONTENT) && (alike || governed) &&
               contrast_ask_each(split, words, &pair);
    }
    return false;
}

/* The first item of "A from B" and "A over B" is the phrase beside the preposition, or the subject. */
static bool english_partner_at(struct split *split, const struct contrast_words *words, size_t stem, size_t at)
{
    struct phrase other = contrast_phrase_from(words, at + 1, words->tokens.count),
                  one = contrast_phrase_before(words, 0, at, other);
    struct contrast_pairing pair = {one, other, at, other.end};
    bool articles = (words->class[one.begin] == WORD_ARTICLE) == (words->class[other.begin] == WORD_ARTICLE);
    bool alike = one.end - one.begin == other.end - other.begin || words->class[one.begin] != WORD_CONTENT;
    if (one.begin < one.end && !articles && (!phrase_has_name(words, one) || !phrase_has_name(words, other)))
        return false; /* "Compare rows of a table with mixed units" */
    if (contrast_is_item(words, one) && alike && contrast_ask_each(split, words, &pair))
        return true;
    if (contrast_is_item(words, one) && words->class[one.begin] != WORD_CONTENT)
        return false;
    pair.one = contrast_english_subject(words, 0, stem);
    return pair.one.begin < pair.one.end && contrast_ask_each(split, words, &pair);
}

/* "How does A differ from B?", "Compare A with B", "advantages of A over B" */
bool contrast_english_partner(struct split *split, const struct contrast_words *words, bool compares)
{
    size_t count = words->tokens.count;
    for (size_t stem = 0; stem < count; stem++) {
        bool tells = contrast_word_in(words, stem, "tell") && contrast_word_in(words, stem + 1, "a an");
        bool differs = tells || contrast_word_begins(words, stem, words->row->differences);
        bool compared = compares && contrast_word_begins(words, stem, words->row->comparing);
        bool over = contrast_word_begins(words, stem, "advantage benefit choose pick prefer");
        const char *partners = differs ? "from" : compared ? "with to against" : over ? "over" : "";
        for (size_t at = stem + 1; at + 1 < count; at++)
            if (contrast_word_in(words, at, partners))
                return english_partner_at(split, words, over ? at : stem, at);
    }
    return false;
}
