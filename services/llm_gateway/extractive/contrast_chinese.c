/* Comparisons in Chinese: 「A和B哪个更大」, 「A比B大吗」, 「大米贵还是面粉贵」. There are no blanks, so an item ends at
 * a word that stands behind items (哪, 的, 相比, a comma); a connective is no comparison without a word of difference
 * or a which-word behind the second item. */
#include "split_priv.h"

#include <string.h>

#define THING_MAX    ((size_t)120) /* bytes of an item */
#define ASKED_MAX    ((size_t)600) /* bytes of a question that is looked at */
#define STRIPPED_MAX 4             /* openings before an item */
#define JOINTS_MAX   16            /* connectives of one kind that are looked at */

LIST(edges, "、", "，", ",", "。", "？", "?", "：", ":", "！", "!");
LIST(commas, "，", ",", "：", ":", "；", "？", "?", "。");
LIST(openings, "您好", "你好", "请问", "請問", "请", "麻烦", "能不能", "可以", "帮我", "告诉我", "我想知道", "想知道",
     "我想问", "比较一下", "比较下", "比较", "对比一下", "对比", "如何区别", "如何区分", "怎么区分", "区分", "区别",
     "到底", "究竟", "为什么", "是", "在", "和", "与", "與", "跟", "同", "论", "，");
LIST(joints, "和", "与", "與", "跟", "及", "同", "、", "VS", "vs", "对", "或");
/* Words in which a connective is a part of another word. */
LIST(joint_words, "和平", "和服", "和田", "和谐", "和尚", "与会", "跟团", "及时", "对比", "对于", "对面", "或者",
     "同时", "同意", "同一", "同学", "同样", "同属", "同事", "同比", "同类");
LIST(joint_before, "共", "温", "暖", "缓", "饱", "柔", "以", "涉", "参", "不", "相", "反", "合", "如", "一", "雷",
     "胡");
LIST(closings, "，", ",", "：", ":", "？", "?", "哪", "谁", "誰", "何者", "孰", "之间", "之中", "当中", "中，", "中哪",
     "中谁", "两", "这两", "二者", "相比", "比起", "相较", "比", "有什么", "有何", "有啥", "有多", "有哪", "的", "分别",
     "各", "都是", "都", "是", "相差", "差", "怎么", "如何", "同属", "一样", "相同", "相似", "对比", "比较", "能");
LIST(differences, "区别", "差别", "不同", "差异", "差距", "区分");
LIST(equalities, "一样", "相同", "同一", "同属", "一回事", "都是", "分别", "各有", "各是", "孰", "相差", "差多少",
     "差价", "对比", "比较", "相比", "比起来", "共同点", "相似");
LIST(whiches, "哪", "谁", "誰", "何者");
LIST(which_words, "哪一个", "哪一座", "哪一位", "哪一种", "哪一家", "哪一部", "哪个", "哪座", "哪位", "哪家", "哪部",
     "哪条", "哪种", "哪所", "哪款", "哪艘", "哪者", "哪边", "哪里", "哪一", "哪", "何者", "谁的", "谁", "誰");
LIST(degrees, "古老", "便宜", "大", "小", "高", "低", "长", "短", "早", "晚", "多", "少", "快", "慢", "重", "轻", "老",
     "新", "宽", "深", "远", "近", "贵", "强", "好", "暖和", "厉害", "难", "省电", "聪明");
LIST(exceeds, "高于", "低于", "大于", "小于", "早于", "晚于", "多于", "少于", "超过");
LIST(lacks, "是不是没有", "有没有", "没有", "不如", "有");
LIST(no_things, "他", "她", "它", "我", "你", "这", "那", "谁", "什么", "哪", "平时", "平常", "往常", "以前", "之前",
     "从前", "原来", "预期", "预计", "去年", "今年", "昨天", "上次", "上月", "其他", "有没有", "没有", "是否",
     "是不是");
LIST(asking, "什么", "谁", "哪", "多少", "有没有");
LIST(mood, "吗", "嗎", "呢", "了吗", "么");

/* ---- items ---- */

static struct text chinese_opened(struct text text)
{
    size_t length;
    text = split_trim(text, edges);
    for (int i = 0; i < STRIPPED_MAX && (length = split_match_any(text, 0, openings)) && length < text.length; i++)
        text = split_trim(split_part(text, length, text.length), edges);
    return text;
}

