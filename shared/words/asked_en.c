/* English questions. The question word may stand at the beginning, behind a preposition or a clause ("In what year",
 * "When it rains, what happens"), or at the end. */
#include "words/asked_en_priv.h"

#include <string.h>

/* Where a question word stands, the more telling the higher. */
enum en_position { EN_INSIDE, EN_WHAT_INSIDE, EN_LAST, EN_AFTER_PREPOSITION, EN_AFTER_CLAUSE, EN_FIRST, EN_MAIN };

/* Words that end a noun phrase. */
static bool en_ends_phrase(const struct en_sentence *in, size_t token)
{
    return token >= in->count || en_preposition(in, token) || en_auxiliary(in, token) || en_question_word(in, token) ||
           in->tokens[token].comma || en_is_any(in, token, "that and or if because not also called named known used");
}

static enum en_position en_position_of(const struct en_sentence *in, size_t token)
{
    bool what = en_is_any(in, token, "what how why");
    bool after = token > 0 && en_preposition(in, token - 1);
    size_t phrase = after ? token - 1 : token;
    bool first = phrase == 0, asks_first = in->count > 0 && en_question_word(in, 0);
    if (in->tokens[phrase].comma && phrase > 0)
        return what || !asks_first ? EN_MAIN : EN_INSIDE;
    if (first)
        return EN_FIRST;
    if (token + 1 == in->count)
        return EN_LAST;
    if (after && en_is_any(in, token, "what which whom whose how"))
        return EN_AFTER_PREPOSITION;
    return what ? EN_WHAT_INSIDE : EN_INSIDE;
}

/* The token that asks, or the number of tokens. */
static size_t en_find(const struct en_sentence *in)
{
    size_t found = in->count;
    enum en_position best = EN_INSIDE;
    for (size_t i = 0; i < in->count; i++) {
        if (!en_question_word(in, i) || in->tokens[i].quoted)
            continue;
        enum en_position position = en_position_of(in, i);
        if (found == in->count || position > best) {
            found = i;
            best = position;
        }
    }
    return found;
}

/* ---- nouns ------------------------------------------------------------------------------------------------------- */

/* The class of the noun at a token, also in the plural; two tokens for "life expectancy". */
static const struct asked_word *en_noun(const struct en_sentence *in, size_t token, size_t *tokens)
{
    *tokens = 1;
    for (const struct asked_word *noun = asked_nouns_en; token < in->count && noun->word; noun++) {
        size_t begin = in->tokens[token].begin, end = in->tokens[token].end;
        size_t taken = asked_stands(in->letters, begin, in->end, noun->word);
        if (!taken)
            continue;
        size_t left = begin + taken;
        bool pair = strchr(noun->word, ' ') && token + 1 < in->count && in->tokens[token + 1].end == left;
        bool plural = left + 1 == end && in->letters->at[left].code == 's';
        *tokens = pair ? 2 : 1;
        if (left == end || plural || pair)
            return noun;
    }
    return NULL;
}

/* Whether a token is probably a verb: "The museum houses works", "the website criticized Apple". */
static bool en_is_verb(const struct en_sentence *in, size_t token)
{
    size_t begin = in->tokens[token].begin, end = in->tokens[token].end;
    bool past = end - begin > 4 && asked_stands(in->letters, end - 2, end, "ed");
    bool adverb = end - begin > 4 && asked_stands(in->letters, end - 2, end, "ly") &&
                  !en_is_any(in, token, "family assembly supply reply anomaly monopoly");
    return !in->tokens[token].capital &&
           (past || adverb ||
            en_is_any(in, token,
                      "won made makes became becomes gave gives took takes led leads held holds uses provides "
                      "contains includes houses plays says said wrote shows lies runs began came comes went goes "
                      "got gets built sold lost left met saw found happened happens"));
}

