/* The question about one item of an English comparison: "is older" → "How old is A?", "has a larger population" →
 * "How large is the population of A?", "was born first" → "When was A born?". */
#include "split_priv.h"

#include <stdio.h>
#include <string.h>

LIST(auxiliaries, "is", "are", "was", "were", "does", "do", "did", "has", "have", "had", "can", "could", "will",
     "would");
LIST(be, "is", "are", "was", "were");
LIST(had, "has", "have", "had");
LIST(supports, "does", "do", "did", "can", "could", "will", "would");
LIST(articles, "a", "an", "the");
LIST(orders, "first", "earlier", "later", "last", "before", "after", "earliest", "latest", "sooner", "soonest");
LIST(mores, "more", "most", "fewer", "fewest", "less", "least", "longer", "further", "farther");
LIST(recently, "recently", "recent", "early", "late");
LIST(small, "of", "in", "on", "at", "by", "for", "to", "from", "with", "as", "than", "between", "and", "or", "when",
     "among", "per", "above", "terms");

/* Words of a degree and their plain form; "more" and "most" stand before any other. */
static const struct {
    const char *words[5];
    const char *plain;
} degrees[] = {
    {{"older", "oldest", "elder", "eldest"}, "old"},
    {{"younger", "youngest"}, "young"},
    {{"newer", "newest"}, "new"},
    {{"larger", "largest"}, "large"},
    {{"bigger", "biggest"}, "big"},
    {{"smaller", "smallest"}, "small"},
    {{"greater", "greatest"}, "great"},
    {{"taller", "tallest"}, "tall"},
    {{"higher", "highest"}, "high"},
    {{"lower", "lowest"}, "low"},
    {{"longer", "longest"}, "long"},
    {{"shorter", "shortest"}, "short"},
    {{"faster", "fastest"}, "fast"},
    {{"quicker", "quickest"}, "quick"},
    {{"slower", "slowest"}, "slow"},
    {{"heavier", "heaviest"}, "heavy"},
    {{"lighter", "lightest"}, "light"},
    {{"cheaper", "cheapest"}, "cheap"},
    {{"costlier", "costliest"}, "costly"},
    {{"closer", "closest"}, "close"},
    {{"nearer", "nearest"}, "near"},
    {{"deeper", "deepest"}, "deep"},
    {{"wider", "widest"}, "wide"},
    {{"broader", "broadest"}, "broad"},
    {{"richer", "richest"}, "rich"},
    {{"poorer", "poorest"}, "poor"},
    {{"stronger", "strongest"}, "strong"},
    {{"weaker", "weakest"}, "weak"},
    {{"warmer", "warmest"}, "warm"},
    {{"hotter", "hottest"}, "hot"},
    {{"colder", "coldest"}, "cold"},
    {{"denser", "densest"}, "dense"},
    {{"busier", "busiest"}, "busy"},
    {{"safer", "safest"}, "safe"},
    {{"harder", "hardest"}, "hard"},
    {{"softer", "softest"}, "soft"},
    {{"easier", "easiest"}, "easy"},
    {{"brighter", "brightest"}, "bright"},
    {{"darker", "darkest"}, "dark"},
    {{"thicker", "thickest"}, "thick"},
    {{"thinner", "thinnest"}, "thin"},
    {{"quieter", "quietest"}, "quiet"},
    {{"louder", "loudest"}, "loud"},
    {{"cooler", "coolest"}, "cool"},
    {{"wetter", "wettest"}, "wet"},
    {{"drier", "driest"}, "dry"},
    {{"shallower", "shallowest"}, "shallow"},
    {{"narrower", "narrowest"}, "narrow"},
    {{"cleaner", "cleanest"}, "clean"},
    {{"nicer", "nicest"}, "nice"},
    {{"smarter", "smartest"}, "smart"},
    {{"wiser", "wisest"}, "wise"},
    {{"sweeter", "sweetest"}, "sweet"},
    {{"fresher", "freshest"}, "fresh"},
    {{"fatter", "fattest"}, "fat"},
    {{"finer", "finest"}, "fine"},
    {{"flatter", "flattest"}, "flat"},
    {{"looser", "loosest"}, "loose"},
    {{"tighter", "tightest"}, "tight"},
    {{"milder", "mildest"}, "mild"},
    {{"simpler", "simplest"}, "simple"},
    {{"rarer", "rarest"}, "rare"},
    {{"stricter", "strictest"}, "strict"},
    {{"rougher", "roughest"}, "rough"},
    {{"smoother", "smoothest"}, "smooth"},
    {{"sharper", "sharpest"}, "sharp"},
    {{"steeper", "steepest"}, "steep"},
    {{"stiffer", "stiffest"}, "stiff"},
    {{"tougher", "toughest"}, "tough"},
    {{"greener", "greenest"}, "green"},
    {{"fitter", "fittest"}, "fit"},
    {{"better", "best"}, "good"},
    {{"worse", "worst"}, "bad"},
    {{"further", "farther", "furthest", "farthest"}, "far"},
    {{"earlier", "earliest"}, "early"},
    {{"later", "latest"}, "late"},
};

