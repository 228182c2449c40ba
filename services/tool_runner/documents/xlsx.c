/* XLSX (ECMA-376 part 1, §18): each sheet is a table; its first row with text is the header.
 *
 * A place is a row of the sheet, named by a heading. Rows are paragraphs, or pairs of questions and answers as in
 * CSV. Hidden sheets, formulas (their values remain), comments and charts are left out. */
#include "documents/xlsx.h"

#include "documents/blocks.h"
#include "documents/table.h"

#include <stdlib.h>
#include <string.h>

#define NAME         "XLSX"
#define SHEETS_MAX   1000
#define STRINGS_SOME 1024
#define VALUE_MAX    ((size_t)1 << 20) /* bytes of a cell */
#define SHEET_LEVEL  2                 /* of the heading with a sheet's name: level 1 would be the title */
#define HEADER_LEVEL 3
#define ROW_LAST     1048576

struct sheet {
    struct piece name;
    const struct zip_entry *part;
};

struct xlsx {
    struct office office;
    struct xml xml;
    struct blocks blocks; /* its line is the row in hand */
    struct xlsx_styles styles;
    struct piece *strings;
    size_t string_count, string_room;
    struct sheet *sheets;
    size_t sheet_count;

    /* of the sheet */
    const struct sheet *sheet;
    int row;
    bool has_header, has_pairs;
    size_t question, answer; /* columns */

    /* of the row: how much of the line stands before each cell, and at its end */
    size_t begins[TABLE_COLUMNS_MAX + 1], ends[TABLE_COLUMNS_MAX], count;

    /* of the cell */
    struct buffer value;
    size_t column;
    struct piece type; /* of the value: "s", "str", … */
    char type_room[16];
    int style;
    bool takes_text;
};

static bool xlsx_no_memory(struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "takes too much memory");
}

/* ---- shared strings ---------------------------------------------------------------------------------------------- */

/* How words are spoken (rPh) is left out. */
static bool xlsx_read_string(struct xlsx *xlsx, struct xml *xml, struct status *st)
{
    bool in_text = false, good = true;
    buffer_clear(&xlsx->value);
    while (good && xml_next(xml, st)) {
        if (xml_ends(xml, "si")) {
            struct arena *arena = &xlsx->office.scratch;
            if (xlsx->string_count == xlsx->string_room) {
                size_t room = xlsx->string_room ? 2 * xlsx->string_room : STRINGS_SOME;
                struct piece *grown = arena_alloc(arena, room * sizeof *grown);
                if (!grown)
                    return xlsx_no_memory(st);
                if (xlsx->string_count)
                    memcpy(grown, xlsx->strings, xlsx->string_count * sizeof *grown);
                xlsx->strings = grown;
                xlsx->string_room = room;
            }
            const char *text = arena_strndup(arena, buffer_text(&xlsx->value), xlsx->value.length);
            xlsx->strings[xlsx->string_count++] = (struct piece){text, xlsx->value.length};
            return text || xlsx_no_memory(st);
        }
        if (xml_starts(xml, "rPh"))
            good = xml_skip(xml, st);
        else if (xml->kind != XML_TEXT)
            in_text = xml_starts(xml, "t");
        else if (in_text)
            buffer_append(&xlsx->value, xml->text.at, xml->text.length);
    }
    return false;
}

static bool xlsx_read_strings(struct xlsx *xlsx, const struct zip_entry *part, struct status *st)
{
    struct xml xml;
    if (!part)
        return true;
    bool good = xml_open(&xml, &xlsx->office.zip, part, st);
    while (good && xml_next(&xml, st))
        if (xml_starts(&xml, "si"))
            good = xlsx_read_string(xlsx, &xml, st);
    xml_close(&xml);
    return st->code == OK;
}

/* ---- a cell ------------------------------------------------------------------------------------------------------ */

/* "BC12": 54. */
static size_t xlsx_column_of(struct piece place, size_t otherwise)
{
    size_t column = 0, length = 0;
    for (; length < place.length && length < 3 && place.at[length] >= 'A' && place.at[length] <= 'Z'; length++)
        column = column * 26 + (size_t)(place.at[length] - 'A') + 1;
    return length ? column - 1 : otherwise;
}

static void xlsx_begin_cell(struct xlsx *xlsx)
{
    struct piece place = {"", 0}, type = {"", 0};
    xml_attribute(&xlsx->xml, "r", &place);
    xml_attribute(&xlsx->xml, "t", &type);
    xlsx->column = xlsx_column_of(place, xlsx->count);
    xlsx->style = xml_number(&xlsx->xml, "s", 0);
    size_t length = type.length < sizeof xlsx->type_room ? type.length : 0;
    memcpy(xlsx->type_room, type.at, length);
    xlsx->type = (struct piece){xlsx->type_room, length};
    buffer_clear(&xlsx->value);
}

