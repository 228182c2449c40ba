/* XLSX, PPTX, EPUB, and the text of PDF. Each case is the parts of a file and what is read of it, a paragraph as
 * "LINES HEADING > HEADING | TEXT¶". */
#include "documents/pdf.h"

#include "unit.h"

#include "office_check.h"

/* ---- XLSX -------------------------------------------------------------------------------------------------------- */

static void begin_office(struct zip_maker *maker, const char *main_part)
{
    struct buffer text;
    buffer_init(&text, 1 << 20);
    buffer_printf(&text,
                  RELATIONS "<Relationship Id=\"a\" Type=\"" URI "officeDocument\" Target=\"%s\"/></Relationships>",
                  main_part);
    zip_maker_init(maker);
    zip_maker_add(maker, "_rels/.rels", buffer_text(&text));
    buffer_fini(&text);
}

static void make_xlsx(struct zip_maker *maker, const char *properties, const char *rows)
{
    struct buffer text;
    buffer_init(&text, 1 << 20);
    begin_office(maker, "xl/workbook.xml");
    buffer_printf(&text,
                  "<workbook><workbookPr %s/><sheets><sheet name=\"R&amp;D\" sheetId=\"1\" r:id=\"s\"/>"
                  "<sheet name=\"h\" state=\"hidden\" r:id=\"s\"/></sheets></workbook>",
                  properties);
    zip_maker_add(maker, "xl/workbook.xml", buffer_text(&text));
    zip_maker_add(maker, "xl/_rels/workbook.xml.rels",
                  RELATIONS "<Relationship Id=\"s\" Type=\"" URI "worksheet\" Target=\"sheets/1.xml\"/>"
                            "<Relationship Id=\"t\" Type=\"" URI "sharedStrings\" Target=\"strings.xml\"/>"
                            "<Relationship Id=\"u\" Type=\"" URI "styles\" Target=\"styles.xml\"/></Relationships>");
    zip_maker_add(maker, "xl/strings.xml",
                  "<sst><si><t>code</t></si><si><r><t>mea</t></r><r><t>ning</t></r><rPh><t>no</t></rPh></si></sst>");
    zip_maker_add(
        maker, "xl/styles.xml",
        "<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"[$-411]ggge&quot;年&quot;m&quot;月&quot;\"/>"
        "<numFmt numFmtId=\"165\" formatCode=\"[Red]0.00&quot; days&quot;\"/><numFmt numFmtId=\"166\" "
        "formatCode=\"[h]:mm\"/></numFmts><cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs><cellXfs>"
        "<xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"22\"/><xf numFmtId=\"10\"/>"
        "<xf numFmtId=\"164\"/><xf numFmtId=\"165\"/><xf numFmtId=\"166\"/><xf numFmtId=\"20\"/></cellXfs>"
        "</styleSheet>");
    buffer_clear(&text);
    buffer_printf(&text, "<worksheet><sheetData>%s</sheetData></worksheet>", rows);
    zip_maker_add(maker, "xl/sheets/1.xml", buffer_text(&text));
    buffer_fini(&text);
}

static void check_xlsx(const char *properties, const char *rows, const char *expected)
{
    struct zip_maker maker;
    make_xlsx(&maker, properties, rows);
    office_check_text(&maker, XLSX, expected);
}

#define NUMBER(style, value) "<c s=\"" style "\"><v>" value "</v></c>"
#define STRING(value)        "<c t=\"inlineStr\"><is><t>" value "</t></is></c>"

static void xlsx_sheets_are_rows_under_their_header(void **state)
{
    check_xlsx("",
               "<row r=\"2\"><c r=\"A2\" t=\"s\"><v>0</v></c><c r=\"B2\" t=\"s\"><v>1</v></c></row><row r=\"4\">"
               "<c r=\"A4\" t=\"inlineStr\"><is><t>E-1</t></is></c><c r=\"C4\" t=\"str\"><f>A1</f><v>broken</v></c>"
               "</row><row r=\"5\"><c r=\"A5\" t=\"b\"><v>1</v></c><c r=\"B5\" t=\"e\"><v>#N/A</v></c></row>",
               "4-4 R&D > code | meaning | E-1 | | broken¶5-5 R&D > code | meaning | TRUE | #N/A¶");
    check_xlsx("",
               "<row>" STRING("Answer") STRING("Q") "</row><row>" STRING("yes")
                   STRING("really?") "</row><row>" STRING("no question") "</row>",
               "2-2 answer R&D > really? | yes¶");
    check_xlsx("", "<row r=\"3\"><c t=\"s\"><v>0</v></c></row>", "3-3 R&D > code | code¶");
    check_xlsx("", "<row><c t=\"s\"><v>99</v></c><c t=\"s\"><v>x</v></c><c><v></v></c></row>", "");
}

