#include "documents/docx_styles.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BASES_MAX 10 /* styles that stand on each other */
#define LEVEL_MAX 9

static int docx_style_by_id(const void *one, const void *other)
{
    struct piece a = ((const struct docx_style_row *)one)->id, b = ((const struct docx_style_row *)other)->id;
    int order = memcmp(a.at, b.at, a.length < b.length ? a.length : b.length);
    return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

static void docx_style_take_token(struct docx_style_row *row, const struct xml *xml, struct arena *arena)
{
    if (xml_starts(xml, "name")) {
        /* Names of styles that every language of Word keeps are English: "heading 1", "Title", "toc 2". */
        struct piece name = xml_value(xml, "val", arena);
        static const char heading[] = "heading ";
        size_t length = sizeof heading - 1;
        if (piece_is_word(name, "title")) {
            row->style = DOCX_TITLE;
        } else if (name.length >= 4 && strncasecmp(name.at, "toc ", 4) == 0) {
            row->style = DOCX_CONTENTS;
        } else if (name.length == length + 1 && strncasecmp(name.at, heading, length) == 0 && name.at[length] >= '1' &&
                   name.at[length] <= '9') {
            row->style = DOCX_HEADING;
            row->level = (unsigned)(name.at[length] - '0');
        }
    }
    if (xml_starts(xml, "basedOn"))
        row->based_on = xml_value(xml, "val", arena);
    int level = xml_starts(xml, "outlineLvl") ? xml_number(xml, "val", LEVEL_MAX) : LEVEL_MAX;
    if (level < LEVEL_MAX && row->style == DOCX_PLAIN) {
        row->style = DOCX_HEADING;
        row->level = (unsigned)level + 1;
    }
}

bool docx_styles_read(struct docx_styles *styles, struct office *office, const struct zip_entry *part,
                      struct status *st)
{
    struct xml xml;
    struct docx_style_row *row = NULL;
    *styles = (struct docx_styles){0};
    if (!part)
        return true;
    styles->rows = arena_zalloc(&office->scratch, DOCX_STYLES_MAX * sizeof *styles->rows);
    if (!styles->rows)
        return fail(st, RESOURCE_EXHAUSTED, "takes too much memory");
    bool good = xml_open(&xml, &office->zip, part, st);
    while (good && xml_next(&xml, st)) {
        if (xml_starts(&xml, "style") && styles->count < DOCX_STYLES_MAX) {
            row = &styles->rows[styles->count++];
            row->id = xml_value(&xml, "styleId", &office->scratch);
        } else if (xml_ends(&xml, "style")) {
            row = NULL;
        } else if (row) {
            docx_style_take_token(row, &xml, &office->scratch);
        }
    }
    xml_close(&xml);
    if (styles->count)
        qsort(styles->rows, styles->count, sizeof *styles->rows, docx_style_by_id);
    return st->code == OK;
}

enum docx_style docx_style_find(const struct docx_styles *styles, struct piece id, unsigned *level)
{
    for (int bases = 0; bases < BASES_MAX && styles->count && id.length; bases++) {
        const struct docx_style_row wanted = {.id = id};
        const struct docx_style_row *row =
            bsearch(&wanted, styles->rows, styles->count, sizeof wanted, docx_style_by_id);
        if (!row)
            break;
        *level = row->level;
        if (row->style != DOCX_PLAIN)
            return row->style;
        id = row->based_on;
    }
    *level = 0;
    return DOCX_PLAIN;
}
