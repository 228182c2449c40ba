/* A document as text for tests: a paragraph as "LINES HEADING > HEADING | TEXT¶". */
#ifndef RENGA_UNIT_DOCUMENT_PRINT_H
#define RENGA_UNIT_DOCUMENT_PRINT_H

#include "documents/document.h"

#include "base/buffer.h"

static inline void document_print_headings(struct buffer *out, const struct heading *heading)
{
    if (!heading)
        return;
    document_print_headings(out, heading->above);
    buffer_printf(out, "%s%s", heading->above ? " > " : "", heading->text);
}

static inline void print_document(struct buffer *out, const struct document *document)
{
    if (document->title[0])
        buffer_printf(out, "title %s¶", document->title);
    for (const struct paragraph *paragraph = document->first; paragraph; paragraph = paragraph->next) {
        buffer_printf(out, "%d-%d%s ", paragraph->line_from, paragraph->line_to, paragraph->answer ? " answer" : "");
        document_print_headings(out, paragraph->heading);
        buffer_printf(out, " | %.*s¶", (int)paragraph->length, paragraph->text);
    }
}

#endif
