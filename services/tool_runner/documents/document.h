/* A document as it is searched: paragraphs in the order of the file, each with the headings above it and its lines.
 *
 * A reader turns the bytes of a file into a document. The text of a paragraph stands in the file exactly so (HTML and
 * packed formats: without tags and with white space folded; the answer of a quoted CSV cell: without its quotes).
 * Headings are no paragraphs: they stand above the paragraphs that follow; a heading without a paragraph becomes a
 * paragraph itself. All is in the document's arena or borrowed from the bytes that were read; those outlive the
 * document if it borrows them. Readers run in worker threads and take no locks. */
#ifndef RENGA_TOOL_RUNNER_DOCUMENT_H
#define RENGA_TOOL_RUNNER_DOCUMENT_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/status.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

#define DOCUMENT_MAX       ((size_t)16 << 20) /* bytes of a file */
#define DOCUMENT_TITLE_MAX 512                /* bytes, as the contract has it */
#define HEADING_MAX        256                /* bytes, as the contract has it */
#define PARAGRAPH_MAX      2400               /* bytes: a longer one is divided, if possible at the end of a line */

struct heading {
    const struct heading *above;
    const char *text;
    unsigned level; /* 1 to 6 */
};

struct paragraph {
    struct paragraph *next;
    const char *text; /* not NUL-terminated */
    size_t length;
    const struct heading *heading; /* the innermost; NULL: no heading */
    int line_from, line_to;        /* counted from 1; packed formats: paragraph, row or slide, as README.md says */
    bool answer;                   /* the answer of a Q&A pair; `heading` is the question */
};

struct document {
    struct arena arena;
    struct buffer room; /* its text, if it was in another encoding than UTF-8 */
    bool borrows;       /* its paragraphs stand in the bytes that were read */
    const char *title;  /* "" if it has no title */
    struct paragraph *first, **last;
    size_t count;
    const struct heading *heading;  /* while it is read: the headings above the next paragraph */
    struct paragraph *bare_heading; /* while it is read: for a heading that has no paragraph yet */
};

/* Metadata of a web page or a file, from the file itself; in the document's arena, "" if it has no metadata. */
struct page_about {
    const char *title;     /* without the name of the site; also the document's */
    const char *byline;    /* the author */
    const char *published; /* ISO 8601 as it stands there, at most PAGE_DATE_MAX bytes */
    const char *language;  /* as BCP 47 has it: ja, en-GB */
};
#define PAGE_DATE_MAX     64
#define PAGE_BYLINE_MAX   200
#define PAGE_LANGUAGE_MAX 35

/* The bounds of a single reading that its caller sets. All zero: no bounds. */
struct document_means {
    bool (*is_over)(void *data); /* asked now and then in the thread that reads: true ends the reading */
    void *data;
    const char *pdf_program;  /* that reads PDF; NULL: pdftotext */
    int64_t pdf_time_ms;      /* that it may take; 0: 20 s */
    struct page_about *about; /* gets the metadata of a packed file; NULL: not wanted */
};

/* Reads the bytes of a file that is said to be of `format`; the bytes themselves count more than a name (a PDF or a
 * DOCX is known by them). INVALID_ARGUMENT with the name of the kind for a kind that is not read, and for a damaged
 * file; RESOURCE_EXHAUSTED for a file that is too large; CANCELLED if the reading is over; FAILED_PRECONDITION if the
 * program is missing that reads PDF. The document is to be ended in each case. `means` may be NULL. */
bool document_read_file(struct document *document, Renga__V1__DocumentFormat format, const char *bytes, size_t size,
                        const struct document_means *means, struct status *st);

/* Whether the format is binary: only document_read_file reads these files. */
bool document_is_packed(Renga__V1__DocumentFormat format);

/* Reads `text`, clean UTF-8, of `format` (not UNSPECIFIED). RESOURCE_EXHAUSTED if it takes more memory than a document
 * may. INVALID_ARGUMENT if it cannot be read in its format; the error text names no file. */
bool document_read(struct document *document, Renga__V1__DocumentFormat format, const char *text, size_t length,
                   struct status *st);

/* Reads the main content of an HTML page and leaves out menus, advertising, comments and other parts beside it; `text`
 * is clean UTF-8. A page without recognisable content is read whole. Fails as document_read does. */
bool document_read_page(struct document *document, struct page_about *about, const char *text, size_t length,
                        struct status *st);

void document_fini(struct document *document);

#define DOCUMENT_FORMATS_MAX 16
/* The formats that are read, and how many. */
size_t document_formats(Renga__V1__DocumentFormat out[DOCUMENT_FORMATS_MAX]);
bool document_is_format(int format);

/* The format by the end of a path; TEXT if the end is unknown. */
Renga__V1__DocumentFormat document_format(const char *path);

#endif
