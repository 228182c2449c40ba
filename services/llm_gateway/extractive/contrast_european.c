/* Comparisons in German, French and Spanish: "Was ist größer, A oder B?", "A est-il plus grand que B ?". A connective
 * stands before the second item; the first one is the noun phrase beside it, the one behind the same preposition ("in A
 * ... als in B"), or the subject. Each part is the question with one of the items. A question is a comparison only if a
 * comparative, a word of difference or a choice stands beside the connective. */
#include "contrast_words.h"

/* ---- signs of a comparison --------------------------------------------------------------------------------------- */

/* "le formulaire A ou le formulaire B": the same noun with two names. */
static bool pair_has_one_noun(const struct contrast_words *words, const struct contrast_pairing *pair)
{
    size_t one = pair->one.begin, other = pair->other.begin;
    while (one < pair->one.end && words->class[one] < WORD_NAME)
        one++;
    while (other < pair->other.end && words->class[other] < WORD_NAME)
        other++;
    struct text noun = contrast_words_text(words, one, one + 1), same = contrast_words_text(words, other, other + 1);
    return one + 1 < pair->one.end && other + 1 < pair->other.end && text_equal(noun, same);
}

/* ---- connectives ------------------------------------------------------------------------------------------------- */

/* "que el anunciado" */
static bool words_end_as_participle(const struct contrast_words *words, struct phrase phrase)
{
    static const char *const endings[] = {"ado", "ido", "ada", "ida", NULL};
    struct text last = contrast_words_text(words, phrase.end - 1, phrase.end);
    return words->row->late_subject && phrase.end == phrase.begin + 2 && words->class[phrase.begin] == WORD_ARTICLE &&
           words->class[phrase.end - 1] == WORD_CONTENT && split_match_before(last, last.length, endings);
}

/* "Ist A größer als B?": `degree` is the place of the comparative. */
static bool european_than_at(struct split *split, const struct contrast_words *words, size_t degree, size_t than)
{
    struct phrase other = contrast_phrase_from(words, than + 1, words->tokens.count);
    if (!contrast_is_item(words, other) || contrast_word_is_number(words, other.begin) ||
        (words->class[other.begin] == WORD_CONTENT && words->row->nouns_have_capitals && other.end == other.begin + 1))
        return false;
    struct phrase one = {than, than}, beside = contrast_phrase_before(words, degree + 1, than, other);
    size_t parallel = contrast_parallel(words, 0, than, than + 1), count = other.end - other.begin;
    bool governed = words->class[than + 1] == WORD_PREPOSITION || words->class[than + 1] == WORD_INNER;
    bool role = other.end + 1 < words->tokens.count && words->class[other.end] == WORD_OR &&
                words->class[other.end + 1] == WORD_THAN; /* "lieber als Gast oder als Kunde" */
    if (role || (governed && parallel == than) ||         /* "größer als auf den Fotos" */
        (words->class[other.begin] == WORD_CONTENT && count == 1 &&
         (beside.end - beside.begin != 1 || beside.begin == degree + 1)) ||
        words_end_as_participle(words, other))
        return false;
    if (parallel < than && other.begin > than + 1)
        one = contrast_first_item(words, than, &other, than + 1);
    else if (words->row->late_subject && beside.begin < than && words->class[beside.begin] <= WORD_NAME &&
             words->class[beside.begin - 1] != WORD_PREPOSITION && words->class[beside.begin - 1] != WORD_INNER &&
             words->class[beside.begin] != WORD_INNER)
        one = beside; /* "¿Vive más un gato que un perro?" */
    if (one.begin == one.end && words->class[other.begin] == WORD_CONTENT)
        one = beside; /* "aprender italiano que portugués" */
    if (one.begin == one.end)
        one = contrast_subject(words, 0, degree);
    bool asks = contrast_words_have(words, 0, than, WORD_ASKER);
    for (size_t at = degree + 1; !asks && one.begin == one.end && at < than; at++)
        if (words->class[at - 1] != WORD_PREPOSITION &&
            (words->class[at] == WORD_ARTICLE || (words->class[at] == WORD_NAME && at > degree + 1)))
            one = contrast_phrase_from(words, at, than); /* "¿Tarda más el tren que el bus?" */
    if (one.begin == one.end && beside.begin > degree + 1 && words->class[beside.begin - 1] == WORD_VERB)
        one = beside; /* "Wie viel größer ist A als B?" */
    bool counted = contrast_word_in(words, other.begin, "ein eine einen un une una") && degree + 1 == than &&
                   words->class[one.begin] != WORD_ARTICLE;
    struct contrast_pairing pair = {one, other, than, other.end};
    return !counted && contrast_ask_each(split, words, &pair);
}

