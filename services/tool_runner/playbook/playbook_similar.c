#include "playbook/playbook_similar.h"

#include "base/hash.h"
#include "playbook/playbook_words.h"
#include "words/words.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STOP_WORD_WEIGHT 0.3F /* the weight of a stop word */
#define SHOWN_MAX        90   /* bytes of each text in a reason */
#define MARK_MAX         4    /* words of a mark: Japanese characters */

/* ---- similarity -------------------------------------------------------------------------------------------------- */

static int playbook_by_hash(const void *a, const void *b)
{
    const struct playbook_term *one = a, *other = b;
    return (one->hash > other->hash) - (one->hash < other->hash);
}

/* Makes one of equal neighbours. */
static size_t playbook_terms_merge(struct playbook_term *terms, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && terms[kept - 1].hash == terms[i].hash) {
            terms[kept - 1].weight += terms[i].weight;
            terms[kept - 1].times += terms[i].times;
        } else {
            terms[kept++] = terms[i];
        }
    }
    return kept;
}

struct playbook_term *playbook_terms(struct arena *arena, const char *text, size_t length, size_t *count)
{
    size_t room = 0, found = 0;
    struct playbook_term *terms = arena_alloc(arena, 0);
    struct term_reader reader;
    struct term term;
    size_t katakana_end = 0;
    terms_begin(&reader, text, length);
    while (terms && terms_next(&reader, &term)) {
        if (found == room) {
            room = room ? 2 * room : 64;
            struct playbook_term *more = arena_alloc(arena, room * sizeof *more);
            if (!more)
                return NULL;
            memcpy(more, terms, found * sizeof *more);
            terms = more;
        }
        float share = (float)term_share(&term, &katakana_end);
        terms[found++] = (struct playbook_term){hash_bytes(term.text, term.length),
                                                term.stop_word ? STOP_WORD_WEIGHT * share : share, 1, term.stop_word};
    }
    if (!terms)
        return NULL;
    qsort(terms, found, sizeof *terms, playbook_by_hash);
    *count = playbook_terms_merge(terms, found);
    return terms;
}

double playbook_terms_similarity(const struct playbook_term *one, size_t one_count, const struct playbook_term *other,
                                 size_t other_count)
{
    double all = 0, common = 0;
    for (size_t i = 0; i < one_count; i++)
        all += (double)one[i].weight;
    for (size_t i = 0; i < other_count; i++)
        all += (double)other[i].weight;
    for (size_t i = 0, j = 0; i < one_count && j < other_count;) {
        if (one[i].hash == other[j].hash)
            common += (double)(one[i].weight < other[j].weight ? one[i].weight : other[j].weight);
        uint64_t a = one[i].hash, b = other[j].hash;
        i += a <= b;
        j += b <= a;
    }
    return all > 0 ? 2 * common / all : 0;
}

/* ---- marks: words that change the meaning of a text that is otherwise the same ----------------------------------- */

static const char *const negations[] = {"not",     "no",     "never",  "none",   "neither", "nor",  "without",
                                        "nothing", "nobody", "avoid",  "except", "unless",  "stop", "ない",
                                        "なかっ",  "なく",   "なけれ", "ません", "ぬ",      "ず",   "禁止",
                                        "不",      "非",     "無",     "未",     "否",      NULL};

static const char *const orders[] = {
    "before",   "after",    "until",     "since",   "first", "last",       "previous", "next", "then", "prior",
    "earlier",  "later",    "ascending", "above",   "below", "descending", "more",     "less", "over", "under",
    "increase", "decrease", "minimum",   "maximum", "most",  "least",      "from",     "to",   "left", "right",
    "前",       "後",       "先",        "まで",    "から",  "以降",       "以上",     "以下", "未満", "超",
    "昇順",     "降順",     "最初",      "最後",    "次",    "上",         "下",       "増",   "減",   NULL};

static const char *const numerals[] = {
    "zero", "one",  "two",    "three",   "four",     "five",    "six", "seven", "eight", "nine", "ten", "twice",
    "once", "half", "double", "hundred", "thousand", "million", "一",  "二",    "三",    "四",   "五",  "六",
    "七",   "八",   "九",     "十",      "百",       "千",      "万",  "億",    "半",    "倍",   NULL};

