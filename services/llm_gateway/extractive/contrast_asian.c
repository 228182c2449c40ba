/* Comparisons in Chinese 「A和B哪个更大」 and in Korean "A와 B 중 어느 것이 더 큰가요". */
#include "split_priv.h"

#include <string.h>

#define THING_MAX  ((size_t)180)
#define JOINTS_MAX 8

#define LIST(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
LIST(edges, "、", "，", ",", "。", "？", "?", "：", ":", "！", "!", "吗", "呢");
LIST(chinese_which, "哪一个", "哪个", "哪一", "哪座", "哪位", "哪家", "哪部", "哪条", "哪种", "哪所", "哪国", "哪者",
     "哪", "何者", "谁", "誰");
LIST(chinese_joints, "还是", "還是", "和", "与", "與", "跟", "及", "或", "、", "同");
LIST(chinese_links, "两者中", "两者之中", "两者", "相比较", "相比", "比较", "之间", "之中", "当中", "中", "里", "两个",
     "二者", "，", "、", "的", "相比之下", "比起来", "這兩", "这两");
LIST(chinese_more, "更", "较", "較", "先", "早", "晚", "最", "比较");
LIST(chinese_plain_more, "更", "较", "較", "先");
LIST(korean_which, "어느", "누가", "어디가", "무엇", "뭐가", "어떤", "누구의", "누구", "어디");
LIST(korean_joints, "인가요 ", "인가요, ", "일까요 ", "와 ", "과 ", "이랑 ", "랑 ", "하고 ", " 또는 ", " 아니면 ",
     "이나 ", "나 ", ", ");
LIST(korean_links, "인가요", "일까요", " 중에서", " 중에", " 중", " 가운데", "를 비교하면", "을 비교하면", "는", "은",
     " 두 개", ",");
LIST(korean_more, "더", "먼저", "가장", "일찍", "늦게", "오래", "많은", "높은", "큰");

LIST(chinese_degrees, "古老", "便宜", "大", "小", "高", "低", "长", "短", "早", "晚", "多", "少", "快", "慢", "重",
     "轻", "老", "新", "宽", "深", "远", "近", "贵", "强");
LIST(chinese_attributes, "人口", "面积", "历史", "海拔", "高度", "长度", "的");

/* "bigger than usual" compares no two things. */
static bool asian_is_usual(struct text text)
{
    static const char *const times[] = {"平时", "平常", "往常",   "以前", "之前",   "从前", "原来", "预期",
                                        "预计", "去年", "昨天",   "上次", "上月",   "평소", "전",   "예전",
                                        "이전", "작년", "지난해", "어제", "지난번", "예상", NULL};
    size_t length = split_match_any(text, 0, times);
    return length && length == text.length;
}

static bool asian_is_thing(struct text text)
{
    return text.length && !asian_is_usual(text) && text.length <= THING_MAX &&
           !split_has(text, (const char *const[]){"？", "?", "。", NULL});
}

/* The two items around the first conjunction of the list in the text; of several occurrences, the one in the middle. */
static bool asian_pair(const struct marked *marked, size_t begin, size_t end, const char *const *joints,
                       struct text *one, struct text *other)
{
    for (; *joints; joints++) {
        const char *const joint[] = {*joints, NULL};
        size_t places[JOINTS_MAX], count = 0, length, at = begin + 1;
        while (count < JOINTS_MAX && (at = split_find(marked, at, end, joint, &length)) < end) {
            places[count++] = at;
            at += length;
        }
        if (!count)
            continue;
        size_t middle = places[count / 2];
        *one = split_trim(split_part(marked->text, begin, middle), edges);
        *other = split_trim(split_part(marked->text, middle + strlen(*joints), end), edges);
        return asian_is_thing(*one) && asian_is_thing(*other);
    }
    return false;
}

static struct text without_links(struct text text, const char *const *links)
{
    size_t length;
    text = split_trim(text, edges);
    while ((length = split_match_before(text, text.length, links)) && length < text.length)
        text = split_trim(split_part(text, 0, text.length - length), edges);
    return text;
}

struct change {
    const char *from, *to;
};

/* The text with the first change that fits. */
static struct text with_change(struct split *split, struct text text, const struct change *changes)
{
    for (; changes->from; changes++) {
        const char *found = memmem(text.bytes, text.length, changes->from, strlen(changes->from));
        if (!found)
            continue;
        size_t at = (size_t)(found - text.bytes);
        return text_joined(split->arena, split_part(text, 0, at), text_of(changes->to),
                           split_part(text, at + strlen(changes->from), text.length));
    }
    return text;
}

