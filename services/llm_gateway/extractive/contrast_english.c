/* "Which is older, A or B?": the two compared items, and the predicate.
 *
 *      behind      Which is older, A or B?      Who was born first: A or B?     A or B: which is older?
 *      of          Which of A and B is older?
 *      before      Between A and B, which is older?     Comparing A with B, …
 *      inside      Is A or B older?
 *      than        Is A older than B?     Was A born before B? */
#include "split_priv.h"

#include <string.h>

#define THING_WORDS_MAX     14
#define ITEM_WORDS_MAX      5 /* of an item before a comma */
#define THINGS_MAX          6
#define ATTRIBUTE_WORDS_MAX 4
#define LOWER_WORDS_MAX     4 /* of a name's end in lower case */

LIST(whiches, "which", "who", "what", "whose", "where");
LIST(which, "which");
LIST(what, "what", "where");
LIST(whose, "whose");
LIST(auxiliaries, "is", "are", "was", "were", "does", "do", "did", "has", "have", "had", "can", "will");
LIST(supports, "does", "do", "did");
LIST(ors, "or", "vs", "vs.", "versus");
LIST(joins, "and", "or");
LIST(ands, "and", "or", "vs", "vs.", "versus", "with", "to");
LIST(of, "of", "between", "among");
LIST(openings, "between", "of", "out", "comparing", "compared", "considering", "among", "when", "if", "in", "for",
     "from", "given");
LIST(opening_rests, "of", "comparing", "you", "we", "compare", "comparison", "to", "with", "both", "between");
LIST(the_two, "the", "following", "two", "these", "both", "them", "one", "ones", "pair");
LIST(small, "of", "the", "and", "de", "la", "le", "du", "des", "von", "van", "der", "den", "in", "on", "at", "for", "a",
     "an", "to", "&", "el", "al", "di", "da", "del", "y", "et", "und", "with", "no", "s", "by", "bin", "ibn");
LIST(pronouns, "it", "he", "she", "they", "this", "that", "these", "those", "there", "we", "you", "i", "one", "either");
LIST(than, "than");
LIST(groups, "two", "three", "four", "five", "these", "those", "following");
LIST(adverbs, "out", "up", "off", "over", "back", "in", "on", "down", "away");
LIST(compared, "compared", "relative");
LIST(before, "before", "after");
LIST(leads, "hello", "hi", "please", "tell", "me", "can", "could", "you", "do", "know", "i", "want", "to", "wonder",
     "would", "like", "and", "so", "ok", "explain", "say", "quick", "question", "just", "curious", "i'd", "us", "let",
     "then", "but");

struct range {
    size_t from, to;
};

/* ---- items ------------------------------------------------------------------------------------------------------- */

static struct range without_ends(const struct tokens *tokens, struct range range)
{
    static const char *const first[] = {"both", "either", "between", "is", "was", "it", "of", "whether", NULL};
    while (range.from < range.to && token_is(tokens, range.from, first))
        range.from++;
    return range;
}

static bool range_is_thing(const struct tokens *tokens, struct range range)
{
    bool plain = false;
    for (size_t i = range.from; i < range.to; i++)
        plain |= token_is_plain(&tokens->list[i]) || token_is_name(tokens, i);
    if (range.from + 1 < range.to && token_is(tokens, range.from, whiches)) /* "or which came first" */
        return false;
    return plain && range.to - range.from <= THING_WORDS_MAX &&
           !(range.to == range.from + 1 && token_is(tokens, range.from, pronouns));
}

static struct text thing_of(struct split *split, const struct tokens *tokens, struct range range)
{
    struct text thing = tokens_between(tokens, range.from, range.to);
    const char *const own[] = {"'s", "’s", NULL};
    (void)split;
    thing = split_trim(thing, (const char *const[]){",", ".", ":", ";", NULL});
    thing.length -= split_match_before(thing, thing.length, own);
    return thing;
}

struct pair {
    struct range one, other;
};