static struct piece xlsx_shared_string(const struct xlsx *xlsx, const char *index)
{
    char *end;
    unsigned long number = strtoul(index, &end, 10);
    return end != index && number < xlsx->string_count ? xlsx->strings[number] : (struct piece){"", 0};
}

static void xlsx_end_cell(struct xlsx *xlsx)
{
    const char *value = buffer_text(&xlsx->value);
    char number[XLSX_NUMBER_MAX];
    struct piece text = {value, xlsx->value.length};
    if (!xlsx->value.length)
        return;
    if (piece_is(xlsx->type, "s"))
        text = xlsx_shared_string(xlsx, value);
    else if (piece_is(xlsx->type, "b"))
        text = *value == '0' ? (struct piece){"FALSE", 5} : (struct piece){"TRUE", 4};
    else if (!xlsx->type.length || piece_is(xlsx->type, "n")) {
        xlsx_number(&xlsx->styles, xlsx->style, value, number);
        text = (struct piece){number, strlen(number)};
    }
    /* Cells come in the order of their columns; a cell out of order is put behind the others. */
    size_t column = xlsx->column > xlsx->count ? xlsx->column : xlsx->count;
    if (column >= TABLE_COLUMNS_MAX)
        return;
    while (xlsx->count <= column) {
        blocks_begin_cell(&xlsx->blocks);
        xlsx->begins[xlsx->count] = xlsx->ends[xlsx->count] = xlsx->blocks.line.length;
        xlsx->count++;
    }
    blocks_add(&xlsx->blocks, text);
    xlsx->ends[column] = xlsx->blocks.line.length;
}

/* ---- a row ------------------------------------------------------------------------------------------------------- */

static void xlsx_begin_row(struct xlsx *xlsx)
{
    int row = xml_number(&xlsx->xml, "r", xlsx->row + 1);
    xlsx->row = row > 0 && row <= ROW_LAST ? row : xlsx->row + 1;
    xlsx->count = 0;
}

static struct piece xlsx_cell_at(const struct xlsx *xlsx, struct piece row, size_t column)
{
    if (column >= xlsx->count || xlsx->ends[column] > row.length)
        return (struct piece){"", 0};
    return (struct piece){row.at + xlsx->begins[column], xlsx->ends[column] - xlsx->begins[column]};
}

static void xlsx_add_header(struct xlsx *xlsx, struct piece row)
{
    struct document *document = xlsx->office.document;
    struct piece cells[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < xlsx->count; i++)
        cells[i] = xlsx_cell_at(xlsx, row, i);
    xlsx->has_header = true;
    xlsx->has_pairs = table_has_pairs(cells, xlsx->count, &xlsx->question, &xlsx->answer);
    document_add_heading(document, SHEET_LEVEL, xlsx->sheet->name, xlsx->row);
    if (!xlsx->has_pairs)
        document_add_heading(document, HEADER_LEVEL, row, xlsx->row);
}

static void xlsx_add_row(struct xlsx *xlsx, struct piece row)
{
    struct document *document = xlsx->office.document;
    if (!xlsx->has_header)
        xlsx_add_header(xlsx, row);
    else if (!xlsx->has_pairs)
        document_add_placed(document, row, xlsx->row);
    else
        table_add_pair(document, HEADER_LEVEL, (struct table_cell){xlsx_cell_at(xlsx, row, xlsx->question), xlsx->row},
                       (struct table_cell){xlsx_cell_at(xlsx, row, xlsx->answer), xlsx->row}, false);
}

static void xlsx_end_row(struct xlsx *xlsx)
{
    xlsx->row += xlsx->row == 0; /* an end without a beginning */
    struct buffer *line = &xlsx->blocks.line;
    char *text =
        blocks_has_text(&xlsx->blocks) ? arena_strndup(&xlsx->office.document->arena, line->data, line->length) : NULL;
    if (text)
        xlsx_add_row(xlsx, (struct piece){text, line->length});
    blocks_drop_line(&xlsx->blocks);
}

/* ---- a sheet ----------------------------------------------------------------------------------------------------- */

