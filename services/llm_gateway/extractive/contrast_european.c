/* Comparisons in German, French and Spanish: "Was ist größer, A oder B?", "Quelle ville est plus grande, A ou B ?",
 * "¿Qué es más grande, A o B?", "A oder B: was ist größer?", "Ist A größer als B?". */
#include "split_priv.h"

#include <string.h>

#define LIST(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
LIST(german_which, "was", "wer", "welche", "welcher", "welches", "welchen");
LIST(german_or, "oder");
LIST(german_verbs, "ist", "sind", "war", "waren", "hat", "haben", "hatte", "hatten", "wurde", "wurden", "liegt", "kam",
     "starb", "lebte", "gewann", "kostet", "verbraucht", "besitzt", "erschien", "begann", "entstand", "dauert", "gibt",
     "fährt");
LIST(german_than, "als");
LIST(german_first, "zuerst", "früher", "eher", "später", "zuletzt");
LIST(french_which, "quel", "quelle", "lequel", "laquelle", "qui", "qu'est-ce");
LIST(french_or, "ou");
LIST(french_verbs, "est", "sont", "était", "a", "ont", "avait", "fut", "possède", "compte", "coûte", "se", "naquit",
     "mourut");
LIST(spanish_which, "qué", "cuál", "quién", "¿qué", "¿cuál", "¿quién", "que", "cual", "quien");
LIST(spanish_or, "o", "u");
LIST(spanish_verbs, "¿es", "¿son", "¿tiene", "¿fue", "¿era", "es", "son", "era", "tiene", "tienen", "fue", "está",
     "nació", "murió", "cuesta", "posee", "se");
LIST(french_than, "que");
LIST(comparatives, "mehr", "weniger", "zuerst", "más", "menos", "mayor", "menor", "mejor", "peor", "antes", "primero",
     "plus", "moins", "premier", "première", "avant");
LIST(no_words, "-");
LIST(inner, "der", "des", "von", "am", "im", "zu", "für", "de", "du", "la", "le", "les", "d'", "el", "los", "las",
     "del", "a", "y", "à", "aux", "die", "das", "une", "the", "of");
LIST(between, "entre", "zwischen", "von", "de", "parmi");
LIST(ands, "und", "et", "y", "e");
LIST(french_inverted, "est-il", "est-elle", "a-t-il", "a-t-elle", "fut-il", "fut-elle", "était-il", "était-elle");

static const struct european {
    enum language language;
    const char *const *which, *const *choices, *const *verbs, *const *than, *const *first;
    const char *begin, *when;
} europeans[] = {
    {LANGUAGE_DE, german_which, german_or, german_verbs, german_than, german_first, "", "Wann"},
    {LANGUAGE_FR, french_which, french_or, french_verbs, french_than, no_words, "", ""},
    {LANGUAGE_ES, spanish_which, spanish_or, spanish_verbs, french_than, no_words, "¿", ""},
};

static struct text european_joined(struct split *split, const struct text *parts)
{
    struct text whole = {"", 0};
    for (; parts->bytes; parts++)
        if (parts->length)
            whole = whole.length ? text_joined(split->arena, whole, text_of(" "), *parts) : *parts;
    return whole;
}

static struct text european_thing(const struct tokens *tokens, size_t from, size_t to)
{
    return split_trim(tokens_between(tokens, from, to), (const char *const[]){",", ":", "?", "¿", ".", NULL});
}

/* German questions begin with the verb, French and Spanish ones with the item. */
static void european_part(struct split *split, const struct european *european, const struct tokens *tokens,
                          size_t verb, size_t to, struct text thing)
{
    const struct text none = {NULL, 0};
    struct text first = tokens_between(tokens, verb, verb + 1), rest = tokens_between(tokens, verb + 1, to), whole;
    bool when = verb + 1 < to && token_is(tokens, verb + 1, european->first);
    rest = split_trim(rest, (const char *const[]){"?", ",", ":", NULL});
    if (european->language == LANGUAGE_DE && when)
        whole = european_joined(split, (const struct text[]){text_of(european->when), first, thing,
                                                             tokens_between(tokens, verb + 2, to), none});
    else if (european->language == LANGUAGE_DE)
        whole = european_joined(split, (const struct text[]){first, thing, rest, none});
    else
        whole = european_joined(split, (const struct text[]){thing, first, rest, none});
    whole = text_joined(split->arena, text_of(european->begin), split_capital(split, whole),
                        text_of(european->language == LANGUAGE_FR ? " ?" : "?"));
    split_add(split, whole);
}

