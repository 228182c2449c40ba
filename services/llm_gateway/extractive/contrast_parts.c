/* The questions about the two items of a European comparison: the question with one of them in the place of both. */
#include "contrast_words.h"

#include <string.h>
#include <strings.h>

#define PIECES_MAX 12

struct pieces {
    struct text list[PIECES_MAX + 1];
    size_t count;
};

/* Adds words with a blank before them. Marks at their end stay, since more may follow. */
static void pieces_add(struct pieces *pieces, struct text piece)
{
    static const char *const elided[] = {"'", "’", NULL};
    piece = split_trim(piece, (const char *const[]){NULL});
    if (!piece.length || pieces->count + 2 > PIECES_MAX)
        return;
    struct text last = pieces->count ? pieces->list[pieces->count - 1] : text_of("'");
    bool mark = piece.length == 1 && strchr(",:;.", piece.bytes[0]);
    if (!mark && !split_match_before(last, last.length, elided))
        pieces->list[pieces->count++] = text_of(" ");
    pieces->list[pieces->count++] = piece;
}

static void pieces_finish(struct split *split, const struct contrast_words *words, struct pieces *pieces)
{
    static const char *const marks[] = {",", ":", ";", "?", "¿", ".", "–", NULL};
    pieces->list[pieces->count] = (struct text){NULL, 0};
    struct text whole = split_capital(split, split_trim(split_concat(split->arena, pieces->list), marks));
    split_add(split, text_joined(split->arena, text_of(words->row->begin), whole, text_of(words->row->end)));
}

struct text contrast_words_text(const struct contrast_words *words, size_t from, size_t to)
{
    return tokens_between(&words->tokens, from, to);
}

/* The words [from, to) with the marks behind them. */
static struct text parts_text_marked(const struct contrast_words *words, size_t from, size_t to)
{
    struct text text = contrast_words_text(words, from, to);
    if (from < to && to < words->tokens.count && words->tokens.list[to - 1].stopped)
        text.length = words->tokens.list[to].begin - words->tokens.list[from].begin;
    return split_trim(text, (const char *const[]){"¿", NULL});
}

/* [from, to) without the cut. */
static void pieces_add_range(struct pieces *pieces, const struct contrast_words *words,
                             const struct contrast_pairing *pair, size_t from, size_t to)
{
    size_t cut = pair->cut < from ? from : pair->cut > to ? to : pair->cut;
    size_t behind = pair->behind < cut ? cut : pair->behind > to ? to : pair->behind;
    pieces_add(pieces, parts_text_marked(words, from, cut));
    if (cut < behind && behind < to && words->tokens.list[behind - 1].stopped)
        pieces_add(pieces, text_of(","));
    pieces_add(pieces, parts_text_marked(words, behind, to));
}

/* The question with the item in the place of the pair. */
static void european_part(struct split *split, const struct contrast_words *words, const struct contrast_pairing *pair,
                          struct phrase item)
{
    struct pieces pieces = {.count = 0};
    pieces_add_range(&pieces, words, pair, 0, pair->one.begin);
    pieces_add(&pieces, contrast_words_text(words, item.begin, item.end));
    pieces_add_range(&pieces, words, pair, pair->one.end, words->tokens.count);
    pieces_finish(split, words, &pieces);
}

/* "Was ist größer, A oder B?" becomes "Ist A größer?". False: the question has another form. */
static bool european_asked_part(struct split *split, const struct contrast_words *words,
                                const struct contrast_pairing *pair, struct phrase item)
{
    size_t count = words->tokens.count, from = 0, to = pair->one.begin;
    if (pair->one.begin == 0 && pair->behind < count && words->tokens.list[pair->behind - 1].stopped) {
        from = pair->behind;
        to = count;
    } else if (!to || pair->behind < count || !words->tokens.list[to - 1].stopped) {
        return false;
    }
    size_t verb = contrast_words_find(words, from, to, WORD_VERB), asker = from;
    while (asker + 1 < to && words->class[asker + 1] == WORD_ASKER)
        asker++;
    if (verb > asker + 3 && words->row->nouns_have_capitals) /* "Welche Bank verlangt weniger" */
        for (verb = asker + 1; verb < to && words->class[verb] != WORD_CONTENT; verb++)
            ;
    if (words->class[from] != WORD_ASKER || verb >= to || verb > asker + 3 ||
        words->class[item.begin] == WORD_PREPOSITION || words->class[item.begin] == WORD_INNER)
        return false;
    struct pieces pieces = {.count = 0};
    struct text first = contrast_words_text(words, verb, verb + 1),
                thing = contrast_words_text(words, item.begin, item.end);
    pieces_add(&pieces, words->row->verb_first ? first : thing);
    pieces_add(&pieces, words->row->verb_first ? thing : first);
    pieces_add(&pieces, contrast_words_text(words, verb + 1, to));
    pieces_finish(split, words, &pieces);
    return true;
}

static bool phrases_are_equal(const struct contrast_words *words, struct phrase one, struct phrase other)
{
    struct text first = contrast_words_text(words, one.begin, one.end),
                second = contrast_words_text(words, other.begin, other.end);
    return first.length == second.length && strncasecmp(first.bytes, second.bytes, first.length) == 0;
}

/* "der Zug nach A" and "der Zug nach B" differ behind the preposition. */
static void pair_extend(const struct contrast_words *words, struct contrast_pairing *pair)
{
    size_t one = pair->one.end, other = pair->other.end, count = words->tokens.count;
    if (!phrases_are_equal(words, pair->one, pair->other) || other + 1 >= count || one + 1 >= pair->cut ||
        words->class[one] != WORD_PREPOSITION || words->class[other] != WORD_PREPOSITION)
        return;
    pair->behind = pair->behind == other ? contrast_phrase_from(words, other, count).end : pair->behind;
    pair->one.end = contrast_phrase_from(words, one, pair->cut).end;
    pair->other.end = contrast_phrase_from(words, other, count).end;
}

/* Whether the pair has two items that differ and do not overlap. */
bool contrast_has_items(const struct contrast_words *words, const struct contrast_pairing *pair)
{
    return contrast_is_item(words, pair->one) && contrast_is_item(words, pair->other) &&
           (pair->one.end <= pair->other.begin || pair->other.end <= pair->one.begin) &&
           !phrases_are_equal(words, pair->one, pair->other);
}

bool contrast_ask_each(struct split *split, const struct contrast_words *words, struct contrast_pairing *pair)
{
    pair_extend(words, pair);
    if (!contrast_has_items(words, pair))
        return false;
    for (int side = 0; side < 2; side++)
        if (!european_asked_part(split, words, pair, side ? pair->other : pair->one))
            european_part(split, words, pair, side ? pair->other : pair->one);
    return true;
}
