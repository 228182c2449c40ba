/* libFuzzer on the readers of packed documents: any bytes as an archive, and as a part of one that is whole. */
#include "documents/reading.h"

#include "../unit/base/zip_maker.h"
#include "base/text.h"

#include <string.h>

#include "fuzz.h"

/* No PDF: that starts a process. */
static bool is_pdf(const char *bytes, size_t size)
{
    return memmem(bytes, size, "%PDF", 4);
}

static void office_read_bytes(int format, const char *bytes, size_t size)
{
    struct document document;
    struct status st = {0};
    if (!document_read_file(&document, (Renga__V1__DocumentFormat)format, bytes, size, NULL, &st))
        must(st.code == RESOURCE_EXHAUSTED || st.code == INVALID_ARGUMENT);
    must(text_is_clean(st.text, strlen(st.text)) && text_is_clean(document.title, strlen(document.title)));
    for (const struct paragraph *paragraph = document.first; paragraph; paragraph = paragraph->next) {
        must(paragraph->length > 0 && paragraph->length <= PARAGRAPH_MAX);
        must(text_is_clean(paragraph->text, paragraph->length));
        must(paragraph->line_from > 0 && paragraph->line_to >= paragraph->line_from);
    }
    document_fini(&document);
}

/* The part that is fuzzed, of documents with all other parts that are needed to come to it. */
static const struct kind {
    int format;
    const char *main_part, *relation, *target, *part;
} kinds[] = {
    {RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_DOCX, "w/d.xml", "x/styles", "s.xml", "w/d.xml"},
    {RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_DOCX, "w/d.xml", "x/styles", "s.xml", "w/s.xml"},
    {RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_DOCX, "w/d.xml", "x/styles", "s.xml", "_rels/.rels"},
    {RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_XLSX, "w/d.xml", "x/worksheet", "s.xml", "w/s.xml"},
    {RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_XLSX, "w/d.xml", "x/sharedStrings", "s.xml", "w/s.xml"},
    {RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_XLSX, "w/d.xml", "x/styles", "s.xml", "w/s.xml"},
    {RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_PPTX, "w/d.xml", "x/slide", "s.xml", "w/s.xml"},
    {RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_EPUB, "w/d.xml", "x", "s.xml", "META-INF/container.xml"},
    {RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_EPUB, "w/d.xml", "x", "s.xml", "w/d.xml"},
};

static void add_other(struct zip_maker *maker, const struct kind *kind, const char *name, const char *text)
{
    if (strcmp(kind->part, name) != 0)
        zip_maker_add(maker, name, text);
}

static void office_add_relations(struct zip_maker *maker, const struct kind *kind, const char *name, const char *type,
                                 const char *target)
{
    struct buffer text;
    buffer_init(&text, 4096);
    buffer_printf(&text, "<Relationships><Relationship Id=\"r\" Type=\"%s\" Target=\"%s\"/></Relationships>", type,
                  target);
    add_other(maker, kind, name, buffer_text(&text));
    buffer_fini(&text);
}

static void office_add_others(struct zip_maker *maker, const struct kind *kind)
{
    static const char list[] = "<a><sheet name=\"s\" r:id=\"r\"/><sldId r:id=\"r\"/></a>";
    office_add_relations(maker, kind, "_rels/.rels", "x/officeDocument", kind->main_part);
    office_add_relations(maker, kind, "w/_rels/d.xml.rels", kind->relation, kind->target);
    add_other(maker, kind, "META-INF/container.xml", "<rootfile full-path=\"w/d.xml\"/>");
    add_other(maker, kind, "w/d.xml", list);
    add_other(maker, kind, "w/s.xml", "<html><p>chapter</p></html>");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size || is_pdf((const char *)data, size))
        return 0;
    size_t kind = *data % (sizeof kinds / sizeof kinds[0] + 1);
    const char *text = (const char *)data + 1;
    if (kind == 0) {
        office_read_bytes(RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_TEXT, text, size - 1);
        return 0;
    }
    struct zip_maker maker;
    size_t length;
    zip_maker_init(&maker);
    office_add_others(&maker, &kinds[kind - 1]);
    zip_maker_add_lying(&maker, kinds[kind - 1].part, text, size - 1, false, size - 1);
    const char *bytes = zip_maker_end(&maker, &length);
    office_read_bytes(kinds[kind - 1].format, bytes, length);
    zip_maker_fini(&maker);
    return 0;
}
