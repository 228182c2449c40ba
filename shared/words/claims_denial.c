/* Checks whether a sentence and its quote both deny or both affirm. A quote that is longer than the sentence may deny
 * an unrelated fact. In this case only the clauses with the words of the sentence count. */
#include "words/claims_priv.h"

#include "words/fold.h"

#include <string.h>
#include <strings.h>

#define SHORT_QUOTE  1.5 /* times the sentence's length: a quote up to this length has few other claims */
#define CLAUSES_MOST 32  /* of a quote; a quote with more is checked as a whole */

/* ---- words that deny --------------------------------------------------------------------------------------------- */

static bool claim_is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool claim_denies_word(const char *word, size_t length)
{
    static const char *const words[] = {"not",     "no",     "never",  "none",   "nor",      "neither", "cannot",
                                        "without", "nobody", "hardly", "barely", "scarcely", "seldom",  "rarely",
                                        "false",   "untrue", "unable", "refuse", "refuses",  "refused", "impossible"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], word, length) == 0)
            return true;
    return false;
}

/* The n't of a contraction, with either apostrophe. */
static bool claim_denies_contracted(const char *text, size_t left)
{
    return (left >= 3 && strncasecmp(text, "n't", 3) == 0) ||
           (left >= 5 && strncasecmp(text, "n\xE2\x80\x99t", 5) == 0);
}

static bool claim_begins(struct claim text, size_t at, const char *word)
{
    size_t length = strlen(word);
    return text.length - at >= length && memcmp(text.text + at, word, length) == 0;
}

/* 不可 is a denial, 不可欠 is not. */
static bool claim_says_impossible(struct claim text, size_t at)
{
    return claim_begins(text, at, "不可") && !claim_begins(text, at, "不可欠");
}

/* 保存されず、 and せずに deny; まず、 and 必ず do not. `at` is the offset of ず. */
static bool claim_denies_before(struct claim text, size_t at)
{
    static const char *const stems[] = {"わ", "か", "が", "さ", "た", "な", "ば", "ら", "れ", "せ",
                                        "え", "け", "げ", "て", "ね", "べ", "め", "き", "じ", "み"};
    static const char *const behind[] = {"、", "。", "に", "，", " "};
    size_t next = at + strlen("ず");
    bool stem = false, ends = next == text.length;
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        stem |= at >= strlen(stems[i]) && memcmp(text.text + at - strlen(stems[i]), stems[i], strlen(stems[i])) == 0;
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        ends |= claim_begins(text, next, behind[i]);
    return stem && ends;
}

/* しなければならない means an obligation and is not a denial. 少ない is one word, also without a denial. */
static bool claim_denies_japanese(struct claim text)
{
    bool must = false;
    for (size_t at = 0; at < text.length; at++) {
        if (claim_says_impossible(text, at) || (claim_begins(text, at, "ず") && claim_denies_before(text, at)))
            return true;
        must |= claim_begins(text, at, "なければ") || claim_begins(text, at, "なくては");
        bool few = at >= 3 && memcmp(text.text + at - 3, "少", 3) == 0;
        if (few ||
            !(claim_begins(text, at, "ない") || claim_begins(text, at, "ません") || claim_begins(text, at, "なかった")))
            continue;
        if (!must)
            return true;
        must = false;
    }
    return false;
}

static size_t claim_denials_english(struct claim text)
{
    size_t count = 0;
    for (size_t at = 0, end; at < text.length; at = end) {
        end = at + 1;
        if (!claim_is_letter(text.text[at]))
            continue;
        while (end < text.length && claim_is_letter(text.text[end]))
            end++;
        count += claim_denies_word(text.text + at, end - at) ||
                 claim_denies_contracted(text.text + end - 1, text.length - end + 1);
    }
    return count;
}

size_t claims_denials(struct claim text)
{
    return claim_denials_english(text) + claim_denies_japanese(text);
}

static bool claim_denies(struct claim text)
{
    return claims_denials(text) != 0;
}

/* ---- clauses ----------------------------------------------------------------------------------------------------- */

static bool claim_is_digit_at(struct claim text, size_t at)
{
    return at < text.length && text.text[at] >= '0' && text.text[at] <= '9';
}

/* The length in bytes of the mark at `at` that ends a clause, or 0. A comma or a full stop inside a number is not a
 * mark. */
static size_t claim_clause_mark(struct claim text, size_t at)
{
    static const char *const marks[] = {"、", "。", "，", "；", "．", "！", "？", "（", "）", "\n"};
    if (strchr(",.;!?()", text.text[at]))
        return at && claim_is_digit_at(text, at - 1) && claim_is_digit_at(text, at + 1) ? 0 : 1;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (claim_begins(text, at, marks[i]))
            return strlen(marks[i]);
    return 0;
}

static struct claim claim_clause_next(struct claim text, size_t *at)
{
    size_t begin = *at, mark = 0;
    while (*at < text.length && !(mark = claim_clause_mark(text, *at)))
        ++*at;
    struct claim clause = {text.text + begin, *at - begin};
    *at += mark;
    return clause;
}

/* Whether the quote has at least one clause with the words of the sentence, and all these clauses deny. */
static bool claim_is_denied(struct claim sentence, struct claim quote)
{
    bool denied = false;
    size_t at = 0;
    for (int looked = 0; at < quote.length; looked++) {
        struct claim_terms terms = {.count = 0};
        struct claim clause = claim_clause_next(quote, &at);
        if (looked == CLAUSES_MOST || !claim_terms_add(&terms, clause))
            return false;
        if (claim_share_of(&terms, sentence) < SAME_SHARE)
            continue;
        if (!claim_denies(clause))
            return false;
        denied = true;
    }
    return denied;
}

bool claims_denial_agrees(struct claim sentence, struct claim quote)
{
    bool denies = claim_denies(sentence), denied = claim_denies(quote);
    if (denies == denied)
        return true;
    return denied && (double)quote.length > SHORT_QUOTE * (double)sentence.length && !claim_is_denied(sentence, quote);
}

bool claims_denied_around(struct claim text, size_t begin, size_t end)
{
    size_t at = 0;
    if (claim_denies((struct claim){text.text + begin, end - begin}))
        return false;
    while (at < end) {
        struct claim clause = claim_clause_next(text, &at);
        size_t from = (size_t)(clause.text - text.text), to = from + clause.length;
        if (to <= begin || from >= end)
            continue;
        if ((from < begin && claim_denies((struct claim){clause.text, begin - from})) ||
            (to > end && claim_denies((struct claim){text.text + end, to - end})))
            return true;
    }
    return false;
}
