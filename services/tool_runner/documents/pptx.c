/* PPTX (ECMA-376 part 1, §19): slides in their order, each under its title, with its notes behind it.
 *
 * A place is a slide. A shape's lines stay together, as do the rows of a table. Left out are slide numbers, dates,
 * headers and footers. */
#include "documents/blocks.h"
#include "documents/office.h"

#include <stdlib.h>
#include <string.h>

#define NAME        "PPTX"
#define SLIDES_MAX  10000
#define TITLE_LEVEL 2 /* level 1 would be the title of the document */

enum pptx_pass { PASS_TITLE, PASS_BODY, PASS_NOTES };

struct pptx {
    struct office office;
    struct xml xml;
    struct blocks blocks;
    const struct zip_entry **slides;
    size_t slide_count;

    /* of the part in hand */
    enum pptx_pass pass;
    bool is_title, is_left_out; /* the shape */
    bool is_notes;              /* the shape holds the text of notes */
    bool in_text, in_field;
    unsigned tables; /* within each other */
};

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static void pptx_begin_shape(struct pptx *pptx)
{
    pptx->is_title = pptx->is_left_out = pptx->is_notes = false;
}

/* The kind of a placeholder stands in front of its text. */
static void pptx_take_placeholder(struct pptx *pptx)
{
    static const char *const left_out[] = {"sldNum", "dt", "ftr", "hdr", "sldImg"};
    struct piece type = {"", 0};
    xml_attribute(&pptx->xml, "type", &type);
    pptx->is_title = piece_is(type, "title") || piece_is(type, "ctrTitle");
    pptx->is_notes = piece_is(type, "body");
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
        pptx->is_left_out |= piece_is(type, left_out[i]);
}

static bool pptx_is_wanted(const struct pptx *pptx)
{
    if (pptx->is_left_out || pptx->in_field)
        return false;
    return pptx->pass == PASS_TITLE ? pptx->is_title : pptx->pass == PASS_NOTES ? pptx->is_notes : !pptx->is_title;
}

static void pptx_end_paragraph(struct pptx *pptx)
{
    if (pptx->tables || pptx->pass == PASS_TITLE)
        blocks_print(&pptx->blocks, " ");
    else
        blocks_end_row(&pptx->blocks);
}

static void pptx_end_row(struct pptx *pptx)
{
    if (pptx->tables == 1)
        blocks_end_row(&pptx->blocks);
}

static void pptx_begin_cell(struct pptx *pptx)
{
    if (pptx->tables == 1)
        blocks_begin_cell(&pptx->blocks);
}

static void pptx_begin_table(struct pptx *pptx)
{
    pptx->tables++;
}

static void pptx_end_table(struct pptx *pptx)
{
    pptx->tables -= pptx->tables > 0;
    blocks_close(&pptx->blocks);
}

static void pptx_end_shape(struct pptx *pptx)
{
    if (pptx->pass != PASS_TITLE)
        blocks_close(&pptx->blocks);
    pptx_begin_shape(pptx);
}

static void pptx_begin_text(struct pptx *pptx)
{
    pptx->in_text = true;
}

static void pptx_end_text(struct pptx *pptx)
{
    pptx->in_text = false;
}

static void pptx_begin_field(struct pptx *pptx)
{
    struct piece type = {"", 0};
    xml_attribute(&pptx->xml, "type", &type);
    pptx->in_field = piece_is(type, "slidenum") || piece_begins(type, "datetime");
}

static void pptx_end_field(struct pptx *pptx)
{
    pptx->in_field = false;
}

static void pptx_take_space(struct pptx *pptx)
{
    blocks_print(&pptx->blocks, " ");
}

static const struct pptx_element {
    const char *name;
    void (*begins)(struct pptx *pptx);
    void (*ends)(struct pptx *pptx);
} elements[] = {
    {"sp", pptx_begin_shape, pptx_end_shape},
    {"graphicFrame", pptx_begin_shape, pptx_end_shape},
    {"ph", pptx_take_placeholder, NULL},
    {"t", pptx_begin_text, pptx_end_text},
    {"p", NULL, pptx_end_paragraph},
    {"br", pptx_take_space, NULL},
    {"fld", pptx_begin_field, pptx_end_field},
    {"tbl", pptx_begin_table, pptx_end_table},
    {"tc", pptx_begin_cell, NULL},
    {"tr", NULL, pptx_end_row},
};

