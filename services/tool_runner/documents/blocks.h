/* Makes paragraphs line by line from formats without lines of their own: a line is a paragraph or a row of a table in
 * the file, counted from 1 if it has text. Lines that belong together (a list, a table, and the line with a colon that
 * announces them) become a single paragraph of the document. Private to documents/. */
#ifndef RENGA_TOOL_RUNNER_BLOCKS_H
#define RENGA_TOOL_RUNNER_BLOCKS_H

#include "documents/reading.h"

#define BLOCKS_TEXT_MAX DOCUMENT_MAX /* bytes of a block */

struct blocks {
    struct document *document;
    struct buffer line;  /* in hand, white space folded */
    struct buffer block; /* lines that stand together */
    size_t cells;        /* in the line */
    int number;          /* of the line that was ended last */
    int block_line;      /* of the block's first */
    int place;           /* the place of all of it (a slide); 0: in its lines */
    bool is_list;        /* the block's last line is an item */
};

void blocks_init(struct blocks *blocks, struct document *document);
void blocks_fini(struct blocks *blocks);

/* Adds text to the current line; a run of white space becomes a single space. */
void blocks_add(struct blocks *blocks, struct piece text);
void blocks_print(struct blocks *blocks, const char *text);
/* Begins a cell of the row in hand. */
void blocks_begin_cell(struct blocks *blocks);

bool blocks_has_text(const struct blocks *blocks);
/* Discards the current line. */
void blocks_drop_line(struct blocks *blocks);

/* Each ends the current line; a line without text is left out and not counted. */
void blocks_end_paragraph(struct blocks *blocks);
void blocks_end_item(struct blocks *blocks);
void blocks_end_row(struct blocks *blocks);
void blocks_end_heading(struct blocks *blocks, unsigned level);
/* Stays with the line before it. */
void blocks_end_note(struct blocks *blocks);

/* Ends the block, unless it announces the next block. */
void blocks_begin_table(struct blocks *blocks);
/* Ends the block. */
void blocks_close(struct blocks *blocks);

/* RESOURCE_EXHAUSTED if there is too much text. */
bool blocks_fit(const struct blocks *blocks, struct status *st);

#endif
