#include "documents/encoding.h"

#include "base/text.h"

#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define SNIFF_MAX     8192 /* bytes that are looked at for a NUL */
#define OUTPUT_STEP   65536
#define UTF16_LEAST   4  /* characters */
#define USUAL_PERCENT 95 /* of the characters of UTF-16 that are letters, digits and marks of text */
#define ALONE_PERCENT 80 /* of the bytes beyond ASCII that stand alone in Latin text */

/* Appends the bytes in UTF-8, converted from the encoding `name`; false if they are not in that encoding. */
static bool convert(const char *name, const char *bytes, size_t size, struct buffer *out)
{
    iconv_t converter = iconv_open("UTF-8", name);
    if (converter == (iconv_t)-1)
        return false;
    char *from = (char *)(uintptr_t)bytes;
    bool converted = true;
    while (size && converted) {
        char *to = buffer_reserve(out, OUTPUT_STEP), *begin = to;
        size_t left = OUTPUT_STEP, before = size;
        if (!to)
            break;
        iconv(converter, &from, &size, &to, &left);
        out->length += (size_t)(to - begin);
        converted = size < before;
    }
    iconv_close(converter);
    return size == 0 && text_is_clean(out->data, out->length);
}

/* Kana are three bytes in UTF-8, U+3041 to U+30FF. Text that was read by the wrong table contains hardly any kana. */
static size_t count_kana(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i + 2 < length; i++) {
        unsigned char a = (unsigned char)text[i], b = (unsigned char)text[i + 1];
        count += a == 0xe3 && b >= 0x81 && b <= 0x83;
    }
    return count;
}

/* Both tables may fit the same bytes: the table that gives more kana is right. */
static bool convert_japanese(const char *bytes, size_t size, struct buffer *out)
{
    static const char *const names[] = {"EUC-JP", "CP932"};
    size_t kana[2] = {0}, best = 2;
    for (size_t i = 0; i < 2; i++) {
        buffer_clear(out);
        if (!convert(names[i], bytes, size, out))
            continue;
        kana[i] = count_kana(out->data, out->length);
        if (best == 2 || kana[i] > kana[best])
            best = i;
    }
    buffer_clear(out);
    return best < 2 && convert(names[best], bytes, size, out);
}

static const char *mark_of_utf16(const char *bytes, size_t size)
{
    if (size >= 2 && memcmp(bytes, "\xff\xfe", 2) == 0)
        return "UTF-16LE";
    return size >= 2 && memcmp(bytes, "\xfe\xff", 2) == 0 ? "UTF-16BE" : NULL;
}

static bool is_usual(uint32_t unit)
{
    bool ascii = (unit >= ' ' && unit < 0x7f) || unit == '\t' || unit == '\n' || unit == '\r';
    bool letter = (unit >= 0xa0 && unit < 0x530) || (unit >= 0x2010 && unit < 0x2040);
    bool wide = (unit >= 0x3000 && unit < 0x3100) || (unit >= 0x4e00 && unit < 0xa000) ||
                (unit >= 0xac00 && unit < 0xd7a4) || (unit >= 0xff00 && unit < 0xffef);
    return ascii || letter || wide;
}

/* UTF-16 without its mark has a NUL in each blank and line end. The right byte order gives usual characters and has
 * more ASCII than the other one. NULL: the bytes are not UTF-16. */
static const char *order_of_utf16(const char *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t pairs = (size < SNIFF_MAX ? size : SNIFF_MAX) / 2, usual[2] = {0}, ascii[2] = {0};
    for (size_t i = 0; i < 2 * pairs; i += 2) {
        for (size_t big = 0; big < 2; big++) {
            uint32_t unit = (uint32_t)at[i + !big] << 8 | at[i + big];
            usual[big] += is_usual(unit);
            ascii[big] += is_usual(unit) && unit < 0x80;
        }
    }
    bool big = ascii[1] > ascii[0];
    bool fits = size % 2 == 0 && pairs >= UTF16_LEAST && usual[big] * 100 >= pairs * USUAL_PERCENT && ascii[big] > 0;
    return fits ? (big ? "UTF-16BE" : "UTF-16LE") : NULL;
}

