/* 「AはBより広いですか」, 「Aと比べてBは広いですか」: a comparison without a which-word. */
#include "split_priv.h"

LIST(edges, "、", "，", ",", "。", "？", "?", "：", ":", "!", "！");

static bool asks_otherwise(struct text text)
{
    static const char *const askers[] = {"何",     "なに",   "なん",   "誰",     "だれ",   "いつ",
                                         "どこ",   "なぜ",   "どう",   "どの",   "どれ",   "どん",
                                         "いくら", "いくつ", "どちら", "どっち", "いずれ", NULL};
    return split_has(text, askers);
}

static bool is_plain_thing(struct text text)
{
    static const char *const clauses[] = {"を",   "、",   "それ", "これ", "他の", "ほかの",
                                          "以前", "過去", "前回", "平均", NULL};
    static const char *const times[] = {"年", "月", "日", "昨年", "前年", "去年", "今",
                                        "昔", "に", "は", "が",   "も",   NULL};
    return contrast_is_thing(text) && text.length <= 75 && !split_has(text, clauses) &&
           !split_match_before(text, text.length, times);
}

LIST(sides, "の方が", "のほうが");

/* The mark behind the first item of 「AはBより」: the last は, since names contain は too. */
static size_t than_topic(const struct marked *marked, size_t from, size_t to, size_t *length)
{
    size_t found = split_find(marked, from, to, sides, length), last = to, ignored;
    if (found < to)
        return found;
    for (size_t at = from; (at = split_find(marked, at, to, (const char *const[]){"は", NULL}, &ignored)) < to;
         at += *length) {
        *length = 3;
        last = at + 3 < to ? at : last;
    }
    return last < to ? last : split_find(marked, from, to, (const char *const[]){"が", NULL}, length);
}

bool contrast_than(const struct marked *marked, size_t begin, struct contrast *contrast)
{
    static const char *const thans[] = {"よりも",     "より",       "と比べると", "と比べて", "と比較すると",
                                        "と比較して", "に比べると", "に比べて",   "に比べ",   NULL};
    struct text text = marked->text;
    struct text last = split_trim(text, (const char *const[]){"？", "?", "。", NULL});
    size_t length, topic, ignored, than = split_find(marked, begin + 1, text.length, thans, &length);
    bool asks =
        split_match_before(last, last.length, (const char *const[]){"か", "の", NULL}) || last.length < text.length;
    if (than == text.length || !asks || asks_otherwise(text))
        return false;
    size_t behind = than + length, at = than_topic(marked, begin + 1, than, &topic);
    bool compares = !split_match(text, than, "より") &&
                    split_find(marked, behind, text.length, (const char *const[]){"は", NULL}, &ignored) < text.length;
    if (at < than && !compares) {
        contrast->one = contrast_thing(split_part(text, begin, at));
        contrast->other = contrast_thing(split_part(text, at + topic, than));
    } else {
        at = split_find(marked, behind + 1, text.length, sides, &topic);
        at = at < text.length
                 ? at
                 : split_find(marked, behind + 1, text.length, (const char *const[]){"は", "が", NULL}, &topic);
        contrast->other = contrast_thing(split_part(text, begin, than));
        contrast->one = contrast_thing(split_part(text, behind, at));
        behind = at + (at < text.length ? topic : 0);
    }
    contrast->clause.said = split_trim(split_part(text, behind, text.length), edges);
    return is_plain_thing(contrast->one) && is_plain_thing(contrast->other) &&
           contrast_clause_compares(contrast->clause.said);
}
