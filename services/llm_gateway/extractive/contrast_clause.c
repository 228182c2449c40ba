/* The question about one item of a comparison: 「どちらが面積が広いですか」 → 「Aの面積は？」. */
#include "split_priv.h"

#include "words/words.h"

LIST(endings, "のでしょうか", "んでしょうか", "なのでしょうか", "でしょうか", "なのですか", "のですか", "なんですか",
     "んですか", "だろうか", "でしょう", "ですか", "ですね", "なのか", "のか", "です", "だ", "か", "の", "ん");
LIST(degrees, "大き", "小さ", "広", "狭", "高", "低", "長", "短", "重", "軽", "多", "少な", "速", "深", "浅", "近",
     "遠", "強", "弱", "安", "若", "暑", "寒", "太", "細", "厚", "薄", "明る", "暗", "硬", "柔らか", "熱", "冷た", "濃",
     "甘", "辛", "良", "よ", "いい", "悪", "詳し", "難し", "優し", "易し", "古", "新し", "早", "遅", "はや", "おそ",
     "安全性が高", "美味し", "美し", "面白", "賢", "偉", "有力", "鋭", "激し", "厳し", "涼し", "暖か", "温か", "忙し",
     "珍し");
LIST(adjective_ends, "い", "かった", "きい", "きかった", "くて");
LIST(states, "有名", "便利", "安全", "高価", "高速", "大規模", "小規模", "優秀", "豊か", "優勢", "有利", "不利", "複雑",
     "簡単", "重要", "裕福", "静か", "盛ん", "上位", "下位", "上", "下", "多数", "少数", "人気", "お得", "得", "北",
     "南", "東", "西", "長寿", "長命", "古株", "短命", "一般的", "上手", "得意", "好き");
LIST(firsts, "先", "後", "あと", "最初", "前", "以前", "早期");
LIST(ages, "年上", "年下", "年長", "年少", "先輩", "後輩", "高齢");
LIST(times, "いち早く", "早い時期に", "早い段階で", "早い年に", "遅い時期に", "遅い年に", "先に", "早くに", "早く",
     "遅く", "後に", "あとに", "後から", "あとから", "後で", "最初に", "最近", "以前に", "古くから", "昔から", "昔に",
     "前に");
LIST(amounts, "多くの", "多く", "長い間", "長い", "長く", "高く", "大きく", "大きな", "速く", "遠く", "深く", "広く",
     "広い", "高い", "強く", "頻繁に", "たくさんの", "たくさん", "少ない", "少なく", "安く", "小さな", "重い", "短い",
     "短く", "多数の");
LIST(mores, "より", "もっと", "一番", "いちばん", "最も", "もっとも", "比較的", "いっそう", "ずっと");
LIST(marks, "、", "，", "。", "？", "?", "！", "!");

/* The length of the adjective, state or order at the end of the text; 0: it ends with another word. */
static size_t degree_before(struct text text, const char *const *stems, bool adjective)
{
    size_t end = adjective ? split_match_before(text, text.length, adjective_ends) : 0;
    if (adjective && !end)
        return 0;
    size_t stem = split_match_before(text, text.length - end, stems);
    if (!stem && adjective && end > 3) /* 大きい: the end is い, not きい */
        stem = split_match_before(text, text.length - (end = 3), stems);
    return stem ? stem + end : 0;
}

struct comparative {
    size_t length; /* at the end of the clause; 0: the clause is no comparative */
    bool when, age;
};

static struct comparative comparative_before(struct text text)
{
    static const char *const orders[] = {"早", "遅", "はや", "おそ", NULL};
    struct comparative found = {.length = degree_before(text, degrees, true)};
    if (found.length) {
        found.when = degree_before(text, orders, true) > 0;
        return found;
    }
    if ((found.length = degree_before(text, ages, false)))
        found.age = true;
    else if ((found.length = degree_before(text, firsts, false)))
        found.when = true;
    else
        found.length = degree_before(text, states, false);
    return found;
}

static struct text without_mores(struct text text)
{
    size_t length;
    text = split_trim(text, marks);
    while ((length = split_match_any(text, 0, mores)) && length < text.length)
        text = split_trim(split_part(text, length, text.length), marks);
    return text;
}

static struct text without_mores_behind(struct text text)
{
    size_t length;
    text = split_trim(text, marks);
    while ((length = split_match_before(text, text.length, mores)) && length <= text.length)
        text = split_trim(split_part(text, 0, text.length - length), marks);
    return text;
}

/* 面積が広い of 面積が広い国: a noun behind a verb or an adjective is the kind of the two items. */
static struct text without_kind(struct text text)
{
    static const char *const ends[] = {"い", "た", "る", "う", "く", "す", "む", "ぶ", "な", "だ", "つ", NULL};
    size_t at = text.length;
    while (at > 0 && !split_hiragana_before(text, at))
        at = split_back(text, at);
    size_t ours = split_match_before(text, text.length, (const char *const[]){"ほう", "もの", "ところ", NULL});
    if (ours)
        return split_part(text, 0, text.length - ours);
    if (at < text.length && at > 3 && split_match_before(text, at, ends))
        return split_part(text, 0, at);
    return text;
}

static struct text core_of(struct text said, bool relative)
{
    said = split_trim(said, marks);
    if (relative && split_match_before(said, said.length, (const char *const[]){"な", "なの", NULL})) /* 年上なのは */
        return split_part(
            said, 0, said.length - split_match_before(said, said.length, (const char *const[]){"なの", "な", NULL}));
    size_t length = split_match_before(said, said.length, endings);
    struct text core = split_part(said, 0, length < said.length ? said.length - length : said.length);
    return relative ? without_kind(said.length > 3 &&
                                           split_match_before(said, said.length, (const char *const[]){"の", NULL})
                                       ? split_part(said, 0, said.length - 3)
                                       : said)
                    : core;
}