/* The pair at a conjunction of [from, to): of several the one behind a comma, else the one in the middle. */
static bool read_pair(const struct tokens *tokens, struct range range, const char *const *joints, struct pair *pair)
{
    size_t places[8], count = 0, comma = 0;
    for (size_t i = range.from + 1; i + 1 < range.to && count < 8; i++) {
        if (!token_is(tokens, i, joints) || (token_is(tokens, i, (const char *const[]){"with", "to", NULL}) && count))
            continue;
        places[count++] = i;
        comma = tokens->list[i - 1].stopped && !comma ? i : comma;
    }
    if (!count)
        return false;
    for (size_t i = 0; i < count; i++) /* "or" joins more loosely than "and" */
        if (token_is(tokens, places[i], ors) && !token_is(tokens, places[count / 2], ors))
            comma = comma ? comma : places[i];
    size_t at = comma ? comma : places[count / 2];
    pair->one = without_ends(tokens, (struct range){range.from, at});
    pair->other = without_ends(tokens, (struct range){at + 1, range.to});
    return range_is_thing(tokens, pair->one) && range_is_thing(tokens, pair->other);
}

/* The end of a name that begins at `from`: before the first word that cannot belong to it. */
static size_t name_end(const struct tokens *tokens, size_t from, size_t to)
{
    size_t at = from, end = from;
    while (at < to && token_is(tokens, at, (const char *const[]){"the", "a", "an", NULL}))
        at++;
    bool named = at < to && token_is_name(tokens, at);
    if (!named) { /* "gold or silver": up to the verb or the comparative */
        while (at < to && !token_is(tokens, at, auxiliaries) && !contrast_has_comparative(tokens, at, at + 1))
            at++;
        return at;
    }
    for (; at < to; at++) {
        if (token_is_name(tokens, at) && !token_is(tokens, at, auxiliaries))
            end = at + 1;
        else if (!token_is(tokens, at, small))
            break;
    }
    return end;
}

static size_t find_comparative(const struct tokens *tokens, size_t from)
{
    while (from < tokens->count && !contrast_has_comparative(tokens, from, from + 1))
        from++;
    return from;
}

/* The begin of a predicate behind a name in lower case ("Classical music founded first"): the verb of its comparative.
 * `support`: it begins with "does" or so, and a plain verb follows. */
static size_t predicate_begin(const struct tokens *tokens, size_t end, bool support)
{
    static const char *const articles[] = {"the", "a", "an", "much", NULL};
    size_t begin = find_comparative(tokens, end);
    if (begin == tokens->count)
        return end;
    begin -= begin > end && token_is(tokens, begin - 1, articles);
    bool verb = begin > end && (support || contrast_is_verb(tokens, begin - 1));
    begin -= verb;
    for (size_t i = end; i < begin;
         i++) /* "rights" is a noun before "died first", and "gives" a verb before "text first" */
        if (token_is(tokens, i, small) || token_is_name(tokens, i) || (!verb && contrast_is_verb(tokens, i)))
            return end;
    return begin;
}

/* ---- forms ------------------------------------------------------------------------------------------------------- */

struct reading {
    const struct tokens *tokens;
    struct pair pair;
    struct range predicate; /* "is older" */
    struct range attribute; /* the attribute of a genitive question: population */
    size_t auxiliary;       /* of an inverted predicate */
    bool inverted;          /* "is … older": the auxiliary, and the words from `predicate.from` on */
};

/* The predicate behind a which-word: without "of the two", and without "city" of "which city is". */
static bool read_predicate(struct reading *reading, size_t at, size_t to)
{
    const struct tokens *tokens = reading->tokens;
    bool owned = token_is(tokens, at, whose), wants = token_is(tokens, at, what);
    size_t from = at + 1, verb;
    for (verb = from; verb < to && !token_is(tokens, verb, auxiliaries); verb++)
        ;
    if (token_is(tokens, from, supports)) /* "Did he marry A or B?": the items are objects */
        return false;
    if (verb == to) { /* "which river flows faster": the verb is before the comparative, or has an ending */
        for (verb = from + (token_is(tokens, at, which) || wants || owned); verb < to; verb++) {
            if (contrast_is_verb(tokens, verb) || contrast_has_comparative(tokens, verb + 1, verb + 2))
                break;
        }
        bool person = !token_is(tokens, at, which) && !wants && !owned;
        if (verb >= to || person) /* the subject is asked for: "… won the game" */
            verb = from;
        if (token_is(tokens, at, which) && contrast_has_comparative(tokens, from + 1, from + 2))
            verb = from;
        if (verb > from && verb < to && token_is(tokens, verb, adverbs)) /* "came out later" */
            verb--;
    }
    if (verb >= to || (wants && !contrast_has_comparative(tokens, verb, to)))
        return false;
    reading->predicate = (struct range){verb, to};
    reading->attribute = (struct range){from, owned ? verb : from};
    return to > verb;
}

