#include "words/variants.h"

#include <string.h>

#define REPEAT      0x3005 /* 々 */
#define SMALL_KE    0x30F6 /* ヶ */
#define LARGE_KE    0x30B1 /* ケ */
#define HIRAGANA_GA 0x304C /* が */

bool variants_one_of(uint32_t code, const char *characters)
{
    size_t length = strlen(characters);
    for (size_t at = 0, end; at < length; at = end) {
        if (utf8_read(characters, length, at, &end) == code)
            return true;
    }
    return false;
}

static bool is_han_at(const struct run_character *run, unsigned length, unsigned at)
{
    return at < length && run[at].script == SCRIPT_HAN;
}

static bool counts_as_ke(uint32_t code)
{
    switch (code) {
    case SMALL_KE:
    case LARGE_KE:
    case 0x30F5: /* ヵ */
    case 0x30AB: /* カ */
    case 0x304B: /* か */
    case 0x7B87: /* 箇 */
    case 0x500B: /* 個 */
        return true;
    default:
        return false;
    }
}

/* ヶ of 3ヶ月 as it is also written: 3か月, 三ケ月, 数カ所, 2箇所. The digits before it are not part of the run. */
static bool variants_is_counter(const struct run_character *run, unsigned length, unsigned at)
{
    if (!counts_as_ke(run[at].code) || !is_han_at(run, length, at + 1) ||
        !variants_one_of(run[at + 1].code, "月所国年条村寸店校院"))
        return false;
    return at == 0 || variants_one_of(run[at - 1].code, "一二三四五六七八九十百千数何各幾");
}

/* ヶ of 関ヶ原, which is also written 関ケ原 and 関が原. が is not changed before longer words, as in 故障が原因. */
static bool is_place(const struct run_character *run, unsigned length, unsigned at)
{
    if (at == 0 || run[at - 1].script != SCRIPT_HAN || !is_han_at(run, length, at + 1))
        return false;
    if (run[at].code == SMALL_KE || run[at].code == LARGE_KE)
        return true;
    if (run[at].code != HIRAGANA_GA || !variants_one_of(run[at + 1].code, "丘原崎谷岳峰浜島関"))
        return false;
    return !is_han_at(run, length, at + 2) || variants_one_of(run[at + 2].code, "駅町市村区線城橋川台");
}

static void fold_small_ke(struct run_character *run, unsigned length)
{
    for (unsigned i = 0; i < length; i++) {
        if (!variants_is_counter(run, length, i) && !is_place(run, length, i))
            continue;
        run[i].code = SMALL_KE;
        run[i].script = SCRIPT_KATAKANA;
    }
}

unsigned variants_fold(struct run_character *run, unsigned length)
{
    const uint16_t *table = variants_of_han();
    bool han = false, hiragana = false, katakana = false, hangul = false;
    for (unsigned i = 0; i < length; i++) {
        han |= run[i].script == SCRIPT_HAN;
        katakana |= run[i].script == SCRIPT_KATAKANA;
        hiragana |= run[i].script == SCRIPT_HIRAGANA;
        hangul |= run[i].script == SCRIPT_HANGUL;
        if (run[i].code == REPEAT && i > 0 && run[i - 1].script == SCRIPT_HAN)
            run[i].code = run[i - 1].code;
        else if (run[i].script == SCRIPT_HAN)
            run[i].code = variant_of_han(table, run[i].code);
    }
    if (han)
        fold_small_ke(run, length);
    if (katakana)
        length = variants_kana(run, length);
    if (han || hiragana)
        length = variants_words(run, length);
    if (han && hiragana)
        length = variants_okurigana(run, length);
    return hangul ? variants_hangul(run, length) : length;
}