static const struct {
    const char *past, *base;
} irregular[] = {
    {"came", "come"},        {"went", "go"},        {"began", "begin"},       {"won", "win"},
    {"wrote", "write"},      {"became", "become"},  {"took", "take"},         {"got", "get"},
    {"had", "have"},         {"made", "make"},      {"sold", "sell"},         {"ran", "run"},
    {"fell", "fall"},        {"grew", "grow"},      {"held", "hold"},         {"led", "lead"},
    {"lost", "lose"},        {"met", "meet"},       {"rose", "rise"},         {"sang", "sing"},
    {"spent", "spend"},      {"stood", "stand"},    {"taught", "teach"},      {"wore", "wear"},
    {"built", "build"},      {"broke", "break"},    {"left", "leave"},        {"gave", "give"},
    {"found", "find"},       {"flew", "fly"},       {"drew", "draw"},         {"did", "do"},
    {"said", "say"},         {"saw", "see"},        {"sank", "sink"},         {"has", "have"},
    {"does", "do"},          {"goes", "go"},        {"cost", "cost"},         {"costs", "cost"},
    {"set", "set"},          {"put", "put"},        {"let", "let"},           {"beat", "beat"},
    {"paid", "pay"},         {"fought", "fight"},   {"bought", "buy"},        {"brought", "bring"},
    {"received", "receive"}, {"died", "die"},       {"dies", "die"},          {"lies", "lie"},
    {"focused", "focus"},    {"scored", "score"},   {"moved", "move"},        {"lived", "live"},
    {"used", "use"},         {"closed", "close"},   {"published", "publish"}, {"joined", "join"},
    {"entered", "enter"},    {"opened", "open"},    {"covered", "cover"},     {"discovered", "discover"},
    {"offered", "offer"},    {"invaded", "invade"}, {"hosted", "host"},       {"ended", "end"},
    {"landed", "land"},      {"toured", "tour"},
};

static const char *plain_degree(const struct tokens *tokens, size_t at)
{
    for (size_t i = 0; at < tokens->count && i < sizeof degrees / sizeof *degrees; i++)
        for (size_t j = 0; degrees[i].words[j]; j++)
            if (strcmp(degrees[i].words[j], tokens->list[at].word) == 0)
                return degrees[i].plain;
    return NULL;
}

/* "healthier", "healthiest": the degree of a word in -y. */
static bool is_ier(const struct tokens *tokens, size_t at)
{
    static const char *const others[] = {"carrier", "barrier", "frontier", "soldier", "supplier", "premier",
                                         "courier", "glacier", "atelier",  "pier",    "tier",     NULL};
    const char *word = at < tokens->count ? tokens->list[at].word : "";
    size_t length = strlen(word);
    return (length > 5 && strcmp(word + length - 3, "ier") == 0 && !token_is(tokens, at, others)) ||
           (length > 6 && strcmp(word + length - 4, "iest") == 0 &&
            !token_is(tokens, at, (const char *const[]){"priest", NULL}));
}

bool contrast_has_comparative(const struct tokens *tokens, size_t from, size_t to)
{
    to = to < tokens->count ? to : tokens->count;
    for (size_t i = from; i < to; i++)
        if (plain_degree(tokens, i) || is_ier(tokens, i) || token_is(tokens, i, mores) || token_is(tokens, i, orders))
            return true;
    return false;
}

