/* DOCX, and archives that are hostile. Each case is the parts of a file and what is read of it, a paragraph as
 * "LINES HEADING > HEADING | TEXT¶". */
#include <stdio.h>

#include "unit.h"

#include "office_check.h"

/* ---- DOCX -------------------------------------------------------------------------------------------------------- */

static void begin_docx(struct zip_maker *maker)
{
    zip_maker_init(maker);
    zip_maker_add(maker, "_rels/.rels",
                  RELATIONS "<Relationship Id=\"rId1\" Type=\"" URI "officeDocument\" Target=\"word/document.xml\"/>"
                            "<Relationship Id=\"rId2\" Type=\"x/core-properties\" Target=\"/docProps/core.xml\"/>"
                            "</Relationships>");
}

static void add_body(struct zip_maker *maker, const char *body)
{
    struct buffer text;
    buffer_init(&text, (size_t)1 << 30);
    buffer_printf(&text, "<?xml version=\"1.0\"?><!-- c --><w:document xmlns:w=\"w\"><w:body>%s</w:body></w:document>",
                  body);
    zip_maker_add(maker, "word/document.xml", buffer_text(&text));
    buffer_fini(&text);
}

static void check_docx(const char *body, const char *expected)
{
    struct zip_maker maker;
    begin_docx(&maker);
    zip_maker_add(&maker, "word/_rels/document.xml.rels",
                  RELATIONS "<Relationship Id=\"a\" Type=\"" URI "styles\" Target=\"styles.xml\"/>"
                            "<Relationship Id=\"b\" Type=\"" URI "footnotes\" Target=\"../word/./foot%20notes.xml\"/>"
                            "<Relationship Id=\"c\" Type=\"" URI "hyperlink\" Target=\"http://a\" "
                            "TargetMode=\"External\"/></Relationships>");
    zip_maker_add(&maker, "word/styles.xml",
                  "<w:styles><w:style w:styleId=\"1\"><w:name w:val=\"heading 1\"/></w:style>"
                  "<w:style w:styleId=\"2\"><w:name w:val=\"Heading 2\"/><w:basedOn w:val=\"1\"/></w:style>"
                  "<w:style w:styleId=\"own\"><w:name w:val=\"My part\"/><w:basedOn w:val=\"2\"/></w:style>"
                  "<w:style w:styleId=\"loop\"><w:name w:val=\"x\"/><w:basedOn w:val=\"loop\"/></w:style>"
                  "<w:style w:styleId=\"o\"><w:name w:val=\"o\"/><w:pPr><w:outlineLvl w:val=\"0\"/></w:pPr></w:style>"
                  "<w:style w:styleId=\"T\"><w:name w:val=\"Title\"/></w:style>"
                  "<w:style w:styleId=\"TOC1\"><w:name w:val=\"toc 1\"/></w:style></w:styles>");
    zip_maker_add(&maker, "word/foot notes.xml",
                  "<w:footnotes><w:footnote w:id=\"2\"><w:p><w:r><w:t>See the appendix.</w:t></w:r></w:p></w:footnote>"
                  "</w:footnotes>");
    add_body(&maker, body);
    office_check_text(&maker, DOCX, expected);
}

#define P(text)             "<w:p><w:r><w:t>" text "</w:t></w:r></w:p>"
#define STYLED(style, text) "<w:p><w:pPr><w:pStyle w:val=\"" style "\"/></w:pPr><w:r><w:t>" text "</w:t></w:r></w:p>"
#define ITEM(text)                                                                                                     \
    "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"3\"/></w:numPr></w:pPr><w:r><w:t>" text                \
    "</w:t></w:r></w:p>"
#define CELL(text) "<w:tc>" P(text) "</w:tc>"

static void docx_is_paragraphs_under_its_headings(void **state)
{
    check_docx(P("One.") P("") P("Two."), "1-1  | One.¶2-2  | Two.¶");
    check_docx(STYLED("1", "手引き") P("本文。") STYLED("own", "設定") P("値。") STYLED("o", "次") P("終わり。"),
               "title 手引き¶2-2 手引き | 本文。¶4-4 手引き > 設定 | 値。¶6-6 次 | 終わり。¶");
    check_docx(STYLED("T", "Guide") STYLED("1", "Part") P("text") STYLED("loop", "plain"),
               "title Guide¶3-3 Guide > Part | text¶4-4 Guide > Part | plain¶");
    check_docx(STYLED("TOC1", "Part 3") P("a"), "1-1  | a¶");
    check_docx("<w:p><w:pPr><w:outlineLvl w:val=\"1\"/></w:pPr><w:r><w:t>H</w:t></w:r></w:p>" P("a"), "2-2 H | a¶");
}