static bool sheet_is_over(void *data)
{
    return ++*(int *)data > 1000;
}

static void xlsx_reading_whose_caller_leaves_ends_within_a_row(void **state)
{
    struct zip_maker maker;
    struct document document;
    struct status st = {0};
    struct buffer rows;
    int asked = 0;
    size_t size;
    const struct document_means means = {.is_over = sheet_is_over, .data = &asked};
    buffer_init(&rows, 1 << 20);
    for (int i = 0; i < 3000; i++)
        buffer_print(&rows, "<row><c t=\"s\"><v>0</v></c></row>");
    make_xlsx(&maker, "", buffer_text(&rows));
    const char *bytes = zip_maker_end(&maker, &size);
    assert_false(document_read_file(&document, XLSX, bytes, size, &means, &st));
    assert_int_equal(st.code, CANCELLED);
    assert_in_range(document.count, 1, 1000);
    document_fini(&document);
    zip_maker_fini(&maker);
    buffer_fini(&rows);
}

static void xlsx_numbers_are_shown_as_their_formats_have_them(void **state)
{
    check_xlsx(
        "",
        "<row>" STRING("n") "</row><row>" NUMBER("0", "0.1") NUMBER("0", "1.2300000000000001E-2") NUMBER("0", "45296")
            NUMBER("1", "45296") NUMBER("2", "45296.5625") NUMBER("3", "0.125") NUMBER("4", "45296") NUMBER("5", "2.5")
                NUMBER("6", "1.25") NUMBER("7", "0.34375") NUMBER("1", "-1") NUMBER("1", "59") NUMBER("1", "61")
                    NUMBER("99", "7") NUMBER("1", "1e300") "</row>",
        "2-2 R&D > n | 0.1 | 0.0123 | 45296 | 2024-01-05 | 2024-01-05 13:30 | 12.5% | 2024-01-05 | 2.5 | 30:00 | "
        "08:15 | -1 | 1900-02-28 | 1900-03-01 | 7 | 1e+300¶");
    check_xlsx("date1904=\"1\"", "<row>" STRING("n") "</row><row>" NUMBER("1", "43834") "</row>",
               "2-2 R&D > n | 2024-01-05¶");
}

/* ---- PPTX -------------------------------------------------------------------------------------------------------- */

#define SHAPE(kind, text)                                                                                              \
    "<p:sp><p:nvSpPr><p:nvPr><p:ph type=\"" kind "\"/></p:nvPr></p:nvSpPr><p:txBody>" text "</p:txBody></p:sp>"
#define LINE(text) "<a:p><a:r><a:t>" text "</a:t></a:r></a:p>"

static void pptx_slides_stand_under_their_titles_with_their_notes(void **state)
{
    struct zip_maker maker;
    begin_office(&maker, "ppt/presentation.xml");
    zip_maker_add(&maker, "ppt/presentation.xml",
                  "<p:presentation><p:sldIdLst><p:sldId id=\"256\" r:id=\"b\"/><p:sldId id=\"257\" r:id=\"a\"/>"
                  "</p:sldIdLst></p:presentation>");
    zip_maker_add(&maker, "ppt/_rels/presentation.xml.rels",
                  RELATIONS "<Relationship Id=\"a\" Type=\"" URI "slide\" Target=\"slides/1.xml\"/>"
                            "<Relationship Id=\"b\" Type=\"" URI "slide\" Target=\"slides/2.xml\"/></Relationships>");
    zip_maker_add(
        &maker, "ppt/slides/1.xml",
        "<p:sld>" SHAPE("body", LINE("no title")) "<p:graphicFrame><a:tbl><a:tr><a:tc>" LINE("a") "</a:tc><a:tc>" LINE(
            "b") "</a:tc></a:tr><a:tr><a:tc>" LINE("c") "</a:tc><a:tc>" LINE("d") "</a:tc></a:tr></a:tbl>"
                                                                                  "</p:graphicFrame></p:sld>");
    zip_maker_add(&maker, "ppt/slides/2.xml",
                  "<p:sld>" SHAPE("body", LINE("one") LINE("two")) SHAPE("ctrTitle", LINE("Rollout") LINE("plan"))
                      SHAPE("sldNum", "<a:p><a:fld type=\"slidenum\"><a:t>7</a:t></a:fld></a:p>") "</p:sld>");
    zip_maker_add(&maker, "ppt/slides/_rels/2.xml.rels",
                  RELATIONS "<Relationship Id=\"n\" Type=\"" URI "notesSlide\" Target=\"../notes/2.xml\"/>"
                            "</Relationships>");
    zip_maker_add(&maker, "ppt/notes/2.xml",
                  "<p:notes>" SHAPE("sldImg", LINE("no")) SHAPE("body", LINE("said aloud"))
                      SHAPE("sldNum", LINE("2")) "</p:notes>");
    office_check_text(&maker, PPTX,
                      "title Rollout plan¶1-1 Rollout plan | one\ntwo¶1-1 Rollout plan | said aloud¶2-2  | no title¶"
                      "2-2  | a | b\nc | d¶");
}

