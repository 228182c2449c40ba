/* Comparisons in Japanese by particles: 「AはBよりどれくらい長い」, 「Bに対するAの利点」, 「AとBは同じですか」. It
 * reads the questions that the forms of contrast_japanese.c do not match: a connective behind the second item, or a
 * pair of noun phrases and a word of comparison behind it.
 *
 *      before  |  A  |  は  |  B  |  より  |  rest          before  |  A  |  と  |  B  |  rest, with どう異なりますか
 */
#include "split_priv.h"

#include "words/words.h"

#include <string.h>

#define THING_MAX    ((size_t)120) /* bytes of an item */
#define ASKED_MAX    ((size_t)600) /* bytes of a question that is looked at */
#define EXCEEDS_MAX  ((size_t)24)  /* bytes between を and the verb */
#define LEFT_OUT_MAX ((size_t)60)  /* bytes of 「、人口が多いのは」, which has no which-word */
#define CUTS_MAX     8             /* words that are left out of one question */

LIST(edges, "、", "，", ",", "。", "？", "?", "：", ":", "!", "！");
LIST(greetings, "すみません、", "すみませんが、", "ところで、", "ちなみに、", "では、", "教えてください。", "結局、",
     "質問ですが、", "やはり", "もし");
LIST(joints, "にはなくて", "になくて", "にはあって", "にあって", "それとも", "および", "及び", "ならびに", "並びに",
     "または", "又は", "もしくは", "あるいは", "vs", "VS", "と", "から", "か、", "か", "や", "も", "、", "対");
LIST(not_joints, "とい", "とし", "とき", "とも", "とは", "とな", "とす", "とっ", "との", "とこ", "とに", "とを", "とで",
     "とど", "とか", "とさ", "とお", "かど", "かも", "かい", "かり", "かの", "かを", "やす", "やり", "もの", "もし",
     "もう", "もっ", "もと", "対し", "対す");
LIST(verb_ends, "る", "う", "く", "す", "つ", "ぶ", "む", "ぐ", "ない", "しい", "だ", "た", "て", "で", "っ", "に");
LIST(closings, "とでは", "とで", "とを", "とは", "どちら", "どっち", "いずれ", "どれ", "では", "って", "なら", "だと",
     "は", "が", "の", "を", "で", "に", "と", "か", "も", "へ", "、", "，", ",", "？", "?", "。", "比べ", "比較");
LIST(actions, "るの", "くの", "うの", "すの", "むの", "つの", "ぶの", "ぐの");
LIST(topics, "のほうが", "の方が", "のほうは", "の方は", "では", "には", "は", "が", "を", "も", "で", "に", "って");
LIST(bounds, "では", "には", "とは", "なら", "まで", "から", "は", "が", "を", "で", "に", "、", "，", ",");
LIST(no_things, "それ", "これ", "あれ", "ほか", "他の", "他に", "彼", "以前", "前回", "前年", "昨日", "昨年", "去年",
     "今年", "今日", "今回", "予想", "想定", "思った", "誰", "何", "いつ", "どれ", "どの", "どん", "その", "この",
     "あの", "あなた", "自分", "従来", "当初", "半分", "第何", "平均", "普段", "通常", "いくら", "それほど");
LIST(no_whole_things, "こと", "もの", "私", "僕", "昔", "今", "普通", "予定", "基準", "基準値", "上限", "下限", "限度",
     "限界", "期限", "定員", "制限", "予算", "目標", "二つ", "2つ", "一つ", "両方", "ど", "そ", "こ", "場合", "相手",
     "世界", "全国", "前", "先", "後", "時", "日");
LIST(asking, "何", "誰", "だれ", "どこ", "どの", "どれ", "どちら", "どっち", "いつ", "なぜ", "どう", "いくら", "？",
     "?", "。");
LIST(identities, "何が", "何を", "何に", "何で", "何と", "何か", "何の", "何です", "何でしょ", "誰", "だれ", "どこ",
     "いつ", "どうしま", "どうした", "どうすれ", "どのよう", "どれが", "どれです", "どんな", "場合", "方法", "手順",
     "には、");
LIST(measures, "どのくらい", "どれくらい", "どのぐらい", "どれぐらい", "どの程度", "どれほど", "どれだけ", "いくら",
     "何倍", "何割", "何分の", "何分変");