static void docx_runs_are_joined_and_white_space_is_folded(void **state)
{
    check_docx("<w:p><w:r><w:t>Po</w:t></w:r><w:r><w:t xml:space=\"preserve\">rt </w:t></w:r><w:r><w:tab/><w:t>90\n90"
               "</w:t><w:br/><w:t>&lt;a&gt; &amp; &#x3042;&#12356;&bad;&</w:t><w:noBreakHyphen/></w:r></w:p>",
               "1-1  | Port 90 90 <a> & あい&bad;&-¶");
    check_docx("<w:p><w:r><w:t><![CDATA[a < b]]></w:t></w:r></w:p>", "1-1  | a < b¶");
    check_docx(
        "<w:p><w:del><w:r><w:delText>no</w:delText><w:t>no</w:t></w:r></w:del><w:ins><w:r><w:t>yes</w:t></w:r>"
        "</w:ins><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>"
        "</w:p>",
        "1-1  | yes¶");
    check_docx("<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent>" P(
                   "box") "</w:txbxContent></mc:Choice>"
                          "<mc:Fallback><w:txbxContent>" P(
                              "box") "</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r><w:r>"
                                     "<w:t>beside</w:t></w:r></w:p>",
               "1-1  | box¶2-2  | beside¶");
}

static void docx_lists_tables_and_notes_stay_with_what_announces_them(void **state)
{
    check_docx(P("Keep:") ITEM("a") ITEM("b") P("after"), "1-3  | Keep:\n- a\n- b¶4-4  | after¶");
    check_docx(P("before") ITEM("a") ITEM("b"), "1-1  | before¶2-3  | - a\n- b¶");
    check_docx("<w:tbl><w:tr>" CELL("code") CELL("what") "</w:tr><w:tr>" CELL("E-1")
                   CELL("broken") "</w:tr><w:tr>" CELL("") CELL("") "</w:tr></w:tbl>" P("after"),
               "1-2  | code | what\nE-1 | broken¶3-3  | after¶");
    check_docx("<w:p><w:r><w:t>Ten days</w:t></w:r><w:r><w:footnoteReference w:id=\"2\"/></w:r></w:p>" P("next"),
               "1-2  | Ten days[2]\n[2] See the appendix.¶3-3  | next¶");
}

static void docx_notes_stand_behind_their_first_reference_alone(void **state)
{
    check_docx("<w:p><w:r><w:t>a</w:t><w:footnoteReference w:id=\"2\"/></w:r></w:p><w:p><w:r><w:t>b</w:t>"
               "<w:footnoteReference w:id=\"2\"/><w:footnoteReference w:id=\"9\"/></w:r></w:p>",
               "1-2  | a[2]\n[2] See the appendix.¶3-3  | b¶");
}