static size_t first_stop(const struct tokens *tokens, size_t from, size_t to)
{
    while (from < to && !tokens->list[from].stopped)
        from++;
    return from < to ? from + 1 : to;
}

/* "Which is older, A or B?", "Which of the two, A or B, is older?" */
static bool contrast_english_read_behind(struct reading *reading, size_t at)
{
    const struct tokens *tokens = reading->tokens;
    size_t stop = first_stop(tokens, at, tokens->count), to = tokens->count;
    if (stop >= to) { /* no comma: "Which is older A or B?" */
        for (stop = at + 2; stop < to && !contrast_has_comparative(tokens, stop - 1, stop); stop++)
            ;
        if (stop >= to || !token_is_name(tokens, stop))
            return false;
    }
    size_t clause = at + 1;
    while (clause < stop && (token_is(tokens, clause, the_two) || token_is(tokens, clause, of)))
        clause++;
    if (clause == stop) { /* the predicate follows the items */
        size_t end = to;
        while (end > stop && !tokens->list[end - 1].stopped)
            end--;
        if (end <= stop)
            return false;
        reading->predicate = (struct range){end, to};
        return read_pair(tokens, (struct range){stop, end}, ands, &reading->pair) &&
               (token_is(tokens, end, auxiliaries) || contrast_has_comparative(tokens, end, to));
    }
    if (!read_predicate(reading, at, stop))
        return false;
    if (read_pair(tokens, (struct range){stop, to}, ors, &reading->pair))
        return true;
    return contrast_has_comparative(tokens, at, stop) &&
           read_pair(tokens, (struct range){stop, to}, ands, &reading->pair);
}

/* "Which of A and B is older?", "Which of the cities A and B has …?" */
static bool read_of(struct reading *reading, size_t at)
{
    const struct tokens *tokens = reading->tokens;
    size_t of_at = at + 1;
    while (of_at < tokens->count && of_at < at + 3 && !token_is(tokens, of_at, of))
        of_at++;
    if (!token_is(tokens, of_at, of) || tokens->list[of_at].stopped || of_at + 2 >= tokens->count)
        return false;
    size_t joint, stop = of_at + 1;
    while (stop < tokens->count && (token_is(tokens, stop, the_two)) && !tokens->list[stop].stopped)
        stop++;
    if (stop < tokens->count && tokens->list[stop].stopped && !token_is_name(tokens, stop) &&
        first_stop(tokens, of_at, tokens->count) == stop + 1)
        of_at = token_is(tokens, of_at + 1, the_two) ? stop : of_at; /* "of these two cities, A and B, is" */
    for (joint = of_at + 2; joint < tokens->count && !token_is(tokens, joint, joins); joint++)
        if (token_is(tokens, joint, auxiliaries))
            return false;
    bool named = name_end(tokens, of_at + 1, joint) == joint; /* "which option of groff gives text and …": not named */
    size_t end = joint < tokens->count ? name_end(tokens, joint + 1, tokens->count) : joint;
    while (end < tokens->count && token_is(tokens, end, joins)) /* "of Simon and Garfunkel and Oasis" */
        end = name_end(tokens, end + 1, tokens->count);
    size_t verb = end;
    while (verb < tokens->count && verb < end + LOWER_WORDS_MAX && !token_is(tokens, verb, auxiliaries))
        verb++;
    end = token_is(tokens, verb, auxiliaries) ? verb : predicate_begin(tokens, end, false);
    if (end >= tokens->count || end == joint + 1 || (!named && !contrast_has_comparative(tokens, end, tokens->count)) ||
        !read_pair(tokens, (struct range){of_at + 1, end}, joins, &reading->pair))
        return false;
    reading->predicate = (struct range){end, tokens->count};
    return !token_is(tokens, end, supports);
}

