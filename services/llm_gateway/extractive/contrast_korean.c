/* Comparisons in Korean: "A와 B 중 어느 것이 더 큰가요", "A가 B보다 큰가요", "A가 높아, B가 높아?". Particles at the
 * end of a word tell the items: a connective ("와", "보다"), and the particle behind the second item. */
#include "split_priv.h"

#include "words/words.h"

#include <string.h>

#define THING_WORDS_MAX 6
#define PIECES_MAX      10

LIST(joints, "이랑", "랑", "하고", "와", "과");
LIST(or_joints, "이나", "나");
LIST(topics, "은", "는", "이", "가");
LIST(particles, "에서는", "에는", "은", "는", "이", "가", "을", "를", "의", "에서", "에", "도", "로", "으로");
LIST(anchors, "에서는", "에는", "에서", "에", "은", "는", "이", "가", "을", "를", "면", "왜", "때", "도", "서");
LIST(among, "중", "중에", "중에서", "중에서는", "중에는", "가운데", "가운데서", "사이에서", "둘", "두", "간");
LIST(differences, "차이", "다른", "다르", "달라", "다릅", "구별", "구분");
LIST(equalities, "비교", "같은", "같나", "같습", "각각", "공통", "비슷", "닮", "마찬가지", "낫", "나을", "나은");
LIST(whiches, "어느", "누가", "누구", "뭐가", "뭐", "뭘", "무엇", "어디가", "어디", "어떤");
LIST(askers, "무엇", "누구", "누가", "어디", "어느", "어떤", "뭐", "몇", "언제");
LIST(more, "더", "가장", "먼저", "제일", "덜", "일찍", "늦게");
LIST(no_things, "평소", "전", "예전", "이전", "작년", "지난해", "어제", "지난번", "예상", "예정", "계획", "그", "그가",
     "그녀", "저", "나", "우리", "이것", "그것", "생각", "기존", "이");

struct korean {
    struct tokens tokens;
    struct split *split;
};

static struct text korean_word(const struct korean *korean, size_t at)
{
    return at < korean->tokens.count ? tokens_between(&korean->tokens, at, at + 1) : text_of("");
}

static bool korean_is(const struct korean *korean, size_t at, const char *const *list)
{
    return split_is_any(korean_word(korean, at), list);
}

static bool korean_begins(const struct korean *korean, size_t at, const char *const *list)
{
    return split_match_any(korean_word(korean, at), 0, list) > 0;
}

/* The first word in [from, to) that begins with a word of the list; `to`: none. */
static size_t korean_find(const struct korean *korean, size_t from, size_t to, const char *const *list)
{
    while (from < to && !korean_begins(korean, from, list))
        from++;
    return from;
}

/* The bytes of a particle of the list at the end of a word that is longer. */
static size_t korean_ending(struct text word, const char *const *list)
{
    size_t length = split_match_before(word, word.length, list);
    return length < word.length ? length : 0;
}

/* The final consonant of the last syllable, 0 to 27; 0: none. 4 is ㄴ. */
static unsigned korean_final(struct text word)
{
    size_t at = split_back(word, word.length), end;
    unsigned code = word.length ? utf8_read(word.bytes, word.length, at, &end) : 0;
    return code >= 0xAC00 && code <= 0xD7A3 ? (code - 0xAC00) % 28 : 0;
}

/* The bytes that both words begin with. */
static size_t common_begin(struct text one, struct text other)
{
    size_t size = 0;
    while (size < one.length && size < other.length && one.bytes[size] == other.bytes[size])
        size++;
    while (size && size < one.length && ((unsigned char)one.bytes[size] & 0xC0U) == 0x80U)
        size--;
    return size;
}

/* ---- items and parts ---- */

/* The words [begin, end), the last one without `particle` bytes. */
struct korean_thing {
    size_t begin, end, particle;
};

static struct text thing_text(const struct korean *korean, struct korean_thing thing)
{
    struct text text = tokens_between(&korean->tokens, thing.begin, thing.end);
    return split_part(text, 0, text.length - thing.particle);
}

