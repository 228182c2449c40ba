#include "markdown.h"

#include <ctype.h>
#include <string.h>

#define INDENT_COLUMNS 2 /* of a list within a list, at least */
#define LEVEL_MAX      6
#define DIGITS_MAX     4 /* of a reference or a list's number */

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

struct source_line {
    const char *begin, *end, *next; /* `begin` is behind the indent */
    size_t indent;
};

static struct source_line markdown_line_at(const struct markdown *reader, const char *at)
{
    const char *stop = memchr(at, '\n', (size_t)(reader->end - at));
    struct source_line line = {.begin = at, .end = stop ? stop : reader->end, .next = stop ? stop + 1 : reader->end};
    while (line.end > line.begin && strchr(" \t\r", line.end[-1]))
        line.end--;
    for (; line.begin < line.end && strchr(" \t", *line.begin); line.begin++)
        line.indent += *line.begin == '\t' ? 4 : 1;
    return line;
}

static size_t markdown_run_of(const struct source_line *line, char c)
{
    size_t count = 0;
    while (line->begin + count < line->end && line->begin[count] == c)
        count++;
    return count;
}

static bool markdown_consists_of(const struct source_line *line, const char *set)
{
    for (const char *c = line->begin; c < line->end; c++)
        if (!strchr(set, *c))
            return false;
    return true;
}

static bool markdown_is_rule(const struct source_line *line)
{
    return line->end - line->begin >= 3 && strchr("-*_", *line->begin) &&
           markdown_consists_of(line, (char[]){*line->begin, ' ', '\0'});
}

static bool markdown_is_fence(const struct source_line *line)
{
    return markdown_run_of(line, '`') >= 3 || markdown_run_of(line, '~') >= 3;
}

/* Bytes of "- " or "12. "; 0: the line is no item. */
static size_t markdown_item_mark(const struct source_line *line, int *number)
{
    const char *c = line->begin;
    *number = 0;
    if (line->end - c >= 2 && strchr("-*+", *c) && c[1] == ' ')
        return 2;
    while (c < line->end && c - line->begin < DIGITS_MAX && isdigit((unsigned char)*c))
        *number = *number * 10 + (*c++ - '0');
    return c > line->begin && line->end - c >= 2 && strchr(".)", *c) && c[1] == ' ' ? (size_t)(c - line->begin) + 2 : 0;
}

static enum markdown_kind markdown_kind_of(const struct source_line *line)
{
    size_t hashes = markdown_run_of(line, '#');
    int number;
    if (hashes && hashes <= LEVEL_MAX && line->begin + hashes < line->end && line->begin[hashes] == ' ')
        return MARKDOWN_HEADING;
    if (markdown_is_fence(line))
        return MARKDOWN_CODE;
    if (markdown_is_rule(line))
        return MARKDOWN_RULE;
    if (markdown_item_mark(line, &number))
        return MARKDOWN_ITEM;
    if (*line->begin == '>')
        return MARKDOWN_QUOTE;
    if (*line->begin == '|')
        return markdown_consists_of(line, "|-: ") ? MARKDOWN_LINE : MARKDOWN_ROW;
    return MARKDOWN_PARAGRAPH;
}

static void markdown_take(struct markdown_block *block, const char *from, const char *to)
{
    while (from < to && *from == ' ')
        from++;
    block->text = from;
    block->length = (size_t)(to - from);
}

/* Until the fence ends, or the text. */
static const char *markdown_take_code(const struct markdown *reader, struct markdown_block *block, const char *from)
{
    const char *at = from;
    while (at < reader->end) {
        struct source_line line = markdown_line_at(reader, at);
        if (markdown_is_fence(&line)) {
            block->text = from;
            block->length = (size_t)(at - from);
            return line.next;
        }
        at = line.next;
    }
    block->text = from;
    block->length = (size_t)(at - from);
    return at;
}

/* Lines of plain text that follow a line of a paragraph or an item belong to it. */
static const char *markdown_take_lines(const struct markdown *reader, struct markdown_block *block, const char *from,
                                       struct source_line line)
{
    const char *end = line.end, *at = line.next;
    while (at < reader->end) {
        line = markdown_line_at(reader, at);
        if (line.begin == line.end || markdown_kind_of(&line) != MARKDOWN_PARAGRAPH)
            break;
        end = line.end;
        at = line.next;
    }
    markdown_take(block, from, end);
    return at;
}

void markdown_begin(struct markdown *reader, const char *text, size_t length)
{
    *reader = (struct markdown){.at = text, .end = text + length};
}

