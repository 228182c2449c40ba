/* 「AとBではどちらの面積が広いか」: the two compared items, and the attribute.
 *
 *      人口の多いのは  |  A と B  |  のうち、  |  人口が  |  どちら  |  が 多いですか
 *      front             pair       link         middle     which      behind
 *
 * The pair is looked for between the front and the link, then behind the which-word, then around より. */
#include "split_priv.h"

#include "words/words.h"

#include <string.h>

#define COUNTER_MAX ((size_t)15) /* bytes of a counter behind a numeral */
#define THINGS_MAX  6

LIST(whiches, "どちら", "どっち", "いずれ", "何れ", "どれ", "誰", "だれ", "どの", "どこ");
LIST(behind_where, "です", "でしょう", "だ", "が", "の", "？", "?");
LIST(two, "どちら", "どっち", "いずれ", "何れ");
LIST(one_of_two, "が", "の", "か", "です", "で", "に", "は", "を");
LIST(not_which, "どちらも", "どちらに対しても", "どちらにも", "どちらでも", "どちらとも", "どちらへも", "どちらからも",
     "どっちも", "いずれも", "いずれにも", "いずれは", "いずれかの", "いずれかに", "いずれかが", "誰も", "誰にも",
     "どれも", "どちらかというと", "どちらかといえば", "どちらかと", "どちら様", "どちらかの", "どちらかに",
     "どちらかを", "どの程度", "どのくらい", "どのぐらい", "どのよう", "どれくらい", "どれぐらい", "どれほど",
     "どれだけ");
LIST(links, "のうち", "の内", "の中で", "のなかで", "とでは", "では", "とだと", "だと", "なら", "を比べ", "を比較",
     "と比べ", "と比較", "に比べ", "の両者", "の二者", "の二つ", "の2つ", "の２つ", "の二人", "の2人", "の２人",
     "の二国", "の両国", "の両方", "って");
LIST(groups, "のうち", "の内で", "の中で", "を比べ", "を比較", "とでは", "では");
LIST(edges, "、", "，", ",", "。", "？", "?", "：", ":", "!", "！");
LIST(trailing, "この二つ", "この2つ", "二つ", "2つ", "２つ", "二人", "2人", "両者", "があります", "がある", "について",
     "とでは", "のうちで", "のうち", "の間", "では", "とで", "とは", "って", "だと", "なら", "のほう", "の方", "の",
     "は", "が", "で", "と", "、", "，", ",", "：", ":", "—", "―", "－", "か");
LIST(leads, "もし", "すみませんが、", "すみません、", "教えてください。", "教えて、", "質問です。", "質問ですが、",
     "では、", "さて、", "ところで、", "ちなみに、", "ちなみに", "もし、", "次の二つのうち、", "仮に", "なお、",
     "それでは、", "あの、", "えっと、");
LIST(items, "ですか", "でしょうか", "だろうか", "か", "では", "で", "のうち", "の中で", "なら", "の二つ", "です",
     "だと");
LIST(asks_only, "なのでしょうか", "なんでしょうか", "でしょうか", "なのですか", "になりますか", "なんですか",
     "ですかね", "でしょう", "だろうか", "ですか", "だろう", "なのか", "かな", "です", "なの", "だ", "か");
LIST(politely, "か答えてください", "か教えてください", "か答えなさい", "か教えて", "を答えなさい", "答えてください",
     "答えよ", "を教えてください", "教えてください", "を教えて下さい", "教えて下さい", "を教えて", "教えて", "を答えよ",
     "を答えてください", "が知りたいです", "知りたいです", "わかりますか", "分かりますか");
LIST(others_asked, "何", "誰", "いつ", "どこ", "なぜ", "どう", "どの", "いくら", "いくつ");
LIST(particles, "の方が", "のほうが", "の方は", "のほうは", "の方を", "の方に", "がより", "が", "は");
LIST(topics, "は", "が");
LIST(kinds, "国", "都市", "街", "町", "村", "人物", "人間", "人", "作家", "選手", "会社", "企業", "山", "川", "島",
     "県", "州", "市", "作品", "映画", "本", "曲", "楽曲", "小説", "漫画", "アニメ", "ゲーム", "チーム", "大学", "学校",
     "方", "ほう", "側", "惑星", "星", "動物", "植物", "生物", "建物", "建造物", "建築", "城", "寺", "神社", "橋", "駅",
     "空港", "湖", "海", "大陸", "王朝", "時代", "帝国", "王国", "戦争", "戦い", "事件", "出来事", "言語", "民族",
     "宗教", "元素", "物質", "鉱物", "製品", "商品", "プラン", "機種", "モデル", "方法", "方式", "制度", "組織", "団体",
     "政党", "番組", "雑誌", "新聞", "バンド", "歌手", "俳優", "監督", "王", "皇帝", "大統領", "首相", "画家", "学者",
     "科学者", "武将", "地域", "地方", "区", "都道府県", "種", "もの", "者", "彗星", "河川", "港", "塔", "タワー",
     "ビル", "ダム", "台風", "地震", "一つ", "ひとつ", "クラブ", "球団", "球場", "路線", "鉄道", "列車", "船", "艦",
     "機", "車", "車種", "武器", "条約", "法律", "憲法", "オプション", "コマンド", "サービス", "システム");