static bool chinese_is_thing(struct text text)
{
    static const char *const numbers[] = {"一", "二", "两", "三", "四", "五", "十", "百", "千", "几", NULL};
    bool digit = text.length && ((text.bytes[0] >= '0' && text.bytes[0] <= '9') || split_match_any(text, 0, numbers));
    return text.length && text.length <= THING_MAX && !split_match_any(text, 0, no_things) &&
           split_match_any(text, 0, openings) != text.length &&
           !split_match_before(text, text.length, (const char *const[]){"上", NULL}) &&
           !split_has(text, (const char *const[]){"？", "?", "。", "什么", "怎么", NULL}) &&
           !(digit && split_has(text, (const char *const[]){"岁", "年", "元", "个", "亿", "万", "倍", "次", NULL}));
}

/* The text of `whole` before `at` since the last comma. */
static struct text chinese_clause_before(const struct marked *marked, size_t at)
{
    size_t from = 0, length;
    for (size_t i = 0; (i = split_find(marked, i, at, commas, &length)) < at; i += length)
        from = i + length;
    return split_part(marked->text, from, at);
}

/* ---- parts ---- */

/* 「哪个更大」 becomes 「有多大」. */
static struct text chinese_asked(struct split *split, struct text said)
{
    static const struct {
        const char *from, *to;
    } changes[] = {{"更早", "什么时候"}, {"较早", "什么时候"}, {"更晚", "什么时候"}, {"最早", "什么时候"},
                   {"最先", "什么时候"}, {"先", "什么时候"},   {"更多的", "多少"},   {"更多", "有多少"},
                   {"较多", "有多少"},   {"最多", "有多少"},   {"更", "有多"},       {"较", "有多"},
                   {"最", "有多"}};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const char *found = memmem(said.bytes, said.length, changes[i].from, strlen(changes[i].from));
        if (!found)
            continue;
        size_t at = (size_t)(found - said.bytes);
        return text_joined(split->arena, split_part(said, 0, at), text_of(changes[i].to),
                           split_part(said, at + strlen(changes[i].from), said.length));
    }
    return said;
}

static void chinese_part(struct split *split, struct text before, struct text thing, struct text said)
{
    said = split_trim(said, edges);
    split_add(split, text_joined(split->arena, text_joined(split->arena, before, thing, text_of("")),
                                 chinese_asked(split, said), text_of("？")));
}

static bool chinese_parts(struct split *split, struct text before, struct text one, struct text other, struct text said)
{
    one = split_trim(one, edges);
    other = split_trim(other, edges);
    if (!chinese_is_thing(one) || !chinese_is_thing(other) || text_equal(one, other))
        return false;
    chinese_part(split, before, one, said);
    chinese_part(split, before, other, said);
    return true;
}

/* ---- 「A和B哪个更大」 ---- */

static bool chinese_is_joint(struct text text, size_t at)
{
    return !split_match_any(text, at, joint_words) && !split_match_before(text, at, joint_before);
}

/* Whether a which-word or a word of difference belongs to the pair that ends at `end`. */
static bool chinese_compares(const struct marked *marked, struct text before, size_t end)
{
    static const char *const places[] = {"在", "到", "去", "从", "由", "被", "是", "跟", "和", "与", NULL};
    static const char *const apart[] = {"，", ",", "：", ":", "中", "之中", "当中", "两", "这两", NULL};
    struct text text = marked->text, rest = split_part(text, end, text.length);
    static const char *const where[] = {"哪里", "哪儿", "哪天", "哪年", "哪一年", "哪月", NULL};
    static const char *const better[] = {"更", "最", "适合", "合适", NULL};
    size_t length, which = split_find(marked, end, text.length, whiches, &length);
    bool kinds = split_has(rest, (const char *const[]){"不同的", NULL}); /* 「有哪些不同的节日」 */
    bool each = split_has(rest, (const char *const[]){"分别", "各有", "各是", NULL});
    if ((split_has(rest, differences) && !kinds) || split_has(before, differences) || each)
        return true;
    if (split_match_any(text, which, where) && !split_has(rest, better) && !split_has(rest, degrees))
        return false;
    if (split_has(rest, equalities) || split_has(before, (const char *const[]){"比较", "对比", NULL}) ||
        split_match_any(rest, 0, (const char *const[]){"比，", "比,", NULL}) ||
        (split_match_any(rest, 0, (const char *const[]){"之间", NULL}) &&
         split_has(rest, (const char *const[]){"选", NULL})))
        return true;
    bool among = split_match_any(text, end, (const char *const[]){"中，", "之中，", "当中，", NULL}) > 0;
    if (which == text.length || (!among && split_match_before(text, which, places)))
        return false;
    return which == end || split_match_any(text, end, apart) ||
           split_match_any(text, end, (const char *const[]){"的", NULL});
}

