/* The longest common subsequence of the words of two sentences. Words of the sentence that are not in it are compared
 * with the words of the source at the same place. */
#include "words/aligned.h"

#include "words/claims_priv.h"

#include <string.h>

#define NEAR_SHARE  0.6 /* of a sentence's words, from which it is nearly a sentence of the source */
#define BESIDE_MOST 2   /* words that the source has more than the sentence at the end of both, if some are replaced */
#define UNMATCHED   UINT16_MAX

struct alignment {
    struct aligned_text said, source;
    struct claim known, heading;
    uint16_t matches[ALIGNED_WORDS]; /* of each word of the sentence: a word of the source, or UNMATCHED */
    uint16_t lengths[ALIGNED_MIDDLE + 1][ALIGNED_MIDDLE + 1];
};

static bool aligned_equal(const struct alignment *align, size_t said, size_t source)
{
    return align->said.words[said].hash == align->source.words[source].hash;
}

/* The weight of a pair of equal words: more next to other equal pairs, so that longer runs win. */
static unsigned align_weight(const struct alignment *align, size_t said, size_t source)
{
    bool before = said && source && aligned_equal(align, said - 1, source - 1);
    bool behind =
        said + 1 < align->said.count && source + 1 < align->source.count && aligned_equal(align, said + 1, source + 1);
    return 2 + before + behind;
}

/* The weight of the middle from this pair on, if the pair is equal; otherwise 0. */
static unsigned align_pair(const struct alignment *align, size_t from, size_t begin, size_t row, size_t column)
{
    if (!aligned_equal(align, from + row, begin + column))
        return 0;
    return align->lengths[row + 1][column + 1] + align_weight(align, from + row, begin + column);
}

/* Aligns words [from, to) of the sentence with [begin, end) of the source. */
static void align_middle(struct alignment *align, size_t from, size_t to, size_t begin, size_t end)
{
    size_t rows = to - from, columns = end - begin, i = 0, k = 0;
    for (size_t row = rows + 1; row-- > 0;)
        for (size_t column = columns + 1; column-- > 0;) {
            uint16_t below = row < rows ? align->lengths[row + 1][column] : 0;
            uint16_t right = column < columns ? align->lengths[row][column + 1] : 0;
            unsigned both = row < rows && column < columns ? align_pair(align, from, begin, row, column) : 0;
            uint16_t least = below > right ? below : right;
            align->lengths[row][column] = both > least ? (uint16_t)both : least;
        }
    while (i < rows && k < columns) {
        unsigned both = align_pair(align, from, begin, i, k);
        if (both && both == align->lengths[i][k]) {
            align->matches[from + i++] = (uint16_t)(begin + k++);
        } else if (align->lengths[i + 1][k] >= align->lengths[i][k + 1]) {
            i++;
        } else {
            k++;
        }
    }
}

/* False if the part between the equal ends is too long. */
static bool align(struct alignment *align)
{
    size_t begin = 0, mine = align->said.count, theirs = align->source.count;
    for (size_t i = 0; i < align->said.count; i++)
        align->matches[i] = UNMATCHED;
    while (begin < mine && begin < theirs && aligned_equal(align, begin, begin)) {
        align->matches[begin] = (uint16_t)begin;
        begin++;
    }
    while (mine > begin && theirs > begin && aligned_equal(align, mine - 1, theirs - 1))
        align->matches[--mine] = (uint16_t)--theirs;
    if (mine - begin > ALIGNED_MIDDLE || theirs - begin > ALIGNED_MIDDLE)
        return false;
    align_middle(align, begin, mine, begin, theirs);
    return true;
}

/* A run of words that agree by chance, between two that do not: of, の, or one character of a longer Han word. */
static bool align_is_chance(const struct alignment *align, size_t from, size_t to)
{
    const struct aligned_word *words = align->said.words;
    bool han = false, strong = false;
    for (size_t i = from; i < to; i++) {
        han |= words[i].script == SCRIPT_HAN;
        strong |= words[i].script != SCRIPT_HAN && !words[i].stop_word;
    }
    return !strong && (han ? to - from == 1 : to - from <= 2);
}

static bool align_is_gap(const struct alignment *align, size_t from, size_t to)
{
    return from && to < align->said.count && align->matches[from - 1] == UNMATCHED && align->matches[to] == UNMATCHED;
}

static void align_without_chance(struct alignment *align)
{
    for (size_t from = 0, to; from < align->said.count; from = to) {
        to = from + 1;
        if (align->matches[from] == UNMATCHED)
            continue;
        while (to < align->said.count && align->matches[to] == align->matches[to - 1] + 1)
            to++;
        if (align_is_gap(align, from, to) && align_is_chance(align, from, to))
            for (size_t i = from; i < to; i++)
                align->matches[i] = UNMATCHED;
    }
}

