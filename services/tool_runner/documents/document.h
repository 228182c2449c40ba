/* A document as it is searched: paragraphs in the order of the file, each with the headings above it and its lines.
 *
 * A reader turns clean UTF-8 into one. The text of a paragraph stands in the file exactly so (HTML: without tags and
 * with white space folded; the answer of a quoted CSV cell: without its quotes). Headings are no paragraphs: their
 * words stand above those that follow, and one that nothing follows becomes a paragraph after all. All is in the
 * document's arena or borrowed from the text that was read; that outlives the document. Nothing here does input or
 * output. */
#ifndef RENGA_TOOL_RUNNER_DOCUMENT_H
#define RENGA_TOOL_RUNNER_DOCUMENT_H

#include "base/arena.h"
#include "base/status.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

#define DOCUMENT_MAX       ((size_t)16 << 20) /* bytes of a file */
#define DOCUMENT_TITLE_MAX 512                /* bytes, as the contract has it */
#define HEADING_MAX        256                /* bytes, as the contract has it */
#define PARAGRAPH_MAX      2400               /* bytes: a longer one is divided, at the end of a line if it can be */

struct heading {
    const struct heading *above;
    const char *text;
    unsigned level; /* 1 to 6 */
};

struct paragraph {
    struct paragraph *next;
    const char *text; /* not NUL-terminated */
    size_t length;
    const struct heading *heading; /* the innermost; NULL: none */
    int line_from, line_to;        /* counted from 1 */
    bool answer;                   /* the answer of a Q&A pair; `heading` is the question */
};

struct document {
    struct arena arena;
    const char *title; /* "" where it has none */
    struct paragraph *first, **last;
    size_t count;
    const struct heading *heading; /* while it is read: what stands above the next paragraph */
    struct paragraph *lonely;      /* while it is read: of a heading that nothing has followed yet */
};

/* Reads `text` of `format` (not UNSPECIFIED). RESOURCE_EXHAUSTED where it takes more memory than a document may,
 * INVALID_ARGUMENT where it cannot be read as what it is said to be; the text names no file. */
bool document_read(struct document *document, Renga__V1__DocumentFormat format, const char *text, size_t length,
                   struct status *st);
void document_fini(struct document *document);

/* What the end of a path says; TEXT where it says nothing that is known. */
Renga__V1__DocumentFormat document_format(const char *path);

#endif
