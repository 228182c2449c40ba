/* European comparisons that ask about both items: "¿En qué se diferencian A y B?", "Compara A con B", "Wer hat A
 * gegründet und wer B?". The second item stands behind "and", or behind the preposition of a word of difference. */
#include "contrast_words.h"

#include <strings.h>

/* "How do A and B compare?"; not "Where can I compare A and B?" */
static bool english_compares(const struct contrast_words *words, size_t at)
{
    return words->row->language == LANGUAGE_EN && at > 1 && words->class[at - 1] >= WORD_NAME;
}

/* "Compara A y B", "Comment se comparent A et B ?"; not "Wie vergleiche ich A und B?", which has one answer. */
static bool words_have_comparing(const struct contrast_words *words)
{
    bool asks = words->class[0] == WORD_ASKER;
    for (size_t at = 0; at < words->tokens.count; at++)
        if (contrast_word_begins(words, at, words->row->comparing) &&
            (!asks || (at > 0 && contrast_word_in(words, at - 1, "se sich")) || english_compares(words, at)))
            return true;
    return false;
}

/* Whether "A und B" are compared: by a word of difference, of equality, or a question about one of them. */
static bool both_are_compared(const struct contrast_words *words, const struct contrast_pairing *pair)
{
    size_t count = words->tokens.count, begin = pair->one.begin;
    const struct contrast_language *row = words->row;
    bool asks_behind = contrast_words_have(words, pair->behind, count, WORD_ASKER);
    begin += words->class[begin] == WORD_PREPOSITION;
    bool between = begin > 0 && contrast_word_in(words, begin - 1, row->between);
    bool first = words->class[0] == WORD_ASKER;
    if (between && row->language == LANGUAGE_EN && !contrast_words_begin(words, row->choosing) &&
        !contrast_words_begin(words, "similarit"))
        return false; /* "the difference between A and B", "the war between A and B" stay whole */
    bool bare = row->language == LANGUAGE_EN && contrast_word_in(words, 0, "compare") && pair->behind == count;
    if (bare)
        return false; /* "Compare A and B." */
    if (contrast_words_begin(words, row->differences) || words_have_comparing(words))
        return true;
    if (between && contrast_words_begin(words, row->choosing))
        return true;
    if (words->tokens.list[pair->behind - 1].stopped && begin <= 2 && asks_behind &&
        (row->language != LANGUAGE_EN || contrast_word_in(words, 0, "between of with")))
        return true;
    size_t of = begin - (begin > 0 && words->class[begin] != WORD_INNER);
    bool superlative = words->class[begin] == WORD_INNER && pair->behind == count && begin > 3 &&
                       contrast_word_in(words, begin - 2, "plus moins"); /* "le plus haut de A et de B" */
    if (first && of > 0 && words->class[of] == WORD_INNER && contrast_words_compare(words) &&
        (superlative || (pair->behind < count && words->class[of - 1] == WORD_ASKER))) /* "Wer von A und B" */
        return true;
    size_t before = of > 0 && words->class[of] != WORD_INNER ? of : of - (of > 0);
    for (size_t at = begin; at < pair->one.end; at++) /* "die Kinder von A und B" */
        before = at > begin && contrast_word_in(words, at, "von vom de du del") ? at : before;
    bool owned = words->class[before] == WORD_VERB || contrast_word_begins(words, before, row->attributes);
    bool last_verb = row->language == LANGUAGE_EN && pair->behind + 1 == count && words->class[count - 1] == WORD_VERB;
    if (first && !between && owned && (pair->behind == count || last_verb) &&
        contrast_words_begin(words, row->attributes) &&
        contrast_words_have(words, pair->one.begin, pair->one.end, WORD_NAME) &&
        contrast_words_have(words, pair->other.begin, count, WORD_NAME))
        return true;
    bool together = contrast_word_in(words, count - 1, "gemeinsam commun común gegenüber");
    if (row->language == LANGUAGE_EN && !contrast_words_have(words, 0, count, WORD_ASKER) &&
        words->class[0] != WORD_VERB)
        return false; /* "Clients arrive in the same moment and the server falls over" */
    size_t same = contrast_words_find(words, 0, count, WORD_SAME), last = begin - (begin > 0);
    bool of_noun = same < count && contrast_word_begins(words, same,
                                                        "même selb demselb derselb dieselb dasselb denselb "
                                                        "gleiche"); /* "am selben Tag A und B" */
    return together || (same < count && (!of_noun || same > pair->cut || row->late_subject || between ||
                                         words->tokens.list[last].stopped));
}

/* "Was ist der Unterschied zwischen A und B?" asks for no other attribute. */
static bool both_are_defined(const struct contrast_words *words, const struct contrast_pairing *pair)
{
    return pair->behind == words->tokens.count && pair->one.begin > 0 &&
           contrast_word_in(words, pair->one.begin - 1, words->row->between) &&
           contrast_words_begin(words, words->row->differences);
}

/* "Was ist A?" and "Was ist B?" */
static bool european_definitions(struct split *split, const struct contrast_words *words,
                                 const struct contrast_pairing *pair)
{
    if (!contrast_has_items(words, pair))
        return false;
    for (int side = 0; side < 2; side++) {
        struct phrase item = side ? pair->other : pair->one;
        split_add(split, text_joined(split->arena, text_of(words->row->what),
                                     contrast_words_text(words, item.begin, item.end), text_of(words->row->end)));
    }
    return true;
}