/* The tokens of a noun phrase from `token` on, without its article. An article inside follows a verb. */
static struct asked_part en_phrase(const struct en_sentence *in, size_t token)
{
    static const char articles[] = "the a an his her its their my your our this these those";
    while (en_is_any(in, token, articles))
        token++;
    size_t end = token;
    while (!en_ends_phrase(in, end) && end - token < EN_PHRASE_MAX) {
        if (end > token && en_is_any(in, end, articles))
            return (struct asked_part){token, end - 1};
        if (end > token && en_is_verb(in, end))
            break;
        end++;
    }
    return (struct asked_part){token, end};
}

/* The first token of the phrase with a class, where the next one has none. */
static const struct asked_word *en_class(const struct en_sentence *in, struct asked_part phrase, size_t *head)
{
    const struct asked_word *found = NULL;
    for (size_t i = phrase.begin, tokens; i < phrase.end; i += tokens) {
        const struct asked_word *noun = en_noun(in, i, &tokens);
        if (!noun && found)
            return found;
        if (noun) {
            found = noun;
            *head = i + tokens - 1;
        }
    }
    return found;
}

/* The class of the last noun, or else of the first with a class: "maximum file size". */
static const struct asked_word *en_last_class(const struct en_sentence *in, struct asked_part phrase, size_t *head)
{
    size_t last = phrase.end > phrase.begin ? phrase.end - 1 : phrase.begin, tokens;
    if (last > phrase.begin && (en_noun(in, last - 1, &tokens)) && tokens == 2)
        last--;
    const struct asked_word *noun = phrase.begin < phrase.end ? en_noun(in, last, &tokens) : NULL;
    *head = phrase.end - 1;
    return noun ? noun : en_class(in, phrase, head);
}

static void en_focus(struct en_sentence *in, size_t begin, size_t end)
{
    in->focus = (struct asked_part){begin, end};
}

/* ---- what and which ---------------------------------------------------------------------------------------------- */

static bool en_has(const struct en_sentence *in, const char *words)
{
    for (size_t i = 0; i < in->count; i++)
        if (en_is_any(in, i, words))
            return true;
    return false;
}

/* "A or B" behind a comma, or a comparative. */
static bool en_compares(const struct en_sentence *in)
{
    bool either = false;
    for (size_t i = 1; i < in->count; i++)
        either |= en_is_any(in, i, "or");
    return either && en_has(in, "more less better worse bigger larger smaller older younger higher lower taller longer "
                                "shorter faster slower cheaper earlier later heavier lighter wider deeper greater "
                                "stronger first");
}

/* "kind of animal": the token behind "of". */
static size_t en_after_kind(const struct en_sentence *in, size_t token)
{
    bool kind = en_is_any(in, token, "kind kinds type types sort sorts form style category");
    return kind && en_is_any(in, token + 1, "of") ? token + 2 : token;
}

/* "What splits Montana", "what sits on top": a word in -s before a name or a preposition. */
static bool en_opens_as_verb(const struct en_sentence *in, size_t token)
{
    if (token + 1 >= in->count || token == 0 || !en_is_any(in, token - 1, "what"))
        return false;
    size_t end = in->tokens[token].end;
    bool ends = end - in->tokens[token].begin > 3 && in->letters->at[end - 1].code == 's';
    return ends && (in->tokens[token + 1].capital || en_preposition(in, token + 1));
}

static const char en_numbers[] = "one two three four five six seven eight nine ten several some";

