/* Styles of a DOCX document: which are headings. Private to documents/. */
#ifndef RENGA_TOOL_RUNNER_DOCX_STYLES_H
#define RENGA_TOOL_RUNNER_DOCX_STYLES_H

#include "documents/office.h"

#define DOCX_STYLES_MAX 8192

enum docx_style { DOCX_PLAIN, DOCX_HEADING, DOCX_TITLE, DOCX_CONTENTS }; /* CONTENTS: a line of a table of contents */

struct docx_style_row {
    struct piece id, based_on;
    enum docx_style style;
    unsigned level; /* of a heading, 1 to 9; 0: as the style that it is based on */
};

struct docx_styles {
    struct docx_style_row *rows; /* by id */
    size_t count;
};

/* `part` NULL: there are no styles. */
bool docx_styles_read(struct docx_styles *styles, struct office *office, const struct zip_entry *part,
                      struct status *st);
enum docx_style docx_style_find(const struct docx_styles *styles, struct piece id, unsigned *level);

#endif