/* The verb without its ending: "opened", "uses". */
static struct text base_of(struct split *split, const struct tokens *tokens, size_t at)
{
    const struct token *token = &tokens->list[at];
    struct text whole = tokens_between(tokens, at, at + 1);
    static const char *const with_e[] = {"at", "ac", "iz", "is", "as", "os", "us", "v",    "uc",   "ag",
                                         "ng", "bl", "pl", "tl", "ir", "ur", "or", "ut",   "id",   "ud",
                                         "ad", "in", "il", "ik", "ak", "ap", "am", "im",   "um",   "ul",
                                         "ar", "rs", "ns", "nc", "rc", "rg", "dg", "plet", "elet", NULL};
    static const char *const without_e[] = {"eat", "oat", "ain", "oin", "ead", "oad", "out", "eir",
                                            "our", "ing", "ail", "oil", "eak", "oak", "aim", "oam",
                                            "aul", "ear", "oar", "eap", "eam", "ang", "ong", NULL};
    static const char *const doubled[] = {"pp", "tt", "nn", "mm", "gg", "rr", "bb", "dd", NULL};
    for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
        if (strcmp(irregular[i].past, token->word) == 0)
            return text_of(irregular[i].base);
    size_t length = whole.length;
    if (split_match_before(whole, length, (const char *const[]){"ied", "ies", NULL}))
        return text_joined(split->arena, split_part(whole, 0, length - 3), text_of("y"), text_of(""));
    if (split_match_before(whole, length, (const char *const[]){"ed", NULL}) && length > 4) {
        struct text stem = split_part(whole, 0, length - 2);
        if (split_match_before(stem, stem.length, doubled))
            return split_part(stem, 0, stem.length - 1);
        bool e = split_match_before(stem, stem.length, with_e) && !split_match_before(stem, stem.length, without_e);
        return e ? split_part(whole, 0, length - 1) : stem;
    }
    if (split_match_before(whole, length, (const char *const[]){"sses", "ches", "shes", "xes", NULL}))
        return split_part(whole, 0, length - 2);
    if (length > 2 && whole.bytes[length - 1] == 's' && whole.bytes[length - 2] != 's')
        return split_part(whole, 0, length - 1);
    return whole;
}

bool contrast_is_verb(const struct tokens *tokens, size_t at)
{
    static const char *const participles[] = {"born",  "built", "written", "known", "seen",  "begun",
                                              "shown", "drawn", "sung",    "made",  "found", "sold",
                                              "held",  "taken", "given",   "come",  "gone",  NULL};
    const char *word = tokens->list[at].word;
    size_t length = strlen(word);
    for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
        if (strcmp(irregular[i].past, word) == 0)
            return true;
    return token_is(tokens, at, participles) || (length > 3 && ((word[length - 1] == 's' && word[length - 2] != 's') ||
                                                                strcmp(word + length - 2, "ed") == 0));
}

static bool is_past(const struct tokens *tokens, size_t at)
{
    const char *word = tokens->list[at].word;
    size_t length = strlen(word);
    for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
        if (strcmp(irregular[i].past, word) == 0)
            return strcmp(word, "has") != 0 && strcmp(word, "does") != 0 && word[length - 1] != 's';
    return length > 3 && strcmp(word + length - 2, "ed") == 0;
}

/* Whether the words of [from, to) end in a plural. */
static bool is_plural(const struct tokens *tokens, size_t from, size_t to)
{
    static const char *const plurals[] = {"people", "men", "women", "children", "teeth", "feet", "fish", "sheep", NULL};
    return to > from && (tokens->text.bytes[tokens->list[to - 1].end - 1] == 's' || token_is(tokens, to - 1, plurals));
}

/* ---- the question ------------------------------------------------------------------------------------------------ */

struct predicate {
    const struct tokens *tokens;
    size_t from, to;
};

#define END ((struct text){NULL, 0})
#define S   text_of(" ")

/* Parts with one blank between those that are not empty, and a question mark. */
static struct text contrast_predicate_ask(struct split *split, const struct text *parts)
{
    struct text whole = {"", 0};
    for (; parts->bytes; parts++) {
        if (!parts->length)
            continue;
        bool own = split_match(*parts, 0, "'s") > 0;
        whole = whole.length ? text_joined(split->arena, whole, text_of(own ? "" : " "), *parts) : *parts;
    }
    return text_joined(split->arena, whole, text_of("?"), text_of(""));
}

/* A word in lower case: an auxiliary stood at the begin of the question, a degree may be in capitals. */
static struct text small_word(struct split *split, const struct tokens *tokens, size_t at)
{
    const char *copy = arena_strdup(split->arena, tokens->list[at].word);
    return copy && *copy ? text_of(copy) : tokens_between(tokens, at, at + 1);
}

/* The words of [from, to) without the one at `skip`, and without a blank "the" or "more" before it. */
static struct text rest_without(struct split *split, const struct tokens *tokens, size_t from, size_t to, size_t skip)
{
    struct text before = tokens_between(tokens, from, skip < to ? skip : to);
    struct text behind = tokens_between(tokens, skip + 1, to);
    before = split_trim(before, (const char *const[]){",", NULL});
    return before.length && behind.length ? text_joined(split->arena, before, S, behind)
           : before.length                ? before
                                          : behind;
}