/* "café’s", "café”": a letter and a closing mark of Windows-1252 between ASCII characters, at `at` and behind it. Not
 * the reverse: “É is also 日 or 入 in Shift_JIS. */
static bool is_letter_and_mark(const unsigned char *at, size_t i, size_t size)
{
    static const unsigned char closing[] = {0x85, 0x92, 0x94, 0x96, 0x97};
    return at[i] >= 0xc0 && i + 1 < size && memchr(closing, at[i + 1], sizeof closing) &&
           (i == 0 || at[i - 1] < 0x80) && (i + 2 == size || at[i + 2] < 0x80);
}

/* Accented letters of Latin text stand alone between ASCII characters; bytes of Japanese stand side by side. */
static bool is_western(const char *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t high = 0, alone = 0;
    for (size_t i = 0; i < size; i++) {
        if (at[i] < ' ' && !strchr("\t\n\f\r", at[i]))
            return false;
        if (at[i] < 0x80)
            continue;
        if (is_letter_and_mark(at, i, size)) {
            high += 2;
            alone += 2;
            i++;
            continue;
        }
        bool beside = (i > 0 && at[i - 1] >= 0x80) || (i + 1 < size && at[i + 1] >= 0x80);
        high++;
        alone += !beside && (at[i] >= 0xc0 || at[i] == 0x80 || (at[i] >= 0x91 && at[i] <= 0x97) || at[i] >= 0xa0);
    }
    return high > 0 && alone * 100 >= high * ALONE_PERCENT && high * 3 <= size;
}

static bool is_iso_2022_jp(const char *bytes, size_t size)
{
    return memchr(bytes, '\x1b', size) && (memmem(bytes, size, "\x1b$B", 3) || memmem(bytes, size, "\x1b$@", 3)) &&
           !memchr(bytes, '\0', size);
}

/* Converts bytes that are not UTF-8. */
static bool convert_unmarked(const char *bytes, size_t size, struct buffer *out)
{
    if (memchr(bytes, '\0', size)) {
        const char *order = order_of_utf16(bytes, size);
        return order && convert(order, bytes, size, out);
    }
    return (is_western(bytes, size) && convert("CP1252", bytes, size, out)) || convert_japanese(bytes, size, out);
}

bool encoding_read(const char *bytes, size_t size, struct buffer *room, const char **text, size_t *length,
                   struct status *st)
{
    size_t mark = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    const char *utf16 = mark_of_utf16(bytes, size);
    bool escapes = size > 0 && is_iso_2022_jp(bytes, size);
    *text = bytes + mark;
    *length = size - mark;
    size_t clean = text_clean_length(*text, *length);
    if (clean == *length && !escapes)
        return true;
    buffer_clear(room);
    bool read = escapes ? encoding_read_named("iso-2022-jp", bytes, size, room)
                : utf16 ? convert(utf16, bytes + 2, size - 2, room)
                        : convert_unmarked(bytes, size, room);
    if (!read && !utf16 && memchr(bytes, '\0', size < SNIFF_MAX ? size : SNIFF_MAX))
        return fail(st, INVALID_ARGUMENT, "is binary: it has a byte 0");
    if (!read)
        return fail(st, INVALID_ARGUMENT,
                    "is no text in UTF-8 (byte %zu is wrong), UTF-16, Shift_JIS, EUC-JP, ISO-2022-JP or Windows-1252; "
                    "save it as UTF-8",
                    mark + clean);
    *text = room->data;
    *length = room->length;
    return true;
}

/* ---- encodings by name ------------------------------------------------------------------------------------------- */