/* "Between A and B, which is older?", "A or B: which is older?" */
static bool read_before(struct reading *reading, size_t at)
{
    const struct tokens *tokens = reading->tokens;
    size_t from = 0, which_at = at;
    if (token_is(tokens, 0, openings))
        for (from = 1; from < at && token_is(tokens, from, opening_rests); from++)
            ;
    while (at + 1 < tokens->count && token_is(tokens, at + 1, the_two))
        at++;
    if (token_is(tokens, at + 1, of))
        for (at++; at + 1 < tokens->count && token_is(tokens, at + 1, the_two); at++)
            ;
    if (!read_predicate(reading, at, tokens->count) || !contrast_has_comparative(tokens, at, tokens->count))
        return false;
    return read_pair(tokens, (struct range){from, which_at}, ands, &reading->pair);
}

/* "before departure" tells when; "born before" and "opened first" compare. */
static bool predicate_compares(const struct tokens *tokens, size_t from)
{
    for (size_t at = from; at < tokens->count; at++)
        if (contrast_has_comparative(tokens, at, at + 1) && (!token_is(tokens, at, before) || at + 1 == tokens->count))
            return true;
    return false;
}

/* "Is A or B older?", "Does A or B have more people?" */
static bool contrast_english_read_inside(struct reading *reading)
{
    const struct tokens *tokens = reading->tokens;
    size_t joint = 1;
    while (joint < tokens->count && !token_is(tokens, joint, ors))
        joint++;
    if (joint + 2 > tokens->count)
        return false;
    size_t end = name_end(tokens, joint + 1, tokens->count);
    if (end + 1 < tokens->count && strcmp(tokens->list[end].word, tokens->list[joint - 1].word) == 0)
        end++; /* "the Tacoma railway or the Everett railway" */
    end = predicate_begin(tokens, end, token_is(tokens, 0, supports));
    reading->pair = (struct pair){without_ends(tokens, (struct range){1, joint}), {joint + 1, end}};
    reading->predicate = (struct range){end, tokens->count};
    reading->inverted = true;
    return end < tokens->count && end > joint + 1 && predicate_compares(tokens, end) &&
           !contrast_has_comparative(tokens, 1, joint) && range_is_thing(tokens, reading->pair.one) &&
           range_is_thing(tokens, reading->pair.other);
}

/* "in B" of "cheaper in A than in B" is read by the grammar (contrast_than_english.c). */
LIST(no_items, "in", "at", "on", "for", "from", "to", "with", "by", "near", "there", "it", "they", "he", "she", "we",
     "no", "anyone", "anybody", "anything", "someone", "something", "nobody", "nothing", "last", "her", "him", "them",
     "me", "us", "you", "mine", "yours", "ours", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
     "twelve");
LIST(ends, "allowed", "expected", "planned", "usual", "before", "normal", "average", "year", "limit", "page", "minute",
     "hour", "day", "week", "month", "possible", "necessary");

/* "Is A older than B?", "Was A born before B?" */
static bool read_than(struct reading *reading)
{
    const struct tokens *tokens = reading->tokens;
    size_t at = 2;
    while (at < tokens->count && !token_is(tokens, at, than) && !token_is(tokens, at, before))
        at++;
    if (at + 1 >= tokens->count)
        return false;
    bool order = token_is(tokens, at, before);
    if (token_is(tokens, 1, no_items) || token_is(tokens, at + 1, no_items) ||
        token_is(tokens, tokens->count - 1, ends))
        return false;
    size_t end = predicate_begin(tokens, name_end(tokens, 1, at), token_is(tokens, 0, supports));
    reading->pair = (struct pair){{1, end}, {at + 1, tokens->count}};
    reading->predicate = (struct range){end, order ? at + 1 : at};
    reading->inverted = true;
    if (token_is(tokens, tokens->count - 1, (const char *const[]){"does", "do", "did", "is", "was", "has", NULL}))
        reading->pair.other.to--;
    bool other_named = false;
    for (size_t i = at + 1; i < reading->pair.other.to; i++)
        other_named |=
            tokens->text.bytes[tokens->list[i].begin] >= 'A' && tokens->text.bytes[tokens->list[i].begin] <= 'Z';
    bool number =
        tokens->text.bytes[tokens->list[at + 1].begin] >= '0' && tokens->text.bytes[tokens->list[at + 1].begin] <= '9';
    bool named = token_is_name(tokens, 1) || token_is(tokens, 1, (const char *const[]){"the", NULL});
    static const char *const amounts[] = {"a", "an", "one", "half", "million", "billion", "percent", NULL};
    bool plain = !number && !token_is(tokens, at + 1, amounts) && reading->pair.other.to - at <= 4;
    for (size_t i = at + 1; i < tokens->count; i++)
        if (token_is(tokens, i, auxiliaries) && i < reading->pair.other.to)
            return false;
    return end > 1 && end < reading->predicate.to && contrast_has_comparative(tokens, end, reading->predicate.to) &&
           ((named && other_named) || (!order && plain)) && range_is_thing(tokens, reading->pair.one) &&
           range_is_thing(tokens, reading->pair.other);
}

