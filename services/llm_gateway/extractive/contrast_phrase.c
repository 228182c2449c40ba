/* Noun phrases of a European question: their ends are function words, verbs, comparatives and marks. */
#include "contrast_words.h"

#define SKIPPED_MAX 4  /* prepositions and adverbs before a phrase */
#define PHRASE_MAX  12 /* words of a phrase */

static bool word_is_noun(const struct contrast_words *words, size_t at)
{
    return words->class[at] == WORD_NAME || words->class[at] == WORD_CONTENT;
}

/* "des", "der" between two German nouns */
static bool word_is_genitive(const struct contrast_words *words, size_t at)
{
    return words->row->nouns_have_capitals && at > 0 && at + 1 < words->tokens.count &&
           contrast_word_in(words, at, "des der") && words->class[at - 1] == WORD_NAME &&
           words->class[at + 1] == WORD_NAME && !words->tokens.list[at - 1].stopped;
}

/* Whether a preposition at `at` goes on with the phrase: "Frankfurt an der Oder", "musée de la Marine". */
static bool word_goes_inside(const struct contrast_words *words, size_t at, size_t to)
{
    size_t next = at + 1;
    bool capitals = words->row->nouns_have_capitals;
    bool type = !capitals && words->class[at] == WORD_PREPOSITION && contrast_word_in(words, at, "à") &&
                words->class[at - 1] == WORD_CONTENT && next < to && words->class[next] == WORD_CONTENT;
    if (words->class[at] != WORD_INNER)
        return type;
    while (next < to && words->class[next] == WORD_ARTICLE)
        next++;
    return next < to && (words->class[next] == WORD_NAME || (!capitals && words->class[next] == WORD_CONTENT));
}

struct phrase contrast_phrase_from(const struct contrast_words *words, size_t at, size_t to)
{
    size_t first = at;
    bool noun = false;
    while (at < to && at < first + SKIPPED_MAX &&
           (words->class[at] == WORD_PREPOSITION || words->class[at] == WORD_INNER || words->class[at] == WORD_ADVERB))
        at++;
    struct phrase phrase = {at, at};
    for (size_t i = at; i < to && i < at + PHRASE_MAX && (i == at || !words->tokens.list[i - 1].stopped); i++) {
        bool article =
            words->class[i] == WORD_ARTICLE && (i == at || words->class[i - 1] == WORD_INNER ||
                                                words->class[i - 1] == WORD_ARTICLE || word_is_genitive(words, i));
        bool adjective = words->class[i] == WORD_CONTENT && words->row->nouns_have_capitals;
        if (word_is_noun(words, i) && !(adjective && noun))
            phrase.end = i + 1;
        else if (!article && !(noun && word_goes_inside(words, i, to)))
            break;
        noun |= word_is_noun(words, i) && !adjective;
    }
    return phrase;
}

/* Whether German adjectives that end before `at` follow an article. */
static bool words_have_article(const struct contrast_words *words, size_t from, size_t at)
{
    while (at > from && words->class[at - 1] == WORD_CONTENT && !words->tokens.list[at - 1].stopped)
        at--;
    return at > from && words->class[at - 1] == WORD_ARTICLE;
}

/* A phrase of words without an article and a capital letter is as long as the other one. */
static size_t phrase_bare_begin(const struct contrast_words *words, size_t begin, size_t end, struct phrase other)
{
    size_t name = contrast_words_find(words, begin, end, WORD_NAME), length = other.end - other.begin;
    if (words->class[begin] != WORD_CONTENT)
        return begin;
    return name < end ? name : end - (length < end - begin ? length : end - begin);
}

/* "Gewinnt A oder B": the first word is a verb unless it begins the name before a mark or the end. */
static bool phrase_has_verb(const struct contrast_words *words, struct phrase phrase, struct phrase other)
{
    static const char *const endings[] = {"t", "en", "te", "ten", NULL};
    struct text word = tokens_between(&words->tokens, 0, 1);
    bool apart = other.end && (words->tokens.list[other.end - 1].stopped || other.end == words->tokens.count);
    return phrase.begin == 0 && phrase.end > 1 && !words->tokens.list[0].quoted && !apart &&
           (words->row->late_subject ||
            (words->row->nouns_have_capitals && split_match_before(word, word.length, endings)));
}

struct phrase contrast_phrase_before(const struct contrast_words *words, size_t from, size_t end, struct phrase other)
{
    struct phrase phrase = {end, end};
    bool capitals = words->row->nouns_have_capitals, article = false;
    size_t parallel = other.begin ? contrast_parallel(words, from, end, other.begin - 1) : end;
    for (size_t i = end; i > from && end - i < PHRASE_MAX && (i == end || !words->tokens.list[i - 1].stopped); i--) {
        enum word_class class = (enum word_class)words->class[i - 1];
        bool adjective = capitals && class == WORD_CONTENT;
        bool inside = i - 1 > from && i < end && word_is_noun(words, i - 2) && word_goes_inside(words, i - 1, end);
        article = class == WORD_ARTICLE && !word_is_genitive(words, i - 1);
        if (i - 1 == parallel && parallel < end)
            break;
        if (article) {
            phrase.begin = i - 1;
            if (i < 3 || i - 2 < from || words->class[i - 2] != WORD_INNER || i - 2 == parallel ||
                !word_is_noun(words, i - 3) || words->tokens.list[i - 3].stopped)
                break;
        } else if (adjective ? phrase.begin < end && words_have_article(words, from, i) : word_is_noun(words, i - 1)) {
            phrase.begin = i - 1;
        } else if (!inside && !(class == WORD_ARTICLE && word_is_genitive(words, i - 1))) {
            break;
        }
    }
    if (phrase.begin < end && words->class[phrase.begin] != WORD_ARTICLE)
        phrase.begin = phrase_bare_begin(words, phrase.begin, end, other);
    phrase.begin += phrase_has_verb(words, phrase, other);
    return phrase;
}