/* The verb behind the which-word at `at`: a known one, else the one behind a noun. */
static size_t european_verb(const struct tokens *tokens, const struct european *european, size_t at, size_t to)
{
    size_t verb = tokens_find(tokens, at + 1, to, european->verbs);
    bool noun = at + 1 < to && token_is_name(tokens, at + 1);
    return verb < to ? verb : at + 1 + noun;
}

/* The end of a name: before the first word in lower case, except inner words of names. */
static size_t european_name_end(const struct tokens *tokens, size_t from, size_t to)
{
    size_t end = from;
    for (size_t at = from; at < to; at++) {
        if (token_is_name(tokens, at))
            end = at + 1;
        else if (!token_is(tokens, at, inner))
            break;
    }
    return end;
}

/* "größer", "mehr", "plus grand", "más grande" */
static bool european_compares(const struct tokens *tokens, size_t from, size_t to)
{
    for (size_t at = from; at < to; at++) {
        struct text word = tokens_between(tokens, at, at + 1);
        if (token_is(tokens, at, comparatives) ||
            (!token_is_name(tokens, at) && word.length > 4 &&
             split_match_before(word, word.length, (const char *const[]){"er", NULL})))
            return true;
    }
    return false;
}

/* "Wurde A vor B gebaut?" */
static bool german_order(struct split *split, const struct tokens *tokens)
{
    static const char *const orders[] = {"vor", "nach", NULL}, *const verbs[] = {"wurde",    "wurden", "starb",
                                                                                 "entstand", "begann", "erschien",
                                                                                 NULL};
    const struct text none = {NULL, 0};
    size_t count = tokens->count, order = tokens_find(tokens, 2, count, orders);
    size_t end = order + 1 < count ? european_name_end(tokens, order + 1, count) : count;
    if (!token_is(tokens, 0, verbs) || order + 1 >= count || end <= order + 1 || !token_is_name(tokens, end - 1) ||
        european_name_end(tokens, 1, order) != order)
        return false;
    struct text ending = split_trim(tokens_between(tokens, end, count), (const char *const[]){"?", NULL});
    struct text verb = text_joined(split->arena, text_of("Wann "), text_of(tokens->list[0].word), text_of(""));
    for (int side = 0; side < 2; side++) {
        struct text thing = side ? european_thing(tokens, order + 1, end) : european_thing(tokens, 1, order);
        split_add(split,
                  text_joined(split->arena, european_joined(split, (const struct text[]){verb, thing, ending, none}),
                              text_of("?"), text_of("")));
    }
    return true;
}

/* "Est-ce que A est plus grand que B ?" */
static bool french_asked(struct split *split, const struct tokens *tokens)
{
    static const char *const begin[] = {"est-ce", NULL}, *const that[] = {"que", NULL};
    const struct text none = {NULL, 0};
    size_t count = tokens->count, verb = tokens_find(tokens, 3, count, french_verbs);
    size_t than = tokens_find(tokens, verb, count, that);
    if (!token_is(tokens, 0, begin) || !token_is(tokens, 1, that) || than + 1 >= count ||
        !european_compares(tokens, verb, than))
        return false;
    for (int side = 0; side < 2; side++) {
        struct text thing = side ? european_thing(tokens, than + 1, count) : european_thing(tokens, 2, verb);
        struct text whole =
            european_joined(split, (const struct text[]){thing, tokens_between(tokens, verb, than), none});
        split_add(split, text_joined(split->arena, split_capital(split, whole), text_of(" ?"), text_of("")));
    }
    return true;
}

/* "Ist A größer als B?", "Ist A oder B größer?", "A est-il plus grand que B ?": `verb`, then an item and the rest,
 * or the reverse. */
