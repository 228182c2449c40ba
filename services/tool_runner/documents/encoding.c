#include "documents/encoding.h"

#include "base/text.h"

#include <iconv.h>
#include <string.h>

#define SNIFF_MAX   8192 /* bytes that are looked at for a NUL */
#define OUTPUT_STEP 65536

/* Appends what `name` makes of the bytes; false where they are not of that encoding. */
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

/* Kana are three bytes in UTF-8, U+3041 to U+30FF. What was read by the wrong table has hardly any. */
static size_t count_kana(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i + 2 < length; i++) {
        unsigned char a = (unsigned char)text[i], b = (unsigned char)text[i + 1];
        count += a == 0xe3 && b >= 0x81 && b <= 0x83;
    }
    return count;
}

/* Both tables may fit the same bytes: the one that gives more kana is right. */
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
