/* English: comparisons, clauses behind "and how", items behind "and", verbs behind "how do I X and Y", and
 * enumerations "the capitals of A, B and C". */
#include "split_priv.h"

#include <string.h>
#include <strings.h>

#define DEPTH_MAX        6 /* clauses in clauses */
#define NOUN_WORDS_MAX   5
#define LED_THINGS_LEAST 1
#define ITEMS_MAX        8
#define INVERSION_WORDS  5 /* between "how many" and its auxiliary */

LIST(joints, "and", "also");
LIST(questions, "what", "how", "where", "when", "who", "which", "why", "whose", "whom");
LIST(auxiliaries, "is", "are", "was", "were", "do", "does", "did", "can", "could", "should", "will", "would", "must",
     "has", "have", "had", "may");
LIST(orders, "explain", "describe", "tell", "list", "show", "give", "name", "compare", "please", "find");
LIST(prepositions, "on", "in", "at", "for", "from", "to", "with", "by", "of", "under", "after", "before", "within",
     "through", "since", "until", "about");
LIST(led, "which", "what", "whom", "whose", "how", "where", "when"); /* that may stand behind one */
LIST(verbs, "add", "apply", "back", "build", "change", "check", "configure", "connect", "create", "debug", "delete",
     "deploy", "disable", "enable", "export", "find", "fix", "get", "import", "increase", "install", "limit", "make",
     "monitor", "move", "open", "read", "remove", "rename", "renew", "reset", "restart", "restore", "rotate", "run",
     "save", "see", "send", "set", "start", "stop", "test", "uninstall", "update", "upgrade", "use", "verify", "view",
     "write");
LIST(ways, "configure", "install", "enable", "disable", "reset", "set", "uninstall", "upgrade", "restart", "change",
     "delete", "remove", "rotate", "renew", "monitor");
LIST(frames, "how do i", "how do we", "how do you", "how can i", "how can we", "how can you", "how to", "how should i",
     "how should we", "can i", "can you", "could you", "please", "i want to", "what is needed to");
LIST(tails, "of", "in", "for", "on", "at", "from", "with", "when", "after", "before", "during", "to", "if", "by",
     "under");
LIST(together, "between", "difference", "differences", "differ", "compare", "comparison", "versus", "vs", "both",
     "relation", "relationship", "together", "combine", "combined", "common", "share", "among", "total", "sum");
LIST(determiners, "the", "a", "an", "my", "our", "your", "its", "their", "this");
LIST(pronouns, "it", "they", "them", "he", "she", "him");
LIST(owned_by_person, "he", "she", "him", "his", "her");
LIST(titles, "name", "title", "author", "purpose", "meaning", "type", "kind", "inventor", "founder", "director");
LIST(speakers, "i", "we", "you", "there");
LIST(only_of, "of");
LIST(kept, "kept", "built", "made", "born", "written", "held", "sold", "begun", "known", "found", "set", "paid");
LIST(owners, "its", "their", "his", "her");
LIST(plural_be, "are", "were");
LIST(each, "respectively", "each");
LIST(of, "of", "for");
LIST(attributes, "capitals", "populations", "areas", "prices", "heights", "lengths", "currencies", "birthdays",
     "birthplaces", "ages", "presidents", "leaders", "costs", "sizes", "weights", "limits", "defaults", "meanings",
     "definitions", "ports", "deadlines", "symptoms", "founders", "authors", "languages", "elevations");
static const struct {
    const char *past, *participle;
} participles[] = {{"wrote", "written"}, {"began", "begun"},   {"sang", "sung"},     {"drew", "drawn"},
                   {"took", "taken"},    {"gave", "given"},    {"broke", "broken"},  {"chose", "chosen"},
                   {"stole", "stolen"},  {"built", "built"},   {"made", "made"},     {"won", "won"},
                   {"sold", "sold"},     {"led", "led"},       {"found", "found"},   {"held", "held"},
                   {"lost", "lost"},     {"taught", "taught"}, {"bought", "bought"}, {"shot", "shot"}};

static struct text with_mark(struct split *split, struct text before, struct text behind, const struct tokens *tokens)
{
    struct text text = tokens->text;
    char last = text.length ? text.bytes[text.length - 1] : '?';
    struct text mark = split_part(text, text.length - (last == '?' || last == '.'), text.length);
    return split_concat(
        split->arena,
        (const struct text[]){before, text_of(before.length && behind.length ? " " : ""), behind, mark, {NULL, 0}});
}

