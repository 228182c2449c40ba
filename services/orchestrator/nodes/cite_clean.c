/* Removes from a model's text every statement about sources that only code may make: links, addresses that were not
 * found, reference marks and lists of references. The text of a link stays, and is checked as any other text. */
#include "cite_markup.h"
#include "cite_text.h"

#include "base/buffer.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define CLEAN_MAX     ((size_t)2 << 20) /* bytes */
#define URLS_LOOKED   64                /* that are looked for in the sources; more are taken out */
#define TITLE_MAX     ((size_t)120)     /* bytes of a line that is the heading of a list of references */
#define URL_BEHIND    8                 /* bytes behind an address that tell whether it goes on */
#define ANY_HEADING   7                 /* a dropped section ends at any heading */
#define SCHEME_LEAST  3                 /* bytes of "<" and the scheme of an address, as Markdown takes them */
#define SCHEME_MAX    32                /* bytes of a scheme */
#define AUTOLINK_MAX  2048              /* bytes of an address in "<>" */
#define WORDS_OF(set) (sizeof(set) / sizeof *(set))

struct cleaning {
    const struct cite_sources *sources;
    struct buffer out;
    const char *text;
    size_t length;
    size_t urls;
    bool in_code;
    int dropping; /* the level of the heading whose section is dropped; 0: no section */
    struct cited_span own_heading;
    size_t next[4]; /* of each closing character: the position found last */
};

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static const char *const reference_words[] = {
    "references",  "reference", "sources",    "source",       "bibliography", "footnotes", "citations",
    "works cited", "参考文献",  "出典",       "参考",         "参考資料",     "引用元",    "引用文献",
    "情報源",      "注釈",      "références", "referencias",  "quellen",      "literatur", "fontes",
    "fuentes",     "fonti",     "参考资料",   "参考文献列表", "참고문헌",     "출처",      "источники",
};

static bool clean_is_mark(char c)
{
    return c == ' ' || c == '\t' || c == '#' || c == '*' || c == '_' || c == '>';
}

static bool clean_ends_with_colon(const char *text, size_t length)
{
    return (length && text[length - 1] == ':') || (length >= 3 && memcmp(text + length - 3, "：", 3) == 0);
}

