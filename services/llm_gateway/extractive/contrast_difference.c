/* 「AとBの価格の違いは何ですか」: the difference in an attribute is told by 「Aの価格は？」 and 「Bの価格は？」.
 * Without an attribute, 「AとBの違いは」, the question stays whole: a text may tell the difference itself. */
#include "split_priv.h"

#include "words/words.h"

#include <string.h>

#define ATTRIBUTE_MAX ((size_t)36) /* bytes */

LIST(differences, "の違い", "の差異", "の差");
LIST(askers, "はどれくらいですか", "はどのくらいですか", "はどれくらい", "はどのくらい", "はいくらですか", "はいくら",
     "は何でしょうか", "は何ですか", "は何か", "は何", "についておしえて", "について", "はありますか", "はあるか",
     "がありますか", "を教えてください", "を教えて下さい", "を教えて", "を説明してください", "を説明して",
     "を知りたいです", "を知りたい", "が知りたいです", "が知りたい", "教えてください", "教えて", "って何ですか", "って",
     "は");
LIST(edges, "、", "。", "？", "?", "！", " ", "　");
LIST(no_attributes, "間", "両者", "二つ", "2つ", "それぞれ", "両方", "一番", "最大", "主");

static size_t difference_at(const struct marked *marked, size_t *length)
{
    return split_find(marked, 0, marked->text.length, differences, length);
}

/* The begin of the attribute that ends at `end`, behind the last の; 0: there is none. */
static size_t attribute_begin(const struct marked *marked, size_t end)
{
    static const char *const of[] = {"の", NULL};
    struct text text = marked->text;
    for (size_t at = end; at > 3 && end - at <= ATTRIBUTE_MAX; at = split_back(text, at))
        if (at < end && split_match_before(text, at, of) && !marked->quoted[at - 1])
            return at;
    return 0;
}

bool contrast_difference(struct split *split, struct text question)
{
    struct marked marked;
    struct contrast contrast = {.clause = {.noun = {"", 0}, .particle = {"", 0}, .said = {"", 0}}};
    size_t length;
    mark_quoted(&marked, question);
    size_t at = difference_at(&marked, &length), begin = at < question.length ? attribute_begin(&marked, at) : 0;
    if (!begin || split->limit < 2)
        return false;
    struct text rest = split_trim(split_part(question, at + length, question.length), edges);
    struct text attribute = split_part(question, begin, at);
    if (split_match_any(rest, 0, askers) != rest.length || split_is_any(attribute, no_attributes) ||
        split_has(attribute, (const char *const[]){"と", "、", "は", "が", NULL}) ||
        split_has(split_part(question, 0, begin), (const char *const[]){"は", "が", "それぞれ", NULL}) ||
        !contrast_pair(&marked, 0, begin - strlen("の"), &contrast))
        return false;
    split->apart = true;
    const struct text things[] = {contrast.one, contrast.other};
    for (size_t i = 0; i < 2; i++)
        split_add(split,
                  split_concat(split->arena,
                               (const struct text[]){things[i], text_of("の"), attribute, text_of("は？"), {NULL, 0}}));
    return true;
}
