#include "documents/encoding.h"

#include "base/text.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>
#include <strings.h>

#define SNIFF_MAX   8192 /* bytes that are looked at for a NUL */
#define OUTPUT_STEP 65536

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

bool encoding_read(const char *bytes, size_t size, struct buffer *room, const char **text, size_t *length,
                   struct status *st)
{
    size_t mark = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    const char *utf16 = mark_of_utf16(bytes, size);
    *text = bytes + mark;
    *length = size - mark;
    size_t clean = text_clean_length(*text, *length);
    if (clean == *length)
        return true;
    buffer_clear(room);
    bool binary = !utf16 && memchr(bytes, '\0', size < SNIFF_MAX ? size : SNIFF_MAX);
    if (binary)
        return fail(st, INVALID_ARGUMENT, "is binary: it has a byte 0");
    if (!(utf16 ? convert(utf16, bytes + 2, size - 2, room) : convert_japanese(bytes, size, room)))
        return fail(st, INVALID_ARGUMENT,
                    "is no text in UTF-8 (byte %zu is wrong), UTF-16, Shift_JIS or EUC-JP; save it as UTF-8",
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

static void put_replacement(struct buffer *out)
{
    buffer_append(out, "\xef\xbf\xbd", 3);
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
        put_replacement(room);
        from++;
        size--;
    }
    iconv_close(converter);
    wash(room);
    return true;
}
