#include "tools/page_charset.h"

#include "documents/ascii_space.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define GUESS_BYTES ((size_t)256 << 10) /* bytes that are looked at for a guess */

struct charset_span {
    const char *at;
    size_t length;
};

static bool charset_span_is(struct charset_span span, const char *word)
{
    return span.length == strlen(word) && strncasecmp(span.at, word, span.length) == 0;
}

static bool charset_begins(const char *at, const char *end, const char *word)
{
    size_t size = strlen(word);
    return (size_t)(end - at) >= size && strncasecmp(at, word, size) == 0;
}

/* ---- the declaration --------------------------------------------------------------------------------------------- */

/* The next attribute of a tag; moves `at` behind it. False at the end of the tag. */
static bool charset_next_attribute(const char **at, const char *end, struct charset_span *name,
                                   struct charset_span *value)
{
    const char *c = *at;
    while (c < end && (ascii_is_space(*c) || *c == '/'))
        c++;
    *name = *value = (struct charset_span){c, 0};
    if (c == end || *c == '>')
        return false;
    while (c < end && !ascii_is_space(*c) && *c != '=' && *c != '>' && *c != '/')
        c++;
    name->length = (size_t)(c - name->at);
    while (c < end && ascii_is_space(*c))
        c++;
    if (c < end && *c == '=') {
        for (c++; c < end && ascii_is_space(*c);)
            c++;
        char quote = c < end && (*c == '"' || *c == '\'') ? *c++ : '\0';
        value->at = c;
        while (c < end && (quote ? *c != quote : !ascii_is_space(*c) && *c != '>'))
            c++;
        value->length = (size_t)(c - value->at);
        c += quote && c < end;
    } else if (!name->length) {
        c++; /* a stray '=' */
    }
    *at = c;
    return true;
}

/* The label in "text/html; charset=LABEL". */
static struct charset_span charset_of(struct charset_span content)
{
    const char *end = content.at + content.length;
    for (const char *at = content.at; at < end; at++) {
        if (!charset_begins(at, end, "charset"))
            continue;
        const char *c = at + strlen("charset");
        while (c < end && ascii_is_space(*c))
            c++;
        if (c == end || *c != '=')
            continue;
        for (c++; c < end && ascii_is_space(*c);)
            c++;
        char quote = c < end && (*c == '"' || *c == '\'') ? *c++ : '\0';
        const char *to = c;
        while (to < end && (quote ? *to != quote : !ascii_is_space(*to) && *to != ';'))
            to++;
        return (struct charset_span){c, quote && to == end ? 0 : (size_t)(to - c)};
    }
    return (struct charset_span){"", 0};
}

/* A meta element with its name's end at *at; moves behind it. */
static struct charset_span charset_of_meta(const char **at, const char *end)
{
    struct charset_span name, value, charset = {"", 0}, content = {"", 0};
    bool is_pragma = false;
    while (charset_next_attribute(at, end, &name, &value)) {
        if (charset_span_is(name, "charset") && !charset.length)
            charset = value;
        else if (charset_span_is(name, "content") && !content.length)
            content = charset_of(value);
        else if (charset_span_is(name, "http-equiv"))
            is_pragma = is_pragma || charset_span_is(value, "content-type");
    }
    return charset.length ? charset : is_pragma ? content : (struct charset_span){"", 0};
}

static const char *charset_behind(const char *at, const char *end, const char *mark)
{
    const char *found = memmem(at, (size_t)(end - at), mark, strlen(mark));
    return found ? found + strlen(mark) : end;
}

static struct charset_span charset_prescan(const char *at, const char *end)
{
    struct charset_span charset = {"", 0}, name, value;
    while (at < end && !charset.length) {
        if (charset_begins(at, end, "<!--")) {
            at = charset_behind(at + 2, end, "-->");
        } else if (charset_begins(at, end, "<meta") && end - at > 5 && (ascii_is_space(at[5]) || at[5] == '/')) {
            at += 5;
            charset = charset_of_meta(&at, end);
        } else if (end - at > 1 && *at == '<' && (at[1] == '!' || at[1] == '?')) {
            at = charset_behind(at, end, ">");
        } else if (*at == '<') {
            for (at++; at < end && !ascii_is_space(*at) && *at != '>' && *at != '<';)
                at++;
            while (at < end && *at != '<' && charset_next_attribute(&at, end, &name, &value))
                continue;
        } else {
            at++;
        }
    }
    return charset;
}

/* <?xml version="1.0" encoding="LABEL"?> */
static struct charset_span charset_of_xml(const char *bytes, const char *end)
{
    struct charset_span name, value;
    if (!charset_begins(bytes, end, "<?xml") || end - bytes < 6 || !ascii_is_space(bytes[5]))
        return (struct charset_span){"", 0};
    const char *at = bytes + 5, *to = charset_behind(bytes, end, "?>");
    while (charset_next_attribute(&at, to, &name, &value))
        if (charset_span_is(name, "encoding"))
            return value;
    return (struct charset_span){"", 0};
}