static bool thing_is_good(const struct korean *korean, struct korean_thing thing)
{
    static const char *const modifiers[] = {"것", "게", "점", NULL};
    if (thing.begin >= thing.end || thing.end - thing.begin > THING_WORDS_MAX)
        return false;
    struct text text = thing_text(korean, thing);
    bool number = text.bytes[0] >= '0' && text.bytes[0] <= '9' &&
                  split_has(text, (const char *const[]){"세", "년", "살", "명", "원", NULL});
    return text.length && !number && !split_is_any(text, no_things) &&
           !split_match_before(text, text.length, modifiers) &&
           korean_find(korean, thing.begin, thing.end, askers) == thing.end;
}

/* The begin of the item that ends with the word at `end` - 1: behind a comma, or a word with a particle. */
static size_t thing_begin(const struct korean *korean, size_t from, size_t end)
{
    size_t at = end - 1;
    while (at > from && end - at < THING_WORDS_MAX && !korean->tokens.list[at - 1].stopped &&
           !korean_ending(korean_word(korean, at - 1), anchors) && !korean_is(korean, at - 1, among) &&
           !korean_is(korean, at - 1, anchors) && !korean_ending(korean_word(korean, at - 1), joints))
        at--;
    return at;
}

/* The particle in the form that fits behind the item. */
static struct text korean_particle(struct text thing, struct text particle)
{
    static const char *const forms[][2] = {{"는", "은"}, {"가", "이"}, {"를", "을"}, {"와", "과"}};
    bool final = korean_final(thing) != 0;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        for (int side = 0; side < 2; side++)
            if (text_equal(particle, text_of(forms[i][side])))
                return text_of(forms[i][final]);
    return particle;
}

/* "더 먼저" asks when, "더" asks how much; "어느 것이", "누가" go. */
static struct text korean_asked(const struct korean *korean, size_t from, size_t to)
{
    static const char *const nouns[] = {"것", "쪽", "게", "곳", "건", NULL};
    struct text list[PIECES_MAX + 1] = {{"", 0}};
    size_t count = 0, at = from;
    while (at < to && korean_is(korean, at, among))
        at++;
    for (; at < to && count + 2 < PIECES_MAX; at++) {
        struct text word = korean_word(korean, at), space = text_of(" ");
        bool last = at + 1 == to;
        if (!last && korean_is(korean, at, (const char *const[]){"어느", "어떤", NULL})) {
            at += korean_begins(korean, at + 1, nouns) || korean_ending(korean_word(korean, at + 1), topics);
            continue;
        }
        if (!last &&
            korean_begins(korean, at, (const char *const[]){"누가", "뭐가", "뭐", "어디가", "어느", "누구", NULL}))
            continue;
        if (korean_is(korean, at, more))
            word =
                text_of(korean_is(korean, at, (const char *const[]){"먼저", "일찍", "늦게", NULL}) ? "언제" : "얼마나");
        list[count++] = word;
        list[count++] = space;
    }
    list[count] = (struct text){NULL, 0};
    if (at < to)
        return tokens_between(&korean->tokens, from, to);
    return split_trim(split_concat(korean->split->arena, list), (const char *const[]){NULL});
}

static void korean_part(const struct korean *korean, struct text before, struct text thing, struct text particle,
                        struct text rest)
{
    const struct text list[] = {before,
                                text_of(before.length ? " " : ""),
                                thing,
                                korean_particle(thing, particle),
                                text_of(rest.length ? " " : ""),
                                rest,
                                text_of("?"),
                                {NULL, 0}};
    split_add(korean->split, split_concat(korean->split->arena, list));
}

/* Each item with the particle, between the words before and the rest. False: there are not two items. */
static bool korean_parts(const struct korean *korean, struct korean_thing one, struct korean_thing other,
                         struct text before, struct text particle, struct text rest)
{
    struct text first = thing_text(korean, one), second = thing_text(korean, other);
    if (!thing_is_good(korean, one) || !thing_is_good(korean, other) || text_equal(first, second))
        return false;
    korean_part(korean, before, first, particle, rest);
    korean_part(korean, before, second, particle, rest);
    return true;
}