LIST(whiches, "どちら", "どっち", "どれ", "いずれ", "誰", "だれ", "どこ");
LIST(compared, "どちら", "どっち", "いずれが", "いずれの", "いずれか", "どれが", "どれです", "どれを", "どれ？",
     "のうち", "比べ", "比較", "違いま", "違いです", "違う", "違った", "違って", "異な", "同じ", "同一", "等し",
     "見分け", "区別", "使い分け", "それぞれ", "別々", "差は", "差が", "差を", "差？", "差っ", "何倍", "同い年", "似て",
     "類似", "共通点", "は何歳", "はいつ生まれ", "は何年生まれ", "はどこで生まれ", "一緒です", "変わらな", "いほう",
     "たほう", "劣", "勝敗", "順位", "メリット", "利点", "長所", "短所", "互角", "どう選", "選ぶなら", "おすすめ",
     "お勧め", "各々", "おのおの", "優れ", "強いのは", "勝る", "先輩", "年上", "年下");
LIST(merits, "利点", "強み", "優位", "メリット", "欠点", "弱み", "弱点", "長所", "短所", "有利", "不利");
LIST(kept_whole, "違いは", "違いを", "違いが", "違いに", "違いっ", "違い？", "関係", "国境", "一緒に", "合わせ",
     "う場合", "る場合", "違反", "違っていた", "どうしま", "どうすれ", "組み合わせ", "合計", "同じよう", "同時", "時差",
     "誤差", "段差", "どちらでも", "どちらにも", "どっちでも", "戦った");

struct particles {
    struct split *split;
    struct marked marked;
};

/* ---- items ---- */

static bool thing_is_named(struct text thing)
{
    return thing.length && thing.length <= THING_MAX && !split_match_any(thing, 0, no_things) &&
           !split_is_any(thing, no_whole_things) && !split_has(thing, asking) &&
           !split_match_before(thing, thing.length,
                               (const char *const[]){"場合", "とき", "時", "前", "後", "際", "中", "ほか", "他", NULL});
}

/* 「30度」, 「3年前」: an amount. */
static bool thing_is_amount(struct text thing)
{
    static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", NULL};
    static const char *const units[] = {"度", "年", "月", "日", "人", "円", "回", "個", "歳", "分", "時間",
                                        "倍", "%",  "％", "cm", "km", "kg", "m",  "万", "億", "割", NULL};
    return split_match_any(thing, 0, digits) && split_match_before(thing, thing.length, units);
}

/* 「新しいカーネル」: a verb or an adjective before the noun. */
static bool thing_is_relative(struct text thing)
{
    static const char *const ends[] = {"い", "た", "る", "な", "う", NULL};
    for (size_t at = 3; at + 3 <= thing.length; at++)
        if (split_match_before(thing, at, ends) && !split_is_hiragana(thing, at) && !split_match(thing, at, "方"))
            return true;
    return false;
}

static bool particles_is_good(struct text thing)
{
    return thing_is_named(thing) && !thing_is_amount(thing);
}

/* The begin of the item that ends at `end`: behind the last particle before it. */
static size_t particles_begin(const struct particles *particles, size_t end)
{
    size_t begin = split_match_any(particles->marked.text, 0, greetings), at = begin, length;
    while ((at = split_find(&particles->marked, at, end, bounds, &length)) < end) {
        bool comma = split_match_any(particles->marked.text, at, edges) > 0;
        if (at + length < end && (comma || (contrast_ends_word(particles->marked.text, at) &&
                                            !split_is_hiragana(particles->marked.text, at + length))))
            begin = at + length;
        at += length;
    }
    return begin;
}

/* 面積 of 「カナダの面積」; length 0: no attribute. */
static struct text thing_attribute(struct text thing)
{
    for (size_t at = thing.length; at > 3; at--)
        if (split_match_before(thing, at, (const char *const[]){"の", NULL}))
            return split_part(thing, at, thing.length);
    return split_part(thing, 0, 0);
}

/* ---- parts ---- */

