/* services/tool_runner/documents: packed documents. The text stands in one part of an archive, or is the archive. */
#include "readers.h"

#include "documents/document.h"
#include "documents/pdf.h"
#include "zip_maker.h"

#include <stdio.h>

/* The part that gets the text; documents have two parts that can be named: w/d.xml, and w/s.xml, its relation. */
struct file_form {
    int format;
    const char *relation, *part;
    const char *before, *after; /* of the text */
};
#define RELATIONS "w/_rels/d.xml.rels"
#define FILE_OF(name, ...)                                                                                             \
    &(const struct file_form)                                                                                          \
    {                                                                                                                  \
        RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_##name, __VA_ARGS__                                                \
    }

static void files_add_relations(struct zip_maker *maker, const char *name, const char *type, const char *target)
{
    char text[256];
    snprintf(text, sizeof text, "<Relationships><Relationship Id=\"r\" Type=\"%s\" Target=\"%s\"/></Relationships>",
             type, target);
    zip_maker_add(maker, name, text);
}

static void files_add_others(struct zip_maker *maker, const struct file_form *form)
{
    files_add_relations(maker, "_rels/.rels", "x/officeDocument", "w/d.xml");
    if (strcmp(form->part, RELATIONS) != 0)
        files_add_relations(maker, RELATIONS, form->relation, "s.xml");
    zip_maker_add(maker, "META-INF/container.xml", "<rootfile full-path=\"w/d.xml\"/>");
    if (strcmp(form->part, "w/d.xml") != 0)
        zip_maker_add(maker, "w/d.xml",
                      "<a><sheet name=\"s\" r:id=\"r\"/><sldId r:id=\"r\"/><item id=\"r\" href=\"s.xml\" "
                      "media-type=\"text/html\"/><spine><itemref idref=\"r\"/></spine></a>");
}

static void files_read_archive(struct input *in, int format, const char *bytes, size_t size)
{
    struct document document;
    in->accepted =
        document_read_file(&document, (Renga__V1__DocumentFormat)format, bytes, size, NULL, &in->st) || in->accepted;
    document_fini(&document);
}

static void read_part(struct input *in)
{
    const struct file_form *form = in->with;
    struct zip_maker maker;
    size_t size;
    zip_maker_init(&maker);
    files_add_others(&maker, form);
    buffer_printf(&in->out, "%s%s%s", form->before, in->text, form->after);
    zip_maker_add_lying(&maker, form->part, in->out.data, in->out.length, false, in->out.length);
    const char *bytes = zip_maker_end(&maker, &size);
    files_read_archive(in, form->format, bytes, size);
    zip_maker_fini(&maker);
}

static void files_read_whole(struct input *in)
{
    files_read_archive(in, RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_DOCX, in->text, in->length);
}

#define BYTES_OF_A_FILE 64

static void files_read_list(struct input *in)
{
    struct zip_maker maker;
    char name[32];
    size_t size;
    zip_maker_init(&maker);
    files_add_relations(&maker, "_rels/.rels", "x/officeDocument", "w/d.xml");
    zip_maker_add(&maker, "w/d.xml", "<t>a</t>");
    for (size_t i = 0; i < in->length / BYTES_OF_A_FILE; i++) {
        snprintf(name, sizeof name, "file%zu", i);
        zip_maker_add_lying(&maker, name, "", 0, false, 0);
    }
    const char *bytes = zip_maker_end(&maker, &size);
    files_read_archive(in, RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_DOCX, bytes, size);
    zip_maker_fini(&maker);
}

static void read_pages(struct input *in)
{
    struct document document;
    document_read(&document, RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_TEXT, "", 0, &in->st);
    in->accepted = pdf_read_output(&document, (struct piece){in->text, in->length}, NULL, &in->st);
    document_fini(&document);
}

static const struct generator marks[] = {
    {"ends of archives", .begin = "PK\3\4", .unit = "PK\5\6aaaaaaaaaaaaaaaaaa"},
    {.name = NULL},
};

static const struct generator lists[] = {
    {"files", .unit = "f"},
    {.name = NULL},
};

static const struct generator paragraphs[] = {
    {"paragraphs in paragraphs", .unit = "<p><r><t>a</t></r>"},
    {"text boxes", .unit = "<p>", .middle = "<t>a</t>", .close = "</p>"},
    {"paragraphs", .unit = "<p><pPr><pStyle val=\"\1\"/></pPr><t>a</t></p>"},
    {"items", .unit = "<p><numId val=\"1\"/><t>a</t></p>"},
    {"headings", .unit = "<p><outlineLvl val=\"1\"/><t>a</t></p>"},
    {"rows", .begin = "<tbl>", .unit = "<tr><tc><p><t>a</t></p></tc></tr>", .end = "</tbl>"},
    {"cells", .begin = "<tbl><tr>", .unit = "<tc><p><t>a</t></p></tc>", .end = "</tr></tbl>"},
    {"tables without ends", .unit = "<tbl/></tbl><tr/><tc/>"},
    {"one text in pieces", .begin = "<p><t>", .unit = "<![CDATA[a]]>", .end = "</t></p>"},
    {"one line of many runs", .begin = "<p>", .unit = "<r><t>a </t></r>", .end = "</p>"},
    {.name = NULL},
};

