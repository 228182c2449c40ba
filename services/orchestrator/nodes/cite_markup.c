/* Removes from a model's text the HTML that a reader of Markdown would interpret, characters that show nothing, and
 * marks of sources in other forms than "[1]": 【1†source】, ¹, <sup>1</sup>, "(Source: …)". Tags that only shape text
 * are taken out; other text in angle brackets is shown as it stands. Code stays. */
#include "cite_markup.h"

#include "base/buffer.h"
#include "words/fold.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define MARKUP_MAX    ((size_t)3 << 20) /* bytes; each "<" may get a backslash */
#define TAG_MAX       ((size_t)1024)    /* bytes of a tag; a longer tag is text */
#define NAME_MAX      16                /* bytes of a tag's name */
#define REMARK_MAX    ((size_t)400)     /* bytes in brackets that tell a source */
#define ENTITY_MAX    10                /* bytes of "&#x10FFFF;" */
#define WORDS_OF(set) (sizeof(set) / sizeof *(set))

struct markup {
    struct buffer out;
    const char *text;
    size_t length;
    size_t no_bracket, no_comment; /* before here no 】 and no "-->" comes any more */
};

static bool markup_begins(const struct markup *markup, size_t at, const char *word)
{
    size_t length = strlen(word);
    return markup->length - at >= length && strncasecmp(markup->text + at, word, length) == 0;
}

/* ---- tags -------------------------------------------------------------------------------------------------------- */

static const char *const shaping[] = {
    "a",     "abbr", "b",      "blockquote", "br",      "center",  "cite", "code", "div", "em", "font", "h1",
    "h2",    "h3",   "h4",     "hr",         "i",       "img",     "li",   "mark", "ol",  "p",  "s",    "section",
    "small", "span", "strong", "sub",        "summary", "details", "sup",  "u",    "ul",  "q",  "del",  "ins"};

static bool markup_is_shaping(const char *name, size_t length)
{
    for (size_t i = 0; i < WORDS_OF(shaping); i++)
        if (strlen(shaping[i]) == length && strncasecmp(shaping[i], name, length) == 0)
            return true;
    return false;
}

static size_t markup_name_length(const struct markup *markup, size_t at)
{
    size_t length = 0;
    while (length < NAME_MAX && at + length < markup->length && isalnum((unsigned char)markup->text[at + length]))
        length++;
    return length;
}

/* The end of the tag at `at`, whose name ends before `behind`; `at` if it is not a tag: "a <b and c> d". */
static size_t markup_tag_end(const struct markup *markup, size_t at, size_t behind)
{
    size_t most = markup->length - at < TAG_MAX ? markup->length - at : TAG_MAX;
    const char *close = memchr(markup->text + at, '>', most);
    size_t end = close ? (size_t)(close - markup->text) : 0;
    if (end < behind)
        return at;
    bool bare = behind + strspn(markup->text + behind, " /") == end;
    return bare || memchr(markup->text + behind, '=', end - behind) ? end + 1 : at;
}

/* "<sup>1</sup>" */
static size_t markup_raised_end(const struct markup *markup, size_t at)
{
    size_t next = at + strlen("<sup>");
    if (!markup_begins(markup, at, "<sup>"))
        return at;
    next += strspn(markup->text + next, "0123456789,- []^");
    return markup_begins(markup, next, "</sup>") ? next + strlen("</sup>") : at;
}

static size_t markup_comment_end(struct markup *markup, size_t at)
{
    if (!markup_begins(markup, at, "<!--") || at < markup->no_comment)
        return at;
    const char *close = memmem(markup->text + at, markup->length - at, "-->", 3);
    if (!close)
        markup->no_comment = markup->length;
    return close ? (size_t)(close - markup->text) + 3 : at;
}

static size_t markup_take_angle(struct markup *markup, size_t at)
{
    const char *text = markup->text;
    size_t end = markup_comment_end(markup, at), name = at + 1 + (at + 1 < markup->length && text[at + 1] == '/');
    size_t length = markup_name_length(markup, name);
    if (end == at)
        end = markup_raised_end(markup, at);
    if (end == at && markup_is_shaping(text + name, length))
        end = markup_tag_end(markup, at, name + length);
    if (end > at)
        return end;
    size_t scheme = markup_name_length(markup, at + 1); /* "<https:", "<javascript:": cite_clean judges addresses */
    bool address = scheme && at + 1 + scheme < markup->length && text[at + 1 + scheme] == ':';
    bool opens = at + 1 < markup->length && (isalpha((unsigned char)text[at + 1]) || strchr("/!?", text[at + 1]));
    bool escaped = at && text[at - 1] == '\\';
    if (opens && !address && !escaped)
        buffer_put(&markup->out, '\\');
    buffer_put(&markup->out, '<');
    return at + 1;
}

