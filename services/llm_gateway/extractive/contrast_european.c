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
LIST(spanish_verbs, "es", "son", "era", "tiene", "tienen", "fue", "está", "nació", "murió", "cuesta", "posee", "se");
LIST(no_words, "-");

static const struct european {
    enum split_language language;
    const char *const *which, *const * or, *const *verbs, *const *than, *const *first;
    const char *begin, *when;
} europeans[] = {
    {SPLIT_GERMAN, german_which, german_or, german_verbs, german_than, german_first, "", "Wann"},
    {SPLIT_FRENCH, french_which, french_or, french_verbs, no_words, no_words, "", ""},
    {SPLIT_SPANISH, spanish_which, spanish_or, spanish_verbs, no_words, no_words, "¿", ""},
};

static struct text european_joined(struct split *split, const struct text *parts)
{
    struct text whole = {"", 0};
    for (; parts->bytes; parts++)
        if (parts->length)
            whole = whole.length ? text_joined(split->arena, whole, text_of(" "), *parts) : *parts;
    return whole;
}

static struct text european_capital(struct split *split, struct text text)
{
    char *copy = text.length ? arena_copy(split->arena, text.bytes, text.length) : NULL;
    if (!copy)
        return text;
    copy[0] = (char)(copy[0] >= 'a' && copy[0] <= 'z' ? copy[0] - ('a' - 'A') : copy[0]);
    return (struct text){copy, text.length};
}

static struct text european_thing(const struct tokens *tokens, size_t from, size_t to)
{
    return split_trim(tokens_between(tokens, from, to), (const char *const[]){",", ":", "?", "¿", ".", NULL});
}

/* German asks with the verb first, French and Spanish with the thing first. */
static void european_part(struct split *split, const struct european *european, const struct tokens *tokens,
                          size_t verb, size_t to, struct text thing)
{
    const struct text none = {NULL, 0};
    struct text first = tokens_between(tokens, verb, verb + 1), rest = tokens_between(tokens, verb + 1, to), whole;
    bool when = verb + 1 < to && token_is(tokens, verb + 1, european->first);
    rest = split_trim(rest, (const char *const[]){"?", ",", ":", NULL});
    if (european->language == SPLIT_GERMAN && when)
        whole = european_joined(split, (const struct text[]){text_of(european->when), first, thing,
                                                             tokens_between(tokens, verb + 2, to), none});
    else if (european->language == SPLIT_GERMAN)
        whole = european_joined(split, (const struct text[]){first, thing, rest, none});
    else
        whole = european_joined(split, (const struct text[]){thing, first, rest, none});
    whole = text_joined(split->arena, text_of(european->begin), european_capital(split, whole),
                        text_of(european->language == SPLIT_FRENCH ? " ?" : "?"));
    split_add(split, whole);
}

static size_t european_find(const struct tokens *tokens, size_t from, size_t to, const char *const *list)
{
    while (from < to && !token_is(tokens, from, list))
        from++;
    return from;
}

/* The verb behind the which-word at `at`: a known one, else the one behind a noun. */
static size_t european_verb(const struct tokens *tokens, const struct european *european, size_t at, size_t to)
{
    size_t verb = european_find(tokens, at + 1, to, european->verbs);
    bool noun = at + 1 < to && token_is_name(tokens, at + 1);
    return verb < to ? verb : at + 1 + noun;
}

static bool european_than(struct split *split, const struct european *european, const struct tokens *tokens)
{
    size_t than = european_find(tokens, 3, tokens->count, european->than);
    if (!token_is(tokens, 0, european->verbs) || than + 1 >= tokens->count)
        return false;
    struct text verb = tokens_between(tokens, 0, 1), rest = tokens_between(tokens, than - 1, than);
    struct text one = european_thing(tokens, 1, than - 1), other = european_thing(tokens, than + 1, tokens->count);
    if (token_is_name(tokens, than - 1) || !token_is_name(tokens, than + 1) || !token_is_name(tokens, than - 2))
        return false;
    for (int side = 0; side < 2; side++)
        split_add(split,
                  text_joined(split->arena,
                              european_joined(split, (const struct text[]){verb, side ? other : one, rest, {NULL, 0}}),
                              text_of("?"), text_of("")));
    return true;
}

bool contrast_european(struct split *split, struct text question, enum split_language language)
{
    struct tokens tokens;
    const struct european *european = europeans;
    tokens_read(question, &tokens);
    while (european->language != language)
        european++;
    size_t which = european_find(&tokens, 0, tokens.count, european->which), stop = which;
    size_t joint = european_find(&tokens, 1, tokens.count, european->or);
    if (split->limit < 2 || tokens.count == TOKENS_MAX)
        return false;
    if (which == tokens.count || joint + 1 >= tokens.count)
        return european_than(split, european, &tokens);
    while (stop < tokens.count && !tokens.list[stop].stopped)
        stop++;
    struct text one, other;
    size_t verb, end;
    if (which <= 1 && stop < joint) { /* "Was ist größer, A oder B?" */
        one = european_thing(&tokens, stop + 1, joint);
        other = european_thing(&tokens, joint + 1, tokens.count);
        end = stop + 1;
    } else if (which > joint + 1 && tokens.list[which - 1].stopped) { /* "A oder B: was ist größer?" */
        one = european_thing(&tokens, 0, joint);
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
