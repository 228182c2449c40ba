/* A question of several parts becomes several questions: by sentences and list items first, then within each by what is
 * coordinated. What is quoted is never taken apart. */
#include "split_priv.h"

#include "base/text.h"
#include "words/sentences.h"
#include "words/words.h"

#include <string.h>
#include <strings.h>

#define PIECES_MAX  32
#define CONTEXT_MAX ((size_t)300) /* bytes of what is said before a question and belongs to it */

void split_add(struct split *split, struct text part)
{
    part = text_trimmed(part);
    if (!part.length)
        return;
    for (size_t i = 0; i < split->count; i++)
        if (split->parts[i].length == part.length && memcmp(split->parts[i].bytes, part.bytes, part.length) == 0)
            return;
    if (split->count < split->limit)
        split->parts[split->count++] = part;
    else if (split->parts[split->count - 1].length + part.length < EXTRACT_ASKED_MAX)
        split->parts[split->count - 1] = text_joined(split->arena, split->parts[split->count - 1], text_of(" "), part);
}

struct text text_joined(struct arena *arena, struct text before, struct text middle, struct text behind)
{
    char *all = arena_alloc(arena, before.length + middle.length + behind.length + 1);
    if (!all)
        return before;
    memcpy(all, before.bytes, before.length);
    memcpy(all + before.length, middle.bytes, middle.length);
    memcpy(all + before.length + middle.length, behind.bytes, behind.length);
    return (struct text){all, before.length + middle.length + behind.length};
}

static const struct {
    const char *open, *close;
} quotes[] = {{"「", "」"}, {"『", "』"}, {"“", "”"}, {"（", "）"}, {"\"", "\""}, {"`", "`"}, {"(", ")"}};

#define QUOTES (sizeof quotes / sizeof quotes[0])

/* Behind what is quoted at `at`, or `at`. What is never closed is looked for once. */
static size_t skip_quoted(struct text text, size_t at, bool unclosed[QUOTES])
{
    for (size_t i = 0; i < QUOTES; i++) {
        size_t open = strlen(quotes[i].open), close = strlen(quotes[i].close);
        if (unclosed[i] || text.length - at <= open || memcmp(text.bytes + at, quotes[i].open, open) != 0)
            continue;
        const char *found = memmem(text.bytes + at + open, text.length - at - open, quotes[i].close, close);
        if (found)
            return (size_t)(found - text.bytes) + close;
        unclosed[i] = true;
    }
    return at;
}

void mark_quoted(struct marked *marked, struct text text)
{
    bool unclosed[QUOTES] = {false};
    text.length = text_cut(text.bytes, text.length, EXTRACT_ASKED_MAX);
    marked->text = text;
    memset(marked->quoted, 0, sizeof marked->quoted);
    for (size_t at = 0; at < text.length;) {
        size_t behind = skip_quoted(text, at, unclosed);
        memset(marked->quoted + at, behind > at, behind - at);
        at = behind > at ? behind : at + 1;
    }
}

/* ---- sentences and items ----------------------------------------------------------------------------------------- */

struct piece {
    struct text text;
    bool item, asks;
};

static bool ends_with(struct text text, const char *end)
{
    size_t length = strlen(end);
    return text.length >= length && memcmp(text.bytes + text.length - length, end, length) == 0;
}

static bool asks_in_japanese(struct text text)
{
    static const char *const ends[] = {"？",         "?",      "か",       "か。", "ください",
                                       "ください。", "下さい", "下さい。", "たい", "たい。",
                                       "たいです。", "教えて", "教えて。", "は",   "は。"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends_with(text, ends[i]))
            return true;
    return false;
}

