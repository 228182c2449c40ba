#include "words/fold.h"

#include <assert.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>

#include "base/text.h"

#define FULL_WIDTH_TO_ASCII 0xFEE0

uint32_t utf8_read(const char *text, size_t length, size_t at, size_t *end)
{
    const unsigned char *c = (const unsigned char *)text + at;
    size_t size = text_character(text + at, length - at);
    *end = at + (size == 0 ? 1 : size);
    switch (size) {
    case 1:
        return c[0];
    case 2:
        return (c[0] & 0x1FU) << 6 | (c[1] & 0x3FU);
    case 3:
        return (c[0] & 0x0FU) << 12 | (c[1] & 0x3FU) << 6 | (c[2] & 0x3FU);
    case 4:
        return (c[0] & 0x07U) << 18 | (c[1] & 0x3FU) << 12 | (c[2] & 0x3FU) << 6 | (c[3] & 0x3FU);
    default:
        return FOLD_BROKEN;
    }
}

size_t utf8_write(char *text, uint32_t code)
{
    if (code < 0x80) {
        text[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        text[0] = (char)(0xC0 | code >> 6);
        text[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        text[0] = (char)(0xE0 | code >> 12);
        text[1] = (char)(0x80 | (code >> 6 & 0x3F));
        text[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    text[0] = (char)(0xF0 | code >> 18);
    text[1] = (char)(0x80 | (code >> 12 & 0x3F));
    text[2] = (char)(0x80 | (code >> 6 & 0x3F));
    text[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

static const UNormalizer2 *normalizer(void)
{
    UErrorCode error = U_ZERO_ERROR;
    const UNormalizer2 *found = unorm2_getNFKCCasefoldInstance(&error);
    return U_SUCCESS(error) ? found : NULL;
}

/* Whether the character at text[at] is not composed with the character before it. ICU is asked only if the first bytes
 * do not decide this. */
static bool starts_anew(const char *text, size_t length, size_t at)
{
    if (at >= length)
        return true;
    unsigned char lead = (unsigned char)text[at];
    if (lead < 0xCC || (lead >= 0xE4 && lead <= 0xE9))
        return true;
    if (lead == 0xE3) { /* except the voicing marks, U+3099 and U+309A */
        const unsigned char *c = (const unsigned char *)text + at;
        return length - at < 3 || c[1] != 0x82 || (c[2] != 0x99 && c[2] != 0x9A);
    }
    size_t end;
    uint32_t code = utf8_read(text, length, at, &end);
    const UNormalizer2 *nfkc = normalizer();
    return nfkc == NULL || unorm2_hasBoundaryBefore(nfkc, (UChar32)code);
}

/* Maps the variants of apostrophes, quotation marks and hyphens to a single character each. */
static uint32_t plain(uint32_t code)
{
    switch (code) {
    case 0x2018:
    case 0x2019:
    case 0x02BC:
        return '\'';
    case 0x201C:
    case 0x201D:
        return '"';
    case 0x2010:
    case 0x2011:
    case 0x2012:
    case 0x2013:
    case 0x2212:
        return '-';
    default:
        return code;
    }
}

/* The normal form of a character without combining marks, or 0 if ICU has to be asked. */
static uint32_t short_way(uint32_t code)
{
    if (code >= 0xFF01 && code <= 0xFF5E)
        code -= FULL_WIDTH_TO_ASCII;
    if (code >= 'A' && code <= 'Z')
        return code + ('a' - 'A');
    if (code < 0x80)
        return code;
    bool kana = (code >= 0x3041 && code <= 0x3096) || (code >= 0x30A1 && code <= 0x30FE);
    bool marks = code >= 0x3001 && code <= 0x3029;
    return kana || marks || (code >= 0x4E00 && code <= 0x9FFF) ? code : 0;
}

static void compose(struct fold *fold, const UChar *segment, int32_t units)
{
    UChar composed[FOLD_GIVEN_MAX];
    UErrorCode error = U_ZERO_ERROR;
    const UNormalizer2 *nfkc = normalizer();
    int32_t made = 0;
    if (nfkc != NULL)
        made = unorm2_normalize(nfkc, segment, units, composed, FOLD_GIVEN_MAX, &error);
    if (nfkc == NULL || U_FAILURE(error)) {
        made = units;
        for (int32_t i = 0; i < units; i++)
            composed[i] = segment[i];
    }
    for (int32_t i = 0; i < made;) {
        UChar32 code;
        U16_NEXT(composed, i, made, code);
        fold->codes[fold->given++] = plain((uint32_t)code);
    }
}

static void read_segment(struct fold *fold)
{
    UChar segment[FOLD_SEGMENT_MAX * 2];
    int32_t units = 0;
    size_t end = fold->at;
    for (unsigned i = 0; i < FOLD_SEGMENT_MAX; i++) {
        uint32_t code = utf8_read(fold->text, fold->length, end, &end);
        U16_APPEND_UNSAFE(segment, units, code);
        if (starts_anew(fold->text, fold->length, end))
            break;
    }
    fold->begin = fold->at;
    fold->at = fold->end = end;
    fold->given = fold->next = 0;
    compose(fold, segment, units);
}

void fold_begin(struct fold *fold, const char *text, size_t length)
{
    fold->text = text;
    fold->length = length;
    fold->at = fold->begin = fold->end = 0;
    fold->given = fold->next = 0;
}

/* Fast path: an ASCII character followed by ASCII, the most frequent case. */
static bool take_ascii(struct fold *fold, struct folded *folded)
{
    const char *at = fold->text + fold->at;
    unsigned char c = (unsigned char)at[0];
    if (c >= 0x80 || c == 0 || fold->at + 1 == fold->length || (unsigned char)at[1] >= 0x80)
        return false;
    c = c >= 'A' && c <= 'Z' ? (unsigned char)(c + ('a' - 'A')) : c;
    *folded = (struct folded){.code = c, .begin = fold->at, .end = fold->at + 1};
    fold->at++;
    return true;
}

bool fold_next(struct fold *fold, struct folded *folded)
{
    while (fold->next == fold->given) {
        if (fold->at >= fold->length)
            return false;
        if (take_ascii(fold, folded))
            return true;
        size_t end;
        uint32_t code = short_way(utf8_read(fold->text, fold->length, fold->at, &end));
        if (code != 0 && starts_anew(fold->text, fold->length, end)) {
            *folded = (struct folded){.code = code, .begin = fold->at, .end = end};
            fold->at = end;
            return true;
        }
        read_segment(fold);
    }
    *folded = (struct folded){.code = fold->codes[fold->next++], .begin = fold->begin, .end = fold->end};
    return true;
}

static enum script script_of_ascii(uint32_t code)
{
    if (code >= '0' && code <= '9')
        return SCRIPT_DIGIT;
    if (code >= 'a' && code <= 'z')
        return SCRIPT_LETTER;
    return code == ' ' || (code >= '\t' && code <= '\r') ? SCRIPT_SPACE : SCRIPT_NONE;
}

enum script script_of(uint32_t code)
{
    if (code < 0x80)
        return script_of_ascii(code);
    if (code >= 0x3041 && code <= 0x309F)
        return SCRIPT_HIRAGANA;
    if (code >= 0x30A1 && code <= 0x30FF)
        return code == 0x30FB ? SCRIPT_NONE : SCRIPT_KATAKANA; /* the middle dot separates words */
    if ((code >= 0x3400 && code <= 0x9FFF) || (code >= 0xF900 && code <= 0xFAFF) ||
        (code >= 0x20000 && code <= 0x323AF) || (code >= 0x3005 && code <= 0x3007))
        return SCRIPT_HAN;
    if (code >= 0x3000 && code <= 0x303F)
        return SCRIPT_NONE;
    int8_t type = u_charType((UChar32)code);
    if (type == U_DECIMAL_DIGIT_NUMBER)
        return SCRIPT_DIGIT;
    if (u_isUWhiteSpace((UChar32)code))
        return SCRIPT_SPACE;
    bool letter = (U_MASK(type) & (U_GC_L_MASK | U_GC_M_MASK)) != 0;
    return letter ? SCRIPT_LETTER : SCRIPT_NONE;
}