/* ---- references to characters ------------------------------------------------------------------------------------ */

/* "&#52;" is shown as 4. A character that would become markup stays as it is written. */
static size_t markup_take_entity(struct markup *markup, size_t at)
{
    const char *digits = "0123456789abcdefABCDEF";
    size_t next = at + 2, begin;
    char utf8[4];
    uint32_t code = 0;
    bool hex = markup_begins(markup, at, "&#x");
    begin = next += hex;
    if (!markup_begins(markup, at, "&#"))
        goto plain;
    for (; next < markup->length && next - at < ENTITY_MAX && memchr(digits, markup->text[next], hex ? 22 : 10);
         next++) {
        int c = tolower((unsigned char)markup->text[next]);
        code = code * (hex ? 16 : 10) + (uint32_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
    }
    if (next == begin || next >= markup->length || markup->text[next] != ';')
        goto plain;
    if (code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF)
        return next + 1;
    if (code < 0x80 && strchr("<>&\"'[]()`*_#|\\!", (int)code))
        goto plain;
    buffer_append(&markup->out, utf8, utf8_write(utf8, code));
    return next + 1;
plain:
    buffer_put(&markup->out, '&');
    return at + 1;
}

/* ---- invisible characters ---------------------------------------------------------------------------------------- */

/* Bytes of a character that shows nothing and changes how others are shown: directions of text, zero width, controls;
 * 0: another character. ZWJ and ZWNJ (U+200C, U+200D) stay: they shape emoji and scripts. */
static size_t markup_invisible(const struct markup *markup, size_t at)
{
    const unsigned char *c = (const unsigned char *)markup->text + at;
    size_t left = markup->length - at;
    if ((c[0] < 0x20 && !strchr("\t\n\r", c[0])) || c[0] == 0x7F)
        return 1;
    if (left >= 2 && c[0] == 0xC2 && (c[1] < 0xA0 || c[1] == 0xAD)) /* C1, and the soft hyphen */
        return 2;
    if (left < 3 || (c[0] != 0xE2 && c[0] != 0xEF))
        return 0;
    bool marks = c[0] == 0xE2 && c[1] == 0x80 && (c[2] == 0x8B || c[2] == 0x8E || c[2] == 0x8F);
    bool embeds = c[0] == 0xE2 && c[1] == 0x80 && c[2] >= 0xA8 && c[2] <= 0xAE;
    bool isolates = c[0] == 0xE2 && c[1] == 0x81 && c[2] >= 0xA0 && c[2] <= 0xAF;
    bool order_mark = c[0] == 0xEF && c[1] == 0xBB && c[2] == 0xBF;
    return marks || embeds || isolates || order_mark ? 3 : 0;
}

/* ---- marks of sources -------------------------------------------------------------------------------------------- */

static void markup_drop_blank(struct buffer *out)
{
    while (out->length && (out->data[out->length - 1] == ' ' || out->data[out->length - 1] == '\t'))
        out->length--;
}

/* The end of 【1】 or 【4†source】; `at`: not a mark. */
static size_t markup_lens_end(struct markup *markup, size_t at)
{
    size_t begin = at + strlen("【"), most = markup->length - at < REMARK_MAX ? markup->length - at : REMARK_MAX;
    if (!markup_begins(markup, at, "【") || begin >= markup->length || !isdigit((unsigned char)markup->text[begin]))
        return at;
    const char *close = memmem(markup->text + at, most, "】", strlen("】"));
    return close ? (size_t)(close - markup->text) + strlen("】") : at;
}

/* Bytes of a raised digit, ¹²³ and ⁰ to ⁹; 0: not a raised digit. */
static size_t markup_raised_digit(const struct markup *markup, size_t at)
{
    const unsigned char *c = (const unsigned char *)markup->text + at;
    size_t left = markup->length - at;
    if (left >= 2 && c[0] == 0xC2 && (c[1] == 0xB9 || c[1] == 0xB2 || c[1] == 0xB3))
        return 2;
    return left >= 3 && c[0] == 0xE2 && c[1] == 0x81 && (c[2] == 0xB0 || (c[2] >= 0xB4 && c[2] <= 0xB9)) ? 3 : 0;
}

/* Raised digits behind a word are a mark; behind a unit (m²) or a number they belong to it. */
static size_t markup_raised_digits_end(const struct markup *markup, size_t at)
{
    size_t end = at, size;
    while ((size = markup_raised_digit(markup, end)))
        end += size;
    size_t word = at;
    while (word && isalpha((unsigned char)markup->text[word - 1]))
        word--;
    bool belongs = (word < at && at - word <= 3) || !at || isdigit((unsigned char)markup->text[at - 1]) ||
                   isspace((unsigned char)markup->text[at - 1]);
    return belongs ? at : end;
}

/* The end of "(Source: …)" or （出典：…）; `at`: not a mark. */
static size_t markup_told_source_end(const struct markup *markup, size_t at)
{
    static const char *const words[] = {"source", "sources", "reference", "references", "citation",
                                        "via",    "出典",    "参考",      "参照",       "引用",
                                        "引用元", "情報源",  "参考文献",  "参考資料"};
    bool wide = markup_begins(markup, at, "（");
    size_t begin = at + (wide ? strlen("（") : 1),
           most = markup->length - at < REMARK_MAX ? markup->length - at : REMARK_MAX;
    for (size_t i = 0; i < WORDS_OF(words); i++) {
        size_t behind = begin + strlen(words[i]);
        if (!markup_begins(markup, begin, words[i]) || behind >= markup->length ||
            !(markup->text[behind] == ':' || markup_begins(markup, behind, "：")))
            continue;
        const char *mark = wide ? "）" : ")";
        const char *close = memmem(markup->text + at, most, mark, strlen(mark));
        return close ? (size_t)(close - markup->text) + strlen(mark) : at;
    }
    return at;
}

static size_t markup_source_end(struct markup *markup, size_t at)
{
    if (markup->text[at] == '(' || markup_begins(markup, at, "（"))
        return markup_told_source_end(markup, at);
    size_t end = markup_lens_end(markup, at);
    return end > at ? end : markup_raised_digits_end(markup, at);
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

bool cite_code_is_whole(const char *text, size_t length)
{
    static const char *const stops[] = {"。", "！", "？", "．"};
    if (length < 3 || text[1] == '`' || text[length] == '`') /* "``", "```": other ticks end it */
        return false;
    for (size_t at = 0; at + 1 < length; at++)
        if (strchr(".!?", text[at]) && isspace((unsigned char)text[at + 1]))
            return false;
    for (size_t i = 0; i < WORDS_OF(stops); i++)
        if (memmem(text, length, stops[i], strlen(stops[i])))
            return false;
    return true;
}

/* ---- the text ---------------------------------------------------------------------------------------------------- */

static bool markup_is_fence(const char *line)
{
    line += strspn(line, " \t");
    return strncmp(line, "```", 3) == 0 || strncmp(line, "~~~", 3) == 0;
}

static size_t markup_copy(struct markup *markup, size_t at, size_t end)
{
    for (size_t invisible; at < end; at += invisible ? invisible : 1) {
        invisible = markup_invisible(markup, at);
        if (!invisible)
            buffer_put(&markup->out, markup->text[at]);
    }
    return end;
}

static size_t markup_line_end(const struct markup *markup, size_t at)
{
    const char *end = memchr(markup->text + at, '\n', markup->length - at);
    return end ? (size_t)(end - markup->text) + 1 : markup->length;
}

/* `last_tick` is the position of the last tick of the line: no code begins behind it. */
static size_t markup_take_one(struct markup *markup, size_t at, size_t last_tick)
{
    const char *text = markup->text;
    size_t end, invisible = markup_invisible(markup, at);
    if (invisible)
        return at + invisible;
    switch (text[at]) {
    case '<':
        return markup_take_angle(markup, at);
    case '&':
        return markup_take_entity(markup, at);
    case '`':
        end = at < last_tick ? (size_t)((const char *)memchr(text + at + 1, '`', last_tick - at) - text) + 1 : at + 1;
        return markup_copy(markup, at, cite_code_is_whole(text + at, end - at) ? end : at + 1);
    default:
        if (text[at] != '(' && (unsigned char)text[at] < 0x80)
            return markup_copy(markup, at, at + 1);
        end = markup_source_end(markup, at);
        if (end == at)
            return markup_copy(markup, at, at + 1);
        markup_drop_blank(&markup->out);
        return end;
    }
}

char *cite_unmark(struct arena *arena, const char *text)
{
    struct markup markup = {.text = text, .length = strlen(text)};
    bool code = false;
    buffer_init(&markup.out, MARKUP_MAX);
    for (size_t at = 0, end; at < markup.length;) {
        bool fence = (!at || text[at - 1] == '\n') && markup_is_fence(text + at);
        end = markup_line_end(&markup, at);
        code ^= fence;
        const char *tick = memrchr(text + at, '`', end - at);
        size_t last_tick = tick ? (size_t)(tick - text) : 0;
        if (code || fence)
            at = markup_copy(&markup, at, end);
        while (at < end)
            at = markup_take_one(&markup, at, last_tick);
    }
    char *copy = markup.out.failed ? NULL : arena_strndup(arena, buffer_text(&markup.out), markup.out.length);
    buffer_fini(&markup.out);
    return copy;
}