LIST(attributes, "面積", "人口", "標高", "高さ", "長さ", "広さ", "大きさ", "重さ", "深さ", "速さ", "速度", "価格",
     "値段", "料金", "費用", "身長", "体重", "年齢", "歴史", "設立", "創立", "創業", "成立", "建国", "建設", "完成",
     "開業", "開通", "開館", "開始", "公開", "発売", "発表", "出版", "刊行", "初演", "放送", "誕生", "生まれ", "生年",
     "没年", "誕生日", "死", "死去", "即位", "即位年", "発見", "発明", "気温", "降水量", "生産量", "売上", "売上高",
     "興行収入", "距離", "時間", "期間", "寿命", "人数", "数", "量", "密度", "人口密度", "質量", "直径", "半径", "全長",
     "幅", "温度", "融点", "沸点", "比重", "上限", "容量", "性能", "給料", "利率", "金利", "手数料", "年会費",
     "在位期間", "学生数", "観客動員数", "発行部数", "得票数", "勝利数", "部数", "起源", "流域面積", "水深", "総延長",
     "資本金", "従業員数", "加盟国数", "信者数", "話者数", "制定", "締結", "結成", "デビュー", "受賞", "開校", "開港",
     "創刊", "創設", "開催");

/* ---- around the which-word --------------------------------------------------------------------------------------- */

/* Without the given words at its end. */
static struct text without_end(struct text text, const char *const *ends)
{
    size_t length;
    text = split_trim(text, edges);
    while ((length = split_match_before(text, text.length, ends)) && length < text.length) {
        text.length -= length;
        text = split_trim(text, edges);
    }
    return text;
}

static bool asks_nothing_more(struct text behind)
{
    behind = split_trim(behind, edges);
    behind = without_end(behind, politely);
    size_t of = split_match(behind, 0, "の"), kind = of ? split_match_any(behind, of, kinds) : 0;
    behind = split_part(behind, kind ? of + kind : 0, behind.length);
    size_t length = split_match_any(behind, 0, asks_only);
    return !behind.length || length == behind.length;
}

static size_t contrast_japanese_offset_of(const struct marked *marked, struct text part)
{
    return (size_t)(part.bytes - marked->text.bytes);
}

static bool contrast_japanese_is_among(struct text text, const char *const *list)
{
    for (; *list; list++)
        if (text.length == strlen(*list) && split_match(text, 0, *list))
            return true;
    return false;
}

/* The end of a link: behind 「を比較した場合、」. */
static size_t link_end(struct text text, size_t at, size_t length)
{
    static const char *const verbs[] = {"と比べ", "を比べ", "を比較", "と比較", "に比べ", NULL};
    static const char *const rests[] = {"した場合に", "した場合", "した時に",   "した時",   "したとき", "すると",
                                        "したら",     "して",     "してみると", "た場合に", "た場合",   "た時",
                                        "たとき",     "ると",     "たら",       "てみると", "て",       NULL};
    bool compares = split_match_any(text, at, verbs) > 0;
    at += length;
    at += compares ? split_match_any(text, at, rests) : 0;
    while ((length =
                split_match_any(text, at, (const char *const[]){"のうち", "では", "で", "は", "、", "，", " ", NULL})))
        at += length;
    return at;
}

/* The first joint-like character: a link stands behind it. */
static size_t first_joint(const struct marked *marked, size_t from, size_t to)
{
    static const char *const any[] = {"と",       "、",       "か", "や", "および", "及び", "または", "又は",
                                      "あるいは", "もしくは", "vs", "VS", "／",     "/",    "・",     " or ",
                                      " and ",    "，",       ",",  "を", "に",     NULL};
    size_t length, at = split_find(marked, from ? from : 1, to, any, &length);
    return at < to ? at + length : to;
}