static void chinese_part(struct split *split, struct text thing, struct text said)
{
    static const struct change changes[] = {
        {"更早", "什么时候"}, {"较早", "什么时候"}, {"更晚", "什么时候"}, {"最早", "什么时候"}, {"最先", "什么时候"},
        {"先", "什么时候"},   {"更多的", "多少"},   {"更多", "有多少"},   {"较多", "有多少"},   {"最多", "有多少"},
        {"更", "有多"},       {"较", "有多"},       {"最", "有多"},       {NULL, NULL},
    };
    split_add(split, text_joined(split->arena, thing, with_change(split, said, changes), text_of("？")));
}

/* The question about each of the two items. False: one of them is no item. */
static bool chinese_parts(struct split *split, struct text one, struct text other, struct text said)
{
    if (!asian_is_thing(one) || !asian_is_thing(other))
        return false;
    chinese_part(split, one, said);
    chinese_part(split, other, said);
    return true;
}

/* 「A还是B更大」, 「A比B大吗」 */
static bool chinese_without_which(struct split *split, const struct marked *marked)
{
    static const char *const choice[] = {"还是", "還是", NULL}, *const than[] = {"比", NULL};
    struct text text = split_trim(marked->text, edges), one, other, said;
    size_t offset = (size_t)(text.bytes - marked->text.bytes), end = offset + text.length, length, more;
    bool asks = marked->text.length > end;
    size_t at = split_find(marked, offset + 1, end, choice, &length);
    if (at < end) {
        size_t to = split_find(marked, at + length, end, chinese_plain_more, &more);
        size_t begin = to - split_match_before(marked->text, to, chinese_attributes);
        one = split_part(marked->text, offset, at);
        other = split_part(marked->text, at + length, begin);
        said = split_part(marked->text, begin, to < end ? end : begin);
    } else {
        at = split_find(marked, offset + 1, end, than, &length);
        size_t begin = end - split_match_before(marked->text, end, chinese_degrees);
        said = text_joined(split->arena, text_of("更"), split_part(marked->text, begin, end), text_of(""));
        asks = begin < end && at < begin &&
               split_has(split_part(marked->text, end, marked->text.length), (const char *const[]){"吗", "嗎", NULL});
        begin -= split_match_before(marked->text, begin, (const char *const[]){"更", "还", NULL});
        size_t noun = split_match_before(marked->text, begin, chinese_attributes);
        said = text_joined(split->arena, split_part(marked->text, begin - noun, begin), said, text_of(""));
        one = split_part(marked->text, offset, at);
        other = split_part(marked->text, at + length, at < end ? begin - noun : at);
    }
    return asks && said.length && chinese_parts(split, one, other, said);
}

/* 「先成立的是A还是B？」 */
static bool chinese_in_front(struct split *split, const struct marked *marked)
{
    static const char *const mark[] = {"的是", NULL}, *const choice[] = {"还是", "還是", NULL};
    struct text text = split_trim(marked->text, edges), one, other;
    size_t offset = (size_t)(text.bytes - marked->text.bytes), end = offset + text.length, length, joint = 0;
    size_t at = split_find(marked, offset + 1, end, mark, &length);
    struct text said = split_part(marked->text, offset, at);
    size_t choice_at = at < end ? split_find(marked, at + length, end, choice, &joint) : end;
    if (choice_at == end || !split_has(said, chinese_more))
        return false;
    one = split_trim(split_part(marked->text, at + length, choice_at), edges);
    other = split_trim(split_part(marked->text, choice_at + joint, end), edges);
    return chinese_parts(split, one, other, said);
}

/* 「与B相比，A是否更便宜？」, 「相比B，A的价格更高吗？」 */
static bool chinese_beside(struct split *split, const struct marked *marked)
{
    static const char *const begins[] = {"相比于", "相比", "比起", "与", "與", "和", "跟", "同", NULL};
    static const char *const ends[] = {"相比较", "相比", "比起来", NULL}, *const commas[] = {"，", ",", NULL};
    static const char *const stops[] = {"是否", "是不是", "的", "更", "较", NULL};
    struct text text = split_trim(marked->text, edges);
    size_t offset = (size_t)(text.bytes - marked->text.bytes), end = offset + text.length, length, ignored;
    size_t begin = offset + split_match_any(marked->text, offset, begins);
    size_t comma = split_find(marked, begin, end, commas, &length);
    if (begin == offset || comma == end)
        return false;
    size_t left = comma - split_match_before(marked->text, comma, ends);
    bool compares = left < comma || split_match_any(marked->text, offset, (const char *const[]){"相比", "比起", NULL});
    size_t stop = split_find(marked, comma + length, end, stops, &ignored);
    struct text other = split_part(marked->text, begin, left), one = split_part(marked->text, comma + length, stop);
    struct text said = split_part(marked->text, stop, end);
    size_t asks = split_match_any(said, 0, (const char *const[]){"是否", "是不是", NULL});
    said = split_part(said, asks, said.length);
    return compares && stop < end && split_has(said, chinese_more) && chinese_parts(split, one, other, said);
}

