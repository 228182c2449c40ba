/* Japanese: comparisons, 「…か、また…か」, and enumerations: 「AとBとCの首都は」, 「XのAとBは」, それぞれ. */
#include "split_priv.h"

#include "words/words.h"

#include <string.h>

#define NOUNS_MAX 8
#define DEPTH_MAX 3 /* groups in one question */
#define TURNS_MAX 16
#define TAIL_MAX  ((size_t)48) /* bytes of 「は何ですか」 */

LIST(connectors, "および", "及び", "ならびに", "並びに", "と", "や", "、");
LIST(together, "違い", "差", "比較", "比べ", "関係", "どちら", "どっち", "間", "両方", "同じ", "組み合わせ", "連携",
     "互換", "区別", "使い分け", "共通", "合計", "合わせ", "総称", "境", "など", "含む", "含め", "以外", "ともに",
     "共に", "同様", "という", "として", "一緒", "両者", "つの", "順", "混ぜ", "もとに", "からなる", "対立", "戦",
     "接する", "または");
LIST(attribute_ends, "方法", "手順", "やり方", "使い方", "仕方", "料金", "価格", "値段", "費用", "首都", "人口", "面積",
     "標高", "高さ", "長さ", "重さ", "大きさ", "場所", "住所", "電話番号", "連絡先", "営業時間", "時間", "期間", "期限",
     "上限", "下限", "番号", "意味", "定義", "初期値", "既定値", "担当者", "通貨", "公用語", "国歌", "国花", "国鳥",
     "身長", "体重", "年齢", "誕生日", "生年月日", "出身地", "没年", "生年", "寿命", "融点", "沸点", "原子番号",
     "県庁所在地", "州都", "保証期間", "納期", "在庫", "仕様", "機能", "役割", "用途", "特徴", "設定", "権限", "条件",
     "締め切り", "締切", "送料", "手数料", "サイズ");
LIST(ways, "設定", "インストール", "変更", "削除", "更新", "有効に", "無効に", "確認", "登録", "作成", "追加");
LIST(whiches, "何", "なに", "なん", "誰", "だれ", "いつ", "どこ", "なぜ", "どう", "どの", "どれ", "どん", "いくら",
     "いくつ");
LIST(turns, "か、また、", "か、また", "か、そして、", "か、そして", "か、さらに、", "か、さらに", "か、それから、",
     "か、それから", "か、あと、", "か、");
LIST(polite, "ます", "です", "ました", "でした", "でしょう", "ません", "たの", "るの", "なの", "だろう");
LIST(openings, "また、", "また", "そして、", "そして", "さらに、", "さらに", "それから、", "それから", "次に、",
     "あと、", "それと、", "ちなみに、", "なお、", "ところで、", "加えて、");
LIST(each, "それぞれの", "それぞれ、", "それぞれ", "各々の", "各々");

/* Whether the character at `at` may belong to a noun: any character except Hiragana and marks. */
static bool is_noun(const struct marked *marked, size_t at, size_t *end)
{
    uint32_t code = utf8_read(marked->text.bytes, marked->text.length, at, end);
    if (marked->quoted[at])
        return true;
    if (code == 0x30FB || code == '-' || code == '_' || code == '.' || code == '/' || code == '+')
        return true;
    enum script script = script_of(code);
    return script == SCRIPT_HAN || script == SCRIPT_KATAKANA || script == SCRIPT_LETTER || script == SCRIPT_DIGIT ||
           (code >= 'A' && code <= 'Z') || (code >= 0xFF10 && code <= 0xFF5A);
}

/* A blank belongs to a noun between two words of Latin letters: "XYZ Pro". */
static bool is_inner_blank(struct text text, size_t at)
{
    return text.bytes[at] == ' ' && at > 0 && at + 1 < text.length && (unsigned char)text.bytes[at - 1] < 0x80 &&
           (unsigned char)text.bytes[at + 1] < 0x80;
}

/* The end of the noun at `at`; やり方, 使い方 and 高さ are nouns, too. */
static size_t noun_end(const struct marked *marked, size_t at)
{
    size_t end, from = at;
    while (at < marked->text.length && (is_noun(marked, at, &end) || is_inner_blank(marked->text, at)))
        at = end;
    static const char *const rests[] = {"い方", "り方", "し方", "さ", NULL};
    size_t rest = at > from || split_match(marked->text, at, "やり方") ? split_match_any(marked->text, at, rests) : 0;
    return at + rest;
}