/* A row of cells that name one long text takes far more time than the bytes that it stands in. */
static bool xlsx_take_tag(struct xlsx *xlsx, struct status *st)
{
    const struct xml *xml = &xlsx->xml;
    bool starts = xml->kind == XML_START;
    if (piece_is(xml->name, "v") || piece_is(xml->name, "t"))
        xlsx->takes_text = starts;
    else if (piece_is(xml->name, "c"))
        (starts ? xlsx_begin_cell : xlsx_end_cell)(xlsx);
    else if (piece_is(xml->name, "row"))
        (starts ? xlsx_begin_row : xlsx_end_row)(xlsx);
    return !piece_is(xml->name, "row") || document_goes_on(xlsx->office.zip.means, st);
}

static bool xlsx_read_sheet(struct xlsx *xlsx, const struct sheet *sheet, struct status *st)
{
    bool good = xml_open(&xlsx->xml, &xlsx->office.zip, sheet->part, st);
    xlsx->sheet = sheet;
    xlsx->row = 0;
    xlsx->has_header = xlsx->takes_text = false;
    document_end_headings(xlsx->office.document);
    while (good && xml_next(&xlsx->xml, st)) {
        if (xml_starts(&xlsx->xml, "rPh"))
            good = xml_skip(&xlsx->xml, st);
        else if (xlsx->xml.kind != XML_TEXT)
            good = xlsx_take_tag(xlsx, st);
        else if (xlsx->takes_text)
            buffer_append(&xlsx->value, xlsx->xml.text.at, xlsx->xml.text.length);
        good = good && blocks_fit(&xlsx->blocks, st) &&
               (!xlsx->value.failed || fail(st, RESOURCE_EXHAUSTED, "has a cell of more than %zu bytes", VALUE_MAX));
    }
    xml_close(&xlsx->xml);
    return st->code == OK;
}

/* ---- the workbook ------------------------------------------------------------------------------------------------ */

static void xlsx_take_sheet(struct xlsx *xlsx, const struct relations *relations)
{
    struct piece id, state;
    if (xlsx->sheet_count == SHEETS_MAX || !xml_attribute(&xlsx->xml, "r:id", &id))
        return;
    if (xml_attribute(&xlsx->xml, "state", &state) && !piece_is(state, "visible"))
        return;
    const struct zip_entry *part = relation_by_id(relations, id);
    if (part)
        xlsx->sheets[xlsx->sheet_count++] =
            (struct sheet){xml_value(&xlsx->xml, "name", &xlsx->office.document->arena), part};
}

static bool xlsx_read_workbook(struct xlsx *xlsx, const struct zip_entry *part, const struct relations *relations,
                               struct status *st)
{
    struct piece since;
    xlsx->sheets = arena_alloc(&xlsx->office.scratch, SHEETS_MAX * sizeof *xlsx->sheets);
    bool good = xlsx->sheets ? xml_open(&xlsx->xml, &xlsx->office.zip, part, st) : xlsx_no_memory(st);
    while (good && xml_next(&xlsx->xml, st)) {
        if (xml_starts(&xlsx->xml, "sheet"))
            xlsx_take_sheet(xlsx, relations);
        if (xml_starts(&xlsx->xml, "workbookPr") && xml_attribute(&xlsx->xml, "date1904", &since))
            xlsx->styles.since_1904 = piece_is(since, "1") || piece_is(since, "true");
    }
    xml_close(&xlsx->xml);
    return st->code == OK;
}

static bool xlsx_read_parts(struct xlsx *xlsx, struct status *st)
{
    struct relations relations;
    const struct zip_entry *main_part = office_main_part(&xlsx->office, NAME, st);
    if (!main_part || !office_relations(&xlsx->office, main_part, &relations, st) ||
        !xlsx_styles_read(&xlsx->styles, &xlsx->office, relation_by_type(&relations, "styles"), st) ||
        !xlsx_read_workbook(xlsx, main_part, &relations, st) ||
        !xlsx_read_strings(xlsx, relation_by_type(&relations, "sharedStrings"), st))
        return false;
    for (size_t i = 0; i < xlsx->sheet_count; i++)
        if (!xlsx_read_sheet(xlsx, &xlsx->sheets[i], st))
            return false;
    return true;
}

bool read_xlsx(struct document *document, struct piece bytes, const struct document_means *means, struct status *st)
{
    struct xlsx *xlsx = calloc(1, sizeof *xlsx);
    if (!xlsx)
        return fail(st, RESOURCE_EXHAUSTED, "there is no memory to read it");
    blocks_init(&xlsx->blocks, document);
    buffer_init(&xlsx->value, VALUE_MAX);
    bool read = office_open(&xlsx->office, document, bytes, NAME, means, st) && xlsx_read_parts(xlsx, st);
    office_close(&xlsx->office);
    buffer_fini(&xlsx->value);
    blocks_fini(&xlsx->blocks);
    free(xlsx);
    return read;
}