static void en_read_class(struct en_sentence *in, size_t token, struct asked *asked)
{
    size_t from = en_after_kind(in, token), head = from;
    struct asked_part phrase = en_phrase(in, from);
    const struct asked_word *class = en_class(in, phrase, &head);
    bool verb = !class && from == token && from < in->count &&
                en_is_any(in, from,
                          "happens happened causes caused led leads makes made makes occurs occurred else "
                          "determines drives began started helped helps gave gives allows prevents prevented");
    verb |= phrase.begin >= phrase.end || (!class && from == token && en_opens_as_verb(in, from));
    asked->type = class && from == token ? class->type : verb ? ASKED_ANYTHING : ASKED_NAME;
    asked->unit = class && from == token ? class->unit : ASKED_UNIT_NONE;
    if (verb && en_is_any(in, from, "causes caused led leads prompted triggered"))
        asked->type = ASKED_WHY;
    if (!verb && phrase.begin < phrase.end)
        en_focus(in, phrase.begin, class ? head + 1 : phrase.end);
    if (class && class->unit == ASKED_UNIT_PEOPLE && class->type == ASKED_PERSON)
        asked->unit = ASKED_UNIT_NONE;
    bool counted = from == token && phrase.end - phrase.begin > 1 && en_is_any(in, from, en_numbers + strlen("one "));
    if (counted && !verb && (!class || class->type == ASKED_HOW || class->type == ASKED_WHY))
        asked->type = ASKED_LIST; /* "what three ways" */
    if (counted && !verb && in->focus.end > in->focus.begin + 1)
        in->focus.begin++;
    if (en_compares(in))
        asked->type = ASKED_COMPARISON;
}

/* "first", "only", "largest": words of a phrase that means one thing of several. */
static bool en_is_superlative(const struct en_sentence *in, size_t token)
{
    size_t begin = in->tokens[token].begin, end = in->tokens[token].end;
    bool ends = end - begin > 3 && asked_stands(in->letters, end - 3, end, "est");
    return en_is_any(in, token, "first second third last only main most least") ||
           (ends && !en_is_any(in, token,
                               "west test rest forest interest request guest contest harvest manifest digest priest "
                               "protest arrest invest quest chest nest"));
}

/* Whether "what is" and the phrase ask what the thing is, and not which thing is so: "a browser", "the Debian Policy",
 * but neither "the first browser", "the state flower" nor "tyrothricin used for". */
static bool en_defines(const struct en_sentence *in, struct asked_part phrase, bool definite)
{
    bool bare = phrase.end >= in->count || in->tokens[phrase.end].comma || en_is_any(in, phrase.end, "in on of and or");
    if (!bare || phrase.begin >= phrase.end || en_is_any(in, phrase.begin, en_numbers) ||
        en_is_any(in, phrase.begin, "it he she they"))
        return false;
    bool name = false, superlative = false;
    for (size_t i = phrase.begin; i < phrase.end; i++) {
        name |= in->tokens[i].capital;
        superlative |= en_is_superlative(in, i);
    }
    return !definite || (!superlative && (name || phrase.end - phrase.begin == 1));
}

/* "used for", at the end or before "during the war". */
static bool en_asks_use(const struct en_sentence *in)
{
    for (size_t i = 1; i < in->count; i++)
        if (en_is_any(in, i, "for") && en_is_any(in, i - 1, "used needed useful meant intended designed") &&
            (i + 1 == in->count || en_preposition(in, i + 1)))
            return true;
    return false;
}

/* The type of "what is" without a noun that tells it. */
static void en_read_thing(struct en_sentence *in, struct asked_part phrase, size_t owner, bool plural, bool article,
                          struct asked *asked)
{
    bool behind =
        phrase.end < in->count && (en_preposition(in, phrase.end) || en_is_any(in, phrase.end, "that used")) && article;
    bool counted = en_is_any(in, phrase.begin, en_numbers) && phrase.end - phrase.begin > 1;
    if ((behind || owner > phrase.begin) && phrase.begin < phrase.end) {
        en_focus(in, owner, phrase.end);
        asked->type = plural && behind ? ASKED_LIST : ASKED_ANYTHING;
    } else if (plural && (article || counted)) {
        asked->type = ASKED_LIST;
    } else {
        asked->type = en_defines(in, phrase, article) ? ASKED_DEFINITION : ASKED_ANYTHING;
    }
    if (in->focus.end == 0 && asked->type != ASKED_DEFINITION && (article || counted))
        en_focus(in, phrase.begin + counted, phrase.end);
}

