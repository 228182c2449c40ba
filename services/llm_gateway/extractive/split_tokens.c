/* The words of a question between blanks. */
#include "split_priv.h"

#include "words/words.h"

#include <string.h>

#define TOKENS_OF_RIVER 4 /* "Frankfurt an der Oder" */

static bool split_tokens_is_mark(char c)
{
    return c == ',' || c == ';' || c == '?' || c == '.' || c == '!' || c == ':';
}

/* A dash or a mark that stands alone between blanks separates as a comma does: " - ", " : ", " ?". */
static bool is_separator(struct text text, size_t begin, size_t end)
{
    return (end - begin == 1 && split_tokens_is_mark(text.bytes[begin])) ||
           (end - begin == 1 && text.bytes[begin] == '-') ||
           (end - begin == 3 && (memcmp(text.bytes + begin, "–", 3) == 0 || memcmp(text.bytes + begin, "—", 3) == 0));
}

static void add_token(struct tokens *tokens, const struct marked *marked, size_t begin, size_t end)
{
    struct token *token = &tokens->list[tokens->count];
    size_t last = end;
    if (is_separator(marked->text, begin, end)) {
        if (tokens->count)
            tokens->list[tokens->count - 1].stopped = true;
        return;
    }
    while (last > begin + 1 && split_tokens_is_mark(marked->text.bytes[last - 1]) && !marked->quoted[last - 1])
        last--;
    *token = (struct token){.begin = begin, .end = last, .quoted = marked->quoted[begin], .stopped = last < end};
    for (size_t i = 0; !token->quoted && last - begin < TOKEN_WORD_MAX && i < last - begin; i++) {
        char c = marked->text.bytes[begin + i];
        token->word[i] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    tokens->count++;
}

/* "Frankfurt an der Oder", "Rothenburg ob der Tauber" become one token: "Oder" is no conjunction there. */
static void tokens_join_river(struct tokens *tokens)
{
    static const char *const rivers[] = {"oder",  "havel", "donau", "elbe",    "saale",  "spree", "ruhr", "lahn",
                                         "mosel", "weser", "isar",  "unstrut", "tauber", "leine", NULL};
    static const char *const at_words[] = {"an", "ob", NULL}, *const articles[] = {"der", NULL};
    size_t count = tokens->count, town = count - TOKENS_OF_RIVER;
    if (count < TOKENS_OF_RIVER || !token_is(tokens, count - 1, rivers) || !token_is_name(tokens, count - 1) ||
        !token_is(tokens, count - 2, articles) || !token_is(tokens, count - 3, at_words) ||
        !token_is_name(tokens, town) || tokens->list[town].stopped)
        return;
    tokens->list[town].end = tokens->list[count - 1].end;
    tokens->list[town].stopped = tokens->list[count - 1].stopped;
    tokens->list[town].word[0] = '\0'; /* as of a quoted name */
    tokens->count = town + 1;
}

void tokens_read(struct text text, struct tokens *tokens)
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
        tokens_join_river(tokens);
        at++;
    }
}

bool token_is(const struct tokens *tokens, size_t at, const char *const *list)
{
    if (at >= tokens->count)
        return false;
    for (; *list; list++)
        if (strcmp(*list, tokens->list[at].word) == 0)
            return true;
    return false;
}

bool token_is_plain(const struct token *token)
{
    return token->quoted || token->word[0] == '\0' || !words_function_word(token->word, strlen(token->word));
}

bool token_is_name(const struct tokens *tokens, size_t at)
{
    if (at >= tokens->count)
        return false;
    unsigned char c = (unsigned char)tokens->text.bytes[tokens->list[at].begin];
    return tokens->list[at].quoted || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80 || c == '\'';
}

size_t tokens_find(const struct tokens *tokens, size_t from, size_t to, const char *const *list)
{
    while (from < to && !token_is(tokens, from, list))
        from++;
    return from;
}

struct text tokens_between(const struct tokens *tokens, size_t from, size_t to)
{
    if (from >= to || to > tokens->count)
        return (struct text){"", 0};
    size_t begin = tokens->list[from].begin;
    return split_part(tokens->text, begin, tokens->list[to - 1].end);
}
