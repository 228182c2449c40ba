/* Japanese: 「AとBのXは？」 and clauses after また、そして. */
#include "split_priv.h"

#include "words/words.h"

#include <string.h>

#define NOUNS_MAX 8
#define DEPTH_MAX 3 /* groups in one question */

static const char *const connectors[] = {"および", "及び", "ならびに", "並びに", "と", "や", "、"};
static const char *const together[] = {"違い", "差",   "比較",       "比べ", "関係", "どちら", "どっち",  "間",
                                       "両方", "同じ", "組み合わせ", "連携", "互換", "区別",   "使い分け"};
static const char *const particles[] = {"の", "は", "を", "が", "に", "で", "も", "へ", "？", "?"};
static const char *const turns[] = {"、また、", "、また",       "、そして、", "、そして", "、さらに、",
                                    "、さらに", "、それから、", "、それから", "、あと、", "か、"};
static const char *const openings[] = {"また、", "また",       "そして、", "そして", "さらに、",
                                       "さらに", "それから、", "それから", "次に、", "あと、"};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static size_t match(struct text text, size_t at, const char *word)
{
    size_t length = strlen(word);
    return at + length <= text.length && memcmp(text.bytes + at, word, length) == 0 ? length : 0;
}

static size_t match_any(struct text text, size_t at, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (match(text, at, list[i]))
            return strlen(list[i]);
    return 0;
}

/* Whether the character at `at` may belong to a noun: anything but Hiragana and marks. */
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

static size_t noun_end(const struct marked *marked, size_t at)
{
    size_t end;
    while (at < marked->text.length && (is_noun(marked, at, &end) || is_inner_blank(marked->text, at)))
        at = end;
    return at;
}

/* Where the noun that ends at `end` begins. */
static size_t noun_begin(const struct marked *marked, size_t end)
{
    struct text text = marked->text;
    size_t begin = end, behind;
    while (begin > 0) {
        size_t at = begin - 1;
        while (at > 0 && (text.bytes[at] & 0xC0) == 0x80)
            at--;
        if (!is_noun(marked, at, &behind) && !is_inner_blank(text, at))
            break;
        begin = at;
    }
    return begin;
}

struct group {
    struct text nouns[NOUNS_MAX];
    size_t count, begin, end;
};

/* A, B and C that are coordinated at the connector at `at`. */
static bool read_group(const struct marked *marked, size_t at, struct group *group)
{
    struct text text = marked->text;
    size_t begin = noun_begin(marked, at), connector;
    bool more_than_commas = false;
    *group = (struct group){.begin = begin, .end = at};
    if (begin == at)
        return false;
    group->nouns[group->count++] = (struct text){text.bytes + begin, at - begin};
    while (group->count < NOUNS_MAX && (connector = match_any(text, group->end, connectors, COUNT(connectors)))) {
        size_t next = group->end + connector, end = noun_end(marked, next);
        if (end == next)
            break;
        more_than_commas |= !match(text, group->end, "、");
        group->nouns[group->count++] = (struct text){text.bytes + next, end - next};
        group->end = end;
    }
    bool ends = group->end == text.length || match_any(text, group->end, particles, COUNT(particles));
    return group->count > 1 && more_than_commas && ends;
}

static bool belongs_together(struct text text)
{
    for (size_t i = 0; i < COUNT(together); i++)
        if (memmem(text.bytes, text.length, together[i], strlen(together[i])))
            return true;
    return false;
}

static void split_nouns(struct split *split, struct text text, unsigned depth)
{
    struct group group;
    struct marked marked;
    mark_quoted(&marked, text);
    text = marked.text;
    bool together_here = belongs_together(text);
    for (size_t at = 0; depth < DEPTH_MAX && at < text.length && !together_here; at++) {
        if (!match_any(text, at, connectors, COUNT(connectors)) || marked.quoted[at] ||
            !read_group(&marked, at, &group))
            continue;
        for (size_t i = 0; i < group.count; i++) {
            struct text part = text_joined(split->arena, (struct text){text.bytes, group.begin}, group.nouns[i],
                                           (struct text){text.bytes + group.end, text.length - group.end});
            split_nouns(split, part, depth + 1);
        }
        return;
    }
    split_add(split, text);
}

static struct text without_opening(struct text text)
{
    size_t length = match_any(text, 0, openings, COUNT(openings));
    return text_trimmed((struct text){text.bytes + length, text.length - length});
}

void split_japanese(struct split *split, struct text question)
{
    struct marked marked;
    size_t begin = 0;
    mark_quoted(&marked, question);
    question = marked.text;
    for (size_t at = 0; at < question.length; at++) {
        size_t turn = match_any(question, at, turns, COUNT(turns));
        if (!turn || marked.quoted[at])
            continue;
        size_t keep = match(question, at, "か、"); /* the か still belongs to what it ends */
        size_t end = at + (keep ? strlen("か") : 0);
        split_nouns(split, without_opening((struct text){question.bytes + begin, end - begin}), 0);
        begin = at + turn;
        at = begin - 1;
    }
    split_nouns(split, without_opening((struct text){question.bytes + begin, question.length - begin}), 0);
}

/* ---- what it is about -------------------------------------------------------------------------------------------- */

struct text topic_japanese(struct text part)
{
    struct marked marked;
    mark_quoted(&marked, part);
    part = marked.text;
    for (size_t at = 0; at < part.length; at++) {
        if (marked.quoted[at] || (!match(part, at, "の") && !match(part, at, "は") && !match(part, at, "とは")))
            continue;
        size_t begin = noun_begin(&marked, at);
        return (struct text){part.bytes + begin, at - begin};
    }
    return (struct text){NULL, 0};
}

/* A name of its own: Latin or Katakana. */
static bool has_name(struct text part)
{
    for (size_t at = 0, end; at < part.length; at = end) {
        uint32_t code = utf8_read(part.bytes, part.length, at, &end);
        enum script script = script_of(code);
        if (script == SCRIPT_LETTER || script == SCRIPT_KATAKANA || (code >= 'A' && code <= 'Z'))
            return true;
    }
    return false;
}

struct text carry_japanese(const struct split *split, struct text part)
{
    static const char *const pronouns[] = {"それ", "これ", "そこ"}, *const own[] = {"その", "この"};
    size_t pronoun = match_any(part, 0, pronouns, COUNT(pronouns)), of = match_any(part, 0, own, COUNT(own));
    struct text rest = {part.bytes + pronoun + of, part.length - pronoun - of};
    if (memmem(part.bytes, part.length, split->topic.bytes, split->topic.length))
        return part;
    if (pronoun)
        return text_joined(split->arena, split->topic, rest, (struct text){"", 0});
    bool leans = of || (!has_name(part) && !memmem(part.bytes, part.length, "の", 3));
    return leans ? text_joined(split->arena, split->topic, text_of("の"), rest) : part;
}
