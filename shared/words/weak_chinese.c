/* Chinese function words. Characters are in their common form (variants_han.c): 誰 for 谁, 個 for 个. */
#include "words/weak.h"

#include <string.h>

#include "words/fold.h"

#define LOOKED_AT 384 /* bytes of a text that are enough to tell Chinese from Japanese */

bool words_is_chinese(const char *text, size_t length)
{
    bool han = false;
    length = length < LOOKED_AT ? length : LOOKED_AT;
    for (size_t i = 0; i + 2 < length; i++) {
        unsigned char lead = (unsigned char)text[i], next = (unsigned char)text[i + 1];
        if (lead == 0xE3 && next >= 0x81 && next <= 0x83) /* kana */
            return false;
        han |= lead >= 0xE4 && lead <= 0xE9;
    }
    return han;
}

static bool holds(const char *characters, uint32_t code)
{
    char bytes[5] = {0};
    return code >= 0x800 && utf8_write(bytes, code) == 3 && strstr(characters, bytes) != NULL;
}

bool weak_chinese_pair(uint32_t first, uint32_t second)
{
    static const char always[] = "的了吗呢吧么什哪誰这們您你我它啊嗎麼這那很";
    static const char around[] =
        "是在和与與被把也都就而及或其之为為于於对対从従由向让譲给給将还還又再最多少几幾個種些怎何如有没所以因此";
    if (holds(always, first) || holds(always, second))
        return true;
    return holds(around, first) && holds(around, second);
}