static bool european_both(struct split *split, const struct contrast_words *words)
{
    size_t count = words->tokens.count, preposition;
    for (size_t at = 1; at + 1 < count; at++) {
        if (words->class[at] != WORD_AND)
            continue;
        struct phrase other = contrast_second_item(words, at, &preposition);
        struct phrase one = contrast_first_item(words, at, &other, preposition);
        struct contrast_pairing pair = {one, other, at, other.end};
        for (size_t of = one.begin + 1; of + 1 < one.end; of++) /* "las capitales de A y B" */
            if (words->class[of] == WORD_INNER && words->class[of + 1] == WORD_NAME &&
                words->class[other.begin] == WORD_NAME && words->class[of - 1] == WORD_CONTENT)
                pair.one.begin = of + 1;
        if (pair.one.begin == pair.one.end || other.begin == other.end || !both_are_compared(words, &pair))
            continue;
        if (both_are_defined(words, &pair) ? european_definitions(split, words, &pair)
                                           : contrast_ask_each(split, words, &pair))
            return true;
    }
    return false;
}

/* "Was unterscheidet A von B?", "Compara A con B": the preposition of the second item, `inner` ones last. */
static bool european_partner(struct split *split, const struct contrast_words *words, enum word_class class)
{
    size_t count = words->tokens.count, stem = 0;
    while (stem < count && !contrast_word_begins(words, stem, words->row->differences) &&
           !(contrast_word_begins(words, stem, words->row->comparing) && words_have_comparing(words)))
        stem++;
    if (words->row->language == LANGUAGE_EN)
        return contrast_english_partner(split, words, words_have_comparing(words));
    for (size_t at = 1; at + 1 < count; at++) {
        bool over = contrast_word_in(words, at, "sur sobre") && contrast_words_begin(words, "avantage ventaj");
        if (!over && (stem == count || words->class[at] != class || !contrast_word_in(words, at, words->row->partners)))
            continue;
        struct phrase other = contrast_phrase_from(words, at + 1, count);
        struct contrast_pairing pair = {contrast_phrase_before(words, 0, at, (struct phrase){0, 0}), other, at,
                                        other.end};
        if (!contrast_is_item(words, pair.one) || words->class[pair.one.begin] == WORD_CONTENT)
            pair.one = contrast_subject(words, 0, stem < at ? stem : at);
        if (contrast_ask_each(split, words, &pair))
            return true;
    }
    return false;
}

/* "De quel pays vient A et de quel pays vient B ?": the second question begins as the first one. */
static bool european_twice(struct split *split, const struct contrast_words *words)
{
    size_t count = words->tokens.count;
    for (size_t at = 2; at + 2 < count; at++) {
        size_t from = at + (words->class[at] == WORD_AND), same = 0;
        if (from == at && !words->tokens.list[at - 1].stopped)
            continue;
        while (same < at && from + same < count) {
            struct text one = contrast_words_text(words, same, same + 1),
                        other = contrast_words_text(words, from + same, from + same + 1);
            bool begins = same == 0 && words->class[0] == WORD_PREPOSITION && words->class[from] == WORD_PREPOSITION;
            if (!begins && (one.length != other.length || strncasecmp(one.bytes, other.bytes, one.length) != 0))
                break;
            same++;
        }
        struct contrast_pairing pair = {{same, at}, {from + same, count}, at, count};
        if (same > 1 && contrast_words_have(words, 0, same, WORD_ASKER) && same < at && from + same < count &&
            contrast_ask_each(split, words, &pair))
            return true;
    }
    return false;
}

/* "Wer hat A gegründet und wer B?": the second question has only its question word and its item. */
static bool european_again(struct split *split, const struct contrast_words *words)
{
    size_t count = words->tokens.count;
    for (size_t at = 2; at + 1 < count; at++) {
        size_t from = at + (words->class[at] == WORD_AND), item;
        from += from < count && (words->class[from] == WORD_PREPOSITION || words->class[from] == WORD_INNER);
        if (from == at ? !words->tokens.list[at - 1].stopped : words->class[at] != WORD_AND)
            continue;
        if (from + 1 >= count || words->class[from] != WORD_ASKER || !contrast_words_have(words, 0, at, WORD_ASKER))
            continue;
        for (item = from + 1; item < count && (words->class[item] == WORD_ADVERB || words->class[item] == WORD_ASKER);)
            item++;
        struct phrase other = contrast_phrase_from(words, item, count);
        if (other.end != count || other.begin == count || words->class[other.begin] == WORD_CONTENT)
            continue;
        size_t end = at;
        struct phrase one = contrast_first_item(words, at, &other, item);
        while (one.begin == one.end && --end > 1)
            one = contrast_phrase_before(words, 0, end, other);
        struct contrast_pairing pair = {one, other, at, count};
        return contrast_ask_each(split, words, &pair);
    }
    return false;
}

bool contrast_both(struct split *split, const struct contrast_words *words)
{
    return european_both(split, words) || european_partner(split, words, WORD_PREPOSITION) ||
           european_partner(split, words, WORD_INNER) || european_twice(split, words) || european_again(split, words);
}
