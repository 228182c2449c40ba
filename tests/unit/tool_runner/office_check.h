/* Archives of packed documents in tests, and what is read of them. Include it behind unit.h. */
#ifndef RENGA_UNIT_OFFICE_CHECK_H
#define RENGA_UNIT_OFFICE_CHECK_H

#include "document_print.h"
#include "zip_maker.h"

#define DOCX RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_DOCX
#define XLSX RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_XLSX
#define PPTX RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_PPTX
#define EPUB RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_EPUB
#define TEXT RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_TEXT

#define URI       "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
#define RELATIONS "<?xml version=\"1.0\"?><Relationships xmlns=\"x\">"

/* What is read of the archive, or why it is not. */
static inline void office_read_archive(struct zip_maker *maker, int format, struct buffer *out)
{
    struct document document;
    struct status st = {0};
    size_t size;
    const char *bytes = zip_maker_end(maker, &size);
    buffer_init(out, 1 << 20);
    if (document_read_file(&document, (Renga__V1__DocumentFormat)format, bytes, size, NULL, &st))
        print_document(out, &document);
    else
        buffer_printf(out, "%s: %s", status_code_name((int)st.code), st.text);
    document_fini(&document);
    zip_maker_fini(maker);
}

static inline void office_check_text(struct zip_maker *maker, int format, const char *expected)
{
    struct buffer out;
    office_read_archive(maker, format, &out);
    if (strcmp(buffer_text(&out), expected) != 0)
        fail_msg("what is read is\n'%s'\nand not\n'%s'", buffer_text(&out), expected);
    buffer_fini(&out);
}

static inline void office_check_refused(struct zip_maker *maker, int format, const char *code, const char *part)
{
    struct buffer out;
    office_read_archive(maker, format, &out);
    if (strncmp(buffer_text(&out), code, strlen(code)) != 0 || !strstr(buffer_text(&out), part))
        fail_msg("'%s' and not %s with '%s'", buffer_text(&out), code, part);
    buffer_fini(&out);
}

#endif
