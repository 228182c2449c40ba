/* The topic of a Japanese question: the phrase before は, split into the attribute and the thing. */
#include "words/asked_ja_priv.h"

#define JA_QUOTED_MAX 64 /* letters of a text in brackets */

uint32_t ja_code(const struct asked_letters *letters, size_t at)
{
    return at < letters->count ? letters->at[at].code : 0;
}

static bool ja_opens(uint32_t code)
{
    return code == 0x300C || code == 0x300E || code == 0x3010 || code == 0x300A || code == '(' || code == '"';
}

static bool ja_closes(uint32_t code)
{
    return code == 0x300D || code == 0x300F || code == 0x3011 || code == 0x300B || code == ')' || code == '"';
}

bool ja_is_noun(uint32_t code)
{
    enum script script = script_of(code);
    return code == 0x30FC || code == 0x30FB || code == 0x3005 || code == '=' || code == '%' || code == '-' ||
           code == '.' || script == SCRIPT_HAN || script == SCRIPT_KATAKANA || script == SCRIPT_LETTER ||
           script == SCRIPT_DIGIT;
}

/* The letter before the bracket that closes before `end`. */
static size_t ja_before_bracket(const struct asked_letters *letters, size_t begin, size_t end)
{
    size_t at = end - 1, depth = 1;
    size_t least = end - begin > JA_QUOTED_MAX ? end - JA_QUOTED_MAX : begin;
    while (at > least && depth > 0) {
        at--;
        if (ja_opens(letters->at[at].code))
            depth--;
        else if (ja_closes(letters->at[at].code))
            depth++;
    }
    return depth ? end : at;
}