/* 「それぞれ」 and the words that need both items go. */
static struct text rest_of_one(struct split *split, struct text rest)
{
    static const char *const cuts[] = {"それぞれの",   "それぞれ、", "それぞれ", "どちらも", "どちらが",
                                       "どちらの方が", "どっちが",   "のどちら", "両方とも", "ともに",
                                       "各々",         "より、",     NULL};
    for (int i = 0; i < CUTS_MAX; i++) {
        size_t at = 0, length = 0;
        while (at < rest.length && !(length = split_match_any(rest, at, cuts)))
            at++;
        if (at == rest.length)
            break;
        rest =
            text_joined(split->arena, split_part(rest, 0, at), split_part(rest, at + length, rest.length), text_of(""));
    }
    for (size_t at = 3; at < rest.length; at++) /* 料金差は → 料金は */
        if (!split_hiragana_before(rest, at) && split_match_any(rest, at, (const char *const[]){"差は", "差が", NULL}))
            return text_joined(split->arena, split_part(rest, 0, at), split_part(rest, at + 3, rest.length),
                               text_of(""));
    return rest;
}

/* 「人口が多いのはどちら」 of the rest: its length before のは; 0: another form. */
static size_t rest_clause(struct text rest)
{
    for (size_t at = 3; at < rest.length; at++) {
        size_t length = split_match_any(rest, at, (const char *const[]){"のは、", "のは", "方は", "ほうは", NULL});
        struct text behind = split_trim(split_part(rest, at + length, rest.length), edges);
        if (length && (!behind.length || split_match_any(behind, 0, whiches)))
            return at;
    }
    return 0;
}

static bool rest_has_subject(struct text rest)
{
    for (size_t at = 3; at < rest.length; at++)
        if (split_match_any(rest, at, (const char *const[]){"は", "が", NULL}))
            return !split_hiragana_before(rest, at);
    return false;
}

static void particles_part(struct particles *particles, struct text before, struct text thing, struct text rest)
{
    static const char *const starts[] = {"の", "は", "が", "を", "で", "に", "も", NULL};
    struct split *split = particles->split;
    size_t clause = rest_clause(rest);
    struct contrast_clause asked = {.said = split_part(rest, 0, clause), .relative = true};
    struct text particle = text_of(split_match_any(rest, 0, starts) ? "" : rest_has_subject(rest) ? "の" : "は");
    if (clause && contrast_clause_compares(asked.said))
        split_add(split, contrast_clause_part(split, &asked, thing));
    else
        split_add(split, text_joined(split->arena, text_joined(split->arena, before, thing, particle),
                                     rest.length ? rest_of_one(split, rest) : text_of("特徴は"), text_of("？")));
}

static bool particles_parts(struct particles *particles, struct text before, struct text one, struct text other,
                            struct text rest)
{
    one = split_trim(one, edges);
    other = split_trim(other, edges);
    if (!particles_is_good(one) || !particles_is_good(other) || text_equal(one, other))
        return false;
    particles->split->apart = true;
    rest = split_trim(rest, edges);
    particles_part(particles, before, one, rest);
    particles_part(particles, before, other, rest);
    return true;
}

/* ---- 「AはBより」 ---- */

/* The verb behind を: 「Bを何点上回り」; the length up to its begin, 0: another verb. */
static size_t exceeds_length(struct text text, size_t at)
{
    static const char *const verbs[] = {"上回", "下回", "超え", "越え", "抜い", "抜き",
                                        "抜く", "しの", "凌",   "追い", NULL};
    size_t object = split_match(text, at, "を");
    for (size_t i = at + object; object && i < at + EXCEEDS_MAX; i++)
        if (split_match_any(text, i, verbs))
            return i - at;
    return 0;
}