/* The rest behind the pair: without marks, 中, 两个 and the which-word. */
static struct text chinese_rest(struct text rest)
{
    static const char *const between[] = {"之中", "当中",   "之间", "中",     "两座城市", "两者", "这两种", "两个",
                                          "二者", "相比较", "相比", "比起来", "比",       "，",   ",",      NULL};
    size_t length;
    rest = split_trim(rest, edges);
    for (int i = 0; i < STRIPPED_MAX && (length = split_match_any(rest, 0, between)); i++)
        rest = split_trim(split_part(rest, length, rest.length), edges);
    const char *is = memmem(rest.bytes, rest.length, "的是哪", strlen("的是哪")); /* 「较高的是哪一个」 */
    if (is)
        return split_part(rest, 0, (size_t)(is - rest.bytes));
    return split_part(rest, split_match_any(rest, 0, which_words), rest.length);
}

/* 「A的面积和B的面积」: the attribute stays with the rest. */
static struct text without_attribute(struct text one, struct text rest)
{
    size_t length = rest.length < one.length ? rest.length : one.length,
           of = split_match_any(rest, 0, (const char *const[]){"的", NULL});
    for (size_t size = one.length > THING_MAX ? 0 : length; of && size > of; size--)
        if (text_equal(split_part(one, one.length - size, one.length), split_part(rest, 0, size)))
            return split_part(one, 0, one.length - size);
    return one;
}

static bool chinese_pair(struct split *split, const struct marked *marked)
{
    struct text text = marked->text;
    size_t length, closing, at = 1;
    for (int i = 0; i < JOINTS_MAX && (at = split_find(marked, at, text.length, joints, &length)) < text.length;
         i++, at += length) {
        struct text clause = chinese_clause_before(marked, at), one = chinese_opened(clause);
        size_t begin = at + length, end = split_find(marked, begin, text.length, closings, &closing);
        struct text other = split_part(text, begin, end), rest = split_part(text, end, text.length);
        struct text before = split_part(text, 0, (size_t)(clause.bytes - text.bytes));
        if (!one.length || !chinese_is_joint(text, at) || !other.length ||
            !chinese_compares(marked, split_part(text, 0, (size_t)(one.bytes - text.bytes)), end))
            continue;
        bool differs = split_has(text, differences);
        if (differs)
            return chinese_parts(split, text_of(""), one, other, text_of("是什么"));
        before = split_is_greeting(before) ? text_of("") : before;
        if (chinese_parts(split, before, without_attribute(one, rest), other, chinese_rest(rest)))
            return true;
    }
    return false;
}

/* ---- 「A比B大吗」 ---- */

/* The begin of the last comparative in [from, to), with the comparatives before it: 高多少; `to`: none. */
static size_t chinese_predicate(const struct marked *marked, size_t from, size_t to)
{
    static const char *const earlier[] = {"更", "还", "要", "那么", "这么", NULL};
    size_t length, found = to, end = from;
    for (size_t at = from; (at = split_find(marked, at, to, degrees, &length)) < to; at += length) {
        found = found < to && at == end ? found : at;
        end = at + length;
    }
    size_t more = split_find(marked, from, to, earlier, &length);
    return more < found && more > from ? more : found;
}

/* 「A比B大」 with the connective in [at, behind). The second question is the rest of the clause. */
static bool chinese_than_at(struct split *split, const struct marked *marked, size_t at, size_t behind, bool needs)
{
    static const char *const before_than[] = {"是不是", "是否", "会不会", "的时候", NULL};
    struct text text = marked->text, clause = chinese_clause_before(marked, at);
    size_t ignored, end = split_find(marked, behind, text.length, commas, &ignored);
    bool exceeding = split_match_any(text, at, exceeds) > 0;
    size_t said = exceeding ? end : chinese_predicate(marked, behind + 3 < end ? behind + 3 : behind, end),
           length = split_match_before(text, at, before_than);
    struct text one = chinese_opened(split_part(clause, 0, clause.length - length));
    struct text other = split_part(text, behind, said), predicate = split_part(text, said, end);
    bool has = needs && split_match(text, at, "有") && behind == at + 3; /* 「A有B那么高吗」 */
    if (has && !split_has(split_part(text, behind, end), (const char *const[]){"那么", "这么", NULL}))
        return false;
    if (!one.length || (needs && said == end) || split_has(clause, (const char *const[]){"什么比", NULL}))
        return false;
    other.length -= said == end ? split_match_before(text, end, mood) : 0;
    for (size_t i = 0; i < one.length; i++) { /* "A的房价比B高": of B, too */
        size_t of = split_match(one, i, "的");
        if (of && !split_has(other, (const char *const[]){"的", NULL})) {
            predicate = text_joined(split->arena, split_part(one, i, one.length), predicate, text_of(""));
            one.length = i;
        }
    }
    return chinese_parts(split, text_of(""), one, other, predicate.length ? predicate : text_of("怎么样"));
}

