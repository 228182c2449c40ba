/* DOCX (ECMA-376 part 1, §17): paragraphs, headings by their styles, lists, tables, notes at their references.
 *
 * A place is a line: the paragraphs and rows of tables that have text, counted from 1. Left out are headers, footers,
 * comments, deleted and hidden text, and the table of contents, which would repeat the headings. */
#include "documents/blocks.h"
#include "documents/docx_styles.h"
#include "documents/office.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME          "DOCX"
#define NOTES_MAX     20000
#define NOTE_MAX      ((size_t)16 << 10) /* bytes */
#define NESTED_MAX    8                  /* paragraphs within paragraphs: text boxes */
#define REFERENCED    16                 /* notes of one paragraph */
#define HEADING_LEVEL 6                  /* the deepest level of a document */

struct docx_note {
    int id;
    struct piece text;
    bool told;
};

struct docx_notes {
    struct docx_note *rows;
    size_t count;
};

struct docx_paragraph {
    enum docx_style style;
    unsigned level;
    bool is_item;
};

struct docx {
    struct office office;
    struct xml xml;
    struct blocks blocks;
    struct docx_styles styles;
    struct docx_notes footnotes, endnotes;
    struct docx_paragraph paragraphs[NESTED_MAX + 1]; /* the innermost is the last; [0] is no paragraph */
    size_t nested;                                    /* how many are open, those without a place included */
    unsigned tables;                                  /* open, within each other */
    struct docx_note *referenced[REFERENCED];
    size_t referenced_count;
    bool in_text, hidden, has_title;
};

/* ---- notes ------------------------------------------------------------------------------------------------------- */

static bool docx_add_note(struct docx *docx, struct docx_notes *notes, struct xml *xml, struct status *st)
{
    if (notes->count == NOTES_MAX)
        return fail(st, RESOURCE_EXHAUSTED, "has more than %d notes", NOTES_MAX);
    struct docx_note *note = &notes->rows[notes->count++];
    note->id = xml_number(xml, "id", -1);
    return office_text(xml, &docx->office.scratch, NOTE_MAX, &note->text, st);
}

static int docx_by_note(const void *one, const void *other)
{
    int a = ((const struct docx_note *)one)->id, b = ((const struct docx_note *)other)->id;
    return a < b ? -1 : a > b;
}

static bool docx_read_notes(struct docx *docx, struct docx_notes *notes, const struct zip_entry *part,
                            const char *element, struct status *st)
{
    struct xml xml;
    if (!part)
        return true;
    notes->rows = arena_zalloc(&docx->office.scratch, NOTES_MAX * sizeof *notes->rows);
    if (!notes->rows)
        return fail(st, RESOURCE_EXHAUSTED, "takes too much memory");
    bool good = xml_open(&xml, &docx->office.zip, part, st);
    while (good && xml_next(&xml, st))
        if (xml_starts(&xml, element))
            good = docx_add_note(docx, notes, &xml, st);
    xml_close(&xml);
    if (notes->count)
        qsort(notes->rows, notes->count, sizeof *notes->rows, docx_by_note);
    return st->code == OK;
}

static void docx_refer_to_note(struct docx *docx, const struct docx_notes *notes)
{
    const struct docx_note wanted = {.id = xml_number(&docx->xml, "id", -1)};
    struct docx_note *note =
        notes->count ? bsearch(&wanted, notes->rows, notes->count, sizeof wanted, docx_by_note) : NULL;
    char mark[32];
    if (!note || note->told || docx->referenced_count == REFERENCED)
        return;
    note->told = true;
    docx->referenced[docx->referenced_count++] = note;
    snprintf(mark, sizeof mark, "[%d]", note->id);
    blocks_print(&docx->blocks, mark);
}

/* Behind the paragraph or the table that refers to them. */
static void docx_tell_notes(struct docx *docx)
{
    for (size_t i = 0; i < docx->referenced_count; i++) {
        char mark[32];
        snprintf(mark, sizeof mark, "[%d] ", docx->referenced[i]->id);
        blocks_print(&docx->blocks, mark);
        blocks_add(&docx->blocks, docx->referenced[i]->text);
        blocks_end_note(&docx->blocks);
    }
    docx->referenced_count = 0;
}

