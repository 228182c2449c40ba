/* What readers of documents share: lines, headings, paragraphs. Private to documents/. */
#ifndef RENGA_TOOL_RUNNER_READING_H
#define RENGA_TOOL_RUNNER_READING_H

#include "documents/document.h"

/* A piece of the text that is read. */
struct piece {
    const char *at;
    size_t length;
};

struct lines {
    const char *at, *end;
    int number; /* of the line that was given last, counted from 1 */
};

/* The next line without its end; false after the last. */
bool lines_next(struct lines *lines, struct piece *line);

struct piece piece_trim(struct piece piece);
bool piece_is(struct piece piece, const char *text);
bool piece_begins(struct piece piece, const char *text);
/* Without regard to the case of a to z. */
bool piece_is_word(struct piece piece, const char *word);

/* A heading ends those of its level and below. One without words is none. */
void document_add_heading(struct document *document, unsigned level, struct piece text, int line);
/* Blank lines around it are left out; what is longer than PARAGRAPH_MAX becomes several. `line` is that of its first
 * byte. The last one that was made, or NULL: it was blank. */
struct paragraph *document_add_paragraph(struct document *document, struct piece text, int line);
/* The first title that is given counts. */
void document_set_title(struct document *document, struct piece title);

bool read_markdown(struct document *document, struct piece text, struct status *st);
bool read_html(struct document *document, struct piece text, struct status *st);
bool read_plain(struct document *document, struct piece text, struct status *st);
bool read_csv(struct document *document, struct piece text, struct status *st);

#endif