/* "Compared with A, is B larger?" */
static bool read_compared(struct reading *reading)
{
    const struct tokens *tokens = reading->tokens;
    size_t at = first_stop(tokens, 0, tokens->count), end;
    if (!token_is(tokens, 0, compared) || !token_is(tokens, 1, (const char *const[]){"with", "to", NULL}) ||
        !token_is(tokens, at, auxiliaries))
        return false;
    end = name_end(tokens, at + 1, tokens->count);
    reading->pair = (struct pair){{2, at}, {at + 1, end}};
    reading->predicate = (struct range){end, tokens->count};
    reading->auxiliary = at;
    reading->inverted = true;
    return end < tokens->count && end > at + 1 && contrast_has_comparative(tokens, end, tokens->count) &&
           range_is_thing(tokens, reading->pair.one) && range_is_thing(tokens, reading->pair.other);
}

/* "Tell me whether A or B is larger" */
static bool read_whether(struct reading *reading)
{
    const struct tokens *tokens = reading->tokens;
    size_t at = 0, verb, count = tokens->count;
    while (token_is(tokens, at, leads))
        at++;
    size_t joint = tokens_find(tokens, at, count, ors);
    verb = tokens_find(tokens, joint, count, auxiliaries);
    if (!token_is(tokens, at, (const char *const[]){"whether", NULL}) || verb == count ||
        token_is(tokens, verb, supports))
        return false;
    reading->predicate = (struct range){verb, count};
    return contrast_has_comparative(tokens, verb, count) &&
           read_pair(tokens, (struct range){at + 1, verb}, ors, &reading->pair);
}

static bool contrast_english_read(struct reading *reading)
{
    const struct tokens *tokens = reading->tokens;
    size_t at = 0;
    if (token_is(tokens, 0, auxiliaries) && !token_is(tokens, 1, (const char *const[]){"you", "i", "we", NULL}))
        return contrast_english_read_inside(reading) || (reading->inverted = false, read_than(reading));
    if (read_compared(reading))
        return true;
    reading->inverted = false;
    if (read_whether(reading))
        return true;
    while (at < tokens->count && token_is(tokens, at, leads) && !token_is(tokens, at, whiches))
        at++;
    if (token_is(tokens, at, whiches))
        return read_of(reading, at) || contrast_english_read_behind(reading, at);
    for (at = 1; at < tokens->count; at++)
        if (token_is(tokens, at, whiches) && (tokens->list[at - 1].stopped || token_is(tokens, 0, openings)))
            return read_before(reading, at) || read_of(reading, at) || contrast_english_read_behind(reading, at);
    return false;
}

/* The items of "A, B" and "C": a comma joins items only on one side, as "Paris, Texas" and "Rome, Georgia" are names.
 */
static size_t contrast_things(struct split *split, const struct tokens *tokens, const struct pair *pair,
                              struct text things[THINGS_MAX])
{
    struct range one = pair->one;
    size_t count = 0, marked = 0, own = tokens->list[pair->other.to - 1].stopped;
    for (size_t at = pair->other.from; at < pair->other.to; at++)
        marked += tokens->list[at].stopped;
    for (size_t at = one.from; marked <= own && at + 1 < one.to && count + 2 < THINGS_MAX; at++) {
        struct range item = {one.from, at + 1};
        if (!tokens->list[at].stopped || !range_is_thing(tokens, item) || at >= item.from + ITEM_WORDS_MAX)
            continue;
        if (tokens_find(tokens, item.from, item.to, groups) == item.to) /* "these three cities, A, B and C" */
            things[count++] = thing_of(split, tokens, item);
        one.from = at + 1;
    }
    things[count++] = thing_of(split, tokens, one);
    things[count++] = thing_of(split, tokens, pair->other);
    return count;
}

