"""Makes documents of offices, books and PDFs for tests: small, true ones, and hostile ones."""
import io
import zipfile
from xml.sax.saxutils import escape

RELATIONS = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"


def archive(files, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        for name, text in files.items():
            made.writestr(name, text)
    return out.getvalue()


def relations(rows):
    """rows: id -> (type, target)"""
    return f"<Relationships {RELATIONS}>" + "".join(
        f'<Relationship Id="{id}" Type="{TYPE}{kind}" Target="{target}"/>' for id, (kind, target) in rows.items()) + "</Relationships>"


def properties(title):
    return f'<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>{escape(title)}</dc:title><dc:creator>山田</dc:creator><dc:language>ja</dc:language><dcterms:created>2024-01-05T00:00:00Z</dcterms:created></cp:coreProperties>'


def office(main, title, files):
    return archive({"[Content_Types].xml": "<Types/>", "docProps/core.xml": properties(title), "_rels/.rels":
                    f'<Relationships {RELATIONS}><Relationship Id="a" Type="{TYPE}officeDocument" Target="{main}"/>'
                    f'<Relationship Id="b" Type="x/core-properties" Target="docProps/core.xml"/></Relationships>', **files})


def docx(blocks, title=""):
    """blocks: text, or (style, text), or a list of rows"""
    def paragraph(style, text):
        return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{escape(text)}</w:t></w:r></w:p>'

    def block(one):
        if isinstance(one, list):
            return "<w:tbl>" + "".join("<w:tr>" + "".join(f"<w:tc>{paragraph('', cell)}</w:tc>" for cell in row) + "</w:tr>" for row in one) + "</w:tbl>"
        return paragraph(*one) if isinstance(one, tuple) else paragraph("", one)
    styles = "".join(f'<w:style w:styleId="h{n}"><w:name w:val="heading {n}"/></w:style>' for n in range(1, 7))
    return office("word/document.xml", title, {
        "word/_rels/document.xml.rels": relations({"s": ("styles", "styles.xml")}),
        "word/styles.xml": f'<w:styles xmlns:w="w">{styles}</w:styles>',
        "word/document.xml": '<w:document xmlns:w="w"><w:body>' + "".join(map(block, blocks)) + "</w:body></w:document>"})


def bomb():
    """A DOCX of 100 KB that unpacks to 400 MB."""
    return office("word/document.xml", "", {"word/document.xml": b"<w:document>" + b" " * 400_000_000})


def pdf(pages, title="", catalog=b"", trailer=b"", streams=None):
    """pages: lists of lines, in a Latin font; Japanese lines in one whose characters a map tells (Unicode, not embedded)."""
    def name(text):
        return b"<" + (b"\xfe\xff" + text.encode("utf-16-be")).hex().encode() + b">"

    def show(line):
        if line.isascii():
            return b"/F1 12 Tf (%s) Tj T*" % line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").encode()
        return b"/F2 12 Tf <%s> Tj T*" % line.encode("utf-16-be").hex().encode()
    objects = [b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog,
               b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(b"%d 0 R" % (7 + 2 * i) for i in range(len(pages))), len(pages)),
               b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", b"<< /Title %s /Author (A. & B.) >>" % name(title),
               b"<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /UniJIS-UCS2-H /DescendantFonts [6 0 R] >>",
               b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> "
               b"/FontDescriptor << /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 4 >> >>"]
    for i, lines in enumerate(pages):
        stream = (streams or {}).get(i, b"BT 14 TL 72 720 Td %s ET" % b" ".join(map(show, lines)))
        objects += [b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R /F2 5 0 R >> >> /Contents %d 0 R >>" % (8 + 2 * i),
                    b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream)]
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % place for place in places) + \
        b"trailer << /Size %d /Root 1 0 R /Info 4 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, len(out))


def xlsx(sheets, title=""):
    """sheets: name -> rows; a number is a number, ("date", serial) a date, None an empty cell"""
    strings, parts, listed = [], {}, {}

    def cell(place, value):
        if value is None:
            return ""
        if isinstance(value, tuple):
            return f'<c r="{place}" s="1"><v>{value[1]}</v></c>'
        if not isinstance(value, str):
            return f'<c r="{place}"><v>{value}</v></c>'
        strings.append(f"<si><t>{escape(value)}</t></si>")
        return f'<c r="{place}" t="s"><v>{len(strings) - 1}</v></c>'
    for number, (name, rows) in enumerate(sheets.items(), 1):
        text = "".join(f'<row r="{r}">' + "".join(cell(f"{chr(65 + c)}{r}", value) for c, value in enumerate(row)) + "</row>" for r, row in enumerate(rows, 1))
        parts[f"xl/worksheets/sheet{number}.xml"] = f"<worksheet><sheetData>{text}</sheetData></worksheet>"
        listed[f"r{number}"] = ("worksheet", f"worksheets/sheet{number}.xml")
    names = "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1))
    return office("xl/workbook.xml", title, {
        "xl/workbook.xml": f"<workbook><sheets>{names}</sheets></workbook>", "xl/sharedStrings.xml": f"<sst>{''.join(strings)}</sst>",
        "xl/styles.xml": '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
        "xl/_rels/workbook.xml.rels": relations({**listed, "s": ("sharedStrings", "sharedStrings.xml"), "t": ("styles", "styles.xml")}), **parts})


def pptx(slides, title=""):
    """slides: (title, lines, notes)"""
    def shape(kind, lines):
        return f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:txBody>' + \
            "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines) + "</p:txBody></p:sp>"
    parts, listed = {}, {}
    for number, (head, lines, notes) in enumerate(slides, 1):
        parts[f"ppt/slides/slide{number}.xml"] = f"<p:sld>{shape('body', lines)}{shape('title', [head])}{shape('sldNum', [str(number)])}</p:sld>"
        listed[f"r{number}"] = ("slide", f"slides/slide{number}.xml")
        if notes:
            parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations({"n": ("notesSlide", f"../notesSlides/n{number}.xml")})
            parts[f"ppt/notesSlides/n{number}.xml"] = f"<p:notes>{shape('body', [notes])}</p:notes>"
    order = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in range(1, len(slides) + 1))
    return office("ppt/presentation.xml", title, {"ppt/presentation.xml": f"<p:presentation><p:sldIdLst>{order}</p:sldIdLst></p:presentation>",
                                                  "ppt/_rels/presentation.xml.rels": relations(listed), **parts})


def epub(chapters, title="", **more):
    """chapters: XHTML bodies"""
    items = "".join(f'<item id="c{n}" href="text/c%20{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(chapters)))
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    return archive({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": f"<package><metadata><dc:title>{escape(title)}</dc:title><dc:creator>A. Writer</dc:creator></metadata><manifest>{items}</manifest><spine>{order}</spine></package>",
        **{f"OEBPS/text/c {n}.xhtml": f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>c</title></head><body>{body}</body></html>'
           for n, body in enumerate(chapters)}, **more})
