/* English: clauses after "and how", things after "and", verbs after "how do I X and Y". */
#include "split_priv.h"

#include "words/words.h"

#include <string.h>
#include <strings.h>

#define TOKENS_MAX       128
#define WORD_MAX         16 /* bytes of a word that is compared; longer ones are in no list */
#define NOUN_WORDS_MAX   5
#define LED_THINGS_LEAST 2

struct token {
    size_t begin, end; /* the marks behind it left out */
    char word[WORD_MAX];
    bool quoted, stopped; /* stopped: a comma or so stands behind it */
};
struct tokens {
    struct text text;
    struct token list[TOKENS_MAX];
    size_t count;
};

#define LIST(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
LIST(askers, "what", "how", "where", "when", "who", "which", "why", "whose", "is", "are", "do", "does", "did", "can",
     "could", "should", "will", "would", "must", "has", "have", "explain", "describe", "tell", "list", "show");
LIST(prepositions, "on", "in", "at", "for", "from", "to", "with", "by", "of", "under", "after", "before", "within",
     "through", "since", "until", "about");
LIST(led, "which", "what", "whom", "whose", "how", "where", "when"); /* that may stand behind one */
LIST(verbs, "add", "apply", "back", "build", "change", "check", "configure", "connect", "create", "debug", "delete",
     "deploy", "disable", "enable", "export", "find", "fix", "get", "import", "increase", "install", "limit", "make",
     "monitor", "move", "open", "read", "remove", "rename", "renew", "reset", "restart", "restore", "rotate", "run",
     "save", "see", "send", "set", "start", "stop", "test", "uninstall", "update", "upgrade", "use", "verify", "view",
     "write");
LIST(frames, "how do i", "how do we", "how do you", "how can i", "how can we", "how can you", "how to", "how should i",
     "how should we", "can i", "can you", "could you", "please", "i want to", "what is needed to");
LIST(tails, "of", "in", "for", "on", "at", "from", "with", "when", "after", "before", "during", "to", "if", "by",
     "under");
LIST(together, "between", "difference", "differences", "differ", "compare", "comparison", "versus", "vs", "both",
     "relation", "relationship", "together", "combine");
LIST(determiners, "the", "a", "an", "my", "our", "your", "its", "their", "this");
LIST(pronouns, "it", "they", "them");
LIST(owners, "its", "their");

