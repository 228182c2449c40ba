/* Pairs of words that exclude each other: 午前 and 午後, "before" and "after". If the sentence has a word of a pair and
 * its quote has only the other, their meanings differ, although nearly all words of the sentence are in the quote. */
#include "words/claims_priv.h"

#include <string.h>
#include <strings.h>

#define SIDES    2
#define FORMS    5
#define WORD_MAX 24

/* English words match as whole words, Japanese ones at any position. */
static const struct opposites {
    const char *sides[SIDES][FORMS];
} rows[] = {
    {{{"before", "until"}, {"after", "since"}}},
    {{{"more", "over", "above", "exceeding", "exceeds"}, {"less", "fewer", "below", "under"}}},
    {{{"minimum", "least"}, {"maximum", "most"}}},
    {{{"increase", "increases", "increased", "increasing"}, {"decrease", "decreases", "decreased", "decreasing"}}},
    {{{"am"}, {"pm"}}},
    {{{"always"}, {"sometimes"}}},
    {{{"allowed", "permitted"}, {"forbidden", "prohibited", "disallowed"}}},
    {{{"enabled", "enables", "enable", "enabling"}, {"disabled", "disables", "disable", "disabling"}}},
    {{{"highest", "largest"}, {"lowest", "smallest"}}},
    {{{"higher", "larger", "longer"}, {"lower", "smaller", "shorter"}}},
    {{{"succeeds", "succeeded", "success"}, {"fails", "failed", "failure"}}},
    {{{"first"}, {"last"}}},
    {{{"required", "mandatory"}, {"optional"}}},
    {{{"rose", "rises", "risen", "grew", "gained"}, {"fell", "falls", "fallen", "shrank", "lost"}}},
    {{{"profit", "profits", "surplus"}, {"loss", "losses", "deficit"}}},
    {{{"午前"}, {"午後"}}},
    {{{"以上", "を超え", "超過"}, {"以下", "未満"}}},
    {{{"以前", "までに"}, {"以降", "以後"}}},
    {{{"最大", "最高", "最多"}, {"最小", "最低", "最少"}}},
    {{{"上限"}, {"下限"}}},
    {{{"増加", "増え", "上昇", "増や", "上が"}, {"減少", "減り", "低下", "減っ", "下が"}}},
    {{{"許可"}, {"禁止"}}},
    {{{"有効"}, {"無効"}}},
    {{{"成功"}, {"失敗"}}},
    {{{"有料"}, {"無料"}}},
    {{{"必須", "必要"}, {"任意", "不要"}}},
    {{{"合法"}, {"違法"}}},
    {{{"賛成"}, {"反対"}}},
    {{{"上回"}, {"下回"}}},
    {{{"黒字"}, {"赤字"}}},
};
#define ROWS (sizeof rows / sizeof *rows)

/* The sides of each row that occur in a text: a bit per side. */
struct opposites_found {
    unsigned char sides[ROWS];
};

static bool opposites_is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static void opposites_read_english(struct claim text, struct opposites_found *found)
{
    for (size_t at = 0, end; at < text.length; at = end + 1) {
        for (end = at; end < text.length && opposites_is_letter(text.text[end]);)
            end++;
        if (end > at && end - at < WORD_MAX) {
            const char *word = text.text + at;
            size_t length = end - at;
            for (size_t row = 0; row < ROWS; row++)
                for (int side = 0; side < SIDES; side++)
                    for (int form = 0; form < FORMS && rows[row].sides[side][form]; form++)
                        if (rows[row].sides[side][form][0] == (*word | 0x20) &&
                            strlen(rows[row].sides[side][form]) == length &&
                            strncasecmp(rows[row].sides[side][form], word, length) == 0)
                            found->sides[row] |= (unsigned char)(1 << side);
        }
    }
}

static void opposites_read_japanese(struct claim text, struct opposites_found *found)
{
    for (size_t row = 0; row < ROWS; row++)
        for (int side = 0; side < SIDES; side++)
            for (int form = 0; form < FORMS && rows[row].sides[side][form]; form++) {
                const char *word = rows[row].sides[side][form];
                if (!opposites_is_letter(*word) && memmem(text.text, text.length, word, strlen(word)))
                    found->sides[row] |= (unsigned char)(1 << side);
            }
}

static bool opposites_are_found(const struct opposites_found *found)
{
    for (size_t row = 0; row < ROWS; row++)
        if (found->sides[row])
            return true;
    return false;
}

bool claims_opposites_agree(struct claim sentence, struct claim quote)
{
    struct opposites_found said = {{0}}, quoted = {{0}};
    opposites_read_english(sentence, &said);
    opposites_read_japanese(sentence, &said);
    if (!opposites_are_found(&said))
        return true;
    opposites_read_english(quote, &quoted);
    opposites_read_japanese(quote, &quoted);
    for (size_t row = 0; row < ROWS; row++) {
        unsigned missing = said.sides[row] & ~(unsigned)quoted.sides[row];
        if (missing && quoted.sides[row])
            return false;
    }
    return true;
}