/* ---- EPUB -------------------------------------------------------------------------------------------------------- */

static void begin_epub(struct zip_maker *maker)
{
    zip_maker_init(maker);
    zip_maker_add(maker, "META-INF/container.xml", "<container><rootfile full-path=\"O/b.opf\"/></container>");
    zip_maker_add(maker, "O/b.opf",
                  "<package><metadata><dc:title>本</dc:title></metadata><manifest>"
                  "<item id=\"y\" href=\"../t/b%20c.xhtml#top\" media-type=\"application/xhtml+xml\"/>"
                  "<item id=\"x\" href=\"a.xhtml\" media-type=\"application/xhtml+xml\"/>"
                  "<item id=\"p\" href=\"a.png\" media-type=\"image/png\"/></manifest>"
                  "<spine><itemref idref=\"x\"/><itemref idref=\"p\"/><itemref idref=\"y\"/></spine></package>");
    zip_maker_add(maker, "O/a.xhtml", "<html><body><h1>One</h1><p>first</p>\n\n<p>second</p></body></html>");
    zip_maker_add(maker, "t/b c.xhtml", "<html><body><p>third&nbsp;&amp; last</p></body></html>");
}

static void epub_chapters_are_read_in_the_order_of_the_book(void **state)
{
    struct zip_maker maker;
    begin_epub(&maker);
    office_check_text(&maker, TEXT, "title 本¶1-1 One | first¶2-2 One | second¶3-3  | third\xc2\xa0& last¶");
    begin_epub(&maker);
    zip_maker_add(&maker, "META-INF/encryption.xml", "<e><CipherReference URI=\"t/b%20c.xhtml\"/></e>");
    office_check_refused(&maker, EPUB, "INVALID_ARGUMENT", "is encrypted ('t/b c.xhtml')");
}

/* ---- PDF --------------------------------------------------------------------------------------------------------- */

static void check_pdf(const char *output, const char *expected)
{
    struct document document;
    struct status st = {0};
    struct buffer out;
    buffer_init(&out, 1 << 20);
    assert_true(document_read(&document, TEXT, "", 0, &st));
    if (pdf_read_output(&document, (struct piece){output, strlen(output)}, NULL, &st))
        print_document(&out, &document);
    else
        buffer_print(&out, st.text);
    assert_string_equal(buffer_text(&out), expected);
    buffer_fini(&out);
    document_fini(&document);
}

#define WIDE "a line that is as wide as the column of its page"

static void pdf_pages_are_paragraphs_of_joined_lines(void **state)
{
    check_pdf("<head>\n<title>A &lt;b&gt;</title>\n</head>\n<body>\n<pre>\n" WIDE "\n" WIDE "\nend.\n\n" WIDE
              " and </pre> & more of it\n\n\f\f" WIDE "\n\f</pre>\n</body>",
              "title A <b>¶1-1  | " WIDE " " WIDE " end.¶1-1  | " WIDE " and </pre> & more of it¶3-3  | " WIDE "¶");
    check_pdf("<pre>\n夜間バックアップの開始時刻は毎日午前二時とし、\nその保存期間は十日間です。\n\f</pre>",
              "1-1  | 夜間バックアップの開始時刻は毎日午前二時とし、その保存期間は十日間です。¶");
    check_pdf("<pre>\n1. Heading\n\n" WIDE "\nshort\n" WIDE "\n\nlast\n\n\fnext\n</pre>",
              "1-1  | 1. Heading\n" WIDE " short\n" WIDE "¶1-1  | last¶2-2  | next¶");
    check_pdf("<pre>\n\n\f\n\f</pre>",
              "is a PDF document without text, as scanners make them; recognise its text first (OCR)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xlsx_sheets_are_rows_under_their_header),
        cmocka_unit_test(xlsx_reading_whose_caller_leaves_ends_within_a_row),
        cmocka_unit_test(xlsx_numbers_are_shown_as_their_formats_have_them),
        cmocka_unit_test(pptx_slides_stand_under_their_titles_with_their_notes),
        cmocka_unit_test(epub_chapters_are_read_in_the_order_of_the_book),
        cmocka_unit_test(pdf_pages_are_paragraphs_of_joined_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