bool markdown_next(struct markdown *reader, struct markdown_block *block)
{
    struct source_line line;
    do {
        if (reader->at >= reader->end)
            return false;
        line = markdown_line_at(reader, reader->at);
        reader->at = line.next;
    } while (line.begin == line.end);
    *block = (struct markdown_block){.kind = markdown_kind_of(&line)};
    switch (block->kind) {
    case MARKDOWN_HEADING:
        block->level = (int)markdown_run_of(&line, '#');
        markdown_take(block, line.begin + block->level, line.end);
        break;
    case MARKDOWN_ITEM:
        block->level = (int)(line.indent / INDENT_COLUMNS);
        block->level = block->level < LEVEL_MAX ? block->level : LEVEL_MAX;
        reader->at = markdown_take_lines(reader, block, line.begin + markdown_item_mark(&line, &block->number), line);
        break;
    case MARKDOWN_PARAGRAPH:
        reader->at = markdown_take_lines(reader, block, line.begin, line);
        break;
    case MARKDOWN_CODE:
        reader->at = markdown_take_code(reader, block, line.next);
        break;
    case MARKDOWN_QUOTE:
        markdown_take(block, line.begin + 1, line.end);
        break;
    default:
        markdown_take(block, line.begin, line.end);
        break;
    }
    return true;
}

/* ---- pieces of a line -------------------------------------------------------------------------------------------- */

void markdown_line_begin(struct markdown_line *line, const char *text, size_t length)
{
    *line = (struct markdown_line){.at = text, .end = text + length};
}

static const char *markdown_find(const char *from, const char *end, const char *what)
{
    return from < end ? memmem(from, (size_t)(end - from), what, strlen(what)) : NULL;
}

static bool markdown_put(struct markdown_line *line, struct markdown_piece *piece, enum markdown_mark mark,
                         const char *from, const char *to, const char *next)
{
    *piece = (struct markdown_piece){.mark = mark, .text = from, .length = (size_t)(to - from)};
    line->at = next;
    return true;
}

static bool markdown_read_code(struct markdown_line *line, struct markdown_piece *piece)
{
    const char *stop = line->no_code ? NULL : markdown_find(line->at + 1, line->end, "`");
    line->no_code = !stop;
    return stop && markdown_put(line, piece, MARKDOWN_LITERAL, line->at + 1, stop, stop + 1);
}

static bool markdown_read_strong(struct markdown_line *line, struct markdown_piece *piece)
{
    const char *stop = line->no_strong ? NULL : markdown_find(line->at + 3, line->end, "**");
    line->no_strong = !stop;
    return stop && markdown_put(line, piece, MARKDOWN_STRONG, line->at + 2, stop, stop + 2);
}

/* The next star decides. */
static bool markdown_read_emphasis(struct markdown_line *line, struct markdown_piece *piece)
{
    const char *from = line->at + 1,
               *stop = from < line->end && *from != ' ' ? markdown_find(from + 1, line->end, "*") : NULL;
    return stop && stop[-1] != ' ' && markdown_put(line, piece, MARKDOWN_EMPHASIS, from, stop, stop + 1);
}

static bool markdown_read_reference(struct markdown_line *line, struct markdown_piece *piece, const char *stop)
{
    size_t number = 0;
    const char *digits = line->at + 1 + (line->at[1] == '^'); /* [1], or a note [^1] */
    for (const char *c = digits; c < stop; c++) {
        if (!isdigit((unsigned char)*c) || stop - digits > DIGITS_MAX)
            return false;
        number = number * 10 + (size_t)(*c - '0');
    }
    if (!number)
        return false;
    markdown_put(line, piece, MARKDOWN_REFERENCE, line->at, stop + 1, stop + 1);
    piece->number = number;
    return true;
}

/* "[3]", or "[text](target)". A bracket within the text, or a space within the target, makes it plain text. */
static bool markdown_read_bracket(struct markdown_line *line, struct markdown_piece *piece)
{
    const char *from = line->at + 1, *stop = from, *target, *end;
    while (stop < line->end && *stop != ']' && *stop != '[')
        stop++;
    if (stop >= line->end || *stop != ']')
        return false;
    if (stop + 1 >= line->end || stop[1] != '(')
        return markdown_read_reference(line, piece, stop);
    if (line->no_target)
        return false;
    for (target = end = stop + 2; end < line->end && *end != ')' && !strchr(" \n", *end);)
        end++;
    line->no_target = end >= line->end;
    if (line->no_target || *end != ')')
        return false;
    markdown_put(line, piece, MARKDOWN_LINK, from, stop, end + 1);
    piece->target = target;
    piece->target_length = (size_t)(end - target);
    return true;
}

static bool markdown_read_mark(struct markdown_line *line, struct markdown_piece *piece)
{
    switch (*line->at) {
    case '\\':
        return line->at + 1 < line->end && ispunct((unsigned char)line->at[1]) &&
               markdown_put(line, piece, MARKDOWN_TEXT, line->at + 1, line->at + 2, line->at + 2);
    case '`':
        return markdown_read_code(line, piece);
    case '*':
        return line->at + 1 < line->end && line->at[1] == '*' ? markdown_read_strong(line, piece)
                                                              : markdown_read_emphasis(line, piece);
    case '[':
        return markdown_read_bracket(line, piece);
    default:
        return false;
    }
}

bool markdown_line_next(struct markdown_line *line, struct markdown_piece *piece)
{
    const char *from = line->at, *to;
    if (from >= line->end)
        return false;
    if (markdown_read_mark(line, piece))
        return true;
    to = from + 1;
    to += *from == '*' && to < line->end && *to == '*'; /* no second look at the pair */
    while (to < line->end && !strchr("\\`*[", *to))
        to++;
    return markdown_put(line, piece, MARKDOWN_TEXT, from, to, to);
}
