/* Private to split*.c and contrast*.c: a question while it is taken apart. */
#ifndef RENGA_LLM_GATEWAY_SPLIT_PRIV_H
#define RENGA_LLM_GATEWAY_SPLIT_PRIV_H

#include "extract.h"

#include <stdint.h>

/* A list of words that ends with NULL. */
#define LIST(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}

struct split {
    struct arena *arena;
    struct text *parts;
    size_t count, limit;
    unsigned depth; /* of English clauses */
    enum language language;
    bool leans;        /* a part cannot stand alone */
    bool apart;        /* the parts are those of a comparison: pronouns are not resolved */
    struct text topic; /* the subject of the first part; length 0: not known */
};

/* Adds a part, once. Beyond the limit the part is appended to the last one, up to EXTRACT_ASKED_MAX bytes. */
void split_add(struct split *split, struct text part);

/* ---- split_text.c: positions in a question ----------------------------------------------------------------------- */

/* A text of at most EXTRACT_ASKED_MAX bytes, with the bytes that stay together: quotations and brackets, and known
 * names and pairs with a conjunction ("Pride and Prejudice", "terms and conditions"). */
enum mark { MARK_NONE, MARK_QUOTE, MARK_PAIR };
struct marked {
    struct text text;
    uint8_t quoted[EXTRACT_ASKED_MAX]; /* enum mark */
};
void mark_quoted(struct marked *marked, struct text text);

/* split_names.c: the bytes that a known pair takes on both sides of the conjunction [at, end); false: not a known
 * pair. */
bool split_is_pair(struct text text, size_t at, size_t end, size_t *left, size_t *right);

/* The length of the word at `at`, or 0. Lists end with NULL; their first match counts. */
size_t split_match(struct text text, size_t at, const char *word);
size_t split_match_any(struct text text, size_t at, const char *const *list);

/* Whether the whole text is a word of the list. */
bool split_is_any(struct text text, const char *const *list);

/* The length of the first word of the list that ends at `end`, or 0. */
size_t split_match_before(struct text text, size_t end, const char *const *list);

/* The first position in [from, to) with a word of the list outside quotations, and its length; `to`: not found. */
size_t split_find(const struct marked *marked, size_t from, size_t to, const char *const *list, size_t *length);
bool split_has(struct text text, const char *const *list);

/* The bytes of whole characters that both texts end with. */
size_t split_shared_end(struct text one, struct text other);

/* Whether the character at `at`, or the one that ends there, is Hiragana. */
bool split_is_hiragana(struct text text, size_t at);
bool split_hiragana_before(struct text text, size_t at);
size_t split_back(struct text text, size_t at); /* the begin of the character that ends at `at` */

/* [begin, end) without blanks, ideographic ones included, and without the given marks at its ends. */
struct text split_trim(struct text text, const char *const *marks);
struct text split_part(struct text text, size_t begin, size_t end);

/* The texts of a list one after the other; its end has NULL bytes. */
struct text split_concat(struct arena *arena, const struct text *list);

/* ---- languages --------------------------------------------------------------------------------------------------- */

enum language split_language(struct text question, bool japanese);

/* Whether a later question in Chinese, Korean, German, French or Spanish names what it is about, and does not lean on
 * the question before it. */
bool split_has_subject(struct text question, enum language language);

/* Whether a sentence only greets or thanks; a sentence without the greeting before its first comma. */
bool split_is_greeting(struct text text);
struct text split_without_greeting(struct text text);

/* Splits one question without line breaks. */
void split_japanese(struct split *split, struct text question);
void split_english(struct split *split, struct text question);

/* The same in German, French and Spanish. False: it stays whole, and no part was added. */
bool split_european(struct split *split, struct text question);

/* A comparison of two items becomes a question for each of them. False: not a comparison, and no part was added. */
bool contrast_japanese(struct split *split, struct text question);
bool contrast_english(struct split *split, struct text question);
bool contrast_chinese(struct split *split, struct text question);
bool contrast_korean(struct split *split, struct text question);
bool contrast_european(struct split *split, struct text question);

/* "A oder B?" without a question word: it belongs to the question before it. */
bool contrast_is_choice(struct text question, enum language language);