/* Labels of the WHATWG's encoding standard, and their names in iconv. */
static const struct {
    const char *label, *name;
} names[] = {
    {"utf-8", "UTF-8"},
    {"utf8", "UTF-8"},
    {"shift_jis", "CP932"},
    {"shift-jis", "CP932"},
    {"sjis", "CP932"},
    {"x-sjis", "CP932"},
    {"windows-31j", "CP932"},
    {"ms_kanji", "CP932"},
    {"cp932", "CP932"},
    {"euc-jp", "EUC-JP"},
    {"x-euc-jp", "EUC-JP"},
    {"iso-2022-jp", "ISO-2022-JP"},
    {"us-ascii", "CP1252"},
    {"ascii", "CP1252"},
    {"iso-8859-1", "CP1252"},
    {"latin1", "CP1252"},
    {"windows-1252", "CP1252"},
    {"iso-8859-15", "ISO-8859-15"},
    {"iso-8859-2", "ISO-8859-2"},
    {"windows-1251", "CP1251"},
    {"koi8-r", "KOI8-R"},
    {"gb2312", "GB18030"},
    {"gbk", "GB18030"},
    {"gb18030", "GB18030"},
    {"big5", "BIG5"},
    {"euc-kr", "CP949"},
    {"ks_c_5601-1987", "CP949"},
    {"unicode-1-1-utf-8", "UTF-8"},
    {"csshiftjis", "CP932"},
    {"cseucpkdfmtjapanese", "EUC-JP"},
    {"csiso2022jp", "ISO-2022-JP"},
    {"latin-1", "CP1252"},
    {"iso8859-1", "CP1252"},
    {"iso_8859-1", "CP1252"},
    {"cp1252", "CP1252"},
    {"x-cp1252", "CP1252"},
    {"iso8859-15", "ISO-8859-15"},
    {"latin2", "ISO-8859-2"},
    {"iso-8859-3", "ISO-8859-3"},
    {"iso-8859-4", "ISO-8859-4"},
    {"iso-8859-5", "ISO-8859-5"},
    {"iso-8859-6", "ISO-8859-6"},
    {"iso-8859-7", "ISO-8859-7"},
    {"iso-8859-8", "ISO-8859-8"},
    {"iso-8859-9", "CP1254"},
    {"iso-8859-10", "ISO-8859-10"},
    {"iso-8859-11", "CP874"},
    {"iso-8859-13", "ISO-8859-13"},
    {"iso-8859-14", "ISO-8859-14"},
    {"iso-8859-16", "ISO-8859-16"},
    {"tis-620", "CP874"},
    {"windows-874", "CP874"},
    {"windows-1250", "CP1250"},
    {"cp1250", "CP1250"},
    {"cp1251", "CP1251"},
    {"windows-1253", "CP1253"},
    {"windows-1254", "CP1254"},
    {"windows-1255", "CP1255"},
    {"windows-1256", "CP1256"},
    {"windows-1257", "CP1257"},
    {"windows-1258", "CP1258"},
    {"koi8-u", "KOI8-U"},
    {"koi", "KOI8-R"},
    {"ibm866", "CP866"},
    {"cp866", "CP866"},
    {"macintosh", "MACINTOSH"},
    {"x-mac-roman", "MACINTOSH"},
    {"x-mac-cyrillic", "MAC-CYRILLIC"},
    {"x-gbk", "GB18030"},
    {"gb_2312-80", "GB18030"},
    {"big5-hkscs", "BIG5-HKSCS"},
    {"x-x-big5", "BIG5"},
    {"korean", "CP949"},
    {"windows-949", "CP949"},
    {"utf-16", "UTF-16LE"},
    {"utf-16le", "UTF-16LE"},
    {"utf-16be", "UTF-16BE"},
};

static iconv_t open_named(const char *label)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(label, names[i].label) == 0)
            return iconv_open("UTF-8", names[i].name);
    return (iconv_t)-1;
}

/* Replaces characters that iconv accepts and clean text may not contain: NUL above all. */
static void wash(struct buffer *out)
{
    size_t at = 0;
    while ((at += text_clean_length(out->data + at, out->length - at)) < out->length)
        out->data[at++] = ' ';
}

bool encoding_read_named(const char *name, const char *bytes, size_t size, struct buffer *room)
{
    iconv_t converter = open_named(name);
    if (converter == (iconv_t)-1)
        return false;
    char *from = (char *)(uintptr_t)bytes;
    buffer_clear(room);
    while (size) {
        char *to = buffer_reserve(room, OUTPUT_STEP), *begin = to;
        size_t left = OUTPUT_STEP;
        if (!to)
            break;
        bool stuck = iconv(converter, &from, &size, &to, &left) == (size_t)-1 && errno != E2BIG;
        room->length += (size_t)(to - begin);
        if (!stuck)
            continue;
        buffer_append(room, "\xef\xbf\xbd", 3);
        from++;
        size--;
    }
    iconv_close(converter);
    wash(room);
    return true;
}