/* "first" of "opened first"; in "the first film" it tells of the film. */
static size_t find_order(const struct tokens *tokens, size_t from, size_t to)
{
    size_t at = tokens_find(tokens, from, to, orders);
    return at + 1 < to && at > 0 && token_is(tokens, at - 1, articles) ? to : at;
}

static size_t find_degree(const struct tokens *tokens, size_t from, size_t to)
{
    while (from < to && !plain_degree(tokens, from) && !is_ier(tokens, from))
        from++;
    return from;
}

/* "is older", "is the larger city", "is more expensive": "How … is A?" */
static struct text ask_degree(struct split *split, const struct predicate *predicate, struct text thing, size_t at)
{
    const struct tokens *tokens = predicate->tokens;
    const char *plain = plain_degree(tokens, at);
    size_t behind = at + 1;
    struct text degree = plain ? text_of(plain) : tokens_between(tokens, at + 1, at + 2);
    if (is_ier(tokens, at)) {
        struct text own = small_word(split, tokens, at);
        size_t ending = split_match_before(own, own.length, (const char *const[]){"iest", "ier", NULL});
        degree = text_joined(split->arena, split_part(own, 0, own.length - ending), text_of("y"), text_of(""));
    } else {
        behind += plain ? 0 : 1;
    }
    while (behind < predicate->to && !token_is(tokens, behind, small)) /* "city" of "the larger city" */
        behind++;
    if (token_is(tokens, behind, (const char *const[]){"of", NULL}) && /* "of the two" */
        token_is(tokens, predicate->to - 1, (const char *const[]){"two", "them", "both", NULL}))
        behind = predicate->to;
    return contrast_predicate_ask(split, (const struct text[]){text_of("How"), degree,
                                                               small_word(split, tokens, predicate->from), thing,
                                                               tokens_between(tokens, behind, predicate->to), END});
}

/* "has a larger population", "has more members" */
static struct text ask_had(struct split *split, const struct predicate *predicate, struct text thing, size_t at,
                           bool past)
{
    const struct tokens *tokens = predicate->tokens;
    const char *plain = plain_degree(tokens, at);
    struct text noun = tokens_between(tokens, at + 1, predicate->to);
    if (plain)
        return contrast_predicate_ask(split, (const struct text[]){text_of("How"), text_of(plain),
                                                                   text_of(past ? "was" : "is"), text_of("the"), noun,
                                                                   text_of("of"), thing, END});
    bool many = is_plural(tokens, at + 1, tokens_find(tokens, at + 1, predicate->to, small)) ||
                token_is(tokens, at, (const char *const[]){"fewer", "fewest", NULL});
    return contrast_predicate_ask(split,
                                  (const struct text[]){text_of(many ? "How many" : "How much"), noun,
                                                        text_of(past ? "did" : "does"), thing, text_of("have"), END});
}

/* Any other verb: "opened first", "sold more copies", "uses a database". */
static struct text ask_verb(struct split *split, const struct predicate *predicate, struct text thing)
{
    const struct tokens *tokens = predicate->tokens;
    size_t verb = predicate->from, to = predicate->to;
    bool supported = token_is(tokens, verb, supports);
    verb += supported;
    struct text support = supported               ? small_word(split, tokens, predicate->from)
                          : is_past(tokens, verb) ? text_of("did")
                                                  : text_of("does");
    struct text base = supported ? tokens_between(tokens, verb, verb + 1) : base_of(split, tokens, verb);
    size_t order = find_order(tokens, verb + 1, to), more = tokens_find(tokens, verb + 1, to, mores);
    size_t degree = find_degree(tokens, verb + 1, to);
    static const char *const been[] = {"been", NULL};
    bool perfect = verb + 1 < to && token_is(tokens, verb, had) &&
                   (token_is(tokens, verb + 1, been) || contrast_is_verb(tokens, verb + 1));
    if (perfect) { /* "has been around longer", "has won more" */
        support = small_word(split, tokens, verb++);
        base = tokens_between(tokens, verb, verb + 1);
    }
    if (order < to)
        return contrast_predicate_ask(split,
                                      (const struct text[]){text_of("When"), support, thing, base,
                                                            rest_without(split, tokens, verb + 1, to, order), END});
    if (more < to && more + 1 < to && token_is(tokens, more + 1, recently))
        return contrast_predicate_ask(split,
                                      (const struct text[]){text_of("When"), support, thing, base,
                                                            rest_without(split, tokens, verb + 1, more, to), END});
    if (degree < to && plain_degree(tokens, degree) && (degree + 1 == to || token_is(tokens, degree + 1, small)))
        return contrast_predicate_ask(
            split, (const struct text[]){text_of("How"), text_of(plain_degree(tokens, degree)), support, thing, base,
                                         rest_without(split, tokens, verb + 1, to, degree), END});
    if (more + 1 == to && token_is(tokens, more, (const char *const[]){"more", "most", "less", "least", NULL}))
        return contrast_predicate_ask(split, (const struct text[]){text_of("How much"), support, thing, base,
                                                                   tokens_between(tokens, verb + 1, more), END});
    if (more < to && more + 1 < to) {
        size_t end = tokens_find(tokens, more + 1, to, small);
        bool plural = is_plural(tokens, more + 1, end);
        return contrast_predicate_ask(split, (const struct text[]){text_of(plural ? "How many" : "How much"),
                                                                   tokens_between(tokens, more + 1, end), support,
                                                                   thing, base, tokens_between(tokens, end, to), END});
    }
    return contrast_predicate_ask(
        split, (const struct text[]){support, thing, base, tokens_between(tokens, verb + 1, to), END});
}