static struct text korean_before(const struct korean *korean, size_t end)
{
    struct text before = tokens_between(&korean->tokens, 0, end);
    return split_is_greeting(before) ? text_of("") : before;
}

/* ---- "A가 B보다 큰가요?" ---- */

/* The bytes of a connective at the end of the word at `at`, and the word behind it: "보다", "에 비해", "와 비교하면".
 */
static size_t korean_than_at(const struct korean *korean, size_t at, size_t *behind)
{
    static const char *const than[] = {"보다는", "보다", "만큼", NULL}, *const of[] = {"의", NULL};
    static const char *const with[] = {"와", "과", "에", "이랑", "랑", NULL};
    static const char *const beside[] = {"비해", "비하면", "비교하면", "비교해", "비교했", "비교할", "비교하", NULL};
    size_t length = korean_ending(korean_word(korean, at), than);
    *behind = at + 1;
    if (length || at + 1 >= korean->tokens.count)
        return length;
    if (korean_is(korean, at + 1, (const char *const[]){"몇", NULL}) && /* "B의 몇 배" */
        korean_is(korean, at + 2, (const char *const[]){"배", NULL}))
        return korean_ending(korean_word(korean, at), of);
    if (korean_is(korean, at + 1, (const char *const[]){"대신", "대비", NULL})) {
        *behind = at + 2;
        return 0;
    }
    length = korean_ending(korean_word(korean, at), with);
    if (!length || !korean_begins(korean, at + 1, beside))
        return 0;
    *behind = at + 2 + korean_is(korean, at + 2, (const char *const[]){"때", NULL});
    return length;
}

/* "B보다 A가 더 비싼가요?": the item right behind the connective. */
static bool korean_than_first(const struct korean *korean, struct korean_thing other, size_t from)
{
    static const char *const owned[] = {"은", "는", "이", "가", "의", "를", "을", NULL};
    static const char *const identities[] = {"무엇", "누구", "누가", "어디", "어느", "뭐", "몇", NULL};
    size_t count = korean->tokens.count, end = from;
    while (end < count && end < from + 3 && !korean_ending(korean_word(korean, end), owned))
        end++;
    if (end + 1 >= count || end == from + 3 ||
        korean_begins(korean, end + 1, (const char *const[]){"게", "것", "건", NULL}) ||
        korean_find(korean, from, end + 1, more) <= end)
        return false;
    for (size_t i = from; i <= end; i++) {
        struct text word = korean_word(korean, i);
        unsigned final = korean_final(split_part(word, 0, word.length - (i == end ? korean_ending(word, owned) : 0)));
        if (i < end && final == 4) /* a verb: "빠른 동물은" */
            return false;
    }
    struct text last = korean_word(korean, end),
                particle = split_part(last, last.length - korean_ending(last, owned), last.length);
    bool owner = split_match_before(particle, particle.length, (const char *const[]){"의", "를", "을", NULL}) > 0;
    bool asks = korean_find(korean, end + 1, count, identities) < count;
    struct korean_thing one = {from, end + 1, particle.length};
    return (!asks || owner) && korean_parts(korean, one, other, korean_before(korean, other.begin), particle,
                                            korean_asked(korean, end + 1, count));
}

/* The first item ends with the last topic or subject before the connective, else with a place or an object. */
static bool korean_than(const struct korean *korean)
{
    static const char *const places[] = {"에", "에서", "에는", "에서는", NULL}, *const objects[] = {"을", "를", NULL};
    static const char *const subject_particles[] = {"에서는", "에는", "에서", "에", "은", "는",
                                                    "이",     "가",   "을",   "를", NULL};
    const char *const *const subjects[] = {topics, places, objects, NULL};
    size_t count = korean->tokens.count, behind;
    for (size_t at = 0; at + 1 < count; at++) {
        size_t length = korean_than_at(korean, at, &behind), topic = at;
        if ((!length && behind == at + 1) || behind > count)
            continue;
        for (size_t i = 0; subjects[i] && (i == 0 || !topic); i++)
            for (topic = at; topic > 0 && !korean_ending(korean_word(korean, topic - 1), subjects[i]);)
                topic--;
        struct korean_thing other = {topic ? topic : thing_begin(korean, 0, at + 1), at + 1, length};
        if (!topic)
            return behind < count && korean_than_first(korean, other, behind);
        struct text word = korean_word(korean, topic - 1);
        size_t size = korean_ending(word, subject_particles);
        size_t begin = thing_begin(korean, 0, topic);
        struct korean_thing one = {begin, topic, size};
        return korean_parts(korean, one, other, korean_before(korean, begin),
                            split_part(word, word.length - size, word.length), korean_asked(korean, behind, count));
    }
    return false;
}

