/* The text of a PDF: its pages, and their lines as paragraphs. Private to documents/. */
#ifndef RENGA_TOOL_RUNNER_PDF_H
#define RENGA_TOOL_RUNNER_PDF_H

#include "documents/reading.h"

struct pdf_page {
    struct document *document;
    int number;          /* counted from 1 */
    struct buffer block; /* lines of the paragraph in hand */
    size_t width;        /* of the widest line of the block, in columns */
};

/* A line without blanks around it; an empty line ends the paragraph, unless the paragraph is short. */
void pdf_page_line(struct pdf_page *page, struct piece line);
void pdf_page_end(struct pdf_page *page);

/* Reads the output of pdftotext, `-htmlmeta`, clean UTF-8. INVALID_ARGUMENT if it has no text. A reader has begun the
 * document. `about` may be NULL. */
bool pdf_read_output(struct document *document, struct piece output, struct page_about *about, struct status *st);

#endif