/* References, characters and sections at each place of the window's end. */
static void a_text_that_is_longer_than_the_window_is_read_whole(void **state)
{
    static const char unit[] = "&amp;あ<![CDATA[<い]]><!-- > -->&#x3042;", read[] = "&あ<いあ";
    enum { TIMES = 5000 };
    for (size_t shift = 0; shift < sizeof unit; shift++) {
        struct zip_maker maker;
        struct buffer body;
        struct document document;
        struct status st = {0};
        size_t size, at = 0;
        buffer_init(&body, (size_t)1 << 30);
        buffer_printf(&body, "<w:p><w:t>%.*s", (int)shift,
                      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        for (int i = 0; i < TIMES; i++)
            buffer_print(&body, unit);
        buffer_print(&body, "</w:t></w:p>");
        begin_docx(&maker);
        add_body(&maker, buffer_text(&body));
        const char *bytes = zip_maker_end(&maker, &size);
        assert_true(document_read_file(&document, DOCX, bytes, size, NULL, &st));
        for (const struct paragraph *paragraph = document.first; paragraph; paragraph = paragraph->next)
            for (size_t i = 0; i < paragraph->length; i++, at++)
                assert_int_equal(paragraph->text[i], at < shift ? 'x' : read[(at - shift) % (sizeof read - 1)]);
        assert_int_equal(at, shift + TIMES * (sizeof read - 1));
        document_fini(&document);
        zip_maker_fini(&maker);
        buffer_fini(&body);
    }
}

static void docx_takes_its_title_from_its_properties(void **state)
{
    struct zip_maker maker;
    begin_docx(&maker);
    zip_maker_add(&maker, "docProps/core.xml",
                  "<cp:coreProperties><dc:title>R&amp;D 手引き</dc:title></cp:coreProperties>");
    add_body(&maker, P("a"));
    office_check_text(&maker, TEXT, "title R&D 手引き¶1-1  | a¶"); /* known by its bytes, whatever its name is */
}

/* ---- hostile archives -------------------------------------------------------------------------------------------- */

static void a_part_that_unpacks_without_end_is_refused(void **state)
{
    size_t size = (size_t)200 << 20;
    char *zeros = malloc(size + 1);
    struct zip_maker maker;
    memset(zeros, ' ', size);
    begin_docx(&maker);
    zip_maker_add_lying(&maker, "word/document.xml", zeros, size, true, size);
    free(zeros);
    assert_true(maker.out.length < ((size_t)2 << 20));
    office_check_refused(&maker, DOCX, "RESOURCE_EXHAUSTED", "unpacks to more than 128 MiB");
}

static void a_part_of_another_size_than_promised_is_refused(void **state)
{
    static const char body[] = "<w:document><w:body>" P("a") "</w:body></w:document>";
    for (int i = 0; i < 4; i++) {
        struct zip_maker maker;
        begin_docx(&maker);
        zip_maker_add_lying(&maker, "word/document.xml", body, strlen(body), i & 1,
                            i & 2 ? strlen(body) + 7 : strlen(body) - 7);
        office_check_refused(&maker, DOCX, "INVALID_ARGUMENT", "is a zip archive that is damaged");
    }
}

static void an_archive_of_many_files_is_refused(void **state)
{
    struct zip_maker maker;
    char name[32];
    begin_docx(&maker);
    for (int i = 0; i < 60000; i++) {
        snprintf(name, sizeof name, "file%d", i);
        zip_maker_add_lying(&maker, name, "", 0, false, 0);
    }
    add_body(&maker, P("a"));
    office_check_refused(&maker, DOCX, "RESOURCE_EXHAUSTED", "60002 files; at most 10000 are read");
}

static void elements_without_end_and_entities_are_refused(void **state)
{
    struct buffer deep;
    struct zip_maker maker;
    buffer_init(&deep, 1 << 20);
    for (int i = 0; i < 1000; i++)
        buffer_print(&deep, "<w:sdt>");
    begin_docx(&maker);
    add_body(&maker, buffer_text(&deep));
    office_check_refused(&maker, DOCX, "INVALID_ARGUMENT", "more than 256 elements within each other");
    begin_docx(&maker);
    zip_maker_add(&maker, "word/document.xml",
                  "<!DOCTYPE d [<!ENTITY a \"aaaa\"><!ENTITY x SYSTEM \"file:///etc/passwd\">]><d>" P("&a;&x;") "</d>");
    office_check_refused(&maker, DOCX, "INVALID_ARGUMENT", "declares entities");
    begin_docx(&maker);
    buffer_clear(&deep);
    for (int i = 0; i < 10000; i++)
        buffer_printf(&deep, " a%d=\"%d\"", i, i);
    struct buffer tag;
    buffer_init(&tag, 1 << 20);
    buffer_printf(&tag, "<w:p%s/>", buffer_text(&deep));
    add_body(&maker, buffer_text(&tag));
    office_check_refused(&maker, DOCX, "INVALID_ARGUMENT", "a tag that never ends, or has more than 65536 bytes");
    buffer_fini(&tag);
    buffer_fini(&deep);
}

/* Cut at each byte, and with each byte changed: any outcome but a crash, and never a wrong one that is told as good. */
static void an_archive_that_is_cut_or_changed_is_refused_or_read(void **state)
{
    struct zip_maker maker;
    size_t size, refused = 0;
    begin_docx(&maker);
    add_body(&maker, P("H") P("some text"));
    const char *bytes = zip_maker_end(&maker, &size);
    for (size_t i = 0; i < 2 * size; i++) {
        struct document document;
        struct status st = {0};
        size_t length = i < size ? i : size;
        char *copy = malloc(length + 1);
        memcpy(copy, bytes, length);
        if (i >= size)
            copy[i - size] = (char)(copy[i - size] ^ 0x55);
        bool read = document_read_file(&document, DOCX, copy, length, NULL, &st);
        refused += !read;
        if (read) { /* what was changed counts for nothing, or hides a part */
            struct buffer out;
            buffer_init(&out, 1 << 20);
            print_document(&out, &document);
            assert_true(strcmp(buffer_text(&out), "1-1  | H¶2-2  | some text¶") == 0);
            buffer_fini(&out);
        }
        assert_true(i >= size || st.code == INVALID_ARGUMENT);
        document_fini(&document);
        free(copy);
    }
    assert_true(refused >= size);
    zip_maker_fini(&maker);
}

static bool docx_reading_is_over(void *data)
{
    return ++*(int *)data > 3;
}

static void a_reading_whose_caller_leaves_ends(void **state)
{
    struct zip_maker maker;
    struct document document;
    struct status st = {0};
    struct buffer body;
    int asked = 0;
    const struct document_means means = {.is_over = docx_reading_is_over, .data = &asked};
    size_t size;
    buffer_init(&body, (size_t)1 << 30);
    for (int i = 0; i < 100000; i++)
        buffer_print(&body, P("text"));
    begin_docx(&maker);
    add_body(&maker, buffer_text(&body));
    const char *bytes = zip_maker_end(&maker, &size);
    assert_false(document_read_file(&document, DOCX, bytes, size, &means, &st));
    assert_int_equal(st.code, CANCELLED);
    assert_true(document.count < 100000);
    document_fini(&document);
    zip_maker_fini(&maker);
    buffer_fini(&body);
}

static void a_kind_that_is_not_read_is_told_by_its_name(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        int format;
        const char *said;
    } cases[] = {
        {"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16, TEXT, "is a PNG image, which is not read"},
        {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", 10, TEXT, "is an old document of Office (DOC, XLS, PPT), or one"},
        {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", 10, DOCX, "is encrypted with a password, or an old document"},
        {"PK\3\4\0\0", 6, TEXT, "is a zip archive, which is not read; index the files"},
        {"\x7f"
         "ELF\0",
         5, TEXT, "is a program, which is not read"},
        {"\0\1\2", 3, TEXT, "is binary"},
        {"text", 4, DOCX, "is no DOCX document: it is not a zip archive"},
        {"{\\rtf1\\ansi Hello}", 18, TEXT, "is an RTF document, which is not read"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct document document;
        struct status st = {0};
        assert_false(document_read_file(&document, (Renga__V1__DocumentFormat)cases[i].format, cases[i].bytes,
                                        cases[i].size, NULL, &st));
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_contains(st.text, cases[i].said);
        document_fini(&document);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(docx_is_paragraphs_under_its_headings),
        cmocka_unit_test(docx_runs_are_joined_and_white_space_is_folded),
        cmocka_unit_test(docx_lists_tables_and_notes_stay_with_what_announces_them),
        cmocka_unit_test(docx_notes_stand_behind_their_first_reference_alone),
        cmocka_unit_test(a_text_that_is_longer_than_the_window_is_read_whole),
        cmocka_unit_test(docx_takes_its_title_from_its_properties),
        cmocka_unit_test(a_part_that_unpacks_without_end_is_refused),
        cmocka_unit_test(a_part_of_another_size_than_promised_is_refused),
        cmocka_unit_test(an_archive_of_many_files_is_refused),
        cmocka_unit_test(elements_without_end_and_entities_are_refused),
        cmocka_unit_test(an_archive_that_is_cut_or_changed_is_refused_or_read),
        cmocka_unit_test(a_reading_whose_caller_leaves_ends),
        cmocka_unit_test(a_kind_that_is_not_read_is_told_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