/* "A가 B를 앞섰나요?" */
static bool korean_exceeds(const struct korean *korean)
{
    static const char *const verbs[] = {"넘", "앞서", "앞섰", "앞지", "능가", "이기", "이겼", NULL};
    static const char *const objects[] = {"을", "를", NULL};
    size_t count = korean->tokens.count, last = count - 1, topic = last;
    if (count < 3 || !korean_begins(korean, last, verbs) || !korean_ending(korean_word(korean, last - 1), objects))
        return false;
    while (topic > 0 && !korean_ending(korean_word(korean, topic - 1), topics))
        topic--;
    if (!topic || korean_find(korean, 0, last, askers) < last)
        return false;
    struct text word = korean_word(korean, topic - 1);
    size_t size = korean_ending(word, topics);
    struct korean_thing one = {thing_begin(korean, 0, topic), topic, size};
    struct korean_thing other = {topic, last, korean_ending(korean_word(korean, last - 1), objects)};
    return korean_parts(korean, one, other, korean_before(korean, one.begin),
                        split_part(word, word.length - size, word.length), text_of("얼마나 되나요"));
}

/* ---- "A와 B 중 어느 것이 더 큰가요?" ---- */

static bool korean_has(const struct korean *korean, size_t from, const char *const *list)
{
    for (size_t i = from; i < korean->tokens.count; i++)
        if (korean_begins(korean, i, list))
            return true;
    return false;
}

/* Whether the words behind the pair compare it. `plain`: the second item has no particle. */
static bool korean_compares(const struct korean *korean, size_t from, bool plain, bool either)
{
    size_t count = korean->tokens.count;
    bool picks = korean_is(korean, from, among);
    bool both = from > 0 && korean_ending(korean_word(korean, from - 1), (const char *const[]){"은", "는", NULL}) &&
                (korean_is(korean, from, (const char *const[]){"모두", NULL}) ||
                 (korean_is(korean, from, (const char *const[]){"둘", NULL}) &&
                  korean_is(korean, from + 1, (const char *const[]){"다", NULL})));
    if (both || korean_has(korean, from, differences) || korean_has(korean, from, equalities))
        return !either;
    if (picks)
        return !either || korean_find(korean, from, count, whiches) < count;
    size_t which = korean_find(korean, from, count, whiches);
    bool between = korean_begins(korean, from, (const char *const[]){"사이", NULL});
    struct text last = korean_word(korean, count - 1);
    if (plain && from > 0 && korean->tokens.list[from - 1].stopped &&
        korean_ending(last, (const char *const[]){"은", "는", "는요", NULL})) /* "A와 B, 더 높은 쪽은?" */
        return true;
    if (which == count || between)
        return false;
    if (which > from && korean_is(korean, which, (const char *const[]){"누가", NULL}) && /* "싸우면 누가 이겨" */
        korean_ending(korean_word(korean, which - 1), (const char *const[]){"면", NULL}))
        return true;
    static const char *const comparative[] = {"더", "덜", NULL};
    for (size_t i = from; i < count; i++)
        if (korean_is(korean, i, comparative))
            return true;
    return (plain && (which == from || korean_find(korean, from, count, more) < count)) ||
           korean_is(korean, which, (const char *const[]){"어느", NULL});
}