/* "so groß wie", "im selben Jahr wie": the place of "so"; `at`: there is none. */
static size_t words_as(const struct contrast_words *words, size_t at)
{
    size_t so = 0;
    if (!contrast_word_in(words, at, "wie"))
        return at;
    while (so < at && !contrast_word_in(words, so, "so genauso ebenso") && words->class[so] != WORD_SAME)
        so++;
    return so;
}

/* "que n'a pas B", "que no tenga B" */
static bool european_lacks(struct split *split, const struct contrast_words *words, size_t that)
{
    size_t count = words->tokens.count, at = that + 2;
    if (words->class[0] != WORD_ASKER && words->class[0] != WORD_THAN)
        return false;
    while (at < count && words->class[at] != WORD_ARTICLE && words->class[at] != WORD_NAME)
        at++;
    struct phrase other = contrast_phrase_from(words, at, count);
    struct contrast_pairing pair = {contrast_phrase_before(words, 0, that, other), other, that, count};
    return other.end == count && contrast_ask_each(split, words, &pair);
}

/* "Was hat A, was B nicht hat?" */
static bool german_lacks(struct split *split, const struct contrast_words *words, size_t stop)
{
    size_t count = words->tokens.count, end = stop;
    if (words->class[0] != WORD_ASKER || words->class[stop] != WORD_ASKER ||
        !contrast_word_in(words, count - 2, "nicht"))
        return false;
    struct phrase other = contrast_phrase_from(words, stop + 1, count), one = {stop, stop};
    while (one.begin == one.end && end > 1)
        one = contrast_phrase_before(words, 0, end--, other);
    struct contrast_pairing pair = {one, other, stop, count};
    return contrast_ask_each(split, words, &pair);
}

static bool european_than(struct split *split, const struct contrast_words *words)
{
    size_t count = words->tokens.count, degree = count;
    if (words->row->language == LANGUAGE_EN)
        return contrast_english_than(split, words);
    for (size_t at = 0; at + 1 < count; at++) {
        bool than = degree < at && (words->class[at] == WORD_THAN ||
                                    (degree + 1 == at && contrast_word_in(words, at, "à au aux a al") &&
                                     contrast_word_begins(words, degree, "supér infér super infer prefer")));
        if (degree == count && (words->class[at] == WORD_DEGREE || words->class[at] == WORD_SAME))
            degree = at;
        if (than && european_than_at(split, words, degree, at))
            return true;
        if (at > 1 && words->class[at] == WORD_THAN && contrast_word_in(words, at + 1, "no n' n’ ne"))
            return european_lacks(split, words, at);
        if (at > 1 && words->tokens.list[at - 1].stopped && german_lacks(split, words, at))
            return true;
        size_t so = words_as(words, at);
        if (so < at && european_than_at(split, words, so, at))
            return true;
    }
    return false;
}

