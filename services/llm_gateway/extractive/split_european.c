/* German, French and Spanish: "Wann wurde A gebaut und wo steht es?", "Quand et où est né B ?" ask twice. Other
 * questions of several parts stay whole in these languages. */
#include "split_priv.h"

#define LEFT_LEAST 3 /* words of the first question */

LIST(german_asks, "wann", "wo", "wie", "wer", "was", "warum", "wieso", "woher", "wohin", "wen", "wem", "wessen",
     "welche", "welcher", "welches", "welchen");
LIST(german_manners, "wann", "wo", "wie", "warum", "wieso", "woher", "wohin");
LIST(german_joints, "und");
LIST(german_pronouns, "er", "sie", "es", "ihn");
LIST(german_owners, "sein", "seine", "seinen", "seiner", "ihr", "ihre", "ihren", "ihrer", "dort", "dabei", "danach");
LIST(french_asks, "quand", "où", "comment", "qui", "pourquoi", "combien", "quel", "quelle", "quels", "quelles");
LIST(french_manners, "quand", "où", "comment", "pourquoi");
LIST(french_joints, "et");
LIST(french_pronouns, "il", "elle", "ils", "elles");
LIST(french_owners, "son", "sa", "ses", "leur", "leurs", "y", "en");
LIST(spanish_asks, "cuándo", "dónde", "cómo", "quién", "quiénes", "cuánto", "cuánta", "cuántos", "cuántas", "cuál",
     "cuáles", "qué");
LIST(spanish_manners, "cuándo", "dónde", "cómo");
LIST(spanish_joints, "y", "e");
LIST(spanish_pronouns, "él", "ella", "ellos", "ellas");
LIST(spanish_owners, "su", "sus", "allí");
LIST(determiners, "der", "die", "das", "den", "dem", "ein", "eine", "le", "la", "les", "un", "une", "el", "los", "las",
     "una");
LIST(inner, "der", "des", "von", "vom", "am", "im", "zu", "für", "de", "du", "la", "le", "les", "el", "los", "las",
     "del");
LIST(inverted, "-il", "-elle", "-ils", "-elles", "-on");

static const struct european_asker {
    enum language language;
    const char *const *asks, *const *manners, *const *joints, *const *pronouns, *const *owners;
    const char *begin, *end;
    bool drops_subject; /* "¿Cuándo nació A y dónde murió?" */
} askers[] = {
    {LANGUAGE_DE, german_asks, german_manners, german_joints, german_pronouns, german_owners, "", "?", false},
    {LANGUAGE_FR, french_asks, french_manners, french_joints, french_pronouns, french_owners, "", " ?", false},
    {LANGUAGE_ES, spanish_asks, spanish_manners, spanish_joints, spanish_pronouns, spanish_owners, "¿", "?", true},
};

static void asker_add(struct split *split, const struct european_asker *asker, const struct text *parts)
{
    struct text whole = text_of("");
    for (; parts->bytes; parts++)
        if (parts->length)
            whole = whole.length ? text_joined(split->arena, whole, text_of(" "), *parts) : *parts;
    char *copy = arena_copy(split->arena, whole.bytes, whole.length);
    if (copy && copy[0] >= 'a' && copy[0] <= 'z')
        copy[0] = (char)(copy[0] - ('a' - 'A'));
    whole = copy ? (struct text){copy, whole.length} : whole;
    split_add(split, text_joined(split->arena, text_of(asker->begin), whole, text_of(asker->end)));
}

static bool asker_has(const struct tokens *tokens, size_t from, size_t to, const char *const *list)
{
    while (from < to && !token_is(tokens, from, list))
        from++;
    return from < to;
}

/* The name behind the verb of the first question, with its determiner: "der Krieg", "Johann Sebastian Bach". */
static struct text asker_topic(const struct tokens *tokens, size_t to)
{
    size_t from = 2, end;
    from += from < to && !token_is_name(tokens, from) && !token_is(tokens, from, determiners);
    end = from;
    for (size_t at = from; at < to; at++) {
        if (token_is_name(tokens, at))
            end = at + 1;
        else if (!token_is(tokens, at, inner) && !(at == from && token_is(tokens, at, determiners)))
            break;
    }
    return tokens_between(tokens, from, end);
}