static bool is_in(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

static bool is_mark(char c)
{
    return c == ',' || c == ';' || c == '?' || c == '.' || c == '!' || c == ':';
}

static void add_token(struct tokens *tokens, const struct marked *marked, size_t begin, size_t end)
{
    struct token *token = &tokens->list[tokens->count++];
    size_t last = end;
    while (last > begin + 1 && is_mark(marked->text.bytes[last - 1]) && !marked->quoted[last - 1])
        last--;
    *token = (struct token){.begin = begin, .end = last, .quoted = marked->quoted[begin], .stopped = last < end};
    for (size_t i = 0; !token->quoted && last - begin < WORD_MAX && i < last - begin; i++) {
        char c = marked->text.bytes[begin + i];
        token->word[i] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
}

static void read_tokens(struct text text, struct tokens *tokens)
{
    struct marked marked;
    mark_quoted(&marked, text);
    tokens->text = marked.text;
    tokens->count = 0;
    for (size_t at = 0; at < marked.text.length && tokens->count < TOKENS_MAX;) {
        size_t begin = at;
        while (at < marked.text.length && (marked.text.bytes[at] != ' ' || (at > 0 && marked.quoted[at])))
            at++;
        if (at > begin)
            add_token(tokens, &marked, begin, at);
        at++;
    }
}

static struct text between(const struct tokens *tokens, size_t from, size_t to)
{
    if (from >= to)
        return (struct text){"", 0};
    size_t begin = tokens->list[from].begin;
    return (struct text){tokens->text.bytes + begin, tokens->list[to - 1].end - begin};
}

static struct text with_mark(struct split *split, struct text before, struct text behind, const struct tokens *tokens)
{
    char last = tokens->text.length ? tokens->text.bytes[tokens->text.length - 1] : '?';
    struct text mark = last == '?' || last == '.' ? (struct text){tokens->text.bytes + tokens->text.length - 1, 1}
                                                  : (struct text){"", 0};
    struct text middle = text_joined(split->arena, text_of(before.length && behind.length ? " " : ""), behind, mark);
    return text_joined(split->arena, before, middle, (struct text){"", 0});
}

static struct text with_capital(struct split *split, struct text text)
{
    char *copy = text.length ? arena_copy(split->arena, text.bytes, text.length) : NULL;
    if (!copy)
        return text;
    copy[0] = (char)(copy[0] >= 'a' && copy[0] <= 'z' ? copy[0] - ('a' - 'A') : copy[0]);
    return (struct text){copy, text.length};
}

/* How many words the question begins with that ask for a way: "how do I". 0: none. */
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
        if (is_in(together, tokens->list[i].word))
            return true;
    return false;
}

static bool is_plain(const struct token *token)
{
    return token->quoted || (token->word[0] == '\0') || !words_function_word(token->word, strlen(token->word));
}

/* Things on both sides of "and" at `at`: tokens [left, at) and (at, right). False where they are none. */
static bool find_things(const struct tokens *tokens, size_t at, size_t *left, size_t *right)
{
    size_t from = at, to = at + 1;
    if (to < tokens->count && is_in(determiners, tokens->list[to].word))
        to++;
    while (to < tokens->count && to - at <= NOUN_WORDS_MAX && is_plain(&tokens->list[to]) &&
           !tokens->list[to - 1].stopped)
        to++;
    while (from > 0 && at - from < NOUN_WORDS_MAX && is_plain(&tokens->list[from - 1]) &&
           !is_in(verbs, tokens->list[from - 1].word) && !(from < at && tokens->list[from - 1].stopped))
        from--;
    bool determined = from > 0 && is_in(determiners, tokens->list[from - 1].word);
    bool like = is_in(determiners, tokens->list[at + 1].word);
    if (!determined && like) /* "install it and the server": the sides are not alike */
        return false;
    if (to == at + 1 || from == at || (to == at + 2 && like))
        return false;
    if (!determined) /* as many words as on the other side */
        from = at - from > to - at - 1 ? at - (to - at - 1) : from;
    *left = determined && like ? from - 1 : from;
    *right = to;
    bool ends = to == tokens->count || is_in(tails, tokens->list[to].word) || tokens->list[to - 1].stopped;
    return ends && *left > 0;
}

/* "How do I install X and configure Y": both ways are asked for. */
static bool split_ways(struct split *split, const struct tokens *tokens, size_t at)
{
    size_t frame = frame_length(tokens);
    if (!frame || at + 1 >= tokens->count || !is_in(verbs, tokens->list[at + 1].word) || at <= frame)
        return false;
    split_english(split, with_mark(split, between(tokens, 0, at), (struct text){"", 0}, tokens));
    split_english(split, with_mark(split, between(tokens, 0, frame), between(tokens, at + 1, tokens->count), tokens));
    return true;
}

static bool split_things(struct split *split, const struct tokens *tokens, size_t at)
{
    size_t left, right;
    if (keeps_together(tokens) || !find_things(tokens, at, &left, &right))
        return false;
    struct text before = between(tokens, 0, left), tail = between(tokens, right, tokens->count);
    for (int side = 0; side < 2; side++) {
        struct text thing = side ? between(tokens, at + 1, right) : between(tokens, left, at);
        struct text whole = text_joined(split->arena, thing, text_of(tail.length ? " " : ""), tail);
        split_add(split, with_mark(split, before, whole, tokens));
    }
    return true;
}

/* "and how", "and on which port …": a question of its own begins there. "And for how long?" says too little alone. */
static bool asks(const struct tokens *tokens, size_t at)
{
    const char *word = tokens->list[at].word;
    size_t things = 0;
    if (is_in(askers, word))
        return true;
    if (!is_in(prepositions, word) || at + 1 == tokens->count || !is_in(led, tokens->list[at + 1].word))
        return false;
    for (size_t i = at + 2; i < tokens->count; i++)
        things += is_plain(&tokens->list[i]);
    return things >= LED_THINGS_LEAST;
}

void split_english(struct split *split, struct text question)
{
    struct tokens tokens;
    read_tokens(question, &tokens);
    bool whole = tokens.count < TOKENS_MAX;
    for (size_t at = 1; whole && at + 1 < tokens.count && split->count < split->limit; at++) {
        bool joins = strcmp(tokens.list[at].word, "and") == 0 || strcmp(tokens.list[at].word, "also") == 0;
        if (!joins)
            continue;
        if (asks(&tokens, at + 1)) {
            const struct text none = {"", 0};
            struct text behind = with_mark(split, between(&tokens, at + 1, tokens.count), none, &tokens);
            split_english(split, with_mark(split, between(&tokens, 0, at), none, &tokens));
            split_english(split, with_capital(split, behind));
            return;
        }
        if (split_ways(split, &tokens, at) || split_things(split, &tokens, at))
            return;
    }
    split_add(split, question);
}

/* ---- what it is about -------------------------------------------------------------------------------------------- */

/* The last words that stand together and are no function words, without a verb before them. */
struct text topic_english(struct text part)
{
    struct tokens tokens;
    read_tokens(part, &tokens);
    size_t to = tokens.count;
    while (to > 0 && !is_plain(&tokens.list[to - 1]))
        to--;
    size_t from = to;
    while (from > 0 && to - from < NOUN_WORDS_MAX && is_plain(&tokens.list[from - 1]) &&
           !is_in(verbs, tokens.list[from - 1].word))
        from--;
    if (from > 0 && from < to && is_in(determiners, tokens.list[from - 1].word))
        from--;
    return between(&tokens, from, to);
}

struct text carry_english(const struct split *split, struct text part)
{
    struct tokens tokens;
    read_tokens(part, &tokens);
    for (size_t i = 0; i < tokens.count; i++) {
        const struct token *token = &tokens.list[i];
        bool owner = is_in(owners, token->word);
        if (!owner && !is_in(pronouns, token->word))
            continue;
        struct text topic =
            owner ? text_joined(split->arena, split->topic, text_of("'s"), (struct text){"", 0}) : split->topic;
        return text_joined(split->arena, (struct text){part.bytes, token->begin}, topic,
                           (struct text){part.bytes + token->end, part.length - token->end});
    }
    return part;
}