static bool asks_in_english(struct text text)
{
    static const char *const begins[] = {"what",    "how",   "where",   "when",     "who",   "which",  "why",
                                         "is ",     "are ",  "do ",     "does ",    "can ",  "could ", "should ",
                                         "will ",   "tell ", "explain", "describe", "list ", "show ",  "give ",
                                         "compare", "find ", "please",  "summari"};
    if (ends_with(text, "?"))
        return true;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (text.length >= strlen(begins[i]) && strncasecmp(text.bytes, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* Whether the line of `at` begins with the mark of a list's item. */
static bool is_item(struct text text, size_t at)
{
    size_t line = at;
    while (line > 0 && text.bytes[line - 1] != '\n')
        line--;
    while (line < text.length && (text.bytes[line] == ' ' || text.bytes[line] == '\t'))
        line++;
    size_t digits = line;
    while (digits < text.length && text.bytes[digits] >= '0' && text.bytes[digits] <= '9')
        digits++;
    if (digits > line)
        return digits < text.length && (text.bytes[digits] == '.' || text.bytes[digits] == ')');
    return text.length - line > 2 && (strchr("-*+", text.bytes[line]) || memcmp(text.bytes + line, "・", 3) == 0 ||
                                      memcmp(text.bytes + line, "•", 3) == 0);
}

/* Without the mark of an item that a sentence keeps. */
static struct text without_mark(struct text text)
{
    size_t at = 0;
    while (at < text.length && text.bytes[at] >= '0' && text.bytes[at] <= '9')
        at++;
    if (at && at < text.length && (text.bytes[at] == '.' || text.bytes[at] == ')'))
        at++;
    else
        at = 0;
    if (!at && text.length > 3 && (memcmp(text.bytes, "・", 3) == 0 || memcmp(text.bytes, "•", 3) == 0))
        at = 3;
    return text_trimmed((struct text){text.bytes + at, text.length - at});
}

static struct text on_one_line(struct arena *arena, struct text text)
{
    if (!memchr(text.bytes, '\n', text.length))
        return text;
    char *line = arena_copy(arena, text.bytes, text.length);
    if (!line)
        return text;
    for (size_t i = 0; i < text.length; i++)
        line[i] = line[i] == '\n' || line[i] == '\r' ? ' ' : line[i];
    return (struct text){line, text.length};
}

static size_t read_pieces(const struct split *split, struct text question, bool japanese,
                          struct piece pieces[PIECES_MAX])
{
    struct sentence_reader reader;
    struct span span;
    struct marked marked;
    size_t count = 0, begin = 0;
    bool open = false;
    mark_quoted(&marked, question);
    sentences_begin(&reader, question.bytes, question.length);
    while (sentences_next(&reader, &span)) {
        begin = open ? begin : span.begin;
        open = span.end < marked.text.length && marked.quoted[span.end] && marked.quoted[span.end - 1];
        if (open)
            continue;
        bool full = count == PIECES_MAX;
        struct text text =
            without_mark((struct text){question.bytes + begin, (full ? question.length : span.end) - begin});
        text = on_one_line(split->arena, text_trimmed(text));
        bool asks = japanese ? asks_in_japanese(text) : asks_in_english(text);
        if (full)
            break;
        pieces[count++] = (struct piece){.text = text, .item = is_item(question, begin), .asks = asks};
    }
    return count;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void split_piece(struct split *split, struct text context, struct text question, bool japanese)
{
    struct text own[EXTRACT_PARTS_MAX];
    struct split inner = {.arena = split->arena, .parts = own, .limit = EXTRACT_PARTS_MAX, .topic = split->topic};
    if (japanese)
        split_japanese(&inner, question);
    else
        split_english(&inner, question);
    for (size_t i = 0; i < inner.count; i++) {
        struct text part = own[i];
        if (split->topic.length)
            part = japanese ? carry_japanese(split, part) : carry_english(split, part);
        else
            split->topic = japanese ? topic_japanese(part) : topic_english(part);
        split_add(split, text_joined(split->arena, context, text_of(context.length && !japanese ? " " : ""), part));
    }
}

static struct text lead_of(struct text text)
{
    while (ends_with(text, ":") || ends_with(text, "：") || ends_with(text, "。"))
        text.length -= ends_with(text, ":") ? 1 : 3;
    return text;
}

size_t extract_split(struct arena *arena, struct text question, bool japanese, size_t limit,
                     struct text parts[EXTRACT_PARTS_MAX])
{
    struct piece pieces[PIECES_MAX];
    struct split split = {
        .arena = arena, .parts = parts, .limit = limit < EXTRACT_PARTS_MAX ? limit : EXTRACT_PARTS_MAX};
    struct text context = {"", 0};
    size_t count = read_pieces(&split, question, japanese, pieces);
    bool any_asks = false, any_items = false;
    for (size_t i = 0; i < count; i++) {
        any_asks |= pieces[i].asks;
        any_items |= pieces[i].item;
    }
    for (size_t i = 0; i < count; i++) {
        bool leads = any_items && !pieces[i].item && i + 1 < count && pieces[i + 1].item;
        if (leads) {
            context = text_joined(arena, lead_of(pieces[i].text), text_of(japanese ? "：" : ":"), (struct text){"", 0});
            split.topic.length = 0;
        } else if (any_asks && !pieces[i].asks && !pieces[i].item) {
            if (pieces[i].text.length <= CONTEXT_MAX)
                context = pieces[i].text;
        } else {
            split_piece(&split, context, pieces[i].text, japanese);
        }
    }
    if (!split.count)
        split_add(&split, question);
    return split.count;
}