/* 「A是不是比B更大？」, 「A比B更早被发现吗？」, 「A有没有B大？」, 「A有B那么高吗？」 */
static bool chinese_than(struct split *split, const struct marked *marked)
{
    static const char *const than[] = {"是不是比", "是否比", "会不会比", "有没有", "比", "有", NULL};
    static const char *const plain[] = {"那么", "这么", "更", "还", NULL};
    struct text text = split_trim(marked->text, edges);
    size_t offset = (size_t)(text.bytes - marked->text.bytes), end = offset + text.length, length, skip, at = end;
    for (size_t i = 0; than[i] && at == end; i++)
        at = split_find(marked, offset + 1, end, (const char *const[]){than[i], NULL}, &length);
    if (at == end)
        return false;
    bool has = split_match(marked->text, at, "有"), asks_itself = length > 3;
    asks_itself |=
        split_has(split_part(marked->text, end, marked->text.length), (const char *const[]){"吗", "嗎", NULL});
    size_t stop = split_find(marked, at + length, end, plain, &skip);
    if (stop == end) {
        size_t degree = split_match_before(marked->text, end, chinese_degrees);
        stop = end - degree;
        skip = 0;
    }
    struct text one = split_part(marked->text, offset, at), other = split_part(marked->text, at + length, stop);
    struct text said = split_part(marked->text, stop + skip, end);
    if (!asks_itself || !said.length || (has && !split_match_before(said, said.length, chinese_degrees)))
        return false;
    said = text_joined(split->arena, text_of("更"), said, text_of(""));
    return chinese_parts(split, one, other, said);
}

/* 「A和B中，较高的是哪一个？」: the pair ends at `comma`; what is asked lies between `from` and the which-word. */
static bool chinese_among(struct split *split, const struct marked *marked, size_t comma, size_t from, size_t which)
{
    struct text text = marked->text, one, other, pair = without_links(split_part(text, 0, comma), chinese_links);
    size_t mark = split_match_before(text, which, (const char *const[]){"的是", NULL});
    size_t begin = (size_t)(pair.bytes - text.bytes);
    return mark && asian_pair(marked, begin, begin + pair.length, chinese_joints, &one, &other) &&
           chinese_parts(split, one, other, split_part(text, from, which - mark));
}

bool contrast_chinese(struct split *split, struct text question)
{
    struct marked marked;
    struct text one, other, said;
    size_t length, joint;
    mark_quoted(&marked, question);
    struct text text = marked.text;
    size_t which = split_find(&marked, 0, text.length, chinese_which, &length);
    if (split->limit < 2)
        return false;
    if (which == text.length)
        return chinese_in_front(split, &marked) || chinese_beside(split, &marked) ||
               chinese_without_which(split, &marked) || chinese_than(split, &marked);
    struct text before = split_trim(split_part(text, 0, which), edges), pair = without_links(before, chinese_links);
    bool among = split_match_before(before, before.length, (const char *const[]){"当中", "之中", "两者中", "中", NULL});
    if (pair.length && !among) {
        size_t comma = split_find(&marked, 1, which, (const char *const[]){"中，", "当中，", NULL}, &joint);
        if (comma < which && which + length + 6 > text.length)
            return chinese_among(split, &marked, comma, comma + joint, which);
    }
    if (pair.length) {
        said = split_part(text, which + length, text.length);
    } else { /* 「哪个更早，A还是B？」 */
        size_t comma =
            split_find(&marked, which, text.length, (const char *const[]){"，", ",", "：", "？", NULL}, &joint);
        said = split_part(text, which + length, comma);
        pair = split_trim(split_part(text, comma, text.length), edges);
    }
    said = split_trim(said, edges);
    static const char *const kinds[] = {"国家的", "城市的", "国家", "城市", "公司", "作品", "电影", "的", NULL};
    size_t kind = split_match_any(said, 0, kinds);
    said = split_trim(split_part(said, kind, said.length), edges);
    size_t begin = (size_t)(pair.bytes - text.bytes);
    bool degree = split_match_any(said, 0, chinese_degrees) > 0;
    if ((!split_has(said, chinese_more) && !degree && !(among && said.length)) ||
        !asian_pair(&marked, begin, begin + pair.length, chinese_joints, &one, &other))
        return false;
    return chinese_parts(split, one, other, said);
}