enum beside { BESIDE_THAN, BESIDE_COMPARED, BESIDE_DEGREE, BESIDE_EXCEEDS, BESIDE_SAME, BESIDE_OF };
static const struct {
    const char *word;
    enum beside kind;
} connectives[] = {
    {"に比べると", BESIDE_COMPARED},
    {"に比べれば", BESIDE_COMPARED},
    {"に比べて", BESIDE_COMPARED},
    {"に比べた", BESIDE_COMPARED},
    {"と比べた", BESIDE_COMPARED},
    {"に負けな", BESIDE_DEGREE},
    {"に比べ", BESIDE_COMPARED},
    {"と比べると", BESIDE_COMPARED},
    {"と比べれば", BESIDE_COMPARED},
    {"と比べたら", BESIDE_COMPARED},
    {"と比べて", BESIDE_COMPARED},
    {"と比べ", BESIDE_COMPARED},
    {"と比較すると", BESIDE_COMPARED},
    {"と比較して", BESIDE_COMPARED},
    {"と比較した", BESIDE_COMPARED},
    {"の代わりに", BESIDE_COMPARED},
    {"ではなく", BESIDE_COMPARED},
    {"じゃなくて", BESIDE_COMPARED},
    {"に対する", BESIDE_OF},
    {"に対して", BESIDE_DEGREE},
    {"よりも", BESIDE_THAN},
    {"より", BESIDE_THAN},
    {"ほど", BESIDE_DEGREE},
    {"の何倍", BESIDE_SAME},
    {"の何分の", BESIDE_SAME},
    {"の何割", BESIDE_SAME},
    {"と同じ", BESIDE_SAME},
    {"と同一", BESIDE_SAME},
    {"と同い年", BESIDE_SAME},
    {"と違", BESIDE_SAME},
    {"と異な", BESIDE_SAME},
    {"とどう違", BESIDE_SAME},
    {"とどう異な", BESIDE_SAME},
    {"とどこが違", BESIDE_SAME},
    {"と何が違", BESIDE_SAME},
    {"とどのように違", BESIDE_SAME},
    {"と何が異な", BESIDE_SAME},
    {"とどのように異な", BESIDE_SAME},
    {"とは違", BESIDE_SAME},
    {"とは異な", BESIDE_SAME},
    {"と等し", BESIDE_SAME},
    {"に似て", BESIDE_SAME},
    {"と似て", BESIDE_SAME},
    {"に勝る", BESIDE_SAME},
    {"とどちらが", BESIDE_SAME},
    {"とどっちが", BESIDE_SAME},
    {"くらい", BESIDE_DEGREE},
    {"ぐらい", BESIDE_DEGREE},
    {"並み", BESIDE_DEGREE},
    {"に匹敵", BESIDE_SAME},
    {"に及", BESIDE_SAME},
    {"に劣", BESIDE_SAME},
    {"と一緒です", BESIDE_SAME},
    {"と変わ", BESIDE_SAME},
    {"の半分", BESIDE_SAME},
    {"の2倍", BESIDE_SAME},
    {"の二倍", BESIDE_SAME},
    {"の3倍", BESIDE_SAME},
    {"とどれくらい違", BESIDE_SAME},
    {"とどれほど違", BESIDE_SAME},
    {"といくら違", BESIDE_SAME},
};

static bool beside_asks(enum beside kind, struct text rest)
{
    static const char *const degrees[] = {"どう", "ません", "ない", "何年", NULL};
    if (kind == BESIDE_DEGREE && !contrast_clause_compares(rest) && !split_has(rest, measures) &&
        !split_has(rest, degrees))
        return false;
    if (kind == BESIDE_OF)
        return split_has(rest, merits);
    return kind == BESIDE_COMPARED || kind == BESIDE_SAME || !split_has(rest, identities) ||
           split_has(rest, (const char *const[]){"点は", "ところは", "面は", "理由は", NULL});
}

/* 「Bに比べてAの強みは」: the first item stands behind the connective. */
static bool beside_first(struct particles *particles, size_t at, size_t behind, enum beside kind)
{
    static const char *const ends[] = {"のほうが", "の方が", "は", "が", "の", "を", NULL};
    struct text text = particles->marked.text;
    size_t length, begin = particles_begin(particles, at),
                   end = split_find(&particles->marked, behind, text.length, ends, &length);
    struct text one = split_trim(split_part(text, behind, end), edges);
    if (kind == BESIDE_EXCEEDS || kind == BESIDE_SAME || end == text.length ||
        split_has(split_part(text, begin, at), (const char *const[]){"は", NULL}) || thing_is_relative(one) ||
        !contrast_ends_word(text, end))
        return false;
    bool side = length > 3;
    return beside_asks(kind, split_part(text, end, text.length)) &&
           particles_parts(particles, split_part(text, 0, begin), one, split_part(text, begin, at),
                           split_part(text, side ? end + length : end, text.length));
}

