/* Markdown as models and our own nodes write it, in blocks and pieces of a line: headings, paragraphs, lists, quotes,
 * code, tables; strong, emphasis, code, links, and references "[3]". All text points into the original, which is
 * borrowed. The functions cannot fail: all that is not a valid mark is text. Linear in the text. */
#ifndef RENGA_MARKDOWN_H
#define RENGA_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>

enum markdown_kind {
    MARKDOWN_PARAGRAPH,
    MARKDOWN_HEADING, /* level 1 to 6 */
    MARKDOWN_ITEM,    /* level 0 is outermost; number 0: a bullet */
    MARKDOWN_QUOTE,   /* a line of it */
    MARKDOWN_CODE,    /* lines between fences, as they stand */
    MARKDOWN_ROW,     /* of a table, with its bars */
    MARKDOWN_LINE,    /* between the head and the rows of a table */
    MARKDOWN_RULE,
};

struct markdown_block {
    enum markdown_kind kind;
    int level, number;
    const char *text; /* may have line breaks, which stand for spaces */
    size_t length;
};

struct markdown {
    const char *at, *end;
};

void markdown_begin(struct markdown *reader, const char *text, size_t length);
bool markdown_next(struct markdown *reader, struct markdown_block *block);

enum markdown_mark {
    MARKDOWN_TEXT,
    MARKDOWN_STRONG,
    MARKDOWN_EMPHASIS,
    MARKDOWN_LITERAL,
    MARKDOWN_LINK,
    MARKDOWN_REFERENCE
};

struct markdown_piece {
    enum markdown_mark mark;
    const char *text;
    size_t length;
    const char *target; /* of a link */
    size_t target_length;
    size_t number; /* of a reference */
};

struct markdown_line {
    const char *at, *end;
    bool no_strong, no_code, no_target; /* no mark of the kind ends in the rest of the block */
};

void markdown_line_begin(struct markdown_line *line, const char *text, size_t length);
bool markdown_line_next(struct markdown_line *line, struct markdown_piece *piece);

#endif