static const struct generator styles[] = {
    {"styles", .unit = "<style styleId=\"\1\"><name val=\"heading 1\"/><basedOn val=\"\1\"/></style>"},
    {.name = NULL},
};

static const struct generator cells[] = {
    {"rows", .unit = "<row><c><v>1</v></c></row>"},
    {"cells", .begin = "<row>", .unit = "<c><v>1</v></c>", .end = "</row>"},
    {"cells of one column", .begin = "<row>", .unit = "<c r=\"A1\" t=\"str\"><v>a b</v></c>", .end = "</row>"},
    {"cells of the last column", .unit = "<row><c r=\"IV1\"><v>1</v></c></row>"},
    {"a value of many bytes", .begin = "<row><c t=\"str\"><v>", .unit = "1", .end = "</v></c></row>"},
    {.name = NULL},
};

static const struct generator strings[] = {
    {"strings", .unit = "<si><t>a\1</t></si>"},
    {"runs of one string", .begin = "<si>", .unit = "<r><t>a</t></r>", .end = "</si>"},
    {.name = NULL},
};

static const struct generator formats[] = {
    {"formats", .unit = "<numFmt numFmtId=\"\1\" formatCode=\"yyyy\"/>"},
    {"styles", .begin = "<cellXfs>", .unit = "<xf numFmtId=\"\1\"/>"},
    {"a format of many quotes", .begin = "<numFmt formatCode='", .unit = "\"[", .end = "'/>"},
    {.name = NULL},
};

static const struct generator shapes[] = {
    {"shapes", .unit = "<sp><ph type=\"title\"/><p><t>a</t></p></sp>"},
    {"lines", .begin = "<sp>", .unit = "<p><t>a</t></p>", .end = "</sp>"},
    {"tables in tables", .unit = "<tbl><tr><tc><p><t>a</t></p></tc></tr></tbl>"},
    {.name = NULL},
};

static const struct generator relations[] = {
    {"relationships", .begin = "<R>", .unit = "<Relationship Id=\"\1\" Type=\"a/b\" Target=\"d.xml\"/>"},
    {"a path of many steps", .begin = "<Relationship Id=\"a\" Target=\"", .unit = "a/../", .end = "d.xml\"/>"},
    {.name = NULL},
};

static const struct generator books[] = {
    {"items", .unit = "<item id=\"\1\" href=\"d.xml\" media-type=\"text/html\"/>"},
    {"one chapter often", .begin = "<item id=\"a\" href=\"s.xml\"/><spine>", .unit = "<itemref idref=\"a\"/>"},
    {.name = NULL},
};

static const struct generator pages[] = {
    {"pages", .begin = "<pre>\n", .unit = "a\n\f", .end = "</pre>"},
    {"lines of one page", .begin = "<pre>\n", .unit = "Words of a line that is wide\n", .end = "</pre>"},
    {"narrow lines", .begin = "<pre>\n", .unit = "a\n", .end = "</pre>"},
    {"ends of text", .begin = "<pre>\n", .unit = "</pre", .end = "</pre>"},
    {"titles", .begin = "<head>", .unit = "<title>", .end = "<pre>\na</pre>"},
    {.name = NULL},
};

#define XML_SETS (HOSTILE_TEXT | HOSTILE_MARKUP)

const struct reader readers_files[] = {
    {"zip archive", files_read_whole, .sets = HOSTILE_BYTES, .own = marks},
    {"list of files of a zip archive", files_read_list, .own = lists, .most = (size_t)512 << 10, .accepts = true},
    {"DOCX body", read_part, XML_SETS, paragraphs, FILE_OF(DOCX, "x/styles", "w/d.xml", "<body><p><t>", ""),
     .accepts = true},
    {"DOCX styles", read_part, XML_SETS, styles, FILE_OF(DOCX, "x/styles", "w/s.xml", "", ""), .accepts = true},
    {"DOCX notes", read_part, XML_SETS, paragraphs, FILE_OF(DOCX, "x/footnotes", "w/s.xml", "<footnote>", ""),
     .accepts = true},
    {"XLSX sheet", read_part, XML_SETS, cells, FILE_OF(XLSX, "x/worksheet", "w/s.xml", "<sheetData>", ""),
     .accepts = true},
    {"XLSX strings", read_part, XML_SETS, strings, FILE_OF(XLSX, "x/sharedStrings", "w/s.xml", "", ""),
     .accepts = true},
    {"XLSX formats", read_part, XML_SETS, formats, FILE_OF(XLSX, "x/styles", "w/s.xml", "", ""), .accepts = true},
    {"PPTX slide", read_part, XML_SETS, shapes, FILE_OF(PPTX, "x/slide", "w/s.xml", "<sp>", ""), .accepts = true},
    {"relationships of Office", read_part, XML_SETS, relations, FILE_OF(DOCX, "x/y", RELATIONS, "", ""),
     .accepts = true},
    {"EPUB package", read_part, XML_SETS, books, FILE_OF(EPUB, "x/y", "w/d.xml", "", ""), .accepts = true},
    {"EPUB chapter", read_part, XML_SETS, NULL, FILE_OF(EPUB, "x/y", "w/s.xml", "<html>", ""), .accepts = true},
    {"text of a PDF", read_pages, HOSTILE_TEXT, pages, .accepts = true},
    {.name = NULL},
};