/* The last particle before `to` that a first item may stand before, は and が first; `to`: there is none. */
static size_t beside_topic(const struct particles *particles, size_t to, size_t *size)
{
    static const char *const subjects[] = {"のほうが", "の方が", "のほうは", "の方は", "では",
                                           "には",     "は",     "が",       NULL};
    static const char *const topic[] = {"は", NULL}, *const nominal[] = {"さ", "き", "の", NULL};
    static const char *const *const lists[] = {subjects, topics, topic};
    struct text text = particles->marked.text;
    size_t found = to, length;
    for (size_t list = 0; list < sizeof lists / sizeof lists[0] && found == to; list++)
        for (size_t i = 0; (i = split_find(&particles->marked, i, to, lists[list], &length)) < to; i += length) {
            if (list < 2 && !contrast_ends_word(text, i) && !split_match_before(text, i, nominal))
                continue;
            found = i;
            *size = length;
        }
    return found;
}

/* 「AはBより」: the last particle before the connective stands behind the first item. */
static bool beside_behind(struct particles *particles, size_t at, size_t behind, enum beside kind)
{
    struct text text = particles->marked.text, rest = split_part(text, behind, text.length);
    size_t size = 0, found = beside_topic(particles, at, &size);
    if (found == at || !found || !beside_asks(kind, rest))
        return false;
    bool action = split_match_before(text, found, actions) > 0;
    size_t begin = action ? split_match_any(text, 0, greetings) : particles_begin(particles, found);
    struct text one = split_part(text, begin, found), other = split_trim(split_part(text, found + size, at), edges);
    struct text attribute = thing_attribute(one);
    size_t why = split_match_any(other, 0, (const char *const[]){"なぜ", "どうして", NULL});
    other = split_part(other, why, other.length);
    if (!particles_is_good(other) || (kind == BESIDE_THAN && !contrast_ends_word(text, at) && other.length < 9))
        return false;
    if (action)
        other = text_joined(particles->split->arena, other, text_of("の"), text_of(""));
    else if (attribute.length && !thing_attribute(other).length)
        other = text_joined(particles->split->arena, other, text_of("の"), attribute);
    if (kind == BESIDE_EXCEEDS)
        rest = text_of("どのくらいですか");
    else if (kind == BESIDE_SAME)
        rest = split_part(text, at + strlen("と"), text.length);
    struct text before = split_part(text, 0, begin);
    return particles_parts(particles, before, one, other,
                           kind == BESIDE_SAME ? text_joined(particles->split->arena, text_of("は"), rest, text_of(""))
                                               : rest);
}

static bool particles_beside(struct particles *particles)
{
    struct text text = particles->marked.text;
    for (size_t at = 3; at < text.length; at++) {
        for (size_t i = 0; !particles->marked.quoted[at] && i < sizeof connectives / sizeof connectives[0]; i++) {
            size_t length = split_match(text, at, connectives[i].word);
            bool by = split_match_before(text, at, (const char *const[]){"に", NULL}); /* 「合併により」 */
            bool clause = connectives[i].kind == BESIDE_DEGREE && split_match_before(text, at, verb_ends);
            if (!length || by || clause)
                continue;
            size_t behind = at + length;
            behind += split_match_any(text, behind, (const char *const[]){"場合、", "は、", "、", NULL});
            if (beside_behind(particles, at, behind, connectives[i].kind) ||
                beside_first(particles, at, behind, connectives[i].kind))
                return true;
            break;
        }
        size_t length = particles->marked.quoted[at] ? 0 : exceeds_length(text, at);
        if (length && beside_behind(particles, at, at + length, BESIDE_EXCEEDS))
            return true;
    }
    return false;
}

/* ---- 「AとBは」 ---- */