/* "is/was …" */
static struct text ask_being(struct split *split, const struct predicate *predicate, struct text thing)
{
    const struct tokens *tokens = predicate->tokens;
    size_t from = predicate->from + 1, to = predicate->to, order = find_order(tokens, from, to);
    size_t degree = find_degree(tokens, from, to), more = tokens_find(tokens, from, to, mores);
    struct text verb = small_word(split, tokens, predicate->from);
    if (order < to)
        return contrast_predicate_ask(
            split, (const struct text[]){
                       text_of("When"), verb, thing,
                       rest_without(split, tokens, from + token_is(tokens, from, articles), to, order), END});
    if (more < to && more + 1 < to && token_is(tokens, more + 1, recently))
        return contrast_predicate_ask(
            split, (const struct text[]){text_of("When"), verb, thing,
                                         tokens_between(tokens, from + token_is(tokens, from, articles), more), END});
    size_t first = from + token_is(tokens, from, articles) +
                   token_is(tokens, from, (const char *const[]){"much", "even", "by", NULL});
    if (degree < to && degree <= first)
        return ask_degree(split, predicate, thing, degree);
    if (more < to && more + 1 < to && more <= first)
        return ask_degree(split, predicate, thing, more);
    return split_capital(split, contrast_predicate_ask(
                                    split, (const struct text[]){verb, thing, tokens_between(tokens, from, to), END}));
}

struct text contrast_english_part(struct split *split, const struct contrast_english *contrast, struct text thing)
{
    const struct tokens *tokens = contrast->tokens;
    struct predicate predicate = {tokens, contrast->from, contrast->to};
    size_t last = predicate.to;
    static const char *const than[] = {"than", NULL};
    if (tokens_find(tokens, predicate.from, last, than) < last)
        predicate.to = tokens_find(tokens, predicate.from, last, than);
    if (predicate.to > predicate.from + 2 && /* "earlier or later" */
        token_is(tokens, predicate.to - 2, (const char *const[]){"or", NULL}) &&
        contrast_has_comparative(tokens, predicate.to - 1, predicate.to))
        predicate.to -= 2;
    if (contrast->attribute.length)
        thing = text_joined(split->arena, thing, text_of("'s "), contrast->attribute);
    size_t first = predicate.from + 1;
    first += token_is(tokens, first, articles);
    if (token_is(tokens, predicate.from, be))
        return ask_being(split, &predicate, thing);
    if (token_is(tokens, predicate.from, had) && first < predicate.to &&
        (plain_degree(tokens, first) || token_is(tokens, first, mores)))
        return ask_had(split, &predicate, thing, first,
                       token_is(tokens, predicate.from, (const char *const[]){"had", NULL}));
    if (token_is(tokens, predicate.from, supports) && predicate.from + 1 < predicate.to &&
        token_is(tokens, predicate.from + 1, (const char *const[]){"have", NULL})) {
        struct predicate own = {tokens, predicate.from + 1, predicate.to};
        size_t at = own.from + 1 + token_is(tokens, own.from + 1, articles);
        if (at < own.to && (plain_degree(tokens, at) || token_is(tokens, at, mores)))
            return ask_had(split, &own, thing, at,
                           token_is(tokens, predicate.from, (const char *const[]){"did", NULL}));
    }
    if (!token_is(tokens, predicate.from, auxiliaries) || token_is(tokens, predicate.from, supports) ||
        token_is(tokens, predicate.from, had))
        return split_capital(split, ask_verb(split, &predicate, thing));
    return split_capital(
        split, contrast_predicate_ask(
                   split, (const struct text[]){tokens_between(tokens, predicate.from, predicate.from + 1), thing,
                                                tokens_between(tokens, predicate.from + 1, predicate.to), END}));
}