/* The first word of the clause behind its question word and that one's noun. */
static size_t clause_begin(const struct contrast_words *words, size_t from, size_t to)
{
    size_t asker, verb;
    for (size_t at = from; at < to; at++)
        from = contrast_word_in(words, at, "ob dass si que qu' qu’") ? at + 1 : from;
    asker = contrast_words_find(words, from, to, WORD_ASKER);
    if (asker == to)
        return from;
    verb = contrast_words_find(words, asker + 1, to, WORD_VERB);
    size_t noun = asker + 1;
    while (noun < verb && (words->class[noun] == WORD_ADVERB || words->class[noun] == WORD_INNER))
        noun++;
    bool named = noun < verb && word_is_noun(words, noun) && /* "welche Stadt", "combien de temps" */
                 (words->row->nouns_have_capitals || words->class[noun] == WORD_CONTENT);
    bool before = named && noun + 1 < verb && !words->row->nouns_have_capitals && !words->tokens.list[noun].stopped &&
                  (words->class[noun + 1] == WORD_ARTICLE || words->class[noun + 1] == WORD_NAME);
    if (before) /* "Combien de fois Jupiter est-elle plus grosse" */
        return noun + 1;
    return verb < to && named ? verb + 1 : asker + 1;
}

struct phrase contrast_subject(const struct contrast_words *words, size_t from, size_t to)
{
    bool verb = false;
    if (words->row->language == LANGUAGE_EN)
        return contrast_english_subject(words, from, to);
    for (size_t at = clause_begin(words, from, to); at < to; at++) {
        enum word_class class = (enum word_class)words->class[at];
        struct phrase phrase = contrast_phrase_from(words, at, to);
        bool first = at == 0 && !words->tokens.list[0].quoted && words->row->language != LANGUAGE_FR;
        verb |= class == WORD_VERB || first;
        if ((class == WORD_PREPOSITION || class == WORD_INNER) && phrase.end > phrase.begin) {
            at = phrase.end - 1;
            continue;
        }
        if ((class != WORD_ARTICLE && class != WORD_NAME) || phrase.begin != at || phrase.end == at ||
            (first && class == WORD_NAME && (phrase.end == to || words->class[phrase.end] != WORD_VERB)))
            continue;
        bool ends = phrase.end < to && words->class[phrase.end] == WORD_VERB;
        size_t least = at + 1 + (class == WORD_ARTICLE);
        if (!words->row->nouns_have_capitals && !ends && (!verb || !words->row->late_subject) && phrase.end > least &&
            words->class[phrase.end - 1] == WORD_CONTENT)
            phrase.end--; /* a verb that is in no list */
        return phrase;
    }
    return (struct phrase){to, to};
}

size_t contrast_parallel(const struct contrast_words *words, size_t from, size_t to, size_t at)
{
    static const char *const families[] = {"in im ins",          "an am",           "zu zum zur", "von vom", "bei beim",
                                           "à À au aux en dans", "de du des d' d’", "a al",       "de del",  NULL};
    if (words->class[at] != WORD_PREPOSITION && words->class[at] != WORD_INNER)
        return to;
    struct text word = tokens_between(&words->tokens, at, at + 1);
    for (size_t i = to; i > from; i--) {
        struct text here = tokens_between(&words->tokens, i - 1, i);
        bool same = i - 1 != at && text_equal(word, here);
        for (size_t k = 0; !same && families[k] && i - 1 != at; k++)
            same = contrast_word_in(words, at, families[k]) && contrast_word_in(words, i - 1, families[k]);
        if (same)
            return i - 1;
    }
    return to;
}

struct phrase contrast_first_item(const struct contrast_words *words, size_t joint, struct phrase *other, size_t at)
{
    size_t parallel = at < other->begin ? contrast_parallel(words, 0, joint, at) : joint;
    if (parallel == joint)
        return contrast_phrase_before(words, 0, joint, *other);
    struct phrase one = contrast_phrase_from(words, parallel + 1, joint);
    if (one.begin == one.end)
        return one;
    other->begin = at;
    return (struct phrase){parallel, one.end};
}

struct phrase contrast_second_item(const struct contrast_words *words, size_t joint, size_t *preposition)
{
    size_t at = joint + 1, count = words->tokens.count;
    while (at + 1 < count && !contrast_word_in(words, at, "est-ce") &&
           (words->class[at] == WORD_ADVERB || words->class[at] == WORD_VERB ||
            contrast_word_in(words, at, "lieber eher mejor antes")))
        at++;
    *preposition = at;
    return contrast_phrase_from(words, at, count);
}

bool contrast_is_item(const struct contrast_words *words, struct phrase phrase)
{
    bool noun = false;
    for (size_t i = phrase.begin; i < phrase.end; i++) {
        bool half = words->tokens.text.bytes[words->tokens.list[i].end - 1] == '-'; /* "Hin- und Rückfahrt" */
        if (half || contrast_word_in(words, i, words->row->times))
            return false;
        noun |= words->class[i] == WORD_NAME || (words->class[i] == WORD_CONTENT && !words->row->nouns_have_capitals);
    }
    return noun;
}