/* Whether the last syllable has a final consonant. */
static bool has_final(struct text text)
{
    size_t end, at = split_back(text, text.length);
    (void)end;
    const unsigned char *bytes = (const unsigned char *)text.bytes + at;
    if (text.length - at != 3)
        return false;
    unsigned code = ((bytes[0] & 0x0FU) << 12) | ((bytes[1] & 0x3FU) << 6) | (bytes[2] & 0x3FU);
    return code >= 0xAC00 && code <= 0xD7A3 && (code - 0xAC00) % 28 != 0;
}

static void korean_part(struct split *split, struct text thing, struct text said)
{
    static const struct change changes[] = {
        {"더 먼저 ", "언제 "}, {"먼저 ", "언제 "},   {"더 일찍 ", "언제 "}, {"더 늦게 ", "언제 "},
        {"더 ", "얼마나 "},    {"가장 ", "얼마나 "}, {NULL, NULL},
    };
    struct text mark = text_of("?"), topic = text_of(has_final(thing) ? "은 " : "는 ");
    split_add(split, text_joined(split->arena, text_joined(split->arena, thing, topic, text_of("")),
                                 with_change(split, said, changes), mark));
}

static bool korean_parts(struct split *split, struct text one, struct text other, struct text said)
{
    if (!asian_is_thing(one) || !asian_is_thing(other))
        return false;
    korean_part(split, one, said);
    korean_part(split, other, said);
    return true;
}

/* "A는 B보다 더 큰가요" */
static bool korean_than(struct split *split, const struct marked *marked)
{
    static const char *const than[] = {"보다 ", NULL}, *const topics[] = {"는 ", "은 ", "가 ", "이 ", NULL};
    struct text text = marked->text;
    size_t length, topic, end = split_find(marked, 0, text.length, than, &length);
    size_t at = split_find(marked, 1, end, topics, &topic);
    if (end == text.length || at == end)
        return false;
    struct text one = split_part(text, 0, at), other = split_trim(split_part(text, at + topic, end), edges);
    struct text said = split_trim(split_part(text, end + length, text.length), edges);
    return said.length && korean_parts(split, one, other, said);
}

/* "B보다 A가 더 비싼가요?", "B에 비해 A는 더 무거운가요?", "B와 비교해서 A는 더 싼가요?" */
static bool korean_beside(struct split *split, const struct marked *marked)
{
    static const char *const than[] = {
        "와 비교하면 ", "과 비교하면 ", "와 비교해서 ", "과 비교해서 ", "와 비교해 ", "과 비교해 ",
        "에 비해서 ",   "에 비해 ",     "에 비하면 ",   "보다 ",        NULL};
    static const char *const topics[] = {"는 ", "은 ", "가 ", "이 ", NULL};
    struct text text = marked->text;
    size_t length, topic, at = split_find(marked, 1, text.length, than, &length);
    size_t end = at < text.length ? split_find(marked, at + length + 1, text.length, topics, &topic) : text.length;
    if (end == text.length || split_has(split_part(text, 0, at), (const char *const[]){" ", NULL}))
        return false;
    struct text other = split_part(text, 0, at), one = split_part(text, at + length, end);
    struct text said = split_trim(split_part(text, end + topic, text.length), edges);
    return split_has(said, korean_more) && korean_parts(split, one, other, said);
}