/* "Do more people live in A or in B?", "Are there fewer beds at A or B?" */
static bool contrast_amounts(struct split *split, const struct tokens *tokens)
{
    static const char *const there[] = {"there", NULL}, *const amounts[] = {"more", "fewer", NULL};
    static const char *const places[] = {"in", "at", "on", "for", "from", "to", "with", "by", "near", NULL};
    size_t be = token_is(tokens, 1, there), count = tokens->count, joint = tokens_find(tokens, 3, count, ors);
    size_t place = tokens_find(tokens, be + 2, joint, places);
    bool verb = be ? token_is(tokens, 0, (const char *const[]){"are", "were", NULL}) : token_is(tokens, 0, supports);
    if (!verb || !token_is(tokens, be + 1, amounts) || joint + 1 >= count || place + 1 >= joint || place < be + 3)
        return false;
    struct range one = {place + 1, joint}, other = {joint + 1 + token_is(tokens, joint + 1, places), count};
    if (!range_is_thing(tokens, one) || !range_is_thing(tokens, other) ||
        contrast_has_comparative(tokens, joint, count))
        return false;
    const char *exists = token_is(tokens, 0, (const char *const[]){"were", NULL}) ? " were there " : " are there ";
    struct text asked = tokens_between(tokens, be + 2, place), at = tokens_between(tokens, place, place + 1);
    split->apart = true;
    for (int side = 0; side < 2; side++) {
        struct text thing = thing_of(split, tokens, side ? other : one);
        split_add(split, split_concat(split->arena, (const struct text[]){text_of("How many "),
                                                                          asked,
                                                                          text_of(be ? exists : " "),
                                                                          at,
                                                                          text_of(" "),
                                                                          thing,
                                                                          text_of("?"),
                                                                          {NULL, 0}}));
    }
    return true;
}

/* "What is the charging time of A?" */
static void ask_attribute(struct split *split, const char *asking, struct text attribute, struct text thing)
{
    split_add(split, split_concat(split->arena,
                                  (const struct text[]){
                                      text_of(asking), attribute, text_of(" of "), thing, text_of("?"), {NULL, 0}}));
}

/* An attribute that two items differ in, and the items. */
struct difference {
    struct range attribute;
    struct pair pair;
    bool plural;
};

/* "price", "the charging time": no name. */
static bool range_is_attribute(const struct tokens *tokens, struct range *range)
{
    range->from += token_is(tokens, range->from, (const char *const[]){"the", "their", NULL});
    if (range->from >= range->to || range->to > range->from + ATTRIBUTE_WORDS_MAX)
        return false;
    return tokens_find(tokens, range->from, range->to, joins) == range->to && !token_is_name(tokens, range->from);
}

/* The items of "the prices of A and B differ" and "the price of A compares with that of B". */
static bool read_owners(const struct tokens *tokens, struct range owners, size_t verb, struct pair *pair)
{
    static const char *const partners[] = {"with", "to", "from", "against", NULL};
    static const char *const again[] = {"that", "those", NULL};
    size_t count = tokens->count, other = verb + 4;
    if (verb + 1 == count)
        return read_pair(tokens, owners, joins, pair);
    *pair = (struct pair){owners, {other, count}};
    return token_is(tokens, verb + 1, partners) && token_is(tokens, verb + 2, again) &&
           token_is(tokens, verb + 3, of) && other < count && range_is_thing(tokens, pair->one) &&
           range_is_thing(tokens, pair->other);
}

/* "How do the prices of A and B differ?", "A vs B: how do the prices differ?", "How do A and B differ in price?", "How
 * do prices differ between A and B?" */