/* A known attribute, or a noun with the ending of one: 利用者数. */
static bool is_attribute(struct text text)
{
    static const char *const ends[] = {"数", "量", "率", "度", "額",   "さ",   "年",
                                       "日", "高", "率", "値", "時期", "規模", NULL};
    return contrast_japanese_is_among(text, attributes) ||
           (text.length < 40 && split_match_before(text, text.length, ends) &&
            !split_has(text, (const char *const[]){"の", "と", NULL}));
}

/* 「人口はAとBの」, 「先に生まれたのはAとBの」: behind the topic in front of the pair; 0: no topic. */
static size_t front_end(const struct marked *marked, size_t to)
{
    static const char *const marks[] = {"のは、", "のは", "のが、", "は、", "は", NULL};
    static const char *const clauses[] = {"のは", "のが", NULL};
    size_t length, at = 0;
    while ((at = split_find(marked, at, to, marks, &length)) < to) {
        struct text front = split_part(marked->text, 0, at);
        bool clause = split_match_any(marked->text, at, clauses) > 0;
        bool kind =
            split_match_before(front, at, kinds) && split_has(front, (const char *const[]){"い", "た", "な", NULL});
        if (at > 0 && (clause || kind || is_attribute(front)) && at + length < to)
            return at + length;
        at += length;
    }
    return 0;
}

/* 面積が広い of 「面積が広いのは、」; 人口 of 「人口は」. */
static struct text front_clause(struct text front, bool *relative)
{
    static const char *const ends[] = {"のは", "のが", "方は", "ほうは", "は", "が", NULL};
    front = split_trim(front, edges);
    size_t length = split_match_before(front, front.length, ends);
    front.length -= length;
    *relative = length > 3 || split_match_before(front, front.length, kinds);
    return front;
}

/* Fills the clause from the text behind the which-word: 「の面積が広いですか」, 「が先に生まれましたか」. */
static bool contrast_japanese_read_behind(struct text behind, struct contrast_clause *clause)
{
    static const char *const others[] = {"に", "で", "を", "へ", "から", "と", NULL};
    size_t length;
    behind = split_trim(behind, edges);
    behind = without_end(behind, politely);
    if ((length = split_match_any(behind, 0, particles))) {
        clause->said = split_part(behind, length, behind.length);
    } else if ((length = split_match_any(behind, 0, others))) {
        clause->particle = split_part(behind, 0, length);
        clause->said = split_part(behind, length, behind.length);
    } else {
        size_t own = split_match(behind, 0, "の"), at = own;
        while (at < behind.length && !split_match_any(behind, at, topics))
            at++;
        struct text noun = split_part(behind, own, at);
        bool kind = contrast_japanese_is_among(noun, kinds) && at < behind.length;
        clause->said = kind ? split_part(behind, at + split_match_any(behind, at, topics), behind.length)
                            : split_part(behind, own, behind.length);
    }
    clause->said = split_trim(clause->said, edges);
    return clause->said.length > 0 && !split_has(clause->said, two);
}

/* 「Bの面積は」: the attribute goes to the clause if it is a known one. */
static size_t without_attribute(struct text text, size_t begin, size_t end, struct contrast_clause *clause)
{
    struct text before = {text.bytes, end};
    for (size_t at = end; at > begin && end - at < 40; at = split_back(text, at)) {
        if (split_match_before(before, at, (const char *const[]){"の", NULL}) &&
            contrast_japanese_is_among(split_part(text, at, end), attributes)) {
            clause->noun = split_part(text, at, end);
            return at - 3;
        }
    }
    return end;
}

/* 「AとBで広いのは」, 「AとB、広いのは」: the mark behind the pair; `to`: no mark. */
static size_t weak_link(const struct marked *marked, size_t from, size_t to, size_t *length)
{
    static const char *const weak[] = {"、", "で", "は", "の"};
    size_t at = to;
    for (size_t i = 0; at == to && i < sizeof weak / sizeof *weak; i++)
        at = split_find(marked, from, to, (const char *const[]){weak[i], NULL}, length);
    return at;
}

/* 「クジラは」: the pair is not the subject of the question. */
static bool has_topic(const struct marked *marked, size_t from, size_t to)
{
    size_t length;
    for (size_t at = from + 1; (at = split_find(marked, at, to, (const char *const[]){"は", NULL}, &length)) < to;
         at += length)
        if (contrast_ends_word(marked->text, at) && !split_is_hiragana(marked->text, at + length))
            return true;
    return false;
}

