/* More comparisons in German, French and Spanish, by their names: "Leben in A mehr Menschen als in B?", "Où fait-il
 * plus chaud, à A ou à B ?", "Comparado con B, ¿es A más barato?". Each part is the question with one name in the place
 * of both. */
#include "split_priv.h"

#include <string.h>
#include <strings.h>

#define LIST(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
LIST(than_words, "als", "que", "qu'à", "qu'en", "avant");
LIST(or_words, "oder", "ou", "o", "u");
LIST(fillers, "die", "der", "das", "dem", "den", "von", "in", "im", "ist", "doch", "en", "à", "a", "la", "le", "les",
     "el", "los", "las", "celle", "celui", "de", "du", "del", "es", "que");
LIST(articles, "die", "der", "das", "le", "la", "les", "el", "los", "las");
LIST(owners, "von", "de", "du", "del");
LIST(joining, "de", "du", "del", "von", "der", "des", "la");
LIST(degrees, "mehr", "weniger", "zuerst", "plus", "moins", "premier", "première", "más", "menos", "mayor", "menor",
     "mejor", "peor", "antes", "primero", "meilleur", "supérieure", "supérieur", "né", "née", "fondée", "fondé");
LIST(which, "wer", "was", "welche", "welcher", "welches", "welchen", "wo", "wann", "wie", "qui", "quel", "quelle",
     "quels", "quelles", "lequel", "laquelle", "combien", "où", "quand", "qu'est-ce", "quién", "quiénes", "qué", "cuál",
     "cuáles", "cuánto", "cuántos", "cuántas", "dónde", "cuándo", "¿quién", "¿qué", "¿cuál", "¿cuántos", "¿dónde",
     "¿cuándo");
LIST(openings, "im vergleich zu ", "verglichen mit ", "comparé à ", "comparée à ", "par rapport à ",
     "en comparación con ", "comparado con ", "comparada con ");
LIST(marks, "?", "¿", ",", ":", ".");

struct name {
    size_t begin, end; /* tokens; end 0: there is none */
};

/* "älter", "élevé" begin with a small letter. */
static bool named_is_name(const struct tokens *tokens, size_t at)
{
    const unsigned char *c = (const unsigned char *)tokens->text.bytes + tokens->list[at].begin;
    return token_is_name(tokens, at) && (tokens->list[at].quoted || c[0] != 0xC3 || c[1] < 0x9F);
}

static bool named_is_opening(const struct tokens *tokens, size_t at)
{
    return at == 0 && (token_is(tokens, 0, fillers) || token_is(tokens, 0, degrees));
}

/* The first name in [from, to), with its article. A word at the beginning of the question is a name only if `first`. */
static struct name named_find(const struct tokens *tokens, size_t from, size_t to, bool first)
{
    size_t at = from;
    while (at < to && (!named_is_name(tokens, at) || (at == 0 && !first) || named_is_opening(tokens, at)))
        at++;
    if (at == to)
        return (struct name){0, 0};
    size_t end = at + 1;
    while (end < to && !tokens->list[end - 1].stopped &&
           (named_is_name(tokens, end) ||
            (end + 1 < to && token_is(tokens, end, joining) && named_is_name(tokens, end + 1))))
        end++;
    return (struct name){at - (at > from && token_is(tokens, at - 1, articles)), end};
}

/* German comparatives have an ending of their own. */
static bool named_compares(const struct tokens *tokens, size_t from, size_t to, bool german)
{
    for (size_t at = from; at < to; at++) {
        struct text word = tokens_between(tokens, at, at + 1);
        bool er = german && !named_is_name(tokens, at) && word.length > 4 &&
                  (split_match_before(word, word.length, (const char *const[]){"er", "ere", "eren", "erer", NULL}));
        if (token_is(tokens, at, degrees) || er)
            return true;
    }
    return false;
}

static void named_add(struct split *split, const struct text *parts)
{
    struct text whole = {"", 0};
    for (; parts->bytes; parts++)
        if (parts->length)
            whole = whole.length ? text_joined(split->arena, whole, text_of(" "), *parts) : *parts;
    whole = split_trim(whole, (const char *const[]){"?", ",", ":", NULL});
    bool spanish = split->language == LANGUAGE_ES;
    bool french = split_has(split_part(whole, 0, whole.length), (const char *const[]){" est", "-t-", "-il", NULL});
    size_t opening = split_match(whole, 0, "¿");
    whole = split_capital(split, split_part(whole, opening, whole.length));
    split_add(split,
              text_joined(split->arena, text_of(spanish ? "¿" : ""), whole, text_of(french && !spanish ? " ?" : "?")));
}

/* The words of [from, to) with `thing` in the place of `name`. */
static void named_part(struct split *split, const struct tokens *tokens, size_t from, size_t to, struct name name,
                       struct text thing)
{
    named_add(split,
              (const struct text[]){
                  tokens_between(tokens, from, name.begin), thing, tokens_between(tokens, name.end, to), {NULL, 0}});
}

static struct text named_thing(const struct tokens *tokens, struct name name)
{
    return split_trim(tokens_between(tokens, name.begin, name.end), marks);
}

static bool named_is_number(const struct tokens *tokens, size_t at)
{
    char c = tokens->text.bytes[tokens->list[at].begin];
    return c >= '0' && c <= '9';
}

/* The name behind words such as "in", "celle de". */
static struct name named_behind(const struct tokens *tokens, size_t from, bool *owned)
{
    size_t at = from;
    *owned = false;
    while (at < tokens->count && token_is(tokens, at, fillers))
        *owned |= token_is(tokens, at++, owners);
    if (at == tokens->count || !named_is_name(tokens, at) || named_is_number(tokens, at))
        return (struct name){0, 0};
    struct name name = named_find(tokens, at, tokens->count, true);
    name.begin -= at > from && token_is(tokens, at - 1, articles);
    return name;
}