static bool read_differing(const struct tokens *tokens, struct difference *difference)
{
    static const char *const how[] = {"how", NULL}, *const differ[] = {"differ", "compare", "vary", NULL};
    static const char *const inner[] = {"in", NULL}, *const between[] = {"between", NULL};
    size_t count = tokens->count, at = tokens_find(tokens, 0, count, how), first = at + 2;
    size_t verb = tokens_find(tokens, first, count, differ);
    if (!token_is(tokens, at + 1, supports) || verb >= count || (at > 0 && !tokens->list[at - 1].stopped))
        return false;
    size_t owners = tokens_find(tokens, first, verb, of);
    difference->attribute = (struct range){first, owners};
    difference->plural = token_is(tokens, at + 1, (const char *const[]){"do", NULL});
    if (at == 0 && tokens_find(tokens, first, verb, joins) < verb && token_is(tokens, verb + 1, inner)) {
        difference->attribute = (struct range){verb + 2, count};
        difference->plural = false;
        return range_is_attribute(tokens, &difference->attribute) &&
               read_pair(tokens, (struct range){first, verb}, joins, &difference->pair);
    }
    if (!range_is_attribute(tokens, &difference->attribute))
        return false;
    if (owners < verb)
        return at == 0 && read_owners(tokens, (struct range){owners + 1, verb}, verb, &difference->pair);
    if (at > 0)
        return verb + 1 == count && read_pair(tokens, (struct range){0, at}, ands, &difference->pair);
    return token_is(tokens, verb + 1, between) &&
           read_pair(tokens, (struct range){verb + 2, count}, joins, &difference->pair);
}

/* "What is the difference in charging time between A and B?" The difference itself is not asked for apart: it is told
 * by the two values. */
static bool read_difference_in(const struct tokens *tokens, struct difference *difference)
{
    static const char *const differences[] = {"difference", "differences", NULL}, *const in[] = {"in", NULL};
    static const char *const between[] = {"between", NULL};
    size_t count = tokens->count, at = tokens_find(tokens, 0, count, differences);
    size_t joint = tokens_find(tokens, at, count, between), inner = tokens_find(tokens, at, count, in);
    if (at >= count || joint >= count || inner >= count)
        return false;
    bool behind = inner > joint; /* "the difference between A and B in price" */
    if ((behind ? joint : inner) != at + 1)
        return false;
    difference->attribute = behind ? (struct range){inner + 1, count} : (struct range){inner + 1, joint};
    return range_is_attribute(tokens, &difference->attribute) &&
           read_pair(tokens, (struct range){joint + 1, behind ? inner : count}, joins, &difference->pair);
}

static bool contrast_differences(struct split *split, const struct tokens *tokens)
{
    struct difference difference = {.plural = false};
    if (!read_differing(tokens, &difference) && !read_difference_in(tokens, &difference))
        return false;
    struct text attribute = tokens_between(tokens, difference.attribute.from, difference.attribute.to);
    const char *asking = difference.plural ? "What are the " : "What is the ";
    split->apart = true;
    ask_attribute(split, asking, attribute, thing_of(split, tokens, difference.pair.one));
    ask_attribute(split, asking, attribute, thing_of(split, tokens, difference.pair.other));
    return true;
}

bool contrast_english(struct split *split, struct text question)
{
    struct tokens tokens;
    struct reading reading = {.tokens = &tokens};
    struct text things[THINGS_MAX];
    tokens_read(question, &tokens);
    if (split->limit < 2 || tokens.count == TOKENS_MAX || tokens.count < 4)
        return false;
    if (contrast_amounts(split, &tokens))
        return true;
    if (contrast_differences(split, &tokens))
        return true;
    if (!contrast_english_read(&reading))
        return false;
    size_t count = contrast_things(split, &tokens, &reading.pair, things);
    if (count > split->limit)
        return false;
    split->apart = true;
    struct contrast_english contrast = {&tokens, reading.predicate.from, reading.predicate.to,
                                        tokens_between(&tokens, reading.attribute.from, reading.attribute.to)};
    if (reading.inverted) { /* the auxiliary moves to its predicate */
        contrast.from--;
        contrast.attribute.length = 0;
        tokens.list[contrast.from] = tokens.list[reading.auxiliary];
    }
    for (size_t i = 0; i < count; i++)
        split_add(split, contrast_english_part(split, &contrast, things[i]));
    return true;
}