/* "Starb A vor B?", "A est-il mort avant B ?": both are names. */
static bool european_order(struct split *split, const struct contrast_words *words)
{
    static const char events[] = "wurde wurden starb entstand begann erschien";
    static const char happened[] =
        "mort né décédé construi fondé créé paru apparu sorti publié inventé inauguré achevé lancé "
        "devenu élu reçu exploré découvert ouvert";
    size_t count = words->tokens.count, at = 2;
    while (at + 1 < count && !contrast_word_in(words, at, "vor nach avant après"))
        at++;
    bool german = words->row->nouns_have_capitals;
    if (at + 1 >= count || contrast_words_have(words, 0, count, WORD_ASKER) ||
        (german ? !contrast_word_in(words, 0, events) : !contrast_words_begin(words, happened)))
        return false;
    struct phrase other = contrast_phrase_from(words, at + 1, count);
    struct contrast_pairing pair = {contrast_subject(words, 0, german ? at : at - 1), other, at, other.end};
    return contrast_words_have(words, pair.one.begin, pair.one.end, WORD_NAME) &&
           contrast_words_have(words, other.begin, other.end, WORD_NAME) &&
           !contrast_word_is_number(words, other.begin) && contrast_ask_each(split, words, &pair);
}

/* "celle de B", "la de B", "die von B" stand for the noun before the first "de". */
static bool european_own(struct split *split, const struct contrast_words *words)
{
    for (size_t at = 2; at + 2 < words->tokens.count; at++) {
        size_t cut = at, parallel;
        bool governs = words->class[at + 1] == WORD_INNER || words->class[at + 1] == WORD_PREPOSITION;
        if (!contrast_word_in(words, at, words->row->own) || !governs || words->tokens.list[at - 1].stopped)
            continue;
        while (cut > 1 && (words->class[cut - 1] == WORD_THAN || words->class[cut - 1] == WORD_PREPOSITION ||
                           words->class[cut - 1] == WORD_INNER || words->class[cut - 1] == WORD_AND ||
                           words->class[cut - 1] == WORD_ASKER || words->class[cut - 1] == WORD_STEM ||
                           (words->class[cut - 1] == WORD_VERB && words->class[cut - 2] == WORD_ASKER)))
            cut--;
        parallel = contrast_parallel(words, 0, cut, at + 1);
        if (parallel == cut)
            continue;
        struct phrase other = contrast_phrase_from(words, at + 2, words->tokens.count);
        struct phrase one = contrast_first_item(words, cut, &other, at + 1);
        struct contrast_pairing pair = {one, other, cut, other.end};
        if (contrast_ask_each(split, words, &pair))
            return true;
    }
    return false;
}

/* "When it comes to safety, does A beat B?" */
static bool words_have_clause(const struct contrast_words *words, size_t to)
{
    for (size_t at = 1; words->row->language == LANGUAGE_EN && at < to; at++)
        if (words->tokens.list[at - 1].stopped && words->class[at] == WORD_VERB)
            return true;
    return false;
}

/* "A dépasse-t-il B ?", "¿Supera A a B?" */
static bool european_exceeds(struct split *split, const struct contrast_words *words)
{
    size_t count = words->tokens.count, at = 0;
    while (at < count &&
           !contrast_word_begins(
               words, at, "dépass surpass supera beat exceed outrun outsell outperform outnumber outlive overtake"))
        at++;
    if (at + 1 >= count || words->row->nouns_have_capitals ||
        (contrast_words_have(words, 0, count, WORD_ASKER) && !words_have_clause(words, at)))
        return false;
    size_t to = at + 1, from = at + 1 + (words->class[at + 1] == WORD_PRONOUN);
    while (words->row->late_subject && to < count && !contrast_word_in(words, to, "a al"))
        to++;
    struct phrase one =
        words->row->late_subject ? contrast_phrase_from(words, at + 1, to) : contrast_subject(words, 0, at);
    from = words->row->late_subject ? to : from;
    struct phrase other = contrast_phrase_from(words, from, count);
    struct contrast_pairing pair = {one, other, from, other.end};
    return other.end == count && contrast_ask_each(split, words, &pair);
}

/* Whether a word such as "gegenüber" compares: "Welche Vorteile hat A gegenüber B?"; not "Wie verhalte ich mich
 * gegenüber B?". */