/* The part with the topic in the place of a pronoun ("それ", "it"). */
struct text carry_japanese(const struct split *split, struct text part);
struct text carry_english(const struct split *split, struct text part);

/* Whether a Japanese part has no subject: 「いつ解けますか」, or is only a subject: 「大阪は？」. An English part
 * depends on the sentence before it: "And when a receipt is lost?", "And B?". */
bool split_lacks_subject(struct text part);
bool split_leans(struct text part);
bool split_has_pronoun(struct text part); /* "it", "their": an English part leans on another one's subject */

/* The subject of a part; length 0: not known. */
struct text topic_japanese(struct text part);
struct text topic_english(struct text part);

/* ---- split_tokens.c: words between blanks ------------------------------------------------------------------------ */

#define TOKENS_MAX     128
#define TOKEN_WORD_MAX 16 /* bytes of a word that is compared; longer ones are in no list */

struct token {
    size_t begin, end; /* without the marks behind it */
    char word[TOKEN_WORD_MAX];
    bool quoted, stopped; /* stopped: a comma, a colon or another mark follows */
};
struct tokens {
    struct text text;
    struct token list[TOKENS_MAX];
    size_t count;
};
void tokens_read(struct text text, struct tokens *tokens);
bool token_is(const struct tokens *tokens, size_t at, const char *const *list);
bool token_is_plain(const struct token *token);             /* no function word */
bool token_is_name(const struct tokens *tokens, size_t at); /* begins with a capital letter or a digit */
struct text tokens_between(const struct tokens *tokens, size_t from, size_t to);
/* The first token in [from, to) that is a word of the list; `to`: not found. */
size_t tokens_find(const struct tokens *tokens, size_t from, size_t to, const char *const *list);
/* A copy in the arena that begins with a capital letter. */
struct text split_capital(struct split *split, struct text text);

/* contrast_predicate.c: the question about one item of an English comparison. */
struct contrast_english {
    const struct tokens *tokens;
    size_t from, to;       /* the predicate: "is older", "has a larger population" */
    struct text attribute; /* the attribute of a genitive question; length 0: no attribute */
};
struct text contrast_english_part(struct split *split, const struct contrast_english *contrast, struct text thing);
bool contrast_has_comparative(const struct tokens *tokens, size_t from, size_t to);
bool contrast_is_verb(const struct tokens *tokens, size_t at); /* by its ending, or an irregular one */

/* contrast_clause.c: the question about one item of a Japanese comparison. */
struct contrast_clause {
    struct text noun; /* the attribute in front: 人口 of 「人口はどちらが多い」; length 0: no attribute */
    struct text particle; /* of the which-word: に of どちらに; length 0: the subject */
    struct text said;     /* the predicate: 面積が広いですか */
    bool relative;        /* it stands before の or a noun: 面積が広い of 面積が広いのは */
};
struct text contrast_clause_part(struct split *split, const struct contrast_clause *clause, struct text thing);
bool contrast_clause_compares(struct text said);
bool contrast_clause_is_bare(struct text said); /* a degree or an order without a noun: 広いですか, 先ですか */

struct contrast {
    struct text one, other;
    struct contrast_clause clause;
    bool several; /* there may be more than two items: どれ, 誰 and どこ ask for one of them, どちら for one of two */
};

/* contrast_pair.c: the two items in [begin, end) of the text. False: there are not two. */
bool contrast_pair(const struct marked *marked, size_t begin, size_t end, struct contrast *contrast);
struct text contrast_thing(struct text text); /* without the words and marks around a name */
bool contrast_is_thing(struct text text);
bool contrast_ends_word(struct text text, size_t at); /* no Hiragana stands before `at` */

/* 「『A』と『B』の放送」: the attribute behind the second quotation goes to the clause. */
void contrast_take_attribute(const struct marked *marked, struct contrast *contrast);

/* contrast_than.c: 「AはBより広いですか」. */
bool contrast_than(const struct marked *marked, size_t begin, struct contrast *contrast);

/* contrast_difference.c: 「AとBの価格の違いは何ですか」. False: no part was added. */
bool contrast_difference(struct split *split, struct text question);

/* contrast_particles.c: comparisons that no form of contrast_japanese matches. False: no part was added. */
bool contrast_particles(struct split *split, struct text question);

#endif