/* The first word of the list at the begin of a word; the clause's length: not found. */
static size_t adverb_in(struct text clause, const char *const *list, size_t *length)
{
    static const char *const before[] = {"が", "を", "に", "で", "は", "も", "の", "と", "、", "から", "へ", NULL};
    for (size_t at = 0; at < clause.length; at++) {
        size_t than = split_match_before(clause, at, (const char *const[]){"より", NULL}); /* 1900年より前に */
        bool begins = at == 0 || (than ? at == than || split_match_before(clause, at - than, before)
                                       : split_match_before(clause, at, before) > 0);
        if (begins && (*length = split_match_any(clause, at, list)))
            return at;
    }
    return clause.length;
}

bool contrast_clause_compares(struct text said)
{
    size_t length;
    struct text core = core_of(said, false);
    return comparative_before(core).length || adverb_in(core, times, &length) < core.length ||
           adverb_in(core, amounts, &length) < core.length || split_match_any(core, 0, mores);
}

bool contrast_clause_is_bare(struct text said)
{
    struct text core = without_mores(core_of(said, false));
    size_t length = comparative_before(core).length;
    return length && length == core.length;
}

#define T(words) ((struct text){words, sizeof words - 1})
#define END      ((struct text){NULL, 0})

/* 「面積が広い」, 「広い」, 「先」: the attribute of the item, or its degree. */
static struct text degree_part(struct split *split, const struct contrast_clause *clause, struct text core,
                               struct comparative degree, struct text thing)
{
    static const char *const particles[] = {"が", "の", "は", "も", NULL};
    struct text adjective = split_part(core, core.length - degree.length, core.length);
    struct text noun = without_mores_behind(split_part(core, 0, core.length - degree.length));
    static const char *const places[] = {"に", "へ", "から", "まで", "と", NULL};
    if (split_match_before(noun, noun.length, places)) /* 日本に近い */
        return split_concat(
            split->arena, (const struct text[]){thing, T("は"), noun, T("どのくらい"), adjective, T("ですか？"), END});
    size_t particle = split_match_before(noun, noun.length, particles);
    noun = without_mores_behind(split_part(noun, 0, noun.length - particle));
    if (!noun.length || clause->noun.length)
        noun = clause->noun.length && noun.length ? text_joined(split->arena, clause->noun, T("の"), noun)
               : noun.length                      ? noun
                                                  : clause->noun;
    bool event = split_match_before(noun, noun.length, particles) && noun.length > 3; /* 設立されたの */
    if (degree.age)
        return text_joined(split->arena, thing, T("は何年生まれですか？"), T(""));
    if (noun.length && event)
        return split_concat(split->arena,
                            (const struct text[]){thing, T("が"), noun,
                                                  degree.when ? T("はいつですか？") : T("はどのくらいですか？"), END});
    if (noun.length)
        return split_concat(split->arena, (const struct text[]){thing, T("の"), noun,
                                                                degree.when ? T("はいつですか？") : T("は？"), END});
    if (degree.when)
        return text_joined(split->arena, thing, T("はいつですか？"), T(""));
    static const char *const oldness[] = {"古い", "新しい", "古かった", "新しかった", NULL};
    static const char *const measures[] = {"高い",       "長い",     "重い",     "大きい",   "広い",     "深い",
                                           "速い",       "太い",     "厚い",     "高かった", "長かった", "重かった",
                                           "大きかった", "広かった", "深かった", "速かった", NULL};
    static const char *const ends[] = {"かった", "い", NULL};
    if (split_match_any(adjective, 0, oldness))
        return text_joined(split->arena, thing, T("はいつのものですか？"), T(""));
    if (split_match_any(adjective, 0, measures)) { /* 高い: documents say 高さ */
        adjective.length -= split_match_before(adjective, adjective.length, ends);
        return split_concat(split->arena,
                            (const struct text[]){thing, T("の"), adjective, T("さはどのくらいですか？"), END});
    }
    return split_concat(split->arena, (const struct text[]){thing, T("はどのくらい"), adjective, T("ですか？"), END});
}

/* 「先に生まれました」 → 「いつ生まれました」, 「多くの作品を」 → 「どのくらい多くの作品を」. */
static struct text asked_of(struct split *split, struct text core)
{
    size_t length, at = adverb_in(core, times, &length);
    if (at < core.length) {
        struct text before = without_mores_behind(split_part(core, 0, at));
        return text_joined(split->arena, before, T("いつ"), split_part(core, at + length, core.length));
    }
    at = adverb_in(core, amounts, &length);
    if (at < core.length) {
        struct text before = without_mores_behind(split_part(core, 0, at));
        return text_joined(split->arena, before, T("どのくらい"), split_part(core, at, core.length));
    }
    return core;
}

struct text contrast_clause_part(struct split *split, const struct contrast_clause *clause, struct text thing)
{
    struct text said = without_mores(clause->said), core = core_of(said, clause->relative);
    struct comparative degree = comparative_before(core);
    if (degree.length && !clause->particle.length)
        return degree_part(split, clause, core, degree, thing);
    static const char *const objects[] = {"を", "と", NULL};
    bool subject = !clause->particle.length || split_match_any(clause->particle, 0, objects);
    struct text asked = asked_of(split, clause->relative ? core : split_trim(said, marks));
    return split_concat(split->arena, (const struct text[]){thing, subject ? T("") : clause->particle, T("は"),
                                                            clause->noun, clause->noun.length ? T("が") : T(""), asked,
                                                            clause->relative ? T("のですか？") : T("？"), END});
}