static bool weak_beside_compares(const struct contrast_words *words, const struct contrast_pairing *pair)
{
    bool whole = words->class[0] == WORD_ASKER && words->class[1] == WORD_VERB; /* "Why was it A instead of B?" */
    bool english = words->row->language == LANGUAGE_EN;
    if (english && contrast_word_in(words, 0, "why"))
        return !whole || contrast_word_in(words, 1, "should would");
    if (english && pair->cut == 0)
        return false; /* "Rather than waiting, ..." */
    for (size_t at = 0; at < words->tokens.count; at++)
        if (contrast_words_match(words, at, "por_qué") ||
            (at != pair->cut && contrast_word_begins(words, at, words->row->choosing)))
            return true;
    bool names = !words->row->nouns_have_capitals &&
                 contrast_words_have(words, pair->one.begin, pair->one.end, WORD_NAME) &&
                 contrast_words_have(words, pair->other.begin, pair->other.end, WORD_NAME);
    return names || contrast_words_compare(words) || pair_has_one_noun(words, pair) ||
           contrast_words_begin(words, words->row->advantages) ||
           contrast_words_begin(words, "wert vaut vale coûte cuesta kostet");
}

/* "A gegen B: wer ist stärker?" */
static bool against_asks(const struct contrast_words *words, size_t at, struct phrase other)
{
    return at && contrast_word_in(words, at, "gegen contre contra") && words->class[0] != WORD_ASKER &&
           other.end > at && words->tokens.list[other.end - 1].stopped &&
           contrast_words_have(words, other.end, words->tokens.count, WORD_ASKER);
}

/* "im Vergleich zu B", "A vs B" */
static bool european_beside(struct split *split, const struct contrast_words *words)
{
    size_t count = words->tokens.count;
    for (size_t at = 0; at < count; at++) {
        size_t strong = contrast_words_match(words, at, words->row->beside);
        size_t weak = strong ? 0 : contrast_words_match(words, at, words->row->weak_beside);
        struct phrase other = contrast_phrase_from(words, at + (strong + weak ? strong + weak : 1), count);
        if (!strong && !weak && !against_asks(words, at, other))
            continue;
        struct contrast_pairing pair = {.other = other, .cut = at, .behind = other.end};
        pair.one = at ? contrast_phrase_before(words, 0, at, other) : contrast_subject(words, other.end, count);
        if (pair.one.begin == pair.one.end)
            pair.one = contrast_subject(words, 0, at);
        contrast_english_named(words, &pair);
        contrast_english_owner(words, &pair);
        return (!weak || weak_beside_compares(words, &pair)) && contrast_ask_each(split, words, &pair);
    }
    return false;
}

/* Only words such as "plutôt" and "im" stand before the item. */
static bool phrase_opens(const struct contrast_words *words, struct phrase phrase)
{
    for (size_t at = 0; at < phrase.begin; at++)
        if (words->class[at] != WORD_ADVERB && words->class[at] != WORD_DEGREE &&
            words->class[at] != WORD_PREPOSITION && words->class[at] != WORD_INNER)
            return false;
    return true;
}

/* "Wo kann ich A oder B kaufen?" has one answer. */
static bool words_have_manner(const struct contrast_words *words)
{
    for (size_t at = 0; at < words->tokens.count; at++)
        if (contrast_word_in(words, at, "wo wie wann wer où comment quand dónde cómo cuándo quién where how when"))
            return true;
    return false;
}