/* How many words from `at` on are this mark; 0: they are not. */
static size_t playbook_mark_length(const struct playbook_words *words, size_t at, const char *mark)
{
    size_t left = strlen(mark), count = 0;
    while (left && at < words->count && count < MARK_MAX) {
        const struct playbook_word *word = &words->words[at++];
        if (word->length > left || memcmp(word->text, mark, word->length) != 0 ||
            (!word->japanese && word->length < left))
            return 0;
        mark += word->length;
        left -= word->length;
        count++;
    }
    return left ? 0 : count;
}

static bool playbook_word_has_digit(const struct playbook_word *word)
{
    for (size_t i = 0; i < word->length; i++)
        if (word->text[i] >= '0' && word->text[i] <= '9')
            return true;
    return false;
}

/* A word with a capital or a symbol, or a Katakana character. Marks at the end of words are words of their own. */
static bool playbook_word_is_name(const struct playbook_word *word)
{
    size_t end;
    if (word->japanese)
        return script_of(utf8_read(word->text, word->length, 0, &end)) == SCRIPT_KATAKANA;
    for (size_t i = 0; i < word->length; i++) {
        unsigned char c = (unsigned char)word->text[i];
        if (c < 0x80 && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && !strchr(".,;:?!'", c))
            return true;
    }
    return false;
}

/* The number of words at `at` that form a mark of the kind; 0: no mark. */
static size_t playbook_mark_at(const struct playbook_words *words, size_t at, enum playbook_difference kind)
{
    const char *const *marks = kind == PLAYBOOK_OTHER_NEGATION ? negations
                               : kind == PLAYBOOK_OTHER_ORDER  ? orders
                               : kind == PLAYBOOK_OTHER_NUMBER ? numerals
                                                               : NULL;
    const struct playbook_word *word = &words->words[at];
    if (kind == PLAYBOOK_OTHER_NAME)
        return playbook_word_is_name(word);
    if (kind == PLAYBOOK_OTHER_NUMBER && playbook_word_has_digit(word))
        return 1;
    assert(marks);
    for (; *marks; marks++) {
        size_t length = playbook_mark_length(words, at, *marks);
        if (length)
            return length;
    }
    return 0;
}

/* Moves to the next mark of the kind from *at on; returns its words, 0 at the end. */
static size_t playbook_mark_next(const struct playbook_words *words, size_t *at, enum playbook_difference kind)
{
    for (; *at < words->count; ++*at) {
        size_t length = playbook_mark_at(words, *at, kind);
        if (length)
            return length;
    }
    return 0;
}

/* Whether both have the same marks of the kind in the same order. */
static bool playbook_marks_agree(const struct playbook_words *one, const struct playbook_words *other,
                                 enum playbook_difference kind)
{
    size_t a = 0, b = 0;
    for (;;) {
        size_t length = playbook_mark_next(one, &a, kind);
        if (playbook_mark_next(other, &b, kind) != length)
            return false;
        if (length == 0)
            return true;
        for (size_t i = 0; i < length; i++)
            if (!playbook_word_is_same(&one->words[a + i], &other->words[b + i]))
                return false;
        a += length;
        b += length;
    }
}

static int playbook_by_word(const void *a, const void *b)
{
    const struct playbook_word *one = a, *other = b;
    size_t least = one->length < other->length ? one->length : other->length;
    int order = memcmp(one->text, other->text, least);
    return order ? order : (one->length > other->length) - (one->length < other->length);
}

static bool playbook_words_are_same(const struct playbook_words *one, const struct playbook_words *other)
{
    for (size_t i = 0; i < one->count && one->count == other->count; i++)
        if (!playbook_word_is_same(&one->words[i], &other->words[i]))
            return false;
    return one->count == other->count;
}

/* The same words in another order. Sorts both: called last. */
static bool playbook_words_are_exchanged(struct playbook_words *one, struct playbook_words *other)
{
    if (one->count == 0 || one->count != other->count)
        return false;
    qsort(one->words, one->count, sizeof *one->words, playbook_by_word);
    qsort(other->words, other->count, sizeof *other->words, playbook_by_word);
    return playbook_words_are_same(one, other);
}