/* "qui l'a construite", "combien ça coûte", "quién lo diseñó", "was kostet das": a pronoun stands for the first
 * question's subject. */
static bool asker_dangles(const struct tokens *tokens, size_t from)
{
    static const char *const clitics[] = {"le", "la", "les", "lo", "los", "las", NULL};
    static const char *const who[] = {"qui", "quién", "quiénes", NULL};
    static const char *const those[] = {"ça", "cela", "ceci", "eso", "esto", NULL}, *const german[] = {"das", "dies",
                                                                                                       NULL};
    size_t next = from + 1, last = tokens->count - 1;
    bool elided = next < tokens->count && strncmp(tokens->list[next].word, "l'", 2) == 0;
    return asker_has(tokens, next, tokens->count, those) || (last > from && token_is(tokens, last, german)) ||
           (token_is(tokens, from, who) && (elided || token_is(tokens, next, clitics)));
}

/* "Wann und wo wurde A geboren?": both words ask about the rest. */
static bool asker_split_words(struct split *split, const struct european_asker *asker, const struct tokens *tokens)
{
    if (tokens->count < 5 || !token_is(tokens, 0, asker->manners) || !token_is(tokens, 1, asker->joints) ||
        !token_is(tokens, 2, asker->manners))
        return false;
    struct text rest = tokens_between(tokens, 3, tokens->count);
    asker_add(split, asker, (const struct text[]){tokens_between(tokens, 0, 1), rest, {NULL, 0}});
    asker_add(split, asker, (const struct text[]){tokens_between(tokens, 2, 3), rest, {NULL, 0}});
    return true;
}

/* "Wann … und wo …": the second question begins behind the joint at `at`. Its pronoun becomes the first one's name. */
static bool asker_split_at(struct split *split, const struct european_asker *asker, const struct tokens *tokens,
                           size_t at)
{
    size_t from = at + 1, count = tokens->count, pronoun = from + 2;
    struct text topic = asker_topic(tokens, at), none = {NULL, 0};
    bool lacks = asker->drops_subject && count == from + 2;
    while (pronoun < count && !token_is(tokens, pronoun, asker->pronouns))
        pronoun++;
    for (size_t i = 1; i < at; i++) /* "der Ort, wo A lebt und wo B liegt" is one question */
        if (token_is(tokens, i, asker->asks) || (tokens->list[i].stopped && i + 1 < at))
            return false;
    for (size_t i = from; i < count; i++) {
        struct text word = tokens_between(tokens, i, i + 1);
        if (split_match_before(word, word.length, inverted))
            return false;
    }
    if ((pronoun < count || lacks) && !topic.length)
        return false;
    if (asker_dangles(tokens, from) || asker_has(tokens, from, count, asker->owners) ||
        count < from + 2 + !asker->drops_subject)
        return false;
    asker_add(split, asker, (const struct text[]){tokens_between(tokens, 0, at), none});
    if (pronoun < count)
        asker_add(split, asker,
                  (const struct text[]){tokens_between(tokens, from, pronoun), topic,
                                        tokens_between(tokens, pronoun + 1, count), none});
    else
        asker_add(split, asker, (const struct text[]){tokens_between(tokens, from, count), lacks ? topic : none, none});
    return true;
}

bool split_european(struct split *split, struct text question)
{
    struct tokens tokens;
    const struct european_asker *asker = askers;
    size_t opening = split_match(question, 0, "¿");
    tokens_read(split_trim(split_part(question, opening, question.length), (const char *const[]){"?", NULL}), &tokens);
    while (asker->language != split->language)
        asker++;
    if (split->limit < 2 || tokens.count == TOKENS_MAX || !token_is(&tokens, 0, asker->asks))
        return false;
    if (asker_split_words(split, asker, &tokens))
        return true;
    for (size_t at = LEFT_LEAST; at + 1 < tokens.count; at++)
        if (token_is(&tokens, at, asker->joints) && token_is(&tokens, at + 1, asker->asks))
            return asker_split_at(split, asker, &tokens, at);
    return false;
}