struct text split_capital(struct split *split, struct text text)
{
    char *copy = text.length ? arena_copy(split->arena, text.bytes, text.length) : NULL;
    if (!copy)
        return text;
    copy[0] = (char)(copy[0] >= 'a' && copy[0] <= 'z' ? copy[0] - ('a' - 'A') : copy[0]);
    return (struct text){copy, text.length};
}

/* The number of words at the begin of the question that ask for a way: "how do I". 0: not one. */
static size_t frame_length(const struct tokens *tokens)
{
    for (size_t i = 0; frames[i]; i++) {
        size_t length = strlen(frames[i]), words = 1;
        for (size_t c = 0; c < length; c++)
            words += frames[i][c] == ' ';
        if (tokens->text.length > length && strncasecmp(tokens->text.bytes, frames[i], length) == 0 &&
            tokens->text.bytes[length] == ' ')
            return words;
    }
    return 0;
}

static bool keeps_together(const struct tokens *tokens)
{
    for (size_t i = 0; i < tokens->count; i++)
        if (token_is(tokens, i, together))
            return true;
    return false;
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* Items on both sides of "and" at `at`: tokens [left, at) and (at, right). False: they are not items. */
static bool find_things(const struct tokens *tokens, size_t at, size_t *left, size_t *right)
{
    size_t from = at, to = at + 1;
    to += token_is(tokens, to, determiners);
    while (to < tokens->count && to - at <= NOUN_WORDS_MAX && token_is_plain(&tokens->list[to]) &&
           !tokens->list[to - 1].stopped)
        to++;
    while (from > 0 && at - from < NOUN_WORDS_MAX && token_is_plain(&tokens->list[from - 1]) &&
           !token_is(tokens, from - 1, verbs) && !(from < at && tokens->list[from - 1].stopped))
        from--;
    bool determined = from > 0 && token_is(tokens, from - 1, determiners), like = token_is(tokens, at + 1, determiners);
    if (!determined && like) /* "install it and the server": the sides are not alike */
        return false;
    if (to == at + 1 || from == at || (to == at + 2 && like))
        return false;
    if (!determined) /* as many words as on the other side */
        from = at - from > to - at - 1 ? at - (to - at - 1) : from;
    *left = determined && like ? from - 1 : from;
    *right = to;
    bool ends = to == tokens->count || token_is(tokens, to, tails) || tokens->list[to - 1].stopped;
    return ends && *left > 0;
}

/* "How do I install X and configure Y": both ways are asked for. */
static bool split_ways(struct split *split, const struct tokens *tokens, size_t at)
{
    size_t frame = frame_length(tokens);
    if (!frame || at + 2 >= tokens->count || !token_is(tokens, at + 1, verbs) || at <= frame + 1)
        return false;
    split_english(split, with_mark(split, tokens_between(tokens, 0, at), text_of(""), tokens));
    split_english(split, with_mark(split, tokens_between(tokens, 0, frame),
                                   tokens_between(tokens, at + 1, tokens->count), tokens));
    return true;
}

/* The opening "… are the" in the singular. */
static struct text in_singular(struct split *split, const struct tokens *tokens, size_t to)
{
    size_t be = 0;
    while (be < to && !token_is(tokens, be, plural_be))
        be++;
    if (be == to)
        return tokens_between(tokens, 0, to);
    bool past = tokens->list[be].word[0] == 'w';
    struct text before = tokens_between(tokens, 0, be), behind = tokens_between(tokens, be + 1, to);
    return split_concat(
        split->arena,
        (const struct text[]){
            before, text_of(past ? " was" : " is"), text_of(behind.length ? " " : ""), behind, {NULL, 0}});
}

/* "How do I configure logging and backups?", "Name the port and the timeout of the server" */
static bool split_things(struct split *split, const struct tokens *tokens, size_t at)
{
    size_t left, right, frame = frame_length(tokens);
    if (keeps_together(tokens) || !find_things(tokens, at, &left, &right))
        return false;
    bool plural = token_is(tokens, 0, questions) && token_is(tokens, 1, plural_be) && left == 2 &&
                  token_is(tokens, left, determiners) && token_is(tokens, at + 1, determiners);
    bool way = frame && token_is(tokens, frame, ways) && left == frame + 1 && right == tokens->count;
    if (!plural && !way)
        return false;
    struct text before = in_singular(split, tokens, left), tail = tokens_between(tokens, right, tokens->count);
    for (int side = 0; side < 2; side++) {
        struct text thing = side ? tokens_between(tokens, at + 1, right) : tokens_between(tokens, left, at);
        struct text whole = text_joined(split->arena, thing, text_of(tail.length ? " " : ""), tail);
        split_add(split, with_mark(split, before, whole, tokens));
    }
    return true;
}

/* ---- clauses ----------------------------------------------------------------------------------------------------- */

static bool begins_question(const struct tokens *tokens)
{
    return token_is(tokens, 0, questions) || token_is(tokens, 0, auxiliaries) || token_is(tokens, 0, orders) ||
           (token_is(tokens, 0, prepositions) && token_is(tokens, 1, led)) || frame_length(tokens);
}

static size_t count_plain(const struct tokens *tokens, size_t from, size_t to)
{
    size_t count = 0;
    for (size_t i = from; i < to; i++)
        count += token_is_plain(&tokens->list[i]) || token_is(tokens, i, pronouns);
    return count;
}

/* "and when did it open", "and on which port does it listen": a separate question begins at `at`. In "the man that
 * built A and that built B" it does not: the same word also stands before it in the question. */
static bool split_english_asks(const struct tokens *tokens, size_t at)
{
    size_t word = at + (token_is(tokens, at, prepositions) && token_is(tokens, at + 1, led));
    if (token_is(tokens, at, orders))
        return tokens->list[at - 2].stopped && count_plain(tokens, at + 1, tokens->count) > 0;
    if (token_is(tokens, at, auxiliaries)) /* "Is A open and does it …?" */
        return token_is(tokens, 0, auxiliaries) &&
               (token_is(tokens, at + 1, determiners) || token_is(tokens, at + 1, pronouns)) && at + 2 < tokens->count;
    if (!token_is(tokens, word, questions) || token_is(tokens, 0, orders))
        return false;
    for (size_t i = 1; i + 1 < at; i++)
        if (strcmp(tokens->list[i].word, tokens->list[word].word) == 0)
            return false;
    bool inverted = false, subject = token_is(tokens, word, (const char *const[]){"who", "what", "which", NULL});
    for (size_t i = word + 1; i < tokens->count && i <= word + INVERSION_WORDS; i++)
        inverted |= token_is(tokens, i, auxiliaries);
    return (inverted || (subject && word + 2 < tokens->count)) &&
           count_plain(tokens, word + 1, tokens->count) >= LED_THINGS_LEAST + (word > at);
}

static struct text participle_of(const struct tokens *tokens, size_t at)
{
    const char *word = tokens->list[at].word;
    size_t length = strlen(word);
    for (size_t i = 0; i < sizeof participles / sizeof *participles; i++)
        if (strcmp(participles[i].past, word) == 0)
            return text_of(participles[i].participle);
    bool regular = length > 3 && strcmp(word + length - 2, "ed") == 0;
    return regular ? tokens_between(tokens, at, at + 1) : text_of("");
}

/* "When was X built and by which architect?": the second question repeats the first one's words. */
static bool split_short(struct split *split, const struct tokens *tokens, size_t at)
{
    size_t from = at + 1, word = from + token_is(tokens, from, prepositions), to = tokens->count;
    bool many = to == word + 2 && token_is(tokens, word, (const char *const[]){"how", NULL});
    if (!token_is(tokens, word, questions) || (to != word + 1 && !many) || !token_is(tokens, 0, questions) || at < 3)
        return false;
    struct text asker = split_capital(split, tokens_between(tokens, from, to)), rest;
    if (token_is(tokens, 1, auxiliaries)) {
        rest = tokens_between(tokens, 1, at);
    } else {
        struct text participle = participle_of(tokens, 1);
        if (!participle.length || word > from || !token_is(tokens, 0, (const char *const[]){"who", NULL}))
            return false;
        rest = split_concat(
            split->arena,
            (const struct text[]){text_of("was "), tokens_between(tokens, 2, at), text_of(" "), participle, {NULL, 0}});
    }
    split_add(split, with_mark(split, tokens_between(tokens, 0, at), text_of(""), tokens));
    split_add(split, with_mark(split, asker, rest, tokens));
    return true;
}

/* ---- enumerations ------------------------------------------------------------------------------------------------ */

struct items {
    size_t from[ITEMS_MAX], to[ITEMS_MAX], count;
};

/* Names before and behind the "and" at `at`: "A, B and C". */
static bool read_items(const struct tokens *tokens, size_t at, struct items *items)
{
    size_t end = at + 1, begin = at;
    items->count = 0;
    end += token_is(tokens, end, (const char *const[]){"the", NULL});
    while (end < tokens->count && token_is_name(tokens, end) && end - at <= NOUN_WORDS_MAX)
        if (tokens->list[end++].stopped)
            break;
    if (end == at + 1 || !token_is_name(tokens, end - 1))
        return false;
    items->from[items->count] = at + 1;
    items->to[items->count++] = end;
    for (size_t to = at; to > 0 && items->count < ITEMS_MAX; to = begin) {
        if (items->count > 1 && !tokens->list[to - 1].stopped)
            break;
        for (begin = to; begin > 0 && token_is_name(tokens, begin - 1) && to - begin < NOUN_WORDS_MAX; begin--)
            if (begin < to && tokens->list[begin - 1].stopped)
                break;
        begin -= begin > 0 && begin < to && token_is(tokens, begin - 1, (const char *const[]){"the", NULL}) &&
                 !token_is(tokens, begin, questions);
        if (begin == to || begin == 0)
            break;
        items->from[items->count] = begin;
        items->to[items->count++] = to;
    }
    return items->count > 1;
}

/* "Name the capitals of A, B and C" */
static bool split_items(struct split *split, const struct tokens *tokens, size_t at)
{
    struct items items;
    if (keeps_together(tokens) || !begins_question(tokens) || !read_items(tokens, at, &items))
        return false;
    size_t begin = items.from[items.count - 1], end = items.to[0];
    bool apart = end + 1 == tokens->count && token_is(tokens, end, each);
    bool listed = begin > 2 && end == tokens->count && token_is(tokens, begin - 1, of);
    struct text noun = listed ? tokens_between(tokens, begin - 2, begin - 1) : text_of("");
    bool plural =
        listed && noun.bytes[noun.length - 1] == 's' && (items.count > 2 || token_is(tokens, begin - 2, attributes));
    if (!apart && !plural)
        return false;
    struct text before = in_singular(split, tokens, begin);
    for (size_t i = items.count; i-- > 0;)
        split_add(split, with_mark(split, before, tokens_between(tokens, items.from[i], items.to[i]), tokens));
    return true;
}

void split_english(struct split *split, struct text question)
{
    struct tokens tokens;
    if (contrast_english(split, question))
        return;
    tokens_read(question, &tokens);
    bool whole = tokens.count < TOKENS_MAX && split->depth < DEPTH_MAX;
    split->depth++;
    for (size_t at = 2; whole && at + 1 < tokens.count && split->count < split->limit; at++) {
        if (!token_is(&tokens, at, joints))
            continue;
        if (split_short(split, &tokens, at))
            return;
        if (begins_question(&tokens) && count_plain(&tokens, 1, at) && split_english_asks(&tokens, at + 1)) {
            struct text behind = with_mark(split, tokens_between(&tokens, at + 1, tokens.count), text_of(""), &tokens);
            split_english(split, with_mark(split, tokens_between(&tokens, 0, at), text_of(""), &tokens));
            split_english(split, split_capital(split, behind));
            return;
        }
        if (split_items(split, &tokens, at) || split_ways(split, &tokens, at) || split_things(split, &tokens, at))
            return;
    }
    if (contrast_european(split, question))
        split->apart = true;
    else
        split_add(split, question);
}

bool split_leans(struct text part)
{
    static const char *const openings[] = {"and", "or", "but", "then", "so", NULL};
    struct tokens tokens;
    tokens_read(part, &tokens);
    if (token_is(&tokens, 0, questions) && token_is(&tokens, 1, (const char *const[]){"about", "else", "if", NULL}))
        return true;
    if (tokens.count < 3 && token_is(&tokens, 0, questions))
        return true;
    if (!token_is(&tokens, 0, openings))
        return false;
    bool inverted = token_is(&tokens, 1, auxiliaries);
    for (size_t i = 2; i < tokens.count && i <= INVERSION_WORDS && token_is(&tokens, 1, questions); i++)
        inverted |= token_is(&tokens, i, auxiliaries) &&
                    !token_is(&tokens, 1, (const char *const[]){"when", "where", NULL} + (i == 2 ? 2 : 0));
    return !inverted;
}

/* ---- the subject ------------------------------------------------------------------------------------------------- */

/* The end of a subject that begins at `from`: "the capital of France", "Marie Curie". */
static size_t subject_end(const struct tokens *tokens, size_t from)
{
    size_t at = from + token_is(tokens, from, determiners);
    while (at < tokens->count) {
        size_t joined = at + 1 + token_is(tokens, at + 1, determiners);
        bool word = token_is_plain(&tokens->list[at]) || token_is_name(tokens, at);
        if (!word && (at == from || !token_is(tokens, at, only_of) || joined >= tokens->count))
            break;
        at = word ? at + 1 : joined;
        if (word && tokens->list[at - 1].stopped)
            break;
    }
    return at;
}

/* The subject behind the auxiliary: "the war" of "When did the war begin", "the capital of France". Length 0: the
 * question has no auxiliary before its subject. */
static struct text topic_inverted(const struct tokens *tokens)
{
    static const char *const supports[] = {"do", "does", "did", NULL};
    size_t be = 0;
    while (be < tokens->count && be <= INVERSION_WORDS && !token_is(tokens, be, auxiliaries))
        be++;
    size_t from = be + 1, end = subject_end(tokens, from);
    if (be > INVERSION_WORDS || end <= from || token_is(tokens, from, speakers) ||
        !(token_is(tokens, from, determiners) || token_is_name(tokens, from) || token_is_plain(&tokens->list[from])))
        return (struct text){"", 0};
    size_t first = from + token_is(tokens, from, determiners), last = end - 1;
    const char *word = tokens->list[last].word;
    size_t length = strlen(word);
    bool ended = length > 3 && strcmp(word + length - 2, "ed") == 0, lower = !token_is_name(tokens, last);
    bool verb = token_is(tokens, be, supports) ? end == tokens->count : ended || token_is(tokens, last, kept);
    if (last > first && lower && verb)
        end--;
    return tokens_between(tokens, from, end);
}

/* The last name behind the first word; else the last words that stand together and are no function words. */
struct text topic_english(struct text part)
{
    static const char *const inner[] = {"of", "the", "de", "van", "von", "&", "la", "le", NULL};
    struct tokens tokens;
    tokens_read(part, &tokens);
    struct text subject = topic_inverted(&tokens);
    if (subject.length)
        return subject;
    size_t to = tokens.count, from;
    while (to > 1 && (!token_is_name(&tokens, to - 1) || token_is(&tokens, to - 1, speakers)))
        to--;
    for (from = to; from > 1 && to > 1; from--)
        if (!token_is_name(&tokens, from - 1) &&
            !(token_is(&tokens, from - 1, inner) && from > 2 && token_is_name(&tokens, from - 2)))
            break;
    if (to > 1 && from < to)
        return tokens_between(&tokens, from - token_is(&tokens, from - 1, determiners), to);
    to = tokens.count;
    while (to > 0 && !token_is_plain(&tokens.list[to - 1]))
        to--;
    for (from = to; from > 0 && to - from < NOUN_WORDS_MAX && token_is_plain(&tokens.list[from - 1]); from--)
        if (token_is(&tokens, from - 1, verbs))
            break;
    if (from > 0 && from < to && token_is(&tokens, from - 1, determiners))
        from--;
    return tokens_between(&tokens, from, to);
}

/* "it" of a question about the name of X is X: "What is the name of the river and how long is it?" */
static struct text split_referent(struct text topic, bool person)
{
    struct tokens tokens;
    tokens_read(topic, &tokens);
    size_t head = token_is(&tokens, 0, determiners);
    bool named = !person && token_is(&tokens, head, titles) && token_is(&tokens, head + 1, only_of);
    return named && head + 2 < tokens.count ? tokens_between(&tokens, head + 2, tokens.count) : topic;
}

bool split_has_pronoun(struct text part)
{
    struct tokens tokens;
    tokens_read(part, &tokens);
    for (size_t i = 0; i < tokens.count; i++)
        if (token_is(&tokens, i, pronouns) || token_is(&tokens, i, owners))
            return true;
    return false;
}

struct text carry_english(const struct split *split, struct text part)
{
    struct tokens tokens;
    tokens_read(part, &tokens);
    for (size_t i = 0; i < tokens.count; i++) {
        const struct token *token = &tokens.list[i];
        bool owner = token_is(&tokens, i, owners);
        if (!owner && !token_is(&tokens, i, pronouns))
            continue;
        return split_concat(split->arena,
                            (const struct text[]){split_part(part, 0, token->begin),
                                                  split_referent(split->topic, token_is(&tokens, i, owned_by_person)),
                                                  text_of(owner ? "'s" : ""),
                                                  split_part(part, token->end, part.length),
                                                  {NULL, 0}});
    }
    return part;
}