/* "먼저 설립된 것은 A인가요, B인가요?", "더 큰 곳은 A입니까 B입니까?" */
static bool korean_choice(struct split *split, const struct marked *marked)
{
    static const char *const asks[] = {"인가요", "입니까", "일까요", "이에요", "예요", NULL};
    static const char *const heads[] = {"은 ", "는 ", NULL};
    struct text text = marked->text;
    size_t length, last, mark, at = split_find(marked, 1, text.length, asks, &length), head = 0, from = 0;
    if (at == text.length)
        return false;
    for (size_t place = 1; (place = split_find(marked, place, at, heads, &mark)) < at; place += mark) {
        head = place;
        from = place + mark;
    }
    size_t next = split_find(marked, at + length, text.length, asks, &last);
    struct text said = split_part(text, 0, head), one = split_part(text, from, at);
    struct text other = split_trim(split_part(text, at + length, next), edges);
    other = split_part(other, split_match_any(other, 0, (const char *const[]){"아니면 ", NULL}), other.length);
    if (!head || next == text.length || !split_has(said, korean_more))
        return false;
    bool when = split_has(said, (const char *const[]){"먼저", "일찍", "늦게", NULL});
    size_t noun = split_match_before(said, said.length, (const char *const[]){" 것", " 곳", " 쪽", NULL});
    said = split_part(said, 0, said.length - noun);
    said = text_joined(split->arena, said, text_of(when ? " 것인가요" : "가요"), text_of(""));
    return korean_parts(split, one, other, said);
}

/* "A와 B 중 먼저 설립된 것은 무엇인가요?", "A와 B 중에서 인구가 더 많은 곳은 어디인가요?" */
static bool korean_relative(struct split *split, const struct marked *marked, size_t which)
{
    static const char *const among[] = {" 중에서 ", " 중에 ", " 중 ", " 가운데 ", NULL};
    static const char *const heads[] = {" 것은", " 곳은", " 쪽은", " 사람은", " 도시는", " 나라는", " 건", NULL};
    struct text text = marked->text, one, other;
    size_t length, at = split_find(marked, 1, which, among, &length);
    struct text said = at < which ? split_trim(split_part(text, at + length, which), edges) : text_of("");
    size_t head = split_match_before(said, said.length, heads);
    if (!head && split_match_before(said, said.length, (const char *const[]){"은", "는", NULL})) {
        size_t noun = said.length - 3; /* "더 높은 산은": the noun with its particle */
        while (noun && said.bytes[noun - 1] != ' ')
            noun--;
        head = noun > 1 ? said.length - noun + 1 : 0;
    }
    said = split_part(said, 0, said.length - head);
    if (!head || !asian_pair(marked, 0, at, korean_joints, &one, &other))
        return false;
    bool when = split_has(said, (const char *const[]){"먼저", "일찍", "늦게", NULL});
    said = text_joined(split->arena, said, text_of(when ? " 것인가요" : "가요"), text_of(""));
    return korean_parts(split, one, other, said);
}

bool contrast_korean(struct split *split, struct text question)
{
    struct marked marked;
    struct text one, other;
    size_t length, ignored;
    mark_quoted(&marked, question);
    struct text text = marked.text;
    size_t which = split_find(&marked, 0, text.length, korean_which, &length);
    if (split->limit < 2)
        return false;
    if (which == text.length)
        return korean_than(split, &marked) || korean_beside(split, &marked) || korean_choice(split, &marked);
    if (korean_relative(split, &marked, which))
        return true;
    struct text pair = without_links(split_part(text, 0, which), korean_links);
    size_t comma = split_find(&marked, which, text.length, (const char *const[]){", ", ",", "? ", NULL}, &ignored);
    size_t said_end = pair.length ? text.length : comma;
    if (!pair.length)
        pair = without_links(split_part(text, comma, text.length), korean_links);
    size_t behind = which + length;
    if (split_match(text, which, "어느") || split_match(text, which, "어떤")) /* "어느 것이" */
        behind = split_find(&marked, behind + 1, text.length, (const char *const[]){" ", NULL}, &ignored);
    struct text said = split_trim(split_part(text, behind, said_end), edges);
    size_t front = split_find(&marked, 1, which, (const char *const[]){" 것은 ", " 곳은 ", " 쪽은 ", NULL}, &ignored);
    if (front < which && !split_has(said, korean_more)) { /* "더 먼저 발견된 것은 A와 B 중 어느 것인가요?" */
        said = text_joined(split->arena, split_part(text, 0, front), text_of(" 것인가요"), text_of(""));
        pair = without_links(split_part(text, front + ignored, which), korean_links);
    }
    size_t begin = (size_t)(pair.bytes - text.bytes);
    bool among = split_has(split_part(text, 0, which), (const char *const[]){" 중 ", " 중에", " 가운데 ", NULL});
    if (!said.length || (!among && !split_has(said, korean_more)) ||
        !asian_pair(&marked, begin, begin + pair.length, korean_joints, &one, &other))
        return false;
    return korean_parts(split, one, other, said);
}