/* The second item from `begin` on: up to a particle, a comma, or a word such as "중". */
static struct korean_thing korean_second(const struct korean *korean, size_t begin)
{
    size_t count = korean->tokens.count, end = begin;
    struct korean_thing thing = {begin, begin, 0};
    while (end < count && end < begin + THING_WORDS_MAX && !korean_is(korean, end, among) &&
           !korean_begins(korean, end, whiches) && !korean_begins(korean, end, equalities) &&
           !korean_begins(korean, end, differences) && !korean_is(korean, end, more)) {
        struct text word = korean_word(korean, end++);
        thing.particle = korean_ending(word, joints);
        thing.particle = thing.particle ? thing.particle : korean_ending(word, particles);
        thing.end = end;
        if (korean_is(korean, end, among) && korean_ending(word, joints)) /* "오키나와 중" */
            thing.particle = 0;
        if (thing.particle || korean->tokens.list[end - 1].stopped)
            break;
    }
    return thing;
}

/* "A는 B와 문법이 비슷한가요?": the topic is the first item. */
static bool korean_topic_pair(const struct korean *korean, size_t at, size_t length)
{
    static const char *const subject[] = {"이", "가", NULL}, *const topic[] = {"은", "는", NULL};
    static const char *const alike[] = {"비슷", "다르", "다른", "같은가", "같나", "닮", NULL};
    size_t count = korean->tokens.count;
    if (at == 0 || at + 2 >= count || !length || !korean_ending(korean_word(korean, at - 1), topic) ||
        !korean_ending(korean_word(korean, at + 1), subject) || !korean_has(korean, at, alike))
        return false;
    struct korean_thing one = {thing_begin(korean, 0, at), at, strlen("는")}, other = {at, at + 1, length};
    return korean_parts(korean, one, other, korean_before(korean, one.begin), text_of("는"),
                        korean_asked(korean, at + 1, count));
}

static bool korean_pair_at(const struct korean *korean, size_t at, size_t length, bool either)
{
    struct korean_thing one = {thing_begin(korean, 0, at + 1), at + 1, length};
    struct korean_thing other = korean_second(korean, at + 1);
    if (other.end == other.begin || other.end > korean->tokens.count)
        return false;
    struct text word = korean_word(korean, other.end - 1);
    struct text particle = split_part(word, word.length - other.particle, word.length);
    bool joint = korean_ending(word, joints) > 0;
    struct text noun = korean_word(korean, at), next = korean_word(korean, other.end); /* "A의 수도와 B의 수도는" */
    bool owner = at > 0 && other.end < korean->tokens.count && korean_ending(word, (const char *const[]){"의", NULL}) &&
                 common_begin(noun, next) == noun.length - length;
    if (owner) {
        struct text first = korean_word(korean, at - 1);
        one = (struct korean_thing){thing_begin(korean, 0, at), at,
                                    korean_ending(first, (const char *const[]){"의", NULL})};
    } else if (!korean_compares(korean, other.end, !other.particle || joint, either)) {
        return false;
    }
    bool differs = korean_has(korean, other.end, differences);
    struct text before = korean_before(korean, one.begin);
    if (differs)
        return korean_parts(korean, one, other, before, text_of("는"), text_of("무엇인가요"));
    if (!other.particle || joint)
        particle = text_of("는");
    return korean_parts(korean, one, other, before, particle, korean_asked(korean, other.end, korean->tokens.count));
}

static bool korean_pair(const struct korean *korean)
{
    static const char *const signs[] = {"vs", "VS", "대", "또는", "혹은", NULL};
    size_t count = korean->tokens.count;
    for (size_t at = 0; at + 1 < count; at++) {
        struct text word = korean_word(korean, at);
        size_t joint = korean_ending(word, joints), either = korean_ending(word, or_joints);
        bool comma = korean->tokens.list[at].stopped && korean_is(korean, at + 2, among);
        if (korean_topic_pair(korean, at, joint))
            return true;
        if ((joint || comma) && korean_pair_at(korean, at, comma ? 0 : joint, false))
            return true;
        if (either && korean_pair_at(korean, at, either, true))
            return true;
        if (at > 0 && at + 2 < count && korean_is(korean, at, signs)) {
            struct korean_thing one = {thing_begin(korean, 0, at), at, 0}, other = korean_second(korean, at + 1);
            if (korean_compares(korean, other.end, true, true) &&
                korean_parts(korean, one, other, korean_before(korean, one.begin), text_of("는"),
                             korean_asked(korean, other.end, count)))
                return true;
        }
    }
    return false;
}