/* ---- the reason -------------------------------------------------------------------------------------------------- */

struct playbook_span {
    size_t begin, end;
};

/* The words that are not the same at the beginning and at the end of both texts. */
static void playbook_words_differ(const struct playbook_words *one, const struct playbook_words *other,
                                  struct playbook_span *a, struct playbook_span *b)
{
    size_t begin = 0, x = one->count, y = other->count;
    while (begin < x && begin < y && playbook_word_is_same(&one->words[begin], &other->words[begin]))
        begin++;
    while (x > begin && y > begin && playbook_word_is_same(&one->words[x - 1], &other->words[y - 1])) {
        x--;
        y--;
    }
    *a = (struct playbook_span){begin, x};
    *b = (struct playbook_span){begin, y};
}

static const char *playbook_show(const struct playbook_words *words, struct playbook_span span,
                                 char text[SHOWN_MAX + 8])
{
    size_t length = 0;
    if (span.begin == span.end)
        return "nothing";
    text[length++] = '\'';
    for (size_t i = span.begin; i < span.end; i++) {
        const struct playbook_word *word = &words->words[i];
        bool blank = i > span.begin && !(word->japanese && words->words[i - 1].japanese);
        if (length + word->length + 1 > SHOWN_MAX) {
            memcpy(text + length, "…", 3);
            length += 3;
            break;
        }
        if (blank)
            text[length++] = ' ';
        memcpy(text + length, word->text, word->length);
        length += word->length;
    }
    text[length++] = '\'';
    text[length] = '\0';
    return text;
}

static enum playbook_difference playbook_difference_of(const struct playbook_words *one,
                                                       const struct playbook_words *other)
{
    static const enum playbook_difference kinds[] = {PLAYBOOK_OTHER_NEGATION, PLAYBOOK_OTHER_NUMBER,
                                                     PLAYBOOK_OTHER_ORDER, PLAYBOOK_OTHER_NAME};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!playbook_marks_agree(one, other, kinds[i]))
            return kinds[i];
    return PLAYBOOK_OTHER_WORDS;
}

static const char *const reasons[] = {
    [PLAYBOOK_SAME] = "",
    [PLAYBOOK_OTHER_NUMBER] = "a number differs",
    [PLAYBOOK_OTHER_NEGATION] = "one denies what the other says",
    [PLAYBOOK_OTHER_ORDER] = "the order or the direction differs",
    [PLAYBOOK_OTHER_NAME] = "a name differs",
    [PLAYBOOK_OTHER_WORDS] = "words differ",
};

void playbook_compare(struct arena *arena, const char *one, const char *other, struct playbook_similarity *similarity)
{
    struct playbook_words a, b;
    struct playbook_span a_span, b_span;
    char a_text[SHOWN_MAX + 8], b_text[SHOWN_MAX + 8];
    *similarity = (struct playbook_similarity){.difference = PLAYBOOK_OTHER_WORDS};
    if (!playbook_words_read(arena, one, &a) || !playbook_words_read(arena, other, &b))
        return;
    if (playbook_words_are_same(&a, &b)) {
        *similarity = (struct playbook_similarity){.similarity = 1, .difference = PLAYBOOK_SAME};
        return;
    }
    size_t one_count = 0, other_count = 0;
    struct playbook_term *one_terms = playbook_terms(arena, one, strlen(one), &one_count);
    struct playbook_term *other_terms = playbook_terms(arena, other, strlen(other), &other_count);
    if (!one_terms || !other_terms)
        return;
    similarity->similarity = playbook_terms_similarity(one_terms, one_count, other_terms, other_count);
    similarity->difference = playbook_difference_of(&a, &b);
    playbook_words_differ(&a, &b, &a_span, &b_span);
    const char *shown = playbook_show(&a, a_span, a_text), *beside = playbook_show(&b, b_span, b_text);
    if (similarity->difference == PLAYBOOK_OTHER_WORDS && playbook_words_are_exchanged(&a, &b))
        similarity->difference = PLAYBOOK_OTHER_ORDER;
    snprintf(similarity->reason, sizeof similarity->reason, "%s: one has %s, the other has %s",
             reasons[similarity->difference], shown, beside);
}