/* The begin of the noun that ends at `end`. */
static size_t noun_begin(const struct marked *marked, size_t end)
{
    struct text text = marked->text;
    size_t begin = end, behind;
    while (begin > 0) {
        size_t at = split_back(text, begin);
        if (!is_noun(marked, at, &behind) && !is_inner_blank(text, at))
            break;
        begin = at;
    }
    return begin;
}

struct group {
    struct text nouns[NOUNS_MAX];
    size_t count, begin, end;
    bool more_than_commas;
};

/* A, B and C that are coordinated at the connector at `at`. */
static bool read_group(const struct marked *marked, size_t at, struct group *group)
{
    struct text text = marked->text;
    size_t begin = noun_begin(marked, at), connector;
    static const char *const rests[] = {"い方", "り方", "し方", "さ", NULL};
    size_t rest = split_match_before(text, at, rests);
    begin = rest ? noun_begin(marked, at - rest) : begin;
    *group = (struct group){.begin = begin, .end = at};
    if (begin == at)
        return false;
    group->nouns[group->count++] = split_part(text, begin, at);
    while (group->count < NOUNS_MAX && (connector = split_match_any(text, group->end, connectors))) {
        size_t next = group->end + connector, end = noun_end(marked, next);
        if (end == next)
            break;
        group->more_than_commas |= !split_match(text, group->end, "、");
        group->nouns[group->count++] = split_part(text, next, end);
        group->end = end;
    }
    return group->count > 1 && group->more_than_commas;
}

/* ---- enumerations ------------------------------------------------------------------------------------------------ */

static bool ends_in_attribute(struct text noun)
{
    return split_match_before(noun, noun.length, attribute_ends) > 0;
}

/* 「は何ですか」, 「は？」, 「を教えてください」: the tail has no further content. */
static bool asks_plainly(struct text tail)
{
    static const char *const wishes[] = {"を教え", "が知り", "について教え", "を知り", "を答え", NULL};
    tail = split_trim(tail, (const char *const[]){"？", "?", "。", NULL});
    if (tail.length > TAIL_MAX)
        return false;
    if (split_match_any(tail, 0, wishes))
        return true;
    size_t topic = split_match_any(tail, 0, (const char *const[]){"とは", "は、", "は", NULL});
    struct text rest = split_part(tail, topic, tail.length);
    return topic && (!rest.length ||
                     (split_has(rest, whiches) && !split_has(rest, (const char *const[]){"は", "が", "を", NULL})));
}

/* 「の首都は？」: behind the group stands one noun, then a plain question. */
static bool asks_attribute(const struct marked *marked, size_t end, bool known)
{
    struct text text = marked->text;
    size_t of = split_match(text, end, "の"), noun = noun_end(marked, end + of);
    return of && noun > end + of && (!known || ends_in_attribute(split_part(text, end + of, noun))) &&
           asks_plainly(split_part(text, noun, text.length));
}

static bool asks_way(struct text tail)
{
    static const char *const ends[] = {"するには", "には", "する方法", "したい", "する手順", "にするには", NULL};
    size_t object = split_match(tail, 0, "を");
    return object && split_match_any(tail, object, ways) && split_has(tail, ends) && tail.length <= 2 * TAIL_MAX;
}

static bool group_splits(const struct marked *marked, const struct group *group, bool apart)
{
    struct text text = marked->text, tail = split_part(text, group->end, text.length);
    bool starts =
        group->begin == 0 || split_match_before(text, group->begin, (const char *const[]){"、", "。", "　", " ", NULL});
    if (apart)
        return starts &&
               split_match_any(tail, 0, (const char *const[]){"の", "は", "が", "に", "で", "を", "って", NULL});
    bool of = split_match_before(text, group->begin, (const char *const[]){"の", "は", NULL}) > 0;
    bool attributes = true;
    for (size_t i = 0; i < group->count; i++)
        attributes &= ends_in_attribute(group->nouns[i]);
    if (of || attributes)
        return of && attributes && asks_plainly(tail);
    if (!starts)
        return false;
    if (asks_attribute(marked, group->end, group->count < 3))
        return true;
    return asks_way(tail) || (group->count > 2 && asks_plainly(tail));
}