/* ---- "A가 높아, B가 높아?" ---- */

/* Two clauses with the same last word; the first one may end with 고: "무엇이고 ... 무엇인가요". */
static bool korean_twice(const struct korean *korean)
{
    static const char *const or_words[] = {"아니면", "혹은", "또는", NULL}, *const and_ending[] = {"고", NULL};
    size_t count = korean->tokens.count;
    struct text last = korean_word(korean, count - 1);
    for (size_t at = 1; at + 2 < count; at++) {
        struct text word = korean_word(korean, at);
        size_t shared = common_begin(word, last), high = korean_ending(word, and_ending);
        bool same = word.length == last.length && shared == last.length;
        size_t from = at + 1 + korean_is(korean, at + 1, or_words);
        bool alike = high && shared >= 3 && shared + high + 3 >= word.length;
        if ((!same && !alike) || from + 1 >= count || (alike && at + 2 >= count))
            continue;
        size_t begin = at; /* the clause of the first item, as long as the second one at most */
        while (begin > 0 && at - begin < count - from && !korean->tokens.list[begin - 1].stopped)
            begin--;
        if (begin == at)
            continue;
        struct text head = tokens_between(&korean->tokens, begin, at),
                    tail = tokens_between(&korean->tokens, from, count);
        split_add(korean->split,
                  text_joined(korean->split->arena, text_joined(korean->split->arena, head, text_of(" "), last),
                              text_of("?"), text_of("")));
        split_add(korean->split, text_joined(korean->split->arena, tail, text_of("?"), text_of("")));
        return true;
    }
    return false;
}

/* "어느 것이 더 큰가요, A인가요 B인가요?", "먼저 설립된 것은 A인가요, B인가요?" */
static bool korean_choice(const struct korean *korean)
{
    static const char *const asks[] = {"인가요", "입니까", "일까요", "이에요", "예요", "인지", "이야", NULL};
    static const char *const or_words[] = {"아니면", "혹은", "또는", NULL};
    size_t count = korean->tokens.count, at = 0;
    static const char *const heads[] = {"것은", "곳은", "쪽은", "사람은", "건", "나라는", "도시는", NULL};
    while (at < count && !korean_ending(korean_word(korean, at), asks))
        at++;
    size_t which = korean_find(korean, 0, count, whiches), from = at + 1 + korean_is(korean, at + 1, or_words);
    if (at + 1 < count && from < count && korean_ending(korean_word(korean, count - 1), asks)) {
        size_t begin = thing_begin(korean, 0, at + 1);
        struct korean_thing one = {begin, at + 1, korean_ending(korean_word(korean, at), asks)};
        struct korean_thing other = {from, count, korean_ending(korean_word(korean, count - 1), asks)};
        if (begin &&
            (which < begin || korean_find(korean, 0, begin, more) < begin || korean_is(korean, begin - 1, heads)))
            return korean_parts(korean, one, other, text_of(""), text_of("는"), korean_asked(korean, 0, begin));
    }
    for (at = 1; at + 1 < count; at++) { /* "어느 나라가 더 큰가요, A 아니면 B?" */
        size_t begin = thing_begin(korean, 0, at);
        struct korean_thing one = {begin, at, 0}, other = {at + 1, count, 0};
        if (korean_is(korean, at, or_words) && which < begin && begin > 1)
            return korean_parts(korean, one, other, text_of(""), text_of("는"), korean_asked(korean, 0, begin));
    }
    return false;
}

bool contrast_korean(struct split *split, struct text question)
{
    struct korean korean = {.split = split};
    tokens_read(question, &korean.tokens);
    if (split->limit < 2 || korean.tokens.count < 3 || korean.tokens.count == TOKENS_MAX)
        return false;
    return korean_choice(&korean) || korean_twice(&korean) || korean_than(&korean) || korean_pair(&korean) ||
           korean_exceeds(&korean);
}