/* ---- paragraphs -------------------------------------------------------------------------------------------------- */

static struct docx_paragraph *docx_innermost(struct docx *docx)
{
    return &docx->paragraphs[docx->nested < NESTED_MAX ? docx->nested : NESTED_MAX];
}

static void docx_end_line(struct docx *docx)
{
    const struct docx_paragraph *paragraph = docx_innermost(docx);
    if (docx->tables) {
        blocks_print(&docx->blocks, " ");
        return;
    }
    switch (paragraph->style) {
    case DOCX_CONTENTS:
        blocks_drop_line(&docx->blocks);
        return;
    case DOCX_TITLE:
        document_set_title(docx->office.document,
                           (struct piece){buffer_text(&docx->blocks.line), docx->blocks.line.length});
        docx->has_title = true;
        blocks_end_heading(&docx->blocks, 1);
        break;
    case DOCX_HEADING: {
        unsigned level = paragraph->level + docx->has_title;
        blocks_end_heading(&docx->blocks, level < HEADING_LEVEL ? level : HEADING_LEVEL);
        break;
    }
    default:
        (paragraph->is_item ? blocks_end_item : blocks_end_paragraph)(&docx->blocks);
    }
    docx_tell_notes(docx);
}

/* A text box ends the line that it stands in. */
static void docx_begin_paragraph(struct docx *docx)
{
    if (docx->nested)
        docx_end_line(docx);
    docx->nested++;
    *docx_innermost(docx) = (struct docx_paragraph){0};
}

static void docx_end_paragraph(struct docx *docx)
{
    docx_end_line(docx);
    docx->nested -= docx->nested > 0;
}

static void docx_take_style(struct docx *docx)
{
    struct docx_paragraph *paragraph = docx_innermost(docx);
    struct piece id = {"", 0};
    xml_attribute(&docx->xml, "val", &id);
    paragraph->style = docx_style_find(&docx->styles, id, &paragraph->level);
}