/* Tries the first occurrences of the connectives of the list. */
static bool chinese_than_any(struct split *split, const struct marked *marked, const char *const *connectives,
                             bool needs)
{
    static const char *const words[] = {"比较", "比如", "比例", "比赛", "比尔", "比利", "比特",
                                        "比萨", "比重", "比起", "比分", "比亚", "比方", NULL};
    static const char *const before[] = {"对比", "相比", "无比", "好比", "占比", "评比", "有没", "没有", NULL};
    struct text text = marked->text;
    size_t length, at = 1;
    for (int i = 0; i < JOINTS_MAX && (at = split_find(marked, at, text.length, connectives, &length)) < text.length;
         i++, at += length)
        if (!split_match_any(text, at, words) && !split_match_before(text, at + 3, before) &&
            chinese_than_at(split, marked, at, at + length, needs))
            return true;
    return false;
}

static bool chinese_than(struct split *split, const struct marked *marked)
{
    static const char *const than[] = {"比", NULL};
    bool asks = !split_has(marked->text, asking) || split_has(marked->text, (const char *const[]){"有没有", NULL});
    return chinese_than_any(split, marked, than, false) ||
           (asks && (chinese_than_any(split, marked, lacks, true) || chinese_than_any(split, marked, exceeds, false)));
}

/* 「与B相比，A是否更便宜？」, 「相比B，A的价格更高吗？」 */
static bool chinese_beside(struct split *split, const struct marked *marked)
{
    static const char *const begins[] = {"相比于", "相比", "比起", "相较于", "与", "與", "和", "跟", "同", NULL};
    static const char *const ends[] = {"相比较", "相比", "比起来", "比", "相较", NULL};
    static const char *const stops[] = {"是否", "是不是", "的", "更", "较", "有", "在", "能", "会", "要", NULL};
    struct text text = marked->text;
    size_t length, ignored, begin = split_match_any(text, 0, begins);
    size_t comma = split_find(marked, begin, text.length, (const char *const[]){"，", ",", NULL}, &length);
    if (!begin || comma == text.length)
        return false;
    size_t left = comma - split_match_before(text, comma, ends), from = comma + length;
    if (left == comma && !split_match_any(text, 0, (const char *const[]){"相比", "比起", "相较", NULL}))
        return false;
    size_t stop = split_find(marked, from, text.length, stops, &ignored);
    size_t said = chinese_predicate(marked, from, text.length);
    stop = said < stop ? said : stop;
    struct text rest = split_part(text, stop, text.length);
    rest = split_part(rest, split_match_any(rest, 0, (const char *const[]){"是否", "是不是", NULL}), rest.length);
    return stop > from &&
           chinese_parts(split, text_of(""), split_part(text, from, stop), split_part(text, begin, left), rest);
}

/* ---- 「大米贵还是面粉贵」 ---- */

/* 「先成立的是A还是B？」, 「哪个更高，A还是B？」: the question stands before the items. */
static bool chinese_choice_behind(struct split *split, const struct marked *marked, struct text clause, size_t end,
                                  struct text other)
{
    struct text text = marked->text;
    size_t begin = (size_t)(clause.bytes - text.bytes), length;
    size_t is = split_find(marked, begin, end, (const char *const[]){"的是", NULL}, &length);
    struct text asked = chinese_opened(split_part(text, 0, begin));
    size_t which = split_match_any(asked, 0, which_words);
    if (is < end)
        return chinese_parts(split, text_of(""), split_part(text, is + length, end), other,
                             split_part(text, begin, is));
    if (!which && !split_has(asked, whiches))
        return false;
    return chinese_parts(split, text_of(""), chinese_opened(clause), other, split_part(asked, which, asked.length));
}