static bool european_inverted(struct split *split, const struct european *european, const struct tokens *tokens)
{
    size_t verb = tokens_find(tokens, 0, tokens->count, french_inverted), count = tokens->count;
    size_t than = tokens_find(tokens, 2, count, european->than),
           choice = tokens_find(tokens, 2, count, european->choices);
    bool begins = verb == count || verb == 0;
    verb = begins ? 0 : verb;
    size_t from = begins ? 1 : 0, end = begins ? european_name_end(tokens, 1, than) : verb, rest_end = than;
    struct text one, other, rest;
    if (begins && !token_is(tokens, 0, european->verbs))
        return false;
    if (than + 1 < count) {
        one = european_thing(tokens, from, end);
        other = european_thing(tokens, than + 1, count);
        rest = tokens_between(tokens, begins ? end : verb + 1, rest_end);
    } else if (begins && choice + 1 < count) {
        end = european_name_end(tokens, choice + 1, count);
        one = european_thing(tokens, 1, choice);
        other = european_thing(tokens, choice + 1, end);
        rest = tokens_between(tokens, end, count);
    } else {
        return false;
    }
    size_t second = than + 1 < count ? than : choice;
    bool compares = than + 1 < count ? european_compares(tokens, end, than) : european_compares(tokens, end, count);
    if (!one.length || !other.length || !rest.length || !compares || token_is(tokens, 0, european->which) ||
        (other.bytes[0] >= '0' && other.bytes[0] <= '9') || /* "größer als 5 GB" */
        !token_is_name(tokens, second + 1 + (second + 2 < count && token_is(tokens, second + 1, inner))))
        return false;
    struct text first = tokens_between(tokens, verb, verb + 1);
    for (int side = 0; side < 2; side++) {
        struct text thing = side ? other : one;
        const struct text german[] = {first, thing, rest, {NULL, 0}}, french[] = {thing, first, rest, {NULL, 0}};
        split_add(split, text_joined(split->arena, european_joined(split, begins ? german : french),
                                     text_of(european->language == LANGUAGE_FR ? " ?" : "?"), text_of("")));
    }
    return true;
}

bool contrast_european(struct split *split, struct text question)
{
    struct tokens tokens;
    const struct european *european = europeans;
    tokens_read(question, &tokens);
    while (european->language != split->language)
        european++;
    size_t which = tokens_find(&tokens, 0, tokens.count, european->which), stop = which;
    size_t joint = tokens_find(&tokens, 1, tokens.count, european->choices);
    if (split->limit < 2 || tokens.count == TOKENS_MAX)
        return false;
    size_t begin = token_is(&tokens, 0, between);
    bool apart = which > 2 && which < tokens.count && tokens.list[which - 1].stopped;
    if (begin && which < tokens.count) /* "Entre A et B, lequel" */
        joint = tokens_find(&tokens, 2, which, tokens_find(&tokens, 2, which, ands) < which ? ands : european->choices);
    else if (apart && joint == tokens.count && european_compares(&tokens, which, tokens.count)) /* "A und B: wer" */
        joint = tokens_find(&tokens, 1, which, ands);
    if (split->language == LANGUAGE_DE ? german_order(split, &tokens)
                                       : split->language == LANGUAGE_FR && french_asked(split, &tokens))
        return true;
    if (which == tokens.count || joint + 1 >= tokens.count || (which && !tokens.list[which - 1].stopped))
        return european_inverted(split, european, &tokens);
    while (stop < tokens.count && !tokens.list[stop].stopped)
        stop++;
    struct text one, other;
    size_t verb, end;
    bool names = stop + 1 < tokens.count &&
                 (token_is_name(&tokens, stop + 1) || token_is(&tokens, stop + 1, inner) || stop + 1 == joint - 1);
    if (which <= 1 && stop < joint && names) { /* "Was ist größer, A oder B?" */
        one = european_thing(&tokens, stop + 1, joint);
        other = european_thing(&tokens, joint + 1, tokens.count);
        end = stop + 1;
    } else if (which > joint + 1 && tokens.list[which - 1].stopped) { /* "A oder B: was ist größer?" */
        one = european_thing(&tokens, begin, joint);
        other = european_thing(&tokens, joint + 1, which);
        end = tokens.count;
    } else {
        return false;
    }
    verb = european_verb(&tokens, european, which, end);
    if (verb >= end || !one.length || !other.length)
        return false;
    european_part(split, european, &tokens, verb, end, one);
    european_part(split, european, &tokens, verb, end, other);
    return true;
}