/* 「を比べると」, 「のうち」: the bytes before the question about both. */
static size_t link_length(struct text rest)
{
    static const char *const links[] = {
        "を比べると", "を比べて",     "を比べた場合",   "を比べ",   "を比較すると", "を比較して", "を比較した場合",
        "を比較",     "とを比べると", "とを比較すると", "と比べて", "の比較",       "のうちで",   "のうち",
        "の中で",     "とでは",       "では",           "なら",     "だと",         "って",       "のどちらか",
        "の間には",   "の間に",       "の間で",         "で、",     "か、",         "、",         NULL};
    static const char *const ends[] = {"ください", "下さい",       "ほしい", "欲しい", "みて", "は",     "、", "。",
                                       "を",       "お願いします", "して",   "したい", "です", "教えて", NULL};
    size_t length = split_match_any(rest, 0, links), more;
    bool compares = split_has(split_part(rest, 0, length), (const char *const[]){"比", NULL});
    while (compares && (more = split_match_any(rest, length, ends)))
        length += more;
    return length;
}

static bool is_joint_at(const struct particles *particles, size_t at, size_t length)
{
    struct text text = particles->marked.text;
    bool kana = split_is_hiragana(text, at);
    if (split_match_any(text, at, not_joints) || at + length >= text.length || particles->marked.quoted[at])
        return false;
    if (kana && !contrast_ends_word(text, at) && split_match_before(text, at, verb_ends))
        return false;
    return !kana || length > 3 || split_match(text, at, "と") || contrast_ends_word(text, at);
}

/* 「、名古屋の」: a further item behind the second one. */
static bool pair_has_third(struct text rest)
{
    static const char *const more[] = {"、", "，", "と", "や", "か", NULL};
    static const char *const behind[] = {"、", "，", "と", "や", "か、", "のうち", "の中", "では", "で", "の", NULL};
    static const char *const own[] = {"とで", "とを", "と比", "とど", "との", "とは", "かで", "か、", NULL};
    size_t at = split_match_any(rest, 0, own) ? 0 : split_match_any(rest, 0, more), from = at;
    if (!at)
        return false;
    while (at < rest.length && !split_is_hiragana(rest, at) && !split_match_any(rest, at, edges))
        at++;
    bool last = split_match_any(rest, 0, edges) && split_match_any(rest, at, (const char *const[]){"の", "で", NULL});
    return at > from && !last && split_match_any(rest, at, behind);
}

/* 「の面積」 behind the pair in 「カナダの面積とロシアの面積」. */
static bool rest_begins_with_attribute(struct text rest, struct text attribute)
{
    size_t of = split_match(rest, 0, "の");
    return attribute.length && of && rest.length > of + attribute.length &&
           text_equal(split_part(rest, of, of + attribute.length), attribute);
}

/* The rest behind a pair compares its items. */
static bool pair_is_compared(struct text joint, struct text one, struct text rest)
{
    struct text asked = split_trim(rest, edges);
    bool same = rest_begins_with_attribute(rest, thing_attribute(one));
    bool both = split_match(rest, 0, "も") && !split_has(rest, (const char *const[]){"たら", "れば", "場合", NULL});
    bool between = split_match(rest, 0, "の間") && !split_has(rest, (const char *const[]){"差は", "差が", NULL});
    bool left_out = asked.length <= LEFT_OUT_MAX &&
                    split_match_any(joint, 0, (const char *const[]){"と", "か", NULL}) &&
                    split_match_any(rest, 0, (const char *const[]){"、", "で", "では", NULL}) &&
                    split_match_before(asked, asked.length, (const char *const[]){"は", NULL});
    if (split_match(joint, 0, "から"))
        return split_has(rest, (const char *const[]){"何が変わ", "どう変わ", "どこが変わ", "メリット", NULL});
    if (split_match_any(joint, 0, (const char *const[]){"vs", "VS", "に", NULL}))
        return true;
    if (split_match(joint, 0, "も"))
        return both;
    if (split_match(joint, 0, "、") &&
        !split_match_any(rest, 0, (const char *const[]){"、", "どちら", "どっち", "では", "のうち", NULL}))
        return false;
    bool apart = split_match(joint, 0, "と、") && split_has(rest, (const char *const[]){"それぞれ", NULL});
    bool ranges = split_match_any(rest, 0, (const char *const[]){"では", "とでは", "で", "だと", NULL}) &&
                  (split_has(rest, measures) || split_has(rest, (const char *const[]){"変わ", NULL}));
    return !apart && !between && (same || left_out || ranges || split_has(rest, compared));
}

/* 「民泊に泊まるのと、旅館に泊まるのでは」: the end of the second action; the text's length: the items are no actions.
 */
