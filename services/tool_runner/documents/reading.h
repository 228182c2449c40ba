/* Shared by readers of documents: lines, headings, paragraphs. Private to documents/. */
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

/* A heading ends the headings of its level and below. A heading without words is ignored. */
void document_add_heading(struct document *document, unsigned level, struct piece text, int line);
/* Removes the blank lines around the text; a text longer than PARAGRAPH_MAX becomes several paragraphs. `line` is the
 * line of its first byte. Returns the last new paragraph, or NULL if the text is blank. */
struct paragraph *document_add_paragraph(struct document *document, struct piece text, int line);
/* The same for text without lines of its own: all that is made of it stands in `line`. */
struct paragraph *document_add_placed(struct document *document, struct piece text, int line);
/* No heading stands above the next paragraph. */
void document_end_headings(struct document *document);
/* The first title that is given counts. */
void document_set_title(struct document *document, struct piece title);

bool read_markdown(struct document *document, struct piece text, struct status *st);
bool read_html(struct document *document, struct piece text, struct status *st);
bool read_plain(struct document *document, struct piece text, struct status *st);
bool read_csv(struct document *document, struct piece text, struct status *st);

/* HTML: the main content alone, and the page's metadata. */
bool read_page(struct document *document, struct page_about *about, struct piece text, struct status *st);

/* The part of a text from `from` up to `to`, in bytes. */
struct part {
    size_t from, to;
};
/* HTML without the parts in `left_out`, which lie between tokens, in order. */
bool read_html_parts(struct document *document, struct piece text, const struct part *left_out, size_t count,
                     struct status *st);

/* False, CANCELLED: the caller has left, or its time is over. `means` may be NULL. */
bool document_goes_on(const struct document_means *means, struct status *st);

/* Sets a metadata field, copied to the document's arena without blanks around it; the first value counts. `field` NULL,
 * or an empty text: it is left out. */
void document_tell(struct document *document, const char **field, struct piece text, size_t most);

/* Packed formats: `bytes` as they are in the file. */
bool read_pdf(struct document *document, struct piece bytes, const struct document_means *means, struct status *st);
bool read_docx(struct document *document, struct piece bytes, const struct document_means *means, struct status *st);
bool read_xlsx(struct document *document, struct piece bytes, const struct document_means *means, struct status *st);
bool read_pptx(struct document *document, struct piece bytes, const struct document_means *means, struct status *st);
bool read_epub(struct document *document, struct piece bytes, const struct document_means *means, struct status *st);

#endif