/* り in 振り子, み in 組み方. */
static bool ja_is_inflection(uint32_t code)
{
    static const uint32_t codes[] = {0x308A, 0x304D, 0x3057, 0x3044, 0x3051, 0x3079, 0x3081,
                                     0x308C, 0x307F, 0x3061, 0x3073, 0x304E, 0x305B};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

/* The beginning of the noun that ends at `end`, brackets included; with `joined`, の joins nouns. */
static size_t ja_noun_begin(const struct asked_letters *letters, size_t begin, size_t end, bool joined)
{
    size_t at = end;
    while (at > begin) {
        uint32_t code = letters->at[at - 1].code;
        size_t open = ja_closes(code) ? ja_before_bracket(letters, begin, at) : at;
        bool blank = code == ' ' && at < end && at - 1 > begin && letters->at[at].code < 0x80 &&
                     script_of(letters->at[at - 2].code) == SCRIPT_LETTER; /* REST API */
        if (open < at) {
            at = open;
            continue;
        }
        bool of = joined && code == JA_NO && at < end && at - 1 > begin &&
                  (ja_is_noun(letters->at[at - 2].code) || ja_closes(letters->at[at - 2].code));
        bool inflected = at >= begin + 2 && at < end && ja_is_inflection(code) &&
                         script_of(letters->at[at - 2].code) == SCRIPT_HAN &&
                         script_of(letters->at[at].code) == SCRIPT_HAN;
        if (!ja_is_noun(code) && !blank && !of && !inflected)
            break;
        at--;
    }
    return at;
}

size_t ja_after_bracket(const struct asked_letters *letters, size_t at, size_t end)
{
    if (!ja_opens(letters->at[at].code))
        return at;
    for (size_t i = at + 1; i < end && i < at + JA_QUOTED_MAX; i++)
        if (ja_closes(letters->at[i].code))
            return i + 1;
    return at;
}

/* ---- topic, focus and subject ------------------------------------------------------------------------------------ */

/* The phrase before the last は in front of the question word; also before って and が if there is no は. */
void ja_find_topic(struct ja_sentence *in, size_t until)
{
    size_t from = in->begin;
    for (size_t at = in->begin; at < until;) {
        size_t next = ja_after_bracket(in->letters, at, until);
        if (next > at) {
            at = next;
            continue;
        }
        uint32_t code = ja_code(in->letters, at), before = at > in->begin ? ja_code(in->letters, at - 1) : 0;
        bool noun = ja_is_noun(before) || ja_closes(before) || before == JA_NO || before == 0x3068 ||
                    before == 0x3067 || before == 0x3055 || before == 0x3044 || before == 0x3051 || before == 0x306B ||
                    before == 0x3089;
        bool word = ja_code(in->letters, at + 1) == 0x3058; /* はじ */
        if (code == JA_HA && noun && !word)
            in->topic = (struct asked_part){from, at};
        if (code == 0x3001 && at + 1 < until && in->topic.end == 0)
            from = at + 1;
        at++;
    }
}

bool ja_part_is_empty(struct asked_part part)
{
    return part.begin >= part.end;
}

/* The first noun before one of the particles が, を, に, で, は, も, と of a clause. */
struct asked_part ja_marked(const struct asked_letters *letters, struct asked_part clause)
{
    static const uint32_t particles[] = {0x304C, 0x3092, JA_HA, 0x306B, 0x3067, 0x3078};
    for (size_t i = 0; i < sizeof particles / sizeof *particles; i++) {
        for (size_t at = clause.begin; at < clause.end;) {
            size_t next = ja_after_bracket(letters, at, clause.end);
            if (next == at && letters->at[at].code == particles[i] && at > clause.begin) {
                size_t begin = ja_noun_begin(letters, clause.begin, at, true);
                if (begin < at)
                    return (struct asked_part){begin, at};
            }
            at = next > at ? next : at + 1;
        }
    }
    size_t at = clause.begin;
    while (at < clause.end && !ja_is_noun(letters->at[at].code) && !ja_opens(letters->at[at].code))
        at++;
    size_t end = at;
    while (end < clause.end) {
        size_t next = ja_after_bracket(letters, end, clause.end);
        if (next == end && !ja_is_noun(letters->at[end].code))
            break;
        end = next > end ? next : end + 1;
    }
    return (struct asked_part){at, end};
}

/* 大きさ and 使い方: a noun that ends in Hiragana or has Hiragana inside. */
static size_t ja_head_begin(const struct asked_letters *letters, struct asked_part topic)
{
    const struct asked_word *noun = asked_ending(asked_nouns_ja, letters, topic.begin, topic.end);
    size_t begin = ja_noun_begin(letters, topic.begin, topic.end, false);
    if (!noun)
        return begin;
    size_t end;
    for (end = topic.end; end > topic.begin; end--)
        if (asked_stands(letters, end - 1, topic.end, noun->word) == topic.end - end + 1)
            break;
    size_t from = end > topic.begin ? ja_noun_begin(letters, topic.begin, end - 1, false) : begin;
    return from < begin ? from : begin;
}

/* Splits the topic into focus and subject: オランダの首都, 宮崎駿が卒業した大学. A topic of one noun is the subject. */
void ja_split_topic(const struct asked_letters *letters, struct asked_part topic, struct asked_part *focus,
                    struct asked_part *subject)
{
    bool cleft = topic.end > topic.begin && ja_code(letters, topic.end - 1) == JA_NO;
    size_t end = topic.end;
    while (end > topic.begin && (ja_code(letters, end - 1) == 0x3068 || ja_code(letters, end - 1) == 0x3067 ||
                                 ja_code(letters, end - 1) == 0x306B)) /* とは, では, には */
        end--;
    if (cleft) {
        *subject = ja_marked(letters, (struct asked_part){topic.begin, topic.end - 1});
        return;
    }
    size_t head = ja_head_begin(letters, (struct asked_part){topic.begin, end});
    if (head >= end || head == topic.begin) {
        *subject = (struct asked_part){topic.begin, end};
        return;
    }
    bool points = ja_code(letters, head - 1) == JA_NO && head - topic.begin == 2 &&
                  script_of(ja_code(letters, topic.begin)) == SCRIPT_HIRAGANA; /* この薬 */
    if (points) {
        *subject = (struct asked_part){head, end};
        return;
    }
    struct asked_part before = {topic.begin, head};
    *focus = (struct asked_part){head, end};
    if (ja_code(letters, head - 1) == JA_NO) {
        size_t begin = ja_noun_begin(letters, topic.begin, head - 1, true);
        *subject = (struct asked_part){begin, head - 1};
        if (begin < head - 1)
            return;
    }
    *subject = ja_marked(letters, before);
}

void ja_compared(const struct asked_letters *letters, struct asked_part topic, struct asked_part *focus,
                 struct asked_part *subject)
{
    bool named = focus->begin < focus->end && asked_ending(asked_nouns_ja, letters, focus->begin, focus->end) &&
                 ja_code(letters, focus->begin - 1) == JA_NO;
    size_t end = named ? focus->begin - 1 : topic.end;
    while (end > topic.begin && (ja_code(letters, end - 1) == 0x3067 || ja_code(letters, end - 1) == JA_NO))
        end--;
    *subject = (struct asked_part){topic.begin, end};
    if (!named)
        *focus = (struct asked_part){0, 0};
}
