/* The tokens of an English sentence, and its subject. */
#include "words/asked_en_priv.h"

#include <string.h>
#include <unicode/uchar.h>

static bool en_is_letter(uint32_t code)
{
    enum script script = script_of(code);
    return script == SCRIPT_LETTER || script == SCRIPT_DIGIT || script == SCRIPT_HAN;
}

/* A mark that joins two letters: half-time, U.S, 1,000. */
static bool en_joins(const struct asked_letters *letters, size_t at, size_t end)
{
    uint32_t code = letters->at[at].code;
    if (at + 1 >= end || !code || code >= 0x80 || !strchr("-.,&", (int)code))
        return false;
    bool digits =
        script_of(letters->at[at - 1].code) == SCRIPT_DIGIT && script_of(letters->at[at + 1].code) == SCRIPT_DIGIT;
    return en_is_letter(letters->at[at + 1].code) && (code != ',' || digits);
}

static bool en_is_capital(const struct asked_letters *letters, size_t at)
{
    size_t end;
    uint32_t code = utf8_read(letters->text, letters->at[at].end, letters->at[at].begin, &end);
    return u_isupper((UChar32)code) || script_of(code) == SCRIPT_DIGIT;
}

void en_tokens_read(const struct asked_letters *letters, struct asked_part sentence, struct en_sentence *in)
{
    bool comma = false, owned = false, quoted = false;
    *in = (struct en_sentence){.letters = letters, .end = sentence.end};
    for (size_t at = sentence.begin; at < sentence.end && in->count < EN_TOKENS_MAX;) {
        uint32_t code = letters->at[at].code;
        if (!en_is_letter(code)) {
            comma |= code == ',' || code == ':' || code == ';';
            quoted ^= code == '"';
            in->asks |= code == '?';
            at++;
            continue;
        }
        struct en_token *token = &in->tokens[in->count];
        *token = (struct en_token){.begin = at, .comma = comma, .owned = owned, .quoted = quoted};
        token->capital = en_is_capital(letters, at);
        while (at < sentence.end && (en_is_letter(letters->at[at].code) || en_joins(letters, at, sentence.end)))
            at++;
        token->end = at;
        in->count++;
        comma = owned = false;
        if (letters->at[at].code == '\'' && letters->at[at + 1].code == 's' &&
            !en_is_letter(letters->at[at + 2].code)) {
            owned = true;
            at += 2;
        } else if (letters->at[at].code == '\'' && letters->at[at + 1].code == 't') {
            at += 2;
            token->end = at;
        } else if (letters->at[at].code == '\'' && letters->at[at - 1].code == 's') {
            owned = true;
        }
    }
    in->asks |= sentence.end > 0 && letters->at[sentence.end - 1].code == '?';
    if (in->count > 1 && in->tokens[1].owned && en_is_any(in, 0, "what who where when how")) { /* what's */
        in->tokens[1].owned = false;
        in->contracted = true;
    }
}

bool en_is_any(const struct en_sentence *in, size_t token, const char *words)
{
    if (token >= in->count)
        return false;
    size_t begin = in->tokens[token].begin, length = in->tokens[token].end - begin;
    for (const char *word = words; *word;) {
        size_t size = strcspn(word, " ");
        bool same = size == length;
        for (size_t i = 0; same && i < size; i++)
            same = in->letters->at[begin + i].code == (unsigned char)word[i];
        if (same)
            return true;
        word += size + (word[size] == ' ');
    }
    return false;
}

bool en_question_word(const struct en_sentence *in, size_t token)
{
    return en_is_any(in, token, "what which who whom whose when where why how");
}

bool en_auxiliary(const struct en_sentence *in, size_t token)
{
    return en_is_any(in, token,
                     "is are was were am be been do does did has have had can could will would shall should "
                     "may might must isn't aren't doesn't didn't don't can't");
}

bool en_preposition(const struct en_sentence *in, size_t token)
{
    return en_is_any(
        in, token,
        "of in on at for to from by with between during since until about under into over after "
        "before through against within around near per as than among across along like besides despite except "
        "without upon due");
}

/* ---- the subject ------------------------------------------------------------------------------------------------- */

static bool en_in(struct asked_part part, size_t token)
{
    return token >= part.begin && token < part.end;
}

static bool en_is_free(const struct en_sentence *in, size_t token)
{
    return !en_in(in->focus, token) && !en_in(in->counter, token) && !(token >= in->word && token < in->word_end);
}

/* "University of Chicago": small words inside a name. */
static bool en_joins_name(const struct en_sentence *in, size_t token)
{
    return en_is_any(in, token, "of the de von van la le du der den di da") && !in->tokens[token].comma;
}

static size_t en_name_end(const struct en_sentence *in, size_t token)
{
    size_t end = token + 1;
    while (end < in->count && en_is_free(in, end) && !in->tokens[end].comma && !in->tokens[end].owned) {
        size_t small = end;
        while (small < in->count && small < end + 2 && en_joins_name(in, small))
            small++;
        if (small >= in->count || !in->tokens[small].capital || !en_is_free(in, small) || in->tokens[small].comma)
            return end;
        end = small + 1;
    }
    return end;
}

static struct asked_part en_longest_name(const struct en_sentence *in)
{
    struct asked_part best = {0, 0};
    for (size_t i = 0; i < in->count;) {
        bool opens = i == 0 && in->word != 0 &&
                     en_is_any(in, 0,
                               "in on at by to from for during after when the a between until "
                               "following before since under with as if while according among");
        if (!in->tokens[i].capital || !en_is_free(in, i) || opens || en_is_any(in, i, "i")) {
            i++;
            continue;
        }
        size_t end = en_name_end(in, i);
        bool number = end == i + 1 && script_of(in->letters->at[in->tokens[i].begin].code) == SCRIPT_DIGIT;
        if (!number && end - i > best.end - best.begin)
            best = (struct asked_part){i, end};
        i = end;
    }
    return best;
}

static bool en_is_small(const struct en_sentence *in, size_t token)
{
    return en_is_any(in, token,
                     "the a an of in on at for to from by with is are was were do does did has have had can could will "
                     "would should may might must be been it its his her their this that these those and or not there "
                     "i you we they he she my your our as between during since until about what which who whom whose "
                     "when where why how many much called named known if into than s due besides upon");
}

struct asked_part en_subject(const struct en_sentence *in)
{
    for (size_t i = 0; i < in->count; i++) {
        size_t end = i;
        while (end < in->count && in->tokens[end].quoted)
            end++;
        if (end > i)
            return (struct asked_part){i, end};
    }
    struct asked_part name = en_longest_name(in);
    if (name.begin < name.end)
        return name;
    for (size_t i = in->focus.end > in->word_end ? in->focus.end : in->word_end; i < in->count; i++) {
        if (en_is_small(in, i) || !en_is_free(in, i))
            continue;
        size_t end = i + 1;
        while (end < in->count && !en_is_small(in, end) && !in->tokens[end].comma && end - i < 4)
            end++;
        return (struct asked_part){i, end};
    }
    return (struct asked_part){0, 0};
}
