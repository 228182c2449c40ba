/* Chinese function words. Characters are in their common form (variants_han.c): 誰 for 谁, 個 for 个. */
#include "words/stop_words.h"

#include <pthread.h>
#include <string.h>

#include "words/languages_priv.h"
#include "words/variants_rows.h"

#define LOOKED_AT 384 /* bytes of a text that are enough to tell Chinese from Japanese */

/* A pair with one of these is a stop word, and so is a pair of two of those. */
static const char always_text[] =
    "的 了 吗 呢 吧 么 什 哪 誰 这 們 您 你 我 它 啊 嗎 麼 這 那 很 是 在 和 与 與 被 把 也 "
    "都 就 而 及 其 或 為 为 於 于";
static const char around_text[] =
    "之 対 从 従 由 向 让 譲 给 給 将 還 还 又 再 最 多 少 几 幾 個 種 些 怎 何 如 有 没 所 "
    "以 因 此";

static struct variant_rows always, around;
static uint64_t chinese[65536 / 64]; /* a bit for each character of Chinese alone */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void stop_words_chinese_read_rows(void)
{
    for (size_t at = 0, end, length = strlen(languages_chinese); at < length; at = end) {
        uint32_t code = utf8_read(languages_chinese, length, at, &end);
        chinese[code / 64] |= UINT64_C(1) << code % 64;
    }
    variant_rows_read(&always, always_text);
    variant_rows_read(&around, around_text);
}

bool stop_chinese_pair(uint32_t first, uint32_t second)
{
    pthread_once(&once, stop_words_chinese_read_rows);
    return variant_rows_begin(&always, first) || variant_rows_begin(&always, second) ||
           (variant_rows_begin(&around, first) && variant_rows_begin(&around, second));
}

bool words_is_chinese(const char *text, size_t length)
{
    bool found = false;
    pthread_once(&once, stop_words_chinese_read_rows);
    length = length < LOOKED_AT ? length : LOOKED_AT;
    for (size_t at = 0, end; at < length; at = end) {
        end = at + 1;
        if ((unsigned char)text[at] < 0xE3)
            continue;
        uint32_t code = utf8_read(text, length, at, &end);
        enum script script = script_of(code);
        if (script == SCRIPT_HIRAGANA || script == SCRIPT_KATAKANA)
            return false;
        found |= code <= UINT16_MAX && (chinese[code / 64] >> code % 64 & 1) != 0;
    }
    return found;
}