/* 「AとBが始まったのは」: the end of the pair; 始まったの goes to the clause. 0: it is another form. */
static size_t event_of(const struct marked *marked, size_t from, size_t to, struct contrast_clause *clause)
{
    struct text before = split_trim(split_part(marked->text, 0, to), edges);
    size_t length, at = split_find(marked, from, to, (const char *const[]){"が", NULL}, &length);
    if (!split_match_before(before, before.length, (const char *const[]){"のは", NULL}) ||
        at + length >= before.length || !contrast_clause_is_bare(clause->said))
        return 0;
    clause->noun = split_part(marked->text, at + length, before.length - strlen("は"));
    return at;
}

/* The numeral and the counter behind more than two items: の三つ, 三支社, の3人. */
static size_t group_before(struct text text)
{
    static const char *const numerals[] = {"二", "三", "四", "五", "六", "2",  "3",  "4",
                                           "5",  "6",  "２", "３", "４", "５", "６", NULL};
    static const char *const joined[] = {"の", "、", NULL};
    for (size_t at = text.length; at > 0 && text.length - at <= COUNTER_MAX;) {
        at = split_back(text, at);
        struct text before = split_part(text, 0, at);
        size_t joint = split_match_before(before, before.length, joined);
        if (split_match_any(text, at, numerals) && joint && text.length > at + 1)
            return text.length - at + joint;
        if (split_match(text, at, "の") || split_match(text, at, "、"))
            break;
    }
    return 0;
}

/* The pair stands before the which-word. */
static bool pair_before(const struct marked *marked, size_t begin, size_t which, struct text behind,
                        struct contrast *contrast)
{
    struct contrast_clause *clause = &contrast->clause;
    struct text text = marked->text, middle;
    bool only = asks_nothing_more(behind);
    size_t length, front = front_end(marked, which), joint = first_joint(marked, begin, which);
    size_t link = split_find(marked, joint, which, links, &length), end = link;
    if (!only && !contrast_japanese_read_behind(behind, clause))
        return false;
    if (link < which) {
        middle = split_trim(split_part(text, link_end(text, link, length), which), edges);
    } else {
        size_t weak = weak_link(marked, joint, which, &length);
        middle = split_part(text, weak + (weak < which ? length : 0), which);
        end = only && split_match_before(split_trim(middle, edges), split_trim(middle, edges).length, topics) ? weak
                                                                                                              : which;
        middle = end == which ? split_part(text, which, which) : middle;
    }
    if (front && front < end && first_joint(marked, front, end) < end) { /* 「面積が広いのはAとBの」 */
        clause->noun = front_clause(split_part(text, begin, front), &clause->relative);
        if (only && clause->relative) {
            clause->said = clause->noun;
            clause->noun.length = 0;
        } else if (only || clause->relative || !contrast_clause_compares(clause->said)) {
            return false;
        }
        begin = front;
        only = false;
    }
    middle = split_trim(middle, edges);
    if (only) { /* 「AとBのうち、面積が広いのは」 */
        clause->said = front_clause(middle, &clause->relative);
        clause->relative = true;
    } else if (middle.length && !clause->noun.length && link < which) {
        bool relative, event = split_match_before(middle, middle.length, (const char *const[]){"のは", NULL}) > 0;
        clause->noun = event ? split_part(middle, 0, middle.length - strlen("は")) : front_clause(middle, &relative);
    }
    if (!only && link == which && (length = event_of(marked, joint, which, clause)))
        end = length;
    if (clause->particle.length && !front && has_topic(marked, begin, joint))
        return false;
    struct text pair = without_end(split_part(text, begin, end), trailing);
    pair.length -= group_before(pair);
    size_t from = contrast_japanese_offset_of(marked, pair), to = from + pair.length;
    if (!clause->noun.length && !clause->relative && contrast_clause_is_bare(clause->said))
        to = without_attribute(text, from, to, clause);
    return clause->said.length && contrast_pair(marked, from, to, contrast);
}

/* The items of 「A、B」 and 「C」, or 「AとB」 and 「C」; どちら asks for one of two. */
static size_t contrast_japanese_things(const struct marked *marked, const struct contrast *contrast,
                                       struct text things[THINGS_MAX])
{
    static const char *const joints[] = {"、", "，", "と", "や", NULL};
    size_t at = contrast_japanese_offset_of(marked, contrast->one), end = at + contrast->one.length, count = 0, length;
    while (contrast->several && count + 2 < THINGS_MAX) {
        size_t joint = split_find(marked, at, end, joints, &length);
        struct text thing = contrast_thing(split_part(marked->text, at, joint));
        if (joint >= end || !contrast_is_thing(thing) || split_is_hiragana(marked->text, joint + length))
            break;
        things[count++] = thing;
        at = joint + length;
    }
    things[count++] = contrast_thing(split_part(marked->text, at, end));
    things[count++] = contrast->other;
    return count;
}