static struct charset_span charset_span_trim(struct charset_span span)
{
    while (span.length && ascii_is_space(span.at[span.length - 1]))
        span.length--;
    for (; span.length && ascii_is_space(*span.at); span.length--)
        span.at++;
    return span;
}

bool page_charset_declared(const char *bytes, size_t size, char *label, size_t room)
{
    const char *end = bytes + (size < PAGE_PRESCAN_MAX ? size : PAGE_PRESCAN_MAX);
    struct charset_span found = charset_of_xml(bytes, end);
    found = charset_span_trim(found.length ? found : charset_prescan(bytes, end));
    if (!found.length || found.length >= room || memchr(found.at, '\0', found.length))
        return false;
    if (found.length >= 6 && strncasecmp(found.at, "utf-16", 6) == 0)
        found = (struct charset_span){"utf-8", 5};
    else if (charset_span_is(found, "x-user-defined"))
        found = (struct charset_span){"windows-1252", 12};
    memcpy(label, found.at, found.length);
    label[found.length] = '\0';
    return true;
}

/* ---- the guess --------------------------------------------------------------------------------------------------- */

/* The fit of the bytes to an encoding: characters that are usual in it, and bytes that are invalid in it. */
struct fit {
    size_t usual, wrong;
};

static bool charset_is_in(unsigned char c, unsigned char from, unsigned char to)
{
    return c >= from && c <= to;
}

/* Rows 4 and 5 are kana, 16 to 47 the usual kanji. */
static struct fit charset_fit_euc_jp(const unsigned char *at, const unsigned char *end)
{
    struct fit fit = {0};
    while (at < end) {
        if (*at < 0x80) {
            at++;
        } else if (end - at > 1 && (charset_is_in(*at, 0xa1, 0xfe) || *at == 0x8e) &&
                   charset_is_in(at[1], 0xa1, 0xfe)) {
            fit.usual += *at == 0xa4 || *at == 0xa5 || *at == 0xa1 ? 2 : charset_is_in(*at, 0xb0, 0xcf);
            at += 2;
        } else {
            fit.wrong++;
            at++;
        }
    }
    return fit;
}

static struct fit charset_fit_shift_jis(const unsigned char *at, const unsigned char *end)
{
    struct fit fit = {0};
    while (at < end) {
        bool leads = charset_is_in(*at, 0x81, 0x9f) || charset_is_in(*at, 0xe0, 0xfc);
        if (*at < 0x80 || charset_is_in(*at, 0xa1, 0xdf)) { /* the latter are narrow katakana: rare in pages */
            at++;
        } else if (leads && end - at > 1 && charset_is_in(at[1], 0x40, 0xfc) && at[1] != 0x7f) {
            fit.usual += *at == 0x82 || *at == 0x83 || *at == 0x81 ? 2 : charset_is_in(*at, 0x88, 0x97);
            at += 2;
        } else {
            fit.wrong++;
            at++;
        }
    }
    return fit;
}

/* Cyrillic letters stand side by side; the accented letters of Latin text stand alone between ASCII ones. */
static bool charset_is_cyrillic(const unsigned char *at, const unsigned char *end)
{
    size_t high = 0, pairs = 0;
    for (; at < end; at++) {
        high += *at >= 0xc0;
        pairs += *at >= 0xc0 && at + 1 < end && at[1] >= 0xc0;
    }
    return high >= 4 && pairs * 2 > high;
}

const char *page_charset_guess(const char *bytes, size_t size)
{
    size = size < GUESS_BYTES ? size : GUESS_BYTES;
    const unsigned char *at = (const unsigned char *)bytes, *end = at + size;
    if (memmem(bytes, size, "\x1b$B", 3) || memmem(bytes, size, "\x1b$@", 3))
        return "iso-2022-jp";
    struct fit euc = charset_fit_euc_jp(at, end), sjis = charset_fit_shift_jis(at, end);
    size_t high = 0;
    for (const unsigned char *c = at; c < end; c++)
        high += *c >= 0x80;
    /* A cut character at the end is no error that counts; a page has a few others. */
    bool is_euc = euc.wrong * 50 <= high + 50 && euc.usual * 3 >= high;
    bool is_sjis = sjis.wrong * 50 <= high + 50 && sjis.usual * 3 >= high;
    if (is_euc && (!is_sjis || euc.usual >= sjis.usual))
        return "euc-jp";
    if (is_sjis)
        return "shift_jis";
    return charset_is_cyrillic(at, end) ? "windows-1251" : "windows-1252";
}