static void docx_take_outline(struct docx *docx)
{
    struct docx_paragraph *paragraph = docx_innermost(docx);
    int level = xml_number(&docx->xml, "val", 9);
    if (level < 9 && paragraph->style == DOCX_PLAIN)
        *paragraph = (struct docx_paragraph){DOCX_HEADING, (unsigned)level + 1, false};
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void docx_begin_table(struct docx *docx)
{
    if (docx->tables++ == 0 && docx->nested == 0)
        blocks_begin_table(&docx->blocks);
}

static void docx_end_table(struct docx *docx)
{
    if (!docx->tables || --docx->tables)
        return;
    docx_tell_notes(docx);
    blocks_close(&docx->blocks);
}

/* A table within a cell is text of the cell. */
static void docx_begin_cell(struct docx *docx)
{
    if (docx->tables == 1)
        blocks_begin_cell(&docx->blocks);
}

static void docx_end_row(struct docx *docx)
{
    if (docx->tables == 1)
        blocks_end_row(&docx->blocks);
    else
        blocks_print(&docx->blocks, " ");
}

/* ---- the body ---------------------------------------------------------------------------------------------------- */

/* Elements outside the visible text of the document, or with text that stands there twice. */
static bool docx_is_left_out(const struct xml *xml)
{
    static const char *const names[] = {"moveFrom", "Fallback", "pPrChange", "rPrChange", "del", "tblPrChange"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (xml_starts(xml, names[i]))
            return true;
    return false;
}

static void docx_begin_text(struct docx *docx)
{
    docx->in_text = true;
}

static void docx_begin_run(struct docx *docx)
{
    docx->hidden = false;
}

static void docx_take_hidden(struct docx *docx)
{
    struct piece value;
    docx->hidden = !xml_attribute(&docx->xml, "val", &value) || !(piece_is(value, "0") || piece_is(value, "false"));
}

static void docx_take_item(struct docx *docx)
{
    docx_innermost(docx)->is_item = xml_number(&docx->xml, "val", 0) > 0;
}

static void docx_take_space(struct docx *docx)
{
    blocks_print(&docx->blocks, " ");
}

static void docx_take_hyphen(struct docx *docx)
{
    blocks_print(&docx->blocks, "-");
}

static void docx_refer_to_footnote(struct docx *docx)
{
    docx_refer_to_note(docx, &docx->footnotes);
}

static void docx_refer_to_endnote(struct docx *docx)
{
    docx_refer_to_note(docx, &docx->endnotes);
}

static void docx_end_text(struct docx *docx)
{
    docx->in_text = false;
}

static const struct docx_element {
    const char *name;
    void (*begins)(struct docx *docx);
    void (*ends)(struct docx *docx);
} elements[] = {
    {"t", docx_begin_text, docx_end_text},
    {"r", docx_begin_run, docx_begin_run},
    {"p", docx_begin_paragraph, docx_end_paragraph},
    {"pStyle", docx_take_style, NULL},
    {"numId", docx_take_item, NULL},
    {"outlineLvl", docx_take_outline, NULL},
    {"vanish", docx_take_hidden, NULL},
    {"tab", docx_take_space, NULL},
    {"br", docx_take_space, NULL},
    {"cr", docx_take_space, NULL},
    {"noBreakHyphen", docx_take_hyphen, NULL},
    {"footnoteReference", docx_refer_to_footnote, NULL},
    {"endnoteReference", docx_refer_to_endnote, NULL},
    {"tbl", docx_begin_table, docx_end_table},
    {"tc", docx_begin_cell, NULL},
    {"tr", NULL, docx_end_row},
};

static void docx_take_tag(struct docx *docx)
{
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        if (!piece_is(docx->xml.name, elements[i].name))
            continue;
        void (*take)(struct docx *) = docx->xml.kind == XML_START ? elements[i].begins : elements[i].ends;
        if (take)
            take(docx);
        return;
    }
}

static bool docx_read_body(struct docx *docx, const struct zip_entry *part, struct status *st)
{
    bool good = xml_open(&docx->xml, &docx->office.zip, part, st);
    while (good && xml_next(&docx->xml, st)) {
        if (docx_is_left_out(&docx->xml))
            good = xml_skip(&docx->xml, st);
        else if (docx->xml.kind != XML_TEXT)
            docx_take_tag(docx);
        else if (docx->in_text && !docx->hidden)
            blocks_add(&docx->blocks, docx->xml.text);
        good = good && blocks_fit(&docx->blocks, st);
    }
    xml_close(&docx->xml);
    if (st->code == OK)
        docx_end_line(docx);
    blocks_close(&docx->blocks);
    return st->code == OK;
}

static bool docx_read_parts(struct docx *docx, struct status *st)
{
    struct relations relations;
    const struct zip_entry *main_part = office_main_part(&docx->office, NAME, st);
    return main_part && office_relations(&docx->office, main_part, &relations, st) &&
           docx_styles_read(&docx->styles, &docx->office, relation_by_type(&relations, "styles"), st) &&
           docx_read_notes(docx, &docx->footnotes, relation_by_type(&relations, "footnotes"), "footnote", st) &&
           docx_read_notes(docx, &docx->endnotes, relation_by_type(&relations, "endnotes"), "endnote", st) &&
           docx_read_body(docx, main_part, st);
}

bool read_docx(struct document *document, struct piece bytes, const struct document_means *means, struct status *st)
{
    struct docx *docx = calloc(1, sizeof *docx);
    if (!docx)
        return fail(st, RESOURCE_EXHAUSTED, "there is no memory to read it");
    blocks_init(&docx->blocks, document);
    bool read = office_open(&docx->office, document, bytes, NAME, means, st) && docx_read_parts(docx, st);
    office_close(&docx->office);
    blocks_fini(&docx->blocks);
    free(docx);
    return read;
}