/* "What is the capital of Japan?" */
static void en_read_is(struct en_sentence *in, size_t token, bool plural, struct asked *asked)
{
    struct asked_part phrase = en_phrase(in, token);
    bool article =
        en_is_any(in, token, "the his her its their") || (phrase.begin > 0 && in->tokens[phrase.begin].owned);
    size_t head = phrase.end, owner = phrase.begin;
    for (size_t i = phrase.begin; i + 1 < phrase.end; i++)
        if (in->tokens[i + 1].owned)
            owner = i + 1;
    const struct asked_word *class = en_last_class(in, (struct asked_part){owner, phrase.end}, &head);
    bool last = class && head + 1 == phrase.end;
    if (class && class->type == ASKED_PERSON && class->unit == ASKED_UNIT_PEOPLE)
        last = false;
    if (last) {
        bool death = class->type == ASKED_WHY && en_is_any(in, head + 1, "of") && en_is_any(in, head + 2, "death");
        asked->type = death ? ASKED_ANYTHING : class->type; /* the cause of death has a name */
        asked->unit = class->unit;
        en_focus(in, owner, head + 1);
    } else {
        en_read_thing(in, phrase, owner, plural, article, asked);
    }
    if (en_is_any(in, in->count - 1, "called named known as titled termed") || en_has(in, "called nicknamed"))
        asked->type = ASKED_NAME;
    if (plural && asked->type != ASKED_NAME && class && class->type != ASKED_COMPARISON && article)
        asked->type = class->type == ASKED_HOW && last ? ASKED_HOW : ASKED_LIST;
    bool passive = !article && phrase.begin == token && token < in->count && en_is_verb(in, token);
    if (en_is_any(in, token, "in on at") || (passive && asked->type == ASKED_DEFINITION))
        asked->type = ASKED_ANYTHING;
    if (asked->type == ASKED_DEFINITION && en_preposition(in, in->count - 1))
        asked->type = en_is_any(in, in->count - 1, "for") ? ASKED_WHY : ASKED_ANYTHING;
    if (asked->type == ASKED_ANYTHING && en_asks_use(in)) {
        asked->type = ASKED_WHY;
        en_focus(in, 0, 0);
    }
    if (en_is_any(in, in->count - 1, "after") && en_has(in, "named"))
        asked->type = ASKED_NAME;
}

/* "What do I do when …?", "What can we do to …?": the method, not a thing. */
static bool en_asks_what_to_do(const struct en_sentence *in, size_t token)
{
    bool person = en_is_any(in, token + 1, "i we you one users people");
    size_t verb = token + 2;
    verb += en_is_any(in, verb, "have need") && en_is_any(in, verb + 1, "to") ? 2 : 0;
    return person && en_is_any(in, verb, "do") &&
           (verb + 1 == in->count || en_is_any(in, verb + 1, "to if when after"));
}

static void en_read_does(const struct en_sentence *in, size_t token, struct asked *asked)
{
    asked->type = en_asks_what_to_do(in, token) ? ASKED_HOW : ASKED_ANYTHING;
    if (en_has(in, "mean means") || (en_has(in, "stand") && en_has(in, "for")))
        asked->type = ASKED_DEFINITION;
    else if (en_is_any(in, in->count - 1, "call called named") || en_has(in, "call"))
        asked->type = ASKED_NAME;
    else if (en_is_any(in, in->count - 1, "cost")) {
        asked->type = ASKED_QUANTITY;
        asked->unit = ASKED_UNIT_MONEY;
    } else if (en_is_any(in, in->count - 1, "for"))
        asked->type = ASKED_WHY;
}

static void en_read_what(struct en_sentence *in, size_t token, struct asked *asked)
{
    size_t next = token + 1;
    asked->type = ASKED_ANYTHING;
    if (next >= in->count) {
        if (token > 0 && en_is_any(in, token - 1, "called named"))
            asked->type = ASKED_NAME;
        return;
    }
    if (en_is_any(in, next, "is was are were"))
        en_read_is(in, next + 1, en_is_any(in, next, "are were"), asked);
    else if (in->contracted && token == 0)
        en_read_is(in, next, false, asked);
    else if (en_auxiliary(in, next))
        en_read_does(in, next, asked);
    else
        en_read_class(in, next, asked);
    if (en_is_any(in, token, "which") && asked->type == ASKED_DEFINITION)
        asked->type = ASKED_NAME;
    if (en_is_any(in, token, "which") && en_compares(in))
        asked->type = ASKED_COMPARISON;
}