/* The share of equal words of the shorter text. */
static double align_share(const struct alignment *align)
{
    size_t same = 0, least = align->said.count < align->source.count ? align->said.count : align->source.count;
    for (size_t i = 0; i < align->said.count; i++)
        same += align->matches[i] != UNMATCHED;
    return least ? (double)same / (double)least : 0;
}

/* Words of the sentence and of the source between the same equal words. */
struct replaced {
    const struct aligned_word *said, *source;
    size_t said_count, source_count;
    bool inside; /* equal words on both sides */
};

static bool align_has_content(const struct aligned_word *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!words[i].stop_word)
            return true;
    return false;
}

static struct claim align_text(const struct aligned_text *text, const struct aligned_word *words, size_t count)
{
    if (!count)
        return (struct claim){"", 0};
    return (struct claim){text->text.text + words[0].span.begin, words[count - 1].span.end - words[0].span.begin};
}

/* Words that only lead to a statement: "According to the documents". */
static bool align_leads(struct claim text)
{
    static const char *const words[] = {"ccording to", "資料", "文書", "文献", "検索結果",
                                        "回答",        "根据", "资料", "文件"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(text.text, text.length, words[i], strlen(words[i])))
            return true;
    return false;
}

/* A capitalised word, Katakana, a number, two Han characters. */
static bool align_has_name(const struct aligned_word *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i].name || (i && words[i].script == SCRIPT_HAN && words[i - 1].script == SCRIPT_HAN))
            return true;
    return false;
}

/* The same number in another form, 1500 and 1,500. */
static bool align_same_figures(const struct alignment *align, const struct replaced *part)
{
    struct claim mine = align_text(&align->said, part->said, part->said_count);
    struct claim theirs = align_text(&align->source, part->source, part->source_count), none = {"", 0};
    bool digits = part->said[0].script == SCRIPT_DIGIT || part->said[part->said_count - 1].script == SCRIPT_DIGIT;
    return digits && claims_numbers_stand(mine, theirs, none) && claims_numbers_stand(theirs, mine, none);
}

static bool align_stands_in(struct claim text, const struct replaced *part)
{
    struct aligned_text words;
    aligned_read(text, &words);
    return aligned_stand(&words, part->said, part->said_count);
}

static bool align_is_other(const struct alignment *align, const struct replaced *part)
{
    bool name = align_has_name(part->said, part->said_count);
    if (!align_has_content(part->said, part->said_count))
        return false;
    if (!align_has_content(part->source, part->source_count)) { /* put in, or for a pronoun */
        bool first = part->said == align->said.words, subject = part->source_count || first;
        if (first && !part->source_count && align_leads(align_text(&align->said, part->said, part->said_count)))
            return false;
        return name && !align_stands_in(align->heading, part) && !(subject && align_stands_in(align->known, part));
    }
    return (name || part->inside) && !align_same_figures(align, part);
}

static struct replaced align_next(const struct alignment *align, size_t *at)
{
    size_t from = *at, count = align->said.count;
    while (from < count && align->matches[from] != UNMATCHED)
        from++;
    size_t to = from;
    while (to < count && align->matches[to] == UNMATCHED)
        to++;
    size_t begin = from ? (size_t)align->matches[from - 1] + 1 : 0;
    size_t end = to < count ? (size_t)align->matches[to] : align->source.count;
    *at = to;
    return (struct replaced){.said = align->said.words + from,
                             .said_count = to - from,
                             .source = align->source.words + begin,
                             .source_count = end - begin,
                             .inside = (from || end - begin <= to - from + BESIDE_MOST) &&
                                       (to < count || end - begin <= to - from + BESIDE_MOST)};
}

enum aligned_result aligned_compare(struct claim sentence, struct claim source, struct claim known,
                                    struct claim heading, struct span *word)
{
    struct alignment text;
    aligned_read(sentence, &text.said);
    aligned_read(source, &text.source);
    text.known = known;
    text.heading = heading;
    if (!align(&text))
        return ALIGNED_APART;
    align_without_chance(&text);
    if (align_share(&text) < NEAR_SHARE)
        return ALIGNED_APART;
    for (size_t at = 0; at < text.said.count;) {
        struct replaced part = align_next(&text, &at);
        if (part.said_count && align_is_other(&text, &part)) {
            *word = (struct span){part.said[0].span.begin, part.said[part.said_count - 1].span.end};
            return ALIGNED_OTHER;
        }
    }
    return ALIGNED_SAME;
}