/* Without それぞれ. */
static struct text without_each(struct split *split, struct text text)
{
    for (size_t i = 0; each[i]; i++) {
        const char *found = memmem(text.bytes, text.length, each[i], strlen(each[i]));
        if (found) {
            size_t at = (size_t)(found - text.bytes);
            return text_joined(split->arena, split_part(text, 0, at), text_of(""),
                               split_part(text, at + strlen(each[i]), text.length));
        }
    }
    return text;
}

static void split_nouns(struct split *split, struct text text, unsigned depth)
{
    struct group group;
    struct marked marked;
    mark_quoted(&marked, text);
    text = marked.text;
    bool whole = split_has(text, together), apart = split_has(text, each);
    for (size_t at = 0; depth < DEPTH_MAX && at < text.length && !whole; at++) {
        if (marked.quoted[at] || !split_match_any(text, at, connectors) || !read_group(&marked, at, &group))
            continue;
        if (!group_splits(&marked, &group, apart)) {
            at = group.end > at ? group.end - 1 : at;
            continue;
        }
        for (size_t i = 0; i < group.count; i++) {
            struct text part = text_joined(split->arena, split_part(text, 0, group.begin), group.nouns[i],
                                           split_part(text, group.end, text.length));
            split_nouns(split, without_each(split, part), depth + 1);
        }
        return;
    }
    split_add(split, text);
}

/* ---- clauses ----------------------------------------------------------------------------------------------------- */

static struct text without_opening(struct text text)
{
    size_t length = split_match_any(text, 0, openings);
    return text_trimmed(split_part(text, length, text.length));
}

/* Whether a question ends before か、 and another one begins behind it. */
static bool turns_at(struct text text, size_t at, size_t length)
{
    static const char *const choices[] = {"それとも", "または", "あるいは", "もしくは", NULL};
    struct text left = split_part(text, 0, at), right = split_part(text, at + length, text.length);
    struct text last = split_trim(right, (const char *const[]){"？", "?", "。", NULL});
    bool asked = split_match_before(last, last.length, (const char *const[]){"か", "は", "ください", NULL}) > 0;
    bool bare = split_match_any(text, at, turns) == strlen("か、");
    bool polite_left = split_match_before(left, left.length, polite) > 0;
    return polite_left && asked && !split_match_any(right, 0, choices) && right.length > 12 &&
           (!bare || (split_has(left, whiches) && split_has(right, whiches)));
}

/* The length of a verb's continuative form without the て that may follow it: 保存され of 保存されて. 0: not this form.
 */
static size_t continuative_length(struct text text)
{
    static const char *const stems[] = {"し", "れ", "き", "ぎ", "ち", "に", "び", "み", "り", "い", "え",
                                        "け", "げ", "せ", "て", "べ", "め", "ね", "ぜ", "じ", NULL};
    static const char *const before_te[] = {"して", "れて", "せて", "けて", "げて",
                                            "めて", "べて", "えて", "ねて", NULL};
    if (split_match_before(text, text.length, before_te))
        return text.length - strlen("て");
    return split_match_before(text, text.length, stems) ? text.length : 0;
}

/* 「データは何日保存され、誰が承認しますか」: both clauses ask about the topic, and the first is in the continuative
 * form. */
static bool split_continued(struct split *split, const struct marked *marked)
{
    static const char *const comma[] = {"、", NULL}, *const topics[] = {"は", NULL};
    static const char *const pasts[] = {"ました", "でした", "たか", "たの", NULL}, *const other[] = {"は", "どちら",
                                                                                                     NULL};
    struct text text = marked->text;
    size_t length, topic = split_find(marked, 0, text.length, topics, &length);
    size_t at = split_find(marked, topic, text.length, comma, &length);
    if (topic == 0 || at >= text.length || noun_begin(marked, topic) == topic)
        return false;
    struct text left = split_part(text, topic + strlen("は"), at), right = split_part(text, at + length, text.length);
    struct text asked = split_trim(right, (const char *const[]){"？", "?", "。", NULL});
    size_t stem = continuative_length(left);
    if (!stem || !split_has(left, whiches) || !split_match_any(right, 0, whiches) || split_has(right, other) ||
        split_has(left, other) || !split_match_before(asked, asked.length, (const char *const[]){"か", NULL}))
        return false;
    struct text ending = text_of(split_has(asked, pasts) ? "ましたか？" : "ますか？");
    struct text subject = split_part(text, 0, topic + strlen("は"));
    split_add(split, text_joined(split->arena, subject, split_part(left, 0, stem), ending));
    split_add(split, text_joined(split->arena, subject, right, text_of("")));
    return true;
}