static bool choice_is_offered(const struct contrast_words *words, const struct contrast_pairing *pair, bool parallel)
{
    size_t count = words->tokens.count, begin = pair->one.begin;
    bool asks = contrast_words_have(words, 0, count, WORD_ASKER), governed;
    size_t before = begin;
    governed = words->class[begin] == WORD_PREPOSITION || words->class[begin] == WORD_INNER;
    while (before > 0 && !words->tokens.list[before - 1].stopped &&
           (words->class[before - 1] == WORD_PREPOSITION || words->class[before - 1] == WORD_INNER ||
            words->class[before - 1] == WORD_ADVERB))
        before--;
    governed |= before < begin && words->class[begin - 1] != WORD_ADVERB;
    bool ends = words->row->language != LANGUAGE_EN || pair->behind == count || /* "the owner, tenant or manager of" */
                words->tokens.list[pair->behind - 1].stopped;
    /* "How long is the leave after the death of a parent, sister or brother?" asks for no choice. */
    bool chooses = words->row->language != LANGUAGE_EN || !words_have_manner(words) || contrast_words_compare(words);
    ends &= chooses;
    bool apart = (ends && before > 0 && words->tokens.list[before - 1].stopped) ||
                 (before == 0 && words->tokens.list[pair->behind - 1].stopped);
    bool cleft = pair->behind < count && words->class[pair->behind] == WORD_ASKER; /* "Est-ce A ou B qui" */
    for (size_t at = 0; at < pair->one.begin; at++)
        cleft |= contrast_words_match(words, at, "whether_to") > 0;
    if (cleft || (asks && apart) || pair_has_one_noun(words, pair) ||
        (!governed && !words_have_manner(words) && contrast_words_begin(words, words->row->choosing)) ||
        (parallel && contrast_words_begin(words, "plutôt lieber eher")))
        return true;
    if (phrase_opens(words, pair->one) && (pair->behind == count || words->class[pair->behind] == WORD_PREPOSITION))
        return true;
    bool last = words->row->language == LANGUAGE_EN && pair->behind == count &&
                !contrast_words_have(words, 0, begin, WORD_THAN);
    for (size_t at = 1; at < begin; at++) /* "Is the larger room free in A or B?" */
        last &= words->class[at] != WORD_DEGREE || words->class[at - 1] != WORD_ARTICLE;
    bool named = words->class[begin] != WORD_CONTENT && words->class[pair->other.begin] != WORD_CONTENT;
    if (last && named && contrast_word_in(words, 0, "should shall"))
        return true;
    return contrast_words_compare(words) && (!governed || parallel || asks || last);
}

/* "Was ist größer, A oder B?", "Ist A oder B größer?", "Dois-je prendre A ou B ?" */
static bool european_choice(struct split *split, const struct contrast_words *words)
{
    size_t count = words->tokens.count, preposition;
    for (size_t at = 1; at + 1 < count; at++) {
        if (words->class[at] != WORD_OR || words->class[at + 1] == WORD_THAN)
            continue;
        struct phrase other = contrast_second_item(words, at, &preposition);
        struct phrase one = contrast_first_item(words, at, &other, preposition);
        struct contrast_pairing pair = {one, other, at, other.end};
        if (pair.one.begin == pair.one.end)
            pair.one = contrast_subject(words, 0, at);
        bool parallel = contrast_parallel(words, 0, at, preposition) < at;
        if (pair.one.begin < pair.one.end && other.begin < other.end && choice_is_offered(words, &pair, parallel) &&
            contrast_ask_each(split, words, &pair))
            return true;
    }
    return false;
}

/* "Welche Stadt ist größer: A, B?" */
static bool european_listed(struct split *split, const struct contrast_words *words)
{
    size_t count = words->tokens.count, last = count;
    for (size_t at = 1; at + 1 < count; at++)
        last = words->tokens.list[at].stopped ? at : last;
    if (last == count || words->class[0] != WORD_ASKER || !contrast_words_compare(words))
        return false;
    struct phrase other = contrast_phrase_from(words, last + 1, count);
    struct contrast_pairing pair = {contrast_phrase_before(words, 0, last + 1, other), other, last + 1, count};
    size_t begin = pair.one.begin;
    begin -= begin > 1 && words->class[begin - 1] == WORD_PREPOSITION;
    return other.end == count && begin > 1 && words->tokens.list[begin - 1].stopped &&
           contrast_ask_each(split, words, &pair);
}

bool contrast_european(struct split *split, struct text question)
{
    struct contrast_words words;
    if (split->limit < 2 || !contrast_words_read(&words, question, split->language) || words.tokens.count < 3)
        return false;
    if (split->language == LANGUAGE_EN && !contrast_english_asks(&words))
        return false;
    return european_own(split, &words) || european_beside(split, &words) || european_choice(split, &words) ||
           european_than(split, &words) || european_order(split, &words) || european_exceeds(split, &words) ||
           contrast_both(split, &words) || european_listed(split, &words) || contrast_english_and(split, &words);
}