static bool chinese_choice(struct split *split, const struct marked *marked)
{
    static const char *const choice[] = {"还是", "還是", NULL}, *const chosen[] = {"我", "应该", "该", "要", "选", "用",
                                                                                   "买", "吃",   "喝", "坐", "去", "学",
                                                                                   "交", "办",   "找", NULL};
    struct text text = marked->text;
    size_t length, ignored, at = split_find(marked, 3, text.length, choice, &length);
    if (at == text.length)
        return false;
    size_t left = at - split_match_before(text, at, commas);
    size_t end = split_find(marked, at + length, text.length, commas, &ignored);
    struct text clause = chinese_clause_before(marked, left), one = chinese_opened(clause);
    struct text other = split_trim(split_part(text, at + length, end), mood);
    struct text rest = chinese_opened(split_part(text, end, text.length));
    struct text context = split_part(text, 0, (size_t)(clause.bytes - text.bytes));
    if (chinese_choice_behind(split, marked, clause, left, other))
        return true;
    size_t shared = split_shared_end(one, other);
    if (rest.length || split_has(one, (const char *const[]){"是", NULL}) || split_has(one, asking))
        return rest.length && split_has(rest, whiches) &&
               chinese_parts(split, text_of(""), one, other, chinese_rest(rest));
    struct text predicate = split_part(other, other.length - shared, other.length);
    if (shared && shared < other.length && !split_match_any(predicate, 0, (const char *const[]){"人", NULL}))
        return chinese_parts(split, context, split_part(one, 0, one.length - shared),
                             split_part(other, 0, other.length - shared), predicate);
    size_t more = chinese_predicate(marked, at + length, end); /* 「A还是B更大」 */
    if (more < end)
        return chinese_parts(split, context, one, split_part(text, at + length, more), split_part(text, more, end));
    size_t verb = 0, word; /* 「应该交定金还是订金」 */
    while ((word = split_match_any(split_part(one, verb, one.length), 0, chosen)))
        verb += word;
    return verb &&
           chinese_parts(split, split_part(one, 0, verb), split_part(one, verb, one.length), other, text_of(""));
}

/* 「A面积是B的几倍」 */
static bool chinese_times(struct split *split, const struct marked *marked)
{
    struct text text = marked->text;
    size_t length, is = split_find(marked, 3, text.length, (const char *const[]){"是", NULL}, &length);
    size_t of = split_find(marked, is, text.length, (const char *const[]){"的几倍", "的多少倍", NULL}, &length);
    return of < text.length && chinese_parts(split, text_of(""), chinese_opened(split_part(text, 0, is)),
                                             split_part(text, is + 3, of), text_of("是多少"));
}

/* 「A首都在哪里，B首都在哪里？」: two clauses that end alike. */
static bool chinese_twice(struct split *split, const struct marked *marked)
{
    static const char *const again[] = {"又", "则", "呢", NULL};
    struct text text = split_trim(marked->text, edges);
    size_t length, from = (size_t)(text.bytes - marked->text.bytes);
    size_t comma = split_find(marked, from, from + text.length, commas, &length);
    if (comma >= from + text.length)
        return false;
    struct text one = split_part(marked->text, from, comma);
    struct text other = split_trim(split_part(marked->text, comma + length, from + text.length), edges);
    size_t shared = split_shared_end(one, other),
           of = split_find(marked, from, comma, (const char *const[]){"的", NULL}, &length);
    struct text same = split_part(one, one.length - shared, one.length);
    if (of < comma && split_match_before(other, other.length, (const char *const[]){"的呢", NULL})) /* 「B的呢」 */
        return chinese_parts(split, text_of(""), split_part(marked->text, from, of),
                             split_part(other, 0, other.length - strlen("的呢")), split_part(marked->text, of, comma));
    if (!split_has(same, asking) || shared == other.length)
        return false;
    other.length -= shared;
    other.length -= split_match_before(other, other.length, again);
    return chinese_parts(split, text_of(""), split_part(one, 0, one.length - shared), other, same);
}

bool contrast_chinese(struct split *split, struct text question)
{
    struct marked marked;
    if (split->limit < 2 || question.length > ASKED_MAX)
        return false;
    mark_quoted(&marked, question);
    return chinese_choice(split, &marked) || chinese_beside(split, &marked) || chinese_pair(split, &marked) ||
           chinese_than(split, &marked) || chinese_times(split, &marked) || chinese_twice(split, &marked);
}