/* 「どちらが先に生まれましたか、AかBか」 */
static bool pair_behind(const struct marked *marked, size_t behind, struct contrast *contrast)
{
    static const char *const breaks[] = {"か？", "か?", "か。", "か、", "か：", "か:", "か ", "か　",
                                         "？",   "?",   "：",   ":",    "、",   "，",  NULL};
    struct text text = marked->text;
    size_t length, at = split_find(marked, behind, text.length, breaks, &length);
    if (at == text.length)
        return false;
    bool asks = split_match(text, at, "か") > 0;
    struct text said = split_part(text, behind, asks ? at + 3 : at);
    struct text pair = without_end(split_part(text, at + length, text.length), items);
    size_t begin = contrast_japanese_offset_of(marked, pair);
    return contrast_japanese_read_behind(said, &contrast->clause) &&
           contrast_pair(marked, begin, begin + pair.length, contrast);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static size_t find_which(const struct marked *marked, size_t begin, size_t *length)
{
    size_t at = begin, to = marked->text.length, ignored;
    size_t group = split_find(marked, begin, to, groups, &ignored);
    while ((at = split_find(marked, at, to, whiches, length)) < to) {
        bool adverb = split_match_any(marked->text, at, (const char *const[]){"いずれ", "何れ", NULL}) &&
                      !split_match_any(marked->text, at + *length, one_of_two);
        bool where =
            split_match(marked->text, at, "どこ") && !split_match_any(marked->text, at + *length, behind_where);
        if (!adverb && !where && !split_match_any(marked->text, at, not_which) &&
            (split_match_any(marked->text, at, two) || group < at))
            return at;
        at += *length;
    }
    return to;
}

/* 「人口が多いのはAですか、それともBですか」 */
static bool pair_of_choice(const struct marked *marked, struct contrast *contrast)
{
    struct text text = marked->text;
    size_t length, at = split_find(marked, 0, text.length, (const char *const[]){"それとも", NULL}, &length);
    size_t front = at < text.length ? front_end(marked, at) : 0;
    if (!front)
        return false;
    contrast->clause.said = front_clause(split_part(text, 0, front), &contrast->clause.relative);
    struct text pair = without_end(split_part(text, front, text.length), items);
    size_t begin = contrast_japanese_offset_of(marked, pair);
    return contrast->clause.relative && contrast_clause_compares(contrast->clause.said) &&
           contrast_pair(marked, begin, begin + pair.length, contrast);
}

/* 「AとB、より高いのは？」, 「AとBのうち高いのは？」: どちら is left out. */
static bool which_is_left_out(struct text question)
{
    static const char *const compared[] = {"、より", "うち", "では", NULL};
    struct text asked = split_trim(question, edges);
    return split_match_before(asked, asked.length, (const char *const[]){"のは", NULL}) && split_has(asked, compared) &&
           !split_has(asked, whiches) && !split_has(asked, others_asked);
}

static bool contrast_japanese_read(const struct marked *marked, struct contrast *contrast)
{
    struct text text = marked->text;
    size_t length, begin = split_match_any(text, 0, leads), which = find_which(marked, begin, &length);
    if (which == text.length)
        return pair_of_choice(marked, contrast) || contrast_than(marked, begin, contrast);
    struct text behind = split_part(text, which + length, text.length);
    contrast->several = !split_match_any(text, which, two);
    if (split_trim(split_part(text, begin, which), edges).length == 0)
        return pair_behind(marked, which + length, contrast);
    return pair_before(marked, begin, which, behind, contrast);
}

bool contrast_japanese(struct split *split, struct text question)
{
    static const char *const apart[] = {"の間に", "間の", "共通", "違い", "それぞれ", NULL};
    struct marked marked;
    struct text things[THINGS_MAX];
    struct contrast contrast = {.clause = {.noun = {"", 0}, .particle = {"", 0}, .said = {"", 0}}};
    if (which_is_left_out(question))
        question = text_joined(split->arena, split_trim(question, edges), text_of("どちらですか？"), text_of(""));
    mark_quoted(&marked, question);
    if (split->limit < 2 || !contrast_japanese_read(&marked, &contrast) || split_has(contrast.clause.said, apart))
        return false;
    contrast_take_attribute(&marked, &contrast);
    size_t count = contrast_japanese_things(&marked, &contrast, things);
    if (count > split->limit)
        return false;
    split->apart = true;
    for (size_t i = 0; i < count; i++)
        split_add(split, contrast_clause_part(split, &contrast.clause, things[i]));
    return true;
}