/* ---- how --------------------------------------------------------------------------------------------------------- */

static void en_read_many(struct en_sentence *in, size_t token, struct asked *asked)
{
    struct asked_part phrase = en_phrase(in, token);
    static const struct {
        const char *words;
        enum asked_type type;
        enum asked_unit unit;
    } counted[] = {
        {"people persons students employees workers soldiers men women children residents inhabitants passengers "
         "players members citizens viewers fans troops casualties deaths victims users visitors",
         ASKED_QUANTITY, ASKED_UNIT_PEOPLE},
        {"years days hours minutes seconds weeks months decades centuries", ASKED_DURATION, ASKED_UNIT_TIME},
        {"dollars euros pounds yen money", ASKED_QUANTITY, ASKED_UNIT_MONEY},
        {"miles kilometers kilometres meters metres feet yards inches", ASKED_QUANTITY, ASKED_UNIT_LENGTH},
        {"acres hectares", ASKED_QUANTITY, ASKED_UNIT_AREA},
        {"tons tonnes kilograms grams ounces", ASKED_QUANTITY, ASKED_UNIT_MASS},
        {"liters litres gallons", ASKED_QUANTITY, ASKED_UNIT_VOLUME},
        {"times", ASKED_QUANTITY, ASKED_UNIT_TIMES},
        {"percent percentage", ASKED_QUANTITY, ASKED_UNIT_PERCENT},
        {"time", ASKED_DURATION, ASKED_UNIT_TIME},
        {"bytes megabytes gigabytes gb mb kb memory ram storage", ASKED_QUANTITY, ASKED_UNIT_BYTES},
        {"degrees", ASKED_QUANTITY, ASKED_UNIT_TEMPERATURE},
    };
    in->counter = phrase;
    en_focus(in, phrase.begin, phrase.end);
    for (size_t i = phrase.begin; i < phrase.end; i++) {
        for (size_t k = 0; k < sizeof counted / sizeof *counted; k++) {
            if (en_is_any(in, i, counted[k].words)) {
                asked->type = counted[k].type;
                asked->unit = counted[k].unit;
                in->counter = (struct asked_part){i, i + 1};
                return;
            }
        }
    }
}

static void en_read_how(struct en_sentence *in, size_t token, struct asked *asked)
{
    static const char lengthy[] =
        "river bridge wall road tunnel coast coastline border canal island beach pier line route "
        "trail street ship runway highway railway network track snake whale mile";
    size_t next = token + 1, taken = 0;
    asked->type = ASKED_HOW;
    if (next >= in->count)
        return;
    const struct en_token *word = &in->tokens[next];
    const struct asked_word *adjective =
        asked_longest(asked_adjectives_en, in->letters, word->begin, word->end, &taken);
    if (en_is_any(in, next, "come")) {
        asked->type = ASKED_WHY;
    } else if (adjective && taken == word->end - word->begin) {
        asked->type = adjective->type;
        asked->unit = adjective->unit;
        in->word_end = next + 1;
        if (en_is_any(in, next, "many much"))
            en_read_many(in, next + 1, asked);
        if (en_is_any(in, next, "long") && en_has(in, lengthy) && !en_has(in, "take took takes last lasted")) {
            asked->type = ASKED_QUANTITY;
            asked->unit = ASKED_UNIT_LENGTH;
        }
        if (en_is_any(in, next, "much") && en_has(in, "cost costs pay paid worth spend spent price charge earn sell"))
            asked->unit = ASKED_UNIT_MONEY;
    } else if (en_has(in, "differ differs compare compared")) {
        asked->type = ASKED_COMPARISON;
    } else if (en_is_any(in, in->count - 1, "called named")) {
        asked->type = ASKED_NAME;
    } else if (!en_auxiliary(in, next) && !en_is_any(in, next, "to s")) {
        asked->type = ASKED_QUANTITY; /* how important, how close */
    }
}

