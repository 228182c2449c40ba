/* The two items of a Japanese comparison around と, か, 、 or another joint. */
#include "split_priv.h"

#include "words/words.h"

#include <string.h>

#define THING_MAX ((size_t)180) /* bytes of a name */

LIST(edges, "、", "，", ",", "。", "？", "?", "：", ":", "!", "！");

static const struct joint {
    const char *word;
    int weight;
} joints[] = {
    {"ですか、それとも、", 15},
    {"ですか、それとも", 15},
    {"ですか？それとも", 15},
    {"ですか。それとも", 15},
    {"でしょうか、それとも", 15},
    {"か、それとも、", 15},
    {"か、それとも", 15},
    {"、それとも、", 15},
    {"、それとも", 15},
    {"それとも", 15},
    {"ですか、", 12},
    {"か、または", 14},
    {"、または", 14},
    {"、あるいは", 14},
    {"、もしくは", 14},
    {"ですか", 6},
    {"および", 14},
    {"及び", 14},
    {"ならびに", 14},
    {"並びに", 14},
    {"または", 14},
    {"又は", 14},
    {"あるいは", 14},
    {"もしくは", 14},
    {" vs. ", 14},
    {" vs ", 14},
    {" VS ", 14},
    {"vs.", 9},
    {"vs", 8},
    {"VS", 8},
    {"対", 0},
    {" or ", 9},
    {" and ", 6},
    {"とか、", 7},
    {"か、", 7},
    {"と、", 7},
    {"とか", 1},
    {"と", 6},
    {"か", 4},
    {"、", 3},
    {"，", 3},
    {", ", 3},
    {"や", 2},
    {"／", 4},
    {"/", 4},
    {"＆", 1},
    {"&", 1},
    {"・", -4},
    {NULL, 0},
};
LIST(not_joint, "から", "として", "という", "といっ", "とともに", "と共に", "と同様", "と同じ", "となる", "となり",
     "とする", "とした");

bool contrast_ends_word(struct text text, size_t at)
{
    return at == 0 || !split_hiragana_before(text, at);
}

/* The plausibility of the joint at `at`: names seldom begin or end with Hiragana. */
static int weigh_joint(const struct marked *marked, size_t at, size_t end, int weight)
{
    struct text text = marked->text;
    bool left = contrast_ends_word(text, at), right = !split_is_hiragana(text, end);
    weight += 2 * left + 2 * right;
    weight += at > 0 && marked->quoted[at - 1] == MARK_QUOTE ? 2 : 0;
    weight += end < text.length && marked->quoted[end] == MARK_QUOTE ? 2 : 0;
    return marked->quoted[at] == MARK_PAIR ? weight - 8 : weight;
}

static enum script script_before(struct text text, size_t at)
{
    size_t end;
    return script_of(utf8_read(text.bytes, text.length, split_back(text, at), &end));
}

static enum script script_behind(struct text text, size_t at)
{
    size_t end;
    return script_of(utf8_read(text.bytes, text.length, at, &end));
}

struct joint_choice {
    size_t at, end, ties;
    int weight;
};

/* Of joints that weigh the same, one between different scripts counts more, then the one in the middle. */
static void choose_joint(struct joint_choice *choice, const struct joint_choice *next)
{
    if (next->weight < choice->weight)
        return;
    if (next->weight > choice->weight) {
        *choice = *next;
        choice->ties = 1;
    } else if (++choice->ties == 2) {
        choice->at = next->at;
        choice->end = next->end;
    }
}

struct text contrast_thing(struct text text)
{
    static const char *const ends[] = {"、",   "，",     ",",          "：",       ":",        "？",
                                       "?",    "ですか", "でしょうか", "それとも", "のほうが", "の方が",
                                       "の方", "のほう", "とでは",     NULL};
    static const char *const none[] = {NULL};
    size_t length;
    text = split_trim(text, none);
    while ((length = split_match_before(text, text.length, ends)) || (length = split_match_any(text, 0, edges))) {
        if (split_match_before(text, text.length, ends))
            text.length -= length;
        else
            text = split_part(text, length, text.length);
        text = split_trim(text, none);
    }
    return text;
}

bool contrast_is_thing(struct text text)
{
    static const char *const not_things[] = {"それ", "これ", "あれ", "彼", "彼女", "どちら", "こと", "もの", NULL};
    for (size_t i = 0; not_things[i]; i++)
        if (text.length == strlen(not_things[i]) && split_match(text, 0, not_things[i]))
            return false;
    return text.length && text.length <= THING_MAX && !split_has(text, (const char *const[]){"？", "?", NULL});
}

/* The two items in [begin, end) of the text. */
bool contrast_pair(const struct marked *marked, size_t begin, size_t end, struct contrast *contrast)
{
    struct text text = {marked->text.bytes, end};
    struct joint_choice best = {.weight = -100}, next;
    for (size_t at = begin + 1; at < end; at++) {
        if (marked->quoted[at] == MARK_QUOTE || ((unsigned char)text.bytes[at] & 0xC0) == 0x80 ||
            split_match_any(text, at, not_joint))
            continue;
        for (size_t i = 0; joints[i].word; i++) {
            size_t length = split_match(text, at, joints[i].word);
            if (!length || at + length >= end)
                continue;
            next = (struct joint_choice){at, at + length, 1, weigh_joint(marked, at, at + length, joints[i].weight)};
            next.weight = 2 * next.weight + (script_before(text, at) != script_behind(text, at + length));
            choose_joint(&best, &next);
            at += length - 1;
            break;
        }
    }
    if (best.weight == -100)
        return false;
    contrast->one = contrast_thing(split_part(text, begin, best.at));
    contrast->other = contrast_thing(split_part(text, best.end, end));
    return !text_equal(contrast->one, contrast->other) && contrast_is_thing(contrast->one) &&
           contrast_is_thing(contrast->other);
}

/* 「『A』と『B』の放送は」: the attribute stands behind the second quotation. */
void contrast_take_attribute(const struct marked *marked, struct contrast *contrast)
{
    struct text *one = &contrast->one, noun = contrast->clause.noun;
    if (noun.length && one->length > noun.length + 3 && /* 「Aの人口とBの人口」 */
        memcmp(one->bytes + one->length - noun.length, noun.bytes, noun.length) == 0 &&
        split_match_before(*one, one->length - noun.length, (const char *const[]){"の", NULL}))
        one->length -= noun.length + strlen("の");
    size_t begin = (size_t)(contrast->other.bytes - marked->text.bytes), end = begin + contrast->other.length,
           at = begin;
    while (at < end && marked->quoted[at] == MARK_QUOTE)
        at++;
    size_t of = split_match(marked->text, at, "の");
    bool quoted = marked->quoted[contrast->one.bytes - marked->text.bytes] == MARK_QUOTE;
    if (!quoted || at == begin || !of || at + of >= end || contrast->clause.noun.length)
        return;
    contrast->clause.noun = split_part(marked->text, at + of, end);
    contrast->other = split_part(marked->text, begin, at);
}