static void split_clause(struct split *split, struct text clause)
{
    clause = without_opening(clause);
    if (clause.length && !contrast_japanese(split, clause) && !contrast_particles(split, clause))
        split_nouns(split, clause, 0);
}

void split_japanese(struct split *split, struct text question)
{
    struct marked marked;
    size_t begin = 0, length, at = 0, mark = strlen("か"), looked = 0;
    question = without_opening(question);
    if (contrast_difference(split, question) || contrast_japanese(split, question))
        return;
    mark_quoted(&marked, question);
    question = marked.text;
    if (split_continued(split, &marked))
        return;
    while (looked++ < TURNS_MAX && (at = split_find(&marked, at, question.length, turns, &length)) < question.length) {
        if (turns_at(split_part(question, begin, question.length), at - begin, length)) {
            split_clause(split, split_part(question, begin, at + mark));
            begin = at + length;
        }
        at += length;
    }
    split_clause(split, split_part(question, begin, question.length));
}

/* ---- the subject ------------------------------------------------------------------------------------------------- */

struct text topic_japanese(struct text part)
{
    struct marked marked;
    mark_quoted(&marked, part);
    part = marked.text;
    for (size_t at = 0; at < part.length; at++) {
        if (marked.quoted[at] || !split_match_any(part, at, (const char *const[]){"の", "は", "とは", NULL}))
            continue;
        size_t begin = noun_begin(&marked, at);
        return split_part(part, begin, at);
    }
    return (struct text){NULL, 0};
}

/* A name of its own: Latin or Katakana. */
static bool split_japanese_has_name(struct text part)
{
    for (size_t at = 0, end; at < part.length; at = end) {
        uint32_t code = utf8_read(part.bytes, part.length, at, &end);
        enum script script = script_of(code);
        if (script == SCRIPT_LETTER || script == SCRIPT_KATAKANA || (code >= 'A' && code <= 'Z'))
            return true;
    }
    return false;
}

bool split_lacks_subject(struct text part)
{
    static const char *const particles[] = {"は", "が", "を", "の", "も", NULL};
    static const char *const short_ends[] = {"は？", "は?", "は。", "は", NULL};
    struct marked marked;
    mark_quoted(&marked, part);
    size_t end = noun_end(&marked, 0);
    bool noun_alone = end && split_match_any(part, end, short_ends) == part.length - end;
    return noun_alone ? !ends_in_attribute(split_part(part, 0, end)) : !split_has(part, particles);
}

struct text carry_japanese(const struct split *split, struct text part)
{
    static const char *const pronouns[] = {"それ", "これ", "そこ", "彼女", "彼", "同社", "同氏", NULL};
    static const char *const own[] = {"その", "この", NULL};
    size_t pronoun = split_match_any(part, 0, pronouns), of = split_match_any(part, 0, own);
    struct text rest = split_part(part, pronoun + of, part.length);
    if (memmem(part.bytes, part.length, split->topic.bytes, split->topic.length))
        return part;
    if (pronoun)
        return text_joined(split->arena, split->topic, rest, text_of(""));
    struct marked marked;
    mark_quoted(&marked, part);
    size_t noun = noun_end(&marked, 0);
    bool attribute = noun && split_match(part, noun, "は") && ends_in_attribute(split_part(part, 0, noun));
    bool leans = of || (attribute && !memmem(part.bytes, part.length, "の", 3) && !split_japanese_has_name(part));
    if (leans)
        return text_joined(split->arena, split->topic, text_of("の"), rest);
    return split_lacks_subject(part) ? text_joined(split->arena, split->topic, text_of("は"), part) : part;
}