static size_t end_of_action(const struct particles *particles, size_t at, size_t from)
{
    struct text text = particles->marked.text;
    size_t length, end = split_find(&particles->marked, from, text.length, actions, &length);
    return split_match_before(text, at, actions) && end < text.length ? end + strlen("る") : text.length;
}

static bool pair_at(struct particles *particles, size_t at, size_t length)
{
    struct text text = particles->marked.text;
    size_t ignored, begin = particles_begin(particles, at), from = at + length;
    from += split_match_any(text, from, (const char *const[]){"、", " ", NULL});
    size_t end = split_find(&particles->marked, from + 1, text.length, closings, &ignored);
    while (end < text.length && !contrast_ends_word(text, end) && end < from + strlen("かも"))
        end = split_find(&particles->marked, end + 1, text.length, closings, &ignored);
    size_t noun = end + split_match(text, end, "の");
    while (noun > end && noun < text.length && !split_is_hiragana(text, noun) && !split_match_any(text, noun, edges))
        noun++;
    if (split_match(text, noun, "、") && noun < text.length && noun > end + strlen("の")) /* 紙の本、 */
        end = noun;
    struct text one = split_part(text, begin, at), other = split_part(text, from, end), before;
    size_t action = end_of_action(particles, at, from);
    if (action < text.length) {
        begin = split_match_any(text, 0, greetings);
        one = split_part(text, begin, at - strlen("の"));
        other = split_part(text, from, action);
        end = action + strlen("の");
    }
    struct text rest = split_part(text, end, text.length);
    before = split_part(text, 0, begin);
    struct text attribute = thing_attribute(one);
    if (split_has(before, (const char *const[]){"は", "が", NULL}) || split_has(rest, kept_whole) ||
        pair_has_third(rest) || !pair_is_compared(split_part(text, at, from), one, rest))
        return false;
    if (rest_begins_with_attribute(rest, attribute))
        one.length -= attribute.length + 3;
    rest = split_part(rest, link_length(rest), rest.length);
    return particles_parts(particles, before, one, other, rest);
}

static bool particles_pair(struct particles *particles)
{
    struct text text = particles->marked.text;
    size_t length;
    for (size_t at = 3; (at = split_find(&particles->marked, at, text.length, joints, &length)) < text.length;
         at += length)
        if (is_joint_at(particles, at, length) && pair_at(particles, at, length))
            return true;
    return false;
}

/* ---- 「Aがいいですか、Bがいいですか」 ---- */

/* Two clauses with different items before the same particle and the same predicate. */
static bool particles_parallel(struct particles *particles)
{
    static const char *const turns[] = {"か、それとも", "か、", "か。", "か？", "か ", "で、", NULL};
    static const char *const polite[] = {"ですか", "でしょうか", "ますか", "か", NULL};
    struct text text = split_trim(particles->marked.text, edges);
    size_t skipped = (size_t)(text.bytes - particles->marked.text.bytes), same, length;
    size_t at = split_find(&particles->marked, skipped, skipped + text.length, turns, &length) - skipped;
    if (at == text.length)
        return false;
    struct text left = split_part(text, 0, at), right = split_trim(split_part(text, at + length, text.length), edges);
    struct text said = left;
    left.length -= split_match_before(left, left.length, (const char *const[]){"です", "でしょう", "ます", NULL});
    right.length -= split_match_before(right, right.length, polite);
    same = split_shared_end(left, right);
    while (same &&
           !split_match_any(left, left.length - same, (const char *const[]){"が", "は", "を", "で", "に", NULL}))
        same--;
    struct text one = split_part(left, 0, left.length - same), other = split_part(right, 0, right.length - same);
    size_t begin = particles_begin(particles, skipped + one.length);
    begin -= begin < skipped ? begin : skipped;
    return same > strlen("か") && !thing_is_relative(other) &&
           particles_parts(particles, split_part(text, 0, begin), split_part(one, begin, one.length), other,
                           split_part(said, one.length, said.length));
}

bool contrast_particles(struct split *split, struct text question)
{
    struct particles particles = {.split = split};
    if (split->limit < 2 || question.length > ASKED_MAX)
        return false;
    mark_quoted(&particles.marked, question);
    return particles_beside(&particles) || particles_parallel(&particles) || particles_pair(&particles);
}