/* "Hat A eine größere Fläche als B?", "La population de A est-elle supérieure à celle de B ?" */
static bool named_than(struct split *split, const struct tokens *tokens, bool german)
{
    bool owned;
    size_t count = tokens->count, than = tokens_find(tokens, 2, count, than_words), from = 0;
    bool celle = than == count;
    if (celle)
        than = tokens_find(tokens, 2, count, (const char *const[]){"celle", "celui", NULL});
    if (token_is(tokens, 0, which) || than + 1 >= count || !named_compares(tokens, 0, than + 1, german))
        return false;
    struct name other = named_behind(tokens, than + 1, &owned);
    if (!other.end || (!german && other.end < count))
        return false;
    for (size_t at = 0; owned && at + 1 < than; at++) /* "die Einwohnerzahl von A" */
        if (token_is(tokens, at, owners) && named_is_name(tokens, at + 1 + token_is(tokens, at + 1, articles)))
            from = at + 1;
    struct name one = named_find(tokens, from, than, false);
    if (!one.end && !german)
        one = named_find(tokens, from, than, true);
    if (!one.end || (!german && than > one.end + 8))
        return false;
    size_t to = celle && than > 1 ? than - 1 : than;
    named_part(split, tokens, 0, to, one, named_thing(tokens, one));
    named_part(split, tokens, 0, to, one, named_thing(tokens, other));
    return true;
}

/* "Wo leben mehr Menschen, in A oder in B?", "Est-ce A ou B qui est le plus grand ?" */
static bool named_choice(struct split *split, const struct tokens *tokens, bool german)
{
    bool ignored;
    size_t count = tokens->count, choice = tokens_find(tokens, 1, count, or_words), from = choice;
    if (choice + 1 >= count || !named_compares(tokens, 0, count, german))
        return false;
    while (from > 1 && !tokens->list[from - 1].stopped && (from == choice || !named_is_name(tokens, from)))
        from--;
    while (from > 1 && !tokens->list[from - 1].stopped && named_is_name(tokens, from - 1))
        from--;
    struct name one = named_find(tokens, from, choice, false), other = named_behind(tokens, choice + 1, &ignored);
    bool placed = one.begin <= 1 || tokens->list[one.begin - 1].stopped ||
                  (one.begin >= 2 && token_is(tokens, one.begin - 1, fillers) && tokens->list[one.begin - 2].stopped);
    if (!one.end || one.end != choice || !other.end || (german && !placed))
        return false;
    struct name both = {one.begin, other.end};
    named_part(split, tokens, 0, count, both, named_thing(tokens, one));
    named_part(split, tokens, 0, count, both, named_thing(tokens, other));
    return true;
}

/* "Wer von A und B wurde zuerst geboren?" */
static bool named_of(struct split *split, const struct tokens *tokens, bool german)
{
    static const char *const whichever[] = {"wer",      "welche", "welcher", "welches", "qui",   "lequel",
                                            "laquelle", "quién",  "cuál",    "¿quién",  "¿cuál", NULL};
    static const char *const ands[] = {"und", "et", "y", "e", NULL};
    bool ignored;
    size_t count = tokens->count, joint = tokens_find(tokens, 3, count, ands);
    if (!token_is(tokens, 0, whichever) || !token_is(tokens, 1, owners) || joint + 1 >= count ||
        !named_compares(tokens, joint, count, german))
        return false;
    struct name one = named_find(tokens, 2, joint, false), other = named_behind(tokens, joint + 1, &ignored);
    if (one.end != joint || !other.end || other.end == count)
        return false;
    for (int side = 0; side < 2; side++)
        named_add(split, (const struct text[]){tokens_between(tokens, other.end, other.end + 1),
                                               named_thing(tokens, side ? other : one),
                                               tokens_between(tokens, other.end + 1, count),
                                               {NULL, 0}});
    return true;
}

static size_t named_opening(struct text question)
{
    for (const char *const *opening = openings; *opening; opening++)
        if (question.length > strlen(*opening) && strncasecmp(question.bytes, *opening, strlen(*opening)) == 0)
            return strlen(*opening);
    return 0;
}

/* "Comparé à B, A est-il plus grand ?" */
static bool named_beside(struct split *split, struct text question, bool german)
{
    struct tokens tokens, rest;
    size_t length = named_opening(question), stop = 0;
    if (!length)
        return false;
    tokens_read(split_part(question, length, question.length), &tokens);
    while (stop < tokens.count && !tokens.list[stop].stopped)
        stop++;
    if (stop + 1 >= tokens.count || tokens.count == TOKENS_MAX)
        return false;
    struct text other = split_trim(tokens_between(&tokens, 0, stop + 1), marks);
    tokens_read(tokens_between(&tokens, stop + 1, tokens.count), &rest);
    struct name one = named_find(&rest, 0, rest.count, false);
    if (!one.end && rest.count && named_is_name(&rest, 0))
        one = named_find(&rest, 0, rest.count, true);
    if (!one.end || !named_compares(&rest, 0, rest.count, german))
        return false;
    named_part(split, &rest, 0, rest.count, one, named_thing(&rest, one));
    named_part(split, &rest, 0, rest.count, one, other);
    return true;
}

bool contrast_named(struct split *split, struct text question)
{
    struct tokens tokens;
    tokens_read(question, &tokens);
    if (split->limit < 2 || tokens.count < 4 || tokens.count == TOKENS_MAX)
        return false;
    bool german = split->language == LANGUAGE_DE;
    return named_beside(split, question, german) || named_than(split, &tokens, german) ||
           named_choice(split, &tokens, german) || named_of(split, &tokens, german);
}