struct cited_span cite_heading_words(const char *text, size_t begin, size_t end)
{
    while (begin < end && (clean_is_mark(text[begin]) || (text[begin] >= '0' && text[begin] <= '9') ||
                           (text[begin] == '.' && begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9')))
        begin++;
    while (end > begin && (clean_is_mark(text[end - 1]) || text[end - 1] == '\r'))
        end--;
    if (clean_ends_with_colon(text + begin, end - begin))
        end -= text[end - 1] == ':' ? 1 : 3;
    while (end > begin && clean_is_mark(text[end - 1]))
        end--;
    return (struct cited_span){begin, end};
}

static bool clean_says_references(const char *text, size_t length)
{
    for (size_t i = 0; i < WORDS_OF(reference_words); i++)
        if (strlen(reference_words[i]) == length && strncasecmp(reference_words[i], text, length) == 0)
            return true;
    return false;
}

/* "Sources: …" and "出典：…", and definitions of links. */
static bool clean_tells_source(const char *text, size_t begin, size_t end)
{
    size_t at = begin;
    while (at < end && (clean_is_mark(text[at]) || strchr("-+.)0123456789", text[at])))
        at++;
    const char *close = at < end && text[at] == '[' ? memchr(text + at, ']', end - at) : NULL;
    if (close && close + 1 < text + end && close[1] == ':')
        return true;
    for (size_t length = 1; length <= TITLE_MAX && at + length < end; length++)
        if (clean_ends_with_colon(text + at, length)) {
            struct cited_span words = cite_heading_words(text, at, at + length);
            return clean_says_references(text + words.begin, words.end - words.begin);
        }
    return false;
}

/* Whether a list of references begins at this line. The next heading of *level or above ends the list; ANY_HEADING: any
 * heading. */
static bool clean_begins_references(struct cleaning *cleaning, size_t begin, size_t end, int *level)
{
    const char *line = cleaning->text + begin;
    int marks = (int)strspn(line, "#");
    struct cited_span words = cite_heading_words(cleaning->text, begin, end);
    bool alone = *line == '*' || *line == '_' || clean_ends_with_colon(line, end - begin);
    if (end - begin > TITLE_MAX || (!marks && !alone) ||
        !clean_says_references(cleaning->text + words.begin, words.end - words.begin))
        return false;
    *level = marks && marks < ANY_HEADING ? marks : ANY_HEADING;
    cleaning->own_heading = words;
    return true;
}

enum { NEXT_BRACKET, NEXT_PAREN, NEXT_TICK, NEXT_SECOND };

/* ---- within a line ----------------------------------------------------------------------------------------------- */

/* The position of the next `c` in the line, or `end`. It is searched once for all places before it. */
static size_t clean_next_of(struct cleaning *cleaning, unsigned which, char c, size_t at, size_t end)
{
    if (cleaning->next[which] < at || cleaning->next[which] > end) {
        const char *found = memchr(cleaning->text + at, c, end - at);
        cleaning->next[which] = found ? (size_t)(found - cleaning->text) : end;
    }
    return cleaning->next[which];
}

static bool clean_is_number_mark(const char *text, size_t length)
{
    bool digits = false;
    if (length && *text == '^')
        return true;
    for (size_t i = 0; i < length; i++) {
        digits |= text[i] >= '0' && text[i] <= '9';
        if (!strchr("0123456789,;- ", text[i]))
            return false;
    }
    return digits;
}

/* Drops the blanks before a removed mark, so that no blank stands before a stop or a further blank. */
static void clean_drop_blank(struct buffer *out)
{
    while (out->length && (out->data[out->length - 1] == ' ' || out->data[out->length - 1] == '\t'))
        out->length--;
}

/* A host of other letters: up to a blank or a mark. */
static size_t clean_host_end(const char *text, size_t at, size_t end)
{
    static const char *const marks[] = {"、", "。", "）", "」", "』", "（", "「", "　"};
    while (at < end && (unsigned char)text[at] >= 0x80) {
        for (size_t i = 0; i < WORDS_OF(marks); i++)
            if (end - at >= strlen(marks[i]) && memcmp(text + at, marks[i], strlen(marks[i])) == 0)
                return at;
        at++;
    }
    return at;
}

static size_t clean_url_end(const char *text, size_t at, size_t end)
{
    size_t begin = at;
    const char *host = at + 8 <= end ? memmem(text + at, 8, "//", 2) : NULL;
    if (host && clean_host_end(text, (size_t)(host - text) + 2, end) > (size_t)(host - text) + 2)
        at = clean_host_end(text, (size_t)(host - text) + 2, end);
    while (at < end && (unsigned char)text[at] > ' ' && (unsigned char)text[at] < 0x7F &&
           !strchr("<>\"'`)]|", text[at]))
        at++;
    while (at > begin && strchr(".,;:!?*_", text[at - 1]))
        at--;
    return at;
}

/* Whether an address ends there: not https://a.co in https://a.com. */
static bool clean_url_ends(const char *text, size_t length, size_t at)
{
    size_t end = clean_url_end(text, at, length - at < URL_BEHIND ? length : at + URL_BEHIND);
    return end == at;
}

/* Whether the passage has this address; a longer address that begins with it does not count. */
static bool clean_has_url(const struct passage *passage, const char *url, size_t length)
{
    const char *at = passage->text, *end = passage->text + passage->length;
    while ((at = memmem(at, (size_t)(end - at), url, length))) {
        at += length;
        if (clean_url_ends(passage->text, passage->length, (size_t)(at - passage->text)))
            return true;
    }
    return false;
}

static bool clean_is_found(struct cleaning *cleaning, const char *url, size_t length)
{
    if (cleaning->urls++ >= URLS_LOOKED)
        return false;
    for (size_t i = 0; i < cleaning->sources->count; i++) {
        const struct passage *passage = &cleaning->sources->passages[i];
        const char *uri = cleaning->sources->hits[i]->uri;
        if ((strlen(uri) == length && memcmp(uri, url, length) == 0) ||
            (!cleaning->sources->own_addresses && clean_has_url(passage, url, length)))
            return true;
    }
    return false;
}

static bool clean_is_url(const char *text, size_t at, size_t end)
{
    return (end - at > 8 && strncasecmp(text + at, "https://", 8) == 0) ||
           (end - at > 7 && strncasecmp(text + at, "http://", 7) == 0);
}

/* The end of "<scheme:rest>", which Markdown makes a link of; `at`: not a link. */
static size_t clean_autolink_end(const char *text, size_t at, size_t end)
{
    size_t next = at + 1;
    while (next < end && next - at <= SCHEME_MAX && (isalnum((unsigned char)text[next]) || strchr("+.-", text[next])))
        next++;
    if (next - at < SCHEME_LEAST || next >= end || text[next] != ':')
        return at;
    while (next < end && next - at <= AUTOLINK_MAX && (unsigned char)text[next] > ' ' && !strchr("<>", text[next]))
        next++;
    return next < end && text[next] == '>' ? next + 1 : at;
}

static size_t clean_url(struct cleaning *cleaning, size_t at, size_t end)
{
    size_t after = clean_url_end(cleaning->text, at, end);
    struct buffer *out = &cleaning->out;
    if (clean_is_found(cleaning, cleaning->text + at, after - at)) {
        buffer_append(out, cleaning->text + at, after - at);
        return after;
    }
    bool alone = out->length && out->data[out->length - 1] == '(' && after < end && cleaning->text[after] == ')';
    out->length -= alone;
    clean_drop_blank(out);
    return after + alone;
}

/* The ")" that ends the target of a link: "(a_(b))" ends with the second. `close` is the position of the first. */
static size_t clean_target_end(const char *text, size_t begin, size_t close, size_t end)
{
    size_t open = 0;
    for (size_t at = begin; at < close; at++)
        open += text[at] == '(';
    for (; open && close + 1 < end && text[close + 1] == ')'; open--)
        close++;
    return close;
}

/* "[text](target)" and "[text][id]" leave the text; "[1]" and "[^1]" are removed; any other form stays. */
static size_t clean_bracket(struct cleaning *cleaning, size_t at, size_t end, bool image);

/* As it stands, but for addresses that were not found: the text of a link, code. */
static void clean_part(struct cleaning *cleaning, size_t at, size_t end)
{
    while (at < end) {
        if (clean_is_url(cleaning->text, at, end))
            at = clean_url(cleaning, at, end);
        else
            buffer_put(&cleaning->out, cleaning->text[at++]);
    }
}

static size_t clean_one(struct cleaning *cleaning, size_t at, size_t end)
{
    const char *text = cleaning->text;
    if (text[at] == '`') {
        size_t close = clean_next_of(cleaning, NEXT_TICK, '`', at + 1, end);
        size_t after = close < end && cite_code_is_whole(text + at, close + 1 - at) ? close + 1 : at + 1;
        size_t before = cleaning->out.length;
        clean_part(cleaning, at, after);
        if (after > at + 2 && cleaning->out.length == before + 2) { /* the address is gone, and its ticks are left */
            cleaning->out.length = before;
            clean_drop_blank(&cleaning->out);
        }
        return after;
    }
    if (text[at] == '[' || (text[at] == '!' && at + 1 < end && text[at + 1] == '['))
        return clean_bracket(cleaning, at, end, text[at] == '!');
    if (text[at] == '<' && clean_is_url(text, at + 1, end)) {
        at = clean_url(cleaning, at + 1, end);
        return at < end && text[at] == '>' ? at + 1 : at;
    }
    if (clean_is_url(text, at, end))
        return clean_url(cleaning, at, end);
    size_t autolink = text[at] == '<' ? clean_autolink_end(text, at, end) : at;
    if (autolink > at) {
        clean_drop_blank(&cleaning->out);
        return autolink;
    }
    if (text[at] == ']' && at + 1 < end && text[at + 1] == '(') { /* of a link that began on a line before */
        size_t close = clean_next_of(cleaning, NEXT_PAREN, ')', at + 1, end);
        buffer_put(&cleaning->out, ']');
        return close < end ? clean_target_end(text, at + 2, close, end) + 1 : end;
    }
    buffer_put(&cleaning->out, text[at]);
    return at + 1;
}

static size_t clean_bracket(struct cleaning *cleaning, size_t at, size_t end, bool image)
{
    const char *text = cleaning->text;
    size_t begin = at + (image ? 2 : 1), close = clean_next_of(cleaning, NEXT_BRACKET, ']', begin, end), after = end;
    if (close < end && close + 1 < end && text[close + 1] == '(')
        after = clean_next_of(cleaning, NEXT_PAREN, ')', close + 1, end);
    else if (close < end && close + 1 < end && text[close + 1] == '[')
        after = clean_next_of(cleaning, NEXT_SECOND, ']', close + 2, end);
    if (after < end && text[close + 1] == '(')
        after = clean_target_end(text, close + 2, after, end);
    if (after < end) {
        if (!image && !clean_is_number_mark(text + begin, close - begin))
            clean_part(cleaning, begin, close);
        else
            clean_drop_blank(&cleaning->out);
        return after + 1;
    }
    if (close < end && clean_is_number_mark(text + begin, close - begin)) {
        struct buffer *out = &cleaning->out;
        bool within = out->length && out->data[out->length - 1] == '[' && close + 1 < end && text[close + 1] == ']';
        out->length -= within; /* [[1]] */
        clean_drop_blank(out);
        return close + 1 + within;
    }
    buffer_append(&cleaning->out, text + at, begin - at);
    return begin;
}

static bool clean_is_blank_line(const char *text, size_t begin, size_t end)
{
    return strspn(text + begin, " \t\r>-*+") >= end - begin;
}

static void clean_line(struct cleaning *cleaning, size_t begin, size_t end)
{
    size_t before = cleaning->out.length;
    memset(cleaning->next, 0, sizeof cleaning->next);
    for (size_t at = begin; at < end;)
        at = clean_one(cleaning, at, end);
    bool emptied = !cleaning->out.failed && !clean_is_blank_line(cleaning->text, begin, end) &&
                   cleaning->out.length > before &&
                   clean_is_blank_line(buffer_text(&cleaning->out), before, cleaning->out.length);
    if (emptied || (cleaning->out.length == before && end > begin))
        cleaning->out.length = before;
    else
        buffer_put(&cleaning->out, '\n');
}

/* ---- the text ---------------------------------------------------------------------------------------------------- */

static bool line_fences(const char *line)
{
    line += strspn(line, " \t");
    return strncmp(line, "```", 3) == 0 || strncmp(line, "~~~", 3) == 0;
}

static void clean_take_line(struct cleaning *cleaning, size_t begin, size_t end)
{
    const char *line = cleaning->text + begin;
    int level;
    if (line_fences(line))
        cleaning->in_code = !cleaning->in_code;
    if (!cleaning->in_code && clean_begins_references(cleaning, begin, end, &level)) {
        cleaning->dropping = level;
        return;
    }
    int marks = (int)strspn(line, "#");
    if (!cleaning->in_code && marks && marks <= cleaning->dropping && line[marks] == ' ')
        cleaning->dropping = 0;
    if (cleaning->dropping || (!cleaning->in_code && clean_tells_source(cleaning->text, begin, end)))
        return;
    if (!cleaning->in_code) {
        clean_line(cleaning, begin + cite_label_end(line, end - begin), end);
        return;
    }
    buffer_append(&cleaning->out, line, end - begin);
    buffer_put(&cleaning->out, '\n');
}

/* The same words in the answer as it came. */
static struct cited_span clean_place_in(const char *answer, const char *text, struct cited_span words)
{
    size_t length = words.end - words.begin;
    const char *there = length ? memmem(answer, strlen(answer), text + words.begin, length) : NULL;
    size_t begin = there ? (size_t)(there - answer) : 0;
    return (struct cited_span){begin, there ? begin + length : 0};
}

char *cite_clean(const struct cite_sources *sources, const char *answer, struct cited_span *own_heading)
{
    struct cleaning cleaning = {.sources = sources, .text = cite_unmark(sources->arena, answer)};
    *own_heading = (struct cited_span){0, 0};
    if (!cleaning.text)
        return NULL;
    cleaning.length = strlen(cleaning.text);
    buffer_init(&cleaning.out, CLEAN_MAX);
    for (size_t begin = 0, end; begin < cleaning.length; begin = end + 1) {
        const char *line = memchr(cleaning.text + begin, '\n', cleaning.length - begin);
        end = line ? (size_t)(line - cleaning.text) : cleaning.length;
        clean_take_line(&cleaning, begin, end);
    }
    char *copy =
        cleaning.out.failed ? NULL : arena_strndup(sources->arena, buffer_text(&cleaning.out), cleaning.out.length);
    buffer_fini(&cleaning.out);
    *own_heading = clean_place_in(answer, cleaning.text, cleaning.own_heading);
    return copy;
}