static void pptx_take_tag(struct pptx *pptx)
{
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        if (!piece_is(pptx->xml.name, elements[i].name))
            continue;
        void (*take)(struct pptx *) = pptx->xml.kind == XML_START ? elements[i].begins : elements[i].ends;
        if (take)
            take(pptx);
        return;
    }
}

/* ---- slides ------------------------------------------------------------------------------------------------------ */

static bool pptx_pass_over_part(struct pptx *pptx, const struct zip_entry *part, enum pptx_pass pass, struct status *st)
{
    pptx->pass = pass;
    pptx->tables = 0;
    pptx->in_text = pptx->in_field = false;
    pptx_begin_shape(pptx);
    bool good = xml_open(&pptx->xml, &pptx->office.zip, part, st);
    while (good && xml_next(&pptx->xml, st)) {
        if (xml_starts(&pptx->xml, "Fallback"))
            good = xml_skip(&pptx->xml, st);
        else if (pptx->xml.kind != XML_TEXT)
            pptx_take_tag(pptx);
        else if (pptx->in_text && pptx_is_wanted(pptx))
            blocks_add(&pptx->blocks, pptx->xml.text);
        good = good && blocks_fit(&pptx->blocks, st);
    }
    xml_close(&pptx->xml);
    return st->code == OK;
}

static bool pptx_read_title(struct pptx *pptx, const struct zip_entry *slide, struct status *st)
{
    struct buffer *line = &pptx->blocks.line;
    document_end_headings(pptx->office.document);
    if (!pptx_pass_over_part(pptx, slide, PASS_TITLE, st))
        return false;
    if (line->length)
        document_set_title(pptx->office.document, (struct piece){buffer_text(line), line->length});
    blocks_end_heading(&pptx->blocks, TITLE_LEVEL);
    return true;
}

static bool pptx_read_slide(struct pptx *pptx, const struct zip_entry *slide, struct status *st)
{
    struct relations relations;
    if (!pptx_read_title(pptx, slide, st) || !pptx_pass_over_part(pptx, slide, PASS_BODY, st))
        return false;
    blocks_close(&pptx->blocks);
    if (!office_relations(&pptx->office, slide, &relations, st))
        return false;
    const struct zip_entry *notes = relation_by_type(&relations, "notesSlide");
    if (notes && !pptx_pass_over_part(pptx, notes, PASS_NOTES, st))
        return false;
    blocks_close(&pptx->blocks);
    return true;
}

static bool pptx_list_slides(struct pptx *pptx, const struct zip_entry *part, const struct relations *relations,
                             struct status *st)
{
    struct piece id;
    pptx->slides = arena_alloc(&pptx->office.scratch, SLIDES_MAX * sizeof(*pptx->slides));
    if (!pptx->slides)
        return fail(st, RESOURCE_EXHAUSTED, "takes too much memory");
    bool good = xml_open(&pptx->xml, &pptx->office.zip, part, st);
    while (good && xml_next(&pptx->xml, st)) {
        const struct zip_entry *slide = NULL;
        if (xml_starts(&pptx->xml, "sldId") && xml_attribute(&pptx->xml, "r:id", &id))
            slide = relation_by_id(relations, id);
        if (slide && pptx->slide_count < SLIDES_MAX)
            pptx->slides[pptx->slide_count++] = slide;
    }
    xml_close(&pptx->xml);
    return st->code == OK;
}

static bool pptx_read_parts(struct pptx *pptx, struct status *st)
{
    struct relations relations;
    const struct zip_entry *main_part = office_main_part(&pptx->office, NAME, st);
    if (!main_part || !office_relations(&pptx->office, main_part, &relations, st) ||
        !pptx_list_slides(pptx, main_part, &relations, st))
        return false;
    for (size_t i = 0; i < pptx->slide_count; i++) {
        pptx->blocks.place = (int)i + 1;
        if (!pptx_read_slide(pptx, pptx->slides[i], st))
            return false;
    }
    return true;
}

bool read_pptx(struct document *document, struct piece bytes, const struct document_means *means, struct status *st)
{
    struct pptx *pptx = calloc(1, sizeof *pptx);
    if (!pptx)
        return fail(st, RESOURCE_EXHAUSTED, "there is no memory to read it");
    blocks_init(&pptx->blocks, document);
    bool read = office_open(&pptx->office, document, bytes, NAME, means, st) && pptx_read_parts(pptx, st);
    office_close(&pptx->office);
    blocks_fini(&pptx->blocks);
    free(pptx);
    return read;
}