/* ---- without a question word ------------------------------------------------------------------------------------- */

static bool en_read_request(struct en_sentence *in, struct asked *asked)
{
    size_t first = en_is_any(in, 0, "please") ? 1 : 0, head;
    static const struct {
        const char *words;
        enum asked_type type;
    } requests[] = {{"list enumerate give", ASKED_LIST},    {"name", ASKED_NAME},
                    {"compare contrast", ASKED_COMPARISON}, {"define", ASKED_DEFINITION},
                    {"explain describe", ASKED_DEFINITION}, {"tell show", ASKED_ANYTHING}};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        if (!en_is_any(in, first, requests[i].words))
            continue;
        asked->type = requests[i].type;
        bool several = en_is_any(in, first + 1, "two three four five six seven all some several the") && in->count > 1;
        if (asked->type == ASKED_NAME && several && !en_is_any(in, first + 1, "the"))
            asked->type = ASKED_LIST;
        in->word = first;
        in->word_end = first + 1;
        return true;
    }
    bool auxiliary = en_auxiliary(in, first);
    const struct asked_word *class = auxiliary ? NULL : en_class(in, en_phrase(in, 0), &head);
    bool method = class && class->type == ASKED_HOW && en_is_any(in, head + 1, "to");
    bool phrase = class && (method || en_is_any(in, head + 1, "of for in between")); /* "The price of X?" */
    if (!phrase && (auxiliary || in->asks)) {
        asked->type = auxiliary && en_compares(in) ? ASKED_COMPARISON : ASKED_YES_NO;
        in->word = first;
        in->word_end = auxiliary ? first + 1 : first;
        return true;
    }
    if (!phrase)
        return false;
    asked->type = class->type;
    asked->unit = class->unit;
    en_focus(in, en_phrase(in, 0).begin, head + 1);
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void en_read_word(struct en_sentence *in, struct asked *asked)
{
    size_t token = in->word;
    if (en_is_any(in, token, "who whom whose")) {
        asked->type = en_compares(in) ? ASKED_COMPARISON : ASKED_PERSON;
    } else if (en_is_any(in, token, "when")) {
        asked->type = ASKED_DATE;
    } else if (en_is_any(in, token, "where")) {
        bool rank = en_has(in, "rank ranks ranked");
        asked->type = rank ? ASKED_QUANTITY : ASKED_PLACE;
        asked->unit = rank ? ASKED_UNIT_RANK : ASKED_UNIT_NONE;
    } else if (en_is_any(in, token, "why")) {
        asked->type = ASKED_WHY;
    } else if (en_is_any(in, token, "how")) {
        en_read_how(in, token, asked);
    } else {
        en_read_what(in, token, asked);
    }
}

static struct asked_part en_letters(const struct en_sentence *in, struct asked_part tokens)
{
    if (tokens.begin >= tokens.end || tokens.end > in->count)
        return (struct asked_part){0, 0};
    return (struct asked_part){in->tokens[tokens.begin].begin, in->tokens[tokens.end - 1].end};
}

bool asked_read_en(const struct asked_letters *letters, struct asked_part sentence, struct asked *asked)
{
    struct en_sentence in;
    en_tokens_read(letters, sentence, &in);
    if (in.count == 0)
        return false;
    in.word = en_find(&in);
    in.word_end = in.word + 1;
    bool inside = in.word < in.count && in.word > 0 &&
                  (en_auxiliary(&in, 0) || en_is_any(&in, 0, "name list define")) && !en_is_any(&in, 1, "you");
    if (in.word < in.count && !inside) {
        en_read_word(&in, asked);
    } else if (!en_read_request(&in, asked)) {
        return false;
    }
    struct asked_part subject = en_subject(&in);
    asked->focus = asked_span(letters, en_letters(&in, in.focus));
    asked->counter = asked_span(letters, en_letters(&in, in.counter));
    asked->subject = asked_span(letters, en_letters(&in, subject));
    asked_add_word(asked, letters, en_letters(&in, (struct asked_part){in.word, in.word_end}));
    return true;
}
